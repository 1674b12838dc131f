"""Many processes on one store: they share the work, and take over what a dead one had claimed."""

import multiprocessing
import os
import sys
from collections import Counter
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pandas as pd
import pytest

import tstmeta as tst
from tests.attack.jobs import METRIC, PATIENCE, SCORING, until_kept  # also what forks import
from tests.scored import contents
from tstmeta import scoring
from tstmeta.models.tokencache import Cached

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks of a server")

UNITS = 80
#: Processes are forks of one that has imported what takes time.
FORKS = multiprocessing.get_context("forkserver")


def scored(place: Path, metric: str, out: str, together: Barrier) -> None:
    """Score all units of a small file in small blocks."""
    os.chdir(place)
    scoring.LEAST_BLOCK = 16
    data = tst.read("mine.csv")
    together.wait()
    tst.score(data, [metric], bases=["source"], store="store", progress=False).to_pickle(out)


def answered(place: Path, kind: str, out: str, together: Barrier) -> None:
    """Answer requests to a tiny model, which writes down what it computes."""
    from tests.models import tiny

    os.chdir(place)
    model, requests = tiny.engine(kind), tiny.draw(0, 60)
    compute = model._scored

    def logged(batch, requests):
        with open("begun.log", "a") as log:
            ranks = [rank for row in batch for rank, _ in row.members]
            log.writelines(f"{os.getpid()} {kind} {rank}\n" for rank in ranks)
        return compute(batch, requests)

    model._scored = logged
    together.wait()
    answers = tiny.answers(Cached(model, Path("store")), requests)
    Path(out).write_text(repr([values.tolist() for values in answers]))


@pytest.fixture
def start(tmp_path, monkeypatch):
    """A function that starts processes, which begin to work at the same time."""
    monkeypatch.chdir(tmp_path)
    texts = [f"source {n},text {n}" for n in range(UNITS)]
    Path("mine.csv").write_text("\n".join(["source,output", *texts, ""]))
    for name in ("slow", "other"):
        Path(f"{name}.py").write_text(METRIC.replace("logged", name))
    begun: list[BaseProcess] = []
    barriers = []  # which have to live as long as the processes

    def run(*metrics: str, work=scored) -> list[BaseProcess]:
        barriers.append(together := FORKS.Barrier(len(metrics), timeout=PATIENCE))
        for place, metric in enumerate(metrics):
            arguments = (tmp_path, metric, f"table{place}", together)
            begun.append(FORKS.Process(target=work, args=arguments))
            begun[-1].start()
        return begun[-len(metrics) :]

    yield run
    for process in begun:
        process.kill()
        process.join()


def ended(*processes: BaseProcess) -> None:
    for process in processes:
        process.join(PATIENCE)
        assert process.exitcode == 0


def log() -> list[list[str]]:
    """Process, metric and text of each unit that was computed."""
    return [line.split(" ", 2) for line in Path("begun.log").read_text().splitlines()]


def stored() -> int:
    return SCORING.kept(Path())


def test_metrics_are_scored_at_the_same_time_and_processes_share_each(start):
    ended(*start("./slow.py:slow", "./slow.py:slow", "./other.py:other"))
    texts = {f"text {n}" for n in range(UNITS)}
    for name in ("slow", "other"):
        assert Counter(text for _, metric, text in log() if metric == name) == Counter(texts)
    order = [name for _, name, _ in log()]
    assert max(order.index("slow"), order.index("other")) < UNITS
    assert len({process for process, *_ in log()}) == 3
    first, second = pd.read_pickle("table0"), pd.read_pickle("table1")
    pd.testing.assert_frame_equal(first, second)
    assert first["status"].eq("ok").all()
    assert stored() == 2 * UNITS
    assert contents(Path("store"))["claims"] == []


@pytest.mark.parametrize("units", [11, 37])
def test_the_work_of_a_killed_process_is_taken_over(start, units):
    survivor, victim = start("./slow.py:slow", "./slow.py:slow")
    until_kept(SCORING, Path(), victim, units)
    assert victim.is_alive()
    victim.kill()
    victim.join()
    committed = stored()
    ended(survivor)
    computed = Counter(text for *_, text in log())
    assert set(computed) == {f"text {n}" for n in range(UNITS)}
    # what was under way or ended within the last commit
    assert sum(computed.values()) <= UNITS + 2
    assert committed < UNITS
    assert stored() == UNITS
    assert pd.read_pickle("table0")["status"].eq("ok").all()


def test_two_processes_compute_the_log_probabilities_of_a_model_once(start):
    ended(*start("llama", "llama", work=answered))
    computed = Counter(rank for *_, rank in log())
    assert set(computed.values()) == {1}
    first, second = Path("table0").read_text(), Path("table1").read_text()
    assert first == second
    assert len(contents(Path("store"))["tokens"]) == len(computed)
