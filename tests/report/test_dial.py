"""The confound dial: exact weights, curves equal to repeated sets, a page that holds together."""

import base64
import json
import math
import re

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tstmeta.report.bench import Bench
from tstmeta.report.figures import CELLS
from tstmeta.report.lessons import dial
from tstmeta.schema import TstmetaError
from tstmeta.stats import Draws, Setting, resampled

HUMAN = np.array([1.0, 0.0, 1.0, 0.0])  # content kept, in the order of CELLS
STRONG = np.array([1.0, 1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(store=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def made(bench: Bench) -> dial.Dial:
    return dial.turn(bench, ["bleu", "pinc"], draws=40)


def repeated(values: np.ndarray, step: int) -> np.ndarray:
    """Items ``[S, 4]`` as often as their cell weighs at a setting."""
    (counts,) = dial.weights(np.array([step])).astype(int)
    return np.repeat(values, counts, axis=1).ravel()


# ----------------------------------------------------------------------------------- weights


def test_the_cells_are_those_of_the_contrast_set(bench: Bench):
    assert set(bench.dataset("contrast").items["system"]) == set(CELLS)


@pytest.mark.parametrize("step", [-20, -18, -7, 0, 1, 18])
def test_weights_make_the_wanted_correlation_and_keep_the_margins(step: int):
    (weights,) = dial.weights(np.array([step])) / (4 * dial.STEP)
    assert weights.sum() == pytest.approx(1)
    assert weights @ STRONG == pytest.approx(0.5)
    assert weights @ HUMAN == pytest.approx(0.5)
    error = 1 - HUMAN
    phi = 4 * (weights @ (STRONG * error)) - 1
    assert phi == pytest.approx(step / dial.STEP)
    rows = np.tile(np.stack([STRONG, error])[:, None, :], (1, 3, 1))
    pair = [repeated(side, step) for side in rows]
    assert scipy_stats.pearsonr(*pair).statistic == pytest.approx(step / dial.STEP)


def test_the_dial_runs_from_minus_nine_tenths_to_nine_tenths_beside_the_published_end():
    phi = dial.STEPS / dial.STEP
    assert phi[0] == -1
    np.testing.assert_allclose(phi[1:], np.arange(-0.9, 0.91, 0.05), atol=1e-12)


# ------------------------------------------------------------------------------------ values


@pytest.mark.parametrize("statistic", ["pearson", "spearman", dial.AUC])
@pytest.mark.parametrize("seed", range(4))
def test_values_equal_those_of_a_set_with_rewrites_repeated(statistic: str, seed: int):
    rng = np.random.default_rng(seed)
    human = np.tile(HUMAN, (6, 1))
    scores = np.round(rng.normal(size=(2, 6, 4)) + HUMAN, 1)  # ties among them
    sources = rng.multinomial(6, np.full(6, 1 / 6), size=2).astype(float)
    found = dial.values(human, scores, statistic, sources)
    for d, step in enumerate(dial.STEPS):
        for b, counts in enumerate(sources.astype(int)):
            x = repeated(np.repeat(human, counts, axis=0), step)
            for m in range(2):
                y = repeated(np.repeat(scores[m], counts, axis=0), step)
                assert found[m, d, b] == pytest.approx(peer(statistic, x, y), abs=1e-9)


def peer(statistic: str, x: np.ndarray, y: np.ndarray) -> float:
    if statistic == dial.AUC:
        test = scipy_stats.mannwhitneyu(y[x == 1], y[x == 0])
        return test.statistic / ((x == 1).sum() * (x == 0).sum())
    return {"pearson": scipy_stats.pearsonr, "spearman": scipy_stats.spearmanr}[statistic](
        x, y
    ).statistic


def test_the_auc_of_a_mixture_equals_the_weighted_statistic_with_missing_scores():
    rng = np.random.default_rng(3)
    human, scores = np.tile(HUMAN, (30, 1)), np.round(rng.normal(size=(3, 30, 4)), 1)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    ours = dial.values(human, scores, dial.AUC, np.ones((1, 30)))[..., 0]
    weights = dial.weights()
    draws = Draws(np.ones((len(weights), 30)), weights)
    np.testing.assert_allclose(ours, resampled(human, scores, Setting(dial.AUC), draws), atol=1e-9)


def test_a_constant_metric_has_no_correlation_and_the_auc_of_chance():
    human, scores = np.tile(HUMAN, (5, 1)), np.ones((1, 5, 4))
    assert np.isnan(dial.values(human, scores, "pearson", np.ones((1, 5)))).all()
    np.testing.assert_allclose(dial.values(human, scores, dial.AUC, np.ones((1, 5))), 0.5)


# -------------------------------------------------------------------------- on the contrast set


def test_the_style_label_runs_straight_from_one_end_to_the_other(made: dial.Dial):
    label = made.names.index(dial.ORACLE)
    np.testing.assert_allclose(made.curves[0].lines[label], -made.phi, atol=1e-12)
    np.testing.assert_allclose(made.curves[1].lines[label], 0.5 - made.phi / 2, atol=1e-12)


def test_every_value_lies_inside_its_limits(made: dial.Dial):
    for curve in made.curves:
        assert (curve.low <= curve.lines + 1e-9).all()
        assert (curve.lines <= curve.high + 1e-9).all()
        assert curve.lines.shape == (len(made.names), len(made.phi))


def test_the_end_of_the_dial_is_the_subset_with_two_cells(made: dial.Dial, bench: Bench):
    tied = bench.dataset("contrast@tied")
    scores = bench.table(tied, ["bleu"], ["source"]).set_index("item_id")["value"]
    kept = (tied.items["system"] == "strong").to_numpy(float)
    r = scipy_stats.pearsonr(kept, scores[tied.items["item_id"]].to_numpy()).statistic
    assert made.curves[0].lines[0, 0] == pytest.approx(r, abs=1e-12)
    said = dial.published(made, bench).data
    assert said.count(f"{r:.2f}".replace("-", "−")) == 2


def test_sentinels_and_the_style_label_are_always_there(made: dial.Dial):
    assert made.names == ["bleu", "pinc", *dial.SENTINELS, dial.ORACLE]
    assert made.kinds == ["metric", "metric", *["sentinel"] * 3, "oracle"]


def test_the_same_seed_gives_the_same_dial(made: dial.Dial, bench: Bench):
    again = dial.turn(bench, ["bleu", "pinc"], draws=40)
    np.testing.assert_array_equal(made.curves[0].low, again.curves[0].low)
    other = dial.turn(bench, [], draws=5, seed=1)
    assert not np.array_equal(dial.turn(bench, [], draws=5).curves[0].low, other.curves[0].low)


@pytest.mark.parametrize("what", [{"metrics": ["blue"]}, {"metrics": [], "statistic": "kendall"}])
def test_unknown_metrics_and_statistics_are_refused(bench: Bench, what: dict):
    with pytest.raises(TstmetaError):
        dial.turn(bench, draws=2, **what)


def test_a_dial_without_metrics_speaks_of_the_sentinels(bench: Bench):
    bare = dial.turn(bench, [], draws=5)
    assert bare.names == [*dial.SENTINELS, dial.ORACLE]
    assert "0 of 0 metrics" in dial.told(bare).data
    assert dial.leaders(bare).data.count("\n- ") == 3
    assert dial.SENTINELS[0] in dial.published(bare, bench).data
    assert "__" not in dial.show(bare).text.partition("<style>")[0]


# ------------------------------------------------------------------------------------ showing


def test_the_page_holds_data_that_a_script_can_read(made: dial.Dial):
    page = dial.show(made).text
    assert not re.search(r"__[A-Z]+__", page)
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert [line["name"] for line in data["lines"]] == made.names
    assert [line["falls"] for line in data["lines"]][:2] == [False, True]
    assert len(data["phi"]) == len(data["weights"]) == len(data["curves"][0]["lines"][0])
    assert data["phi"].count(0) == 1  # where the dial starts
    assert all(sum(row) == pytest.approx(1) for row in data["weights"])
    still = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", page)[1])
    assert still.startswith(b"\x89PNG")


def test_a_missing_value_is_null_on_the_page(made: dial.Dial):
    curve = made.curves[0]._replace(lines=np.full_like(made.curves[0].lines, math.nan))
    page = dial.show(made._replace(curves=(curve, made.curves[1]))).text
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert set(data["curves"][0]["lines"][0]) == {None}


def test_the_page_asks_nothing_of_another_host(made: dial.Dial):
    page = re.sub('base64,[^"]+', "", dial.show(made).text)
    assert "//" not in re.sub(r" // .*", "", page)  # comments of the script apart
    assert "Plotly.newPlot" in page  # by which the book knows what to load


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([-1, -0.5, 0.5, 1], 0.0),
        ([1, 0.3, -0.1, -1], 0.25),
        ([-1, -0.5, 0, 0.5], 0.5),
        ([-1, 0, 0, 0], math.nan),
        ([0.1, 0.2, 0.3, 0.4], math.nan),
        ([-1, 1, -1, 1], math.nan),
        ([math.nan] * 4, math.nan),
    ],
)
def test_where_a_curve_crosses_zero(values: list[float], place: float):
    found = dial.crossing(np.array([-1.0, -0.5, 0.5, 1.0]), np.array(values))
    assert found == pytest.approx(place, nan_ok=True)


def test_only_what_surely_turns_has_a_place_in_the_table(made: dial.Dial):
    assert made.turned()[[0, 1, -1]].all()
    assert not made.turned()[made.names.index("random")]
    rows = re.findall(r"<tr><td><code>(.*?)</tr>", dial.table(made).text)
    last = {row.partition("<")[0]: re.findall(r"<td[^>]*>([^<]*)</td>$", row)[0] for row in rows}
    assert last["random"] == "–"
    assert last[dial.ORACLE] == "0.00"
    assert float(last["bleu"].replace("−", "-")) < 0
