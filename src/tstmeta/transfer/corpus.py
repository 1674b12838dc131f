"""What transfer models learn from, and what they transfer on the way.

A sentence is in one part only, which depends on its words alone.  No rated sentence, no source of
human preferences and no human reference is ever learned from.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from .. import data
from ..models.splits import corpus_hash, hashed, key
from ..schema import TstmetaError
from .configuration import TransferOptions

#: No text of these is learned from, nor in the parts that choose and report.
EXCLUDED = ("mir", "li2018@yelp", "dualrl", "mis@yelp")
#: The sources with references; they are transferred, never learned from.
REFERENCED = "li2018@yelp"
#: Parts that are transferred.  Of a hundred sentences the first five may choose, then five report.
CHOOSE, REPORT, REFERENCE = "choose", "report", "reference"
_HUNDREDTH = {CHOOSE: range(5), REPORT: range(5, 10), "train": range(10, 100)}


class TransferCorpus(NamedTuple):
    """Training sentences of two styles, number 0 and 1; the sources to transfer; paraphrases.

    ``train`` has the columns text and number, ``sources`` also part and references, ``pairs`` text,
    paraphrase and number.
    """

    styles: tuple[str, ...]
    train: pd.DataFrame
    sources: pd.DataFrame
    pairs: pd.DataFrame

    def identity(self) -> dict[str, dict[str, int | str]]:
        """Rows and hash of each table, which make a run this one."""
        columns = {"train": ["text", "number"], "sources": ["text", "number", "part"]}
        columns["pairs"] = ["text", "paraphrase", "number"]
        tables = {name: getattr(self, name) for name in columns}
        return {
            name: {"rows": len(table), "sha256": corpus_hash(table, columns[name])}
            for name, table in tables.items()
        }


def select(
    table: pd.DataFrame,
    options: TransferOptions,
    rules: Iterable[Sequence[str]] = (),
    never: Iterable[str] = (),
    referenced: pd.DataFrame | None = None,
    pairs: pd.DataFrame | None = None,
) -> TransferCorpus:
    """Divide sentences of two styles.

    Args:
        table: columns ``text`` and ``style``.
        rules: two wordings each, see :func:`paraphrased`.
        never: texts that go to no part.
        referenced: columns ``text``, ``style`` (of the text) and ``references``.
        pairs: columns ``text`` and ``paraphrase``; by default what ``rules`` make.

    Raises:
        TstmetaError: not two styles, or too few sentences of one.
    """
    styles = tuple(sorted(set(table["style"])))
    if len(styles) != 2:
        raise TstmetaError(f"transfer is between two styles; the corpus has {len(styles)}")
    keys, excluded = table["text"].map(key), {key(text) for text in never}
    short = table["text"].str.split().str.len().between(1, options.longest)
    # a sentence that stands there twice may have both styles
    kept = table[short & ~keys.duplicated(keep=False) & ~keys.isin(excluded)]
    draws = [hashed(f"transfer/{words}") for words in keys[kept.index]]  # its place and its part
    draw = pd.Series(draws, kept.index, "uint64")
    kept = kept.assign(number=kept["style"].map(styles.index), draw=draw).sort_values("draw")
    parts, most = {}, {"train": options.sentences}
    for part, hundredth in _HUNDREDTH.items():
        rows = kept[(kept["draw"] % 100).isin(hundredth)].groupby("number")
        parts[part] = rows.head(most.get(part, options.held)).assign(part=part)
        if parts[part]["number"].nunique() < 2:
            raise TstmetaError(
                f"the part {part} lacks sentences of a style that have at most {options.longest} "
                "words. Remedy: give a larger corpus"
            )
    if referenced is not None:
        rows = referenced.assign(number=referenced["style"].map(styles.index), part=REFERENCE)
        parts[REFERENCE] = rows.groupby("number").head(options.held)
    train = parts.pop("train")[["text", "number"]].reset_index(drop=True)
    sources = pd.concat(parts.values(), ignore_index=True)
    if "references" not in sources:
        sources["references"] = None
    sources["references"] = [r if isinstance(r, list) else [] for r in sources["references"]]
    sources = sources[["part", "number", "text", "references"]]
    if pairs is None:
        pairs = paraphrased(train, rules)
    else:  # with both styles, as printed
        pairs = pairs.merge(pd.DataFrame({"number": [0, 1]}), how="cross")
    sides = zip(pairs["text"], pairs["paraphrase"], strict=True)
    apart = [u not in v and v not in u for u, v in sides]  # as printed, Section 4.3
    return TransferCorpus(styles, train, sources, pairs[apart].reset_index(drop=True))


def paraphrased(train: pd.DataFrame, rules: Iterable[Sequence[str]]) -> pd.DataFrame:
    """Training sentences with the words of the rules exchanged, in both directions.

    A substitute of ours for paraphrases: style and content stay, and so does nearly every word.
    Each sentence with a rule's words gives one pair.
    """
    swaps = {a: b for pair in rules for a, b in (pair, pair[::-1])}
    rows = []
    for text, number in zip(train["text"], train["number"], strict=True):
        other = f" {text} "
        for old in [words for words in swaps if f" {words} " in f" {text} "]:
            other = other.replace(f" {old} ", f" {swaps[old]} ", 1)
        if other.strip() != text:
            rows.append((text, other.strip(), number))
    return pd.DataFrame(rows, columns=["text", "paraphrase", "number"])


def referenced() -> pd.DataFrame:
    """Yelp's sources with their human rewrites, for :func:`select`.

    Raises:
        MissingData: they are not here.
    """
    items = data.load(REFERENCED).with_texts("for their references").drop_duplicates("source_id")
    other = {"positive": "negative", "negative": "positive"}
    style = items["style"].map(other)  # of the source
    return pd.DataFrame(
        {"text": items["source"], "style": style, "references": items["references"]}
    )
