"""Metrics over many rewrites at once: order, repeats, guards, one bad text among good ones."""

import pytest

from tests.metrics import item, scored, scores
from tests.models import tiny_encoder, tiny_text
from tstmeta.metrics.batched import BatchedMetric, Score
from tstmeta.metrics.bertscore import BertScore
from tstmeta.metrics.learned import Bleurt
from tstmeta.metrics.semantic import Cosine
from tstmeta.models.causal import MissingModel
from tstmeta.schema import Status


class Lengths(BatchedMetric):
    """How much longer the output is, in characters; breaks on ``bad``."""

    name = "lengths"

    def __init__(self):
        self.calls = []

    def pairs(self, pairs):
        self.calls.append(list(pairs))
        if any("bad" in text for pair in pairs for text in pair):
            raise ValueError("a bad text")
        return [Score(len(b) - len(a)) for a, b in pairs]


def test_scores_come_in_order_and_units_keep_their_size():
    two = (*item("aaa", "a"), *item("aa", "a"))
    result = list(Lengths().score([item("a", "a"), two]))
    assert [[score.value for score in unit] for unit in result] == [[0], [2, 1]]


def test_a_pair_that_occurs_twice_is_asked_once():
    metric = Lengths()
    scores(metric, item("b", "a"), item("b", "a"), item("c", "a", "b"))
    assert metric.calls == [[("a", "b"), ("a", "c"), ("b", "c")]]


@pytest.mark.parametrize(("higher", "value"), [(True, 3), (False, 1)])
def test_of_several_references_the_best_counts(higher, value):
    metric = Lengths()
    metric.higher_is_better = higher
    [result] = scores(metric, item("aaaa", "a", "aaa"))
    assert result == Score(value)


def test_one_bad_text_among_many_is_found_by_halves():
    metric = Lengths()
    result = scores(metric, *[item("a" * n, "a") for n in range(1, 200)], item("bad", "a"))
    assert [score.status for score in result] == [Status.OK] * 199 + [Status.ERROR]
    assert len(metric.calls) < 20


@pytest.mark.parametrize("when", ["known before", "found out"])
def test_a_model_that_is_not_here_gives_rows_with_the_remedy(when):
    class Gone(Lengths):
        missing = "fetch it" * (when == "known before")

        def pairs(self, pairs):
            raise MissingModel("fetch it")

    result = scores(Gone(), item("a", "a"), item("b", "b"))
    assert [(score.status, score.detail) for score in result] == [(Status.ERROR, "fetch it")] * 2


def test_shards_do_not_show():
    metric = Lengths()
    metric.shard = 2
    units = [item("a" * n, "a") for n in range(1, 8)]
    assert [score.value for score in scores(metric, *units)] == list(range(7))
    assert len(metric.calls) == 4


BUILDERS = {
    "bertscore": lambda path: BertScore(
        f"layer2+{tiny_encoder.folder(path, 'deberta', limit=False)}"
    ),
    "cosine": lambda path: Cosine(str(tiny_encoder.pooled(path, normalize=False))),
    "bleurt": lambda path: Bleurt(str(tiny_text.folder(path, tiny_text.bert()))),
}


@pytest.mark.parametrize(("name", "window"), [("bertscore", 48), ("cosine", 24), ("bleurt", 64)])
def test_a_blank_and_a_very_long_text_cost_only_themselves(tmp_path, name, window):
    metric = BUILDERS[name](tmp_path / name)
    long = "so cold " * 9000
    pairs = [("a", "b"), ("", "b"), ("a", "\n"), ("[SEP]", "b"), ("a", long), (long, "a")]
    result = scored(metric, *pairs)
    assert [score.status for score in result] == [
        *(Status.OK, Status.EMPTY, Status.EMPTY, Status.OK, Status.TRUNCATED, Status.TRUNCATED)
    ]
    assert all(score.detail.endswith(f" tokens, first {window} used") for score in result[4:])
    assert int(result[4].detail.split()[0]) > 10_000
    assert result[0].value == pytest.approx(scored(metric, ("a", "b"))[0].value, abs=1e-5)
