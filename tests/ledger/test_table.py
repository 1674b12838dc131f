"""Printed tables beside ours: every number in its place, a mark, and nothing that acts."""

import math

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from tools.papers import listing
from tstmeta.ledger import beside, reproduce
from tstmeta.ledger.table import MARKS, cell_of
from tstmeta.schema import TstmetaError


@pytest.mark.parametrize(
    ("ours", "printed", "value", "status", "decimals", "shown"),
    [
        (0.4649, "0.46", 0.46, "match", 2, "<b>0.46</b> <i>(0.46)</i> ✓"),
        (0.2649526, "0.27", 0.27, "match", 2, "<b>0.265</b> <i>(0.27)</i> ✓"),  # rounded twice
        (-0.17, "-0.17", -0.17, "match", 2, "<b>−0.17</b> <i>(−0.17)</i> ✓"),
        (0.51, "0.50", 0.50, "differs", 2, "<b>0.51</b> <i>(0.50)</i> ✗"),
        (0.41, "0.43", 0.43, "misprint", 2, "<b>0.41</b> <i>(0.43)</i> †"),
        (11.5, "12", 12, "printed-only", 0, "<b>12</b> <i>(12)</i> ○"),
        (math.nan, "0.43*", 0.43, "needs a model", 2, "<i>(0.43*)</i>"),
    ],
)
def test_ours_stands_before_the_printed_number(ours, printed, value, status, decimals, shown):
    assert cell_of(ours, printed, value, status, decimals) == shown


def rows(**changes) -> pd.DataFrame:
    head = {"cell": "p.t1.a", "metric": ["A", "A", "B"], "dataset": ["x", "y", "x"], "n": 3}
    tail = {"printed": "0.50", "ours": 0.5, "value": 0.5, "decimals": 2, "status": "match"}
    return pd.DataFrame({**head, **tail, "reason": "", "signature": "s", **changes})


def test_a_table_has_a_row_and_a_column_for_each_name_in_order():
    grid = beside(rows(dataset=["y", "x", "y"])).data
    assert (grid.index.tolist(), grid.columns.tolist()) == (["A", "B"], ["y", "x"])
    assert grid.loc["B"].tolist() == ["<b>0.50</b> <i>(0.50)</i> ✓", ""]


def test_the_page_of_a_table_is_bold_and_italic_and_names_its_marks():
    html = beside(rows(), caption="Table 1").to_html()
    assert "<b>0.50</b> <i>(0.50)</i> ✓" in html
    assert 'title="n = 3; match; ; s"' in html
    assert "tst-match" in html
    caption = html.partition("<caption>")[2].partition("</caption>")[0]
    assert caption.startswith("Table 1. ours (published)")
    assert all(mark in caption for mark, _ in MARKS.values())
    assert beside(rows(), caption="Table 1").to_html() == html


HARMLESS = {"style", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "i"}
HOSTILE = "<img src=x onerror='alert(1)'>\"</td>"


def test_texts_are_escaped_wherever_they_come_from():
    columns = ("metric", "dataset", "printed", "reason", "signature")
    frame = rows(**{name: [HOSTILE] for name in columns})
    for html in (beside(frame, caption=HOSTILE).to_html(), listing(frame).to_html()):
        assert {tag.name for tag in BeautifulSoup(html, "html.parser").find_all()} <= HARMLESS


def test_two_numbers_in_a_cell_are_refused():
    with pytest.raises(TstmetaError, match=r"p.t1.a.* from another cell"):
        beside(rows(dataset="x"))


def test_the_list_shows_every_cell_with_its_signature():
    own = reproduce("pang2019", "2")
    html = listing(own).to_html()
    assert html.count("<tr>") == 1 + len(own)
    for row in own.head(3).to_dict("records"):
        assert row["printed"] in html
        assert row["signature"].replace(">", "&gt;") in html
