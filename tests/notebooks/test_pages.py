"""What pages say of their data: a line on top, and printed tables beside ours."""

import pandas as pd
import pytest

import tstmeta as tst
from tstmeta.ledger import beside, show_published


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
    built = "The labels of `contrast` hold by construction, and nobody rated it."
    bare = tst.about([contrast])
    assert bare.startswith("**This page was built without human ratings**")
    assert "tstmeta data fetch --all" in bare
    assert built in bare
    assert "not yours" not in bare
    said = tst.about([mine, contrast])
    assert said.startswith("**This page was built with real human ratings**: `mine`. ")
    assert built in said
    assert "a set or table it names is not yours" in said
    (tmp_path / "bare.csv").write_text("source,output\na b,a\nc d,c\n")
    assert "construction" not in tst.about([tst.load(str(tmp_path / "bare.csv"))])
