"""The strict readers, checks and table builders that all loaders share."""

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.raw import write
from tstmeta import schema
from tstmeta.data import checks, files, tables
from tstmeta.schema import DataError, Status

#: Any text that can be encoded; \r and \n end lines and a byte order mark is dropped.
LINE = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n\ufeff"))
CELL = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufeff\0"))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b"a\n\n", ["a", ""]),
        (b"\na\r\nb\rc", ["", "a", "b\rc"]),
        ("a\u2028b\u0085c\x0bd\n".encode(), ["a\u2028b\u0085c\x0bd"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path, raw, expected):
    path = tmp_path / "lines"
    path.write_bytes(raw)
    assert files.read_lines(path) == expected


def test_missing_files_and_other_numbers_of_lines_are_reported(tmp_path):
    write(tmp_path / "f", ["x"])
    with pytest.raises(DataError, match="f: 1 lines where 2 are needed"):
        files.read_lines(tmp_path / "f", 2)
    with pytest.raises(DataError, match=r"gone: the file is missing.*tstmeta data fetch"):
        files.read_lines(tmp_path / "gone")


def test_tabs_are_not_quotes(tmp_path):
    write(tmp_path / "f", ['a\t"b', "\t"])
    table = files.read_tabs(tmp_path / "f", ("x", "y"))
    assert table.to_numpy().tolist() == [["a", '"b'], ["", ""]]
    with pytest.raises(DataError, match="row 1: 2 fields where 3 are needed"):
        files.read_tabs(tmp_path / "f", ("x", "y", "z"))


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(CELL, CELL)))
def test_csv_cells_come_back_as_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "f.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("x", "y"), *rows])
    path.write_bytes(text.getvalue().encode())
    table = files.read_csv(path, ["x"])
    assert list(table.itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "row 0, column x: missing column"),
        ("x,x\n1,2\n", "row 0, column x: the column comes 2 times"),
        ("x\n1\n", "row 0, column y: missing column"),
        ("x,y\n1,2\n3\n", "row 2: 1 cells where the header has 2"),
        ('x,y\n1,2\n3,"4"5\n', "row 2: broken CSV"),
    ],
)
def test_a_broken_csv_names_its_row(text, message):
    with pytest.raises(DataError, match=message):
        files.read_csv(Path("f.csv"), ["x", "y"], text=text)


def test_csv_cells_are_texts_and_a_row_may_end_early_only_where_that_is_allowed():
    table = files.read_csv(Path("f.csv"), text="x,y,z\n,NA\n", may_lack=1)
    assert table.to_numpy().tolist() == [["", "NA", ""]]
    with pytest.raises(DataError, match="2 cells"):
        files.read_csv(Path("f.csv"), text="x,y,z\n1,2\n")


HELD = {
    "who": checks.FILLED,
    "what": checks.one_of(["a", "b"]),
    "n": checks.numeric(1, 5, whole=True),
    "mean": checks.numeric(optional=True),
}


def test_held_columns_become_numbers():
    text = "who,what,n,mean,more\nx,a, 5 ,,1\ny,b,1,-1e3,\n"
    table = files.read_csv(Path("f.csv"), HELD, text=text)
    assert table["n"].tolist() == [5.0, 1.0]
    assert math.isnan(table["mean"][0])
    assert table["mean"][1] == -1000
    assert table["more"].tolist() == ["1", ""]


@pytest.mark.parametrize(
    ("rows", "row", "column", "what"),
    [
        (" ,a,1,2", 1, "who", "missing value, fill it in or drop the row"),
        ("x,c,1,2", 1, "what", "bad value 'c', use one of a, b"),
        ("x,a,1,2\ny,a,6,2", 2, "n", "bad value '6', use a whole number from 1 to 5"),
        ("x,a,1.5,2", 1, "n", "bad value '1.5', use a whole number from 1 to 5"),
        ('x,a,1,"1,5"', 1, "mean", "bad value '1,5', use a finite number, or leave the cell empty"),
    ],
)
def test_a_cell_that_does_not_pass_is_reported(rows, row, column, what):
    with pytest.raises(DataError) as caught:
        files.read_csv(Path("f.csv"), HELD, text=f"who,what,n,mean\n{rows}\n")
    [problem] = caught.value.problems
    assert problem == checks.fault("f.csv", what, row, column)


def test_repeated_keys_are_reported_and_not_quoted():
    text = "item,who\ni,made-up-name\nj,made-up-name\ni,made-up-name\n"
    with pytest.raises(DataError, match="duplicate row") as caught:
        files.read_csv(Path("f.csv"), text=text, unique=["item", "who"])
    assert [problem.row for problem in caught.value.problems] == [1, 3]
    assert "made-up-name" not in str(caught.value)


def test_json_lines_are_objects_with_the_keys(tmp_path):
    write(tmp_path / "f", ['{"a": 1}', '{"b": 2}', "[]", "{", ""])
    with pytest.raises(DataError) as caught:
        files.read_json_lines(tmp_path / "f", ["a"])
    assert [problem.row for problem in caught.value.problems] == [2, 3, 4, 5]
    whats = [problem.what.partition(" (")[0] for problem in caught.value.problems]
    assert whats == ["missing key", "not a JSON object", "not JSON", "not JSON"]
    write(tmp_path / "f", ['{"a": "é"}'])
    assert files.read_json_lines(tmp_path / "f", ["a"], 1) == [{"a": "é"}]


@pytest.mark.parametrize(
    "value", ["", "x", "nan", "inf", "-inf", None, "1,5", "1_0", "0.99", "5.01", True, [1], 10**400]
)
def test_what_is_no_number_of_the_scale_is_reported(value):
    with pytest.raises(DataError, match=r"f, row 2, column c: .* use a finite number from 1 to 5"):
        checks.numbers([1, value, 5], "f", "c", 1, 5)


def test_a_released_score_without_value_is_invalid():
    facts = {"metric": "released:m", "dimension": "content", "basis": "source"}
    scores = tables.scores_table("d", ["a", "b"], [0.5, np.nan], **facts, fields={"from": "x"})
    schema.validate(scores, "scores")
    assert scores["signature"].unique().tolist() == ["released:m|basis:source|from:x"]
    assert scores["status"].tolist() == [Status.OK, Status.INVALID]
    assert scores["detail"].tolist() == ["", "no value was released"]
