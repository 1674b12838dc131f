"""What a model of style is trained, tuned and tested on: a sentence is in one part only.

Parts depend on the sentence and on what its files call it, never on a seed: models that were
trained with different seeds are tested on the same sentences.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from tstmeta.data import corpora
from tstmeta.data.corpora import PARTS, hashed, key
from tstmeta.schema import TstmetaError

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


def read_corpus(
    name: str,
    columns: Sequence[str] = ("text", "style"),
    keep_out: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Sentences with text, task, style, split and part.

    Args:
        name, columns: see :func:`tstmeta.data.corpora.read`.
        keep_out: data sets of which no text (source, rewrite, reference) is trained or tuned on.
    """
    roles = YELP if name == "yelp" else USUAL
    return divide(corpora.read(name, columns), roles, corpora.excluded_texts(name, keep_out))


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
