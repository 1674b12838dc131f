"""Which items something is fitted on, and which it is judged on: never the same.

All rewrites of a source, which share much of their score, go into one fold.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .parts import CombineError


class Split(NamedTuple):
    """One fold: what may be fitted on and what is judged, masks over items ``[N]``."""

    number: int
    train: np.ndarray
    judged: np.ndarray


def folds(sources: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Number of the fold of each item ``[N]``, 0 to k - 1; folds differ by at most one source.

    Raises:
        CombineError: fewer sources than folds.
    """
    # sorted names: the order of rows changes nothing
    names, place = np.unique(np.asarray(sources, dtype=str), return_inverse=True)
    if len(names) < k:
        raise CombineError(
            f"{len(names)} sources cannot be put into {k} folds: rate more sources, or ask for"
            " fewer folds"
        )
    number = np.empty(len(names), dtype=int)
    number[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % k
    return number[place.reshape(-1)]


def splits(sources: np.ndarray, k: int, seed: int, *, in_sample: bool = False) -> Iterator[Split]:
    """Each fold once as what is judged, all others as what is fitted on.

    ``in_sample`` gives one split with everything in both: what one should not do.
    """
    if in_sample:
        every = np.ones(len(sources), dtype=bool)
        yield Split(0, every, every)
        return
    number = folds(sources, k, seed)
    for fold in range(k):
        yield Split(fold, number != fold, number == fold)
