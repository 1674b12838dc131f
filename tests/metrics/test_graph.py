"""Smatch by hand, and by brute force over all mappings."""

import random
from collections import Counter
from itertools import permutations

import pytest
import smatch
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics import item, scores
from tests.parsing import CAT, OLD, TEXTS, animals, drawn, needs_spacy, tree
from tstmeta.metrics.graph import SmatchDep, matched, tree_graph


def brute(first, other):
    """The most triples that agree over all one-to-one mappings of nodes; None maps to nothing."""
    nodes = [node for _, node, _ in first[0]]
    targets = [*(node for _, node, _ in other[0]), *[None] * len(nodes)]
    wanted = Counter(triple for part in other for triple in part)
    best = 0
    for order in set(permutations(targets, len(nodes))):
        to = dict(zip(nodes, order, strict=True))
        labels, attributes, relations = first
        mapped = Counter((name, to[node], value) for name, node, value in [*labels, *attributes])
        mapped += Counter((name, to[a], to[b]) for name, a, b in relations)
        best = max(best, (mapped & wanted).total())
    return best


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_no_more_triples_agree_than_under_the_best_of_all_mappings(seed, size, other_size):
    first, other = (tree_graph(drawn(seed + place, n)) for place, n in ((0, size), (1, other_size)))
    assert matched(first, other) <= brute(first, other)


def test_the_library_is_left_as_it_was_and_so_are_the_random_numbers_of_the_process():
    before = smatch.random, smatch.iteration_num
    state = random.getstate()
    matched(tree_graph(tree(CAT)), tree_graph(tree(OLD)))
    assert (smatch.random, smatch.iteration_num) == before
    assert random.getstate() == state
    assert not smatch.match_triple_dict


@pytest.mark.parametrize("parser", ["a file", pytest.param("spaCy", marks=needs_spacy)])
def test_smatch_of_dependency_trees_by_hand(tmp_path, parser):
    metric = SmatchDep(animals(tmp_path) if parser == "a file" else "")
    result = scores(metric, *[item(text, TEXTS[0]) for text in TEXTS])
    # cat and dog change places: their labels, or their relations and what hangs on them;
    # "old" adds a label and a relation
    assert [score.value for score in result] == pytest.approx([1, 8 / 10, 2 * 10 / (10 + 12)])


def test_the_first_nodes_keep_what_lies_between_them():
    _, roots, relations = tree_graph(tree(CAT)[:4])
    assert roots == [("TOP", "2", "top")]
    assert relations == [("det", "1", "0"), ("nsubj", "2", "1")]
