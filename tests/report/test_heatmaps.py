"""Metrics against metrics: right values, a sensible order, and a picture that shows them."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.display import Markdown
from matplotlib.figure import Figure
from scipy import stats as scipy_stats

from tests.report.test_html import Page
from tests.report.tiny import HOSTILE, NAN, constructed, rated, scores
from tstmeta.report import heatmaps
from tstmeta.report.heatmaps import clustered, correlations, edges
from tstmeta.schema import TstmetaError

DATA = rated()
GOOD = [1.0, 5.0, 3.0, 4.0, 2.0, 0.0]


def table(**vectors) -> pd.DataFrame:
    """Scores of several metrics on the tiny set."""
    return pd.concat(
        [scores(DATA, values, name) for name, values in vectors.items()], ignore_index=True
    )


FOUND = correlations(
    DATA,
    table(
        one=GOOD,
        two=[2.0, 9.0, 4.0, 7.0, 3.0, 5.0],
        gaps=[1.0, NAN, 2.0, NAN, NAN, 5.0],
        flat=[1.0] * 6,
    ),
)


def cell(first: str, second: str, found: heatmaps.Correlations = FOUND) -> float:
    return found.matrix[found.labels.index(first), found.labels.index(second)]


# ---------------------------------------------------------------------------------- correlations


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("pearson", scipy_stats.pearsonr),
        ("spearman", scipy_stats.spearmanr),
        ("kendall", scipy_stats.kendalltau),
    ],
)
def test_every_cell_is_the_statistic_of_the_items_that_both_have(name, oracle):
    vectors = {
        "one": GOOD,
        "two": [2.0, 9.0, 4.0, 7.0, NAN, 5.0],
        "x": [3.0, NAN, 1.0, 1.0, 0.0, 7.0],
    }
    found = correlations(DATA, table(**vectors), statistic=name, people=False)
    for first, x in vectors.items():
        for second, y in vectors.items():
            both = np.isfinite(x) & np.isfinite(y)
            expected = oracle(np.array(x)[both], np.array(y)[both]).statistic
            assert cell(first, second, found) == pytest.approx(expected)
            place = found.labels.index(first), found.labels.index(second)
            assert found.n[place] == both.sum()


def test_the_map_is_symmetric_with_one_on_the_diagonal_of_what_varies():
    np.testing.assert_array_equal(FOUND.matrix, FOUND.matrix.T)
    assert cell("one", "one") == pytest.approx(1)
    assert np.isnan(cell("flat", "flat"))
    assert np.isnan(cell("flat", "one"))


def test_people_stand_last_in_the_order_of_the_dimensions():
    assert FOUND.labels[-2:] == ["people: content", "people: style"]
    assert FOUND.people == 2
    both = DATA.means["content"].to_numpy()
    assert cell("one", "people: content") == pytest.approx(scipy_stats.spearmanr(GOOD, both)[0])


def test_where_nobody_rated_labels_by_construction_stand_for_people():
    data = constructed()
    made = scores(data, [1, 0, 3, 2, 5, 4, 7, 6], "one")
    found = correlations(data, made)
    assert found.labels == ["one", "people: content", "people: style"]
    assert cell("one", "people: content", found) > 0


def test_signs_stay_and_an_arrow_marks_what_is_better_when_less():
    found = correlations(DATA, table(one=GOOD, ter=[-value for value in GOOD]), people=False)
    assert set(found.labels) == {"one", "ter ↓"}
    assert cell("one", "ter ↓", found) == pytest.approx(-1)


def test_two_bases_of_a_metric_are_two_rows():
    made = pd.concat([scores(DATA, GOOD, "m"), scores(DATA, GOOD, "m", basis="reference")])
    found = correlations(DATA, made.reset_index(drop=True), people=False)
    assert sorted(found.labels) == ["R-m", "m"]


def test_what_has_no_values_of_items_is_left_out_with_the_reason():
    made = table(one=GOOD, two=GOOD, none=[NAN] * 6, **{"corpus-bleu": GOOD})
    made.loc[made["metric"] == "corpus-bleu", "detail"] = "[1,1,1,1,1,1,1,1,4,4]"
    found = correlations(DATA, made, people=False)
    assert sorted(found.labels) == ["one", "two"]
    assert found.left_out == {
        "none": "no score has a value",
        "corpus-bleu": "a metric of whole outputs",
    }


def test_scores_that_failed_do_not_count():
    made = scores(DATA, GOOD, "m", status=["ok", "ok", "ok", "ok", "error", "ok"])
    found = correlations(DATA, pd.concat([made, scores(DATA, GOOD, "o")]), people=False)
    assert found.n[0, 1] == 5


@pytest.mark.parametrize("name", ["pairwise_accuracy", "acc_eq", "nothing"])
def test_a_statistic_that_tells_people_from_metrics_is_refused(name):
    with pytest.raises(TstmetaError, match="use one of pearson, spearman, kendall"):
        correlations(DATA, table(one=GOOD), statistic=name)


# ----------------------------------------------------------------------------------------- order


def test_similar_metrics_stand_together_whatever_their_sign():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    rows = np.array([a, b, -a + 0.1 * rng.normal(size=200), b + 0.1 * rng.normal(size=200)])
    order = clustered(np.corrcoef(rows))
    place = {row: at for at, row in enumerate(order)}
    assert abs(place[0] - place[2]) == 1
    assert abs(place[1] - place[3]) == 1


@given(st.integers(0, 8), st.integers(0, 100), st.booleans())
def test_an_order_has_every_row_once(size, seed, gaps):
    values = np.random.default_rng(seed).uniform(-1, 1, (size, size))
    values = np.tril(values) + np.tril(values, -1).T
    if gaps:
        values[np.abs(values) < 0.5] = np.nan
    assert sorted(clustered(values)) == list(range(size))


def test_the_order_does_not_hang_on_the_order_of_the_scores():
    rng = np.random.default_rng(1)
    vectors = {name: rng.normal(size=6).tolist() for name in "abcde"}
    found = correlations(DATA, table(**vectors), people=False).labels
    turned = correlations(DATA, table(**dict(reversed(vectors.items()))), people=False).labels
    assert turned in (found, found[::-1])


# -------------------------------------------------------------------------------------- pictures


def alt(page) -> str:
    return unescape(re.search("alt='([^']*)'", page.text).group(1))


def cells(page) -> list[list[str]]:
    """The text of every cell, row by row; the first is the name of the row."""
    rows = re.findall("<tr>(.*?)</tr>", page.text)[1:]
    return [[unescape(cell) for cell in re.findall(">([^<]+)</t[dh]>", row)] for row in rows]


def test_the_map_shows_every_number_and_crosses_out_what_has_none():
    Page(heatmaps.heat_map(FOUND).text)
    shown = cells(heatmaps.heat_map(FOUND))
    assert [row[0] for row in shown] == FOUND.labels
    for row, values in zip(shown, FOUND.matrix, strict=True):
        for text, value in zip(row[1:], values, strict=True):
            if np.isnan(value):
                assert text == "×"
            else:
                assert float(text.replace("−", "-")) == pytest.approx(value, abs=0.006)


def test_colours_go_from_minus_one_to_one_whatever_the_values():
    matrix = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.4], [-1.0, 0.4, 1.0]])
    found = FOUND._replace(labels=["a", "b", "c"], matrix=matrix, n=np.full((3, 3), 6), people=0)
    colours = re.findall(
        "background:(#[0-9a-f]{6});color:(#[0-9a-f]{3})", heatmaps.heat_map(found).text
    )
    assert colours[0] == ("#d55e00", "#000")
    assert colours[1] == ("#fffefe", "#000")  # of an even number of steps the one above the middle
    assert colours[2] == ("#0072b2", "#fff")


def test_numbers_can_be_read_on_every_colour():
    def luminance(text):
        parts = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for value in np.linspace(-1, 1, 201):
        one = FOUND._replace(labels=["a", "b"], matrix=np.full((2, 2), value), people=0)
        ((ground, ink), *_) = re.findall(
            "background:(#.{6});color:(#.{3})", heatmaps.heat_map(one).text
        )
        dark, light = sorted((luminance(ground), 1.0 if ink == "#fff" else 0.0))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, value


def test_a_line_parts_metrics_from_people():
    text = heatmaps.heat_map(FOUND).text
    assert text.count("tst-below") == text.count("tst-right") - 1 == len(FOUND.labels)
    alone = correlations(DATA, table(one=GOOD, two=[1.0, 3, 2, 5, 4, 6]), people=False)
    assert "tst-below" not in heatmaps.heat_map(alone).text


def test_a_cell_says_its_names_and_its_n():
    text = heatmaps.heat_map(FOUND).text
    assert "title='gaps and one, n = 3'" in text or "title='one and gaps, n = 3'" in text
    assert "tiny: Spearman&#x27;s rho, n = 2 to 6" in text


def test_the_words_name_the_ends_the_nearest_to_people_and_count_the_gaps():
    words = heatmaps.told(FOUND)
    assert words.startswith("`tiny`, 4 metrics. Most alike: ")
    assert "3 of 6 pairs have no value" in words
    content = FOUND.matrix[FOUND.labels.index("people: content"), :4]
    nearest = FOUND.labels[int(np.nanargmax(np.abs(content)))]
    assert f"Nearest to people's content: {nearest}, " in words
    first = correlations(DATA, table(one=GOOD, ter=[-value for value in GOOD]), people=False)
    assert "one and ter ↓, −1.00" in heatmaps.told(first).replace("ter ↓ and one", "one and ter ↓")


def test_one_metric_alone_is_no_map():
    found = correlations(DATA, table(one=GOOD), people=False)
    assert isinstance(heatmaps.heat_map(found), Markdown)
    nothing = correlations(DATA, scores(DATA, [NAN] * 6))
    assert isinstance(heatmaps.heat_map(nothing), Markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_texts_in_the_map(text):
    found = FOUND._replace(dataset=text, labels=[text, *FOUND.labels[1:]])
    page = Page(heatmaps.heat_map(found).text)
    assert page.open == []
    assert {tag for tag, _ in page.tags} == {
        *("div", "table", "caption", "thead", "tbody", "tr", "td", "th", "span")
    }
    names = {name for _, attributes in page.tags for name in attributes}
    assert names == {"class", "tabindex", "scope", "title", "style"}
    assert text in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_texts(text):
    page = heatmaps.described(Figure(figsize=(1, 1)), text)
    assert len(re.findall("<", page.text)) == 3
    assert alt(page) == text


# --------------------------------------------------------------------------------- distributions


def test_each_metric_has_a_panel_with_all_its_values():
    vectors = {"one": GOOD, "two": [0.5, NAN, 0.25, 0.5, 0.5, 0.1], "flat": [2.0] * 6}
    labels, values, _ = heatmaps._vectors(DATA, table(**vectors))
    figure = heatmaps.distributions_figure("tiny", labels, values)
    assert [axis.get_title(loc="left") for axis in figure.axes if axis.get_visible()] == labels
    for axis, vector in zip(figure.axes, values, strict=False):
        counted = sum(patch.get_height() for patch in axis.patches)
        assert counted == np.isfinite(vector).sum()
        assert axis.lines[0].get_xdata()[0] == pytest.approx(np.nanmean(vector))
    assert figure.axes[1].get_xlabel() == "n = 5; commonest value 60\u00a0%"


def test_distributions_are_told_in_words():
    words = alt(heatmaps.distributions(DATA, table(one=GOOD)))
    assert words.startswith("Histograms of the values of 1 metrics on tiny: one median 2.50")


def test_without_values_there_is_no_distribution():
    shown = heatmaps.distributions(DATA, scores(DATA, [NAN] * 6))
    assert isinstance(shown, Markdown)


@pytest.mark.parametrize(
    ("values", "bars"), [([3.0] * 4, 31), ([0.0, 1.0, 3.0], 4), ([0.0, 0.5, 1.0], 30)]
)
def test_bars_fit_the_values(values, bars):
    found = edges(np.array(values))
    assert len(found) == bars + 1
    counts, _ = np.histogram(values, found)
    assert counts.sum() == len(values)


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=20))
def test_bars_hold_every_value(values):
    found = edges(np.array(values))
    assert (np.diff(found) > 0).all()
    assert np.histogram(values, found)[0].sum() == len(values)
