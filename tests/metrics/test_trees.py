"""Tree edit distance by hand, by zss, and by its properties."""

import zss
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics import item, scores
from tests.parsing import TEXTS, animals, drawn, needs_spacy, sentence, write
from tstmeta.metrics.trees import MAX_WORDS, Ted, distance, ordered
from tstmeta.schema import Status


def edits(first, other):
    return distance(ordered(first), ordered(other))


def by_zss(first, other):
    """The library's distance of the same trees, with a root for all."""
    roots = []
    for words in (first, other):
        nodes = [zss.Node(""), *(zss.Node(word.form) for word in words)]
        for place, word in enumerate(words, 1):
            nodes[word.head].addkid(nodes[place])
        roots.append(nodes[0])
    return zss.distance(
        *roots,
        zss.Node.get_children,
        insert_cost=lambda node: 1,
        remove_cost=lambda node: 1,
        update_cost=lambda a, b: a.label.lower() != b.label.lower(),
    )


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 14))
def test_the_distance_is_that_of_zss(seed, size, other_size):
    first, other = drawn(seed, size, forms="abB"), drawn(seed + 1, other_size)
    assert edits(first, other) == by_zss(first, other)


def test_a_tree_as_deep_as_its_text_is_long_is_no_fault():
    chain = tuple(word._replace(head=place) for place, word in enumerate(drawn(0, MAX_WORDS)))
    assert edits(chain, chain[:100]) == 100


def test_fewer_edits_are_better_and_the_nearest_reference_counts(tmp_path):
    metric = Ted(animals(tmp_path))
    assert not metric.higher_is_better
    result = scores(metric, *[item(text, TEXTS[0]) for text in TEXTS], item(*TEXTS))
    assert [score.value for score in result] == [0, 2, 1, 1]
    assert {score.status for score in result} == {Status.OK}


def test_a_blank_text_is_a_tree_without_words(tmp_path):
    metric = Ted(animals(tmp_path))
    result = scores(metric, item(" ", TEXTS[0]), item(TEXTS[2], "\n"), item("", ""))
    assert [score.value for score in result] == [5, 6, 0]
    assert {score.status for score in result} == {Status.EMPTY}
    [unknown] = scores(metric, item("", "unheard of"))
    assert unknown.status is Status.ERROR
    assert "no parse of 'unheard of'" in unknown.detail


def test_of_a_long_text_the_first_words_are_used(tmp_path):
    long = sentence(" ".join(["no/0/root"] * (MAX_WORDS + 5)))
    [score] = scores(Ted(write(tmp_path / "a", long)), item(*["no " * (MAX_WORDS + 5)] * 2))
    assert score.detail == f"{MAX_WORDS + 5} words, first {MAX_WORDS} used"


@needs_spacy
def test_without_a_file_spacy_parses():
    result = scores(Ted(), *[item(text, TEXTS[0]) for text in TEXTS], item(" ", TEXTS[0]))
    assert [score.value for score in result] == [0, 2, 1, 5]
    assert "parses:en_core_web_sm-3.8.0+spacy-" in str(Ted().signature("source"))
