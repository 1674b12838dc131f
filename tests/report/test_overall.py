"""GM from printed parts, signs of printed differences, thresholds fitted on coins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tstmeta.combine.gm import PRINTED, gm
from tstmeta.report import overall
from tstmeta.report.cells import pang2019
from tstmeta.report.overall import EQUAL, NO, WITHIN, exact


@pytest.fixture(scope="module")
def models():
    return overall.recomputed()


@pytest.fixture(scope="module")
def wins():
    return overall.wins()


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1e4))
def test_the_ledger_and_the_metric_have_one_formula(acc, sim, pp):
    assert gm(acc, sim, pp) == pytest.approx(pang2019.gm(acc, sim, pp))


def test_gm_follows_from_the_printed_parts_in_all_sixteen_rows(models):
    assert len(models) == 16
    count = models["verdict"].value_counts().to_dict()
    assert count == {EQUAL: 15, WITHIN: 1}
    within = models[models["verdict"] == WITHIN].iloc[0]
    assert (within["data"], within["model"]) == ("Literature", "M4")
    for row in models.to_dict("records"):
        assert row["gm"] == pytest.approx(float(gm(row["acc"], row["sim"], row["pp"])))


def test_a_wrong_cell_would_be_seen(monkeypatch):
    changed = [
        one._replace(value=30.0, printed="30.0") if one.cell == "pang2019.t2.m2.gm" else one
        for one in overall.cells()
    ]
    monkeypatch.setattr(overall, "cells", lambda: tuple(changed))
    monkeypatch.setattr("tstmeta.report.ledger.cells", lambda: tuple(changed))
    rows = overall.recomputed().set_index("cell")
    assert rows.loc["pang2019.t2.m2.gm", "verdict"] == NO
    assert rows.loc["pang2019.t2.m2.gm", "printed"] == "30.0"


def test_every_pair_has_three_criteria(wins):
    assert len(wins) == 18
    assert wins.groupby(["data", "pair"]).size().tolist() == [3] * 6
    assert (wins[["a", "b", "tie"]].sum(axis=1) - 100).abs().max() < 0.2


def test_of_perplexity_less_is_better(wins):
    row = wins[(wins["pair"] == "M0 vs M7") & (wins["metric"] == "PP")].iloc[0]
    assert row["printed"] > 0  # M0 is the more perplexing one
    assert row["people"] < 0  # and people prefer M7
    assert row["agrees"] is True


def test_the_misprinted_sign_counts_against_the_printed_difference_only(wins):
    row = wins[(wins["pair"] == "M2 vs M6") & (wins["metric"] == "Sim")].iloc[0]
    assert row["as_printed"] is False
    assert row["agrees"] is True


def test_accuracy_has_no_printed_difference(wins):
    own = wins[wins["metric"] == "Acc"]
    assert own["printed"].isna().all()
    assert all(one is None for one in own["as_printed"])
    assert sum(one is None for one in own["agrees"]) == 1  # M0 and M7 have one accuracy on Yelp


def test_signs_are_counted_by_hand(wins):
    found = overall.sign_agreement(wins).set_index(["metric", "way"])
    printed, tables, decisive = (way for way, _, _ in overall.WAYS)
    counts = {key: (int(row["right"]), int(row["n"])) for key, row in found.iterrows()}
    assert counts["Sim", printed] == (4, 6)
    assert counts["Sim", tables] == (5, 6)
    assert counts["Sim", decisive] == (4, 4)
    assert counts["PP", printed] == counts["PP", tables] == (6, 6)
    assert counts["Sim and PP", tables] == (11, 12)
    assert counts["Acc", tables] == (3, 5)
    assert ("Acc", printed) not in counts


@pytest.mark.parametrize(("right", "n"), [(11, 12), (0, 6), (6, 6), (258, 300)])
def test_the_interval_is_exact(right, n):
    found = exact(right, n)
    low, high = found.low, found.high
    assert low == 0 if right == 0 else binom.sf(right - 1, n, low) == pytest.approx(0.025)
    assert high == 1 if right == n else binom.cdf(right, n, high) == pytest.approx(0.025)


def test_a_share_of_nothing_has_no_value():
    assert np.isnan(exact(0, 0).share)


def test_the_share_of_preferences_comes_from_the_printed_counts():
    found = overall.gm_preferences()
    assert (found.right, found.n) == (258, 300)
    assert found.low < 0.86 < found.high


def test_thresholds_agree_with_the_coins_they_were_fitted_on_and_not_with_others():
    rows = overall.coin_flips((20,), replicates=6, seed=1)
    row = rows.iloc[0]
    assert row["fitted"] > 0.6
    assert abs(row["new"] - 0.5) < 0.1
    assert overall.coin_flips((20,), replicates=6, seed=1).equals(rows)


def test_tables_show_every_row_and_escape_nothing_twice(models, wins):
    assert overall.recomputed_table(models).text.count("<tr>") == 17
    assert "15 equal, 1 within rounding" in overall.recomputed_table(models).text
    assert overall.wins_table(wins).text.count("<tr>") == 19
    signs = overall.sign_agreement(wins)
    assert "11 of 12" in overall.sign_table(signs).text
    coins = overall.coin_flips((10,), replicates=2)
    assert "mean of 2 worlds" in overall.coin_table(coins).text


def test_the_sentence_on_thresholds_holds_for_gm():
    said = overall.thresholds_said().data.replace("−", "-")
    acc, sim, high, low = PRINTED
    for number in PRINTED:
        assert f" {number:g}" in said
    for a, s, pp in ((0.9, 0.8, 60.0), (0.9, 0.8, 20.0), (0.5, 0.8, 60.0), (0.9, 0.8, 120.0)):
        factors = (100 * a - acc, 100 * s - sim, min(high - pp, pp - low))
        expected = np.prod([max(0.0, one) for one in factors]) ** (1 / 3)
        assert gm(np.array([a]), np.array([s]), np.array([pp]), PRINTED)[0] == pytest.approx(
            expected
        )
