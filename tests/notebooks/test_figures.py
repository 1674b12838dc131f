"""Names in figures hide no other name, and no line is told by its colour alone."""

import itertools
import re
import warnings

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from tests.notebooks.cells import NOTEBOOKS, cells

#: A page, and what stands in the cell that draws.
PICTURES = [
    ("lesson_4_confound_dial", "names keep their distance"),
    ("11_cost", "def named("),
    pytest.param(("lesson_5_how_many", "over_systems.plot("), marks=pytest.mark.nightly),
    pytest.param(("03_system_ranking", "text.xyann"), marks=pytest.mark.nightly),
]


@pytest.fixture
def figure(request, tmp_path, monkeypatch):
    """The figure of a page's cell, drawn without data."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    name, words = request.param
    space: dict = {"__name__": "notebook"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in cells(name):
            exec(compile(source, name, "exec"), space)
            if words in source:
                break
    yield plt.gcf()
    plt.close("all")


@pytest.mark.parametrize("figure", PICTURES, indirect=True, ids=str)
def test_no_name_in_a_figure_hides_another(figure):
    figure.draw_without_rendering()
    named = [text for axis in figure.axes for text in axis.texts if text.get_text()]
    assert named
    for one, other in itertools.combinations(named, 2):
        boxes = [text.get_window_extent().shrunk(0.95, 0.9) for text in (one, other)]
        assert not boxes[0].overlaps(boxes[1]), (one.get_text(), other.get_text())
    for text in named:
        assert figure.bbox.contains(*text.get_window_extent().p0), text.get_text()
        assert figure.bbox.contains(*text.get_window_extent().p1), text.get_text()


@pytest.mark.parametrize("figure", PICTURES[::2], indirect=True, ids=str)
def test_lines_differ_in_more_than_their_colour(figure):
    [axis] = figure.axes
    looks = [(line.get_marker(), line.get_linestyle(), line.get_markevery()) for line in axis.lines]
    looks = [look for look in looks if look[0] not in ("", "None")]
    assert len(looks) > 3
    assert len(set(map(str, looks))) == len(looks)


#: What a page would give a colour by itself.
OWN_COLOURS = re.compile(r"#[0-9A-Fa-f]{6}\b|tab:|colorblind|[\"']C\d|\"C\{")


@pytest.mark.parametrize("name", sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_page_takes_its_colours_from_the_one_palette(name):
    for source in cells(name):
        assert not OWN_COLOURS.search(source), source
        if "DIVERGING" in source:  # of correlations, with one centre and one range
            assert re.search(r"vmin=-1,\s+vmax=1,", source), source
