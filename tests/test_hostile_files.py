"""Files with hostile names, long cells, many columns, or no end: a message, an escape, a value."""

import io
import os
import sys
from functools import partial
from pathlib import Path
from xml.dom import minidom

import pandas as pd
import pytest

from experiments.transfer import configuration
from tests.command import CSV, refusal, score_file, success
from tstmeta import console, plot, schema
from tstmeta.analysis import render
from tstmeta.data import files, load, paths, table_files
from tstmeta.judge import prompts, ratings
from tstmeta.likelihood import instructions
from tstmeta.models import causal, hub, lexicon, parses, vectors
from tstmeta.schema import TstmetaError

ESC, HALF = "red\x1b[31m\x9bm", os.fsdecode(b"half\xff")
CONTROLS = ("\x1b", "\x9b")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def hostile(tmp_path):
    """The options of an evaluation of files and metrics with control characters."""
    (tmp_path / f"{ESC}.csv").write_text(CSV.replace(",A,", f",{ESC},"))
    scores = score_file(tmp_path / f"scores{ESC}.csv", f"mine{ESC}")
    files = ("--data", f"{ESC}.csv", "--scores", scores)
    return (*files, "--draws", "20", "--dimension", "content")


def test_no_control_character_reaches_figures_and_reports(tstmeta, tmp_path, hostile):
    done = success(tstmeta("evaluate", *hostile, "--report", "report", "--plot", "figure.svg"))
    assert not any(sign in done.output for sign in CONTROLS)
    assert "red\\x1b[31m" in done.stdout
    for path in (tmp_path / "figure.svg", tmp_path / "report/figure.svg"):
        minidom.parse(str(path))
    for path in (tmp_path / "report").glob("*.[tch]*"):
        text = path.read_bytes().decode()
        assert "mine" in text
        assert not any(sign in text for sign in CONTROLS), path


@pytest.mark.parametrize("kind", ["csv", "latex"])
def test_no_control_character_of_a_name_is_printed(tstmeta, hostile, kind):
    done = success(tstmeta("evaluate", *hostile, "--format", kind))
    assert CONTROLS[0] not in done.stdout + done.stderr


def test_data_show_has_no_control_character(tstmeta, tmp_path):
    (tmp_path / "mine.csv.toml").write_text('title = "a \\u001b[31m title"\n')
    done = success(tstmeta("data", "show", "mine.csv"))
    assert not any(sign in done.output for sign in CONTROLS)


@pytest.mark.parametrize(
    "write",
    [
        partial(console.show_table, format="csv"),
        partial(console.show_table, format="json"),
        console.write_table,
    ],
)
def test_data_are_exact_when_piped_and_escaped_at_a_terminal(monkeypatch, write):
    frame = pd.DataFrame({"text": [f"a{ESC}", "b"]})
    for stream, raw in ((io.StringIO(), True), (Terminal(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        write(frame)
        assert ("\x9b" in stream.getvalue()) is raw
        assert stream.getvalue().count("\n") >= 3


@pytest.mark.parametrize("draw", [plot.heatmap, plot.forest, plot.bump, plot.scatter])
@pytest.mark.parametrize("sign", ["\x1b", "\0", "\ufffe"])
def test_every_figure_is_valid_xml(draw, sign):
    names = {"metric": ["bleu", f"b{sign}"] * 2, "dataset": ["x", "x", *[f"y{sign}"] * 2]}
    numbers = {"value": [0.1, 0.2, 0.4, 0.3], "low": 0.0, "high": 0.5, "score": 1.0, "human": 2.0}
    frame = pd.DataFrame(names | numbers).assign(basis="source")
    drawn = draw(frame, **({"hue": "metric", "by": "dataset"} if draw is plot.scatter else {}))
    [image] = render.images(getattr(drawn, "figure", drawn), "svg")
    minidom.parseString(image)


EVALUATE = "evaluate --data mine.csv --metric copy-rate --draws 9"


@pytest.mark.parametrize(
    "words",
    [
        *("evaluate --data HALF.csv", "score --data HALF.csv", "data show HALF.csv"),
        "score --data HALF.csv --out parts.parquet",
        "score --data mine.csv --metric copy-rate --out HALF.csv",
        "judge show HALF.toml --data mine.csv",
        *(f"{EVALUATE} --scores HALF.csv", f"{EVALUATE} --ratings HALF.csv"),
        *(f"{EVALUATE} --plot HALF.svg", f"{EVALUATE} --report HALF"),
        f"{EVALUATE} --out HALF.csv",
    ],
)
def test_a_name_that_is_not_utf8_is_named_with_a_remedy(tstmeta, tmp_path, words):
    for name in (f"{HALF}.csv", f"{HALF}.toml"):
        (tmp_path / name).write_text(CSV)
    message = refusal(tstmeta(*words.replace("HALF", HALF).split()))
    for part in ("half\udcff", "not UTF-8", "rename it"):
        assert part in message


def test_a_cell_of_a_megabyte_is_read(tmp_path):
    (tmp_path / "long.csv").write_text(f'source,output\n"{"a " * 500_000}",b\n')
    assert len(load(str(tmp_path / "long.csv")).items["source"][0]) == 1_000_000


def test_columns_of_texts_are_not_held_one_by_one(tmp_path, monkeypatch, tstmeta):
    names = [f"label{n}" for n in range(500)]
    head, row = ",".join(names), ",".join("x" * len(names))
    text = f"source,output,style,system,{head}\n" + f"a,b,formal,A,{row}\na,c,formal,B,{row}\n"
    (tmp_path / "wide.csv").write_text(text)
    columns = []
    real = schema.hold
    watch = lambda frame, form, where: columns.extend(form.columns) or real(frame, form, where)  # noqa: E731
    monkeypatch.setattr(schema, "hold", watch)
    assert len(table_files.read(tmp_path / "wide.csv").labels) == 1000
    assert not set(names) & set(columns)
    monkeypatch.setattr(pd.DataFrame, "pivot_table", None)  # needed where values are asked for
    success(tstmeta("data", "form", "wide.csv", "--out", "form"))


def model_of(path: Path):
    for name in ("model.safetensors", "tokenizer.json"):
        (path.parent / name).touch()
    return hub.folder(causal.backbone(str(path.parent)))


@pytest.mark.timeout(60)  # to open a pipe waits for its writer, for ever
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("mine.csv", table_files.read),
        ("mine.parquet", lambda path: files.files_of(str(path))),
        ("text.txt", paths.read_text),
        ("parses.conllu", parses.trees),
        ("vectors.txt", vectors.texts_of),
        ("words.json", lexicon.read),
        ("prompt.toml", lambda path: prompts.load(str(path))),
        ("instructions.toml", instructions.read),
        ("models.toml", configuration.read),
        ("judged.csv", ratings.read),
        ("config.json", model_of),
    ],
)
def test_a_pipe_or_device_is_refused_at_once(tmp_path, name, read):
    os.mkfifo(tmp_path / name)
    with pytest.raises(TstmetaError, match=f"(?s){name}.*a pipe or a device.*Remedy"):
        read(tmp_path / name)


def test_a_metric_with_scores_in_a_file_is_refused_before_it_is_computed(tstmeta, monkeypatch):
    success(tstmeta("score", "--data", "mine.csv", "--metric", "bleu", "--out", "scores.csv"))
    from tstmeta.analysis import choice

    monkeypatch.setattr(choice, "score", lambda *_, **__: pytest.fail("it was computed"))
    words = ("--scores", "scores.csv", "--draws", "9")
    message = refusal(tstmeta("evaluate", "--data", "mine.csv", "--metric", "lexical", *words))
    assert "bleu" in message
    assert "Remedy" in message
