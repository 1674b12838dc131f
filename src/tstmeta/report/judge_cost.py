"""What it costs to ask a judge about a data set: requests and tokens, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from ..data import Dataset
from ..judge.prompts import load
from ..judge.ratings import Manner, jobs
from ..schema import TstmetaError
from . import html

#: Prompts that show what the unit and the number of dimensions cost.
PROMPTS = ("pauli2025", "lai2023-content", "lai2023-all", "pair")
#: Characters of a token, as estimates before a run take it (:mod:`tstmeta.judge.budget`).
CHARACTERS = 4


def cost(
    data: Dataset, prompts: Sequence[str] = PROMPTS, samples: int = 1, sources: int | None = None
) -> pd.DataFrame:
    """Requests and tokens of a judge's prompts on a data set.

    Args:
        sources: of so many sources only; None for all.

    Returns:
        prompt, unit, ratings (how many the answers hold), requests, tokens (of prompts, a token
        taken for four characters), answers (tokens, at most), each (prompt tokens a rating), note
        (why a prompt cannot be asked here).
    """
    if sources is not None:
        kept = data.items["source_id"].drop_duplicates()[:sources]
        data = data.where(data.items["source_id"].isin(kept), data.name)
    rows: list[dict] = []
    for name in prompts:
        prompt = load(name)
        head = {"prompt": prompt.name, "unit": prompt.unit}
        try:
            asked = jobs(data, prompt, Manner(samples=samples))
        except TstmetaError as reason:
            rows.append(head | {"note": str(reason)})
            continue
        texts = sum(len(part.content) for one in asked for part in one.question.messages)
        answers = sum(one.question.sampling.max_tokens for one in asked)
        # a pair's answer is one rating of two outputs
        ratings = sum(1 if prompt.unit == "pair" else len(one.item_ids) for one in asked)
        ratings *= len(prompt.dimensions)
        tokens = math.ceil(texts / CHARACTERS)
        counts = {"ratings": ratings, "requests": len(asked), "tokens": tokens, "answers": answers}
        rows.append(head | counts | {"each": tokens / ratings, "note": ""})
    names = ["prompt", "unit", "ratings", "requests", "tokens", "answers", "each", "note"]
    return pd.DataFrame(rows, columns=names)


def table(rows: pd.DataFrame, price: float = 0.0, caption: str = "") -> html.Html:
    """Rows of :func:`cost`.

    Args:
        price: money for a million tokens of prompts; 0 shows no money.
    """
    shown = rows.rename(
        columns={
            "tokens": "tokens of prompts, about",
            "answers": "of answers, at most",
            "each": "of prompts a rating",
        }
    )
    for name in ("ratings", "requests", "tokens of prompts, about", "of answers, at most"):
        shown[name] = [_count(value) for value in shown[name]]
    shown["of prompts a rating"] = [_count(value) for value in shown["of prompts a rating"]]
    if price > 0:
        shown["money for prompts"] = [f"{value * price / 1e6:,.2f}" for value in rows["tokens"]]
    if not rows["note"].any():
        shown = shown.drop(columns="note")
    return html.table(shown, caption=caption)


def _count(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:,.0f}"
