"""What transfer models learn from, and what they transfer on the way.

A sentence is in one part only, which depends on its words alone.  No rated sentence, no source of
human preferences and no human reference is ever learned from.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import pandas as pd

from experiments.training.splits import corpus_hash
from tstmeta import data
from tstmeta.data.corpora import hashed, key
from tstmeta.schema import TstmetaError

from .configuration import TransferOptions

#: No text of these is learned from, nor in the parts that choose and report.
EXCLUDED = ("mir", "li2018@yelp", "dualrl", "mis@yelp")
#: Parts that are transferred.  Of a hundred sentences the first five may choose, then five report.
CHOOSE, REPORT, REFERENCE = "choose", "report", "reference"
_HUNDREDTH = {CHOOSE: range(5), REPORT: range(5, 10), "train": range(10, 100)}


class TransferCorpus(NamedTuple):
    """Styles by number, and tables of sentences; ``sources`` are those to transfer."""

    styles: tuple[str, ...]
    train: pd.DataFrame
    sources: pd.DataFrame
    pairs: pd.DataFrame

    def identity(self) -> dict[str, list[int | str]]:
        """Rows and hash of each table, which make a run this one."""
        tables = {name: getattr(self, name) for name in ("train", "sources", "pairs")}
        return {name: [len(t), corpus_hash(t, t.columns)] for name, t in tables.items()}


def select(
    table: pd.DataFrame,
    options: TransferOptions,
    rules: Iterable[Sequence[str]] = (),
    never: Iterable[str] = (),
    referenced: pd.DataFrame | None = None,
) -> TransferCorpus:
    """Divide the sentences of a ``table`` with the columns text and style, without ``never``.

    Args:
        rules: words to exchange, which make paraphrases of training sentences.
        referenced: sources with the columns text, style and references.
    """
    styles = tuple(sorted(set(table["style"])))
    if len(styles) != 2:
        raise TstmetaError(f"transfer is between two styles; the corpus has {len(styles)}")
    keys, excluded = table["text"].map(key), {key(text) for text in never}
    short = table["text"].str.split().str.len().between(1, options.longest)
    # a sentence that stands there twice may have both styles
    usable = table[short & ~keys.duplicated(keep=False) & ~keys.isin(excluded)]
    draws = [hashed(f"transfer/{words}") for words in keys[usable.index]]  # its place and its part
    draw = pd.Series(draws, usable.index, "uint64")
    usable = usable.assign(references=[[]] * len(usable), draw=draw).sort_values("draw")
    rows = {
        part: usable[(usable["draw"] % 100).isin(places)] for part, places in _HUNDREDTH.items()
    }
    rows |= {} if referenced is None else {REFERENCE: referenced}
    parts = {}
    for part, table in rows.items():
        most = options.sentences if part == "train" else options.held
        table = table.assign(number=table["style"].map(styles.index), part=part)
        parts[part] = table.groupby("number").head(most)[["part", "number", "text", "references"]]
        if parts[part]["number"].nunique() < 2:
            raise TstmetaError(f"the part {part} lacks a style. Remedy: give a larger corpus")
    train = parts.pop("train")[["text", "number"]].reset_index(drop=True)
    sources = pd.concat(parts.values(), ignore_index=True)
    pairs = paraphrased(train, rules)
    sides = zip(pairs["text"], pairs["paraphrase"], strict=True)
    apart = [u not in v and v not in u for u, v in sides]  # as printed, Section 4.3
    return TransferCorpus(styles, train, sources, pairs.loc[apart].reset_index(drop=True))


def paraphrased(train: pd.DataFrame, rules: Iterable[Sequence[str]]) -> pd.DataFrame:
    """A substitute of ours: sentences with words exchanged, in both directions of the rules."""
    swaps = {f" {a} ": f" {b} " for pair in rules for a, b in (pair, pair[::-1])}
    others = []
    for text in (f" {text} " for text in train["text"]):
        words = [old for old in swaps if old in text]
        others.append(reduce(lambda new, old: new.replace(old, swaps[old], 1), words, text).strip())
    pairs = train.assign(paraphrase=others)[["text", "paraphrase", "number"]]
    return pairs[pairs["text"] != pairs["paraphrase"]]


def referenced() -> pd.DataFrame:
    """Yelp's sources with their human rewrites, which must be here, for :func:`select`."""
    items = data.load("li2018@yelp").with_texts("for their references").drop_duplicates("source_id")
    other = {"positive": "negative", "negative": "positive"}
    texts = items[["source", "references"]].rename(columns={"source": "text"})
    return texts.assign(style=items["style"].map(other))
