"""Tables and figures of certainty: right for any data, silent about what cannot be asked."""

import re

import numpy as np
import pytest

from tests.report.tiny import constructed, rated
from tstmeta.report import certainty, figures_ranks
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("scores"))


METRICS = ["rouge1", "ter", "sentinel", "human-style"]


@pytest.fixture(scope="module")
def found(bench):
    return certainty.analyses(bench, [rated(), rated("other")], METRICS, draws=50)


def test_a_data_set_that_a_level_does_not_fit_is_left_out(bench):
    assert certainty.analyses(bench, [rated()], METRICS, level="task", draws=10) == []
    whole = certainty.analyses(bench, [rated(), constructed()], METRICS, level="task", draws=10)
    assert [one.dataset for one in whole] == ["built"]


def test_a_data_set_without_judgement_of_content_is_left_out(bench):
    data = rated()
    nobody = type(data).of("nobody", data.items.assign(dataset="nobody"), data.card)
    assert certainty.analyses(bench, [nobody], METRICS, draws=10) == []


def test_every_row_of_an_analysis_stands_in_the_table(found):
    text = certainty.tables(found).text
    assert text.count("<table>") == 2
    for name in figures_ranks.names(found[0].rows):
        assert f"<td>{name}</td>" in text
    assert "these systems, sources like these" in text


def test_where_less_is_better_an_arrow_says_so(found):
    shown = figures_ranks.names(found[0].rows)
    assert "ter ↓" in shown
    assert "rouge1" in shown


def test_partial_values_of_another_statistic_are_named(bench, found):
    assert "partial values" not in certainty.tables(found).text
    other = certainty.analyses(bench, [rated()], METRICS, statistic="kendall", draws=10)
    assert "partial values are Spearman&#x27;s rho over all items" in certainty.tables(other).text


def test_a_rank_shows_what_it_could_be(found):
    text = certainty.tables(found).text
    for row in found[0].rows.dropna(subset="rank").to_dict("records"):
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    assert re.search(r"<td>\d+( \(\d+–\d+\))?</td>", text)


@pytest.mark.parametrize("draw", [certainty.forests, certainty.ranks, certainty.bumps])
def test_the_same_figure_gives_the_same_bytes(found, draw):
    first, second = (draw(found) for _ in range(2))
    assert isinstance(first, Picture)
    assert first._repr_png_() == second._repr_png_()


def test_a_forest_has_a_point_and_a_bar_for_every_value(found):
    figure = figures_ranks.forest(found)
    for axis, one in zip(figure.axes, found, strict=True):
        drawn = np.concatenate(
            [line.get_xdata() for line in axis.lines if line.get_marker() != "None"]
        )
        values = one.rows["value"].dropna()
        assert sorted(drawn) == pytest.approx(sorted(values))


def test_a_bump_chart_has_a_line_for_every_metric_of_all_sets(found):
    figure = figures_ranks.bump(found)
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert len(lines) == found[0].rows["value"].notna().sum()


def test_nothing_to_show_is_said(found):
    assert "Nothing to compare" in certainty.tables(certainty.Analyses()).data
    assert "Nothing to compare" in certainty.forests([]).data
    assert "Nothing to compare" in certainty.ranks([]).data
    assert "One data set alone" in certainty.bumps(found[:1]).data


def test_a_data_set_that_is_left_out_is_named_with_the_reason(bench):
    found = certainty.analyses(bench, [rated("<b>")], METRICS, level="task", draws=10)
    assert found == []
    text = certainty.tables(found).text
    assert "<code>&lt;b&gt;</code> is left out: " in text
    assert "task" in text
