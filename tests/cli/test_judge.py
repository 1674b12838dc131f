"""``tstmeta judge`` as a user meets it: lists, dry runs, runs, interrupts, files, mistakes."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from tests.command import success, table
from tests.judge import scripted
from tests.judge.asking import fences
from tests.judge.scripted import error, says
from tstmeta.judge import prompts

FILES = "--out rows.csv --scores-out scores.csv"


@pytest.fixture(autouse=True)
def a_style(tstmeta):
    """The file of the tests of commands, with a style to ask about."""
    pd.read_csv("mine.csv").assign(style="formal").to_csv("mine.csv", index=False)


@pytest.fixture
def server():
    """A server that rates by the number of words in the rewrite, which stands last."""
    with scripted.serving(counting) as running:
        yield running


def counting(asked):
    return says(str(len(fences(asked.prompt)[-1].split())))


def asking(server, more=""):
    words = f"judge run -d mine.csv -p content --server {server.url} --model tiny --retries 0"
    return f"{words} {more}"


def test_what_would_be_sent_is_shown_to_the_letter(tstmeta, server):
    tstmeta(asking(server, "--limit 1 --prompt joint"))
    (body,) = server.bodies
    result = tstmeta("judge show joint --data mine.csv")
    words, _, schema = result.stdout.partition("\n--- schema\n")
    assert words == "".join(f"--- {m['role']}\n{m['content']}" for m in body["messages"])
    assert json.loads(schema) == body["response_format"]["json_schema"]["schema"]
    assert prompts.load("joint").hash in result.stderr


def test_a_dry_run_asks_nobody_and_says_what_it_would_cost(tstmeta, server, tmp_path):
    result = tstmeta(asking(server, "--dry-run --samples 3"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "12 requests (0 answers are kept)" in result.stderr
    assert server.requests == 0
    assert not (tmp_path / "store").exists()


def test_a_run_writes_rows_and_scores_that_evaluate_reads(tstmeta, server, tmp_path):
    result = tstmeta(asking(server, FILES))
    assert (result.exit_code, result.stdout) == (0, "")
    rows = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False)
    assert rows["rating"].tolist() == [5, 2, 3, 4]
    assert "content: 4 ok" in result.stderr
    assert "4 requests, 60 tokens" in result.stderr
    command = result.stderr.partition("use it: tstmeta ")[2].splitlines()[0]
    evaluated = table(tstmeta(f"{command} --dimension content --draws 20 --format csv"))
    row = evaluated.set_index("metric").loc["judge:tiny+content"]
    expected = np.corrcoef([5, 2, 3, 4], [4.5, 1.5, 5, 1.5])[0, 1]  # with the mean human ratings
    assert float(row["value"]) == pytest.approx(expected)
    assert f"prompt:content@{prompts.load('content').hash}" in row["signature"]
    assert f"server:{server.url}" in row["signature"]


def test_missing_ratings_are_rows_are_told_and_end_with_exit_code_1(tstmeta, tmp_path):
    def script(asked):
        return error(500, "oh") if "he went" in asked.prompt else says("eleven")

    with scripted.serving(script) as server:
        result = tstmeta(asking(server, FILES))
    assert result.exit_code == 1
    assert "content: 3 invalid\ncontent: 1 error\n" in result.stderr
    assert "4 without a rating; the first: invalid: " in result.stderr
    rows = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False)
    assert rows["rating"].tolist() == [""] * 4
    assert rows["detail"].str.contains("eleven").sum() == 3
    scores = pd.read_csv(tmp_path / "scores.csv", keep_default_na=False)
    assert scores["value"].tolist() == [""] * 4


def test_ctrl_c_keeps_what_was_answered_and_the_same_command_goes_on(tstmeta, tmp_path):
    def script(asked):
        return says("3", latency=30.0) if asked.number == 3 else counting(asked)

    with scripted.serving(script) as server:
        words = asking(server, f"--concurrency 1 --cache answers.sqlite {FILES}")
        code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        code += "from tstmeta.cli import main; main()"
        command = [sys.executable, "-c", code, *words.split()]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        while server.requests < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate(timeout=20)  # it does not wait for the slow answer
        assert process.returncode == 130, shown
        assert not (tmp_path / "rows.csv").exists()
        result = success(tstmeta(words))
        assert "2 requests (2 answers are kept)" in result.stderr
        assert server.requests == 5  # the third was under way, and nobody has its answer
