"""Lesson 5: widths, detectable differences, needed sources; what systems and raters add."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import NAN, constructed, rated
from tstmeta.data import Card, Dataset, paths
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import how_many, more_raters, more_systems
from tstmeta.report.matrices import matrices
from tstmeta.schema import TstmetaError
from tstmeta.stats import Plan, Setting
from tstmeta.stats.power import detectable_difference

SENTENCE = "the small grey cat sat on a very old mat and looked at us all"
WORDS = SENTENCE.split()


def study(sources: int, systems: int = 3, name: str = "study", seed: int = 0) -> Dataset:
    """Rewrites that keep some of the words, rated by three people by how many they keep."""
    made = np.random.default_rng(seed)
    ids, kept = [], []
    for source in range(sources):
        for system in range(systems):
            ids.append(f"s{source:03}-k{system}")
            kept.append(int(np.clip(made.normal(7 + 2 * system, 3), 1, len(WORDS))))
    order = [made.permutation(len(WORDS))[:n] for n in kept]
    items = items_table(
        name,
        item_id=ids,
        source_id=[one.partition("-")[0] for one in ids],
        system=[one.partition("-")[2] for one in ids],
        source=SENTENCE,
        output=[" ".join(WORDS[i] for i in sorted(one)) for one in order],
    )
    noise = made.normal(size=(3, len(ids)))
    ratings = {
        ("content", f"r{place + 1}"): np.array(kept) + 2 * one for place, one in enumerate(noise)
    }
    return Dataset.of(name, items, Card(name, name, {}), ratings=ratings_table(name, ids, ratings))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny``, ``built`` and ``study`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed(), "study": study(40)}
    return made


# ----------------------------------------------------------------------------------- widths


def test_widths_are_measured_up_to_the_sources_there_are_and_the_law_goes_on(bench):
    rows = how_many.widths(bench, [bench.dataset("study")], ["chrf", "bleu"], (10, 40, 160))
    assert rows["metric"].tolist() == ["chrf"] * 3 + ["bleu"] * 3
    assert set(rows["sources"]) == {40}
    measured = rows.set_index(["metric", "size"])
    assert measured["width"].notna().groupby("size").all().to_dict() == {
        10: True,
        40: True,
        160: False,
    }
    for metric in ("chrf", "bleu"):
        law = measured.loc[metric, "law"]
        assert law[10] == pytest.approx(2 * law[40])
        assert law[160] == pytest.approx(law[40] / 2)
        assert measured.loc[(metric, 10), "low"] < measured.loc[(metric, 10), "high"]
    picture = how_many.widths_picture(rows)
    assert len(picture.figure.axes) == 1
    assert picture._repr_png_() == how_many.widths_picture(rows)._repr_png_()


def test_without_data_the_lesson_takes_the_contrast_set(bench):
    bench._datasets["contrast"] = constructed("contrast")
    assert [data.name for data in how_many.chosen(bench)] == ["contrast"]
    assert [data.name for data in how_many.chosen(bench, "tiny")] == ["tiny"]


# -------------------------------------------------------------------------------- differences


def test_detectable_differences_are_those_of_the_statistics_in_the_order_of_the_pair(bench):
    data = bench.dataset("study")
    pairs = [("bleu", "chrf"), ("chrf", "length-ratio")]
    rows = how_many.detectable(bench, [data], pairs, draws=100, seed=4)
    assert rows["pair"].tolist() == ["bleu – chrf"] * 3 + ["chrf – length-ratio"] * 3
    found = matrices(data, bench.table(data, ["bleu", "chrf"], ["source"]))
    assert [name for name, _ in found.names] == ["bleu", "chrf"]
    one = detectable_difference(
        found.human, found.metrics, Setting(), Plan("sources", 100), np.random.default_rng(4)
    )
    first = rows.iloc[0]
    assert first["view"] == "Pearson, pooled"
    assert first["sources"] == pytest.approx(one.difference[0, 1])
    assert first["observed"] == pytest.approx(one.observed[0, 1])
    turned = how_many.detectable(bench, [data], [("chrf", "bleu")], draws=100, seed=4).iloc[0]
    assert turned["observed"] == pytest.approx(-first["observed"])
    text = " ".join(check(how_many.detectable_table(rows).text).text)
    assert "*" in text  # three systems are too few
    assert "small: systems drawn too" in text


def test_what_was_built_has_no_systems_to_draw(bench):
    rows = how_many.detectable(bench, [bench.dataset("built")], [("bleu", "chrf")], draws=50)
    assert rows["both"].isna().all()
    assert rows.set_index("view").loc["tau-b, system means", "note"] == "no systems"
    assert "–" in check(how_many.detectable_table(rows).text).text


def test_a_metric_without_scores_of_rewrites_leaves_a_dash(bench):
    pairs = [("chrf", "corpus-bleu"), ("chrf", "bleu")]
    rows = how_many.detectable(bench, [bench.dataset("study")], pairs, draws=20)
    assert rows["sources"].isna().tolist() == [True] * 3 + [False] * 3
    with pytest.raises(TstmetaError, match="fewer than two have scores of single rewrites"):
        how_many.detectable(bench, [bench.dataset("study")], pairs[:1], draws=20)


def test_needed_follows_the_law_of_the_square_root(bench):
    one = how_many.needed(bench, "study", "bleu", "chrf", 0.1, draws=200)
    assert one.here == 40
    assert one.sources == math.ceil(40 * (one.detectable / 0.1) ** 2)
    half = how_many.needed(bench, "study", "bleu", "chrf", 0.05, draws=200)
    assert half.sources == pytest.approx(4 * one.sources, abs=4)
    assert half == one.to_find(0.05)
    surer = how_many.needed(bench, "study", "bleu", "chrf", 0.1, 0.95, draws=200)
    assert 1.5 < (surer.detectable / one.detectable) ** 2 < 1.8
    at_hand = how_many.needed(bench, bench.dataset("study"), "bleu", "chrf", 0.1, draws=200)
    assert at_hand == one


def test_four_times_the_sources_show_about_half_the_difference(bench):
    few, many = (
        how_many.needed(bench, study(n, name=f"of{n}", seed=3), "bleu", "length-ratio", 0.1)
        for n in (60, 240)
    )
    assert few.detectable / many.detectable == pytest.approx(2, rel=0.35)
    assert few.sources == pytest.approx(many.sources, rel=0.8)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"difference": 0}, "difference 0 cannot be looked for: give one above 0"),
        ({"difference": NAN}, "difference nan"),
        ({"power": 1.0}, "power 1.0 is no chance"),
        ({"power": 0}, "power 0 is no chance"),
        ({"second": "bleu"}, "two different metrics are needed, got bleu twice"),
        ({"second": "corpus-bleu"}, "fewer than two have scores of single rewrites"),
        ({"level": "nowhere"}, "unknown level 'nowhere'"),
        ({"statistic": "luck"}, "unknown statistic 'luck'"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(bench, changed, message):
    asked = {"first": "bleu", "second": "chrf", "difference": 0.1, "draws": 20} | changed
    with pytest.raises(TstmetaError, match=message):
        how_many.needed(bench, "study", **asked)


def test_answers_are_said_in_round_numbers_and_doubts_too():
    enough = how_many.Needed(51.0, 244, 0.023, 0.004)
    said = how_many.needed_said(enough, "d", "a", "b", 0.05, 0.8).data
    assert "with a chance of 80%, it takes about **51 sources**" in said
    assert "There are 244, which is enough: they show differences from 0.023 up." in said
    far = how_many.Needed(12345.0, 60, 0.3, 0.0)
    said = how_many.needed_said(far, "d", "a", "b", 0.02, 0.8).data
    assert "**13,000 sources**" in said
    assert "which is not enough" in said
    none = how_many.Needed(NAN, 2, NAN, NAN, "all ratings are equal")
    assert how_many.needed_said(none, "d", "a", "b", 0.1, 0.8).data == (
        "On `d` there is no answer: all ratings are equal."
    )
    assert none.to_find(0.2) is none
    assert [how_many._count(value) for value in (3, 9.5, 10, 101, NAN)] == [
        *("fewer than 10", "fewer than 10", "10", "110", "–")
    ]


def test_a_table_of_needed_sources_has_a_column_a_difference(bench):
    made = how_many.needed_table(bench, [bench.dataset("study")], "bleu", "chrf", (0.05, 0.5))
    text = check(made.text).text
    assert text[:4] == ["data", "sources here", "to find 0.05", "to find 0.5"]
    assert text[4:6] == ["study", "40"]


def test_two_equal_metrics_can_never_be_told_apart(bench):
    one = how_many.needed(bench, "study", "length-ratio", "output-only", 0.1, draws=50)
    assert math.isnan(one.sources)
    assert one.reason == "the two metrics are equal in every draw"


# ------------------------------------------------------------------------------------ systems


def test_more_sources_do_not_make_up_for_few_systems():
    rows = more_systems.over_systems((5, 20), (20, 2000, 20000), replicates=2000)
    width = rows.pivot_table(index="systems", columns="sources", values="width")
    assert width.loc[5, 20000] > 0.9 * width.loc[5, 2000]
    assert width.loc[20, 20] < width.loc[5, 20000]
    # with many systems and sources the range closes around the true value
    sure = more_systems.over_systems((400,), (4000,), agreement=0.7, replicates=500).iloc[0]
    assert sure["low"] < 0.7 < sure["high"]
    assert sure["width"] < 0.2
    assert more_systems.picture(rows)._repr_png_() == more_systems.picture(rows)._repr_png_()


# ------------------------------------------------------------------------------------- raters


@pytest.mark.parametrize("k", [1, 2, 5])
def test_some_ratings_are_k_of_those_that_there_are(k):
    ratings = np.random.default_rng(0).normal(size=(30, 4, 5))
    ratings[:, 0, 2:] = NAN
    some = more_raters.some_ratings(ratings, k, np.random.default_rng(1))
    count = np.isfinite(some).sum(axis=-1)
    assert (count[:, 1:] == k).all()
    assert (count[:, 0] == min(k, 2)).all()
    given = np.isfinite(some)
    assert (some[given] == ratings[given]).all()
    if k == 1:  # every rater has a turn
        assert given[:, 1:].any(axis=(0, 1)).all()


@pytest.fixture(scope="module")
def noise():
    crowds = [more_raters.simulated("clear", 0.5), more_raters.simulated("noisy", 1.5)]
    return more_raters.by_raters(crowds, (1, 2, 5, 10), times=20, draws=100)


def test_reliability_and_r_grow_with_raters_as_spearman_and_brown_say(noise):
    for name, noise_sd in (("clear", 0.5), ("noisy", 1.5)):
        own = noise[noise["data"] == f"simulated, {name}"].set_index("raters")
        true = 1 / (1 + noise_sd**2)
        assert own["single"].iloc[0] == pytest.approx(true, abs=0.06)
        assert own.loc[5, "reliability"] == pytest.approx(5 * true / (1 + 4 * true), abs=0.06)
        measured = own["measured"].dropna()
        assert measured.index.tolist() == [1, 2, 5]
        assert measured.to_numpy() == pytest.approx(own.loc[[1, 2, 5], "r"].to_numpy(), abs=0.04)
        assert own["r"].is_monotonic_increasing


def test_for_a_fixed_number_of_ratings_more_raters_make_r_less_certain(noise):
    for _, own in noise.groupby("data"):
        own = own.set_index("raters")
        assert own.loc[1, "certainty"] == own.loc[1, "expected certainty"] == 1
        assert own["expected certainty"].is_monotonic_decreasing
        assert own.loc[2, "certainty"] == pytest.approx(own.loc[2, "expected certainty"], abs=0.12)
    assert math.isnan(noise.set_index("raters").loc[10, "certainty"].iloc[0])


def test_raters_as_a_table_and_a_picture(noise):
    text = check(more_raters.table(noise).text).text
    assert {"1 rater", "5 raters", "no noise", "simulated, noisy"} <= set(text)
    assert more_raters.picture(noise)._repr_png_() == more_raters.picture(noise)._repr_png_()


def test_a_crowd_that_does_not_agree_has_no_row():
    ratings = np.random.default_rng(3).normal(size=(40, 3, 2))
    ratings[..., 1] = -ratings[..., 0]
    crowd = more_raters.Crowd("odd", "content", ratings, ratings[..., 0])
    assert more_raters.by_raters([crowd], (1, 2), times=2).empty


def test_a_flat_line_wins_where_raters_are_noisy():
    crowds = [more_raters.simulated("clear", 0.5), more_raters.simulated("noisy", 1.5)]
    rows = more_raters.flat_lines(crowds)
    assert rows["data"].tolist() == ["simulated, noisy", "simulated, clear"]
    assert rows["raters"].tolist() == [5, 5]
    assert rows[more_raters.LINE].tolist() == [5, 0]
    assert "content on `simulated, noisy` (5 of 5)." in more_raters.flat_said(rows).data
    assert "never beats half" in more_raters.flat_said(rows.iloc[1:]).data


def test_without_raters_the_crowds_are_simulated_and_the_page_says_so(bench):
    crowds = more_raters.crowds(bench, "chrf")
    assert [crowd.name for crowd in crowds] == ["simulated, clear", "simulated, noisy"]
    assert "**These raters are simulated**" in more_raters.which(crowds, "chrf").data


def test_persons_on_the_machine_are_taken_in_every_dimension_they_rated(bench, monkeypatch):
    monkeypatch.setattr(more_raters, "RATED", ("study", "tiny", "mir"))
    crowds = more_raters.crowds(bench, "chrf")
    assert [(crowd.name, crowd.dimension) for crowd in crowds] == [
        *(("study", "content"), ("tiny", "content"))
    ]
    said = more_raters.which(crowds, "chrf").data
    assert said == "Ratings by single persons, of `study`, `tiny`. The metric is `chrf`."
    rows = more_raters.by_raters(crowds[:1], (1, 3), times=5, draws=50)
    assert rows["measured"].notna().all()


@needs("pauli", "mir")
def test_on_real_data_similar_metrics_are_told_apart_more_easily_than_others():
    bench = Bench()
    pairs = [("chrf", "bleu"), ("chrf", "length-ratio")]
    rows = how_many.detectable(bench, [bench.dataset("mir")], pairs, draws=200)
    near, far = (rows[rows["pair"] == f"{a} – {b}"].set_index("view") for a, b in pairs)
    assert (near["sources"] < far["sources"]).all()
    assert (near["sources"] < near["both"]).all()
    assert isinstance(rows, pd.DataFrame)


@needs("pauli")
def test_on_pauli_a_flat_line_wins_on_style_and_loses_on_content():
    crowds = [one for one in more_raters.crowds(Bench(), "chrf") if one.name == "pauli"]
    rows = more_raters.flat_lines(crowds).set_index("dimension")
    assert rows.loc["style", more_raters.LINE] == rows.loc["style", "raters"]
    assert rows.loc["content", more_raters.LINE] == 0
    reliability = rows["reliability of one rating"]
    assert reliability["style"] < reliability["content"]
