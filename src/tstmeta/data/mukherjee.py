"""Sentiment and detoxification in English, Hindi and Magahi (Mukherjee et al., 2023 and 2024).

The outputs that were drawn for human evaluation, each with one human reference.  The ratings are
not public, nor are those of Mukherjee et al. (2025), so this set shows that metrics run in other
languages and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from .base import Dataset
from .files import check, fault, items_table, labels_table, one_of, read_csv

NAME = "mukherjee"


class Part(NamedTuple):
    """One file: a study in one language (a code of ISO 639)."""

    study: str
    language: str
    path: str


_SENTIMENT = "multilingual_tst/eval/human_eval_{}.csv"
_DETOX = "multilingual_text_detoxification/evaluation/selected_data_{}.csv"
PARTS = (
    *(Part("sentiment", code, _SENTIMENT.format(code)) for code in ("en", "hi", "mag")),
    *(Part("detoxification", code, _DETOX.format(code)) for code in ("en", "hi")),
)
#: ``task`` in the sentiment files -> (direction, target style).
TASKS = {"pos_to_neg": ("pos2neg", "negative"), "neg_to_pos": ("neg2pos", "positive")}


def load(root: Path) -> Dataset:
    """Load the outputs of five files.

    Items: ``item_id`` is ``study-language-row`` (rows count from 1), ``source_id`` is
    ``study-language-s1`` … by first appearance of the source; the system is the methodology.
    The label ``study`` is ``sentiment`` or ``detoxification``.

    Raises:
        DataError: a file is missing, has a blank text or a task that is not known.
    """
    tables = [(part, _items(root / part.path, part)) for part in PARTS]
    items = pd.concat([table for _, table in tables], ignore_index=True)
    study = [part.study for part, table in tables for _ in range(len(table))]
    return Dataset.of(NAME, items, labels=labels_table(NAME, items["item_id"], study=study))


def _items(path: Path, part: Part) -> pd.DataFrame:
    texts = ["src", "trg", "pred", "methodology"]
    sentiment = part.study == "sentiment"
    table = read_csv(path, [*texts, "task"] if sentiment else texts)
    check(
        fault(path, "blank cell", row, column)
        for column in ("src", "trg", "methodology")  # a system may well print nothing
        for row, cell in enumerate(table[column], 1)
        if not cell.strip()
    )
    direction, style = [""] * len(table), ["non-toxic"] * len(table)
    if sentiment:
        one_of(table["task"], TASKS, path, "task")
        direction, style = ([TASKS[task][k] for task in table["task"]] for k in (0, 1))
    stem = f"{part.study}-{part.language}"
    sources = {text: f"{stem}-s{n}" for n, text in enumerate(table["src"].unique(), 1)}
    return items_table(
        NAME,
        item_id=[f"{stem}-{row}" for row in range(1, len(table) + 1)],
        source_id=[sources[text] for text in table["src"]],
        system=table["methodology"],
        style=style,
        direction=direction,
        language=part.language,
        source=table["src"],
        output=table["pred"],
        references=[[text] for text in table["trg"]],
    )


def _part(dataset: Dataset, study: str, language: str) -> Dataset:
    chosen = (dataset.label("study") == study).to_numpy()
    keep = (dataset.items["language"] == language) & chosen
    return dataset.where(keep, f"{NAME}@{study}-{language}")


SUBSETS: dict[str, Callable[[Dataset], Dataset]] = {
    f"{part.study}-{part.language}": partial(_part, study=part.study, language=part.language)
    for part in PARTS
}
