"""Partial correlations against regressions, and where there is none."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from tests.stats.oracles import repeated
from tstmeta.stats import Draws, ResamplingPlan, draw, partial

NAN = math.nan
STATISTICS = ("pearson", "spearman")


def problems(seed: int, count: int, missing: float = 0.1, most: int = 3):
    """Random small matrices, many with ties and missing cells: human, metrics, controls."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        shape = int(rng.integers(3, 8)), int(rng.integers(2, 5))
        metrics, controls = int(rng.integers(1, 4)), int(rng.integers(0, most + 1))
        values = rng.normal(size=(1 + metrics + controls, *shape))
        values += rng.normal(size=shape)  # something in common
        if rng.random() < 0.6:
            values = np.round(values)
        values[rng.random(values.shape) < rng.choice([0.0, missing])] = NAN
        yield values[0], values[1 : 1 + metrics], values[1 + metrics :]


def oracle(human, metric, controls, statistic) -> float:
    """Residuals of one metric at a time; NaN where there are next to none."""
    sides = [human, metric, *controls]
    both = np.isfinite(np.stack(sides)).all(axis=0)
    columns = [side[both] for side in sides]
    if statistic == "spearman":
        columns = [rankdata(side) for side in columns]
    if len(columns[0]) < len(controls) + 3:
        return NAN
    design = np.column_stack([np.ones(len(columns[0])), *columns[2:]])
    if np.linalg.matrix_rank(design, tol=1e-6) < design.shape[1]:
        return NAN
    left = [side - design @ np.linalg.lstsq(design, side, rcond=None)[0] for side in columns[:2]]
    if min(np.ptp(side) for side in left) < 1e-6:
        return NAN
    return float(np.corrcoef(left)[0, 1])


@pytest.mark.parametrize("statistic", STATISTICS)
def test_partial_correlation_is_the_correlation_of_residuals(statistic):
    compared = 0
    for human, metrics, controls in problems(1, 160):
        how = {} if statistic == "pearson" else {"statistic": statistic}
        result = partial(human, metrics, controls, **how)
        for value, metric in zip(result, metrics, strict=True):
            expected = oracle(human, metric, controls, statistic)
            compared += math.isfinite(expected)
            assert value == pytest.approx(expected, abs=1e-7, nan_ok=True)
    assert compared > 160


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_draw_is_worth_its_repetitions(statistic):
    rng = np.random.default_rng(3)
    compared = 0
    for human, metrics, controls in problems(3, count=100, most=2):
        draws = draw(ResamplingPlan("both", 4), human.shape, rng)
        result = partial(human, metrics, controls, statistic=statistic, draws=draws)
        assert result.shape == (len(metrics), 4)
        for place in range(4):
            rows, columns = (repeated(counts[place]) for counts in draws)
            again = [side[..., rows, :][..., columns] for side in (human, metrics, controls)]
            expected = partial(*again, statistic=statistic)
            # a literal copy counts as an item, a draw not
            complete = np.isfinite(metrics + human + controls.sum(axis=0))
            distinct = complete[:, np.unique(rows)][:, :, np.unique(columns)].sum(axis=(1, 2))
            expected = np.where(distinct >= len(controls) + 3, expected, NAN)
            compared += np.isfinite(expected).sum()
            np.testing.assert_allclose(result[:, place], expected, atol=1e-7)
    assert compared > 200


UP = np.arange(6.0).reshape(3, 2)
WAVE = np.array([[1, 5], [2, 0], [4, 3.0]])
ODD = np.array([[0, 1], [0, 2], [7, 1.0]])
#: human, metric, controls
DEGENERATE = {
    "constant metric": (UP, WAVE * 0 + 2, [ODD]),
    "constant ratings": (UP * 0 + 1, WAVE, [ODD]),
    "all missing": (UP * NAN, WAVE, [ODD]),
    "a control too many": (UP, WAVE, [ODD, ODD**2, UP**2, WAVE**2]),
    "a constant control": (UP, WAVE, [ODD * 0]),
    "twice the same control": (UP, WAVE, [ODD, 2 * ODD + 1]),
    "the control is the metric": (UP, WAVE, [WAVE]),
    "one source, one system": (UP[:1, :1], WAVE[:1, :1], [ODD[:1, :1]]),
}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("human", "metric", "controls"), DEGENERATE.values(), ids=DEGENERATE)
def test_what_leaves_nothing_has_no_value(human, metric, controls, statistic):
    draws = Draws(np.ones((2, len(human))), np.ones((2, human.shape[1])))
    for weights in (None, draws):
        values = partial(human, [metric], controls, statistic=statistic, draws=weights)
        assert np.isnan(values).all()


def partial_tau(x, y, z) -> float:
    """Kendall (1942), the formula for one variable; for two it takes what one of them leaves."""
    if len(z) == 0:
        return kendalltau(x, y).statistic
    xy, xz, yz = (partial_tau(*two, z[:-1]) for two in ((x, y), (x, z[-1]), (y, z[-1])))
    return (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))


def test_partial_tau_is_kendalls_formula():
    seen = 0
    for human, metrics, controls in problems(5, 60, missing=0.0, most=2):
        values = partial(human, metrics, controls, statistic="kendall")
        for value, y in zip(values, metrics, strict=True):
            if math.isfinite(value):
                z = controls.reshape(len(controls), human.size)
                assert value == pytest.approx(partial_tau(human.ravel(), y.ravel(), z), abs=1e-9)
                seen += len(controls)
    assert seen > 50
