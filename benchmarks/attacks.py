"""What an attack on the program does: tried, survived, lost, done twice.  Counts tests, no times.

The tests of the table below are run; each row of their own tables is a case, and a case survived
when its test passed.  Tests of ``tests/attack`` record by themselves what they tried: real commands
that are killed, run twice at once or have no room.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import measure
import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("tstmeta", "pandas", "pyarrow", "filelock", "openai", "torch", "pytest")
#: Kind of attack, what is attacked, file, beginnings of the tests' names (none: all of the file).
#: The tests of tests/attack say by themselves what they attack.
ATTACKS = [
    ("kill", "", "attack/test_attacks.py", "killed"),
    ("two at once", "", "attack/test_attacks.py", "two_runs"),
    ("two at once", "scores, log-probabilities", "test_store.py", "two"),
    ("two at once", "fetched files", "data/test_fetch.py", "a_second_run"),
    ("kill", "scores of two runs", "test_store.py", "the_work"),
    ("disk full", "", "attack/test_attacks.py", "where_there_is_no_room"),
    ("disk full", "answers of a judge", "judge/test_cache.py", "a_full_disk"),
    ("broken file", "data, ratings, scores", "data/test_broken.py"),
    ("broken file", "data, ratings, scores", "data/test_files.py", "a_cell_that"),
    ("broken file", "kept scores", "test_scoring_store.py", "a_broken"),
    ("broken file", "log-probabilities", "models/test_tokencache.py", "a_row"),
    (
        "broken file",
        "answers of a judge",
        "judge/test_cache.py",
        "a_file_that_is_no",
        "an_answer_that",
    ),
    ("broken file", "checkpoints", "experiments/training/test_loop.py", "a_checkpoint_of"),
    ("hostile answer", "answers of a judge", "judge/test_faults.py", "a_fault"),
    ("hostile answer", "answers of a judge", "judge/test_answers.py", "what_a_text_says"),
    ("hostile answer", "answers of a judge", "judge/test_answers.py", "a_text_quoted"),
    ("hostile answer", "answers of a judge", "judge/test_answers.py", "no_answer"),
    ("hostile answer", "answers of a judge", "judge/test_client.py", "what_is_no", "nothing_that"),
    ("hostile answer", "answers of a judge", "judge/test_client.py", "a_server"),
    ("hostile answer", "the key of a server", "judge/test_key.py", "no_", "a_key"),
    ("hostile answer", "fetched files", "data/test_fetch.py", "a_file_that", "an_archive"),
    ("hostile name", "names in files", "test_names_from_files.py"),
    ("hostile name", "plug-ins", "test_plugins.py"),
]
KINDS = tuple(dict.fromkeys(kind for kind, *_ in ATTACKS))
COUNTED = ("tried", "survived", "landed", "lost", "twice")


class Tally:
    """A plug-in of pytest: keeps the tests of the table, and counts by kind and target."""

    def __init__(self, only: str = "") -> None:
        self.only = only
        self.counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        items[:] = [item for item in items if self.only in item.nodeid and attack_of(item.nodeid)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.skipped or (report.when != "call" and report.passed):
            return
        kind, on = attack_of(report.nodeid) or ("", "")
        recorded = Counter[str]()
        for name, value in report.user_properties:
            on = value if name == "on" else on
            recorded[name] += value if name in COUNTED else 0
        if not recorded["tried"]:
            recorded |= {"tried": 1, "survived": int(report.passed)}
        self.counts[kind, on].update(recorded)


def attack_of(node: str) -> tuple[str, str] | None:
    """Kind of attack and what is attacked; None for a test that is no attack."""
    file, _, name = node.removeprefix("tests/").partition("::test_")
    for kind, on, where, *begins in ATTACKS:
        if file == where and name.startswith(tuple(begins) or ""):
            return kind, on
    return None


def rows_of(counts: dict[tuple[str, str], Counter[str]]) -> list[dict[str, Any]]:
    """One row a kind of attack and what is attacked, in the order of the table."""
    rows = []
    for kind, on in sorted(counts, key=lambda pair: (KINDS.index(pair[0]), pair[1])):
        count = counts[kind, on]
        process = "landed" in count or "twice" in count
        row = {"attack": kind, "on": on, "tried": count["tried"], "survived": count["survived"]}
        row["while_writing"] = count.get("landed")
        rows.append(row | {name: count[name] if process else None for name in ("lost", "twice")})
    return rows


def checks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The goals; their names are the same in every run."""

    def total(name: str, kind: str = "") -> int | None:
        values = [row[name] for row in rows if kind in row["attack"] and row[name] is not None]
        return sum(values) if values else None

    def check(name: str, value: float | None, relation: str, bound: float) -> dict[str, Any]:
        reason = "" if value is not None else "not tried in this run"
        return measure.check(name, value, relation, bound, reason)

    made = []
    for kind in KINDS:
        tried, survived = total("tried", kind), total("survived", kind)
        failed = None if tried is None or survived is None else tried - survived
        made.append(check(f"{kind}: not survived", failed, "==", 0))
    kills = [row for row in rows if row["attack"] == "kill" and row["while_writing"] is not None]
    landed, tried = (sum(row[name] for row in kills) for name in ("while_writing", "tried"))
    share = landed / tried if tried else None
    made.append(check("share of kills that came while something was written", share, ">=", 0.5))
    made.append(check("results lost", total("lost"), "==", 0))
    return [*made, check("kept results computed, asked or paid again", total("twice"), "==", 0)]


def only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", metavar="WORDS", help="tests whose name has these")


def main() -> None:
    given = measure.arguments(__doc__, 10, 2, "not used: the tests say how many", only)
    before = measure.load_average()
    tally = Tally(given.only)
    files = sorted({str(ROOT / "tests" / file) for _, _, file, *_ in ATTACKS})
    words = ["-q", "--no-header", "-p", "no:cacheprovider", "-m", "not nightly" * given.quick]
    code = pytest.main([*words, "--rootdir", str(ROOT), *files], [tally])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest ended with {code!r}")
    rows = rows_of(tally.counts)
    notes = [
        "tried: kills, pairs of runs and full disks of real commands; files, answers and names, "
        "each a row of a test's table",
        "survived: the next run ends byte by byte the same; or a message names the file and what "
        "to do, nothing else is lost and no code is run",
        "while writing: the run ended when a part of its results was on file; lost: results that "
        "were finished and not on file, but for those under way; twice: results on file that were "
        "computed, asked or paid again",
    ]
    measure.finish("attacks", given, LIBRARIES, before, rows, checks(rows), notes, rounds=1)


if __name__ == "__main__":
    main()
