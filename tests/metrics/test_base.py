"""What all metrics share: guards, wrapping, names, batches, and the list of them."""

import math

import pytest
import torch

from tests.metrics import item, scored, scores, single
from tests.models import tiny, tiny_encoder, tiny_text
from tstmeta.metrics import PairMetric, Request, Score, UnknownMetric, registry, wrap
from tstmeta.metrics.batched import BatchedMetric
from tstmeta.metrics.bertscore import BertScore
from tstmeta.metrics.learned import Bleurt
from tstmeta.metrics.semantic import Cosine
from tstmeta.models.causal import MissingModel
from tstmeta.schema import Status


class Length(PairMetric):
    """Number of characters of the output."""

    name = "length"
    empty_value = -1.0
    max_tokens: int | None = 3

    def value(self, request: Request) -> float:
        return float(len(request.output))


@pytest.mark.parametrize(
    ("output", "against", "value", "status"),
    [
        *(("", ("a",), -1, Status.EMPTY), (" \t\n\u3000", ("a",), -1, Status.EMPTY)),
        *(("a", ("b", " "), -1, Status.EMPTY), ("ab", ("c",), 2, Status.OK)),
        ("a b c", ("d",), 5, Status.OK),
        ("a  b\nc d", ("e",), 5, Status.TRUNCATED),
    ],
)
def test_a_text_that_is_empty_or_too_long_gets_a_status(output, against, value, status):
    score = single(Length(), output, *against)
    assert (score.value, score.status) == (value, status)
    assert (score.detail == "4 tokens, first 3 used") == (status is Status.TRUNCATED)


def test_a_fault_or_a_value_that_is_not_finite_is_a_row_and_the_run_goes_on():
    values = {"good": 1.0, "nan": math.nan, "endless": math.inf, "least": -math.inf, "fine": 2.0}

    def fussy(source: str, output: str) -> float:
        if output not in values:
            raise ValueError("no such thing")
        return values[output]

    error, *others = scores(wrap(fussy), *(item(output, "a") for output in ("bad", *values)))
    assert (error.status, error.detail) == (Status.ERROR, "ValueError: no such thing")
    assert [score.status for score in others] == [Status.OK, *[Status.INVALID] * 3, Status.OK]
    assert all(math.isnan(score.value) for score in (error, *others[1:4]))


def test_scores_are_given_as_soon_as_they_are_known():
    def endless():
        while True:
            yield item("a", "b")

    assert next(Length().score(endless())) == Score(1.0)


def test_every_registered_metric_is_complete_and_no_two_share_a_signature():
    signatures = []
    for name in registry.names(variants=True):
        metric = registry.check(registry.get(name))
        assert metric.name == name
        assert metric.profile in ("embedded", "real")
        signatures += [str(metric.signature(basis)) for basis in metric.bases]
    assert len(set(signatures)) == len(signatures)


def test_families_and_all_expand_without_repeats_and_models_of_a_hub_come_by_name_only():
    every = registry.names(variants=True)
    names = registry.resolve(["sentinel", "constant", "all"])
    assert names[0] in registry.families()["sentinel"]
    assert len(set(names)) == len(names)
    assert set(names) == {name for name in every if registry.get(name).profile == "embedded"}
    zeroshot = registry.resolve(["zeroshot"])
    assert "likelihood:released" in zeroshot
    assert registry.resolve(["zeroshot", "likelihood:3b"]) == [*zeroshot, "likelihood:3b"]
    assert registry.resolve(["synwmd"]) == ["synwmd"]  # a metric and the family of that name
    with pytest.raises(UnknownMetric, match="smatch-amr, smatch-dep"):
        registry.resolve(["graph"])
    assert set(registry.resolve(["all"], "real")) == set(every)
    assert registry.resolve(["zeroshot"], "real") == registry.families()["zeroshot"]


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


def test_a_model_that_turns_out_not_to_be_here_gives_rows_with_the_remedy():
    class Gone(Lengths):
        def pairs(self, pairs):
            raise MissingModel("fetch it")

    result = scores(Gone(), item("a", "a"), item("b", "b"))
    assert [(score.status, score.detail) for score in result] == [(Status.ERROR, "fetch it")] * 2


def test_shards_do_not_show_and_scores_come_in_order():
    metric = Lengths()
    metric.shard = 2
    result = scores(metric, *(item("a" * n, "a") for n in range(1, 8)))
    assert [score.value for score in result] == [*range(7)]
    assert len(metric.calls) == 4


BUILDERS = {
    "bertscore": lambda path: BertScore(
        f"layer2+{tiny_encoder.folder(path, 'deberta', limit=False)}"
    ),
    "cosine": lambda path: Cosine(str(tiny_encoder.pooled(path, normalize=False))),
    "bleurt": lambda path: Bleurt(str(tiny.save(path, *tiny_text.bert()))),
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


PAIRS = [
    ("the soup was cold", "the soup was not warm"),
    ("the waiter was rude", "so kind"),
    ("x", "the baker sold the last loaf before noon"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("models") / "bleurt", *tiny_text.bert())


def upstream(pairs):
    """As the model's card shows: references first, candidates second, one number each."""
    model, tokenizer = tiny_text.bert()
    values = []
    for reference, candidate in pairs:
        with torch.no_grad():
            inputs = tokenizer([reference], [candidate], return_tensors="pt")
            values.append(float(model(**inputs)[0].squeeze()))
    return values


def test_bleurt_is_the_models_one_logit_with_the_reference_first(folder):
    result = scored(Bleurt(str(folder)), *PAIRS)
    assert [score.value for score in result] == pytest.approx(upstream(PAIRS), abs=1e-5)
    assert {score.status for score in result} == {Status.OK}
    turned = scored(Bleurt(str(folder)), *(pair[::-1] for pair in PAIRS))
    assert [score.value for score in turned] != pytest.approx(upstream(PAIRS), abs=1e-3)


def test_a_classifier_of_several_labels_is_no_bleurt(tmp_path):
    folder = tiny.save(tmp_path / "three", *tiny_text.bert(labels=3))
    [result] = scored(Bleurt(str(folder)), PAIRS[0])
    assert result.status is Status.ERROR
    assert "gives 3 numbers a pair" in result.detail
