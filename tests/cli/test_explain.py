"""``tstmeta explain`` as a user meets it: at a terminal, in a pipe, into files, and mistaken."""

import io
import json
import math
import re
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from tests.command import command_line, table
from tests.likelihood import small
from tests.likelihood.made import made
from tstmeta.cli import explain as cli_explain
from tstmeta.likelihood.explain import Token
from tstmeta.likelihood.scorer import Rewrite
from tstmeta.schema import Status, TstmetaError

TEXTS = ("--source", "the cat sat down", "--output", "the cat sat <b>", "--style", "formal")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a tiny model."""
    return small.saved(tmp_path_factory.mktemp("model"))


@pytest.fixture
def tstmeta(tmp_path, monkeypatch, model):
    """Run ``tstmeta explain`` with the tiny model."""
    run = command_line(tmp_path, monkeypatch)
    return lambda *words: run("explain", "--model", model, *words)


# ------------------------------------------------------------------------------------ for reading


def test_a_rewrite_is_shown_as_strip_table_and_the_means_that_they_are(tstmeta):
    result = tstmeta(*TEXTS)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "source  the cat sat down"
    strip = lines.index("the ␣cat ␣sat ␣<b>")
    assert len(lines[strip - 1]) == len(lines[strip])
    assert set(lines[strip - 1]) <= {*cli_explain.BARS, " "}
    assert set(lines[strip + 1]) <= set("spr ")
    found = json.loads(tstmeta(*TEXTS, "--format", "json").stdout)[0]
    assert f"C {found['C']:.4f}   mean of the column C over {len(found['tokens'])} tokens" in lines
    assert f"S {found['S']:.4f}   mean of the column S" in lines
    rows = [line.split() for line in lines if re.search(r"(style|paraphrase|repeat) +-\d", line)]
    assert len(rows) == len(found["tokens"])
    parts = [float(row[-2]) for row in rows]
    assert sum(parts) / len(parts) == pytest.approx(found["C"], abs=1e-3)


def test_nothing_but_text_is_written_where_nobody_looks_at_a_terminal(tstmeta):
    evil = "\x1b[31mred\x1b[0m [bold]bold[/bold] :smile: \u202eend"
    result = tstmeta("--source", evil, "--output", evil, "--style", evil)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", result.stdout)
    assert "[bold]bold[/bold] :smile: \\u202eend" in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


def test_lines_are_broken_between_words_and_stay_below_each_other():
    one = made("der Zug über 日本 fährt heute sehr langsam")
    lines = [line.plain for line in cli_explain.strip_lines(one, 16)]
    assert " ".join(lines[1::3]) == one.rewrite.output
    assert all(len(line) <= 16 for line in lines)
    assert [len(line.split()) for line in lines[0::3]] == [
        len(line.split()) for line in lines[1::3]
    ]
    assert lines[1] == "der Zug über"
    assert lines[2] == "s   s   s"


@pytest.mark.parametrize(
    ("log", "bar"), [(0.0, "▁"), (-0.9, "▁"), (-1.1, "▂"), (-6.9, "▇"), (-99, "█"), (-1e400, "█")]
)
def test_a_bar_is_a_step_higher_for_each_natural_logarithm(log, bar):
    assert cli_explain.strip_lines(made("a", [log]), 80)[0].plain == bar


def test_what_is_not_scored_is_told_apart():
    first, second = made("a b c").tokens[:2]
    one = made("a b c d", tokens=(first._replace(counts=False), second))
    assert [line.plain for line in cli_explain.strip_lines(one, 80)] == [
        "  ▂",
        "a b [not scored: 4 characters]",
        "- s",
    ]


def test_a_blank_and_a_line_end_have_signs_of_their_own():
    one = made("x", tokens=(Token(0, " ", 0, 1, (-1, -2, -3)), Token(1, "\n", 1, 2, (-1, -2, -3))))
    assert cli_explain.strip_lines(one, 80)[1].plain == "␣↵"


@pytest.mark.parametrize(("system", "coloured"), [("truecolor", True), ("standard", False)])
def test_colours_have_five_steps_or_are_left_out(system, coloured):
    styles = cli_explain._COLOURS.get(system, cli_explain._STEPS)
    console = Console(file=io.StringIO(), color_system=system, force_terminal=True, width=80)
    for line in cli_explain.strip_lines(made("a b", [-9.0, -0.1]), 80, styles):
        console.print(line)
    shown = console.file.getvalue()
    assert ("48;2;138;45;0m" in shown) is coloured
    assert ("\x1b[1ma" in shown) is not coloured


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colours_and_no_color_takes_them_away(monkeypatch):
    shown = {}
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for no_color in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_color)
        monkeypatch.setattr(sys, "stdout", Terminal())
        cli_explain._shown([made("one two", [-9.0, -0.1])])
        shown[no_color] = sys.stdout.getvalue()
    assert re.search(r"\x1b\[[\d;]*48;2;138;45;0m", shown[""])
    assert not re.search(r"\x1b\[[\d;]*(3|4)\d", shown["1"])
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown["1"])
    assert "███ ▁▁▁\none two\ns   s\n" in plain


# --------------------------------------------------------------------------------------- as files


def test_json_and_csv_have_nothing_else_on_stdout(tstmeta):
    found = json.loads(tstmeta(*TEXTS, "-f", "json").stdout)
    rows = table(tstmeta(*TEXTS, "-f", "csv"))
    assert rows["C"].mean() == pytest.approx(found[0]["C"])
    assert rows["S"].mean() == pytest.approx(found[0]["S"])
    assert list(rows) == [
        *("name", "place", "token", "p_style", "p_paraphrase", "p_repeat", "best", "C", "S")
    ]


@pytest.mark.parametrize("name", ["why.html", "why.json", "why.csv"])
def test_a_file_is_written_as_its_name_says(tstmeta, tmp_path, name):
    result = tstmeta(*TEXTS, "--out", name)
    assert (result.stdout, result.stderr) == ("", f"wrote {name}\n")
    begins = {"html": "<!doctype html>", "json": "[\n{", "csv": "name,place,token"}
    text = (tmp_path / name).read_text()
    assert text.startswith(begins[name.partition(".")[2]])
    assert name != "why.html" or "&lt;b&gt;" in text.replace("</span>", "")


def test_items_of_a_data_set_are_explained_in_the_order_asked(tstmeta):
    words = ("--data", "mine.csv", "-i", "3", "-i", "1", "-f", "json")
    found = json.loads(tstmeta(*words).stdout)
    assert [one["name"] for one in found] == ["3", "1"]
    assert [one["output"] for one in found] == ["we like tea", "the cat was sitting down"]


def styled(tmp_path):
    frame = pd.read_csv(tmp_path / "mine.csv")
    frame.assign(style="formal").to_csv(tmp_path / "styled.csv", index=False)


def test_a_whole_data_set_becomes_a_table_of_lists_and_is_computed_once(tstmeta, tmp_path):
    styled(tmp_path)
    words = ("--data", "styled.csv", "--out", "tokens.parquet")
    result = tstmeta(*words)
    assert (result.exit_code, result.stdout) == (0, "")
    rows = pq.read_table(tmp_path / "tokens.parquet").to_pylist()
    assert ["".join(row["tokens"]) for row in rows] == pd.read_csv("mine.csv")["output"].tolist()
    kept = {path.name: path.read_bytes() for path in (tmp_path / "store" / "tokens").iterdir()}
    first = (tmp_path / "tokens.parquet").read_bytes()
    tstmeta(*words)
    assert (tmp_path / "tokens.parquet").read_bytes() == first
    assert kept == {
        path.name: path.read_bytes() for path in (tmp_path / "store" / "tokens").iterdir()
    }


def test_some_items_can_be_a_table_of_lists_too(tstmeta, tmp_path):
    styled(tmp_path)
    tstmeta("--data", "styled.csv", "-i", "4", "-i", "2", "-o", "few.parquet")
    assert pq.read_table(tmp_path / "few.parquet")["item_id"].to_pylist() == ["2", "4"]


def test_items_without_a_value_are_exit_code_1(tstmeta, tmp_path):
    styled(tmp_path)
    (tmp_path / "styled.csv").write_text(
        (tmp_path / "styled.csv").read_text().replace("formal", "")
    )
    result = tstmeta("--data", "styled.csv", "-i", "2")
    assert result.exit_code == 1
    assert "invalid: no target style" in result.stdout
    assert result.stderr == "1 without a value\n"
    result = tstmeta("--data", "styled.csv", "--out", "t.parquet")
    assert result.exit_code == 1
    assert "4 without a value" in result.stderr


def test_an_empty_output_is_said_to_have_no_token(tstmeta):
    result = tstmeta("--source", "a", "--output", "", "--style", "b")
    assert result.exit_code == 0
    assert "no token: log(1 / size of the vocabulary)" in result.stdout
    assert "mean of" not in result.stdout


# --------------------------------------------------------------------------------------- as a page


@pytest.mark.parametrize(
    ("p", "step"),
    [(1, 0), (0.5, 0), (0.49, 1), (0.1, 1), (0.09, 2), (0.01, 2), (0.009, 3), (0.0009, 4), (0, 4)],
)
def test_a_step_is_less_foreseen_than_the_one_before(p, step):
    assert cli_explain.step(math.log(p) if p else -math.inf) == step


def test_bars_hang_by_the_logarithm_and_are_cut():
    text = cli_explain.page([made("a b c", [-0.5, -3.25, -math.inf])])
    assert re.findall(r"--d:([\d.]+)", text) == ["0.50", "3.25", "8.00"]


def test_a_page_fetches_nothing_and_runs_nothing():
    text = cli_explain.page([made("a b", name="x"), made("c", name="y", demonstration=True)])
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|url\(|@import|<script|<link", text)
    assert re.findall(r"<h2>(\w)</h2>", text) == ["x", "y"]
    assert text.count("is a demonstration") == 1


def test_nothing_of_a_text_is_taken_for_html():
    evil = "<img src=x onerror=alert(1)> \"'><script>alert(2)</script> \u202eabc &amp;"
    words = dict.fromkeys(("wording", "model", "signature", "detail", "name"), evil)
    text = cli_explain.page([made(evil, rewrite=Rewrite(evil, evil, evil), **words)])
    assert "<img" not in text
    assert "<script" not in text
    assert "\u202e" not in text


def test_a_rewrite_without_a_value_says_why():
    one = made("", tokens=(), content=math.nan, status=Status.INVALID, detail="why not")
    assert "No value (invalid)<br>why not" in cli_explain.page([one])


# -------------------------------------------------------------------------------------- mistakes

MISTAKES = {
    "nothing asked": ((), "--source, --output, --style missing"),
    "half a rewrite": (("--source", "a", "--style", "b"), "--output missing"),
    "a blank source": (("--source", " ", "--output", "a", "--style", "b"), "--source is blank"),
    "an item of nothing": (("--item", "x"), "name it with --data"),
    "both": (("--data", "mine.csv", "--style", "b"), "either --data or --style"),
    "all to read": (("--data", "mine.csv"), "--out tokens.parquet"),
    "an unknown item": (("--data", "mine.csv", "-i", "x"), "no item 'x'; such as 1"),
    "an unknown item for a file": (("--data", "mine.csv", "-i", "x", "-o", "t.parquet"), "no item"),
    "an unknown data set": (("--data", "laii", "-i", "x"), "did you mean lai"),
    "a file of no kind": ((*TEXTS, "--out", "why.txt"), "end its name in .json"),
    "a table in a file": ((*TEXTS, "--out", "t.csv", "-f", "table"), "a table is for reading"),
    "Parquet of a text": ((*TEXTS, "--out", "t.parquet"), "Parquet is for data sets"),
    "Parquet on stdout": (("--data", "mine.csv", "-f", "parquet"), "name a file with --out"),
}


@pytest.mark.parametrize(("words", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told(tstmeta, words, message):
    result = tstmeta(*words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)
    assert result.stdout == ""


def test_an_unknown_model_is_told(tmp_path, monkeypatch):
    run = command_line(tmp_path, monkeypatch)
    result = run("explain", *TEXTS, "--model", "nosuch")
    assert "does not know 'nosuch'" in str(result.exception)


def test_the_demonstration_model_is_called_one_on_stderr(tmp_path, monkeypatch):
    run = command_line(tmp_path, monkeypatch)
    result = run("explain", *TEXTS, "--format", "json")
    assert "shows how the method works" in result.stderr
    assert json.loads(result.stdout)[0]["demonstration"] is True
