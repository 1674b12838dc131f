"""Sentences to learn from, by name: the corpora of ours, or a CSV file of yours."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..schema import FILLED, TstmetaError, numeric
from . import has_texts, paths, texts_of, xformal, yelp
from .files import read_csv

#: Data sets of rewritten yelp sentences; metrics are held against ratings of them.
RATED = ("mir", "li2018@yelp", "dualrl")


def key(text: str) -> str:
    """The words of a sentence in lower case: two lines with one key are the same sentence."""
    return " ".join(text.casefold().split())


def read(name: str, columns: Sequence[str] = ("text", "style")) -> pd.DataFrame:
    """Sentences with text, task, style, value (NaN where there is none) and split.

    Args:
        name: ``yelp``, ``xformal``, or a CSV file.
        columns: which a CSV file needs; none of their cells may be empty.
    """
    if name == "yelp":
        return yelp.corpus(paths.raw("yelp")).assign(task="sentiment")
    if name == "xformal":  # formal is what is rated above the middle of the scale
        table = xformal.corpus(paths.raw("xformal")).assign(task="formality")
        return table.assign(style=(table["value"] > 0).map({True: "formal", False: "informal"}))
    if not name.endswith(".csv"):
        raise TstmetaError(f"no corpus is called {name!r}: use yelp, xformal or a file FILE.csv")
    checks = {column: numeric() if column == "value" else FILLED for column in columns}
    table = read_csv(Path(name).expanduser(), checks)
    usual = {"style": "", "task": "style", "split": ""}
    table = table.assign(**{column: table.get(column, usual[column]) for column in usual})
    return table if "value" in columns else table.assign(value=math.nan)


def excluded_texts(name: str, sets: Iterable[str] | None = None) -> set[str]:
    """Texts that are not learned from: those of ``sets``, by default rated ones of yelp."""
    rated = [data for data in RATED if name == "yelp" and has_texts(data)]
    return texts_of(*(rated if sets is None else sets))


def learned(name: str, keep_out: Iterable[str] | None = None) -> pd.DataFrame:
    """The training sentences of a corpus, without those of other splits and of ``keep_out``.

    Of a CSV file these are those of the split ``train``, or all where it names no splits.
    """
    table = read(name)
    split = "test" if name == "yelp" else "train"  # the training files of yelp are not there
    used = table["split"].isin(("", split))
    never = {*table.loc[~used, "text"], *excluded_texts(name, keep_out)}
    rows = table[used & ~table["text"].map(key).isin({key(text) for text in never})]
    if rows.empty:
        raise TstmetaError(f"{name} has no sentence to learn from. Remedy: name its split train")
    return rows
