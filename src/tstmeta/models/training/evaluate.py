"""What a backbone is worth as a likelihood scorer: four shares of pairs on a 2 x 2 test set.

A deliberately plain scorer, one conversation at a time, independent of the engine: content C and
style S of Pauli et al. (2025, Section 3.3, Eqs. 1 and 2) over all output tokens in fp32.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...schema import DataError, Problem
from .batches import encode
from .examples import Example
from .options import Prompts

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

#: Which pair each share is about: the dimension, the cell that should win, and the other one.
SHARES = {
    "light > light-error": ("content", "light", "light-error"),
    "strong > strong-error": ("content", "strong", "strong-error"),
    "strong > light-error": ("content", "strong", "light-error"),
    "style: strong > light": ("style", "strong", "light"),
}
_COLUMNS = {"source_id", "source", "output", "style", "shift", "error"}
_TASKS = ("style", "paraphrase", "repeat")

Rows = Sequence[Mapping[str, str]]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a test set of the contrast set's form.

    Raises:
        DataError: no such file, or a column is missing.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        what = error.strerror or "cannot be read"
        raise DataError([Problem(str(path), None, "", what, "give the path of the CSV")]) from error
    missing = sorted(_COLUMNS - set(rows[0] if rows else ()))
    if missing:
        what = f"no column {', '.join(missing)}" if rows else "no rows"
        raise DataError([Problem(str(path), 0, "", what, "give a CSV as data/world/world.csv is")])
    return rows


def likelihood_scores(
    rows: Rows, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, prompt: Prompts
) -> list[dict[str, float]]:
    """Content C and style S of each row, ``{"content": C, "style": S}``; C <= 0, -1 <= S <= 1."""
    return [_score(row, model, tokenizer, prompt) for row in rows]


def _score(
    row: Mapping[str, str],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    prompt: Prompts,
) -> dict[str, float]:
    import torch

    asked = prompt.fill(row["source"], row["style"])
    examples = [
        Example(prompt.system, user, row["output"], task, bare=False)
        for user, task in zip(asked, _TASKS, strict=True)
    ]
    logs = []
    with torch.inference_mode():
        for one in encode(examples, tokenizer):
            ids = torch.tensor([one.ids[:-1]])  # without the end of turn
            logits = model(ids, logits_to_keep=ids.shape[1] - one.start + 1).logits[0, :-1]
            scores = torch.log_softmax(logits.float(), -1)
            logs.append(scores.gather(1, ids[0, one.start :, None])[:, 0])
    style, *others = torch.stack(logs)  # [3, T]
    known = torch.stack(others).amax(0)
    return {
        "content": float(torch.maximum(style, known).mean()),
        "style": float((style.exp() - known.exp()).mean()),
    }


def shares(rows: Rows, values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """For each of :data:`SHARES`, how often the better rewrite of a source has the higher value.

    Ties count one half.  A share whose dimension the values lack is left out.
    """
    cells: dict[str, dict[str, Mapping[str, float]]] = {}
    for row, value in zip(rows, values, strict=True):
        cell = row["shift"] + ("" if row["error"] == "none" else "-error")
        cells.setdefault(row["source_id"], {})[cell] = value
    found = {}
    for name, (dimension, better, worse) in SHARES.items():
        pairs = [
            (of[better][dimension], of[worse][dimension])
            for of in cells.values()
            if better in of and worse in of and dimension in of[better]
        ]
        if pairs:
            wins = sum((a > b) + 0.5 * (a == b) for a, b in pairs)
            found[name] = round(wins / len(pairs), 4)
    return found


def evaluate(
    sets: Mapping[str, Rows],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    prompt: Prompts,
    similarities: Mapping[str, Callable[[Iterable[str], Iterable[str]], Sequence[float]]],
) -> dict[str, dict[str, dict[str, float]]]:
    """The shares of the likelihood scorer and of content metrics, set by set.

    Args:
        sets: rows by the name of the set.
        model, tokenizer: the backbone.
        prompt: the instruction set to score with.
        similarities: content metrics by name, each from (sources, outputs) to values.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, rows in sets.items():
        found[name] = {
            "likelihood": shares(rows, likelihood_scores(rows, model, tokenizer, prompt))
        }
        for metric, measure in similarities.items():
            values = measure([row["source"] for row in rows], [row["output"] for row in rows])
            found[name][metric] = shares(rows, [{"content": float(value)} for value in values])
    return found
