"""The likelihood method token by token, as frames: ``tst.token_scores`` and ``tst.explain``.

Both equations are means over rows of these frames, so a notebook can compute them with pandas::

    tokens = token_scores(load("contrast"))
    best = tokens.loc[tokens["counts"], list(TASKS)].max(axis=1)
    content = best.groupby(tokens["item_id"]).mean()  # Pauli et al. (2025), Eq. 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..schema import TstmetaError
from .characters import spans
from .explain import check_items, metric_of
from .instructions import TASKS
from .scorer import Judged, Rewrite, Scorer

if TYPE_CHECKING:
    from ..data.base import Dataset

#: How the end of the turn is written in the column ``token``.
END = "⟨end⟩"
_TEXTS = ["source", "output", "style"]


def token_scores(
    data: Dataset | pd.DataFrame,
    metric: str = "likelihood",
    items: Sequence[str] | None = None,
    *,
    store: Path | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Log-probabilities of every token of every rewrite under the three instructions.

    Args:
        data: a data set, or a frame with the columns source, output and style (the target), and
            item_id where rows have names.
        metric: ``likelihood``, or with a model, variant and instructions after the colon.
        items: item ids; all by default.
        store: the score store, whose token cache is used (default ``data/scores``).

    Returns:
        One row a token, in the order of the items: item_id, place (0, 1, … within the rewrite),
        token (its text; a byte of a character cut in several stands empty), style, paraphrase,
        repeat (natural logarithms, <= 0; rounded where the variant rounds) and counts (whether the
        variant's means include it).  The end of the turn stands last as ``⟨end⟩``, unless the
        output was cut.  A rewrite that cannot be scored has no rows.

    Raises:
        TstmetaError: a column that is missing, an unknown item, or words that name no metric.
        MissingModel: the model is not here and cannot be fetched.
    """
    table = data if isinstance(data, pd.DataFrame) else data.items
    if missing := [name for name in _TEXTS if name not in table]:
        raise TstmetaError(f"the table has no column {', '.join(missing)}")
    if items is not None and not isinstance(data, pd.DataFrame):
        check_items(data, items)
    names = table["item_id"] if "item_id" in table else table.index.astype(str)
    table = table[_TEXTS].set_axis(pd.Index(names), axis=0)
    table = table if items is None else table.loc[list(items)]
    scorer = metric_of(metric, store).scorer()
    rewrites = [Rewrite(*row) for row in table.itertuples(index=False)]
    parts = [
        _rows(scorer, *row)
        for row in zip(
            table.index, rewrites, scorer.judge(rewrites, progress=progress), strict=True
        )
    ]
    columns = ["item_id", "place", "token", *TASKS, "counts"]
    if not parts:
        return pd.DataFrame(columns=columns)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return pd.DataFrame(dict(zip(columns, joined, strict=True)))


def explain(
    data: Dataset | pd.DataFrame,
    items: Sequence[str] | None = None,
    metric: str = "likelihood",
    *,
    store: Path | None = None,
) -> pd.DataFrame:
    """Why rewrites got their scores: :func:`token_scores` and each token's part of both means.

    Returns:
        The columns of :func:`token_scores` and best (the instruction that accounts for the token
        best, the first of equals), content (its part of Eq. 1: log max p, <= 0), lead (its part of
        Eq. 2: p_style - max(p_paraphrase, p_repeat), in [-1, 1]); both NaN where it does not count.

    Raises:
        TstmetaError: as :func:`token_scores`.
        MissingModel: the model is not here and cannot be fetched.
    """
    tokens = token_scores(data, metric, items, store=store)
    p, counts = np.exp(tokens[list(TASKS)]), tokens["counts"].astype(bool)
    best = tokens[list(TASKS)].to_numpy(float).argmax(axis=1) if len(tokens) else []
    return tokens.assign(
        best=np.array(TASKS)[best] if len(tokens) else [],
        content=tokens[list(TASKS)].max(axis=1).where(counts),
        lead=(p["style"] - p[["paraphrase", "repeat"]].max(axis=1)).where(counts),
    )


def contexts(source: str, style: str, metric: str = "likelihood") -> pd.DataFrame:
    """What the model reads before a rewrite, one row an instruction.

    Returns:
        instruction, asked (what the user asks for), text (all of it, with the chat template's
        marks) and tokens (how many they are).

    Raises:
        MissingModel: the model is not here and cannot be fetched.
    """
    scorer = metric_of(metric).scorer()
    users = scorer.instructions.fill(source, scorer.wordings.get(style, style))
    system, template = scorer.instructions.system, scorer.template
    return pd.DataFrame(
        {
            "instruction": TASKS,
            "asked": users,
            "text": [template.prompt(system, user) for user in users],
            "tokens": [len(template.context(system, user)) for user in users],
        }
    )


def _rows(scorer: Scorer, item_id: str, rewrite: Rewrite, judged: Judged) -> tuple:
    """The columns of one rewrite: id, place, text, three log-probabilities, whether it counts."""
    if not judged.status.has_value:
        empty = np.empty(0)
        return (*[empty.astype(object)] * 3, empty, empty, empty, empty.astype(bool))
    # all columns, rounded as the variant rounds; an end of turn that was cut off has none
    whole = replace(scorer.variant, skip_first=False, end_of_turn=True)
    values = whole.columns(judged.logprobs)
    n, size = len(judged.tokens), values.shape[1]
    places = spans(scorer.model.tokenizer, rewrite.output, judged.tokens)
    texts = [rewrite.output[start:end] for start, end in places] + [END] * (size - n)
    counts = np.ones(size, dtype=bool)
    counts[n:] = scorer.variant.end_of_turn
    counts[: int(scorer.variant.skip_first)] = False
    return (
        np.full(size, item_id, dtype=object), np.arange(size), np.array(texts, dtype=object),
        *values, counts,
    )  # fmt: skip
