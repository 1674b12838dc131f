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
STRONG_OR_WRONG = "--where system=strong --where system=light-error"
#: The commands of the lab, the first two before it, and the minutes that the plan leaves for them.
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
                column: draw.choice(["A", "B", "tie"]) if column.startswith("better_") else cell
                for column, cell in row.items()
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
    lessons = sorted(NOTEBOOKS.glob("lesson_*"))[: given.size]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words, room in list(LAB.items())[: -1 if given.quick else None]:
            if "import" in words:
                answer(folder)
            if words.startswith("run"):
                (folder / "class.csv.toml").write_text('preferences = "preferences.csv"\n')
            rows.append({"metric": words, "minutes": minutes(words, folder), "room": room})
        for path in lessons:
            words = f"run {path} --out lesson.ipynb"
            took = minutes(words, folder)
            rows.append({"metric": f"run {path.stem}", "minutes": took, "room": EXERCISES})
    waiting = [row["minutes"] / row["room"] for row in rows]
    lab = len(rows) - len(lessons)
    parts = {"lab: of a step": waiting[:lab], "lessons: of the exercises": waiting[lab:]}
    checks = [
        measure.check(f"{what}, largest part that is waiting", max(part), "<", 0.25)
        for what, part in parts.items()
    ]
    notes = ["room: minutes that the plan leaves for the step"]
    measure.finish("teaching", given, LIBRARIES, load_before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
