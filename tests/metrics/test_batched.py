"""Metrics over many rewrites at once: order, repeats, guards, one bad text among good ones."""

import math

import pytest

from tstmeta.metrics.base import Request
from tstmeta.metrics.batched import BatchedMetric, Score
from tstmeta.models.causal import MissingModel
from tstmeta.schema import Status, TstmetaError


class Lengths(BatchedMetric):
    """How much longer the output is, in characters; breaks on ``bad``, knows no ``?``."""

    name = "lengths"

    def __init__(self):
        self.asked = []

    def pairs(self, pairs):
        self.asked.append(list(pairs))
        if any("bad" in text for pair in pairs for text in pair):
            raise ValueError("a bad text")
        return [math.nan if "?" in b else float(len(b) - len(a)) for a, b in pairs]


def item(output, *against):
    return (Request(output, against, against[0] if against else ""),)


def scored(metric, *units):
    return [score for unit in metric.score(list(units)) for score in unit]


def test_scores_come_in_order_and_units_keep_their_size():
    two = (*item("aaa", "a"), *item("aa", "a"))
    found = list(Lengths().score([item("a", "a"), two]))
    assert [[one.value for one in unit] for unit in found] == [[0], [2, 1]]


def test_a_pair_that_occurs_twice_is_asked_once():
    metric = Lengths()
    scored(metric, item("b", "a"), item("b", "a"), item("c", "a", "b"))
    assert metric.asked == [[("a", "b"), ("a", "c"), ("b", "c")]]


@pytest.mark.parametrize(("higher", "value"), [(True, 3), (False, 1)])
def test_of_several_references_the_best_counts(higher, value):
    metric = Lengths()
    metric.higher_is_better = higher
    [found] = scored(metric, item("aaaa", "a", "aaa"))
    assert found == Score(value)


def test_one_text_that_breaks_the_batch_costs_only_itself():
    found = scored(Lengths(), item("aa", "a"), item("bad", "a"), item("a", "a"))
    assert [one.status for one in found] == [Status.OK, Status.ERROR, Status.OK]
    assert found[1].detail == "ValueError: a bad text"
    assert [found[0].value, found[2].value] == [1, 0]


def test_one_bad_text_among_many_is_found_by_halves():
    metric = Lengths()
    found = scored(metric, *[item("a" * n, "a") for n in range(1, 200)], item("bad", "a"))
    assert [one.status for one in found] == [Status.OK] * 199 + [Status.ERROR]
    assert len(metric.asked) < 20


def test_a_fault_of_ours_says_what_to_do_without_its_class():
    class Faulty(Lengths):
        def pairs(self, pairs):
            raise TstmetaError("mend it")

    [found] = scored(Faulty(), item("a", "a"))
    assert (found.status, found.detail) == (Status.ERROR, "mend it")


@pytest.mark.parametrize("texts", [("ab\ud800", "a"), ("a", "ab\ud800"), ("a", "a", "ab\ud800")])
def test_half_a_character_is_told_and_never_asked(texts):
    metric = Lengths()
    found = scored(metric, item(*texts), item("a", "a"))
    assert [one.status for one in found] == [Status.ERROR, Status.OK]
    assert "(U+D800, at character 3)" in found[0].detail
    assert metric.asked == [[("a", "a")]]


def test_a_rewrite_that_is_compared_with_nothing_is_invalid():
    metric = Lengths()
    [found] = scored(metric, item("a"))
    assert (found.status, found.detail) == (Status.INVALID, "nothing to compare")
    assert metric.asked == []


def test_blank_texts_are_empty_and_never_asked():
    metric = Lengths()
    found = scored(metric, item(" ", "a"), item("a", "\n"), item("a", "a"))
    assert [one.status for one in found] == [Status.EMPTY, Status.EMPTY, Status.OK]
    assert metric.asked == [[("a", "a")]]


def test_long_texts_are_cut_and_say_so():
    metric = Lengths()
    metric.max_tokens = 2
    [found] = scored(metric, item("a b c d", "a b"))
    assert found == Score(0, Status.TRUNCATED, "4 tokens, first 2 used")


def test_no_number_is_invalid():
    [found] = scored(Lengths(), item("?", "a"))
    assert (found.status, found.detail) == (Status.INVALID, "the metric returned nan")
    [found] = scored(Lengths(), item("a", "?"), item("?", "a", "b"))[1:]
    assert found.status is Status.INVALID


@pytest.mark.parametrize("when", ["known before", "found out"])
def test_a_model_that_is_not_here_gives_rows_with_the_remedy(when):
    class Gone(Lengths):
        missing = "fetch it" * (when == "known before")

        def pairs(self, pairs):
            raise MissingModel("fetch it")

    found = scored(Gone(), item("a", "a"), item("b", "b"))
    assert [(one.status, one.detail) for one in found] == [(Status.ERROR, "fetch it")] * 2


def test_shards_do_not_show():
    metric = Lengths()
    metric.shard = 2
    units = [item("a" * n, "a") for n in range(1, 8)]
    assert [one.value for one in scored(metric, *units)] == list(range(7))
    assert len(metric.asked) == 4


def test_nothing_gives_nothing():
    assert scored(Lengths()) == []
