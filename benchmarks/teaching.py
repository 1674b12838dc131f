"""Whether a class waits: each lesson, and each command of the lab, against the minutes of the plan.

What ``book/teach_class.md`` starts is run as it stands there, as processes, in an empty folder.
Three made-up students answer the sheet: their votes change no cost.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import measure

LIBRARIES = ("tstmeta", "pandas", "papermill", "matplotlib")
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
#: What precedes the lab, and its two steps: the command, and the minutes that the plan leaves.
STRONG_OR_WRONG = "--where system=strong --where system=light-error"
LAB = {
    "data export contrast --table items --out class.csv": 2,
    f"data form class.csv --pairwise {STRONG_OR_WRONG} --limit 24 --out form": 2,
    "data import-preferences one.csv two.csv three.csv --data class.csv --out preferences.csv": 10,
    "run 22_preferences -p dataset class.csv --out votes.ipynb": 20,
}
#: Minutes of a session for checked exercises: a student who starts a lesson then may wait so long.
EXERCISES = 10


def minutes(words: str, folder: Path) -> float:
    """How long a command takes."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "tstmeta", *words.split()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return (time.perf_counter() - start) / 60


def answer(folder: Path) -> None:
    """Three filled-in copies of the sheet."""
    with (folder / "form" / "comparisons.csv").open(encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    draw = random.Random(measure.SEED)
    for name in ("one", "two", "three"):
        votes = [
            {
                k: draw.choice(["A", "B", "tie"]) if k.startswith("better_") else v
                for k, v in row.items()
            }
            for row in sheet
        ]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            written = csv.DictWriter(file, list(sheet[0]))
            written.writeheader()
            written.writerows(votes)


def main() -> None:
    given = measure.arguments(__doc__, len(list(NOTEBOOKS.glob("lesson_*"))), 1, "lessons")
    load_before = measure.load_average()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words, room in list(LAB.items())[: -1 if given.quick else None]:
            if "import" in words:
                answer(folder)
            if words.startswith("run"):
                (folder / "class.csv.toml").write_text('preferences = "preferences.csv"\n')
            rows.append({"metric": words, "minutes": minutes(words, folder), "room": room})
        for path in sorted(NOTEBOOKS.glob("lesson_*"))[: given.size]:
            words = f"run {path} --out lesson.ipynb"
            took = minutes(words, folder)
            rows.append({"metric": f"run {path.stem}", "minutes": took, "room": EXERCISES})
    used = {
        kind: max(
            row["minutes"] / row["room"] for row in rows if ("lesson" in row["metric"]) == kind
        )
        for kind in (False, True)
    }
    checks = [
        measure.check("lab: largest part of a step that is waiting", used[False], "<", 0.25),
        measure.check(
            "lessons: largest part of the exercises that is waiting", used[True], "<", 0.25
        ),
    ]
    notes = ["room: minutes that the plan leaves for the step"]
    measure.finish("teaching", given, LIBRARIES, load_before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
