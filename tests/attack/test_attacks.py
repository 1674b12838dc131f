"""Real commands that are killed, run at the same time, or have no room: nothing is lost.

The tests that bear the marker ``attack`` are counted by ``benchmarks/attacks.py``; what these here
record (tried, survived, ...) stands beside their number.
"""

import os
import random
import time
from pathlib import Path

import pytest

from tests.attack.jobs import JOBS, PACE, Job, end, until_kept, written
from tstmeta.storage import locked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX")
#: Jobs that begin at once; the others load a model first.
QUICK = ("scores", "answers of a judge", "a built test set", "a style classifier")


def cases(*names):
    marks = {name: () if name in QUICK else pytest.mark.nightly for name in names}
    return [pytest.param(name, marks=marks[name]) for name in names]


def undisturbed(job: Job, place: Path) -> tuple[dict[str, bytes], int]:
    """What a whole run writes, and its units of work."""
    code, said = end(job.start(place), place)
    assert code == 0, said
    assert job.begun(place) >= 20
    return written(place), job.begun(place)


def goes_on(job: Job, place: Path, whole: tuple, before: int, record) -> None:
    """A run was ended: nothing is half or lost; the same command does what is left, to the same."""
    files, units = whole
    time.sleep(0.05)  # a server may still read what came before the end
    begun, kept = job.begun(place) - before, job.kept(place)
    half = [name for name, data in written(place).items() if files.get(name, data) != data]
    code, said = end(job.start(place), place)
    assert code == 0, said
    again = job.begun(place) - before - begun
    lost, twice = max(0, begun - kept - job.under_way), max(0, again - (units - kept))
    record("landed", int(0 < kept < units))
    record("lost", lost + sum(files.get(name) != data for name, data in written(place).items()))
    record("twice", twice)
    assert (half, lost, twice) == ([], 0, 0)
    assert written(place) == files
    record("survived", 1)


@pytest.fixture
def record(request, record_property):
    """Count something of the attack on a job."""
    record_property("on", request.node.callspec.params.get("name", ""))
    return record_property


@pytest.mark.attack("kills")
@pytest.mark.parametrize("name", cases(*JOBS))
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.nightly)])
def test_killed_at_any_moment_a_run_goes_on_and_ends_byte_by_byte_the_same(
    tmp_path, name, kills, record
):
    moments, landed = random.Random(f"{name} {kills}"), 0
    with JOBS[name]() as job:
        whole = undisturbed(job, tmp_path / "whole")
        for number in range(kills):
            place = tmp_path / f"cut{number}"
            before = job.begun(place)
            record("tried", 1)
            process = job.start(place, fresh=kills == 10)
            until_kept(job, place, process, moments.randrange(1, whole[1]))
            time.sleep(moments.random() * PACE)
            process.kill()
            process.join()
            landed += 0 < job.kept(place) < whole[1]
            goes_on(job, place, whole, before, record)
    assert landed >= kills / 2, "most kills have to come while something is written"


#: Bytes of the largest file that there is room for, and which file then cannot be written.
ROOM = {
    "scores": [(1500, "journal"), (3500, "parquet"), (5000, "out.csv")],
    "answers of a judge": [(200_000, "answers.sqlite")],
    "a style classifier": [(100_000, "checkpoint.safetensors")],
}


@pytest.mark.attack("disk full")
@pytest.mark.parametrize(
    ("name", "limit", "file"),
    [(*case.values, *room) for case in cases(*ROOM) for room in ROOM[case.values[0]]],
)
def test_where_there_is_no_room_the_file_is_named_and_the_next_run_goes_on(
    tmp_path, name, limit, file, record
):
    with JOBS[name]() as job:
        whole = undisturbed(job, tmp_path / "whole")
        record("tried", 1)
        before = job.begun(tmp_path / "full")
        code, said = end(job.start(tmp_path / "full", limit=limit), tmp_path / "full")
        assert code == 2
        assert "Traceback" not in said
        assert file in said.splitlines()[-1]
        assert "room" in said.splitlines()[-1]
        goes_on(job, tmp_path / "full", whole, before, record)


@pytest.mark.attack("two at once")
@pytest.mark.parametrize("name", cases(*JOBS))
def test_two_runs_at_the_same_time_do_the_work_once_or_the_second_is_turned_away(
    tmp_path, name, record
):
    with JOBS[name]() as job:
        files, units = undisturbed(job, tmp_path / "whole")
        place = tmp_path / "shared"
        before = job.begun(place)
        record("tried", 1)
        more = ([], ["--out", "second.csv"] if "out.csv" in files else [])
        ends = [end(process, place) for process in [job.start(place, *words) for words in more]]
        record("twice", max(0, job.begun(place) - before - units))
        assert job.begun(place) - before == units
        if "out.csv" in files:
            assert [code for code, _ in ends] == [0, 0], ends
            assert (place / "second.csv").read_bytes() == files["out.csv"]
            (place / "second.csv").unlink()
        else:
            assert sorted(code for code, _ in ends) in ([0, 2], [0, 0]), ends
            assert [code for code, _ in ends] == [0, 0] or "another run is at work" in ends[0][1]
        assert written(place) == files
        for lock in place.rglob("*.lock"):
            with locked(lock, timeout=0):
                pass
        record("survived", 1)
