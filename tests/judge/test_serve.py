"""End to end with a real server: ``transformers serve`` and a tiny chat model, through the CLI.

The model is random, so its answers are rubbish: the runs show that everything is asked, kept and
read as it should be, and that nothing is made of rubbish.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.command import command_line, table
from tests.judge.serving import Gate, serving, tiny_chat

pytest.importorskip("fastapi", reason="the server is the extra serving")
pytest.importorskip("openai", reason="the client is the extra judge")

pytestmark = pytest.mark.nightly
ITEMS = 100
#: Answers that are on file when the first run is killed.
BEFORE = 37
CONCURRENCY = 4


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of the server; it takes some seconds to start and serves all tests here."""
    folder = tiny_chat(tmp_path_factory.mktemp("serve") / "tiny-chat")
    with serving(folder) as url:
        yield url


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command in this process, with a score store of its own."""
    return command_line(tmp_path, monkeypatch)


def words(url: str, *more: str) -> list[str]:
    """The command that is killed and given again."""
    made = ["judge", "run", "--data", "contrast", "--prompt", "joint", "--server", url]
    made += ["--model", "tiny-chat", "--limit", str(ITEMS), "--max-tokens", "4"]
    made += ["--concurrency", str(CONCURRENCY), "--cache", "answers.sqlite"]
    return [*made, "--out", "rows.csv", *more]


def start(place: Path, url: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tstmeta", *words(url)]
    return subprocess.Popen(
        command, cwd=place, env=os.environ, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )


def ended(process: subprocess.Popen) -> tuple[int, str]:
    _, said = process.communicate(timeout=240)
    return process.returncode, said.decode()


def on_file(path: Path) -> int:
    with sqlite3.connect(path) as file:
        return file.execute("SELECT count(*) FROM answers").fetchone()[0]


def wait_until(true, timeout: float = 120.0) -> None:
    deadline = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_run_over_100_items_is_killed_and_goes_on_and_no_request_is_repeated(
    server, tstmeta, tmp_path
):
    cache = tmp_path / "answers.sqlite"
    with Gate(server, room=BEFORE) as gate:
        first = start(tmp_path, gate.url)
        gate.wait_for(BEFORE)
        wait_until(lambda: on_file(cache) == BEFORE)
        wait_until(lambda: gate.asked.total() == BEFORE + CONCURRENCY)
        first.send_signal(signal.SIGKILL)
        assert ended(first)[0] == -signal.SIGKILL
        assert not (tmp_path / "rows.csv").exists()
        assert on_file(cache) == BEFORE

        gate.open()
        code, said = ended(start(tmp_path, gate.url))
        assert code == 1, "rubbish is no rating"
        assert f"{ITEMS - BEFORE} requests ({BEFORE} answers are kept)" in said
        assert gate.answered.total() == len(gate.answered) == ITEMS, "each was answered once"
        assert on_file(cache) == ITEMS

        said = tstmeta(*words(gate.url, "--scores-out", "scores.csv")).stderr
        assert gate.answered.total() == ITEMS, "a third run asks nobody"
        assert f"0 requests ({ITEMS} answers are kept)" in said
    rows = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False, na_values={"rating": [""]})
    check(rows, said)
    scores = pd.read_csv(tmp_path / "scores.csv", keep_default_na=False)
    assert len(scores) == len(rows)
    assert (scores["value"] == "").all()


def check(rows: pd.DataFrame, said: str) -> None:
    """Every item has its row in each dimension; what is no rating is none."""
    assert len(rows) == 3 * ITEMS
    assert rows["item_id"].nunique() == ITEMS
    assert not rows.duplicated(["item_id", "dimension", "sample"]).any()
    assert set(rows["status"]) <= {"invalid", "truncated"}
    assert rows["rating"].isna().all()
    assert rows["detail"].str.len().gt(0).all()
    assert set(rows["answered_by"]) == {"tiny-chat@main"}
    assert set(rows["model"]) == {"tiny-chat"}
    for dimension in ("content", "style", "fluency"):
        assert f"{dimension}: {ITEMS} rows: " in said


def test_the_metric_asks_the_real_server_too(server, tstmeta, tmp_path):
    (tmp_path / "mine.csv").write_text("source,output,style\nhi there,good day,formal\n")
    metric = f"judge:{server}#tiny-chat+content"
    found = table(tstmeta("score", "--data", "mine.csv", "--metric", metric))
    assert found["metric"].tolist() == ["judge:tiny-chat+content"]
    assert found["status"].tolist() == ["invalid"]
    assert on_file(tmp_path / "store" / "judge" / "answers.sqlite") == 1


def test_what_the_server_refuses_is_a_row_in_its_words(server, tstmeta, tmp_path):
    more = ("--model", "another", "--limit", "3", "--cache", "a.sqlite")
    found = table(
        tstmeta("judge", "run", "-d", "contrast", "-p", "content", "--server", server, *more)
    )
    assert found["status"].tolist() == ["error"] * 3
    assert found["detail"].str.contains("pinned to 'tiny-chat'").all()
    assert on_file(tmp_path / "a.sqlite") == 0
