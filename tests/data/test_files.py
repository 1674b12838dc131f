"""The readers, checks and table builders that loaders and files of one's own share."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta import schema
from tstmeta.data import files, raw, tables
from tstmeta.schema import DataError, Status

#: Any text that can be encoded; a byte order mark is dropped.
CELL = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufeff\0"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\n\n", ["a", ""]),
        (b"\na\r\nb\rc", ["", "a", "b\rc"]),
        ("a\u2028b\u0085c\x0bd\n".encode(), ["a\u2028b\u0085c\x0bd"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path, content, expected):
    path = tmp_path / "lines"
    path.write_bytes(content)
    assert raw.read_lines(path) == expected


def test_tabs_are_not_quotes(write):
    table = raw.read_tabs(write('a\t"b\n\t\n'), ("x", "y"))
    assert table.to_numpy().tolist() == [["a", '"b'], ["", ""]]


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1))
def test_csv_cells_come_back_as_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "f.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("x", "y"), *rows])
    path.write_bytes(text.getvalue().encode())
    assert list(files.read_csv(path, ["x"]).itertuples(index=False, name=None)) == rows


def test_a_repeated_key_is_not_quoted(write):
    path = write("item,who\ni,made-up-name\nj,made-up-name\ni,made-up-name\n")
    with pytest.raises(DataError, match="duplicate row") as caught:
        files.read_csv(path, unique=["item", "who"])
    assert [problem.row for problem in caught.value.problems] == [1, 3]
    assert "made-up-name" not in str(caught.value)


def test_a_header_alone_is_a_table_without_rows(write):
    path = write("x,y\n\r\n")
    table = files.read_csv(path, ["x", "y"])
    assert (list(table), len(table)) == (["x", "y"], 0)
    [part] = files.parts_of(str(path), 2)
    assert (list(part.table), len(part.table)) == (["x", "y"], 0)


def test_an_empty_file_of_a_folder_is_passed_over(write, tmp_path):
    for name, content in {"a": "", "b": "x\n1\n", "c": "\ufeff"}.items():
        write(content, f"{name}.csv")
    [part] = files.parts_of(str(tmp_path), 10)
    assert part.table["x"].tolist() == ["1"]


HELD = {"n": schema.numeric(1, 5, integer=True), "mean": schema.numeric(optional=True)}


def test_held_columns_become_numbers(write):
    table = files.read_csv(write("n,mean,more\n 5 ,,1\n1,-1e3,\n"), HELD)
    assert table["n"].tolist() == [5.0, 1.0]
    assert math.isnan(table["mean"][0])
    assert table["mean"][1] == -1000
    assert table["more"].tolist() == ["1", ""]


@pytest.mark.parametrize(
    ("rows", "row", "column", "what", "remedy"),
    [
        ("1,2\n6,2", 2, "n", "bad value '6'", "use a whole number from 1 to 5"),
        ("1.5,2", 1, "n", "bad value '1.5'", "use a whole number from 1 to 5"),
        ('1,"1,5"', 1, "mean", "bad value '1,5'", "use a finite number, or leave the cell empty"),
    ],
)
def test_a_cell_that_does_not_pass_is_reported(write, rows, row, column, what, remedy):
    with pytest.raises(DataError) as caught:
        files.read_csv(write(f"n,mean\n{rows}\n"), HELD)
    [problem] = caught.value.problems
    assert (problem.row, problem.column, problem.what) == (row, column, what)
    assert problem.remedy == remedy


@pytest.mark.parametrize(
    "value", ["", "x", "nan", "inf", "-inf", None, "1,5", "1_0", True, [1], 10**400]
)
def test_what_is_no_finite_number_is_none(value):
    assert not math.isfinite(schema.number(value))


def test_a_released_score_without_value_is_invalid():
    facts = {"metric": "released:m", "dimension": "content", "basis": "source"}
    scores = tables.scores_table("d", ["a", "b"], [0.5, np.nan], **facts, fields={"from": "x"})
    schema.validate(scores, "scores")
    assert scores["signature"].unique().tolist() == ["released:m|basis:source|from:x"]
    assert scores["status"].tolist() == [Status.OK, Status.INVALID]
    assert scores["detail"].tolist() == ["", "no value was released"]
