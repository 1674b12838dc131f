"""Wrong dimensions, strata and errors, against counts by hand."""

import itertools
import math

import numpy as np
import pytest

from tstmeta.stats import Draws, Plan, Setting, correlate, draw, estimate, everything
from tstmeta.stats.confounds import cut, discriminant, sensitivity, strata

NAN = math.nan


def problems(seed: int, count: int = 150, layers: int = 4):
    """Random small matrices ``[layers, S, K]``, many with ties and missing cells."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        values = rng.normal(size=(layers, int(rng.integers(3, 8)), int(rng.integers(2, 5))))
        if rng.random() < 0.6:
            values = np.round(values)
        values[rng.random(values.shape) < rng.choice([0.0, 0.15])] = NAN
        yield values


# -------------------------------------------------------------------------- the wrong dimension


@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_every_dimension_is_looked_at_over_the_same_items(level):
    setting = Setting("spearman", level)
    for content, style, *metrics in problems(1):
        found = discriminant({"content": content, "style": style}, metrics, setting)
        both = np.isfinite(content) & np.isfinite(style)
        for column, human in enumerate((content, style)):
            expected = estimate(np.where(both, human, NAN), metrics, setting)
            np.testing.assert_allclose(found.value[:, column], expected)
        assert found.dimensions == ["content", "style"]
        assert found.n.tolist() == [(both & np.isfinite(one)).sum() for one in metrics]
        assert found.drawn.shape == (2, 2, 0)


def test_the_gap_is_right_minus_wrong_in_every_draw():
    rng = np.random.default_rng(2)
    content, style, *metrics = rng.normal(size=(5, 20, 4))
    metrics[0] = content + 0.1 * metrics[0]
    draws = draw(Plan("sources", 50), content.shape, rng)
    dimensions = {"style": style, "content": content}
    found = discriminant(dimensions, metrics, Setting(), draws)
    gap, drawn = found.gap("content", "style")
    assert gap[0] > 0.8
    assert (drawn[0] > 0.5).all()
    for name, human in dimensions.items():
        again = discriminant({name: human}, metrics, Setting(), draws)
        np.testing.assert_array_equal(
            found.drawn[:, found.dimensions.index(name)], again.drawn[:, 0]
        )
    np.testing.assert_array_equal(found.gap("style", "content")[1], -drawn)


def test_a_discriminant_without_dimensions_or_of_other_shapes_is_refused():
    with pytest.raises(ValueError, match="at least one dimension"):
        discriminant({}, np.ones((1, 2, 2)), Setting())
    with pytest.raises(ValueError, match="of one shape"):
        discriminant({"content": np.ones((3, 2))}, np.ones((1, 2, 2)), Setting())
    with pytest.raises(ValueError, match="no such dimension: fluency"):
        discriminant({"content": np.ones((2, 2))}, np.ones((1, 2, 2)), Setting()).gap(
            "fluency", "content"
        )


# -------------------------------------------------------------------------------------- strata

#: values, parts, strata, edges
CUTS = {
    "thirds": ([1, 2, 3, 4, 5, 6], 3, [0, 0, 1, 1, 2, 2], [2, 4]),
    "order does not matter": ([6, 1, 5, 2, 4, 3], 3, [2, 0, 2, 0, 1, 1], [2, 4]),
    "halves of five": ([1, 2, 3, 4, 5], 2, [0, 0, 0, 1, 1], [3]),
    "ties are never split": ([1, 1, 1, 1, 2, 3], 3, [0, 0, 0, 0, 1, 1], [1]),
    "ties at the top": ([1, 2, 3, 3, 3, 3], 3, [0, 0, 1, 1, 1, 1], [2]),
    "missing ones are in none": ([1, NAN, 2, 3, math.inf], 3, [0, -1, 1, 2, -1], [1, 2]),
    "all equal": ([7, 7, 7], 3, [0, 0, 0], []),
    "one value": ([7], 3, [0], []),
    "more parts than values": ([1, 2], 4, [0, 1], [1]),
}


@pytest.mark.parametrize(("values", "parts", "expected", "edges"), CUTS.values(), ids=CUTS)
def test_cuts(values, parts, expected, edges):
    found = cut([values], parts)
    assert found.stratum.tolist() == [expected]
    assert found.edges == edges
    for number, (low, high) in enumerate(found.ranges):
        inside = [v for v, s in zip(values, expected, strict=True) if s == number]
        assert (low, high) == (min(inside), max(inside))


def test_cuts_are_of_equal_size_where_nothing_ties():
    values = np.random.default_rng(3).normal(size=(40, 3))
    assert np.bincount(cut(values).stratum.ravel()).tolist() == [40, 40, 40]


@pytest.mark.parametrize(("values", "parts"), [([[1.0, 2]], 1), ([[NAN, NAN]], 3), ([[]], 2)])
def test_what_cannot_be_cut_is_refused(values, parts):
    with pytest.raises(ValueError, match="two parts or more and at least one value"):
        cut(values, parts)


def test_values_in_strata_are_those_of_their_items_alone():
    rng = np.random.default_rng(4)
    for human, *metrics in problems(4):
        by = rng.choice(["", "light", "strong"], human.shape)
        by[0, :2] = ["light", "strong"]
        found = strata(human, metrics, by, Setting(), everything(human.shape))
        assert found.names == ["light", "strong"]
        for place, name in enumerate(found.names):
            inside = np.where(by == name, human, NAN)
            expected = [correlate(inside, one, Setting()) for one in metrics]
            values = [one.value for one in expected]
            np.testing.assert_allclose(found.value[:, place], values, atol=1e-12)
            np.testing.assert_allclose(found.drawn[:, place, 0], values, atol=1e-12)
            assert found.n[:, place].tolist() == [one.n for one in expected]
            given = inside[np.isfinite(inside)]
            spread = np.std(given, ddof=1) if len(given) > 1 else NAN
            assert found.spread[place] == pytest.approx(spread, nan_ok=True)


def test_strata_may_be_numbers():
    human = np.arange(12.0).reshape(6, 2)
    by = cut(human).stratum
    by[0] = -1
    found = strata(human, [human], by, Setting())
    assert found.names == [0, 1, 2]
    assert found.n.tolist() == [[2, 4, 4]]
    assert math.isnan(found.value[0, 0])
    assert found.value[0, 1:] == pytest.approx(1)


@pytest.mark.parametrize(
    ("by", "match"),
    [(np.ones((2, 3)), "strata have shape"), (np.full((3, 2), ""), "no item is in any stratum")],
)
def test_strata_that_do_not_fit_are_refused(by, match):
    with pytest.raises(ValueError, match=match):
        strata(np.ones((3, 2)), np.ones((1, 3, 2)), by, Setting())


# ------------------------------------------------------------------------- sensitivity to errors


def brute(metric, kept, wrong, scale="both"):
    """Gap and preference by going through the pairs."""
    given = np.isfinite(metric)
    sources = range(len(metric))
    groups = {s: [metric[s][m[s] & given[s]] for m in (kept, wrong)] for s in sources}
    pooled = not (kept.any(axis=1) & wrong.any(axis=1)).any()
    if pooled:
        groups = {0: [metric[m & given] for m in (kept, wrong)]}
    groups = {s: sides for s, sides in groups.items() if all(len(side) for side in sides)}
    if not groups:
        return NAN, NAN, 0
    shares, gaps = [], []
    for good, bad in groups.values():
        wins = [0.5 * (1 + np.sign(a - b)) for a, b in itertools.product(good, bad)]
        shares.append(np.mean(wins))
        gaps.append(np.mean(good) - np.mean(bad))
    sides = [np.concatenate([group[i] for group in groups.values()]) for i in range(2)]
    chosen = sides if scale == "both" else sides[:1]
    spread = math.sqrt(sum(((s - s.mean()) ** 2).sum() for s in chosen) / sum(map(len, chosen)))
    n = min(map(len, sides)) if pooled else len(groups)
    return (np.mean(gaps) / spread if spread > 1e-9 else NAN), np.mean(shares), n


def masks(rng, shape, paired):
    cell = rng.choice(3, shape)
    if not paired:  # a source has kept rewrites or wrong ones
        cell = np.where(cell == 2, 2, (np.arange(shape[0]) % 2)[:, None])
    return cell == 0, cell == 1


@pytest.mark.parametrize("scale", ["both", "kept"])
@pytest.mark.parametrize("paired", [True, False])
def test_gaps_and_preferences_are_those_of_all_pairs(paired, scale):
    rng = np.random.default_rng(5)
    compared = 0
    for metrics in problems(5, 300):
        kept, wrong = masks(rng, metrics.shape[1:], paired)
        found = sensitivity(metrics, kept, wrong, scale=scale)
        assert found.paired == (kept.any(axis=1) & wrong.any(axis=1)).any()
        for place, metric in enumerate(metrics):
            gap, preference, n = brute(metric, kept, wrong, scale)
            compared += math.isfinite(gap)
            assert found.gap[place] == pytest.approx(gap, abs=1e-9, nan_ok=True)
            assert found.preference[place] == pytest.approx(preference, abs=1e-9, nan_ok=True)
            assert found.n[place] == n
    assert compared > 500


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("slices", [2**23, 5])
def test_a_draw_of_sources_is_worth_its_repetitions(paired, slices, monkeypatch):
    monkeypatch.setattr("tstmeta.stats.confounds._ROOM", slices)
    rng = np.random.default_rng(6)
    for metrics in problems(6, 60):
        kept, wrong = masks(rng, metrics.shape[1:], paired)
        draws = draw(Plan("sources", 3), metrics.shape[1:], rng)
        found = sensitivity(metrics, kept, wrong, draws=draws)
        for place, counts in enumerate(draws.sources.astype(int)):
            rows = np.repeat(np.arange(len(kept)), counts)
            if found.paired != (kept[rows].any(axis=1) & wrong[rows].any(axis=1)).any():
                continue  # the draw has no pair: it has no value, and is not compared unpaired
            again = sensitivity(metrics[:, rows], kept[rows], wrong[rows])
            np.testing.assert_allclose(found.gaps[:, place], again.gap, atol=1e-9)
            np.testing.assert_allclose(found.preferences[:, place], again.preference, atol=1e-9)


def test_a_shift_in_units_of_the_spread_is_found():
    rng = np.random.default_rng(7)
    scores = rng.normal(100, 3, size=(1, 4000, 2))
    scores[0, :, 0] += 6
    kept = np.zeros((4000, 2), dtype=bool)
    kept[:, 0] = True
    found = sensitivity(scores, kept, ~kept)
    assert found.gap[0] == pytest.approx(2, abs=0.1)
    assert found.preference[0] == pytest.approx(0.9214, abs=0.02)  # normal: Phi(2 / sqrt(2))
    turned = sensitivity(-scores, kept, ~kept)
    assert turned.gap[0] == pytest.approx(-found.gap[0])
    assert turned.preference[0] == pytest.approx(1 - found.preference[0])


FIRST = np.array([[True, False], [True, False]])
#: scores, kept, wrong, gap, preference, n
DEGENERATE = {
    "constant": ([[3, 3], [3, 3]], FIRST, ~FIRST, NAN, 0.5, 2),
    "constant but for rounding": ([[0.3, 0.1 + 0.2], [0.3, 0.3]], FIRST, ~FIRST, NAN, None, 2),
    "all missing": ([[NAN, NAN], [NAN, NAN]], FIRST, ~FIRST, NAN, NAN, 0),
    "never both": ([[1, NAN], [NAN, 2]], FIRST, ~FIRST, NAN, NAN, 0),
    "nothing wrong": ([[1, 2], [3, 4]], FIRST, FIRST & False, NAN, NAN, 0),
    "one source": ([[2, 1], [NAN, NAN]], FIRST, ~FIRST, NAN, 1, 1),
}


@pytest.mark.parametrize(
    ("scores", "kept", "wrong", "gap", "preference", "n"), DEGENERATE.values(), ids=DEGENERATE
)
def test_what_cannot_be_told(scores, kept, wrong, gap, preference, n):
    found = sensitivity([scores], kept, wrong, draws=everything((2, 2)))
    assert found.gap[0] == pytest.approx(gap, nan_ok=True)
    assert found.gaps[0, 0] == pytest.approx(gap, nan_ok=True)
    if preference is not None:
        assert found.preference[0] == pytest.approx(preference, nan_ok=True)
    assert found.n[0] == n


@pytest.mark.parametrize(
    ("kept", "wrong", "scale", "match"),
    [
        (FIRST, FIRST, "both", "an item is kept or wrong"),
        (FIRST, ~FIRST, "wrong", "the scale is both or kept"),
        (FIRST[:1], ~FIRST, "both", "masks of shape"),
    ],
)
def test_masks_that_do_not_fit_are_refused(kept, wrong, scale, match):
    with pytest.raises(ValueError, match=match):
        sensitivity(np.ones((1, 2, 2)), kept, wrong, scale=scale)


@pytest.mark.parametrize("factor", [2.0**900, 2.0**-900])
def test_very_large_and_very_small_scores_count_as_others(factor):
    metrics = np.random.default_rng(8).normal(size=(2, 9, 2))
    kept = np.zeros((9, 2), dtype=bool)
    kept[:, 0] = True
    first, other = (sensitivity(values, kept, ~kept) for values in (metrics, factor * metrics))
    np.testing.assert_array_equal(first.gap, other.gap)
    np.testing.assert_array_equal(first.preference, other.preference)


def test_no_draws_give_no_values():
    none = Draws(np.empty((0, 2)), np.empty((0, 2)))
    found = sensitivity(np.ones((3, 2, 2)), FIRST, ~FIRST, draws=none)
    assert found.gaps.shape == found.preferences.shape == (3, 0)
