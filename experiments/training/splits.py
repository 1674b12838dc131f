"""What a model of style is trained, tuned and tested on: a sentence is in one part only.

Parts depend on the sentence and on what its files call it, never on a seed: models that were
trained with different seeds are tested on the same sentences.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tstmeta.data import has_texts, load, paths, xformal, yelp
from tstmeta.data.corpora import PARTS, hashed, key
from tstmeta.data.files import read_csv
from tstmeta.schema import FILLED, TstmetaError

#: Sentences of a split with this role go to dev and test by halves.
HELD = "held out"
#: A corpus without splits: of ten sentences eight, one and one.
UNDIVIDED = "whole"
_TENTHS = {HELD: (0, 5), UNDIVIDED: (8, 9)}
#: The usual names.
USUAL = {
    "": UNDIVIDED,
    "train": "train",
    "dev": "dev",
    "tune": "dev",
    "valid": "dev",
    "test": "test",
}
#: Yelp: the training files are not there, and all 1,000 sources of Li et al. (2018) lie in dev.
YELP = {"test": "train", "dev": HELD}
#: Data sets of rewritten yelp sentences; metrics are held against ratings of them.
RATED = ("mir", "li2018@yelp", "dualrl")


def divide(
    corpus: pd.DataFrame, roles: Mapping[str, str] = USUAL, never: Iterable[str] = ()
) -> pd.DataFrame:
    """The corpus with a column ``part``: ``train``, ``dev`` or ``test``.

    A sentence that stands in several splits goes, with all its rows, to the strictest.

    Args:
        corpus: columns ``text`` and ``split``.
        roles: name of a split -> one of :data:`PARTS`, :data:`HELD` or :data:`WHOLE`.
        never: texts that go to ``test``, such as the sources of a test set.
    """
    if unknown := sorted(set(corpus["split"]) - set(roles)):
        raise TstmetaError(
            f"the corpus has a split {unknown[0]!r}. Remedy: name it one of "
            f"{', '.join(filter(None, roles))}, or leave the column out"
        )
    keys = corpus["text"].map(key)
    ranks = pd.Series(
        [_rank(text, roles[split]) for text, split in zip(keys, corpus["split"], strict=True)],
        index=corpus.index,
        dtype=int,
    ).mask(keys.isin({key(text) for text in never}), PARTS.index("test"))
    return corpus.assign(part=ranks.groupby(keys).transform("max").map(dict(enumerate(PARTS))))


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


def texts_of(*names: str) -> set[str]:
    """Every source, rewrite and reference of data sets, whose texts have to be here."""
    rows = [load(name).with_texts("to keep them out") for name in names]
    columns = [items[c].explode() for items in rows for c in ("source", "output", "references")]
    return {text for column in columns for text in column if isinstance(text, str)}


def read_corpus(
    name: str,
    columns: Sequence[str] = ("text", "style"),
    keep_out: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Sentences with text, task, style, split and part.

    Args:
        name, columns: see :func:`read`.
        keep_out: data sets of which no text (source, rewrite, reference) is trained or tuned on;
            by default rated ones of yelp, where they are here.
    """
    roles = YELP if name == "yelp" else USUAL
    if keep_out is None:
        keep_out = [data for data in RATED if name == "yelp" and has_texts(data)]
    return divide(read(name, columns), roles, texts_of(*keep_out))


def _rank(text: str, role: str) -> int:
    if role in PARTS:
        return PARTS.index(role)
    return sum(hashed(f"part/{text}") % 10 >= bound for bound in _TENTHS[role])


def corpus_hash(corpus: pd.DataFrame, columns: Iterable[str] = ("text", "style", "part")) -> str:
    """First 16 hexadecimal digits of the SHA-256 of these columns, row by row."""
    digest = hashlib.sha256()
    for row in zip(*(corpus[column] for column in columns), strict=True):
        digest.update(("\0".join(map(str, row)) + "\n").encode())
    return digest.hexdigest()[:16]
