"""How long a user waits: commands that compute nothing, and ``evaluate`` on new rewrites.

A command is timed as a process, warm: its best of several runs.  What it waits for is told by
Python's own profile of imports.  ``evaluate`` gets rewrites that no store knows (those of the
contrast set behind a new word) with ratings drawn at random: they change no cost.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import measure
import numpy as np

from tstmeta.data import load

LIBRARIES = ("tstmeta", "pandas", "pandera", "typer", "torch", "transformers")
COMMANDS = ("-h", "metrics", "data list", "models")
#: What the dimensions of ``evaluate`` need.
NEEDS = {"content": "MiniLM", "fluency": "SmolLM2", "style": "SmolLM2 and MiniLM"}
_IMPORT = re.compile(r"import time:\s*(\d+) \|\s*\d+ \| *(\S+)")


def tstmeta(*words: str, options: tuple[str, ...] = ()) -> tuple[float, float, str]:
    """Wall-clock and processor seconds of a command, and what it wrote on standard error."""
    start, before = time.perf_counter(), os.times()
    command = [sys.executable, *options, "-m", "tstmeta", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, os.times()
    used = after.children_user - before.children_user
    return wall, used + after.children_system - before.children_system, done.stderr


def imports(words: list[str]) -> str:
    """The packages whose modules take longest to import, with their milliseconds."""
    known: dict[str, int] = {}
    for took, module in _IMPORT.findall(tstmeta(*words, options=("-X", "importtime"))[2]):
        package = module.partition(".")[0]
        known[package] = known.get(package, 0) + int(took)
    longest = sorted(known, key=lambda name: -known[name])[:4]
    return ", ".join(f"{name} {known[name] / 1000:.0f}" for name in longest)


def new_rewrites(folder: Path, n: int) -> Path:
    """A file of rewrites with two raters a dimension."""
    columns = ["item_id", "source_id", "system", "style", "source", "output"]
    table = load("contrast").items.head(n)[columns]
    table["output"] = [f"Well {place}: {text}" for place, text in enumerate(table["output"])]
    rng = np.random.default_rng(measure.SEED)
    for name in [f"{dimension}.r{rater}" for dimension in NEEDS for rater in (1, 2)]:
        table[name] = rng.integers(1, 6, len(table))
    table.to_csv(folder / "new.csv", index=False)
    return folder / "new.csv"


def main() -> None:
    given = measure.arguments(__doc__, 600, 40, "new rewrites")
    load_before = measure.load_average()
    rows: list[dict[str, Any]] = []
    for command in COMMANDS:
        words = command.split()
        runs = [tstmeta(*words)[:2] for _ in range(2 if given.quick else 2 * measure.ROUNDS)]
        wall, used = min(runs[1:])
        facts = {"seconds": wall, "processor_seconds": used, "needs": imports(words)}
        rows.append({"metric": f"tstmeta {command}", **facts})
    slowest = max(row["seconds"] for row in rows)
    with tempfile.TemporaryDirectory() as name:
        file = new_rewrites(Path(name), given.size)
        asked = ["content"] if given.quick else [*NEEDS]
        for dimension in asked:
            words = ["evaluate", "--data", str(file), "--dimension", dimension, "--format", "csv"]
            wall, used, _ = tstmeta(*words, "--store", str(Path(name) / dimension))
            facts = {"seconds": wall, "processor_seconds": used, "needs": NEEDS[dimension]}
            rows.append({"metric": f"evaluate {given.size}, {dimension}", **facts})
    content = rows[len(COMMANDS)]["processor_seconds"]
    checks = [
        measure.check("commands that compute nothing: seconds, slowest", slowest, "<", 0.5),
        measure.check("help: seconds", rows[0]["seconds"], "<", 0.5),
        measure.check("evaluate, content: processor seconds", content, "<", 60),
    ]
    notes = ["imports: milliseconds by package, under -X importtime, which slows them a little"]
    measure.finish("interactive", given, LIBRARIES, load_before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
