"""A construction with a real server and a tiny random model: rubbish in, reasons out."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.command import command_line
from tests.judge.construct import author
from tests.judge.serving import Gate, serving, tiny_chat

pytest.importorskip("fastapi", reason="the server is the extra serving")
pytest.importorskip("openai", reason="the client is the extra judge")

pytestmark = pytest.mark.nightly


def test_rubbish_is_rejected_with_reasons_and_a_killed_run_asks_nothing_twice(
    tmp_path, tmp_path_factory, monkeypatch
):
    tstmeta = command_line(tmp_path, monkeypatch)
    (tmp_path / "texts.txt").write_text(author.source(0) + "\n" + author.source(1) + "\n")
    model = tiny_chat(tmp_path_factory.mktemp("serve") / "tiny-chat")
    with serving(model) as url, Gate(url, room=2) as gate:
        words = ["construct", "--style", "more formal", "--sources", "texts.txt", "--out", "formal"]
        words += ["--server", gate.url, "--model", "tiny-chat", "--tries", "1"]
        command = [sys.executable, "-m", "tstmeta", *words, "--concurrency", "1"]
        process = subprocess.Popen(command, cwd=tmp_path, env=os.environ, stderr=subprocess.PIPE)
        try:
            gate.wait_for(answers=2)
            while gate.asked.total() < 3:  # one at a time: the second answer is on file by then
                assert process.poll() is None
                time.sleep(0.01)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
        gate.open()
        result = tstmeta(*words)
    assert result.exit_code == 0, result.stderr
    # foretold were all four steps of the second source; rubbish leaves nothing for the last two
    assert "4 requests (2 answers are kept)" in result.stderr
    assert "\n2 requests, " in result.stderr
    assert sorted(gate.answered.values()) == [1, 1, 1, 1]
    with (tmp_path / "formal" / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {(row["verdict"], row["output"]) for row in rows} == {("look", "")}
    assert all(row["why"].startswith("no text: ") for row in rows)
    assert not (tmp_path / "formal" / "formal.csv").exists()
    lines = (tmp_path / "formal" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == ["strong", "light"] * 2
    assert all(json.loads(line)["reply"]["text"] for line in lines)
