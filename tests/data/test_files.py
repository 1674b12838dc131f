"""The strict readers and table builders that all loaders share."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.raw import write
from tstmeta import schema
from tstmeta.data import files
from tstmeta.schema import DataError, Status

#: Any text that can be encoded; \r and \n end lines and a byte order mark is dropped.
LINE = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n\ufeff"))
CELL = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufeff\0"))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\na", ["", "a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        ("a\u2028b\u0085c\x0bd\n".encode(), ["a\u2028b\u0085c\x0bd"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("שלום 👍\n".encode(), ["שלום 👍"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path: Path, raw: bytes, expected: list[str]) -> None:
    path = tmp_path / "lines"
    path.write_bytes(raw)
    assert files.read_lines(path) == expected


@given(lines=st.lists(LINE))
def test_lines_come_back_as_written(tmp_path_factory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "lines"
    write(path, lines)
    assert files.read_lines(path, len(lines)) == lines


def test_other_encodings_are_named_by_the_caller(tmp_path: Path) -> None:
    write(tmp_path / "f", ["a décor"], "gb18030")
    assert files.read_lines(tmp_path / "f", encoding="gb18030") == ["a décor"]
    with pytest.raises(DataError, match=r"row 1: not UTF-8 text \(byte 0xa8 at offset 3\)"):
        files.read_lines(tmp_path / "f")


def test_broken_text_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"good\ngood\nb\xffd\n")
    with pytest.raises(DataError, match="row 3: not UTF-8"):
        files.read_lines(tmp_path / "f")


def test_all_missing_files_are_listed(tmp_path: Path) -> None:
    write(tmp_path / "here", ["x"])
    with pytest.raises(DataError) as caught:
        files.present(tmp_path, ["here", "gone", "lost"])
    assert [Path(problem.file).name for problem in caught.value.problems] == ["gone", "lost"]


def test_aligned_files_need_one_length(tmp_path: Path) -> None:
    for name, lines in {"a": ["1", "2"], "b": ["3", "4"], "c": ["5"]}.items():
        write(tmp_path / name, lines)
    paths = {name: tmp_path / name for name in "ab"}
    assert files.read_aligned(paths) == {"a": ["1", "2"], "b": ["3", "4"]}
    assert files.read_aligned({}) == {}
    with pytest.raises(DataError, match=r"c: 1 lines where 2 are needed, as in .*a"):
        files.read_aligned({**paths, "c": tmp_path / "c"})
    with pytest.raises(DataError) as caught:
        files.read_aligned(paths, 3)
    assert len(caught.value.problems) == 2


def test_tabs_are_not_quotes(tmp_path: Path) -> None:
    write(tmp_path / "f", ['a\t"b', "\t"])
    table = files.read_tabs(tmp_path / "f", ("x", "y"))
    assert table.to_numpy().tolist() == [["a", '"b'], ["", ""]]
    with pytest.raises(DataError, match="row 1: 2 fields where 3 are needed"):
        files.read_tabs(tmp_path / "f", ("x", "y", "z"))


@given(rows=st.lists(st.tuples(CELL, CELL)))
def test_csv_cells_come_back_as_written(tmp_path_factory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "f.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("x", "y"), *rows])
    path.write_bytes(text.getvalue().encode())
    table = files.read_csv(path, ["x"])
    assert list(table.itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not even a header"),
        ("x,x\n1,2\n", "row 0, column x: the column comes twice"),
        ("x\n1\n", "row 0, column y: missing column"),
        ("x,y\n1,2\n3\n", "row 2: 1 cells where the header has 2"),
        ("x,y\n1,2,3\n", "row 1: 3 cells where the header has 2"),
        ('x,y\n1,"2\n', "row 1: broken CSV"),
        ('x,y\n1,2\n3,"4"5\n', "row 2: broken CSV"),
    ],
)
def test_a_broken_csv_names_its_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        files.read_csv(tmp_path / "f.csv", ["x", "y"])


def test_a_csv_row_may_end_early_only_where_that_is_allowed(tmp_path: Path) -> None:
    write(tmp_path / "f.csv", ["x,y,z", "1,2"])
    assert files.read_csv(tmp_path / "f.csv", may_lack=1).to_numpy().tolist() == [["1", "2", ""]]
    with pytest.raises(DataError, match="2 cells"):
        files.read_csv(tmp_path / "f.csv")


def test_an_empty_csv_cell_is_an_empty_text_and_na_is_a_word(tmp_path: Path) -> None:
    write(tmp_path / "f.csv", ["x,y", ",NA"])
    assert files.read_csv(tmp_path / "f.csv").to_numpy().tolist() == [["", "NA"]]


def test_json_lines_are_objects_with_the_keys(tmp_path: Path) -> None:
    write(tmp_path / "f", ['{"a": 1}', '{"b": 2}', "[]", "{", ""])
    with pytest.raises(DataError) as caught:
        files.read_json_lines(tmp_path / "f", ["a"])
    found = [(problem.row, problem.what) for problem in caught.value.problems]
    assert found[:2] == [(2, "missing key"), (3, "not a JSON object")]
    assert [row for row, _ in found[2:]] == [4, 5]
    write(tmp_path / "f", ['{"a": "é"}'])
    assert files.read_json_lines(tmp_path / "f", ["a"], 1) == [{"a": "é"}]


def test_broken_json_names_its_line(tmp_path: Path) -> None:
    write(tmp_path / "f", ["{", '"a": }'])
    with pytest.raises(DataError, match="row 2: not JSON"):
        files.read_json(tmp_path / "f")
    write(tmp_path / "f", ["[1, 2]"])
    assert files.read_json(tmp_path / "f") == [1, 2]


@pytest.mark.parametrize(
    "value", ["", "x", "nan", "inf", "-inf", None, "1,5", "0.99", "5.01", "1 2"]
)
def test_what_is_no_number_of_the_scale_is_reported(value: object) -> None:
    with pytest.raises(DataError, match=r"f, row 2, column c: .* is not a number from 1 to 5"):
        files.numbers([1, value, 5], "f", "c", 1, 5)


def test_numbers_keep_order_and_bounds() -> None:
    assert files.numbers(["1", " 5 ", 2.5], "f", "c", 1, 5).tolist() == [1.0, 5.0, 2.5]
    assert files.numbers([], "f", "c").shape == (0,)
    with pytest.raises(DataError) as caught:
        files.numbers(["a", 1, math.nan], "f", "c")
    assert [problem.row for problem in caught.value.problems] == [1, 3]


def test_values_outside_a_set_and_repeats_are_reported() -> None:
    files.one_of(["a", "b", "a"], "ab", "f", "c")
    files.unique(["a", "b"], "f", "c")
    with pytest.raises(DataError, match="row 2, column c: 'x' is none of 'a', 'b'"):
        files.one_of(["a", "x"], "ab", "f", "c")
    with pytest.raises(DataError, match="row 3, column c: 'a' is already in row 1"):
        files.unique(["a", "b", "a"], "f", "c")


def test_differences_are_reported_without_the_texts() -> None:
    files.same(["a"], ["a"], "f", "c", "g")
    with pytest.raises(DataError) as caught:
        files.same(["a", "secret"], ["a", "b", "c"], "f", "c", "g")
    assert [problem.row for problem in caught.value.problems] == [2, None]
    assert "secret" not in str(caught.value)


def test_raters_are_named_by_first_appearance() -> None:
    assert files.rater_names(["z", "a", "z", "m"]) == {"z": "r1", "a": "r2", "m": "r3"}
    assert files.rater_names([]) == {}


def test_items_get_their_defaults_and_every_row_its_own_list() -> None:
    items = files.items_table("d", item_id=["a", "b"], source_id=["s", "s"], system="x")
    schema.validate(items, "items")
    assert items.loc[1, ["system", "language", "output"]].tolist() == ["x", "en", ""]
    items["references"][0].append("only here")
    assert items["references"].tolist() == [["only here"], []]
    with pytest.raises(TypeError, match="sytem"):
        files.items_table("d", item_id=["a"], sytem="x")


def test_ratings_go_item_by_item_and_leave_out_what_is_not_rated() -> None:
    values = {("style", "r1"): [1, np.nan], ("content", "mean"): [3.0, 4.0]}
    ratings = files.ratings_table("d", ["a", "b"], values)
    schema.validate(ratings, "ratings")
    assert ratings.drop(columns="dataset").to_numpy().tolist() == [
        ["a", "style", "r1", 1.0],
        ["a", "content", "mean", 3.0],
        ["b", "content", "mean", 4.0],
    ]


def test_an_empty_label_is_no_label() -> None:
    labels = files.labels_table("d", ["a", "b"], error=["none", ""], n=[1, 2])
    schema.validate(labels, "labels")
    assert labels[["item_id", "name", "value"]].to_numpy().tolist() == [
        ["a", "error", "none"],
        ["a", "n", "1"],
        ["b", "n", "2"],
    ]
    schema.validate(files.labels_table("d", [], error=[]), "labels")


def test_a_released_score_without_value_is_invalid() -> None:
    scores = files.scores_table(
        "d",
        ["a", "b"],
        [0.5, np.nan],
        metric="released:m",
        dimension="content",
        basis="source",
        fields={"from": "x"},
    )
    schema.validate(scores, "scores")
    assert scores["signature"].unique().tolist() == ["released:m|basis:source|from:x"]
    assert scores["status"].tolist() == [Status.OK, Status.INVALID]
    assert scores["detail"].tolist() == ["", "no value was released"]


def test_a_csv_that_is_no_file_of_its_own_comes_as_text() -> None:
    path = Path("archive.tar.gz", "a.csv")
    assert files.read_csv(path, ["x"], text='x\n"a\nb"\n')["x"].tolist() == ["a\nb"]
    with pytest.raises(DataError, match=r"a\.csv.*column y: missing column"):
        files.read_csv(path, ["y"], text="x\n1\n")


def test_repeated_keys_of_persons_are_not_quoted() -> None:
    with pytest.raises(
        DataError, match="row 2, column who: the same is already in row 1"
    ) as caught:
        files.unique([("i", "made-up-name")] * 2, "f.csv", "who", private=True)
    assert "made-up-name" not in str(caught.value)


def test_rows_with_one_key_must_agree() -> None:
    table = pd.DataFrame({"key": ["a", "b", "a", "a"], "text": ["x", "y", "x", "z"]})
    files.consistent(table[:3], ["key"], ["text"], "f.csv")
    files.consistent(table[:0], ["key"], ["text"], "f.csv")
    with pytest.raises(DataError) as caught:
        files.consistent(table, ["key"], ["text"], "f.csv")
    assert [problem.row for problem in caught.value.problems] == [4]
    assert "first row with this key" in str(caught.value)
