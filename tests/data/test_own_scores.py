"""Score files of your own: what is read, and what each kind of broken file is told."""

import hashlib
import json
import math

import pandas as pd
import pytest

from tstmeta import schema
from tstmeta.data import Card, Dataset
from tstmeta.data.own_values import read_scores
from tstmeta.data.tables import items_table
from tstmeta.schema import DataError

HEAD = "item_id,metric,value\n"
FULL = "item_id,metric,dimension,basis,signature,sample,value,status,detail\n"


@pytest.fixture
def rated():
    items = items_table(
        "mine", item_id=["1", "2", "abc"], source_id=["1", "2", "3"], source="s", output="o"
    )
    return Dataset.of("mine@part", items, Card("mine"))


@pytest.fixture
def read(tmp_path, rated):
    """Write a file and read it as scores of the data set."""

    def make(content, name: str = "scores.csv") -> pd.DataFrame:
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path, index=False)
        elif content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_scores(path, rated)

    return make


def problems(read, *content):
    with pytest.raises(DataError) as raised:
        read(*content)
    return raised.value.problems


# --------------------------------------------------------------------------------- what is read


def test_three_columns_are_enough(read):
    text = HEAD + "1,comet,0.5\nabc,comet,-1e-3\n"
    found = read(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert list(found.columns) == schema.columns("scores")
    assert found["value"].tolist() == [0.5, -0.001]
    assert found["item_id"].tolist() == ["1", "abc"]
    constant = found.drop(columns=["item_id", "value"]).drop_duplicates()
    assert constant.to_dict("records") == [
        {
            "dataset": "mine",
            "metric": "comet",
            "dimension": "content",
            "basis": "source",
            "signature": f"comet|file:scores.csv|sha256:{digest}",
            "sample": 0,
            "status": "ok",
            "detail": "",
        }
    ]


def test_another_file_has_another_signature(read):
    first, second = read(HEAD + "1,m,0.5\n"), read(HEAD + "1,m,0.6\n")
    assert first["signature"][0] != second["signature"][0]


def test_all_columns_are_read_and_empty_cells_have_their_defaults(read):
    found = read(FULL + "1,m,style,none,m|v:1,2,0.5,truncated,cut\n2,m,,,,,0.5,,\n")
    assert found.iloc[0].tolist() == [
        *("mine", "1", "m", "style", "none", "m|v:1", 2, 0.5, "truncated", "cut")
    ]
    assert found.iloc[1][["dimension", "basis", "sample", "status"]].tolist() == [
        *("content", "source", 0, "ok")
    ]
    assert found["signature"][1].startswith("m|file:scores.csv|sha256:")


@pytest.mark.parametrize("cell", ["", "nan", "n/a", "0.7"])
@pytest.mark.parametrize("status", ["refused", "invalid", "error"])
def test_a_status_without_a_value_needs_none_and_one_does_not_count(read, cell, status):
    found = read(f"item_id,metric,value,status\n1,m,{cell},{status}\n")
    assert math.isnan(found["value"][0])
    assert found["status"][0] == status


def test_json_lines_and_parquet_give_the_same(read):
    rows = [{"item_id": 1, "metric": "m", "value": 1}, {"item_id": "2", "metric": "m", "value": 2}]
    lines = read("".join(json.dumps(row) + "\n" for row in rows), "a.jsonl")
    parquet = read(pd.DataFrame({"item_id": [1, 2], "metric": "m", "value": [1, 2]}), "a.parquet")
    csv = read(HEAD + "1,m,1\n2,m,2\n", "a.csv")
    for other in (lines, parquet):
        pd.testing.assert_frame_equal(
            other.drop(columns="signature"), csv.drop(columns="signature")
        )


def test_what_was_written_as_scores_can_be_read_again(read):
    found = read(FULL + "1,m,style,none,m|v:1,0,0.5,ok,\n2,m,style,none,m|v:1,0,,error,no\n")
    again = read(found.to_csv(index=False), "again.csv")
    pd.testing.assert_frame_equal(again, found)


def test_other_columns_and_blank_lines_are_passed_over(read):
    found = read("system,item_id,metric,value\nA,1,m,1\n\nB,2,m,2\n")
    assert found["value"].tolist() == [1, 2]


def test_one_item_may_have_several_metrics_bases_and_samples(read):
    text = "item_id,metric,value,basis,sample\n1,m,1,source,0\n1,n,1,source,0\n"
    assert len(read(text + "1,m,1,reference,0\n1,m,1,source,1\n")) == 4


# --------------------------------------------------------------------------------- broken files

#: the file, then the report: row, column, what, remedy
BROKEN = {
    "an empty file": ("", None, "", "the file is empty", "add a header"),
    "a header alone": (HEAD, None, "", "there are no rows", "add at least one row"),
    "no such file": (None, None, "", "there is no such file", "check the name"),
    "another delimiter": (HEAD.replace(",", ";"), 0, "", "semicolons", "with commas"),
    "broken UTF-8": (HEAD.encode() + b"1,\xff,1\n", 1, "metric", "broken UTF-8", "as UTF-8"),
    "a cell too many": (HEAD + "1,m,1,2\n", 1, "", "4 cells", "double quotes"),
    "a decimal comma": (HEAD + "1,m,0,5\n", 1, "", "4 cells where the header has 3", "quotes"),
    "no item ids": ("metric,value\nm,1\n", 0, "item_id", "missing column", "has item_id, metric"),
    "no metric column": ("item_id,value\n1,1\n", 0, "metric", "missing column", "a score file"),
    "no values": ("item_id,metric\n1,m\n", 0, "value", "missing column", "a score file"),
    "a misspelt column": (
        "item_id,metric,value,bassis\n1,m,1,none\n",
        *(0, "bassis", "looks misspelt", "write basis"),
    ),
    "an unknown item": (HEAD + "1,m,1\n9,m,1\n", 2, "item_id", "called '9'", "the item_ids"),
    "an item misspelt": (HEAD + "abd,m,1\n", 1, "item_id", "called 'abd'", "write 'abc'"),
    "no item": (HEAD + ",m,1\n", 1, "item_id", "no item is called ''", "use the item_ids"),
    "no metric": (HEAD + "1, ,1\n", 1, "metric", "no metric", "name the metric"),
    "no value": (HEAD + "1,m,\n", 1, "value", "'' is not a finite number", "or a status"),
    "a word": (HEAD + "1,m,high\n", 1, "value", "'high' is not a finite", "give a number"),
    "NaN": (HEAD + "1,m,nan\n", 1, "value", "'nan' is not a finite number", "refused, invalid"),
    "infinity": (HEAD + "1,m,-inf\n", 1, "value", "'-inf' is not a finite number", "or a status"),
    "a row below a blank line": (HEAD + "1,m,1\n\n2,m,x\n", 3, "value", "'x' is not", "a number"),
    "the same row twice": (HEAD + "1,m,1\n2,m,1\n1,m,2\n", 3, "value", "those of row 1", "one"),
    "another dimension": (
        "item_id,metric,value,dimension\n1,m,1,mood\n",
        *(1, "dimension", "unknown dimension 'mood'", "content, style"),
    ),
    "a dimension misspelt": (
        "item_id,metric,value,dimension\n1,m,1,contents\n",
        *(1, "dimension", "'contents'", "write 'content'"),
    ),
    "another basis": (
        "item_id,metric,value,basis\n1,m,1,src\n",
        *(1, "basis", "unknown basis 'src'", "use source, reference, none"),
    ),
    "another status": (
        "item_id,metric,value,status\n1,m,1,fine\n",
        *(1, "status", "unknown status 'fine'", "use ok, empty, truncated"),
    ),
    "half a sample": (
        "item_id,metric,value,sample\n1,m,1,0.5\n",
        *(1, "sample", "'0.5' is not a whole number", "0, 1, 2"),
    ),
    "a word as sample": (
        "item_id,metric,value,sample\n1,m,1,first\n",
        *(1, "sample", "'first' is not a whole number", "0, 1, 2"),
    ),
}


@pytest.mark.parametrize(
    ("content", "row", "column", "what", "remedy"), BROKEN.values(), ids=BROKEN
)
def test_a_broken_file_is_told_what_is_wrong_and_what_to_do(
    read, content, row, column, what, remedy
):
    [problem] = problems(read, content)
    assert problem.file.endswith("scores.csv")
    assert (problem.row, problem.column) == (row, column)
    assert what in problem.what
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"item_id": "1", "metric": "m", "value": True}, "True is not a finite number"),
        ({"item_id": "1", "metric": "m", "value": [1]}, "[1] is not a finite number"),
        ({"item_id": "1", "metric": "m", "value": 10**400}, "is not a finite number"),
        ({"item_id": "1", "metric": ["m"], "value": 1}, "is not a name"),
        ({"item_id": 1.5, "metric": "m", "value": 1}, "1.5 is not a name"),
        ({"item_id": "1", "metric": "m", "value": 1, "sample": True}, "True is not a whole"),
        ({"item_id": "1", "metric": "m", "value": 1, "sample": {}}, None),
    ],
)
def test_cells_of_the_wrong_kind_in_json_are_told_so(read, row, what):
    if what is None:
        assert read(json.dumps(row), "scores.jsonl")["sample"][0] == 0
    else:
        assert what in problems(read, json.dumps(row), "scores.jsonl")[0].what


def test_a_file_that_is_no_parquet_is_told_so(read):
    [problem] = problems(read, b"PAR1 not really", "scores.parquet")
    assert "not a readable Parquet file" in problem.what


def test_all_faults_are_listed_in_one_report(read):
    text = "item_id,metric,value,basis\n9,m,x,src\n1,,nan,\n1,m,1,\n1,m,2,\n"
    found = [(problem.row, problem.column) for problem in problems(read, text)]
    assert found == [
        *((1, "item_id"), (1, "basis"), (1, "value")),
        *((2, "metric"), (2, "value"), (4, "value")),
    ]
