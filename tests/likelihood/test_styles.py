"""How styles are worded: the table, the data sets' styles, wordings of one's own."""

from __future__ import annotations

import pytest

from tests.helpers import needs
from tstmeta import data
from tstmeta.likelihood import styles
from tstmeta.schema import DataError, TstmetaError

#: What the released program of Pauli et al. (2025) says instead of the data set's word.
REWORDED = {
    "appropriate": "appropriated",
    "layman": "understandable for layman",
    "expert": "addressed to an expert",
}
RAW = ("pauli", "lai", "mir", "alva", "scialom", "ziegen", "ziegen_editing", "cao", "lens")


def test_a_style_has_one_wording_whatever_the_data_set():
    pairs = {(row["style"], row["likelihood"]) for row in styles.table()}
    assert len(pairs) == len(styles.shipped())
    assert styles.shipped() == dict(pairs)


def test_styles_are_worded_as_the_released_program_words_them():
    found = styles.shipped()
    assert {style: word for style, word in found.items() if style != word} == REWORDED


def test_each_row_is_whole_and_stands_once():
    rows = styles.table()
    assert all(
        set(row) == {"dataset", "direction", "style", "likelihood", "origin"} for row in rows
    )
    assert all(row["dataset"] and row["style"] and row["likelihood"] for row in rows)
    assert {row["origin"] for row in rows} == {"published", "ours"}
    keys = [(row["dataset"], row["direction"], row["style"]) for row in rows]
    assert len(set(keys)) == len(keys)


def assert_worded(name: str) -> None:
    items = data.load(name).items
    listed = [row for row in styles.table() if row["dataset"] == name]
    for style, direction in set(zip(items["style"], items["direction"], strict=True)):
        assert any(
            row["style"] == style and row["direction"] in ("", direction) for row in listed
        ), f"{name}: {style!r} ({direction!r}) is not in styles.csv"
    unused = {row["style"] for row in listed} - set(items["style"])
    assert not unused, f"{name} has no style {unused}"


def test_every_style_of_the_contrast_set_is_in_the_table():
    assert_worded("contrast")


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in RAW])
def test_every_style_of_a_data_set_is_in_the_table(name):
    assert_worded(name)


def test_every_data_set_of_the_table_is_registered():
    assert {row["dataset"] for row in styles.table()} <= {*data.names(), "world"}


# --------------------------------------------------------------------------------- one's own


def test_wordings_of_ones_own_are_laid_over_the_shipped_ones(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text('\ufeffstyle,wording,note\nlayman,"plain, simple",x\npirate,like a pirate,\n')
    found = styles.read(path)
    assert found == {**styles.shipped(), "layman": "plain, simple", "pirate": "like a pirate"}
    assert styles.shipped()["layman"] == REWORDED["layman"]


FAULTS = {
    "empty": (b"", None, "style", "no such column", "the first line names the columns"),
    "no wording": (b"style,word\na,b\n", None, "wording", "no such column", "the first line"),
    "no row": (b"style,wording\n", None, "", "no row", "add a row for each style"),
    "no style": (b"style,wording\na,b\n ,b\n", 2, "", "missing style or wording", "fill in both"),
    "empty wording": (b"style,wording\na,\n", 1, "", "missing style or wording", "fill in both"),
    "too short": (b"style,wording\na\n", 1, "", "missing style or wording", "fill in both"),
    "twice": (b"style,wording\na,b\nc,d\na,e\n", 3, "style", "'a' again", "keep one row"),
    "no UTF-8": (b"style,wording\na,\xff\n", None, "", "no UTF-8 at byte 16", "save it as UTF-8"),
    "a cell without end": (
        b"style,wording\na," + b"x" * 140_000,
        None,
        "",
        "no CSV: field larger than field limit",
        "save it as CSV",
    ),
}


@pytest.mark.parametrize(
    ("content", "row", "column", "what", "remedy"), FAULTS.values(), ids=FAULTS
)
def test_a_fault_of_a_file_is_told_with_place_and_remedy(
    tmp_path, content, row, column, what, remedy
):
    path = tmp_path / "own.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as raised:
        styles.read(path)
    assert any(
        (problem.file, problem.row, problem.column) == (str(path), row, column)
        and what in problem.what
        and problem.remedy.startswith(remedy)
        for problem in raised.value.problems
    ), raised.value


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(TstmetaError, match=r"cannot read wordings from .*no\.csv: No such file"):
        styles.read(tmp_path / "no.csv")


# -------------------------------------------------------------------------------------- hash


def test_the_hash_knows_wordings_and_not_their_order():
    one = {"a": "b", "c": "d"}
    assert styles.hash_of(one) == styles.hash_of(dict(reversed(one.items()))) == "54a8bc65"
    others = [{"a": "b"}, {"a": "b", "c": "e"}, {"a": "bc", "": "d"}, {"a": "b\0c\1d"}, {}]
    assert len({styles.hash_of(other) for other in [one, *others]}) == len(others) + 1
