"""Data of your own: what is read, and what each kind of broken file is told."""

import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta import data, schema
from tstmeta.data import Card, Dataset
from tstmeta.data.own import rated, read, read_scores
from tstmeta.data.tables import items_table, rater_names
from tstmeta.schema import DataError

HEAD = "source,output,content.r1,content.r2\n"
GOOD = HEAD + "a cat sat,a cat was sitting,5,4\nhe ran,he was running,3,2\n"
LONG = "item_id,dimension,rater,value\n"
BESIDE = 'ratings = "ratings.csv"\nscale.style = [1, 5]\n'
SCORES = "item_id,metric,value\n"
FULL = "item_id,metric,dimension,basis,signature,sample,value,status,detail\n"


@pytest.fixture
def write(tmp_path):
    """Write a file of any kind and give its path; None is no file."""

    def make(content, name: str = "mine.csv") -> Path:
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path, index=False)
        elif content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def cell(name, content) -> str:
    """A table of one row with one column of interest."""
    return f"source,output,{name}\na,b,{content}\n"


def key(name, content) -> str:
    """The same as a line of JSON."""
    return lines({"source": "a", "output": "b", name: content})


def problems(load, *arguments):
    with pytest.raises(DataError) as raised:
        load(*arguments)
    return raised.value.problems


#: what is in a CSV file, then the report: row, column, words of what is wrong and of the remedy
BROKEN_CSV = {
    "an empty file": ("", None, "", "the file is empty", "add a header"),
    "only blank lines": ("\n \n", None, "", "the file is empty", "add a header"),
    "a header alone": (HEAD, None, "", "there are no rows", "add at least one row"),
    "no output column": ("source,style\na,b\n", 0, "output", "missing column", "'output'"),
    "a missing source": (HEAD + "a,b,1,2\n,b,2,3\n", 2, "source", "missing value", "drop the"),
    "a blank source": (HEAD + '"  ",b,1,2\n', 1, "source", "missing value", "write a text"),
    "a word as rating": (HEAD + "a,b,1,good\n", 1, "content.r2", "'good'", "a finite number"),
    "a decimal comma": (HEAD + 'a,b,1,"3,5"\n', 1, "content.r2", "'3,5'", "a finite number"),
    "a number with a bar": (HEAD + "a,b,1_0,2\n", 1, "content.r1", "'1_0'", "a finite number"),
    "a rating of NaN": (HEAD + "a,b,nan,2\n", 1, "content.r1", "'nan'", "leave the cell empty"),
    "a long cell": (HEAD + f"a,b,{'x' * 5000},1\n", 1, "content.r1", "xxx...", "finite number"),
    "an empty id": ("item_id,source,output\n,a,b\n", 1, "item_id", "missing value", "fill it in"),
    "an empty source id": (cell("source_id", ""), 1, "source_id", "missing value", "fill it in"),
    "a source id for two sources": (
        "source_id,source,output\ns,a,b\ns,c,b\n",
        *(2, "source_id", "an earlier row with another source", "its own id"),
    ),
    "a column twice": ("source,output,source\na,b,c\n", 0, "source", "2 times", "drop one"),
    "a column without a name": (",source,output\n0,a,b\n", 0, "1", "without a name", "drop"),
    "an unknown dimension": (cell("contant.r1", 1), 0, "contant.r1", "'contant'", "one of content"),
    "a dimension without a rater": (cell("content", 1), 0, "content", "without a", "content.mean"),
    "a mean beside its raters": (
        cell("style.r1,style.mean", "1,2"),
        *(None, "style", "single ratings and a mean", "drop the mean"),
    ),
    "a misspelt column": (cell("lnguage", "en"), 0, "lnguage", "misspelt", "'l"),
    "the id of a worker": (cell("worker_id", "x"), 0, "worker_id", "identity of a", "drop it"),
    "semicolons": ("source;output\na;b\n", 0, "", "separated by semicolons", "with commas"),
    "tabs": ("source\toutput\na\tb\n", 0, "", "separated by tabs", ".tsv: tabs"),
    "a short row": (HEAD + "a,b,1,2\na,b\n", 2, "", "2 cells where the header has 4", "quotes"),
    "a long row": (HEAD + "a, and b,c,1,2\n", 1, "", "5 cells", "in double quotes"),
    "an open quote": (HEAD + 'a,b,1,2\n"a,b,1,2\n', 2, "", "broken CSV", "close each double"),
    "a quote open for pages": (HEAD + '"a' + "b,1,2\n" * 30_000, 1, "", "field limit", "close"),
    "a blank line counts": ('source,output\n"a\nb",b\n\n,b\n', 3, "source", "missing", "write"),
    "Latin-1": (HEAD.encode() + b"caf\xe9,b,1,2\n", 1, "source", "UTF-8 at character 4", "UTF-8"),
    "a broken header": (b"source,output,caf\xe9\na,b,c\n", 0, "caf?", "broken UTF-8", "as UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), None, "", "UTF-16", "save it as UTF-8"),
    "a NUL byte": (HEAD + "a,b\0,1,2\n", 1, "output", "a NUL byte", "take it out"),
    "references that are no list": (cell("references", "x y"), 1, "references", "'x y'", "_1"),
    "an empty reference": (
        cell("references", '"[""x"", "" ""]"'),
        *(1, "references", "['x', ' ']", "none of them empty"),
    ),
    "references in two forms": (
        cell("references,reference_1", ",x"),
        *(0, "references", "two forms", "keep"),
    ),
    "a doubtful is_reference": (cell("is_reference", "maybe"), 1, "is_reference", "'maybe'", "or"),
    "a language by name": (cell("language", "English"), 1, "language", "'English'", "such as en"),
}
#: the same with lines of JSON
BROKEN_JSON = {
    "a JSON list": ('[{"source": "a"}]', 1, "", "not a JSON object", "one object a line"),
    "a bad line": ('{"source": "a", \n', 1, "", "not JSON", "one complete JSON object"),
    "no object": ('"text"\n', 1, "", "not a JSON object", '{"source"'),
    "a missing key": (
        "\n" + lines({"source": "a", "output": "b"}, {"source": "a"}),
        *(3, "output", "missing value", 'write a text, in quotes ("" if'),
    ),
    "a null output": (
        lines({"source": "a", "output": None}),
        *(1, "output", "missing value", '"" if the system returned nothing'),
    ),
    "a key twice": ('{"source": "a", "source": "b"}', 1, "", "'source' comes twice", "one"),
    "half a character": (key("system", "\ud83d"), 1, "system", "broken UTF-8", "as UTF-8"),
    "an escaped NUL": (key("system", "a\0"), 1, "system", "a NUL byte", "take it out"),
    "a number as source": (lines({"source": 5, "output": "b"}), 1, "source", "5", "a text"),
    "a truth value as rating": (key("style.r1", True), 1, "style.r1", "True", "a finite number"),
    "a reference that is no text": (key("references", ["x", 1]), 1, "references", "1]", '["first"'),
    "one reference without a list": (key("references", "x"), 1, "references", "'x'", '["first"'),
    "a list as id": (key("item_id", [1]), 1, "item_id", "[1]", "whole number"),
    "nesting without end": ('{"source": ' + "[" * 99_999, 1, "", "not JSON", "one complete"),
    "a number of 5,000 digits": ('{"a": ' + "1" * 5000 + "}", 1, "", "not JSON", "complete"),
}
BROKEN = {
    **{name: ("m.csv", *case) for name, case in BROKEN_CSV.items()},
    **{name: ("m.jsonl", *case) for name, case in BROKEN_JSON.items()},
    "commas in a .tsv": ("m.tsv", "source,output\na,b\n", 0, "", "by commas", ".csv: commas"),
    "no Parquet": ("m.parquet", "source\n", None, "", "not a readable Parquet", "anew"),
    "Parquet with an empty source": (
        "m.parquet",
        pd.DataFrame({"source": ["a", None], "output": ["b", "c"]}),
        *(2, "source", "missing value", "write a text"),
    ),
    "an unknown ending": ("m.xlsx", "x", None, "", "unknown format '.xlsx'", "save it as one of"),
    "no file": ("m.csv", None, None, "", "there is no such file", "check the name"),
}


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
    [problem] = problems(read, path)
    assert_reported(problem, path, row, column, what, remedy)


def test_all_faults_of_a_file_come_in_one_report_in_order_of_rows(write):
    text = "Source,output,content.ann,contnt.r1\nx,y,bad,1\na,b\n,z,inf,2\n"
    places = [(0, "Source"), (0, "contnt.r1"), (1, "content.ann"), (2, ""), (3, "content.ann")]
    assert [(p.row, p.column) for p in problems(read, write(text))] == places


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


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "m.parquet"])
def test_the_same_data_in_any_format_is_the_same_data_set(write, tmp_path, name):
    first = {"source": "a, b", "output": "", "system": "A", "task": "x", "style.r1": 1}
    second = {"source": "a, b", "output": "ü\u2028?", "system": "B", "task": "", "style.r1": 2.5}
    rows = [{**first, "style.r2": None}, second]
    frame = pd.DataFrame(rows).assign(references=[["r"], []])
    path = tmp_path / name
    if name.endswith(("csv", "tsv")):
        frame["references"] = frame["references"].map(json.dumps)
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    elif name.endswith("jsonl"):
        listed = zip(rows, [["r"], []], strict=True)
        write(lines(*({**row, "references": refs} for row, refs in listed)), name)
    else:
        write(frame, name)
    dataset = read(path)
    columns = ["item_id", "source_id", "output", "references", "language"]
    assert dataset.items[columns].to_numpy().tolist() == [
        ["1", "s1", "", ["r"], "en"],
        ["2", "s1", "ü\u2028?", [], "en"],
    ]
    ratings = dataset.ratings[["item_id", "rater", "value"]].to_numpy().tolist()
    assert ratings == [["1", "r1", 1.0], ["2", "r1", 2.5]]
    assert dataset.label("task").tolist() == ["x", ""]


HARMLESS = {
    "a BOM": "\ufeff" + GOOD,
    "CRLF": GOOD.replace("\n", "\r\n"),
    "CR": GOOD.replace("\n", "\r"),
    "blank lines": GOOD + "\n\n",
    "spaces in the header": GOOD.replace("source,output,", " source , output,"),
    "no last line end": GOOD.removesuffix("\n"),
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_harmless_differences_of_form_change_nothing(write, text):
    dataset = read(write(text))
    assert dataset.items["source"].tolist() == ["a cat sat", "he ran"]
    assert dataset.means["content"].tolist() == [4.5, 2.5]


def test_single_reference_columns_are_put_in_order_and_empty_ones_left_out(write):
    text = "source,output,reference_10,reference_2,reference\na,b,ten,two,first\na,c,,two,\n"
    references = read(write(text)).items["references"].tolist()
    assert references == [["first", "two", "ten"], ["two"]]


def test_what_the_file_says_of_its_items_is_kept(write):
    text = (
        "dataset,item_id,source_id,source,output,system,style,direction,language,is_reference,mood\n"
        "other,7, s ,a,b,A,formal,up,pt-BR,TRUE,dark\n"
    )
    item = read(write(text)).items.iloc[0]
    expected = ["mine", "7", "s", "A", "formal", "up", "pt-BR", "a", "b", [], True]
    assert item.tolist() == expected
    path = write(lines({"item_id": 7, "source": "a", "output": "b", "system": 2}), "m.jsonl")
    assert read(path).items.loc[0, ["item_id", "system"]].tolist() == ["7", "2"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], {}),
        (["mean", "r2"], {"mean": "mean", "r2": "r2"}),
        (["A1XYZ9", "r1", "bea", "r3"], {"A1XYZ9": "r2", "r1": "r1", "bea": "r4", "r3": "r3"}),
        (["r0", "r01", "R1", "r12345"], {"r0": "r1", "r01": "r2", "R1": "r3", "r12345": "r4"}),
    ],
)
def test_names_of_raters_are_replaced_unless_they_say_nothing(given, kept):
    assert rater_names(given) == kept


def test_a_long_file_gives_the_same_ratings_as_columns(write):
    items = write("item_id,source,output\nx,a,b\ny,a,c\n")
    write(LONG + "x,content,ann,1\nx,content,bob,2\ny,content,ann,3\n", "ratings.csv")
    wide = write("item_id,source,output,content.ann,content.bob\nx,a,b,1,2\ny,a,c,3,\n", "wide.csv")
    write(BESIDE, "mine.csv.toml")
    ours, theirs = read(items).ratings, read(wide).ratings
    pd.testing.assert_frame_equal(ours, theirs.assign(dataset="mine"))


BROKEN_LONG = {
    "an empty file": ("", None, "", "the file is empty", "add a header"),
    "no dimension": ("item_id,rater,value\nx,r1,1\n", 0, "dimension", "missing column", "item_id"),
    "a column more": (
        LONG.replace("\n", ",note\n") + "x1,style,r1,1,n\n",
        *(0, "note", "unknown column", "drop it"),
    ),
    "an unknown item": (LONG + "x11,style,r1,1\n", 1, "item_id", "'x11'", "use an item_id of"),
    "an unknown dimension": (LONG + "x1,mood,r1,1\n", 1, "dimension", "'mood'", "use one of"),
    "no rater": (LONG + "x1,style,,1\n", 1, "rater", "missing value", "fill it in"),
    "no value": (LONG + "x1,style,r1,\n", 1, "value", "missing value", "a finite number"),
    "a word": (LONG + "x1,style,r1,high\n", 1, "value", "'high'", "a finite number"),
    "off the scale": (LONG + "x1,style,r1,9\n", 1, "value", "9", "number from 1 to 5"),
    "a row cut": (LONG + "x1,style,r1,1\nx1,style\n", 2, "", "2 cells", "double quotes"),
    "a mean beside raters": (
        LONG + "x1,style,r1,1\nx1,style,mean,1\n",
        *(None, "style", "single ratings and a mean", "drop the mean"),
    ),
}


@pytest.mark.parametrize(
    ("text", "row", "column", "what", "remedy"), BROKEN_LONG.values(), ids=BROKEN_LONG
)
def test_a_fault_in_a_long_file_names_its_row(write, text, row, column, what, remedy):
    items = write("item_id,source,output\nx1,a,b\ny1,a,c\n")
    write(BESIDE, "mine.csv.toml")
    path = write(text, "ratings.csv")
    [problem] = problems(read, items)
    assert_reported(problem, path, row, column, what, remedy)


def test_faults_of_both_files_come_in_one_report(write):
    write(BESIDE, "mine.csv.toml")
    write(LONG + "x,style,r1,?\n", "ratings.csv")
    actual = problems(read, write("item_id,source,output\nx,,b\n"))
    assert [Path(p.file).name for p in actual] == ["mine.csv", "ratings.csv"]
    write(LONG + "1,style,r1,3\n2,style,r1,4\n", "ratings.csv")
    [problem] = problems(read, write(GOOD))
    assert "keep them in one place" in problem.remedy


def test_ratings_of_a_file_replace_those_of_a_data_set_and_raters_lose_their_names(write):
    contrast, item = data.load("contrast"), "formal-01-strong"
    actual = rated(contrast, write(LONG + f"{item},content,Ada,4\n{item},content,Bo,2\n"))
    assert actual.means["content"][item] == 3
    assert set(actual.ratings["rater"]) == {"r1", "r2"}
    assert actual.items is contrast.items
    assert contrast.ratings.empty
    mixed = write(LONG + f"{item},content,r1,4\n{item},content,mean,4\n")
    assert "single ratings and a mean" in problems(rated, contrast, mixed)[0].what
    assert problems(rated, contrast, write(LONG + "formal-0,style,r1,4\n"))[0].row == 1


def test_a_rating_off_its_scale_is_a_fault(write):
    path = write("source,output,content.r1,style.r1\na,b,5,9\na,c,6,-3\na,d,0.5,1\n")
    write("scale.content = [1, 5]\n", "mine.csv.toml")
    actual = problems(read, path)
    assert_reported(actual[0], path, 2, "content.r1", "bad value '6'", "number from 1 to 5")
    assert_reported(actual[1], path, 3, "content.r1", "bad value '0.5'", "number from 1 to 5")
    assert len(actual) == 2


def test_the_file_beside_gives_the_card_and_the_ratings(write):
    card = 'title = "My set"\nexamples = true\nratings = "long.csv"\nscale.style = [0, 1]\n'
    write(card, "mine.csv.toml")
    write(LONG + "1,style,r1,0.5\n2,style,r1,1\n", "long.csv")
    dataset = read(write("source,output\na,b\na,c\n"))
    assert (dataset.card.title, dataset.card.facts.get("examples")) == ("My set", True)
    assert dataset.card.scale == {"style": (0.0, 1.0)}
    assert dataset.means["style"].tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("scale = [1, 5]", "scale", "valid dictionary"),
        ("title = 5", "title", "valid string"),
        ("scales = 5", "scales", "not permitted"),
        ("scale.contant = [1, 5]", "scale.contant.[key]", "should be 'content', 'style'"),
        ("scale.content = [5, 1]", "scale.content", "lowest rating comes first"),
        ("scale.content = [1]", "scale.content", "at least 2 items"),
        ("scale: 5", "", "not TOML"),
    ],
)
def test_a_fault_in_the_file_beside_is_reported_too(write, text, column, what):
    beside = write(text, "mine.csv.toml")
    [problem] = problems(read, write(GOOD))
    assert_reported(problem, beside, None, column, what, "scale.content = [1, 5]")


@pytest.fixture
def scores(write):
    """Write a file and read it as scores of a data set with items 1, 2 and abc."""
    ids = ["1", "2", "abc"]
    items = items_table("mine", item_id=ids, source_id=ids, source="s", output="o")
    dataset = Dataset.of("mine@part", items, Card("mine"))
    return lambda content, name="scores.csv": read_scores(write(content, name), dataset)


def test_three_columns_are_enough_for_scores(scores):
    text = SCORES + "1,comet,0.5\nabc,comet,-1e-3\n"
    actual = scores(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert list(actual.columns) == schema.columns("scores")
    assert actual["value"].tolist() == [0.5, -0.001]
    assert actual["item_id"].tolist() == ["1", "abc"]
    [constant] = actual.drop(columns=["item_id", "value"]).drop_duplicates().to_numpy().tolist()
    signature = f"comet|file:scores.csv|sha256:{digest}"
    assert constant == ["mine", "comet", "content", "source", signature, 0, "ok", ""]


def test_all_columns_are_read_empty_cells_have_defaults_and_others_are_passed_over(scores):
    actual = scores(FULL + "1,m,style,none,m|v:1,2,0.5,truncated,cut\n2,m,,,,,0.5,,\n")
    expected = ["mine", "1", "m", "style", "none", "m|v:1", 2, 0.5, "truncated", "cut"]
    assert actual.iloc[0].tolist() == expected
    defaults = actual.iloc[1][["dimension", "basis", "sample", "status"]].tolist()
    assert defaults == ["content", "source", 0, "ok"]
    actual = scores("system,item_id,metric,value\nA,1,m,1\n\nB,2,m,2\n")
    assert actual["value"].tolist() == [1, 2]


@pytest.mark.parametrize("cell", ["", "nan", "n/a", "0.7"])
@pytest.mark.parametrize("status", ["refused", "invalid", "error"])
def test_a_status_without_a_value_needs_none_and_one_does_not_count(scores, cell, status):
    actual = scores(f"item_id,metric,value,status\n1,m,{cell},{status}\n")
    assert math.isnan(actual["value"][0])
    assert actual["status"][0] == status


def test_what_was_written_as_scores_can_be_read_again(scores):
    actual = scores(FULL + "1,m,style,none,m|v:1,0,0.5,ok,\n2,m,style,none,m|v:1,0,,error,no\n")
    pd.testing.assert_frame_equal(scores(actual.to_csv(index=False), "again.csv"), actual)


def column(name, cell):
    return f"item_id,metric,value,{name}\n1,m,1,{cell}\n"


BROKEN_SCORES = {
    "an empty file": ("", None, "", "the file is empty", "add a header"),
    "no item ids": ("metric,value\nm,1\n", 0, "item_id", "missing column", "item_id, metric"),
    "a misspelt column": (column("bassis", "none"), 0, "bassis", "misspelt", "write basis"),
    "an unknown item": (SCORES + "1,m,1\n9,m,1\n", 2, "item_id", "'9'", "use an item_id"),
    "no item": (SCORES + ",m,1\n", 1, "item_id", "missing value", "use an item_id"),
    "no metric": (SCORES + "1, ,1\n", 1, "metric", "missing value", "fill it in"),
    "no value": (SCORES + "1,m,\n", 1, "value", "missing value", "or give a status"),
    "a word": (SCORES + "1,m,high\n", 1, "value", "'high'", "a finite number"),
    "infinity": (SCORES + "1,m,-inf\n", 1, "value", "'-inf'", "a finite number"),
    "below a blank line": (SCORES + "1,m,1\n\n2,m,x\n", 3, "value", "'x'", "a finite number"),
    "another dimension": (column("dimension", "mood"), 1, "dimension", "'mood'", "content, style"),
    "another basis": (column("basis", "src"), 1, "basis", "'src'", "source, reference, none"),
    "another status": (column("status", "fine"), 1, "status", "'fine'", "ok, empty, truncated"),
    "half a sample": (column("sample", "0.5"), 1, "sample", "'0.5'", "a whole number"),
    "a truth value": ({"item_id": "1", "metric": "m", "value": True}, 1, "value", "True", "number"),
    "a list": ({"item_id": "1", "metric": "m", "value": [1]}, 1, "value", "[1]", "number"),
    "a huge number": ({"item_id": 1, "metric": "m", "value": 10**400}, 1, "value", "100", "number"),
}


@pytest.mark.parametrize(
    ("content", "row", "column", "what", "remedy"), BROKEN_SCORES.values(), ids=BROKEN_SCORES
)
def test_a_broken_score_file_is_told_what_is_wrong_and_what_to_do(
    scores, tmp_path, content, row, column, what, remedy
):
    name = "scores.jsonl" if isinstance(content, dict) else "scores.csv"
    [problem] = problems(scores, lines(content) if isinstance(content, dict) else content, name)
    assert_reported(problem, tmp_path / name, row, column, what, remedy)


def test_a_file_is_named_by_a_text_or_a_path(tmp_path):
    (tmp_path / "mine.csv").write_text("source,output\na,b\n")
    named, given = read(str(tmp_path / "mine.csv")), read(tmp_path / "mine.csv")
    assert named.items.equals(given.items)
