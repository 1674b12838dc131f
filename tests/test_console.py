import csv
import io
import json
import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.console import from_inert, inert, show_table, to_csv, to_json, to_text, write_table

MIXED = pd.DataFrame(
    {
        "name": ["a,b", "[red]x", None],
        "value": [1 / 3, np.nan, -2.0],
        "n": pd.array([1, None, 3], dtype="Int64"),
        "texts": [["é"], [], ["x", "y"]],
        "good": [True, False, True],
    }
)


def test_piped_text_is_aligned_and_names_missing_values():
    assert to_text(MIXED).splitlines() == [
        "name     value  n  texts       good",
        'a,b      0.333  1  ["é"]       yes',
        "[red]x       -  -  []          no",
        '-       -2.000  3  ["x", "y"]  yes',
    ]


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_rows_are_shown_as_their_table_is(form, capsys):
    rows = [{"name": "a,b", "n": None}, {"name": "[red]x", "n": 12}]
    show_table(pd.DataFrame(rows).astype({"n": "Int64"}), form)
    expected = capsys.readouterr().out
    show_table(rows, form)
    assert capsys.readouterr().out == expected
    assert to_text([]).strip() == ""


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        (" \n=1", "' \n=1"),
        ("＝1", "'＝1"),
        ("'=1", "''=1"),  # so that every text comes back
        ("\r=1\x07", "\\r=1\\x07"),
        ("-0.25", "-0.25"),
        ("a=1", "a=1"),
    ],
)
def test_a_table_for_people_holds_no_formula_and_a_table_of_data_is_exact(cell, shown):
    read = lambda text: next(csv.DictReader(io.StringIO(text, newline="")))  # noqa: E731
    frame = pd.DataFrame({"=x": [cell]}, dtype=object)
    assert read(to_csv(frame, for_people=True)) == {"'=x": shown}
    assert read(to_csv(frame)) == {"=x": str(cell)}


SIGNS = st.characters(exclude_categories=["Cc", "Cs"], include_characters="\t\n")


@given(st.text(st.sampled_from("'=+-@＝ \t\n1e") | SIGNS, max_size=5))
def test_what_a_table_for_people_changes_is_taken_back(text):
    assert from_inert(inert(text)) == text


def test_json_is_a_list_of_objects_with_null_for_what_is_missing():
    rows = json.loads(to_json(MIXED), parse_constant=pytest.fail)
    assert rows[0] == {"name": "a,b", "value": 1 / 3, "n": 1, "texts": ["é"], "good": True}
    assert rows[1]["value"] is rows[1]["n"] is rows[2]["name"] is None
    infinite = pd.DataFrame({"x": [math.inf, -math.inf]})
    assert json.loads(to_json(infinite), parse_constant=pytest.fail) == [{"x": None}] * 2
    assert to_json(infinite[:0]) == "[]\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("\x9b31m", "\\x9b31m"),
        ("\u2028", "\\u2028"),
        ("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:"),
        ("x" * 5000, "x" * 5000),
        ("日本語", "日本語"),
    ],
)
def test_a_text_cannot_steer_the_terminal_and_is_never_cut(text, shown):
    assert to_text(pd.DataFrame({"t": [text]})).splitlines()[1] == shown


@given(st.lists(st.text(max_size=20), min_size=1))
def test_piped_text_has_one_line_a_row_whatever_the_texts(texts):
    assert len(to_text(pd.DataFrame({"t": texts, "n": 1})).split("\n")) == len(texts) + 2


def test_at_a_terminal_the_table_is_drawn_and_cells_fold(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    show_table(pd.DataFrame({"t": ["word " * 30], "n": [1]}))
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "───" in out
    assert max(map(len, out.splitlines())) <= 40
    assert out.count("word") == 30


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_file_is_written_as_it_is_named(tmp_path, format):
    out = tmp_path / "new" / f"table.{format}"
    write_table(MIXED.drop(columns="texts"), out)
    read = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet}[format]
    assert read(out)["value"].tolist()[::2] == pytest.approx([1 / 3, -2])
    assert [file.name for file in out.parent.iterdir()] == [out.name]
