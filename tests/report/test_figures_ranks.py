"""Figures of values, ranks and sets of ranks: what is drawn is what was computed."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

from tests.report.many import rated, scored
from tstmeta.report import figures_ranks
from tstmeta.report.analysis import Analysis, analyse
from tstmeta.report.figures_ranks import bump, forest, names, rank_sets

DATA = rated()
FOUND = analyse(DATA, scored(DATA, good=0.4, ter=0.8, poor=4.0, random=50.0), draws=400)
MEANS = analyse(rated(raters=False), scored(DATA, good=0.4, poor=4.0), draws=50, tests=False)


def other(order: list[str], name: str = "other", found: Analysis = FOUND) -> Analysis:
    """An analysis with the same rows and values in another order, the best first."""
    values = np.sort(found.rows["value"])[::-1]
    rows = found.rows.set_index("metric").loc[order].reset_index().assign(value=values)
    return dataclasses.replace(found, rows=rows, dataset=name)


def texts(figure: Figure) -> str:
    """All that is written above and below the panels, on one line."""
    held = [figure.get_supxlabel(), figure.get_suptitle()]
    held += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return " ".join(" ".join(held).replace("\xa0", " ").split())


def bars(axis) -> list[tuple[float, float]]:
    """Ends of the horizontal bars of a panel, from the top."""
    lines = [one for one in axis.collections if isinstance(one, LineCollection)]
    ends = [segment for line in lines for segment in line.get_segments()]
    return [(a[0], b[0]) for a, b in sorted(ends, key=lambda segment: segment[0][1])]


def shown(axis) -> list[str]:
    return [label.get_text() for label in axis.get_yticklabels()]


# --------------------------------------------------------------------------------------- names


def test_names_say_the_basis_and_whether_less_is_better():
    rows = pd.DataFrame(
        [("bleu", "source", "higher"), ("ter", "reference", "lower"), ("x", "none", "higher")],
        columns=["metric", "basis", "better"],
    )
    assert names(rows) == ["bleu", "R-ter ↓", "x"]


# -------------------------------------------------------------------------------------- forest


def test_a_forest_shows_every_value_with_its_interval_and_people():
    [axis] = forest([FOUND]).axes
    assert shown(axis) == ["good", "ter ↓", "poor", "random", "human-style"]
    np.testing.assert_allclose(bars(axis), FOUND.rows[["low", "high"]])
    lines = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "None"]
    assert FOUND.human.value in lines
    [ticks] = [one for one in axis.collections if isinstance(one, PathCollection)]
    np.testing.assert_allclose(ticks.get_offsets()[:, 0], FOUND.rows["as_rater"].astype(float))
    band = axis.patches[0].get_extents().transformed(axis.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((FOUND.human.low, FOUND.human.high))


def test_a_line_parts_metrics_from_sentinels():
    [axis] = forest([FOUND]).axes
    flat = [line for line in axis.lines if len(set(line.get_ydata())) == 1]
    heights = {line.get_ydata()[0] for line in flat if len(line.get_ydata()) == 2}
    assert 2.5 in heights  # below three metrics


def test_the_text_says_statistic_level_estimand_and_confidence():
    found = analyse(
        DATA, scored(DATA, good=0.4, poor=4.0), level="system", units="both",
        statistic="kendall", confidence=0.9, draws=50, tests=False,
    )  # fmt: skip
    for draw, what in ((forest, "intervals"), (rank_sets, "sets of ranks")):
        figure = draw([found])
        assert "Kendall's tau-b with content, level system; " in texts(figure)
        assert f"{what}: 90 %, systems like these, sources like these" in texts(figure)
        assert figure.axes[0].get_title(loc="left") == "many\n96 rewrites, 24 sources, 4 systems"


def test_people_are_named_only_where_they_are_known():
    assert "held-out rater" in texts(forest([FOUND]))
    assert "held-out rater" not in texts(forest([MEANS]))
    assert not forest([MEANS]).axes[0].patches


def test_a_second_data_set_stands_beside_the_first():
    figure = forest([FOUND, MEANS])
    assert [len(shown(axis)) for axis in figure.axes] == [5, 3]
    boxes = [axis.get_position() for axis in figure.axes]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[0].y0 == pytest.approx(boxes[1].y0)


# ----------------------------------------------------------------------------------- rank sets


def test_bars_hold_the_ranks_that_a_metric_could_have():
    [axis] = rank_sets([FOUND]).axes
    rows = FOUND.rows.sort_values("rank")
    expected = rows[["rank_low", "rank_high"]].to_numpy(float) + np.array([-0.4, 0.4])
    np.testing.assert_allclose(bars(axis), expected)
    points = [line for line in axis.lines if line.get_marker() in ("o", "D")]
    assert [line.get_xdata()[0] for line in points] == rows["rank"].tolist()
    assert [line.get_marker() for line in points] == ["o", "o", "o", "D", "D"]


def test_dotted_lines_end_clusters():
    [axis] = rank_sets([FOUND]).axes
    clusters = FOUND.rows.sort_values("rank")["cluster"].tolist()
    expected = [i + 0.5 for i in range(4) if clusters[i] != clusters[i + 1]]
    dotted = [line.get_ydata()[0] for line in axis.lines if line.get_linestyle() == ":"]
    assert dotted == expected != []
    assert "cluster ends" in texts(rank_sets([FOUND]))
    assert "cluster ends" not in texts(rank_sets([MEANS]))


# ---------------------------------------------------------------------------------------- bump


def test_lines_of_a_bump_chart_are_ranks_and_both_ends_are_named():
    order = ["poor", "good", "ter", "human-style", "random"]
    [axis] = bump([FOUND, other(order)]).axes
    lines = {tuple(line.get_ydata()) for line in axis.lines}
    assert lines == {(1, 2), (2, 3), (3, 1), (4, 5), (5, 4)}
    ends: dict[float, list[str]] = {0.0: [""] * 5, 1.0: [""] * 5}
    for text in axis.texts:
        ends[text.xy[0]][int(text.xy[1]) - 1] = text.get_text()
    assert ends[0.0] == ["good", "ter ↓", "poor", "random", "human-style"]
    assert ends[1.0] == ["poor", "good", "ter ↓", "human-style", "random"]


def test_the_lines_that_cross_most_stand_out_and_sentinels_never_do():
    order = ["poor", "good", "ter", "human-style", "random"]
    for highlight, expected in ((1, {"poor"}), (7, {"good", "ter ↓", "poor"}), (0, set())):
        [axis] = bump([FOUND, other(order)], highlight).axes
        bold = {text.get_text() for text in axis.texts if text.get_fontweight() == "bold"}
        assert bold == expected
    [axis] = bump([FOUND, other(FOUND.rows["metric"].tolist())]).axes
    assert not [text for text in axis.texts if text.get_fontweight() == "bold"]


def test_only_what_all_data_sets_have_is_ranked_and_equal_values_do_not_collide():
    [axis] = bump([FOUND, MEANS]).axes
    assert len(axis.lines) == 3
    level = dataclasses.replace(FOUND, rows=FOUND.rows.assign(value=0.5))
    [axis] = bump([FOUND, level]).axes
    assert sorted(line.get_ydata()[1] for line in axis.lines) == [1, 2, 3, 4, 5]
    assert all(len(set(line.get_ydata())) == 1 for line in axis.lines)


def test_a_bump_chart_says_what_it_ranks_and_n():
    figure = bump([FOUND, MEANS])
    assert "Ranks by Pearson's r with content, level pooled, best on top" in texts(figure)
    assert [one.get_text() for one in figure.axes[0].get_xticklabels()] == ["many\nn = 96"] * 2


def test_names_of_lines_do_not_overlap():
    wide = {f"a-metric-with-a-long-name-{number}": 1.0 for number in range(12)}
    found = analyse(DATA, scored(DATA, **wide), draws=20, tests=False)
    figure = bump([found, found])
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert min(box.x0 for box in boxes) >= 0


# --------------------------------------------------------------------------------------- style


def test_highlighted_lines_differ_in_more_than_colour():
    looks = [(marker, stroke) for _, marker, stroke, _ in figures_ranks._LINES]
    assert len({marker for marker, _ in looks}) == len(looks)
    for *_, ink in figures_ranks._LINES:  # names can be read: contrast with white of 4.5 or more
        channels = np.array([int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(
            channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 4.5, ink
