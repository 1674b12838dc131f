"""The five tables: what passes, what is refused and with which report; signatures and statuses."""

import hashlib
import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta import schema
from tstmeta.schema import DataError, Problem, Signature, Status, validate

NAN = math.nan
TABLES = ("items", "ratings", "labels", "preferences", "scores")


def frame(table: str, **columns) -> pd.DataFrame:
    """Two good rows of a table, with some columns changed."""
    good: dict[str, dict[str, object]] = {
        "items": {
            **{"source_id": ["s1", "s1"], "system": "A", "style": "formal", "direction": ""},
            **{"language": "en", "source": "hi there", "output": ["good day", ""]},
            "references": [["hello", "good day"], []],
            "is_reference": [False, True],
        },
        "ratings": {"dimension": "style", "rater": "r1", "value": [1.0, 4.5]},
        "labels": {"name": "shift", "value": ["strong", ""]},
        "preferences": {"dimension": "content", "rater": "r1", "value": ["a", "tie"]},
        "scores": {
            **{"metric": "bleu", "dimension": "content", "basis": "source"},
            **{"signature": "bleu|basis:source", "sample": 0, "value": [0.5, NAN]},
            **{"status": ["ok", "error"], "detail": ["", "ValueError: no"]},
        },
    }
    ids = {"item_a": ["1", "2"], "item_b": ["3", "3"]}
    ids = ids if table == "preferences" else {"item_id": ["1", "2"]}
    return pd.DataFrame({"dataset": ["d", "d"], **ids, **good[table], **columns})


def problems(given: pd.DataFrame, table: str) -> list[tuple]:
    with pytest.raises(DataError) as raised:
        validate(given, table, "mine.csv")
    actual = raised.value.problems
    assert {problem.file for problem in actual} == {"mine.csv"}
    return [(problem.row, problem.column, problem.what, problem.remedy) for problem in actual]


# ------------------------------------------------------------------------------- what passes


@pytest.mark.parametrize("table", TABLES)
def test_a_table_without_rows_passes_with_the_right_types(table):
    nothing = validate(pd.DataFrame({name: [] for name in schema.columns(table)}), table)
    assert list(nothing.columns) == schema.columns(table)
    pd.testing.assert_frame_equal(nothing, schema.empty(table))
    assert nothing.dtypes.to_dict() == validate(frame(table), table).dtypes.to_dict()


@pytest.mark.parametrize("table", TABLES)
def test_columns_may_come_in_any_order_and_the_index_is_made_anew(table):
    given = frame(table)
    turned = given[list(given.columns[::-1])].set_index(pd.Index([7, 3]))
    copy = turned.copy()
    pd.testing.assert_frame_equal(validate(turned, table), given)
    pd.testing.assert_frame_equal(turned, copy)


# ------------------------------------------------------------------------------ what does not

WHOLE = "use whole numbers"
FILL, TEXT, TRUTH = "fill it in or drop the row", "use a list of texts", "use True and False"
DIMENSION = "use one of content, style, fluency, overall, structure, overcorrection"
ONCE = "keep one row for each combination of these columns"

#: table, column and its two cells, then the report: row, what, remedy
ONE_FAULT = {
    "a blank id": ("items", "item_id", [" ", "2"], 1, "missing value", FILL),
    "a text for a list": ("items", "references", [["a"], "b"], 2, "bad value 'b'", TEXT),
    "an array": ("items", "references", [np.array([1]), []], 1, "bad value [1]", TEXT),
    "yes and no": ("items", "is_reference", ["yes", "no"], None, "values of type str", TRUTH),
    "another dimension": ("ratings", "dimension", ["style", "x"], 2, "bad value 'x'", DIMENSION),
    "no rating": ("ratings", "value", [1, NAN], 2, "missing value", FILL),
    "infinity": ("ratings", "value", [-math.inf, 1], 1, "bad value -inf", "use a finite number"),
    "a word for a rating": ("ratings", "value", [1, "good"], 2, "bad value 'good'", "use numbers"),
    "another status": (
        *("scores", "status", ["ok", "fine"]),
        *(2, "bad value 'fine'", "use one of ok, empty, truncated, refused, invalid, error"),
    ),
    "half a sample": ("scores", "sample", [0.5, 1], None, "values of type float64", WHOLE),
}


@pytest.mark.parametrize(
    ("table", "column", "cells", "row", "what", "remedy"), ONE_FAULT.values(), ids=ONE_FAULT
)
def test_one_fault_gives_one_problem(table, column, cells, row, what, remedy):
    assert problems(frame(table, **{column: cells}), table) == [(row, column, what, remedy)]


@pytest.mark.parametrize("table", TABLES)
def test_every_missing_column_is_named(table):
    for column in schema.columns(table):
        [problem] = problems(frame(table).drop(columns=column), table)
        assert problem[:3] == (None, column, "missing column")
        assert ", ".join(schema.columns(table)) in problem[3]
    assert [problem[1] for problem in problems(pd.DataFrame(), table)] == schema.columns(table)


def test_equal_rows_are_named():
    expected = [(row, "dataset, item_id, name", "duplicate row", ONCE) for row in (1, 2)]
    assert problems(frame("labels").assign(item_id="1"), "labels") == expected


def test_all_faults_are_listed_columns_first_then_by_row():
    given = frame("ratings", dimension=["mood", "style"], rater=["r1", ""], value=[1, NAN])
    assert [problem[:3] for problem in problems(given.assign(extra=1), "ratings")] == [
        (None, "extra", "unknown column"),
        (1, "dimension", "bad value 'mood'"),
        (2, "rater", "missing value"),
        (2, "value", "missing value"),
    ]


# ------------------------------------------------------------------------------------- reports


def test_a_report_counts_its_problems_and_stops_at_forty():
    first = Problem("a.csv", "no number", 3, "value", "write one")
    assert str(DataError([first])) == (
        "1 problem found:\na.csv, row 3, column value: no number. Remedy: write one."
    )
    many = DataError(first._replace(row=row) for row in range(45))
    assert len(many.problems) == 45
    assert str(many).startswith("45 problems found:\n")
    assert str(many).splitlines()[-2:] == [
        "a.csv, row 39, column value: no number. Remedy: write one.",
        "... and 5 more",
    ]


# --------------------------------------------------------------------------- signature, status


@pytest.mark.parametrize(
    ("name", "fields", "printed"),
    [
        ("x", {}, "x"),
        ("x", {"n": 4, "f": 0.5, "b": True, "none": None}, "x|n:4|f:0.5|b:True|none:None"),
        ("x", {"a": "p|q", "b": "p\nq", "c": "p:q", "d": ""}, "x|a:p_q|b:p_q|c:p:q|d:"),
        ("x:variant", {"é": "ü😀"}, "x:variant|é:ü😀"),
    ],
)
def test_a_signature_prints_its_fields_in_order(name, fields, printed):
    signature = Signature.of(name, fields)
    assert str(signature) == printed
    assert signature.hash == hashlib.sha256(printed.encode()).hexdigest()[:16]
    assert Signature.of("bleu", {"basis": "source"}).hash == "25223b200d92c4c0"


# ---------------------------------------------------------------------------------- properties

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
#: What a column holds in whatever table; the others hold names.
KINDS = {
    **dict.fromkeys(("system", "style", "source", "output", "detail"), st.text(max_size=12)),
    "references": st.lists(st.text(max_size=12), max_size=3),
    **{"is_reference": st.booleans(), "sample": st.integers(0, 9)},
    **{"dimension": st.sampled_from(schema.DIMENSIONS), "basis": st.sampled_from(schema.BASES)},
    "status": st.sampled_from([str(status) for status in Status]),
}
VALUES = {
    **{"ratings": NUMBER, "labels": st.text(max_size=12)},
    **{"preferences": st.sampled_from(["a", "b", "tie"])},
    "scores": st.one_of(NUMBER, st.just(NAN)),
}


def cells(table: str) -> dict[str, st.SearchStrategy]:
    kinds = {**KINDS, "value": VALUES.get(table)}
    name = st.text(max_size=8).map("n{}".format)
    return {column: kinds.get(column, name) for column in schema.columns(table)}


def rows(table: str) -> st.SearchStrategy[pd.DataFrame]:
    """Any valid table of up to six rows."""
    key = schema.UNIQUE.get(table)
    lists = st.lists(
        st.fixed_dictionaries(cells(table)),
        min_size=1,
        max_size=6,
        unique_by=(lambda row: tuple(row[name] for name in key)) if key else id,
    )
    return lists.map(lambda records: pd.DataFrame(records)[schema.columns(table)])


@settings(max_examples=50)
@given(table=st.sampled_from(TABLES), data=st.data())
def test_any_valid_table_passes_and_comes_back_from_parquet_as_it_was(table, data):
    given = data.draw(rows(table))
    valid = validate(given, table)
    pd.testing.assert_frame_equal(valid, given, check_dtype=False)
    pd.testing.assert_frame_equal(validate(valid, table), valid)
    buffer = io.BytesIO()
    valid.to_parquet(buffer, index=False)
    pd.testing.assert_frame_equal(validate(pd.read_parquet(buffer), table), valid)


@settings(max_examples=50)
@given(table=st.sampled_from(TABLES), data=st.data())
def test_one_missing_cell_is_found_where_it_is(table, data):
    given = data.draw(rows(table)).astype(object)
    columns = [name for name in given if name not in ("is_reference", "sample", "source", "output")]
    column = data.draw(st.sampled_from([c for c in columns if (table, c) != ("scores", "value")]))
    row = data.draw(st.integers(0, len(given) - 1))
    given.loc[row, column] = None
    with pytest.raises(DataError) as raised:
        validate(given.infer_objects(), table)
    assert (row + 1, column) in [(p.row, p.column) for p in raised.value.problems]


@pytest.mark.parametrize("column", ["item_id", "source", "output", "references"])
def test_half_a_character_is_a_fault_of_its_column(column):
    """Pandera names no cell of such texts: a table of them passed."""
    cells = [["whole"], ["\ud83d"]] if column == "references" else ["whole", "\ud83d"]
    given = frame("items").assign(**{column: pd.Series(cells, dtype=object)})
    [(row, name, _, remedy)] = problems(given, "items")
    assert (row, name) == (2 if column == "references" else None, column)
    assert "texts" in remedy
