"""Lesson 7: the same questions to the same metrics on two sets."""

import numpy as np
import pytest

from tests.report import lesson_models
from tests.report.test_html import Page, check
from tstmeta.report.lessons import small_world
from tstmeta.report.lessons.likelihoods import ALL_RIGHT, CONTENT, STYLE, metric_name
from tstmeta.report.published import cells


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return lesson_models.model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return lesson_models.bench(tmp_path_factory.mktemp("store"))


METRICS = ("bleu", "copy-rate", "length-ratio")


@pytest.fixture(scope="module")
def rows(bench, model):
    return small_world.compared(bench, model, METRICS, draws=100)


def test_every_metric_is_asked_every_question_on_both_sets(rows, model):
    ours = metric_name(model)
    for data in small_world.SETS:
        own = rows[rows["data"] == data]
        for question in (*map(str, CONTENT), ALL_RIGHT):
            asked = own[own["pair"] == question]
            assert asked["metric"].tolist() == [ours, *METRICS]
            assert set(asked["n"]) == {6}
        style = own[own["pair"] == str(STYLE[0])]["metric"].tolist()
        ours_too = metric_name(model, name="likelihood-style")
        assert style == [ours_too, "less bleu", "less copy-rate", "length-ratio"]


def test_a_similarity_is_turned_round_as_a_metric_of_style_and_length_is_not(rows, bench):
    for data in small_world.SETS:
        items = bench.dataset(data).items
        for metric, sign in (("bleu", -1), ("length-ratio", 1)):
            value = bench.scores(data, metric, "source")["value"]
            by = items.assign(value=value.to_numpy()).pivot_table(
                index="source_id", columns="system", values="value"
            )
            lead = sign * (by["strong"] - by["light"])
            expected = ((np.sign(lead) + 1) / 2).mean()
            name = metric if sign > 0 else small_world.LESS + metric
            asked = (rows["data"] == data) & (rows["metric"] == name)
            found = rows[asked & (rows["pair"] == str(STYLE[0]))]["value"].iloc[0]
            assert found == pytest.approx(expected)


def test_tables_and_picture_show_all(rows):
    for data in small_world.SETS:
        for dimension in ("content", "style"):
            check(small_world.compared_table(rows, data, dimension).text)
    assert small_world.picture(rows)._repr_png_() == small_world.picture(rows)._repr_png_()


def test_sentences_name_the_best_similarity_and_the_best_sentinel_apart(rows, model):
    made = rows.assign(value=0.25)
    hard = made["pair"] == str(CONTENT[-1])
    made.loc[hard & (made["metric"] == "length-ratio"), "value"] = 0.75
    made.loc[hard & (made["metric"] == "bleu"), "value"] = 0.5
    lines = small_world.hard_question(made, model).data.splitlines()
    assert len(lines) == 2
    for line, data in zip(lines, small_world.SETS, strict=True):
        assert line.startswith(f"- On `{data}`, `{metric_name(model)}` ranks")
        assert "the best similarity, `bleu`, in 50%" in line
        assert "the best sentinel, `length-ratio`, in 75%" in line
    assert "above both faulty ones in 25%" in small_world.whole_order(made, model).data


def test_what_was_foreseen_is_counted_over_all_tokens_of_a_cell(bench, model):
    rows = small_world.foreseen(bench, model)
    assert len(rows) == 8
    assert rows["unforeseen"].between(0, 1).all()
    for data in small_world.SETS:
        scores = bench.scores(data, metric_name(model), "source")["value"]
        cell = bench.dataset(data).items["system"].to_numpy() == "light"
        own = rows[(rows["data"] == data) & (rows["cell"] == "light")]
        assert own["C"].iloc[0] == pytest.approx(scores[cell].mean())
        strength = metric_name(model, name="likelihood-style")
        scores = bench.scores(data, strength, "source")["value"]
        assert own["S"].iloc[0] == pytest.approx(scores[cell].mean(), abs=1e-9)
    check(small_world.foreseen_table(rows).text)


@pytest.mark.parametrize(
    ("strong", "error", "said"), [(-3.0, -2.0, "costs more"), (-1.5, -2.0, "costs less")]
)
def test_boldness_is_held_against_an_error(strong, error, said):
    cells = {"strong": strong, "strong-error": -4.0, "light": -1.0, "light-error": error}
    rows = [{"data": "made", "cell": cell, "C": value} for cell, value in cells.items()]
    assert said in small_world.foreseen_said(small_world.pd.DataFrame(rows)).data


def test_where_style_strength_stands_is_told_in_shares_and_means(bench, model):
    rows = small_world.foreseen(bench, model)
    lines = small_world.style_said(rows).data.splitlines()
    for line, data in zip(lines, small_world.SETS, strict=True):
        scores = bench.scores(data, metric_name(model, name="likelihood-style"), "source")["value"]
        for cell in ("strong", "light"):
            own = scores[bench.dataset(data).items["system"].to_numpy() == cell]
            mean = small_world.html.signed(own.mean(), 3)
            assert f"for {(own > 0).mean():.0%} of the" in line
            assert f"(mean {mean})" in line


def test_tasks_share_out_the_hard_question(rows, bench, model):
    parts = small_world.by_task(bench, model, draws=50)
    ours = rows[(rows["metric"] == metric_name(model)) & (rows["pair"] == str(CONTENT[-1]))]
    for row in ours.to_dict("records"):
        own = parts[parts["data"] == row["data"]]
        assert own["n"].sum() == 6
        assert (own["value"] * own["n"]).sum() / 6 == pytest.approx(row["value"])
    check(small_world.by_task_table(parts).text)


def test_strips_of_a_source_of_either_set(bench, model):
    for data in small_world.SETS:
        text = small_world.strip(bench, data, "persuasive-37", model).text
        assert Page(text).open == []
        assert text.count("C = ") >= 4


def test_the_published_table_is_the_printed_one_and_says_so():
    text = small_world.published().text
    check(text)
    assert "published" in text
    for cell in cells():
        if cell.cell in (
            "pauli2025.t5.likelihood-3b.constructed-all",
            "pauli2025.t5.likelihood-8b.constructed-all",
            "pauli2025.t5.s-bleu.constructed-all",
        ):
            assert f"<i>{cell.printed.replace('-', '−')}</i>" in text
