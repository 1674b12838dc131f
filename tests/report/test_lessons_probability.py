"""Lesson 6: sums by hand are the scores, and each choice is tried out on the same tokens."""

import math
import re

import numpy as np
import pytest

from tests.report import lesson_models
from tests.report.test_html import Page, check
from tstmeta.data.contrast import parse_span
from tstmeta.likelihood.instructions import TASKS
from tstmeta.likelihood.scorer import Judged
from tstmeta.report.lessons import consequences, likelihoods, probability
from tstmeta.report.lessons.likelihoods import Pair
from tstmeta.report.lessons.probability import written
from tstmeta.schema import TstmetaError


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return lesson_models.model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return lesson_models.bench(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def one(bench, model):
    return probability.case(bench, model=model)


@pytest.fixture(scope="module")
def found(bench, model):
    return consequences.whole(bench, model)


# --------------------------------------------------------------------------------- by hand


def test_the_steps_are_those_of_both_equations(one):
    for worked in (one.kept, one.wrong):
        p = np.exp(worked.logprobs)
        assert worked.logprobs.shape == (3, len(worked.pieces))
        assert "".join(worked.pieces) == worked.rewrite.output
        assert worked.content == pytest.approx(np.log(p.max(axis=0)).mean())
        assert worked.style == pytest.approx((p[0] - p[1:].max(axis=0)).mean())


def test_the_sum_in_the_table_over_the_number_of_tokens_is_the_score(one):
    worked = one.kept
    rows = re.findall("<tr>.*?</tr>", probability.steps(worked).text)[1:]
    cells = [re.findall("<td[^>]*>(.*?)</td>", row) for row in rows]
    assert len(cells) == len(worked.pieces) + 1
    assert cells[-1][0] == "<b>sum</b>"
    costs = [float(row[6].replace("−", "-")) for row in cells]
    assert sum(costs[:-1]) == pytest.approx(costs[-1], abs=0.001 * len(cells))
    assert costs[-1] / len(worked.pieces) == pytest.approx(worked.content, abs=1e-3)
    formula = probability.content_by_hand(worked).data
    assert f"{{{worked.best.sum():.3f}}}{{{len(worked.pieces)}}} = {worked.content:.3f}" in formula
    assert f"= {worked.style:z.4f}" in probability.style_by_hand(worked).data


def test_the_sums_by_hand_are_what_scoring_gives(one):
    text = probability.same_as_scored(one).text
    values = [float(one.replace("−", "-")) for one in re.findall("<td class=num>(.*?)</td>", text)]
    by_hand, scored = values[::2], values[1::2]
    assert by_hand == scored
    assert by_hand[0] == pytest.approx(one.kept.content, abs=1e-6)
    assert by_hand[3] == pytest.approx(one.wrong.style, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (0.001, "0.0010"),
        (0.00099, "9.9·10⁻⁴"),
        (3.14e-12, "3.1·10⁻¹²"),
        (-2e-5, "−2.0·10⁻⁵"),
        (-0.25, "−0.2500"),
        (0.0, "0.0000"),
        (math.nan, ""),
    ],
)
def test_probabilities_have_digits_that_count(value, text):
    assert written(value) == text


def test_the_three_contexts_are_those_that_the_scorer_asks_with(one):
    text = probability.contexts(one).text
    assert Page(text).open == []
    bold = re.findall("<b>(.*?)</b>", text)
    assert [words.partition(" ")[0] for words in bold] == ["Rewrite", "Paraphrase", "Repeat"]
    assert all("run Sunday&#x27;s relay" in words for words in bold)
    asked, rewrite = one.scorer, one.kept.rewrite
    counts = [len(context) for context in asked._contexts(rewrite.source, rewrite.style)]
    for task, count in zip(TASKS, counts, strict=True):
        assert f"<dt>{task} ({count} tokens)</dt>" in text


def test_tokens_are_shown_whole_and_escaped(one):
    hostile = one.kept._replace(pieces=["<b>", " &", "x\n"])
    assert "&lt;b&gt;</span> <span" in probability.pieces(hostile).text
    assert "␣&amp;" in probability.pieces(hostile).text
    count = len(one.kept.pieces)
    assert (
        "<code>&lt;i&gt;</code>"
        in probability.steps(one.kept._replace(pieces=["<i>"] * count)).text
    )
    assert f"{len(one.kept.pieces)} tokens" in probability.pieces_said(one.kept).data


def test_the_verdict_names_the_edit_and_the_dearest_token(one):
    said = probability.verdict(one).data
    removed, added = parse_span(one.wrong.span)
    assert f"“{removed}” became “{added}”" in said
    right = one.kept.content > one.wrong.content
    assert ("here the model errs" in said) == (not right)
    (first,) = probability.worst(one.wrong, 1).to_dict("records")
    assert first["cost"] == pytest.approx(-one.wrong.best.min())
    (dear,) = probability.worst(one.kept, 1).to_dict("records")
    assert f"In the kept rewrite it is “{dear['token']}”" in said
    swapped = one._replace(kept=one.wrong._replace(content=-1.0), wrong=one.wrong)
    assert "here the model errs" not in probability.verdict(swapped).data


def test_pictures_and_strips_of_a_case(one):
    assert probability.bars(one)._repr_png_() == probability.bars(one)._repr_png_()
    text = probability.pair(one).text
    assert Page(text).open == []
    for worked in (one.kept, one.wrong):
        assert probability.html.signed(worked.content, 3) in text
    check(probability.shown(one).text)


def test_a_source_that_is_not_there_is_refused(bench, model):
    with pytest.raises(TstmetaError, match="no source 'polite-99' with a rewrite 'light'"):
        probability.case(bench, "polite-99", model=model)


# ------------------------------------------------------------------------------ whole sets


def test_shares_without_a_logarithm_are_of_the_same_tokens(found):
    rows = consequences.logarithms(found, draws=100)
    assert len(rows) == 8
    assert set(rows["n"]) == {6}
    judged = found.equation
    for name, function in (
        ("C: mean of ln max p (Eq. 1)", lambda p: np.log(p.max(0)).mean()),
        ("mean of max p, no logarithm", lambda p: p.max(0).mean()),
        ("S: mean of the lead in p (Eq. 2)", lambda p: (p[0] - p[1:].max(0)).mean()),
        ("mean of the lead in ln p", lambda p: np.log(p[0] / p[1:].max(0)).mean()),
    ):
        for row in rows[rows["mean"] == name].to_dict("records"):
            better, _, worse = row["pair"].partition(" > ")
            leads = []
            for source_id in found.data.items["source_id"].unique():
                a, b = (
                    np.exp(judged[f"{source_id}-{cell}"].logprobs[:, :-1].astype(float))
                    for cell in (better, worse)
                )
                leads.append(function(a) > function(b))
            assert row["value"] == pytest.approx(np.mean(leads)), row
    check(consequences.shares_table(rows).text)


def test_the_dearest_tokens_make_their_share(found):
    made = consequences.costs(found)
    assert list(made) == ["light", "strong"]
    for cost in made.values():
        assert (np.diff(cost) <= 0).all()
        assert (cost >= 0).all()
        few, all_of_it = (consequences.of_the_dearest(cost, share) for share in (0.1, 1.0))
        assert few >= 0.1 - 1 / len(cost)
        assert all_of_it == pytest.approx(1)
    assert consequences.of_the_dearest(np.array([6.0, 1, 1, 1, 1]), 0.2) == pytest.approx(0.6)
    assert consequences.surprises(found)._repr_png_()
    assert "%" in consequences.surprises_said(found).data


def test_kinds_of_errors_share_out_the_sources(found):
    rows = consequences.kinds(found, draws=100)
    counts = rows.groupby("error", sort=False)["n"].first().to_dict()
    assert counts == {"substitution": 2, "insertion": 2, "deletion": 2}
    whole = consequences.logarithms(found, draws=100).iloc[0]
    part = rows[rows["pair"] == "light > light-error"]
    assert (part["value"] * part["n"]).sum() / part["n"].sum() == pytest.approx(whole["value"])


def test_from_the_equations_to_the_program_in_four_steps(one, found):
    text = probability.html.re.sub("<[^>]+>", " ", consequences.variants(one, found).text)
    assert text.count("…") == 3
    rows = consequences.variants_compared(found).set_index("dimension")
    assert rows["n"].to_dict() == {"content": 24, "style": 24}
    assert rows["r"].between(-1, 1).all()
    assert rows["turned"].between(0, 1).all()
    same = consequences.Whole(found.data, found.equation, found.equation)
    own = likelihoods.wins(found.data, {}, Pair("light", "light-error"))
    assert np.isnan(own).all()
    check(consequences.variants_table(consequences.variants_compared(same)).text)


def judged(*best):
    """Tokens with these largest log-probabilities."""
    rows = np.array([best, np.array(best) - 1, np.array(best) - 2])
    return Judged(tuple(range(len(best))), np.column_stack([rows, np.full(3, np.nan)]))


def test_a_longer_rewrite_divides_the_same_error_by_more_tokens(found):
    substituted = found.data.where(
        found.data.items["source_id"] == "persuasive-37", found.data.name
    )
    tokens = {}
    for row in substituted.items.to_dict("records"):
        wrong = row["system"].endswith("error")
        tokens[row["item_id"]] = judged(*[-1.0] * 7, -5.0 if wrong else -1.0)
    (row,) = consequences.lengths(consequences.Whole(substituted, tokens, tokens), 1).to_dict(
        "records"
    )
    assert (row["sources"], row["tokens"], row["won"]) == (1, 8, 1)
    assert row["total"] == pytest.approx(4)
    assert row["margin"] == pytest.approx(4 / 8)
    check(consequences.lengths_table(consequences.lengths(found)).text)


# ---------------------------------------------------------------------------------- pairs


def test_a_pair_is_won_tied_lost_or_missing():
    data = lesson_models.few("contrast", 4)
    ids = list(data.items["source_id"].unique())
    values = {f"{one}-light": 1.0 for one in ids}
    values |= {f"{ids[0]}-strong": 2.0, f"{ids[1]}-strong": 1.0, f"{ids[2]}-strong": 0.5}
    won = likelihoods.wins(data, values, Pair("strong", "light"))
    assert won[:3].tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(won[3])


def test_all_right_asks_for_every_faithful_rewrite_above_every_faulty_one():
    data = lesson_models.few("contrast", 3)
    ids = list(data.items["source_id"].unique())
    cells = ("strong", "light", "strong-error", "light-error")
    for orders, expected in (((4, 3, 2, 1), 1), ((4, 2, 3, 1), 0), ((4, 3, 3, 1), 0)):
        values = {f"{ids[0]}-{cell}": v for cell, v in zip(cells, orders, strict=True)}
        won = likelihoods.all_right(data, values)
        assert won[0] == expected
        assert np.isnan(won[1:]).all()


def test_by_lot_all_four_are_right_in_one_source_of_six():
    data, rng = likelihoods.Bench().dataset("contrast"), np.random.default_rng(0)
    drawn = [dict(zip(data.items["item_id"], rng.random(960), strict=True)) for _ in range(20)]
    found = np.mean([likelihoods.all_right(data, values).mean() for values in drawn])
    assert found == pytest.approx(likelihoods.BY_LOT, abs=0.03)


def test_shares_have_intervals_that_hold_them_and_leave_out_what_is_missing():
    rng = np.random.default_rng(1)
    won = [(rng.random(200) < share).astype(float) for share in (0.5, 0.9, 1.0)]
    won[0][:50] = np.nan
    rows = likelihoods.shares(won, draws=500, parts=["a", "b"] * 100)
    assert rows["n"].tolist() == [150, 200, 200]
    assert rows["value"].tolist() == [np.nanmean(one) for one in won]
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    error = math.sqrt(0.9 * 0.1 / 200)
    assert rows["high"][1] - rows["low"][1] == pytest.approx(4 * error, rel=0.2)
    assert likelihoods.shares([]).empty
    assert likelihoods.share_cell({"value": math.nan}) == "–"
