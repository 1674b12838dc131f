"""The chapter of style strength: rules of change beside metrics, on anybody's data."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown

from tests.report.tiny import HOSTILE, constructed, rated, scores
from tstmeta import stats
from tstmeta.data.tables import ratings_table
from tstmeta.report import style_orders
from tstmeta.report import style_strength as chapter
from tstmeta.report.bench import Bench
from tstmeta.report.certainty import forests, tables
from tstmeta.report.figures import Picture
from tstmeta.report.html import Html
from tstmeta.report.style_strength import Strength
from tstmeta.schema import TstmetaError


@pytest.fixture
def part(tmp_path):
    """The chapter on a data set, with ``pinc`` in the place of a metric of style."""

    def make(data, metrics=("pinc",), similar=("rouge1", "edit-similarity"), **options):
        bench = Bench(tmp_path / "store")
        bench._datasets[data.name] = data
        return Strength(bench, data.name, metrics, similar, draws=40, **options)

    return make


def plain(made) -> str:
    return re.sub(r"<[^>]+>", " ", made.text)


def test_similarity_turned_round_is_the_score_with_the_other_sign(part):
    data = rated()
    table = part(data).scores(data)
    there = table[table["metric"] == "−rouge1"].set_index("item_id")
    plain = Bench().table(data, ["rouge1"], ["source"]).set_index("item_id")
    assert there["value"].tolist() == [-value for value in plain["value"]]
    assert set(there["dimension"]) == {"style"}
    assert there["signature"].str.startswith("turned round|rouge1").all()


def test_what_grows_with_change_already_is_not_turned_round(part):
    with pytest.raises(TstmetaError, match="ter grows with change already"):
        part(rated(), similar=["ter"])


def test_released_scores_of_style_stand_beside_ours_and_others_do_not(part):
    data = rated()
    style = scores(data, [1, 2, 3, 4, 5, 6], "released:formal").assign(dimension="style")
    other = scores(data, [1, 2, 3, 4, 5, 6], "released:bleurt")
    data = replace(data, scores=pd.concat([style, other], ignore_index=True))
    table = part(data).scores(data)
    assert "released:formal" in set(table["metric"])
    assert "released:bleurt" not in set(table["metric"])


@pytest.mark.parametrize("data", [rated(), constructed()], ids=["rated", "by construction"])
def test_every_part_of_the_chapter_runs_on_any_data(part, data):
    made = part(data)
    found = made.analyses()
    assert [one.dataset for one in found] == [data.name]
    for shown in (
        tables(found),
        made.beside_change(found),
        made.said(found),
        made.beside_printed(),
        made.with_content(),
        made.by_part(),
        made.confounded(),
        made.orders(made.contrast),
        made.cells_figure(made.contrast),
    ):
        assert isinstance(shown, Html | Markdown | Picture)


def test_data_without_a_judgement_of_style_are_left_out_with_the_reason(part):
    data = rated()
    data = replace(data, ratings=data.ratings[data.ratings["dimension"] == "content"])
    made = part(data)
    found = made.analyses()
    assert list(found) == []
    assert found.left_out == {"tiny": "nobody judged style"}
    assert isinstance(made.confounded(), Markdown)
    assert isinstance(made.beside_change(found), Markdown)


def test_data_on_which_no_metric_has_a_value_are_left_out_and_nothing_is_drawn(part):
    data = rated()
    same = data.ratings.assign(value=3.0)
    found = part(replace(data, ratings=same)).analyses()
    assert found.left_out == {"tiny": "no metric has a value"}
    assert isinstance(forests(found), Markdown)


def test_a_metric_is_held_against_the_best_rule_in_the_same_draws(part):
    data = rated()
    made = part(data)
    [one] = found = made.analyses()
    names = ["−rouge1", "−edit-similarity", "length-ratio"]
    values = {name: one.rows["value"][one.place(name)] for name in names}
    best = max(values, key=values.__getitem__)
    text = plain(made.beside_change(found))
    assert best in text
    gap = one.rows["value"][one.place("pinc")] - values[best]
    assert f"{gap:.2f}".replace("-", "−") in text


@pytest.mark.parametrize(
    ("value", "words"), [(1.0, "beats the best rule on 1"), (-1.0, "loses to the best rule on 1")]
)
def test_the_sentence_says_who_beats_whom(part, value, words):
    data = many()
    made = part(data, metrics=["length-ratio"], similar=["rouge1"])
    human = data.means["style"].to_numpy()
    table = made.scores(data)
    made.metrics = ["mine"]
    made._tables[data.name] = pd.concat(
        [table, scores(data, value * human, "mine").assign(dimension="style")], ignore_index=True
    )
    assert words in made.said(made.analyses()).data


def many():
    """Forty rewrites of forty sources with a style rating that goes with nothing."""
    base = constructed("many", "x" * 8)
    rng = np.random.default_rng(0)
    ids = [f"i{i}" for i in range(40)]
    words = ["a", "small", "cat", "sat", "on", "the", "mat", "and", "ran", "home", "again"]
    items = pd.concat([base.items.head(1)] * 40, ignore_index=True).assign(
        dataset="many",
        item_id=ids,
        source_id=[f"s{i}" for i in range(40)],
        output=[" ".join(rng.choice(words, size=rng.integers(3, 9))) for _ in ids],
    )
    ratings = ratings_table("many", ids, {("style", "r1"): rng.integers(1, 6, size=40).tolist()})
    return type(base).of("many", items, base.card, ratings=ratings)


# --------------------------------------------------------------------------- strong and light


def test_shares_are_counted_by_source_and_a_tie_counts_half(part):
    data = constructed()
    made = part(data, metrics=[], similar=["rouge1"])
    # cells in order: strong, strong-error, light, light-error, of two sources
    values = [3, 1, 2, 2, 1, 1, 2, 5]
    made._tables[data.name] = scores(data, values, "−rouge1")
    text = plain(made.orders(data))
    row = re.search(r"−rouge1\s+(.*?)\n|−rouge1(.*)", text)
    shares = re.findall(r"(\d\.\d\d) \(", row.group(0))
    # strong > light: 3>2, 1<2; strong-error > light-error: 1<2, 1<5; strong-error > light: 1<2,
    # 1<2; light-error > light: 2=2, 5>2
    assert [float(one) for one in shares[:4]] == [0.5, 0.0, 0.0, 0.75]


def test_the_sentence_about_orders_names_the_best_similarity_turned_round(part):
    rows = pd.DataFrame(
        [
            (name, order, value, 0.0, 1.0)
            for name, first, last in (("mine", 0.7, 0.6), ("−a", 0.8, 1.0), ("−b", 0.9, 0.95))
            for order, value in ((style_orders.STYLE, first), (style_orders.ERROR, last))
        ],
        columns=["metric", "order", "value", "low", "high"],
    )
    said = style_orders.said({"set": rows}, ["mine", "absent"], "−").data
    assert "On `set`, `mine` puts strong above light in 70%" in said
    assert "`−b`, in 90%. A content error moves a light rewrite up in 60% and 95%." in said
    assert "absent" not in said
    missing = rows.assign(value=np.nan)
    assert "No set" in style_orders.said({"set": missing}, ["mine"], "−").data


@pytest.mark.parametrize(("rule", "count"), [(-1.0, 0), (0.185, 1), (0.9, 2)])
def test_the_best_rule_is_counted_against_the_printed_rows(part, monkeypatch, rule, count):
    data = replace(many(), name="lai@pauli2025")
    made = part(many())
    made.rated = [data]
    monkeypatch.setattr(made, "_rules", lambda _: {"−a": rule, "−b": -2.0, "−c": float("nan")})
    printed = [one for one in chapter._printed() if one.dataset == "lai"]
    values = [one.value for one in printed if one.metric.startswith("Likelihood")]
    assert count == sum(rule > value for value in values)
    assert f"The rule is above {count} of the 2." in made.printed_said().data
    made.rated = []
    assert "Nothing to compare" in made.printed_said().data


def test_without_the_small_world_its_sections_say_so(part, monkeypatch):
    monkeypatch.setattr(chapter, "BUILT", ("contrast", "not-registered"))
    made = part(rated())
    assert made.world is None
    assert made.contrast.name == "contrast"
    assert isinstance(made.orders(made.world), Markdown)
    assert isinstance(made.cells_figure(made.world), Markdown)


def test_cells_that_a_set_does_not_have_are_a_dash(part):
    data = constructed()
    tied = data.where(data.items["system"].isin(["strong", "light-error"]), "tied")
    made = part(tied)
    assert plain(made.orders(tied)).count("–") >= 4


# -------------------------------------------------------------------------------- confounds


def test_what_is_left_is_the_partial_correlation(part):
    data = many()
    made = part(data)
    text = plain(made.confounded())
    table = made.scores(data)
    vectors = [
        table[table["metric"] == name].set_index("item_id")["value"].to_numpy(float)
        for name in ("pinc", *chapter.RULERS)
    ]
    own, copied, length = vectors
    own = -own  # less of it is better, as a metric says of itself
    human = data.means["style"].to_numpy()

    def rest(values):
        design = np.column_stack([np.ones(40), copied, length])
        return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]

    left = stats.pearson(rest(human), rest(own)).value
    for value in (stats.pearson(human, own).value, stats.pearson(own, copied).value, left):
        assert f"{value:.2f}".replace("-", "−") in text


def test_parts_are_tasks_or_else_directions():
    assert list(chapter._parts(constructed())) == ["x", "y"]
    data = rated()
    assert chapter._parts(data) == {}
    items = data.items.assign(direction=["up"] * 3 + ["down"] * 3)
    assert list(chapter._parts(replace(data, items=items))) == ["up", "down"]


def test_names_that_could_be_markup_are_escaped(part):
    data = rated()
    items = data.items.assign(direction=[HOSTILE[0]] * 3 + ["down"] * 3)
    data = replace(data, items=items, name="<b>")
    made = part(data)
    for shown in (made.by_part(), made.confounded(), made.beside_change(made.analyses())):
        assert "<script>" not in shown.text
        assert "<b>" not in shown.text
