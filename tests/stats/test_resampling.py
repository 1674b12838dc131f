"""Draws: what they count, that they are fair and repeatable, and that no item meets itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.stats import (
    Draws,
    Plan,
    Setting,
    correlate,
    draw,
    estimate,
    everything,
    leave_one_out,
    resampled,
)
from tstmeta.stats.resampling import clusters_of

UNITS = ("sources", "systems", "both", "raters")


def rng(seed=0):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("units", UNITS)
def test_counts_add_up_to_the_number_of_units_and_what_is_not_drawn_counts_once(units):
    found = draw(Plan(units, 200), (7, 5), rng(), raters=3)
    drawn = {"sources": {"sources"}, "systems": {"systems"}, "both": {"sources", "systems"}}
    for name, size in (("sources", 7), ("systems", 5)):
        counts = getattr(found, name)
        assert counts.shape == (200, size)
        assert (counts.sum(axis=1) == size).all()
        assert (counts == 1).all() == (name not in drawn.get(units, ()))
    if units == "raters":
        assert found.raters.shape == (200, 3)
        assert (found.raters.sum(axis=1) == 3).all()
    else:
        assert found.raters is None
    assert len(found) == 200


def test_every_unit_is_drawn_once_on_average():
    found = draw(Plan("both", 20000), (6, 4), rng(1))
    assert found.sources.mean(axis=0) == pytest.approx(np.ones(6), abs=0.03)
    assert found.systems.var(axis=0) == pytest.approx(np.full(4, 0.75), abs=0.03)
    assert abs(np.corrcoef(found.sources[:, 0], found.systems[:, 0])[0, 1]) < 0.03


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_clusters_are_drawn_whole_and_strata_keep_their_number_of_clusters(labels, seed):
    labels = np.array(labels)
    strata = labels % 2
    found = draw(Plan("sources", 20, labels, strata), (len(labels), 2), rng(seed)).sources
    for label in set(labels):
        assert (np.ptp(found[:, labels == label], axis=1) == 0).all()
    for stratum in set(strata):
        first = [np.flatnonzero(labels == label)[0] for label in set(labels[strata == stratum])]
        assert (found[:, first].sum(axis=1) == len(first)).all()


def test_each_source_alone_in_strata_keeps_their_sizes():
    strata = np.array(list("aaabbbbc"))
    found = draw(Plan("sources", 50, strata=strata), (8, 1), rng(2)).sources
    for stratum, size in (("a", 3), ("b", 4), ("c", 1)):
        assert (found[:, strata == stratum].sum(axis=1) == size).all()


def test_clusters_and_strata_are_numbered():
    clusters, strata = clusters_of(Plan(clusters=list("baab"), strata=list("xyyx")), 4)
    assert clusters.tolist() == [1, 0, 0, 1]
    assert strata.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan("rows"), "unknown unit 'rows'; known: sources, systems, both, raters"),  # type: ignore[arg-type]
        (Plan("raters"), "a plan over raters needs ratings by single raters"),
        (Plan(clusters=[1, 2]), r"clusters has shape \(2,\), needed is \(3,\)"),
        (Plan(strata=[1, 2]), r"strata has shape \(2,\), needed is \(3,\)"),
        (Plan(clusters=[1, 1, 2], strata=[1, 2, 2]), "a cluster lies in more than one stratum"),
        (Plan(clusters=[1, None, 2]), "a source has no label in clusters"),
        (Plan(clusters=[1, math.nan, 2]), "a source has no label in clusters"),
        (Plan(strata=["a", None, "b"]), "a source has no label in strata"),
    ],
)
def test_plans_that_cannot_be_are_refused(plan, message):
    with pytest.raises(ValueError, match=message):
        draw(plan, (3, 2), rng())


# -------------------------------------------------------------------------------- repeatable


@pytest.mark.parametrize("units", UNITS)
def test_the_same_seed_gives_the_same_draws_and_another_one_others(units):
    first, second, other = (draw(Plan(units, 9), (6, 5), rng(seed), 4) for seed in (3, 3, 4))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    assert any((one != two).any() for one, two in zip(first, other, strict=True) if one is not None)


def test_slices_are_the_draws():
    found = draw(Plan("both", 11), (4, 3), rng(5))
    parts = list(found.parts(4))
    assert [len(part) for part in parts] == [4, 4, 3]
    for name in ("sources", "systems"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(found, name))
    of_raters = draw(Plan("raters", 5), (4, 3), rng(5), raters=2)
    joined = np.concatenate([part.raters for part in of_raters.parts(2)])
    np.testing.assert_array_equal(joined, of_raters.raters)


def test_different_metrics_see_the_same_draws():
    random = rng(6)
    human, metric = random.normal(size=(2, 10, 6))
    draws = draw(Plan("both", 40), (10, 6), random)
    metrics = np.stack([metric, random.normal(size=(10, 6)), 3 * metric + 1])
    found = resampled(human, metrics, Setting("spearman"), draws)
    np.testing.assert_allclose(found[0], found[2], atol=1e-12)
    assert np.abs(found[0] - found[1]).max() > 0.1


def test_draws_do_not_change_what_they_are_used_on():
    human, metric = rng(7).normal(size=(2, 5, 4))
    human[0, 0] = math.nan
    draws = draw(Plan("both", 5), (5, 4), rng(7))
    copies = human.copy(), metric.copy(), draws.sources.copy(), draws.systems.copy()
    resampled(human, metric[None], Setting("kendall", "source"), draws)
    for one, two in zip((human, metric, draws.sources, draws.systems), copies, strict=True):
        np.testing.assert_array_equal(one, two)


# -------------------------------------------------------------------------------- jackknife


def test_leaving_one_out_is_the_estimate_without_it():
    random = rng(8)
    human, metric = random.integers(0, 5, (6, 5)).astype(float), random.normal(size=(6, 5))
    for level in ("pooled", "source", "system"):
        setting = Setting("kendall", level)
        sources, systems = leave_one_out(Plan("both"), (6, 5))
        of_sources, of_systems = (
            resampled(human, metric[None], setting, draws)[0] for draws in (sources, systems)
        )
        for place in range(6):
            rest = [np.delete(side, place, axis=0) for side in (human, metric)]
            assert of_sources[place] == pytest.approx(correlate(*rest, setting).value)
        for place in range(5):
            rest = [np.delete(side, place, axis=1) for side in (human, metric)]
            assert of_systems[place] == pytest.approx(correlate(*rest, setting).value)


def test_clusters_are_left_out_whole():
    (found,) = leave_one_out(Plan("sources", clusters=list("aba")), (3, 2))
    assert found.sources.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert (found.systems == 1).all()
    assert leave_one_out(Plan("raters"), (3, 2)) == []


def test_everything_counts_each_once():
    found = everything((3, 2))
    assert (found.sources.tolist(), found.systems.tolist()) == ([[1, 1, 1]], [[1, 1]])


# --------------------------------------------------------------------------------- self pairs


def test_a_system_drawn_twice_is_no_pair_with_itself():
    """A random metric is right half the time; pairs of a system with itself look like agreement.

    With K systems a pair of draws is one system with probability 1/K, so counting self pairs as
    ties on both sides lifts the accuracy of a metric that knows nothing from 1/2 by 1/(2K).
    """
    random, systems, tables, n = rng(9), 10, 300, 40
    ours, naive = [], []
    for _ in range(tables):
        human, metric = random.normal(size=(2, 1, systems))
        draws = draw(Plan("systems", n), (1, systems), random)
        setting = Setting("pairwise-accuracy", "system")
        ours.append(resampled(human, metric[None], setting, draws)[0])
        for counts in draws.systems.astype(int):
            drawn = np.repeat(np.arange(systems), counts)
            x, y = human[0, drawn], metric[0, drawn]
            first, second = np.triu_indices(systems, 1)
            naive.append(np.mean(np.sign(x[first] - x[second]) == np.sign(y[first] - y[second])))
    assert np.mean(ours) == pytest.approx(0.50, abs=0.015)
    assert np.mean(naive) == pytest.approx(0.55, abs=0.015)


def test_a_draw_of_one_system_alone_has_no_pairs():
    table = np.arange(12.0).reshape(3, 4)
    draws = Draws(np.ones((1, 3)), np.array([[4.0, 0, 0, 0]]))
    for name in ("pairwise-accuracy", "kendall", "soft-pairwise-accuracy", "pearson"):
        assert np.isnan(resampled(table, table[None], Setting(name, "system"), draws)).all()


def test_raters_may_come_in_any_order():
    random = rng(10)
    cube = random.integers(1, 6, (8, 5, 4)).astype(float)
    metric = random.normal(size=(8, 5))
    order = random.permutation(4)
    for name in ("kendall", "pearson", "pairwise-accuracy"):
        for level in ("pooled", "source", "system"):
            setting = Setting(name, level)
            first = estimate(cube.mean(axis=2), metric[None], setting)
            assert estimate(cube[:, :, order].mean(axis=2), metric[None], setting) == first


def test_drawn_raters_are_means_of_those_who_were_drawn():
    random = rng(11)
    cube, metric = random.integers(1, 6, (8, 5, 3)).astype(float), random.normal(size=(8, 5))
    draws = draw(Plan("raters", 6), (8, 5), random, raters=3)
    means = np.einsum("skr,dr->dsk", cube, draws.raters) / 3
    found = resampled(means, metric[None], Setting("kendall", "system"), draws)[0]
    for value, counts in zip(found, draws.raters.astype(int), strict=True):
        drawn = np.repeat(cube, counts, axis=2).mean(axis=2)
        assert value == pytest.approx(correlate(drawn, metric, Setting("kendall", "system")).value)


def test_fewer_than_no_draws_are_refused_and_none_are_fine():
    with pytest.raises(ValueError, match="there are no -1 draws"):
        draw(Plan("sources", -1), (3, 2), np.random.default_rng(0))
    assert len(draw(Plan("both", 0), (3, 2), np.random.default_rng(0))) == 0
