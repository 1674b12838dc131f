"""Sums of metrics: their values, and ``tst-content`` computed anew from the scores passed on."""

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from experiments.judged import JUDGE, SAMPLED, sample_of
from tests.metrics import item, scores
from tstmeta.analysis.synthesis import against, panels
from tstmeta.data import has_numbers
from tstmeta.metrics import get, weighted

FAMILY = panels().set_index("dataset")["family"]
PARTS = {"cosine:mpnet": 0.5, JUDGE: 0.5}
#: Sets whose scores are passed on: where texts are, too, these are taken.
PASSED_ON = [name for name in SAMPLED if has_numbers(name.partition("@")[0])]
FITTED_ON = [name for name in PASSED_ON if panels().set_index("dataset")["panel"][name] == "pool"]


@pytest.fixture
def words(monkeypatch):
    """A sum of two metrics of words."""
    weights = {"all": {"intercept": 1.0, "chrf": 2.0, "copy-rate": -3.0}}
    monkeypatch.setattr(weighted, "FITTED", {"version": "0", "weights": weights})
    return weighted.TstContent()


def test_the_value_is_the_weighted_sum_of_its_parts(words):
    rewrites = item("The soup is cold.", "The soup was cold."), item("No.", "The soup was cold.")
    for rewrite in rewrites:
        chrf, copied = (scores(get(name), rewrite)[0].value for name in ("chrf", "copy-rate"))
        assert scores(words, rewrite)[0].value == pytest.approx(1 + 2 * chrf - 3 * copied)


def test_a_part_without_a_value_leaves_none_and_says_why(words, monkeypatch):
    monkeypatch.setattr(words.parts[0], "value", lambda request: float("nan"))
    [score] = scores(words, item("The soup is cold.", "The soup was cold."))
    assert np.isnan(score.value)
    assert (str(score.status), score.detail) == ("invalid", "chrf: the metric returned nan")


def test_weights_and_parts_change_the_signature(words):
    before = str(words.signature("source"))
    words.weights["chrf"] = 2.5
    assert str(words.signature("source")) != before
    assert "parts:chrf+copy-rate" in before


def test_its_weights_are_those_of_the_families_that_they_name():
    """One over the standard deviation among rewrites of a source, of the mean over families."""
    everything = {name: whole(name) for name in FITTED_ON}
    for without in ["", *weighted.FITTED["families"]]:
        names = [name for name in FITTED_ON if FAMILY[name] != without]
        for part, weight in PARTS.items():
            within = {name: variance(everything[name], part) for name in names}
            by_family = pd.Series(within).groupby(FAMILY[names].to_numpy()).mean()
            metric = weighted.TstContent(f"without-{without}" if without else "")
            expected = pytest.approx(weight / np.sqrt(by_family.mean()), rel=1e-4)
            assert metric.weights[part] == expected


def whole(name):
    """The cosine of all rewrites, and the judge where it has read them."""
    data = tst.load(name)
    parts = [(data, "cosine:mpnet"), (sample_of(data), JUDGE)]
    rows = [tst.score(read, metric, ["source"], progress=False) for read, metric in parts]
    table = pd.concat(rows).pivot_table("value", "item_id", "metric", observed=True)
    return table.join(data.items.set_index("item_id")["source_id"])


def variance(table, part):
    gap = table[part] - table.groupby("source_id")[part].transform("mean")
    return (gap**2).mean()


@pytest.mark.parametrize("name", [n for n in PASSED_ON if n != "lai@pauli2025-references"])
def test_its_accuracy_and_its_lead_are_those_of_the_evidence(name):
    variant = f"without-{FAMILY[name]}"
    is_fitted_on = variant in weighted.TstContent.VARIANTS
    metric = f"tst-content:{variant}" if is_fitted_on else "tst-content"
    read = sample_of(tst.load(name))
    rows = tst.score(read, [metric, "cosine", "copy-rate"], ["source"], progress=False)
    pairs = tst.pairs(read, rows.assign(metric=rows["metric"].replace(metric, "tst-content")))
    value = tst.correlate(pairs, "accuracy", "same-source").set_index("metric")["value"]
    known = tst.evidence("content", differences=True)
    known = known[(known["dataset"] == name) & (known["level"] == "same-source")]
    known = known[known["statistic"] == "accuracy"]
    rows = known[(known["metric"] == "tst-content") & (known["against"] == "")]
    assert value["tst-content"] == pytest.approx(rows["value"].iloc[0], abs=1e-5)
    for other in ("cosine", "copy-rate"):
        gap = against(known, other, "source").set_index("metric")["value"]["tst-content"]
        assert value["tst-content"] - value[other] == pytest.approx(gap, abs=1e-5)
