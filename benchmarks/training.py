"""What training reaches on public sentences, and whether the same seed gives the same bytes.

Each model is trained by the command that stands beside it, on the yelp files of Shen et al. (2017)
as :mod:`tstmeta.data.yelp` divides them: no sentence of the test part, and no text of li2018,
dualrl and mir, is trained on.  Then the same command runs again in another folder, is killed
halfway and started once more; both must end with the same weights.  A quick run trains on a corpus
of our own.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import measure

from tstmeta.data import available

LIBRARIES = ("tstmeta", "torch", "tokenizers")
NEEDED = "yelp"
ROOT = Path(__file__).resolve().parents[1]


class Course(NamedTuple):
    """One training: its name, the words of its command, the goal for its result."""

    name: str
    words: str
    goal: tuple[str, float]


FULL = [
    Course("linear classifier", "classifier --corpus yelp --kind linear", (">=", 0.95)),
    Course("TextCNN", "classifier --corpus yelp --kind textcnn", (">=", 0.95)),
    Course(
        "language model",
        "lm --corpus yelp --seed 1"
        " --set epochs=1 --set batch=64 --set vocabulary=3072 --set layers=4",
        ("<=", 60),
    ),
]
QUICK = [
    Course("linear classifier", "classifier --corpus {own} --set bits=10", (">=", 0.95)),
    Course(
        "language model",
        "lm --corpus {own} --seed 1 --set vocabulary=300 --set width=32 --set layers=1",
        ("<=", 300),
    ),
]


def own_corpus(path: Path) -> None:
    """A few sentences of two styles, for a quick run."""
    words = {"good": ("lovely", "warm", "nice"), "bad": ("awful", "cold", "rude")}
    rows = [
        f"the {thing} in street {number} was {word},{style}"
        for style in words
        for word in words[style]
        for thing in ("soup", "cat", "house")
        for number in range(40)
    ]
    path.write_text("\n".join(["text,style", *rows]) + "\n")


def trained(course: Course, folder: Path, kill_after: int = 0) -> bool:
    """Run the command; with ``kill_after`` processor seconds, kill it then and run it once more.

    Returns:
        Whether it was killed before it ended.
    """
    command = [sys.executable, "-m", "experiments.training", *shlex.split(course.words)]
    command += ["--out", str(folder)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    killed = False
    if kill_after:
        limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (kill_after, kill_after))
        first = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, preexec_fn=limit
        )
        killed = first.returncode == -signal.SIGKILL
        if not killed and first.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed: {first.stderr.decode()}")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)} failed: {done.stderr}")
    return killed


def processor() -> float:
    """Processor seconds of all commands so far; other programs do not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def weights(folder: Path) -> str:
    """SHA-256 of the weights that a training left, the first twelve digits."""
    digest, files = hashlib.sha256(), sorted(folder.glob("*.safetensors"))
    if not files:
        raise RuntimeError("a training left no weights")
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def result(folder: Path) -> dict[str, Any]:
    """What the report says: sentences, and accuracy or perplexity on those it never saw."""
    report = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    if "results" in report:
        [quality] = report["results"].values()
        kept = ("accuracy", "low", "high", "calibration_error")
        sizes = {"trained_on": report["sizes"]["train"], "tested_on": quality["n"]}
        return sizes | {name: quality[name] for name in kept}
    held_out = report["perplexity"]["held_out"]
    return {
        "trained_on": report["corpus"]["train"],
        "tested_on": held_out["sentences"],
        "perplexity": held_out["per_token"],
        "perplexity_a_word": held_out["per_word"],
        "perplexity_of_unigrams": held_out["unigrams_per_token"],
        "million_parameters": report["parameters"] / 1e6,
    }


def course_of(course: Course, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Train twice, the second time killed halfway: the row and its checks."""
    slug = course.name.replace(" ", "-")
    whole, broken = folder / slug, folder / f"{slug}-again"
    before = processor()
    trained(course, whole)
    seconds = processor() - before
    killed = trained(course, broken, kill_after=max(1, round(0.6 * seconds)))
    facts = result(whole)
    row = {"model": course.name, **facts, "minutes": seconds / 60, "weights": weights(whole)}
    row["command"] = f"python -m experiments.training {course.words}"
    what = "accuracy" if "accuracy" in facts else "perplexity"
    differ = float(weights(broken) != weights(whole)) if killed else None
    return row, [
        measure.check(f"{what} of the {course.name} on new sentences", facts[what], *course.goal),
        measure.check(
            f"weights of the {course.name} that differ after a kill",
            differ,
            "==",
            0,
            "" if killed else "it ended before it was killed",
        ),
    ]


def main() -> None:
    given = measure.arguments(__doc__, len(FULL), len(QUICK), "so many of the models")
    before = measure.load_average()
    notes = []
    courses = QUICK if given.quick else FULL
    if not given.quick and not available(NEEDED):
        courses = QUICK
        notes.append("the yelp files are not here (tstmeta data fetch yelp): trained on our own")
    notes.append("minutes: of the processor, on one thread")
    rows, checks = [], []
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "own.csv"
        own_corpus(own)
        for course in courses[: given.size]:
            words = course.words.format(own=own)
            row, checked = course_of(course._replace(words=words), Path(folder))
            print(f"{course.name}: {row['minutes']:.1f} minutes", file=sys.stderr)
            rows.append(row)
            checks += checked
    measure.finish("training", given, LIBRARIES, before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
