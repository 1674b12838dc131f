"""Figures: what is on them, that they are the same each time, and that no name breaks them."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from tests.report.tiny import HOSTILE, NAN, constructed, rated, scores
from tstmeta import stats
from tstmeta.data import Card, Dataset
from tstmeta.report import figures
from tstmeta.report.figures import Picture

VALUES = [9, 1, 8, 0, 9, 2, 7, 1]


def shown(figure) -> list:
    return [axis for axis in figure.axes if axis.get_visible()]


def titles(figure) -> list[str]:
    return [axis.get_title(loc="left") for axis in shown(figure)]


def points(axis) -> np.ndarray:
    found = [one.get_offsets() for one in axis.collections if isinstance(one, PathCollection)]
    return np.concatenate([np.asarray(part) for part in found])


BARE = Dataset.of("bare", rated().items.assign(dataset="bare"), Card("bare"))

FIGURES = {
    "rating_distributions": lambda: figures.rating_distributions([rated(), rated("two")]),
    "style_content": lambda: figures.style_content([rated()], seed=1),
    "cells": lambda: figures.cells(
        constructed(), scores(constructed(), VALUES), [("m", "source")] * 2
    ),
    "agreement_heatmap": lambda: figures.agreement_heatmap(
        pd.DataFrame({"metric": ["a", "b"], "data": ["x", "x"], "value": [0.5, NAN]}), rule="b"
    ),
    "by_task": lambda: figures.by_task(constructed(), scores(constructed(), VALUES), "m", seed=1),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_the_same_figure_gives_the_same_bytes(draw):
    first = Picture(draw())._repr_png_()
    assert first.startswith(b"\x89PNG")
    assert Picture(draw())._repr_png_() == first
    assert b"Software" not in first


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_drawing_leaves_the_global_style_and_state_alone(draw):
    before = dict(mpl.rcParams)
    state = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    draw()
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # type: ignore[index] # noqa: NPY002


# -------------------------------------------------------------------------------- distributions


def test_distributions_have_a_row_a_data_set_and_a_column_a_dimension():
    figure = figures.rating_distributions([rated(), rated("two@part")])
    axes = shown(figure)
    assert len(axes) == 6
    assert titles(figure) == ["content", "style", "fluency", "", "", ""]
    assert [axis.get_ylabel() for axis in axes] == ["tiny", "", "", "two\n@part", "", ""]
    assert [text.get_text() for text in axes[2].texts] == ["not rated"]


def test_bars_count_every_item_and_the_line_is_the_mean():
    axis = shown(figures.rating_distributions([rated()]))[0]
    assert sum(bar.get_height() for bar in axis.patches) == 6
    [line] = axis.lines
    assert set(line.get_xdata()) == {17.5 / 6}
    low, high = axis.get_xlim()
    assert low < 1
    assert high > 5


@pytest.mark.parametrize("scale", [{}, {"scale": {"content": [0, 100], "style": [0, 100]}}])
def test_any_scale_or_none_can_be_drawn(scale):
    data = replace(rated(), card=Card("tiny", "tiny", scale))
    for figure in (figures.rating_distributions([data]), figures.style_content([data])):
        assert Picture(figure)._repr_png_()
    bars = shown(figures.rating_distributions([data]))[0].patches
    assert sum(bar.get_height() for bar in bars) == 6


def test_ratings_that_are_all_equal_can_be_drawn():
    data = rated()
    equal = replace(data, ratings=data.ratings.assign(value=3.0), card=Card("tiny"))
    assert Picture(figures.rating_distributions([equal]))._repr_png_()
    assert Picture(figures.style_content([equal]))._repr_png_()


# ------------------------------------------------------------------------------- style, content


def test_a_point_is_an_item_with_both_ratings_and_the_title_says_how_they_go_together():
    figure = figures.style_content([rated(), BARE])
    [axis] = shown(figure)
    assert len(points(axis)) == 5
    means = rated().means
    r = stats.pearson(means["style"], means["content"])
    [text] = [text.get_text() for text in axis.texts]
    assert text == f"r = {r.value:.2f}, n = 5".replace("-", "−")
    assert axis.get_title(loc="left") == "tiny"


def test_points_move_a_little_and_by_the_seed_only():
    first, again, other = (
        points(shown(figures.style_content([rated()], seed=seed))[0]) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    means = rated().means[["style", "content"]].dropna().to_numpy()
    assert np.abs(first - means).max() <= 0.012 * 4


# ---------------------------------------------------------------------------------------- cells


def test_the_four_cells_are_told_apart_by_label_and_hold_their_items():
    data = constructed()
    figure = figures.cells(data, scores(data, VALUES), [("m", "source")])
    [axis] = shown(figure)
    labels = [label.get_text() for label in axis.get_xticklabels()]
    assert labels == ["strong\nkept", "strong\nerror", "light\nkept", "light\nerror"]
    assert titles(figure) == ["m"]
    medians = [line.get_ydata()[0] for line in axis.lines if line.get_color() == "#111111"]
    assert medians == [9, 1.5, 7.5, 0.5]


def test_a_metric_without_scores_leaves_its_panel_empty():
    data = constructed()
    figure = figures.cells(data, scores(data, VALUES), [("m", "source"), ("m", "reference")])
    assert len(shown(figure)) == 2
    assert Picture(figure)._repr_png_()


# -------------------------------------------------------------------------------------- heat map


def test_the_heat_map_shows_every_value_in_the_order_given_and_a_dash_for_none():
    rows = pd.DataFrame(
        {"metric": ["z", "z", "a"], "data": ["q", "b", "q"], "value": [0.251, -1.0, NAN]}
    )
    axis = figures.agreement_heatmap(rows, rule="a").axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["z", "a"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["q", "b"]
    texts = {text.get_text() for text in axis.texts}
    assert texts >= {"0.25", "–"}
    assert len(axis.texts) == 4


def test_a_heat_map_of_no_values_can_be_drawn():
    rows = pd.DataFrame({"metric": ["a"], "data": ["x"], "value": [NAN]})
    assert Picture(figures.agreement_heatmap(rows))._repr_png_()


# ---------------------------------------------------------------------------------------- tasks


def test_each_task_has_a_panel_with_its_own_correlation():
    data = constructed()
    figure = figures.by_task(data, scores(data, VALUES), "m")
    truth = np.array([1.0, 0, 1, 0])
    expected = [stats.pearson(truth, values).value for values in (VALUES[:4], VALUES[4:])]
    assert titles(figure) == [
        f"{task}   r = {value:.2f}" for task, value in zip("xy", expected, strict=True)
    ]
    assert [len(points(axis)) for axis in shown(figure)] == [4, 4]
    assert shown(figure)[0].get_ylabel() == "content (label by construction)"


def test_shifts_differ_by_marker_as_well_as_by_colour():
    data = constructed()
    axis = shown(figures.by_task(data, scores(data, VALUES), "m"))[0]
    strong, light = axis.collections
    assert len(strong.get_paths()[0].vertices) != len(light.get_paths()[0].vertices)


def test_what_has_nothing_to_be_held_against_can_be_drawn():
    figure = figures.by_task(rated(), scores(rated(), [1] * 6), "m")
    assert Picture(figure)._repr_png_()
    assert Picture(figures.by_task(BARE, scores(BARE, [1] * 6), "m"))._repr_png_()


# ---------------------------------------------------------------------------------------- names


@pytest.mark.filterwarnings("ignore:Glyph", "ignore:constrained_layout")
@pytest.mark.parametrize("name", ["$m_{$", "%d a_b^c \\", *HOSTILE[-2:]])
def test_any_name_can_stand_on_a_figure(name):
    data = constructed(tasks=[name] * 4 + ["y"] * 4)  # type: ignore[arg-type]
    given = scores(data, VALUES, metric="m").assign(metric=name)
    rows = pd.DataFrame({"metric": [name], "data": [name], "value": [0.5]})
    drawn = [
        figures.rating_distributions([rated(name)]),
        figures.style_content([rated(name)]),
        figures.cells(data, given, [(name, "source")]),
        figures.by_task(data, given, name),
        figures.agreement_heatmap(rows),
    ]
    for figure in drawn:
        assert Picture(figure)._repr_png_()
