"""What is attacked: real commands on small jobs, in processes of their own.

A job knows how many units of work (scores, answers, steps) it has on file and how many were begun.
Whatever ends a run, the same command must go on from what is on file and end as if nothing had
happened.
"""

import contextlib
import multiprocessing
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from experiments.training.__main__ import training_app
from experiments.training.loop import CHECKPOINT, read_checkpoint
from tests.judge import scripted
from tests.judge.construct import author
from tests.likelihood import small
from tests.models import style
from tstmeta import cli
from tstmeta.schema import TstmetaError

ROWS = 40
#: Seconds after which a run that does not end is a fault.
PATIENCE = 120
#: Seconds that a unit of work takes, about.
PACE = 0.02
#: Answers under way at once.
CONCURRENCY = 4
#: Files that hold other bytes after each run: SQLite's, and what was begun.
OTHERWISE = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".log", ".pyc", ".lock")
#: Slow metric that writes down which process scores what; it holds what Python names anew in each
#: process (an inner function, a set of texts).
METRIC = """
import os, time

def logged(source, output):
    with open("begun.log", "a") as log:
        log.write(f"{os.getpid()} logged {output}\\n")
    time.sleep(0.02)
    return sum(len(word) / 7 for word in output.split() if word not in {"a", "the", "of", "and"})
"""
#: What has just been computed, or a step of a training, is written down, slowly.
ANSWERS = """
import time
from tstmeta.models import tokencache
check = tokencache.check_answer
def logged(*answer):
    with open("begun.log", "a") as log:
        log.write("answer\\n")
    time.sleep(0.01)
    check(*answer)
tokencache.check_answer = logged
"""
STEPS = """
import time
from experiments.training.loop import Learner
step = Learner.step
def logged(self, number, *rest):
    with open("begun.log", "a") as log:
        log.write(f"{number}\\n")
    time.sleep(0.02)
    return step(self, number, *rest)
Learner.step = logged
"""


class Job(NamedTuple):
    """A command and what may be known of it from outside.

    Attributes:
        words: the command.
        kept, begun: units on file, and units begun so far, in a folder.
        under_way: units that may be begun and not on file.
        files: what lies in the folder at first.
        before: Python that is run before the command.
    """

    words: list[str]
    kept: Callable[[Path], int]
    begun: Callable[[Path], int]
    under_way: int
    files: dict[str, str]
    before: str = ""

    def start(self, place: Path, *more: str, fresh: bool = False, limit: int = 0) -> BaseProcess:
        """Start the command in a folder.

        Args:
            fresh: in a new Python; else in a fork of one that has imported what takes time.
            limit: no file may be larger; Linux then refuses to write as on a full disk.
        """
        place.mkdir(exist_ok=True)
        for name, text in self.files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)
        context = multiprocessing.get_context("spawn" if fresh else "forkserver")
        arguments = (place, [*self.words, *more], self.before, limit)
        process = context.Process(target=command, args=arguments)
        process.start()
        return process


multiprocessing.set_forkserver_preload(
    [
        *("pandera.pandas", "pyarrow.parquet", "filelock", "openai", "rich.console"),
        *("torch._dynamo", "tstmeta.analysis", "tstmeta.cli.score", "tstmeta.judge.ratings"),
        *("tstmeta.judge.construct.run", "experiments.training.classifier"),
        *("tests.attack.jobs", "tests.models.tiny", "tests.test_store"),
    ]
)


def command(place: Path, words: list[str], before: str, limit: int) -> None:
    """The command line in a folder; what it says goes into a file beside that."""
    os.chdir(place)
    sys.path.insert(0, str(place))
    for stream in (1, 2):
        os.dup2(os.open(f"../{place.name}.said", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    exec(before, {})
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["tstmeta", *words]
    cli.main(training_app if words[0] in ("classifier", "lm") else cli.app)


def end(process: BaseProcess, place: Path) -> tuple[int | None, str]:
    """Wait for the end: the exit code, and what was said so far in the folder."""
    process.join(PATIENCE)
    return process.exitcode, place.with_name(f"{place.name}.said").read_text()


def until_kept(job: Job, place: Path, process: BaseProcess, units: int) -> None:
    """Wait until so many units are on file, or the end."""
    deadline = time.monotonic() + PATIENCE
    while job.kept(place) < units and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def written(place: Path) -> dict[str, bytes]:
    """All files of a folder that hold the same bytes after each run."""
    files = [path for path in place.rglob("*") if path.is_file() and path.suffix not in OTHERWISE]
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in files}


def logged(place: Path) -> int:
    """Units that were begun."""
    log = place / "begun.log"
    return log.read_bytes().count(b"\n") if log.is_file() else 0


def rows(name: str, table: str) -> Callable[[Path], int]:
    """A function that counts the rows of a table of SQLite in a folder."""

    def count(place: Path) -> int:
        with (
            contextlib.suppress(sqlite3.OperationalError),  # the file is being made
            closing(sqlite3.connect(f"file:{place / name}?mode=ro", uri=True)) as file,
        ):
            return file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return 0

    return count


def steps(place: Path) -> int:
    if (place / "model" / CHECKPOINT).is_file():
        with contextlib.suppress(TstmetaError):  # it has just gone
            return len(read_checkpoint(place / "model")[0]["losses"])
    return logged(place) if (place / "model" / "training.json").is_file() else 0


def texts(count: int) -> str:
    """A data set of somebody's own; the last two rows are equal."""
    few = [f"the source {n},an output {n} of many,formal" for n in range(1, count)]
    return "\n".join(["source,output,style", *few, few[-1], ""])


MINE = {"mine.csv": texts(ROWS)}
STORE = "store/store.sqlite"
SCORE = ["score", "--data", "mine.csv", "--basis", "source", "--store", "store", "--out", "out.csv"]
SCORING = Job(
    [*SCORE, "--metric", "./slow.py:logged"],
    rows(STORE, "scores"),
    logged,
    1,
    {**MINE, "slow.py": METRIC},
)


@contextmanager
def reading() -> Iterator[Job]:
    with tempfile.TemporaryDirectory() as folder:
        words = [*SCORE, "--metric", f"likelihood:{small.saved(Path(folder) / 'tiny')}"]
        yield Job(words, rows(STORE, "tokens"), logged, ROWS // 2, MINE, ANSWERS)


def rated(asked: scripted.Asked) -> scripted.Act:
    return scripted.says(str(1 + len(asked.prompt) % 5), latency=0.04)


@contextmanager
def judging() -> Iterator[Job]:
    with scripted.serving(rated) as server:
        words = "judge run --data mine.csv --prompt content --cache answers.sqlite --out out.csv"
        words += f" --model tiny --server {server.url} --concurrency {CONCURRENCY}"
        kept = rows("answers.sqlite", "answers")
        yield Job(words.split(), kept, lambda place: server.requests, CONCURRENCY, MINE)


@contextmanager
def constructing() -> Iterator[Job]:
    with scripted.serving(lambda a: scripted.says(author.write(a.prompt), latency=0.04)) as server:
        words = ["construct", "--style", "more formal", "--seed", "3"]
        words += ["--sources", "texts.txt", "--out", "set", "--model", "tiny"]
        words += ["--server", server.url, "--concurrency", str(CONCURRENCY)]
        files = {"texts.txt": "".join(author.source(number) + "\n" for number in range(8))}
        kept = rows("set/answers.sqlite", "answers")
        yield Job(words, kept, lambda place: server.requests, CONCURRENCY, files)


CORPUS = style.corpus(count=130).rename(columns={"part": "split"})[["text", "style", "split"]]


def training(*words: str, **options: int) -> Job:
    every = [*words, "--corpus", "corpus.csv", "--out", "model"]
    for name, value in {"batch": 4, "checkpoint": 2, "epochs": 2, **options}.items():
        every += ["--set", f"{name}={value}"]
    return Job(every, steps, logged, 2, {"corpus.csv": CORPUS.to_csv(index=False)}, STEPS)


SMALL = {"vocabulary": 300, "width": 16, "layers": 1, "heads": 2, "inner": 24, "length": 32}
#: Each gives a job, and ends what it needs.
JOBS = {
    "scores": partial(nullcontext, SCORING),
    "log-probabilities": reading,
    "answers of a judge": judging,
    "a built test set": constructing,
    "a style classifier": partial(nullcontext, training("classifier", "--kind", "textcnn")),
    "a language model": partial(nullcontext, training("lm", **SMALL)),
}
