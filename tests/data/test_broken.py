"""Broken and hostile files of one's own: each fault is reported with file, row and remedy."""

import json
from contextlib import suppress
from functools import partial

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scored import dataset
from tstmeta.data.table_files import rated, read, read_scores
from tstmeta.schema import DataError

HEAD = "source,output,content.r1,content.r2\n"
GOOD = HEAD + "a cat sat,a cat was sitting,5,4\n"
LONG = "item_id,dimension,rater,value\n"
BESIDE = 'ratings = "ratings.csv"\nscale.style = [1, 5]\n'
SCORES = "item_id,metric,value\n"
HALF = "\ud83d"  # of a character: JSON can spell it, UTF-8 cannot
DEEP = "[" * 99_999


def cell(name, content) -> str:
    """A table of one row with one column of interest."""
    return f"source,output,{name}\na,b,{content}\n"


def key(name, content) -> str:
    """The same as a line of JSON."""
    return json.dumps({"source": "a", "output": "b", name: content}) + "\n"


def score(name, content) -> str:
    """A score with one more column."""
    return f"item_id,metric,value,{name}\n1,m,1,{content}\n"


def parquet(column, values, kind) -> pa.Table:
    """Two rows, one column of interest; ``values`` are numbers where Python has no such value."""
    plain = pa.int32() if kind == pa.date32() else pa.int64()
    numbers = all(isinstance(value, int) for value in values)
    odd = pa.array(values, plain).cast(kind, safe=False) if numbers else pa.array(values, kind)
    return pa.table({"source": ["a", "b"], "output": ["c", "d"], column: odd})


#: what is in a CSV file, then the report: row, column, words of what is wrong and of the remedy
BROKEN_CSV = {
    "an empty file": ("", None, "", "there are no rows", "add at least one row"),
    "a header alone": (HEAD, None, "", "there are no rows", "add at least one row"),
    "a blank first line": ("\n \n", 1, "", "1 cells where the header has 0", "in double quotes"),
    "no output column": ("source,style\na,b\n", None, "output", "missing column", "'output'"),
    "a missing source": (HEAD + "a,b,1,2\n,b,2,3\n", 2, "source", "missing value", "drop the"),
    "a long cell": (HEAD + f"a,b,{'x' * 5000},1\n", 1, "content.r1", "xxx...", "finite number"),
    "a source id for two sources": (
        "source_id,source,output\ns,a,b\ns,c,b\n",
        *(2, "source_id", "an earlier row with another source", "its id"),
    ),
    "a column twice": ("source,output,source\na,b,c\n", None, "source", "2 times", "of its own"),
    "an unnamed column": (",source,output\n0,a,b\n", None, "", "without a name", "of its own"),
    "an unknown dimension": (
        *(cell("contant.r1", 1), None, "contant.r1", "'contant'", "content.mean"),
    ),
    "no rater": (cell("content", 1), None, "content", "without a", "content.mean"),
    "a mean beside its raters": (
        cell("style.r1,style.mean", "1,2"),
        *(None, "style", "single ratings and a mean", "drop the mean"),
    ),
    "a misspelt column": (cell("lnguage", "en"), None, "lnguage", "misspelt", "'l"),
    "the id of a worker": (cell("worker_id", "x"), None, "worker_id", "identity of a", "drop it"),
    "a long row": (HEAD + "a, and b,c,1,2\n", 1, "", "5 cells", "in double quotes"),
    "a quote open for pages": (HEAD + '"a' + "b,1,2\n" * 30_000, 1, "", "unexpected end", "close"),
    "a blank line": ('source,output\n"a\nb",b\n\n,b\n', 3, "source", "missing", "fill it in"),
    "Latin-1": (HEAD.encode() + b"caf\xe9,b,1,2\n", 1, "source", "UTF-8 at character 4", "UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), None, "", "broken UTF-8", "as UTF-8"),
    "references without end": (cell("references", f'"{DEEP}"'), 1, "references", "'[[[", "_1"),
    "an empty reference": (
        cell("references", '"[""x"", "" ""]"'),
        *(1, "references", "['x', ' ']", "none of them empty"),
    ),
    "two forms": (cell("references,reference_1", ",x"), None, "references", "two forms", "keep"),
    "a doubtful is_reference": (cell("is_reference", "maybe"), 1, "is_reference", "'maybe'", "or"),
}
#: the same with lines of JSON
BROKEN_JSON = {
    "a JSON list": ('[{"source": "a"}]', 1, "", "not a JSON object", "JSON object a line"),
    "a line without end": ('{"source": ' + DEEP, 1, "", "not JSON", "one complete"),
    "a missing key": (
        "\n" + key("system", "A") + '{"source": "a"}\n',
        *(3, "output", "missing value", 'write a text, in quotes ("" if'),
    ),
    "an empty key": ('{"source": "a", "": "b"}', None, "", "without a name", "of its own"),
    "a key twice": ('{"source": "a", "source": "b"}', 1, "", "a key comes twice", "one complete"),
    "an object as source": (key("source", {"a": 1}), 1, "source", "an object", "a text"),
    "a reference that is no text": (key("references", ["x", 1]), 1, "references", "1]", '["first"'),
    "a number as reference": (key("reference_1", 5), 1, "reference_1", "value 5", "in quotes"),
    "half a character": (key("system", HALF), 1, "system", "broken UTF-8", "as UTF-8"),
    "a list as label": (key("mood", ["x"]), 1, "mood", "['x']", "a text or a number"),
}
BROKEN_PARQUET = {
    "no Parquet": ("source\n", None, "", "not readable as Parquet", "anew"),
    "a date after all dates": (
        parquet("day", [0, 2**30], pa.date32()),
        *(None, "", "not readable as Parquet", "texts for dates"),
    ),
    "bytes that are no text": (
        pa.table({"source": ["a"], "output": [b"\xff"]}),
        *(1, "output", "bad value b'", "write a text"),
    ),
    "a time as system": (
        parquet("system", [0, 1], pa.timestamp("s"))[:1],
        *(1, "system", "bad value Timestamp", "write a text or a number"),
    ),
}
#: ratings of the items x1 and y1, whose style has a scale
BROKEN_RATINGS = {
    "no dimension": ("item_id,rater,value\nx,r1,1\n", None, "dimension", "missing", "item_id"),
    "an unknown item": (LONG + "x11,style,r1,1\n", 1, "item_id", "'x11'", "use an item_id of"),
    "no value": (LONG + "x1,style,r1,\n", 1, "value", "missing value", "a finite number"),
    "off the scale": (LONG + "x1,style,r1,9\n", 1, "value", "9", "number from 1 to 5"),
    "a mean beside raters": (
        LONG + "x1,style,r1,1\nx1,style,mean,1\n",
        *(None, "style", "single ratings and a mean", "drop the mean"),
    ),
}
#: scores of the items 1 and 2
BROKEN_SCORES = {
    "no item ids": ("metric,value\nm,1\n", None, "item_id", "missing column", "item_id, metric"),
    "an unknown item": (SCORES + "1,m,1\n9,m,1\n", 2, "item_id", "'9'", "use an item_id"),
    "no value": (SCORES + "1,m,\n", 1, "value", "missing value", "or give a status"),
    "another dimension": (score("dimension", "mood"), 1, "dimension", "'mood'", "content, style"),
    "half a sample": (score("sample", "0.5"), 1, "sample", "'0.5'", "a whole number"),
}
#: what the file beside says, then column and words of what is wrong
BROKEN_CARD = {
    "a number as scale": ("scale = 5", "scale", "valid dictionary"),
    "an unknown fact": ("scales = 5", "scales", "not permitted"),
    "a typo": ("scale.contant = [1, 5]", "scale.contant.[key]", "should be 'content', 'style'"),
    "no end of a scale": ("scale.content = [1, inf]", "scale.content.1", "finite number"),
    "no TOML": ("scale: 5", "", "not TOML"),
    "no end of a list": ("title = " + DEEP, "", "not TOML"),
}
BROKEN = {
    **{name: ("m.csv", *case) for name, case in BROKEN_CSV.items()},
    **{name: ("m.jsonl", *case) for name, case in BROKEN_JSON.items()},
    **{f"in Parquet: {name}": ("m.parquet", *case) for name, case in BROKEN_PARQUET.items()},
    "commas in a .tsv": ("m.tsv", "source,output\na,b\n", None, "", "by commas", ".csv: commas"),
    "an unknown ending": ("m.xlsx", "x", None, "", "unknown format '.xlsx'", "save it as one of"),
    "no file": ("m.csv", None, None, "", "there is no such file", "check the name"),
    **{f"ratings: {name}": ("ratings.csv", *case) for name, case in BROKEN_RATINGS.items()},
    **{f"scores: {name}": ("scores.csv", *case) for name, case in BROKEN_SCORES.items()},
    **{
        f"beside: {name}": ("mine.csv.toml", text, None, *place, "scale.content = [1, 5]")
        for name, (text, *place) in BROKEN_CARD.items()
    },
}
MINE = dataset({}, {}, name="mine")
read_scored = partial(read_scores, dataset=MINE)


def read_rated(path):
    """Read the rewrites that the ratings of a file are of."""
    items = path.with_name("mine.csv")
    items.write_text("item_id,source,output\nx1,a,b\ny1,a,c\n")
    items.with_name("mine.csv.toml").write_text(BESIDE)
    return read(items)


def read_beside(path):
    """Read the rewrites beside which a file of facts lies."""
    path.with_suffix("").write_text(GOOD)
    return read(path.with_suffix(""))


LOADERS = {"ratings.csv": read_rated, "scores.csv": read_scored, "mine.csv.toml": read_beside}


def problems(load, path):
    with pytest.raises(DataError) as raised:
        load(path)
    return raised.value.problems


def assert_reported(problem, path, row, column, what, remedy):
    assert problem.file == str(path)
    assert (problem.row, problem.column) == (row, column)
    assert what in problem.what
    assert remedy in problem.remedy
    assert len(problem.what) < 160
    str(problem).encode()  # can be printed anywhere


@pytest.mark.parametrize(
    ("name", "content", "row", "column", "what", "remedy"), BROKEN.values(), ids=BROKEN
)
def test_a_broken_file_is_reported_by_row_column_and_remedy(
    write, name, content, row, column, what, remedy
):
    path = write(content, name)
    [problem] = problems(LOADERS.get(name, read), path)
    assert_reported(problem, path, row, column, what, remedy)


def test_all_faults_of_columns_come_in_one_report_and_all_of_cells_in_order_of_rows(write):
    text = "Source,output,content.ann,contnt.r1\nx,y,bad,1\n\n,z,6,2\n"
    places = [(None, "Source"), (None, "contnt.r1"), (None, "source")]
    assert [(p.row, p.column) for p in problems(read, write(text))] == places
    text = text.replace("Source", "source").replace("contnt", "style")
    write("scale.content = [1, 5]\n", "mine.csv.toml")
    places = [(1, "content.ann"), (3, "source"), (3, "content.ann")]
    assert [(p.row, p.column) for p in problems(read, write(text))] == places
    write(BESIDE, "mine.csv.toml")
    [problem] = problems(read, write(text))
    assert "keep them in one place" in problem.remedy


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_no_file_whatever_ends_in_a_traceback(tmp_path_factory, ending, content):
    path = tmp_path_factory.mktemp("any") / f"mine{ending}"
    starts = b"", b"source,output\na,b\n", b'{"source":"a","output":"b"}\n'
    for start in starts:
        path.write_bytes(start + content)
        with suppress(DataError):
            read(path)


RATING = {"item_id": "1", "dimension": "fluency", "rater": "r1", "value": 1}
SCORE = {"item_id": "1", "metric": "m", "value": 1}


@pytest.mark.parametrize(
    ("load", "row", "name"),
    [
        *((partial(rated, MINE), RATING, name) for name in ("item_id", "rater")),
        *((read_scored, SCORE, name) for name in ("metric", "basis", "signature")),
    ],
)
def test_what_is_neither_text_nor_number_is_reported(write, load, row, name):
    for value in (True, b"1", pd.Timestamp("2020-01-01")):
        path = write(pd.DataFrame([{**row, name: value}]), "hostile.parquet")
        [problem] = problems(load, path)
        assert_reported(problem, path, 1, name, "bad value", "")
    rows = [row, {**row, "item_id": "2", name: ["1"]}]  # what no table can look up
    path = write("\n".join(map(json.dumps, rows)), "hostile.jsonl")
    [problem] = problems(load, path)
    assert_reported(problem, path, 2, name, "", "")
