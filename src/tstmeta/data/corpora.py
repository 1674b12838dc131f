"""Sentences to learn from, by name: the corpora of ours, or a CSV file of yours."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..schema import FILLED, TstmetaError
from . import has_texts, paths, texts_of, xformal, yelp
from .files import read_csv

#: Data sets of rewritten yelp sentences; metrics are held against ratings of them.
RATED = ("mir", "li2018@yelp", "dualrl")
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


def read(name: str, columns: Sequence[str] = ("text", "style")) -> pd.DataFrame:
    """Sentences with text, task, style and split.

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
    table = read_csv(Path(name).expanduser(), dict.fromkeys(columns, FILLED))
    usual = {"style": "", "task": "style", "split": ""}
    return table.assign(**{column: table.get(column, usual[column]) for column in usual})


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
