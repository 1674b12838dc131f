"""Sentences with their styles, to learn from: a CSV file of yours."""

import hashlib
from pathlib import Path

import pandas as pd

from ..schema import FILLED, TstmetaError
from .files import read_csv

#: Parts of a corpus: learned from, calibrated on, tested on.
PARTS = ("train", "dev", "test")
#: Texts of a style that a classifier needs, and those of which it learns at most.
LEAST, MOST = 100, 6000


def key(text: str) -> str:
    """The words of a sentence in lower case: two lines with one key are the same sentence."""
    return " ".join(text.casefold().split())


def hashed(text: str) -> int:
    """A number in [0, 2**64) that depends on the text alone, on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def learned(path: Path) -> pd.DataFrame:
    """Sentences of a CSV file (text, style, task): of the split ``train``, if it names splits.

    A sentence that stands in another split, too, is left out.

    Raises:
        DataError: a column or a cell is missing.
        TstmetaError: no sentence is left.
    """
    table = read_csv(path, {"text": FILLED, "style": FILLED})
    usual = {"task": "style", "split": ""}
    table = table.assign(**{column: table.get(column, usual[column]) for column in usual})
    used, words = table["split"].isin(("", "train")), table["text"].map(key)
    rows = table[used & ~words.isin(words[~used])]
    if rows.empty:
        raise TstmetaError(f"{path} has no sentence to learn from. Remedy: name its split train")
    return rows


def divided(corpus: pd.DataFrame) -> pd.DataFrame:
    """Texts with task, style and part: eight tenths, one and one; at most :data:`MOST` of a style.

    Both follow from a hash of ``group``, such as the source of a rewrite, or of the text.  Blank
    texts, and those that have several styles of a task, are left out.

    Raises:
        TstmetaError: a task has one style only, or a style fewer than :data:`LEAST` texts.
    """
    words = corpus["text"].map(key)
    rows = corpus.assign(words=words, order=corpus.get("group", words).map(hashed))
    rows = rows[words != ""].drop_duplicates(["task", "words", "style"])
    rows = rows[~rows.duplicated(["task", "words"], keep=False)].sort_values(["order", "words"])
    rows = rows[rows.groupby(["task", "style"]).cumcount() < MOST]
    counts = rows.groupby(["task", "style"]).size()
    for task, style in corpus.groupby(["task", "style"]).groups:
        if corpus.loc[corpus["task"] == task, "style"].nunique() < 2:
            raise TstmetaError(f"all texts have the style {style!r}. Remedy: give a second style")
        if (count := counts.get((task, style), 0)) < LEAST:
            words = f"{count} texts can be learned from that have the style {style!r}. Remedy: "
            raise TstmetaError(f"{words}give {LEAST} or more; repeats and blanks do not count")
    part = [PARTS[max(0, int(order % 10) - 7)] for order in rows["order"]]
    return rows.assign(part=part)[["text", "task", "style", "part"]].reset_index(drop=True)
