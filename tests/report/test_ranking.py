"""Systems ranked by metrics and people: what is counted, what chance gives, what is left out."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown
from scipy.stats import kendalltau

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.test_levels_chapter import crossed, words
from tests.report.tiny import HOSTILE, NAN, constructed, rated, scores
from tstmeta.data import paths
from tstmeta.report import figures_systems, ranking, table_nine
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture
from tstmeta.report.published import cells
from tstmeta.report.ranking import Ranking
from tstmeta.schema import TstmetaError


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``built`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed()}
    return made


def ranked(human: np.ndarray, *metrics: np.ndarray, statistic: str = "kendall") -> Ranking:
    """A data set of sources by systems with metrics m0, m1, ..."""
    data = crossed(human, ["up"] * len(human))
    tables = [scores(data, one.ravel().tolist(), f"m{i}") for i, one in enumerate(metrics)]
    return Ranking(data, pd.concat(tables), statistic, draws=50)


def worlds(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Small data with ties and missing cells."""
    made = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        human = rng.integers(1, 4, (8, 5)).astype(float)
        if seed % 2:
            human[rng.random(human.shape) < 0.2] = NAN
        made.append((human, rng.integers(0, 5, (8, 5)).astype(float)))
    return made


# ---------------------------------------------------------------------------------- agreement


@pytest.mark.parametrize(("human", "metric"), worlds(40))
def test_agreement_over_systems_equals_scipy_on_the_means(human, metric):
    one = ranked(human, metric)
    given = np.isfinite(human)
    people = [round(float(human[given[:, k], k].mean()), 9) for k in range(5)]
    means = [round(float(metric[given[:, k], k].mean()), 9) for k in range(5)]
    assert one.agreement[0] == pytest.approx(kendalltau(people, means).statistic)
    pairs = list(itertools.combinations(range(5), 2))
    hits = [np.sign(people[i] - people[j]) == np.sign(means[i] - means[j]) for i, j in pairs]
    assert one.accuracy[0] == pytest.approx(np.mean(hits))
    counted = ranking._hits(one.people, one.means(0))
    assert [bool(counted[pair]) for pair in pairs] == [bool(hit) for hit in hits]


def test_systems_that_are_far_apart_are_told_apart_and_equal_ones_are_not():
    rng = np.random.default_rng(0)
    human = rng.normal(0, 1, (60, 3)) + np.array([0, 0, 5])
    human[:, 1] = human[::-1, 0]  # the same ratings in another order
    one = ranked(human, rng.random((60, 3)))
    assert one.apart.tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    page = words(ranking.certainty([one]))
    assert page.endswith("made 3 3 2 2")
    assert one.people[0] == one.people[1]


def test_many_pairs_are_corrected_together():
    rng = np.random.default_rng(3)
    alone = together = 0
    for _ in range(20):
        one = ranked(rng.normal(0, 1, (30, 8)), rng.random((30, 8)))
        pairs = one.pairs()
        alone += sum(bool(one.alone[pair]) for pair in pairs)
        together += sum(bool(one.apart[pair]) for pair in pairs)
    assert alone > 10  # a twentieth of 560 pairs that do not differ
    assert together <= 3


def test_accuracy_is_split_by_whether_people_tell_the_pair_apart():
    human = np.tile([0.0, 0.0, 9.0], (20, 1)) + np.random.default_rng(0).normal(0, 0.1, (20, 3))
    best_last = np.tile([1.0, 0.0, 2.0], (20, 1))
    one = ranked(human, best_last, -best_last)
    page = words(ranking.accuracy_by_certainty([one]))
    assert "2 told apart" in page
    assert re.search(r"S-m0 1\.00 \d", page)
    assert re.search(r"S-m1 0\.00 \d", page)


def test_a_table_shows_both_intervals_and_the_wider_one_is_over_systems():
    rng = np.random.default_rng(5)
    human = rng.normal(0, 1, (60, 9)) + np.arange(9)
    one = ranked(human, human + rng.normal(0, 6, human.shape))
    sources, systems = one.intervals("sources")[0], one.intervals("systems")[0]
    assert systems.high - systems.low > sources.high - sources.low
    page = words(ranking.tables([one]))
    assert "made: 9 systems, mean human rating" in page
    assert "soft pairwise accuracy" in page
    assert f"{one.agreement[0]:.2f}" in page
    assert isinstance(ranking.forest_figure([one]), Picture)
    assert "at least 8 systems" in ranking.few([one]).data
    assert "`made` (3)" in ranking.few([ranked(human[:, :3], human[:, :3])]).data


# -------------------------------------------------------------------------------------- chance


def test_random_metrics_agree_at_zero_on_average_and_the_best_of_many_does_not():
    one = ranked(np.random.default_rng(1).random((10, 8)), np.zeros((10, 8)))
    values = ranking._of_noise(one, 4000)
    assert abs(values.mean()) < 0.02
    assert values.std() == pytest.approx(math.sqrt(2 * 21 / (9 * 8 * 7)), abs=0.01)
    page = words(ranking.chance([one], n=500))
    assert float(page.split()[-1]) > 0.35


def test_twins_that_count_lift_a_random_metric_and_dropped_ones_do_not():
    one = ranked(np.random.default_rng(1).random((10, 12)), np.zeros((10, 12)))
    page = words(ranking.self_pairs([one]))
    plain, dropped, counted = (float(number) for number in page.split()[-3:])
    assert plain == dropped == 0.5
    # a pair of two draws is a twin with probability 1 / 12
    assert counted == pytest.approx(0.5 + 0.5 / 12, abs=0.006)


# -------------------------------------------------------------------------- what is left out


def test_rated_references_are_no_systems_where_they_would_meet_themselves(tmp_path):
    bench = Bench(tmp_path)
    human = np.random.default_rng(2).random((6, 5))
    data = crossed(human, ["up"] * 6, references=1)
    one = Ranking(data, scores(data, range(30)), "kendall", draws=20)
    page = words(ranking.references(bench, [one], ["rouge1"]))
    assert "made (systems): 4 systems" in page
    assert "rouge1" in page
    assert len(one.systems) == 5


def test_without_references_the_page_says_so(bench):
    one = ranked(np.random.default_rng(2).random((6, 4)), np.ones((6, 4)))
    one.data.items["references"] = [[] for _ in range(24)]
    assert "only S- can be had" in ranking.references(bench, [one], []).data


def test_a_demonstration_is_neither_the_best_nor_the_worst_of_the_scatter_plots():
    human = np.random.default_rng(2).random((6, 4))
    data = crossed(human, ["up"] * 6)
    named = {"likelihood": human, "m1": human[::-1], "m2": -human}
    tables = [scores(data, one.ravel().tolist(), name) for name, one in named.items()]
    picture = ranking.scatter_figure(Ranking(data, pd.concat(tables), "kendall", draws=50))
    titles = " ".join(
        axis.get_title(loc="left") + axis.get_xlabel() for axis in picture.figure.axes
    )
    assert "m1" in titles
    assert "m2" in titles
    assert "likelihood" not in titles


@pytest.mark.parametrize("systems", [1, 2])
def test_with_one_or_two_systems_there_is_nothing_to_rank_and_nothing_breaks(systems):
    human = np.random.default_rng(2).random((6, systems))
    one = ranked(human, human, human[::-1])
    assert np.isnan(one.agreement).all()
    assert isinstance(ranking.chance([one]), Markdown)
    assert isinstance(ranking.forest_figure([one]), Markdown)
    assert isinstance(ranking.scatter_figure(one), Picture | Markdown)
    for made in (ranking.tables, ranking.certainty, ranking.accuracy_by_certainty):
        check(made([one]).text)
    check(ranking.self_pairs([one]).text)


def test_a_data_set_that_names_no_system_is_refused_with_the_remedy(bench):
    nameless = rated("nameless")
    nameless.items["system"] = ""
    bench._datasets["nameless"] = nameless
    with pytest.raises(TstmetaError, match=r"'nameless' names no system.*column `system`"):
        ranking.rankings(bench, "nameless", ["rouge1"])


def test_the_contrast_set_stands_in_where_there_is_no_data(bench):
    made = ranking.rankings(bench, metrics=["rouge1"], draws=20)
    assert [one.data.name for one in made] == ["contrast"]
    assert "contrast: 4 systems, label by construction" in words(ranking.tables(made))
    for show in (table_nine.tie, table_nine.explained, table_nine.orders):
        assert isinstance(show(bench), Markdown)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_do_nothing_to_the_page(name):
    data = crossed(np.random.default_rng(0).random((5, 4)), ["up"] * 5)
    one = Ranking(data, scores(data, range(20), name), "pearson", draws=20)
    for made in (ranking.tables([one]), ranking.accuracy_by_certainty([one])):
        check(made.text)


# ------------------------------------------------------------------------- Table 9 and the tie


@pytest.mark.parametrize(
    ("show", "statistic"), [(table_nine.printed, "kendall"), (table_nine.printed_p, "pvalue")]
)
def test_table_9_shows_every_printed_number_once(bench, show, statistic):
    text = show(bench).text
    check(text)
    wanted = [
        one.printed
        for one in cells()
        if (one.paper, one.table, one.statistic) == ("pauli2025", "9", statistic)
    ]
    shown = re.findall(r"<i>([^<]*)</i>", text.partition("<p class='tst-legend'>")[0])
    assert sorted(shown) == sorted(wanted)


@needs("mir")
def test_the_tie_is_shown_to_full_precision_with_both_ways_of_breaking_it():
    page = words(table_nine.tie(Bench()))
    assert "3.3756830601092895" in page
    assert "3.375683060109289 4.4e−16 0.606" in page
    assert "as fractions 3.3756830601092895 3.3756830601092895 0 0.626" in page
    assert "as the metric has it – – – 0.636" in page
    assert "against it – – – 0.606" in page
    assert "printed – – – 0.61 0.52" in page


@needs("mir")
def test_the_order_of_adding_breaks_the_tie_either_way():
    said = table_nine.orders(Bench(), n=300).data
    first, second, kept = (int(number) for number in re.findall(r"(\d+) times", said))
    assert first + second + kept == 300
    assert min(first, second, kept) > 20
    assert said == table_nine.orders(Bench(), n=300).data


def test_systems_without_a_tie_are_an_error_of_ours():
    with pytest.raises(ValueError, match="no two systems"):
        table_nine._tied({"a": np.array([1.0, 2.0]), "b": np.array([1.0, 3.0])})
    assert table_nine._tied({"a": np.array([1.0, 2.0]), "b": np.array([1.5, 1.5])}) == ("a", "b")


# ------------------------------------------------------------------------------------- figures


def test_points_carry_the_place_by_people():
    people = np.array([2.0, 3.0, 1.0])
    figure = figures_systems.scatter(list("abc"), people, [("m", 0.5, people * 2)], "tau", "label")
    [axis] = figure.axes
    assert axis.get_ylabel() == "label"
    places = {text.get_position()[1]: text.get_text() for text in axis.texts}
    assert places == {3.0: "1", 2.0: "2", 1.0: "3"}
    [key] = figure.legends
    assert [text.get_text() for text in key.get_texts()] == ["1  b", "2  a", "3  c"]


def test_systems_stand_from_best_to_worst():
    human = np.random.default_rng(0).normal(0, 1, (20, 3)) + np.array([1, 9, 5])
    rows = ranking._by_people(ranked(human, human))
    assert rows["system"].tolist() == ["k1", "k2", "k0"]
    assert (rows["low"] <= rows["mean"]).all()
    assert (rows["mean"] <= rows["high"]).all()
    [axis] = figures_systems.means([("made", "rating", rows)]).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["k1", "k2", "k0"]
