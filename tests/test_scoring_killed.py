"""Scoring in processes of its own: killed without warning, twice at the same time."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

#: A slow metric that writes down each call before it answers.  It holds what Python names anew in
#: each process (an inner function, a set of texts): its signature must not change by that.
METRIC = """
import os, time

def logged(source, output):
    with open(os.environ["CALLS"], "a") as log:
        log.write(output + "\\n")
    time.sleep(0.03)
    return sum(len(word) / 7 for word in output.split() if word not in {"a", "the", "of", "and"})
"""
ROWS = 40


@pytest.fixture
def place(tmp_path):
    """A folder with a package of one metric and a data set of 40 rows, two of them equal."""
    package = tmp_path / "slow_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "metric.py").write_text(METRIC)
    lines = [f"the source {i},an output {i} of many" for i in range(1, ROWS)]
    (tmp_path / "mine.csv").write_text("\n".join(["source,output", *lines, lines[0], ""]))
    return tmp_path


def start(place: Path, store: str, out: str, calls: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tstmeta", "score", "--data", "mine.csv", "--basis", "source"]
    command += ["--metric", "slow_package.metric:logged", "--store", store, "--out", out]
    search = os.pathsep.join([str(place), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": search, "CALLS": str(place / calls)}
    environment.pop("PYTHONHASHSEED", None)
    return subprocess.Popen(command, cwd=place, env=environment, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> str:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


def calls(place: Path, name: str) -> list[str]:
    path = place / name
    return path.read_text().splitlines() if path.is_file() else []


def kill_after(process: subprocess.Popen, place: Path, name: str, count: int) -> None:
    """Kill as soon as so many calls have begun."""
    deadline = time.monotonic() + 60
    while len(calls(place, name)) < count:
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_that_is_killed_goes_on_where_it_stopped_and_ends_byte_by_byte_the_same(place):
    finish(start(place, "whole", "whole.csv", "whole.log"))
    assert len(calls(place, "whole.log")) == ROWS - 1

    finished: set[str] = set()
    runs: list[list[str]] = []
    for begun in (1, 7, 12, 30):
        before = len(calls(place, "cut.log"))
        kill_after(start(place, "cut", "cut.csv", "cut.log"), place, "cut.log", begun + len(runs))
        runs.append(calls(place, "cut.log")[before:])
        assert not finished & set(runs[-1]), "a finished score was computed again"
        finished |= set(runs[-1][:-1])  # the last one was under way when the process died
        assert not (place / "cut.csv").exists()
        assert list((place / "cut").glob("*.journal"))
    before = len(calls(place, "cut.log"))
    assert "40 scores, 0 failed" in finish(start(place, "cut", "cut.csv", "cut.log"))
    last = calls(place, "cut.log")[before:]

    assert not finished & set(last)
    times = Counter(calls(place, "cut.log"))
    assert set(times) == set(calls(place, "whole.log"))
    assert sum(times.values()) <= ROWS - 1 + len(runs)
    assert (place / "cut.csv").read_bytes() == (place / "whole.csv").read_bytes()
    assert contents(place / "cut") == contents(place / "whole")
    assert (place / "cut.csv").read_text().count("\n") == ROWS + 1

    before = len(calls(place, "cut.log"))
    finish(start(place, "cut", "again.csv", "cut.log"))
    assert len(calls(place, "cut.log")) == before
    assert (place / "again.csv").read_bytes() == (place / "whole.csv").read_bytes()


@pytest.mark.nightly
def test_two_runs_at_the_same_time_share_the_work(place):
    both = [start(place, "shared", f"{name}.csv", "shared.log") for name in ("one", "two")]
    for process in both:
        finish(process)
    assert set(Counter(calls(place, "shared.log")).values()) == {1}
    assert len(calls(place, "shared.log")) == ROWS - 1
    assert (place / "one.csv").read_bytes() == (place / "two.csv").read_bytes()
    assert not list((place / "shared").glob("*.journal"))
