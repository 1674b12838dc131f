"""What every page keeps to: its data named on top, one list of metrics and one palette."""

import ast
import itertools
import warnings

import matplotlib as mpl
import pandas as pd
import pytest

import tstmeta as tst
from tests.notebooks.cells import NOTEBOOKS, cells
from tstmeta.ledger import beside, show_published
from tstmeta.notebook import parameters

mpl.use("Agg")

import matplotlib.pyplot as plt

PAGES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
OF_ANY_DATA = [name for name in PAGES if "dataset" in parameters(NOTEBOOKS / f"{name}.ipynb")]


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [c for c in every if getattr(c.func, "attr", getattr(c.func, "id", "")) == name]


@pytest.mark.parametrize("name", OF_ANY_DATA)
def test_a_page_that_takes_a_file_shows_printed_tables_through_one_function(name):
    tree = ast.parse("\n".join(cells(name)))
    guarded = [node for call in calls(tree, "show_published") for node in ast.walk(call)]
    names = {node.id for node in guarded if isinstance(node, ast.Name)}
    kept = {id(node) for node in guarded}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and names & {getattr(t, "id", "") for t in node.targets}:
            kept |= {id(call) for call in ast.walk(node)}
    shown = [ast.unparse(call) for call in calls(tree, "beside") if id(call) not in kept]
    assert shown == []


@pytest.mark.parametrize("dataset", ["auto", "mir", "lai@pauli2025"])
def test_data_of_the_book_have_their_printed_tables(dataset):
    table = beside(tst.published("pauli2025", "7"), "dataset", "item")
    assert show_published(table, dataset) is table


@pytest.mark.parametrize("dataset", ["mine.csv", "folder/mir.csv", "/tmp/some@where.jsonl"])
def test_a_file_of_ones_own_has_a_line_instead(dataset):
    [line] = show_published(pd.DataFrame({"a": [0.25]}), dataset).data.splitlines()
    assert line == f"*Left out: the printed numbers are of other data than `{dataset}`.*"


def test_what_a_page_rests_on_is_said_set_by_set(tmp_path):
    rows = "source,output,content.r1,content.r2\na b,a,1,2\nc d,c,3,4\n"
    (tmp_path / "mine.csv").write_text(rows)
    contrast, mine = tst.load("contrast"), tst.load(str(tmp_path / "mine.csv"))
    built = "`contrast`, constructed: the labels hold by construction, and nobody rated it."
    assert f"It was built on {built}" in tst.about([contrast])
    said = tst.about([mine, contrast])
    assert said.startswith("**This page was built with real human ratings**: `mine`. ")
    assert f"Beside them stands {built}" in said
    assert "a set or table it names is not yours" in said
    assert "not yours" not in tst.about([contrast])
    (tmp_path / "bare.csv").write_text("source,output\na b,a\nc d,c\n")
    assert "constructed" not in tst.about([tst.load(str(tmp_path / "bare.csv"))])


# ------------------------------------------------------------------------------------- figures

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
