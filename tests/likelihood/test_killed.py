"""``tstmeta score --metric likelihood`` as a program: killed, it goes on where it stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[2]
METRICS = """
import os, time
from tests.likelihood import small
from tstmeta.likelihood.zeroshot import Likelihood, LikelihoodStyle
from tstmeta.models.engine import Engine

class Slow(Engine):
    def logprobs(self, requests, *, known=(), progress=False):
        for batch in super().logprobs(requests, known=known, progress=progress):
            yield batch
            if not hasattr(self, "checked"):
                continue
            with open(os.environ["CALLS"], "a") as log:
                log.writelines(f"{place}\\n" for place, _ in batch)
            time.sleep(0.02)

words = small.tokenizer("llama")
model = Slow(small.network("llama", len(words)), words, "slow", budget=64, row_tokens=64)
model.checked = True
content = Likelihood(model=model)
style = LikelihoodStyle(model=model)
"""
BOTH = ("likelihood_package.own:content", "likelihood_package.own:style")
ROWS = 30


@pytest.fixture
def place(tmp_path):
    """A folder with both metrics on a slow model and a data set; two rows are the same."""
    package = tmp_path / "likelihood_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "own.py").write_text(METRICS)
    lines = [f"It rained {'ab' * i}.,Rain fell {'xy' * i}.,formal" for i in range(1, ROWS)]
    (tmp_path / "mine.csv").write_text("\n".join(["source,output,style", *lines, lines[0], ""]))
    return tmp_path


def start(place: Path, store: str, *metrics: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tstmeta", "score", "--data", "mine.csv", "--store", store]
    search = os.pathsep.join([str(place), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    more = {"PYTHONPATH": search, "CALLS": str(place / f"{store}.log"), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, "--out", f"{store}.csv", *(word for name in metrics for word in ("-m", name))],
        cwd=place,
        env={**os.environ, **more},
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> str:
    _, messages = process.communicate(timeout=120)
    assert process.returncode == 0, messages
    return messages


def calls(place: Path, store: str) -> list[str]:
    path = place / f"{store}.log"
    return path.read_text().splitlines() if path.is_file() else []


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_a_killed_run_goes_on_where_it_stopped_and_ends_byte_by_byte_the_same(place):
    finish(start(place, "whole", *BOTH))
    assert sorted(map(int, calls(place, "whole"))) == list(range(3 * (ROWS - 1)))
    finished: set[str] = set()
    for count in (1, 40):
        before = len(calls(place, "cut"))
        process = start(place, "cut", *BOTH)
        while len(calls(place, "cut")) < before + count:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        computed = set(calls(place, "cut")[before:])
        assert not computed & finished, "a token was computed again"
        finished |= computed
        assert list((place / "cut" / "tokens").glob("*.journal"))
        assert not (place / "cut.csv").exists()
    before = len(calls(place, "cut"))
    assert f"{2 * ROWS} scores, 0 failed" in finish(start(place, "cut", *BOTH))
    assert not set(calls(place, "cut")[before:]) & finished
    assert (place / "cut.csv").read_bytes() == (place / "whole.csv").read_bytes()
    assert contents(place / "cut") == contents(place / "whole")
