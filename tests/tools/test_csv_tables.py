"""Each table of a built page has a file and a link, and the page is else as it was."""

import io
import re
from pathlib import Path

import pandas as pd
import pytest

from tools import csv_tables
from tools.tables import table as of_pages
from tstmeta.console import from_inert

FRAME = pd.DataFrame(
    {"metric": ["bleu", "=1+1", "<i>&amp;"], "n": [1234567, -2, 0], "value": [0.25, -0.5, None]}
)
STYLED = '<style type="text/css">\n#T_1 td { color: red }\n</style>\n'
BOXES = {  # what stands before a table -> what stands before its link
    "": "",
    "<h2>Title</h2>\n": "<h2>Title</h2>\n",
    '<p>a</p><div class="tst-table" tabindex="0">': "<p>a</p>",
    f'<div class="cell"><div class="cell_output docutils container">\n'
    f'<div class="output text_html"><div>\n{STYLED}': '<div class="cell">',
    '<div class="sd-card"><div class="pst-scrollable-table-container">': '<div class="sd-card">',
}


def written(folder: Path, name: str, text: str) -> tuple[str, list[str]]:
    """The page after the step, and the addresses of its links as the page has them."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    csv_tables.write(folder)
    fresh = path.read_text(encoding="utf-8")
    return fresh, re.findall(r'<div class="tst-csv"><a href="(.*?)" download>CSV<span>', fresh)


@pytest.mark.parametrize(("before", "outside"), BOXES.items())
def test_the_link_stands_before_the_box_and_nothing_else_changes(tmp_path, before, outside):
    page = f"<body>{before}<table><tr><td>1</td></tr></table>\n<p>é &amp; <pre>&lt;table></pre>"
    fresh, links = written(tmp_path, "book/results/page.html", page)
    assert links == ["../../_tables/book/results/page-1.csv"]
    link = fresh[fresh.index('<div class="tst-csv">') :].partition("\n")[0] + "\n"
    assert fresh.replace(link, "") == page
    assert fresh.index(link) == len(f"<body>{outside}")
    assert (tmp_path / "book/results" / links[0]).read_text() == '""\n1\n'


def test_each_of_several_tables_has_its_link_whatever_stands_between(tmp_path):
    part = f'<div class="output"><div>{STYLED}<table><tr><td>1</td></tr></table></div></div>'
    page = f"{STYLED}<p>a figure</p>{part}<p>prose</p>{part}"
    fresh, links = written(tmp_path, "page.html", page)
    assert len(links) == 2
    places = [place.start() for place in re.finditer('<div class="tst-csv">|<table', fresh)]
    assert [fresh[place + 1] for place in places] == ["d", "t", "d", "t"]


def test_a_table_is_read_back_as_it_is_shown_with_plain_numbers_and_no_formula(tmp_path):
    _, links = written(tmp_path, "page.html", of_pages(FRAME) + of_pages(FRAME[:1]))
    assert links == ["_tables/page-1.csv", "_tables/page-2.csv"]
    text = (tmp_path / links[0]).read_text()
    assert text.splitlines()[2].startswith("'=1+1,")
    read = pd.read_csv(io.StringIO(text))
    pd.testing.assert_frame_equal(read.assign(metric=read["metric"].map(from_inert)), FRAME)
    assert len(pd.read_csv(tmp_path / links[1])) == 1


SPANS = """<table><thead><tr><th></th><th colspan="2">mir</th></tr>
<tr><th>metric</th><th>r</th><th>n<br>all</th></tr></thead>
<tbody><tr><th rowspan="2">bleu</th><td>−0.10</td><td>1,000 of 2,000</td></tr>
<tr><td>–</td><td>−1e−05</td></tr></tbody></table>"""


def test_spans_are_repeated_and_heads_joined():
    frame = csv_tables.frame(SPANS)
    assert list(frame) == ["metric", "mir r", "mir n all"]
    assert frame.to_numpy().tolist() == [
        ["bleu", "-0.10", "1,000 of 2,000"],
        ["bleu", "", "-1e-05"],
    ]


def test_an_index_and_files_of_the_theme_are_left_alone(tmp_path):
    index = '<table class="indextable genindextable"><tr><td>a</td></tr></table>'
    assert written(tmp_path, "genindex.html", index) == (index, [])
    assert written(tmp_path, "_static/frame.html", SPANS) == (SPANS, [])
    assert not (tmp_path / "_tables").exists()
