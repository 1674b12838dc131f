"""What a backbone is worth as a likelihood scorer: four shares of pairs on a 2 x 2 test set.

A deliberately plain scorer, one conversation at a time, independent of the engine: content C and
style S of Pauli et al. (2025, Section 3.3, Eqs. 1 and 2) over all output tokens in fp32.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
_TASKS = ("style", "paraphrase", "repeat")

Rows = Sequence[Mapping[str, str]]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a test set of the contrast set's form."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
