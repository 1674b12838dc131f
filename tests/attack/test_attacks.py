"""Real commands that are killed, run twice at once, or have no room: nothing is lost.

``benchmarks/attacks.py`` counts what is recorded here (tried, survived, ...).
"""

import random
import sys
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.attack.jobs import JOBS, PACE, Job, end, until_kept, written
from tstmeta.storage import locked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and limits of Linux")
#: Jobs that every run of the tests attacks, and those whose program loads no large model.
QUICK = ("scores", "answers of a judge")
LIGHT = (*QUICK, "a built test set", "a style classifier")
NIGHTLY = pytest.mark.nightly


class Attacked(NamedTuple):
    """A job, the files that a run writes that nobody disturbs, and its units of work."""

    job: Job
    files: dict[str, bytes]
    units: int


def on(*cases):
    """The cases (a job's name, and what else a test takes); slow jobs at night."""
    marks = [() if case[0] in QUICK else NIGHTLY for case in cases]
    return [pytest.param(*case, marks=mark) for case, mark in zip(cases, marks, strict=True)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A function that gives a job by its name, with what an undisturbed run of it writes."""
    with ExitStack() as stack:

        @cache
        def run(name):
            job, place = stack.enter_context(JOBS[name]()), tmp_path_factory.mktemp("job") / "whole"
            code, said = end(job.start(place), place)
            assert code == 0, said
            assert job.begun(place) >= 20
            return Attacked(job, written(place), job.begun(place))

        yield run


@pytest.fixture
def record(request, record_property):
    """Count something of an attack."""
    record_property("on", request.node.callspec.params["name"])
    return record_property


def goes_on(attacked: Attacked, place: Path, before: int, record) -> None:
    """A run was ended: nothing is half or lost; the same command does what is left, to the same."""
    job, files, units = attacked
    time.sleep(0.05)  # a server may still read what came before the end
    begun, kept = job.begun(place) - before, job.kept(place)
    half = [name for name, data in written(place).items() if files.get(name, data) != data]
    code, said = end(job.start(place), place)
    assert code == 0, said
    again = job.begun(place) - before - begun
    lost, twice = max(0, begun - kept - job.under_way), max(0, again - (units - kept))
    record("landed", int(0 < kept < units))
    record("lost", lost)
    record("twice", twice)
    assert (half, lost, twice) == ([], 0, 0)
    assert written(place) == files
    record("survived", 1)


MANY = [pytest.param(name, 10, marks=NIGHTLY) for name in LIGHT]


@pytest.mark.parametrize(("name", "kills"), [*on(*((name, 2) for name in JOBS)), *MANY])
def test_killed_at_any_moment_a_run_goes_on_and_ends_byte_by_byte_the_same(
    undisturbed, tmp_path, name, kills, record
):
    attacked = undisturbed(name)
    job, _, units = attacked
    moments, landed = random.Random(kills), 0
    for number in range(kills):
        place = tmp_path / f"cut{number}"
        before = job.begun(place)
        record("tried", 1)
        process = job.start(place, fresh=kills == 10)
        until_kept(job, place, process, moments.randrange(1, units))
        time.sleep(moments.random() * PACE)
        process.kill()
        process.join()
        landed += 0 < job.kept(place) < units
        goes_on(attacked, place, before, record)
    assert landed >= kills / 2, "most kills have to come while something is written"


#: Bytes of the largest file that there is room for, and which file then cannot be written; 0 is no
#: limit, and the file that takes the place of the named one is on a full device.
ROOM = (
    ("scores", 100_000, "store.sqlite"),
    ("scores", 0, "out.csv"),
    ("answers of a judge", 200_000, "answers.sqlite"),
    ("a style classifier", 100_000, "checkpoint.safetensors"),
)


@pytest.mark.parametrize(("name", "limit", "file"), on(*ROOM))
def test_where_there_is_no_room_the_file_is_named_and_the_next_run_goes_on(
    undisturbed, tmp_path, name, limit, file, record
):
    attacked = undisturbed(name)
    place = tmp_path / "full"
    before = attacked.job.begun(place)
    record("tried", 1)
    if not limit:
        place.mkdir()
        place.joinpath(f".{file}.part").symlink_to("/dev/full")
    code, said = end(attacked.job.start(place, limit=limit), place)
    assert code == 2
    assert "Traceback" not in said
    assert file in said.splitlines()[-1]
    assert "room" in said.splitlines()[-1]
    goes_on(attacked, place, before, record)


@pytest.mark.parametrize("name", on(*zip(JOBS)))
def test_two_runs_at_the_same_time_do_the_work_once_or_the_second_is_turned_away(
    undisturbed, tmp_path, name, record
):
    job, files, units = undisturbed(name)
    place = tmp_path / "shared"
    before = job.begun(place)
    record("tried", 1)
    tables = "out.csv" in files
    more = ([], ["--out", "second.csv"] if tables else [])
    ends = [end(process, place) for process in [job.start(place, *words) for words in more]]
    begun = job.begun(place) - before
    record("twice", max(0, begun - units))
    codes, said = sorted(code for code, _ in ends), ends[0][1]
    assert codes == [0, 0] or (not tables and codes == [0, 2]), said
    assert (2 in codes) == ("another run is at work" in said)
    assert begun == units
    if tables:
        assert (place / "second.csv").read_bytes() == files["out.csv"]
        (place / "second.csv").unlink()
    assert written(place) == files
    for lock in place.rglob("*.lock"):
        with locked(lock, timeout=0):
            pass
    record("survived", 1)
