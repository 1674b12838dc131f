"""Random effects against formulas by hand and worlds whose truth is known."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.meta_analysis import combine_effects

from tstmeta import stats

NAN = math.nan


def test_families_are_plain_means_with_the_mean_of_the_errors():
    result = stats.family_means([0.5, 0.6, 0.7, NAN, 0.9], [0.1, 0.2, 0.3, 0.1, NAN], [*"aabcc"])
    assert result.names == ("a", "b")
    assert result.values == pytest.approx([0.55, 0.7])
    assert result.variances == pytest.approx([0.15**2, 0.3**2])


@pytest.mark.parametrize("method", ["pm", "dl"])
def test_equal_variances_give_what_the_formulas_of_equal_weights_give(method):
    y, v = np.array([0.6, 0.65, 0.7, 0.62, 0.58]), 0.0004
    tau2, k = y.var(ddof=1) - v, len(y)
    half = scipy_stats.t.ppf(0.975, k - 1) * math.sqrt((tau2 + v) / k)
    ahead = scipy_stats.t.ppf(0.975, k - 2) * math.sqrt(tau2 + (tau2 + v) / k + 0.01)
    result = stats.pool(y, [v] * k, method=method, new=0.01)
    expected = (y.mean(), half, math.sqrt(tau2), ahead)
    ours = (result.mean, result.high - result.mean, result.tau, result.predict_high - result.mean)
    assert ours == pytest.approx(expected, abs=1e-6)
    for low, high in ((result.low, result.high), (result.predict_low, result.predict_high)):
        assert (low + high) / 2 == pytest.approx(y.mean())
    assert result.k == 5


@pytest.mark.parametrize("method", ["pm", "dl"])
@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_mean_tau_and_limits_are_those_of_statsmodels(method, tau):
    rng = np.random.default_rng(3)
    for k in (3, 6, 25):
        v = rng.uniform(0.001, 0.03, k)
        y = 0.5 + tau * rng.normal(size=k) + np.sqrt(v) * rng.normal(size=k)
        with np.errstate(divide="ignore", invalid="ignore"):  # of measures that are not used
            fit = combine_effects(y, v, method_re=method)
        ours = stats.pool(y, v, method=method)
        assert ours.tau == pytest.approx(math.sqrt(max(0, fit.tau2)), rel=1e-9)
        if fit.tau2 > 0:
            variance = max(fit.var_hksj_re, fit.var_eff_w_re)
            half = scipy_stats.t.ppf(0.975, k - 1) * math.sqrt(variance)
            assert (ours.mean, ours.high - ours.mean) == pytest.approx((fit.mean_effect_re, half))


@pytest.mark.parametrize("method", ["pm", "dl"])
def test_values_nearer_than_their_noise_have_no_tau_and_no_narrow_interval(method):
    result = stats.pool([0.60, 0.61, 0.60, 0.605], [0.01, 0.02, 0.01, 0.01], method=method)
    fixed = math.sqrt(1 / (1 / np.array([0.01, 0.02, 0.01, 0.01])).sum())
    assert result.tau == 0
    assert result.high - result.mean == pytest.approx(scipy_stats.t.ppf(0.975, 3) * fixed)


def test_a_value_without_noise_does_not_divide_by_zero():
    assert stats.pool([0.5, 0.5, 0.5], [0, 0, 0]).mean == pytest.approx(0.5)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_values_whose_squares_overflow_end_without_a_mean_rather_than_never():
    assert not math.isfinite(stats.pool([1e200, -1e200, 3e200], [1, 1, 1]).high)


def test_fewer_than_three_values_are_not_pooled():
    result = stats.pool([0.5, 0.6], [0.1, 0.1])
    assert math.isnan(result.mean)
    one = stats.predict([0.5], [0.1], ["a"], "a", 0.0)
    assert (result.k, one.k, math.isnan(one.mean)) == (2, 1, True)
    three = stats.predict([0.5, 0.6, 0.7], [0.1] * 3, ["a"] * 3, "a", 0.0)
    assert (three.k, three.mean) == (3, pytest.approx(0.6))
    assert result.reason == "2 of at least 3 values to pool"


@pytest.mark.parametrize(("v", "y"), [([0.1], [0.1, 0.2]), ([-1, 1], [0, 0]), ([1, 1], [0, NAN])])
def test_what_cannot_be_pooled_is_refused(v, y):
    with pytest.raises(ValueError, match=r"none missing or negative, are needed$"):
        stats.pool(y, v)


def test_taus_that_are_known_predict_as_a_joint_normal_does():
    """Conditioning on all values at once, the mean a normal that is as wide as nothing known."""
    y, v, tasks = np.array([0.5, 0.6, 0.9, 0.7]), np.array([1, 2, 3, 4]) / 1000, [*"aabc"]
    for task in "abz":
        same = np.array([[one == other for other in [*tasks, task]] for one in [*tasks, task]])
        joint = 1e4 + 0.1**2 * same + np.diag([*(0.05**2 + v), 0.05**2 + 0.002])
        toward = np.linalg.solve(joint[:4, :4], joint[:4, 4])
        result = stats.predict(y, v, tasks, task, 0.002, taus=np.array([[0.1, 0.05]]))
        half = 1.959964 * math.sqrt(joint[4, 4] - toward @ joint[:4, 4])
        assert result.mean == pytest.approx(toward @ y, abs=1e-4)
        assert result.high - result.mean == pytest.approx(half, abs=1e-4)


def test_without_differences_of_tasks_the_mean_is_that_of_random_effects():
    y, v = np.array([0.5, 0.6, 0.9, 0.7]), np.array([1, 2, 3, 4]) / 1000
    tau = stats.pool(y, v).tau
    known = stats.predict(y, v, [*"aabb"], "a", 0.0, taus=np.array([[0.0, tau]]))
    assert known.mean == pytest.approx(stats.pool(y, v).mean)
    usual = math.sqrt(tau**2 + 1 / (1 / (v + tau**2)).sum())
    assert known.high - known.mean == pytest.approx(1.959964 * usual)


def test_a_known_task_draws_towards_its_values_and_a_new_one_is_wider():
    y, v, tasks = [0.5, 0.52, 0.8, 0.81, 0.6, 0.62], [0.0002] * 6, [*"aabbcc"]
    low, high, new = (stats.predict(y, v, tasks, task, 0.0) for task in "abz")
    assert low.mean < new.mean < high.mean
    assert new.high - new.low > max(high.high - high.low, low.high - low.low)
    assert stats.predict(y, v, tasks, "a", 0.01).low < low.low


def test_an_average_over_taus_has_the_mean_and_the_variance_of_a_mixture():
    y, v, tasks = np.array([0.5, 0.62, 0.8, 0.71]), np.array([1, 2, 3, 4]) / 1000, [*"aabb"]
    taus, of_others, logs = np.array([[0.02, 0.1], [0.1, 0.05], [0.2, 0.1]]), [0.3, -0.4, 0.2], []
    for between, within in taus:
        covariance = np.kron(np.eye(2), np.full((2, 2), between**2)) + np.diag(v + within**2)
        inverse = np.linalg.inv(covariance)
        far = y - (inverse @ y).sum() / inverse.sum()
        fit = math.log(np.linalg.det(covariance)) + math.log(inverse.sum()) + far @ inverse @ far
        logs.append(-fit / 2)
    assert stats.log_likelihood(y, v, tasks, taus) == pytest.approx(logs)
    shares = scipy_stats.norm.pdf(taus, scale=0.1).prod(axis=1) * np.exp(np.add(logs, of_others))
    shares /= shares.sum()
    alone = [stats.predict(y, v, tasks, "a", 0.001, taus=pair[None])[:2] for pair in taus]
    means, lows = np.transpose(alone)
    mean, z = shares @ means, scipy_stats.norm.ppf(0.975)
    half = z * math.sqrt(shares @ (((means - lows) / z) ** 2 + means**2) - mean**2)
    result = stats.predict(y, v, tasks, "a", 0.001, of_others, taus)
    assert result == pytest.approx((mean, mean - half, mean + half, 4))
