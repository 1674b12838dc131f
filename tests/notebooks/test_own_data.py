"""A page on a file of one's own shows no printed number, and every page says what it rests on."""

import ast

import nbformat
import pandas as pd
import pytest

import tstmeta as tst
from tests.notebooks.cells import NOTEBOOKS, cells
from tstmeta.ledger import beside, of_the_book
from tstmeta.notebook import parameters

PAGES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
OF_ANY_DATA = [name for name in PAGES if "dataset" in parameters(NOTEBOOKS / f"{name}.ipynb")]


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [c for c in every if getattr(c.func, "attr", getattr(c.func, "id", "")) == name]


@pytest.mark.parametrize("name", OF_ANY_DATA)
def test_a_page_that_takes_a_file_shows_printed_tables_through_of_the_book_alone(name):
    tree = ast.parse("\n".join(cells(name)))
    guarded = [node for call in calls(tree, "of_the_book") for node in ast.walk(call)]
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
    assert of_the_book(table, dataset) is table


@pytest.mark.parametrize("dataset", ["mine.csv", "folder/mir.csv", "/tmp/some@where.jsonl"])
def test_a_file_of_ones_own_has_a_line_instead(dataset):
    [line] = of_the_book(pd.DataFrame({"a": [0.25]}), dataset).data.splitlines()
    assert line == f"*Left out: the printed numbers are of other data than `{dataset}`.*"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_on_top_which_data_it_rests_on(name):
    page = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    tagged = [at for at, c in enumerate(page) if "setup" in c.metadata.get("tags", [])]
    top = page[: next(at for at in range(tagged[0], len(page)) if page[at].cell_type == "markdown")]
    top += page[len(top) :][: 9 if name == "13_references" else 0]  # it joins two sets first
    assert any("tst.about(" in cell.source or "**Data** `" in cell.source for cell in top)


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
