"""Draws: what they count, that they are fair and repeatable, and that no item meets itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.oracles import drawn_anew, rng
from tstmeta.stats import ResamplingPlan, Setting, confidence_intervals, draw, resampling
from tstmeta.stats.resampling import jackknife


@pytest.mark.parametrize("units", ["sources", "systems", "both"])
def test_counts_add_up_to_the_number_of_units_and_what_is_not_drawn_counts_once(units):
    result = draw(ResamplingPlan(units, 200), (7, 5), rng())
    drawn = {"sources": {"sources"}, "systems": {"systems"}, "both": {"sources", "systems"}}
    for name, size in (("sources", 7), ("systems", 5)):
        counts = getattr(result, name)
        assert counts.shape == (200, size)
        assert (counts.sum(axis=1) == size).all()
        assert (counts == 1).all() == (name not in drawn[units])
    assert len(result) == 200


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_clusters_are_drawn_whole_and_strata_keep_their_number_of_clusters(labels, seed):
    labels = np.array(labels)
    strata = labels % 2
    result = draw(
        ResamplingPlan("sources", 20, labels, strata), (len(labels), 2), rng(seed)
    ).sources
    for label in set(labels):
        assert (np.ptp(result[:, labels == label], axis=1) == 0).all()
    for stratum in set(strata):
        first = [np.flatnonzero(labels == label)[0] for label in set(labels[strata == stratum])]
        assert (result[:, first].sum(axis=1) == len(first)).all()


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (ResamplingPlan("rows"), "unknown unit 'rows'; known: sources, systems, both"),  # type: ignore[arg-type]
        (ResamplingPlan(clusters=[1, 2]), "clusters must be 3 labels"),
        (ResamplingPlan(clusters=[1, 1, 2], strata=[1, 2, 2]), "^a cluster lies in more than one"),
        (ResamplingPlan(clusters=[1, math.nan, 2]), "clusters must be 3 labels"),
        (ResamplingPlan(strata=["a", None, "b"]), "strata must be 3 labels"),
        (ResamplingPlan("both", columns=[1]), "^columns must be 2 labels"),
    ],
)
def test_plans_that_cannot_be_are_refused(plan, message):
    with pytest.raises(ValueError, match=message):
        draw(plan, (3, 2), rng())


def test_columns_of_one_label_are_one_system():
    plan = ResamplingPlan("systems", 50, columns=["b", "a", "b", "c"])
    counts = draw(plan, (2, 4), rng()).systems
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, [0, 1, 3]].sum(axis=1) == 3).all()
    left_out = jackknife(plan, (2, 4))[0].draws.systems
    assert left_out.tolist() == [[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]]
    assert (draw(ResamplingPlan("both", 50), (2, 1), rng()).systems == 1).all()
    assert jackknife(ResamplingPlan("both"), (3, 1))[1].draws.systems.tolist() == [[0]]


def test_clusters_are_left_out_whole():
    (result,) = jackknife(ResamplingPlan("sources", clusters=list("aba")), (3, 2))
    assert result.draws.sources.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert (result.draws.systems == 1).all()
    assert result.kind == "clusters"


def test_of_very_many_clusters_none_is_left_out_and_limits_hardly_move(monkeypatch):
    people = rng().normal(size=(400, 3))
    metrics = people[None] ** 3 + rng(1).normal(size=(2, 400, 3))
    results = []
    for many in (400, 399):
        monkeypatch.setattr(resampling, "_MANY", many)
        results.append(drawn_anew(people, metrics, Setting(), ResamplingPlan(n=300), rng()))
    first, second = (confidence_intervals(result)[0][:2] for result in results)
    assert second == pytest.approx(first, abs=0.01)
    counts = [result.metrics.counts["sources"].tolist() for result in results]
    assert counts[0] == counts[1]
    assert [np.isnan(result.metrics.jackknives[0]).all() for result in results] == [False, True]
