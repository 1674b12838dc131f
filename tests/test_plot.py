"""Figures: what stands in them, by their artists; how they look is for eyes."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from tstmeta import plot
from tstmeta.schema import TstmetaError

NAMES = ("random", "bleu", "chrf", "human-style")
VALUES = {"mir": (0.0, 0.4, 0.5, -0.2), "lai": (0.1, 0.3, 0.2, 0.6)}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def values() -> pd.DataFrame:
    """Two data sets, two metrics and two sentinels, as ``tst.bootstrap`` gives them."""
    rows = [
        (name, metric, "source", value, value - 0.1, value + 0.1)
        for name, column in VALUES.items()
        for metric, value in zip(NAMES, column, strict=True)
    ]
    return pd.DataFrame(rows, columns=["dataset", "metric", "basis", "value", "low", "high"])


def shown(axis) -> list[str]:
    """Names of the rows of a figure, from the top."""
    rows = zip(axis.get_yticks(), axis.get_yticklabels(), strict=True)
    return [label.get_text() for _, label in sorted(rows, key=lambda row: row[0])]


def panels(figure) -> list:
    return [axis for axis in figure.axes if axis.get_visible()]


def points(axis) -> dict[float, tuple[float, str]]:
    """Row -> value and colour of its point."""
    return {
        y: (x, line.get_color())
        for line in axis.lines
        if line.get_marker() in ("o", "D", "X") and line.get_markersize() > 4
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def test_drawing_leaves_the_style_of_others_alone():
    before = dict(plt.rcParams)
    plot.heatmap(values())
    assert dict(plt.rcParams) == before


FIVE = pd.concat([values().assign(dataset=f"set {number}") for number in range(5)])


@pytest.mark.parametrize("draw", [plot.heatmap, plot.forest, plot.bump])
def test_no_figure_is_wider_than_a_page_and_two_panels_stand_in_a_row(draw):
    drawn = draw(FIVE)
    figure = drawn if isinstance(drawn, plt.Figure) else drawn.figure
    assert figure.get_figwidth() * 100 <= 720
    assert figure.axes[0].get_subplotspec().get_gridspec().ncols <= 2


@pytest.mark.parametrize("draw", [plot.forest, plot.bump])
def test_a_frame_without_values_is_refused_in_words(draw):
    with pytest.raises(TstmetaError, match="nothing to draw"):
        draw(values().assign(value=np.nan))


def test_flipped_and_reference_based_metrics_are_marked_and_sentinels_known_by_kind_or_name():
    metrics = ["bleu", "human-style", "bleu", "ter"]
    frame = pd.DataFrame({"metric": metrics, "value": 0.5, "dataset": "mir"})
    assert shown(plot.heatmap(frame.iloc[1:])) == ["bleu", "ter", "human-style"]
    frame["basis"] = ["source", "none", "reference", "source"]
    frame["flipped"] = [False, False, False, True]
    assert shown(plot.heatmap(frame)) == ["bleu", "R-bleu", "ter ↓", "human-style"]
    frame["kind"] = ["sentinel", "metric", "metric", "oracle"]
    assert shown(plot.heatmap(frame)) == ["human-style", "R-bleu", "bleu", "ter ↓"]


KINDS = {
    **{"bleu:pauli2025": "lexical", "random:3": "sentinel", "human-style": "human"},
    **dict.fromkeys(("masked-cosine", "released:wmt22-comet-da"), "embedding"),
    **{"released:gpt-4.1-mini": "judge", "released:cls-new-gen": "classifier"},
    **{"likelihood-style:3b": "likelihood"},
}


def test_the_name_of_a_metric_tells_its_kind():
    assert {metric: plot.look(metric) for metric in KINDS} == KINDS


def test_no_figure_shows_a_zero_with_a_sign():
    frame = values().assign(value=-0.001)
    assert {text.get_text() for text in plot.heatmap(frame).texts} == {"0.00"}
    flat = pd.DataFrame({"score": [0, 1, 2, 3.0], "human": [1, -1, -1, 0.999]})
    assert panels(plot.scatter(flat))[0].get_title(loc="left").startswith("r = 0.00")


def test_a_heat_map_has_a_number_in_each_cell_and_sentinels_below_a_rule():
    axis = plot.heatmap(values())
    assert shown(axis) == ["bleu", "chrf", "random", "human-style"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["mir", "lai"]
    texts = [text.get_text() for text in axis.texts]
    assert texts == ["0.40", "0.30", "0.50", "0.20", "0.00", "0.10", "−0.20", "0.60"]
    assert [line.get_ydata()[0] for line in axis.lines] == [2]
    mesh = axis.collections[0]
    assert mesh.get_clim() == (-1, 1)
    assert same_color(mesh.cmap(0.0), plot.ORANGE)
    assert same_color(mesh.cmap(1.0), plot.BLUE)
    gap = plot.heatmap(values().drop(index=1))  # bleu on mir
    assert [text.get_text() for text in gap.texts].count("–") == 1


def test_a_forest_stands_best_first_with_sentinels_below():
    mir, lai = panels(plot.forest(values(), label="Pearson's r"))
    assert [mir.get_title(loc="left"), lai.get_title(loc="left")] == ["mir", "lai"]
    assert shown(mir) == ["chrf", "bleu", "random", "human-style"]
    assert shown(lai) == ["bleu", "chrf", "human-style", "random"]
    rows = [(0.5, plot.BLUE), (0.4, plot.BLUE), (0.0, plot.GREY), (-0.2, plot.ORANGE)]
    assert points(mir) == dict(enumerate(rows))
    assert mir.get_xlabel() == "Pearson's r"


def test_a_forest_shows_the_human_ceiling_of_its_own_data_set_only():
    ceiling = pd.DataFrame(
        {"dataset": ["lai", "mir"], "value": [0.8, np.nan], "low": [0.7, 0.0], "high": [0.9, 0.0]}
    )
    mir, lai = panels(plot.forest(values(), ceiling))
    assert [line.get_xdata()[0] for line in lai.lines if line.get_linewidth() == 1.6] == [0.8]
    (shade,) = lai.patches
    assert (shade.get_x(), round(shade.get_x() + shade.get_width(), 9)) == (0.7, 0.9)
    assert not mir.patches
    words = [text.get_text() for text in lai.figure.legends[0].texts]
    assert words == ["lexical", "sentinel", "human", "human ceiling"]


def test_a_bump_chart_draws_ranks_with_sentinels_dashed():
    axis = plot.bump(values())
    ranks = {"chrf": [1, 3], "bleu": [2, 2], "random": [3, 4], "human-style": [4, 1]}
    assert {line.get_label(): list(line.get_ydata()) for line in axis.lines} == ranks
    dashed = {line.get_label() for line in axis.lines if line.get_linestyle() == "--"}
    assert {"random", "human-style"} <= dashed
    assert [label.get_text() for label in axis.get_xticklabels()] == ["mir", "lai"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the best on top
    frame = values()
    frame.loc[1, "value"] = np.nan  # bleu on mir
    assert {line.get_label() for line in plot.bump(frame).lines} == {*NAMES} - {"bleu"}


def cloud(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    score = rng.normal(size=60)
    human = np.clip(np.round(score + rng.normal(size=60)) + 3, 1, 5)
    groups = {"task": np.repeat(["a", "b", "c"], 20), "kind": ["x", "y"] * 30}
    return pd.DataFrame({"score": score, "human": human, **groups})


def offsets(axis) -> np.ndarray:
    return np.concatenate([group.get_offsets() for group in axis.collections])


def test_a_scatter_shows_every_rewrite_with_r_and_n():
    frame = cloud()
    frame.loc[0, "score"] = np.nan
    (axis,) = panels(plot.scatter(frame))
    assert offsets(axis).shape == (59, 2)
    r = frame["score"].corr(frame["human"])
    assert axis.get_title(loc="left") == f"r = {r:.2f}, n = 59"

    frame = cloud()
    x, y = offsets(panels(plot.scatter(frame))[0]).T
    np.testing.assert_array_equal(x, frame["score"])  # only tied values are moved
    assert 0 < np.abs(y - frame["human"]).max() <= 0.012 * 4
    assert len(np.unique(y)) == 60


def test_a_scatter_has_a_panel_for_each_value_and_a_marker_for_each_hue():
    figure = plot.scatter(cloud(), by="task", hue="kind")
    assert len(panels(figure)) == 3
    assert [len(group.get_offsets()) for group in panels(figure)[0].collections] == [10, 10]
    assert [text.get_text() for text in figure.legends[0].texts] == ["x", "y"]
    markers = {group.get_paths()[0].vertices.shape for group in panels(figure)[0].collections}
    assert len(markers) == 2


def tokens() -> pd.DataFrame:
    words = {"token": ["<script>", " b", "⟨end⟩"], "best": ["style", "style", "repeat"]}
    p = {
        "style": [0.9, 0.0005, 0.5],
        "paraphrase": [0.1, 0.0001, 0.5],
        "repeat": [0.1, 0.0001, 0.9],
    }
    logs = np.log(pd.DataFrame(p).assign(content=[0.9, 0.0005, np.nan]))
    return logs.assign(item_id="one", **words)


def test_no_text_of_a_strip_is_read_as_html():
    page = plot.strip(tokens(), {"one": "<b>"}).data
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") == 2  # in the line and in the table
    assert "<b>&lt;b&gt;</b>" in page


def test_a_strip_shades_tokens_by_probability_and_says_their_numbers():
    page, shade = plot.strip(tokens()).data, list(plot._SHADES)
    line = page.partition("<details>")[0]
    shades = [part[:7] for part in line.split("background:")[1:]]
    assert shades[:3] == [shade[0], shade[4], shade[0]]
    assert f"C = −{abs(np.nanmean(tokens()['content'])):.3f}" in line
    assert "-7.60" in page
    assert re.findall("<sub>(.)</sub>", line) == ["s", "s", "r"]
    page = plot.strip(tokens().assign(marked=[True, False, False], lead=0.25)).data
    assert page.count("outline:") == 1
    assert "S = 0.250" in page
    both = plot.strip(pd.concat([tokens(), tokens().assign(item_id="two")])).data
    assert both.index("<b>one</b>") < both.index("<b>two</b>")
