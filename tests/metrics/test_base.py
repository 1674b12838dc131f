"""The protocol: guards, wrapping, names."""

import math

import pytest

from tests.metrics import single
from tstmeta import metrics
from tstmeta.metrics import PairMetric, Request, Score, UnknownMetric, catalogue, wrap
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
        ("", ("a",), -1, Status.EMPTY),
        (" \t\n\u3000", ("a",), -1, Status.EMPTY),
        ("a", ("b", " "), -1, Status.EMPTY),
        ("ab", ("c",), 2, Status.OK),
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

    units = [(Request(output, ("a",)),) for output in ("bad", *values)]
    error, *scores = (score for [score] in wrap(fussy).score(units))
    assert (error.status, error.detail) == (Status.ERROR, "ValueError: no such thing")
    statuses = [Status.OK, *[Status.INVALID] * 3, Status.OK]
    assert [score.status for score in scores] == statuses
    assert all(math.isnan(score.value) for score in (error, *scores[1:4]))


def test_scores_are_given_as_soon_as_they_are_known():
    def endless():
        while True:
            yield (Request("a", ("b",)),)

    assert next(Length().score(endless())) == (Score(1.0),)


def test_every_registered_metric_is_complete_and_no_two_share_a_signature():
    signatures = []
    for name in metrics.names(variants=True):
        metric = metrics.whole(metrics.get(name))
        assert metric.name == name
        assert metric.unit in ("item", "source", "corpus")
        assert metric.profile in ("embedded", "real")
        signatures += [str(metric.signature(basis)) for basis in metric.bases]
    assert len(set(signatures)) == len(signatures)


def test_families_and_all_expand_without_repeats():
    names = metrics.resolve(["sentinel", "constant", "all"])
    assert names[0] in metrics.families()["sentinel"]
    assert len(set(names)) == len(names)
    assert set(names) == {
        each for each in metrics.names(variants=True) if metrics.get(each).profile == "embedded"
    }


def test_a_model_from_a_hub_is_asked_for_by_name_and_never_comes_with_a_family():
    zeroshot = metrics.resolve(["zeroshot"])
    assert "likelihood:released" in zeroshot
    assert metrics.resolve(["zeroshot", "likelihood:3b"]) == [*zeroshot, "likelihood:3b"]
    assert metrics.resolve(["synwmd"]) == ["synwmd"]  # a metric and the family of that name
    with pytest.raises(UnknownMetric, match="smatch-amr, smatch-dep"):
        metrics.resolve(["graph"])
    assert set(metrics.resolve(["all"], "real")) == set(metrics.names(variants=True))
    assert metrics.resolve(["zeroshot"], "real") == metrics.families()["zeroshot"]


def test_a_metric_that_cannot_be_made_does_not_hide_the_others(monkeypatch):
    def broken(name):
        if name == "ter":
            raise ValueError("no such file")
        return metrics.get(name)

    monkeypatch.setattr(catalogue, "get", broken)
    rows = catalogue.overview().set_index("name")
    assert rows.loc["ter", ["status", "remedy"]].tolist() == ["error", "ValueError: no such file"]
    assert rows.loc["pinc", "status"] == "ok"


def test_an_open_form_is_listed_with_what_to_name():
    rows = catalogue.overview().set_index("name")
    for name in catalogue.OPEN:
        row, plain = rows.loc[name], rows.loc[name.partition(":")[0]]
        assert (row["status"], row["profile"], row["signature"]) == ("error", "real", "")
        assert row["remedy"]
        assert row[["dimension", "unit", "bases"]].equals(plain[["dimension", "unit", "bases"]])
