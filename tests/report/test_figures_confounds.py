"""Figures of confounds: what is on them, that they are the same each time, and odd tables."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tests.report.test_confounds import made, scored
from tests.report.test_games import two
from tests.report.tiny import HOSTILE, NAN, constructed, scores
from tstmeta.report import confounds, games
from tstmeta.report import figures_confounds as figures
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture
from tstmeta.schema import TstmetaError

FEW = {"draws": 20, "seed": 1}
VALUES = [9, 1, 8, 0, 9, 2, 7, 1]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> dict:
    """Each figure as a function of nothing."""
    data, built = made(), constructed()
    values, labelled = scored(data), scores(built, VALUES)
    bench = Bench(store=tmp_path_factory.mktemp("scores"))
    played = games.table_of_games(bench, two(), ["ter", "sentinel"], honest="A", draws=20)
    partials = confounds.partials(data, values, **FEW)
    against = confounds.discriminants(data, values, **FEW)
    errors = confounds.by_error_type(built, labelled, **FEW)
    strata = confounds.by_disagreement(data, values, **FEW)
    return {
        "discriminant_heatmap": lambda: figures.discriminant_heatmap(against),
        "games_heatmap": lambda: figures.games_heatmap(played),
        "raw_and_partial": lambda: figures.raw_and_partial(partials),
        "error_dots": lambda: figures.error_dots(errors),
        "strata_dots": lambda: figures.strata_dots(strata),
        "simpson": lambda: figures.simpson(data, values, "near", seed=2),
    }


NAMES = [name for name in figures.__all__ if name != "simpson"] + ["simpson"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_figure_gives_the_same_bytes_and_leaves_the_style_alone(name, drawn):
    before = dict(mpl.rcParams)
    state = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    first = Picture(drawn[name]())._repr_png_()
    assert first.startswith(b"\x89PNG")
    assert Picture(drawn[name]())._repr_png_() == first
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # type: ignore[index] # noqa: NPY002


def texts(figure: Figure) -> list[str]:
    found = [text for axis in figure.axes for text in axis.texts]
    found += [text for legend in figure.legends for text in legend.get_texts()]
    return [text.get_text() for text in found if text.get_text()]


def rows(axis) -> list[str]:
    return [label.get_text() for label in axis.get_yticklabels()]


def test_metrics_come_first_and_turned_ones_have_an_arrow(drawn):
    for name in ("discriminant_heatmap", "raw_and_partial", "strata_dots"):
        listed = rows(drawn[name]().axes[0])
        assert listed == ["near", "ter ↓", "human-style", "constant"], name


def test_the_dimension_that_a_metric_claims_is_framed(drawn):
    axis = drawn["discriminant_heatmap"]().axes[0]
    columns = [label.get_text() for label in axis.get_xticklabels()]
    assert columns == ["content", "style", "fluency"]
    frames = [one for one in axis.patches if isinstance(one, Rectangle)]
    corners = sorted((int(one.get_y()), int(one.get_x())) for one in frames)
    assert corners == [(0, 0), (1, 0), (2, 1), (3, 0)]  # human-style claims style


def test_cells_show_two_decimals_a_true_minus_and_a_dash_for_nothing():
    table = pd.DataFrame(
        {
            "metric": ["m", "m", "constant", "constant"],
            "basis": "source",
            "better": "higher",
            "dimension": ["content", "style"] * 2,
            "claimed": [True, False] * 2,
            "value": [0.256, -0.5, NAN, -0.001],
        }
    )
    figure = figures.discriminant_heatmap(table)
    assert [one for one in texts(figure) if one[0] in "−0123456789–"] == [
        "0.26",
        "−0.50",
        "0.00",
        "–",
    ]


def test_games_are_columns_in_their_order_and_cells_are_per_cent(drawn):
    axis = drawn["games_heatmap"]().axes[0]
    columns = [label.get_text().replace("\n", " ") for label in axis.get_xticklabels()]
    assert columns == list(games.GAMES)
    shown = texts(drawn["games_heatmap"]())
    assert shown[: len(columns)][0] == "100"  # TER is taken in by a copy
    assert set(shown[-len(columns) :]) <= {str(number) for number in range(101)}


def test_a_ring_is_the_raw_value_and_a_dot_what_is_left():
    table = pd.DataFrame(
        {
            "metric": ["m", "m", "constant", "constant", "human-style", "human-style"],
            "basis": "source",
            "better": "higher",
            "given": ["", "style"] * 3,
            "value": [0.5, 0.1, NAN, NAN, -0.3, NAN],
            "low": [0.4, 0.0, NAN, NAN, -0.4, NAN],
            "high": [0.6, 0.2, NAN, NAN, -0.2, NAN],
        }
    )
    figure = figures.raw_and_partial(table)
    axis = figure.axes[0]
    rings = [one for one in axis.lines if one.get_markerfacecolor() == "white"]
    assert [one.get_xdata()[0] for one in rings[:1]] == [0.5]
    assert texts(figure) == ["no value", "nothing left", "raw", "given style"]
    assert rows(axis) == ["m", "human-style", "constant"]
    with pytest.raises(TstmetaError, match="nothing is given 'fluency'; known: style"):
        figures.raw_and_partial(table, "fluency")
    with pytest.raises(TstmetaError, match="no other dimension was judged"):
        figures.raw_and_partial(table[table["given"] == ""])


def test_error_types_have_a_panel_a_pair_of_shifts_and_say_their_n(drawn):
    figure = drawn["error_dots"]()
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles == [
        "light kept, light with error",
        "strong kept, strong with error",
        "light kept, strong with error",
        "strong kept, light with error",
    ]
    assert texts(figure) == ["any (n = 2)", "substitution (n = 2)"]


def test_strata_without_a_value_say_so(drawn):
    shown = texts(drawn["strata_dots"]())
    assert shown.count("no value") == 1
    assert shown[1] == "all (n = 36)"


def test_bases_stand_before_the_names_where_there_are_two():
    table = pd.DataFrame(
        {
            "metric": ["m", "m", "random"],
            "basis": ["source", "reference", "none"],
            "better": "higher",
        }
    )
    assert figures.named(table).tolist() == ["S-m", "R-m", "random"]
    assert figures.named(table.iloc[:1]).tolist() == ["m"]
    assert figures.no_metrics(table.assign(metric=["m", "human-style", "random:7"])).tolist() == [
        False,
        True,
        True,
    ]


# ------------------------------------------------------------------------------ Simpson's paradox


def paradox():
    """Two tasks, within each of which the metric falls while it rises over all."""
    data = made(sources=12)
    first = (data.label("task") == "x").to_numpy()
    content = np.where(first, 1.0, 4.0) + np.tile([0.0, 0.5, 1.0], 12)
    ratings = data.ratings[data.ratings["dimension"] == "content"].copy()
    ratings["value"] = pd.Series(content, data.items["item_id"])[ratings["item_id"]].to_numpy()
    values = np.where(first, 1.0, 9.0) - np.tile([0.0, 0.5, 1.0], 12)
    return replace(data, ratings=ratings), scores(data, values)


def test_the_title_holds_the_pooled_value_against_the_mean_within_groups():
    figure = figures.simpson(*paradox(), "m")
    [axis] = figure.axes
    assert axis.get_title(loc="left").startswith("m on made\npooled r = 0.9")
    assert axis.get_title(loc="left").endswith("mean r within task = −1.00")
    assert texts(figure) == ["all items", "x  r = −1.00", "y  r = −1.00"]
    slopes = [np.sign(np.diff(line.get_ydata())[0]) for line in axis.lines]
    assert slopes == [-1, -1, 1]  # two groups, then all
    points = [one for one in axis.collections if isinstance(one, PathCollection)]
    assert [len(one.get_offsets()) for one in points] == [18, 18]


def test_groups_may_be_systems_or_any_label_and_constant_ones_have_no_line():
    data, values = paradox()
    by_system = figures.simpson(data, values, "m", by="system")
    assert len(by_system.legends[0].get_texts()) == 4
    flat = scores(data, [1.0] * 36, "flat")
    figure = figures.simpson(data, flat, "flat")
    assert not figure.axes[0].lines
    assert texts(figure)[1] == "x  r = –"
    assert "pooled r = –, mean r within task = –" in figure.axes[0].get_title(loc="left")


def test_a_ninth_group_has_a_mark_of_its_own():
    data, values = paradox()
    many = data.items.assign(system=[f"s{number % 12:02}" for number in range(36)])
    figure = figures.simpson(replace(data, items=many), values, "m", by="system")
    marks = [
        (line.get_color(), line.get_marker(), line.get_linestyle())
        for line in figure.legends[0].get_lines()
    ]
    assert len(set(marks)) == len(marks) == 13


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metric": "other"}, "no scores of other"),
        ({"by": "colour"}, "not in two groups or more by colour"),
        ({"dimension": "structure"}, "nobody judged structure"),
        ({"by": "source_id"}, "20 groups by source_id are too many"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, match):
    data = made(sources=20)
    with pytest.raises(TstmetaError, match=match):
        figures.simpson(data, scores(data, range(60)), **({"metric": "m"} | options))


def test_hostile_names_are_drawn_as_they_are():
    data, values = paradox()
    name = HOSTILE[6]
    labels = data.labels.assign(value=data.labels["value"].replace("x", name))
    figure = figures.simpson(replace(data, labels=labels), values, "m")
    assert any(text.startswith(name) for text in texts(figure))
    assert Picture(figure)._repr_png_().startswith(b"\x89PNG")


def test_a_constant_metric_alone_can_be_drawn(tmp_path):
    data = made()
    flat = scores(data, [1.0] * 36, "flat")
    alone = data.ratings[data.ratings["dimension"] != "style"]
    unstyled = replace(data, ratings=alone)
    drawn = [
        figures.discriminant_heatmap(confounds.discriminants(unstyled, flat, **FEW)),
        figures.raw_and_partial(confounds.partials(unstyled, flat, **FEW)),
        figures.strata_dots(confounds.by_disagreement(unstyled, flat, **FEW)),
    ]
    bench = Bench(store=tmp_path)
    for metrics in (["constant"], ["ter"]):
        table = games.table_of_games(bench, two(), metrics, honest="A", draws=5)
        drawn.append(figures.games_heatmap(table))
    for figure in drawn:
        assert Picture(figure)._repr_png_().startswith(b"\x89PNG")


def test_equal_ratings_can_be_drawn():
    data = made()
    same = replace(data, ratings=data.ratings.assign(value=3.0))
    figure = figures.simpson(same, scores(same, range(36)), "m")
    assert figure.axes[0].get_ylim() == (2.5, 3.5)
