"""All rewrites of a source lie in one fold, and nothing is fitted on what it judges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.combine.folds import folds, splits

SOURCES = st.lists(st.sampled_from([f"s{n}" for n in range(12)]), min_size=20, max_size=60)


@given(SOURCES, st.integers(2, 4), st.integers(0, 50))
def test_all_rewrites_of_a_source_lie_in_one_fold(sources, k, seed):
    if len(set(sources)) < k:
        sources = [f"s{n}" for n in range(k)]
    number = folds(np.array(sources), k, seed)
    for name in set(sources):
        assert len({n for n, each in zip(number, sources, strict=True) if each == name}) == 1
    sizes = [len({s for n, s in zip(number, sources, strict=True) if n == f}) for f in range(k)]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


@given(st.permutations(list(range(24))), st.integers(0, 9))
def test_the_order_of_rows_changes_no_fold(order, seed):
    sources = np.array([f"s{n // 3}" for n in range(24)])
    assert folds(sources[order], 4, seed).tolist() == folds(sources, 4, seed)[order].tolist()


def test_every_item_is_judged_once_and_never_by_what_saw_it():
    sources = np.array([f"s{n // 2}" for n in range(30)])
    judged = np.zeros(30, dtype=int)
    for split in splits(sources, 5, 0):
        judged += split.judged
        assert not (split.judged & split.train).any()
        assert not set(sources[split.judged]) & set(sources[split.train])
        assert (split.judged | split.train).all()
    assert judged.tolist() == [1] * 30
