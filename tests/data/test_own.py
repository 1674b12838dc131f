"""Data of your own: what is read, and what each kind of broken file is told."""

import json
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta import data
from tstmeta.data.own import DataWarning, read, template
from tstmeta.data.sheet import read_frame
from tstmeta.data.own_values import rater_names
from tstmeta.schema import DataError, TstmetaError

HEAD = "source,output,content.r1,content.r2\n"
GOOD = HEAD + "a cat sat,a cat was sitting,5,4\nhe ran,he was running,3,2\n"


@pytest.fixture
def write(tmp_path):
    """Write a file of any kind and give its path."""

    def make(content, name: str = "mine.csv") -> Path:
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path, index=False)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def problems(path, **options):
    with pytest.raises(DataError) as raised:
        read(path, **options)
    return raised.value.problems


# ------------------------------------------------------------------------------- broken files

#: what the file is called, what is in it, then the report: row, column, what, remedy
BROKEN = {
    "an empty file": ("m.csv", "", None, "", "the file is empty", "add a header"),
    "only blank lines": ("m.csv", "\n \n", None, "", "the file is empty", "add a header"),
    "a header alone": ("m.csv", HEAD, None, "", "there are no rows", "add at least one row"),
    "no output column": ("m.csv", "source,style\na,b\n", 0, "output", "missing column", "'output'"),
    "a missing source": ("m.csv", HEAD + "a,b,1,2\n,b,2,3\n", 2, "source", "is empty", "drop the"),
    "a blank source": ("m.csv", HEAD + '"  ",b,1,2\n', 1, "source", "is empty", "fill it in"),
    "a word as rating": ("m.csv", HEAD + "a,b,1,good\n", 1, "content.r2", "'good'", "a number"),
    "a decimal comma": ("m.csv", HEAD + 'a,b,1,"3,5"\n', 1, "content.r2", "comma", "point"),
    "a number with a bar": ("m.csv", HEAD + "a,b,1_0,2\n", 1, "content.r1", "'1_0'", "a number"),
    "a rating of NaN": ("m.csv", HEAD + "a,b,nan,2\n", 1, "content.r1", "not a finite", "empty"),
    "an infinite rating": ("m.csv", HEAD + "a,b,1,-inf\n", 1, "content.r2", "finite", "empty"),
    "a rating too large": ("m.csv", HEAD + "a,b,1,1e999\n", 1, "content.r2", "finite", "empty"),
    "an id twice": (
        "m.csv",
        "item_id,source,output\nx,a,b\ny,a,b\nx,a,c\n",
        *(3, "item_id", "already in row 1", "its own id"),
    ),
    "an empty id": (
        "m.csv",
        "item_id,source,output\n,a,b\n",
        1,
        "item_id",
        "empty id",
        "each item",
    ),
    "an empty source id": (
        "m.csv",
        "source_id,source,output\ns,a,b\n,a,b\n",
        *(2, "source_id", "empty id", "give each source"),
    ),
    "a source id for two sources": (
        "m.csv",
        "source_id,source,output\ns,a,b\ns,c,b\n",
        *(2, "source_id", "another source than in row 1", "its own id"),
    ),
    "a column twice": (
        "m.csv",
        "source,output,source\na,b,c\n",
        0,
        "source",
        "2 times",
        "drop one",
    ),
    "a column without a name": (
        "m.csv",
        ",source,output\n0,a,b\n",
        0,
        "1",
        "without a name",
        "drop",
    ),
    "an unknown dimension": (
        "m.csv",
        "source,output,contant.r1\na,b,1\n",
        *(0, "contant.r1", "unknown dimension 'contant'", "write 'content'"),
    ),
    "a dimension without a rater": (
        "m.csv",
        "source,output,style\na,b,x\na,c,y\n".replace("style", "content"),
        *(0, "content", "without a rater", "content.mean"),
    ),
    "a dot without a rater": (
        "m.csv",
        "source,output,style.\na,b,1\n",
        0,
        "style.",
        "rater",
        ".r1",
    ),
    "a rater twice": (
        "m.csv",
        "source,output,style.r1,style. r1\na,b,1,2\n",
        *(0, "style. r1", "another column of style", "rename or drop"),
    ),
    "a mean beside its raters": (
        "m.csv",
        "source,output,style.r1,style.mean\na,b,1,2\n",
        *(0, "style.mean", "single ratings and a mean", "drop the mean"),
    ),
    "a misspelt column": (
        "m.csv",
        "source,output,lnguage\na,b,en\n",
        0,
        "lnguage",
        "misspelt",
        "'l",
    ),
    "a column in capitals": ("m.csv", "Source,output\na,b\n", 0, "Source", "misspelt", "'source'"),
    "the id of a worker": (
        "m.csv",
        "source,output,worker_id\na,b,x\n",
        *(0, "worker_id", "identity of a person", "drop it"),
    ),
    "semicolons": (
        "m.csv",
        "source;output\na;b\n",
        0,
        "",
        "separated by semicolons",
        "with commas",
    ),
    "tabs in a .csv": ("m.csv", "source\toutput\na\tb\n", 0, "", "by tabs", "name the file .tsv"),
    "commas in a .tsv": ("m.tsv", "source,output\na,b\n", 0, "", "by commas", "name the file .csv"),
    "a short row": (
        "m.csv",
        HEAD + "a,b,1,2\na,b\n",
        2,
        "",
        "2 cells where the header has 4",
        "quot",
    ),
    "a long row": ("m.csv", HEAD + "a, and b,c,1,2\n", 1, "", "5 cells", "in double quotes"),
    "an open quote": ("m.csv", HEAD + 'a,b,1,2\n"a,b,1,2\n', 2, "", "broken double quote", "close"),
    "a quote in a quoted cell": ("m.csv", HEAD + '"a "b" c",b,1,2\n', 1, "", "quote", "twice"),
    "a quote open for pages": (
        "m.csv",
        HEAD + '"a' + "b,1,2\n" * 30_000,
        *(1, "", "more than 131072 characters", "close each quote"),
    ),
    "Latin-1": ("m.csv", HEAD.encode() + b"caf\xe9,b,1,2\n", 1, "source", "byte 0xe9", "as UTF-8"),
    "a broken header": (
        "m.csv",
        b"source,output,caf\xe9\na,b,c\n",
        0,
        "caf?",
        "byte 0xe9",
        "UTF-8",
    ),
    "UTF-16": ("m.csv", GOOD.encode("utf-16"), None, "", "UTF-16", "save it as UTF-8"),
    "a NUL byte": ("m.csv", HEAD + "a,b\0,1,2\n", 1, "output", "NUL byte at character 2", "remove"),
    "references that are no list": (
        "m.csv",
        "source,output,references\na,b,just one\n",
        *(1, "references", "not a list", "reference_1"),
    ),
    "an empty reference": (
        "m.csv",
        'source,output,references\na,b,"[""x"", "" ""]"\n',
        *(1, "references", "a reference is empty", "take it out"),
    ),
    "references in two forms": (
        "m.csv",
        "source,output,references,reference_1\na,b,,x\n",
        *(0, "references", "two forms", "keep"),
    ),
    "a doubtful is_reference": (
        "m.csv",
        "source,output,is_reference\na,b,maybe\n",
        *(1, "is_reference", "'maybe'", "true or false"),
    ),
    "a language by name": (
        "m.csv",
        "source,output,language\na,b,English\n",
        *(1, "language", "not a language code", "such as en"),
    ),
    "a JSON list": ("m.jsonl", '[{"source": "a"}]', 1, "", "a JSON list", "one object a line"),
    "a bad line": (
        "m.jsonl",
        lines({"source": "a", "output": "b"}) + '{"source": "a", \n',
        *(2, "", "not JSON", "one complete JSON object"),
    ),
    "a line that is no object": ("m.jsonl", '"text"\n', 1, "", "not a JSON object", '{"source"'),
    "a missing key": (
        "m.jsonl",
        "\n" + lines({"source": "a", "output": "b"}, {"source": "a"}),
        *(3, "output", "missing key", "source and output"),
    ),
    "a key twice": ("m.jsonl", '{"source": "a", "source": "b"}', 1, "source", "twice", "drop one"),
    "half a character": (
        "m.jsonl",
        '{"source": "\\ud83d", "output": "b"}',
        *(1, "source", "half a character, U+D83D", "UTF-8"),
    ),
    "an escaped NUL": (
        "m.jsonl",
        lines({"source": "a\0", "output": "b"}),
        *(1, "source", "a NUL byte", "remove it"),
    ),
    "a null output": (
        "m.jsonl",
        lines({"source": "a", "output": None}),
        *(1, "output", "null where a text is needed", 'write ""'),
    ),
    "a number as source": (
        "m.jsonl",
        lines({"source": 5, "output": "b"}),
        *(1, "source", "5 is not a text", "in quotes"),
    ),
    "a truth value as rating": (
        "m.jsonl",
        lines({"source": "a", "output": "b", "style.r1": True}),
        *(1, "style.r1", "True is not a number", "write a number"),
    ),
    "a reference that is no text": (
        "m.jsonl",
        lines({"source": "a", "output": "b", "references": ["x", 1]}),
        *(1, "references", "not a text", "take it out"),
    ),
    "one reference without a list": (
        "m.jsonl",
        lines({"source": "a", "output": "b", "references": "x"}),
        *(1, "references", "not a list", '["first", "second"]'),
    ),
    "a list as id": (
        "m.jsonl",
        lines({"source": "a", "output": "b", "item_id": [1]}),
        *(1, "item_id", "[1] is not a name", "whole number"),
    ),
    "nesting without end": ("m.jsonl", '{"source": ' + "[" * 99_999, 1, "", "nested", "correct"),
    "a number of 5,000 digits": ("m.jsonl", '{"a": ' + "1" * 5000 + "}", 1, "", "too long", "corr"),
    "no Parquet": ("m.parquet", "source,output\n", None, "", "not a readable Parquet", "anew"),
    "Parquet with an empty source": (
        "m.parquet",
        pd.DataFrame({"source": ["a", None], "output": ["b", "c"]}),
        *(2, "source", "is empty", "fill it in"),
    ),
    "an unknown ending": (
        "m.xlsx",
        "x",
        None,
        "",
        "unknown format '.xlsx'",
        "save it as one of .csv",
    ),
}


@pytest.mark.parametrize(
    ("name", "content", "row", "column", "what", "remedy"), BROKEN.values(), ids=BROKEN.keys()
)
def test_a_broken_file_is_reported_by_row_column_and_remedy(
    write, name, content, row, column, what, remedy
):
    path = write(content, name)
    [problem] = problems(path)
    assert problem.file == str(path)
    assert (problem.row, problem.column) == (row, column)
    assert what in problem.what
    assert remedy in problem.remedy
    str(problem).encode()  # can be printed anywhere


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_and_a_missing_file_are_told_apart(tmp_path, exists):
    path = tmp_path / "mine.csv"
    if exists:
        path.mkdir()
    [problem] = problems(path)
    assert problem.what == ("this is a folder" if exists else "there is no such file")


def test_all_faults_of_a_file_come_in_one_report_in_order_of_rows(write):
    text = "Source,output,content.ann,contnt.r1\nx,y,bad,1\na,b\n,z,inf,2\n"
    with pytest.raises(DataError) as raised:
        read(write(text))
    assert [(p.row, p.column) for p in raised.value.problems] == [
        (0, "Source"),
        (0, "contnt.r1"),
        (1, "content.ann"),
        (2, ""),
        (3, "content.ann"),
    ]
    assert str(raised.value).startswith("5 problems found:\n")


def test_rows_are_counted_as_a_person_counts_them(write):
    text = 'source,output\n"two\nlines",b\n\n,b\n'
    [problem] = problems(write(text))
    assert problem.row == 3  # the blank line is row 2


def test_a_long_cell_is_not_quoted_in_full(write):
    [problem] = problems(write(HEAD + f"a,b,{'x' * 5000},1\n"))
    assert len(problem.what) < 100


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_no_file_whatever_ends_in_a_traceback(tmp_path_factory, ending, content):
    path = tmp_path_factory.mktemp("any") / f"mine{ending}"
    for body in (
        content,
        b"source,output\na,b\n" + content,
        b'{"source":"a","output":"b"}\n' + content,
    ):
        path.write_bytes(body)
        with suppress(DataError):
            read(path)


# -------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "m.parquet"])
def test_the_same_data_in_any_format_is_the_same_data_set(write, tmp_path, name):
    rows = [
        {
            "source": "a, b",
            "output": "",
            "system": "A",
            "task": "x",
            "style.r1": 1,
            "style.r2": None,
        },
        {"source": "a, b", "output": "ü\u2028?", "system": "B", "task": "", "style.r1": 2.5},
    ]
    frame = pd.DataFrame(rows).assign(references=[["r"], []])
    if name.endswith(("csv", "tsv")):
        frame["references"] = frame["references"].map(json.dumps)
        path = tmp_path / name
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    elif name.endswith("jsonl"):
        listed = zip(rows, [["r"], []], strict=True)
        path = write(lines(*({**row, "references": refs} for row, refs in listed)), name)
    else:
        path = write(frame, name)
    dataset = read(path)
    items = dataset.items
    assert items["item_id"].tolist() == ["1", "2"]
    assert items["source_id"].tolist() == ["s1", "s1"]
    assert items["output"].tolist() == ["", "ü\u2028?"]
    assert items["references"].tolist() == [["r"], []]
    assert items["language"].tolist() == ["en", "en"]
    assert dataset.ratings[["item_id", "rater", "value"]].to_numpy().tolist() == [
        ["1", "r1", 1.0],
        ["2", "r1", 2.5],
    ]
    assert dataset.label("task").tolist() == ["x", ""]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD + "\n\n",
        GOOD.replace("source,output,", " source , output,"),
        GOOD.removesuffix("\n"),
    ],
    ids=["BOM", "CRLF", "CR", "blank lines", "spaces in the header", "no last line end"],
)
def test_harmless_differences_of_form_change_nothing(write, text):
    dataset = read(write(text))
    assert dataset.items["source"].tolist() == ["a cat sat", "he ran"]
    assert dataset.means["content"].tolist() == [4.5, 2.5]


def test_an_output_may_be_empty_or_blank(write):
    assert read(write('source,output\na,\nb,"  "\n')).items["output"].tolist() == ["", "  "]


def test_ratings_are_not_needed(write):
    dataset = read(write("source,output\na,b\n"))
    assert dataset.ratings.empty
    assert dataset.dimensions == []


def test_one_rater_is_enough_and_gaps_are_not_ratings(write):
    dataset = read(write("source,output,fluency.r1\na,b,1\na,c,\na,d,3\n"))
    assert dataset.ratings["item_id"].tolist() == ["1", "3"]


def test_a_text_of_ten_thousand_tokens_is_fine(write):
    text = " ".join(["word"] * 10_000)
    assert read(write(f"source,output\n{text},b\n")).items["source"][0] == text


def test_single_reference_columns_are_put_in_order_and_empty_ones_left_out(write):
    text = "source,output,reference_10,reference_2,reference\na,b,ten,two,first\na,c,,two,\n"
    references = read(write(text)).items["references"].tolist()
    assert references == [["first", "two", "ten"], ["two"]]


def test_what_the_file_says_of_its_items_is_kept(write):
    text = (
        "dataset,item_id,source_id,source,output,system,style,direction,language,is_reference,mood\n"
        "other,7, s ,a,b,A,formal,up,pt-BR,TRUE,dark\n"
    )
    item = read(write(text), name="my-set").items.iloc[0]
    expected = ["my-set", "7", "s", "A", "formal", "up", "pt-BR", "a", "b", [], True]
    assert item.tolist() == expected


def test_ids_that_are_numbers_stay_as_they_are_written(write):
    path = write(lines({"item_id": 7, "source": "a", "output": "b", "system": 2}), "m.jsonl")
    assert read(path).items.loc[0, ["item_id", "system"]].tolist() == ["7", "2"]


def test_load_reads_a_file_by_its_name(write):
    assert data.load(str(write(GOOD))).name == "mine"


def test_an_exported_items_table_can_be_read_again(write, tmp_path):
    from tstmeta.console import write_table

    items = read(write('source,output,references\na,b,"[""x"", ""y""]"\nc,d,[]\n')).items
    write_table(items, tmp_path / "again.csv")
    again = read(tmp_path / "again.csv", name="mine").items
    pd.testing.assert_frame_equal(items, again)


def test_equal_ratings_are_a_warning_and_no_fault(write):
    path = write("source,output,style.r1\na,b,3\na,c,3\n")
    with pytest.warns(DataWarning, match="all 2 ratings of style are 3"):
        assert len(read(path).ratings) == 2


# -------------------------------------------------------------------------------------- raters


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], {}),
        (["r1", "r2"], {"r1": "r1", "r2": "r2"}),
        (["mean"], {"mean": "mean"}),
        (["A1XYZ9", "r1", "bea", "r3"], {"A1XYZ9": "r2", "r1": "r1", "bea": "r4", "r3": "r3"}),
        (["r0", "r01", "R1", "r12345"], {"r0": "r1", "r01": "r2", "R1": "r3", "r12345": "r4"}),
        (["b", "a", "b"], {"b": "r1", "a": "r2"}),
    ],
)
def test_names_of_raters_are_replaced_unless_they_say_nothing(given, kept):
    assert rater_names(given) == kept


@given(st.lists(st.sampled_from(["r1", "r2", "r9", "mean", "ann", "bo", "r007", "Ω"])))
def test_no_two_raters_become_one(given):
    names = rater_names(given)
    assert len(set(names.values())) == len(names) == len(set(given))


def test_a_rater_has_one_name_in_all_dimensions_and_it_is_not_theirs(write):
    dataset = read(write("source,output,content.ann,style.bob,style.ann\na,b,1,2,3\na,c,2,3,4\n"))
    rows = dataset.ratings[["dimension", "rater", "value"]].to_numpy().tolist()[:3]
    assert rows == [["content", "r1", 1.0], ["style", "r2", 2.0], ["style", "r1", 3.0]]
    assert not dataset.ratings.isin(["ann", "bob"]).any().any()


# ----------------------------------------------------------------------------------- long file

LONG = "item_id,dimension,rater,value\n"


def test_a_long_file_gives_the_same_ratings_as_columns(write):
    items = write("item_id,source,output\nx,a,b\ny,a,c\n")
    long = write(LONG + "x,content,ann,1\nx,content,bob,2\ny,content,ann,3\n", "ratings.csv")
    wide = write("item_id,source,output,content.ann,content.bob\nx,a,b,1,2\ny,a,c,3,\n", "wide.csv")
    ours, theirs = read(items, long, name="m").ratings, read(wide, name="m").ratings
    pd.testing.assert_frame_equal(ours, theirs)


def test_without_ids_a_long_file_speaks_of_row_numbers(write):
    long = write(LONG + "2,style,r1,4\n1,style,r1,3\n", "ratings.csv")
    assert read(write("source,output\na,b\na,c\n"), long).means["style"].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("text", "row", "column", "what", "remedy"),
    [
        ("", None, "", "the file is empty", "add a header"),
        ("item_id,rater,value\nx,r1,1\n", 0, "dimension", "missing column", "item_id, dimension"),
        (
            LONG.replace("\n", ",note\n") + "x1,style,r1,1,n\n",
            0,
            "note",
            "unknown column",
            "drop it",
        ),
        (LONG + "x11,style,r1,1\n", 1, "item_id", "no item is called 'x11'", "did you mean 'x1'"),
        (LONG + "?,style,r1,1\n", 1, "item_id", "no item is called '?'", "add the item"),
        (LONG + "x1,grammar,r1,1\n", 1, "dimension", "unknown dimension 'grammar'", "use one of"),
        (LONG + "x1,style,,1\n", 1, "rater", "no rater", "write r1"),
        (LONG + "x1,style,r1,\n", 1, "value", "no value", "drop the row"),
        (LONG + "x1,style,r1,high\n", 1, "value", "'high' is not a number", "write a number"),
        (LONG + "x1,style,r1,1\nx1,style,r1,2\n", 2, "value", "those of row 1", "keep one"),
        (LONG + "x1,style,r1,1\nx1,style\n", 2, "", "2 cells", "double quotes"),
    ],
)
def test_a_fault_in_a_long_file_names_its_row(write, text, row, column, what, remedy):
    items = write("item_id,source,output\nx1,a,b\ny1,a,c\n")
    path = write(text, "ratings.csv")
    [problem] = problems(items, ratings=path)
    assert (problem.file, problem.row, problem.column) == (str(path), row, column)
    assert what in problem.what
    assert remedy in problem.remedy


def test_faults_of_both_files_come_in_one_report(write):
    items = write("item_id,source,output\nx,,b\n")
    found = problems(items, ratings=write(LONG + "x,style,r1,?\n", "ratings.csv"))
    assert [Path(p.file).name for p in found] == ["mine.csv", "ratings.csv"]


def test_ratings_in_two_places_are_refused(write):
    [problem] = problems(write(GOOD), ratings=write(LONG + "1,style,r1,3\n", "ratings.csv"))
    assert "keep them in one place" in problem.remedy


# --------------------------------------------------------------------------------------- scale


@pytest.mark.parametrize("beside", [True, False])
def test_a_rating_off_its_scale_is_a_fault(write, beside):
    path = write("source,output,content.r1,style.r1\na,b,5,9\na,c,6,-3\na,d,0.5,1\n")
    options = {} if beside else {"scale": {"content": (1, 5)}}
    if beside:
        write("scale.content = [1, 5]\n", "mine.csv.toml")
    found = problems(path, **options)
    assert [(p.row, p.column) for p in found] == [(2, "content.r1"), (3, "content.r1")]
    assert found[0].what == "6 is not on the scale 1 to 5"
    assert found[0].remedy == "correct the rating or the scale"


def test_without_a_scale_nothing_is_guessed(write):
    path = write("source,output,content.r1\na,b,1\na,c,2\na,d,999\n")
    assert read(path).means["content"].tolist() == [1, 2, 999]


def test_the_file_beside_gives_the_card_and_the_ratings(write):
    write(
        'title = "My set"\nexamples = true\nratings = "long.csv"\n[scale]\nstyle = [0, 1]\n',
        "mine.csv.toml",
    )
    write(LONG + "1,style,r1,0.5\n2,style,r1,1\n", "long.csv")
    dataset = read(write("source,output\na,b\na,c\n"))
    assert dataset.card.title == "My set"
    assert dataset.card.may_show_examples
    assert dataset.card.scale == {"style": (0.0, 1.0)}
    assert dataset.means["style"].tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("text", "column", "what", "remedy"),
    [
        ("scale = [1, 5]", "scale", "wrong kind", "use only title"),
        ("scales = 5", "scales", "unknown key", "use only title"),
        ("scale.contant = [1, 5]", "scale", "unknown dimension 'contant'", "'content'"),
        ("scale.content = [5, 1]", "scale", "[5, 1] is no scale", "content = [1, 5]"),
        ("scale.content = [1]", "scale", "[1] is no scale", "content = [1, 5]"),
        ("scale.content = 5", "scale", "5 is no scale", "content = [1, 5]"),
        ("scale: 5", "", "not TOML", "scale.content = [1, 5]"),
    ],
)
def test_a_fault_in_the_file_beside_is_reported_too(write, text, column, what, remedy):
    beside = write(text, "mine.csv.toml")
    [problem] = problems(write(GOOD))
    assert (problem.file, problem.column) == (str(beside), column)
    assert what in problem.what
    assert remedy in problem.remedy


# ------------------------------------------------------------------------------------- example


def test_the_example_can_be_read_as_it_is(tmp_path):
    template(tmp_path / "start.csv")
    dataset = read(tmp_path / "start.csv")
    assert len(dataset.items) == 4
    assert dataset.dimensions == ["content", "style"]
    assert dataset.items["references"].map(len).tolist() == [2, 2, 1, 1]
    assert len(dataset.ratings) == 15
    assert dataset.labels.empty


def test_the_example_never_overwrites_a_file(write):
    path = write("mine")
    with pytest.raises(TstmetaError, match="is there already"):
        template(path)
    assert path.read_text() == "mine"


def test_the_example_is_a_csv_file(tmp_path):
    with pytest.raises(TstmetaError, match=r"end its name in \.csv"):
        template(tmp_path / "start.xlsx")


# ------------------------------------------------------------------------------ any other table


def test_any_table_can_be_read_as_it_is_written(write):
    frame = read_frame(write("item_id,value\nx, 1\ny,\n"))
    assert frame.to_dict("list") == {"item_id": ["x", "y"], "value": [" 1", ""]}
    frame = read_frame(write(lines({"a": 1}, {"b": [2]}), "m.jsonl"))
    assert frame.astype(object).where(frame.notna(), None).to_numpy().tolist() == [
        [1, None],
        [None, [2]],
    ]


def test_a_table_with_a_fault_is_not_read(write):
    with pytest.raises(DataError, match="row 1: 3 cells"):
        read_frame(write("item_id,value\nx,1,2\n"))
