"""Any valid table passes its schema and comes back from a file; any missing cell is found."""

import io
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta import schema
from tstmeta.schema import DataError, Status, validate

NAN = math.nan
TABLES = ("items", "ratings", "labels", "preferences", "scores")

texts = st.text(max_size=12)
names = st.text(max_size=8).map("n{}".format)
numbers = st.floats(allow_nan=False, allow_infinity=False)
dimensions = st.sampled_from(schema.DIMENSIONS)

COLUMNS: dict[str, dict[str, st.SearchStrategy]] = {
    "items": {
        "dataset": names,
        "item_id": names,
        "source_id": names,
        "system": texts,
        "style": texts,
        "direction": texts,
        "language": names,
        "source": texts,
        "output": texts,
        "references": st.lists(texts, max_size=3),
        "is_reference": st.booleans(),
    },
    "ratings": {
        "dataset": names,
        "item_id": names,
        "dimension": dimensions,
        "rater": names,
        "value": numbers,
    },
    "labels": {"dataset": names, "item_id": names, "name": names, "value": texts},
    "preferences": {
        "dataset": names,
        "item_a": names,
        "item_b": names,
        "dimension": dimensions,
        "rater": names,
        "value": st.sampled_from(["a", "b", "tie"]),
    },
    "scores": {
        "dataset": names,
        "item_id": names,
        "metric": names,
        "dimension": dimensions,
        "basis": st.sampled_from(schema.BASES),
        "signature": names,
        "sample": st.integers(0, 9),
        "value": st.one_of(numbers, st.just(NAN)),
        "status": st.sampled_from([str(status) for status in Status]),
        "detail": texts,
    },
}


def rows(table: str) -> st.SearchStrategy[pd.DataFrame]:
    """Any valid table of up to six rows."""
    key = schema.SCHEMAS[table].unique
    lists = st.lists(
        st.fixed_dictionaries(COLUMNS[table]),
        min_size=1,
        max_size=6,
        unique_by=(lambda row: tuple(row[name] for name in key)) if key else id,
    )
    return lists.map(lambda made: pd.DataFrame(made)[schema.columns(table)])


@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=40)
@given(data=st.data())
def test_any_valid_table_passes_and_comes_back_from_parquet_as_it_was(table, data):
    given = data.draw(rows(table))
    valid = validate(given, table)
    pd.testing.assert_frame_equal(valid, given, check_dtype=False)
    pd.testing.assert_frame_equal(validate(valid, table), valid)
    buffer = io.BytesIO()
    valid.to_parquet(buffer, index=False)
    pd.testing.assert_frame_equal(validate(pd.read_parquet(buffer), table), valid)


@pytest.mark.parametrize("table", TABLES)
@settings(max_examples=25)
@given(data=st.data())
def test_one_missing_cell_is_found_where_it_is(table, data):
    given = data.draw(rows(table)).astype(object)
    columns = [name for name in given if name not in ("is_reference", "sample")]
    column = data.draw(st.sampled_from([c for c in columns if (table, c) != ("scores", "value")]))
    row = data.draw(st.integers(0, len(given) - 1))
    given.loc[row, column] = None
    with pytest.raises(DataError) as raised:
        validate(given.infer_objects(), table)
    assert (row + 1, column) in [(p.row, p.column) for p in raised.value.problems]
