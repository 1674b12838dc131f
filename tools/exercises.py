"""Write the hashes of ``data/exercises/answers.csv``: ``python -m tools.exercises``.

The true answers are computed by the lessons: the hidden solution of a checked exercise ends with
``tst.check(exercise, answer)``.  Here the cells that it needs (column ``cells``: their tags) are
run, then the solution, with a ``check`` that keeps the answer.  All other columns are written by
hand: ``parameters`` are those that the answer depends on.
"""

import contextlib
import csv
import io
import re
import secrets
import warnings
from pathlib import Path
from typing import Any

import nbformat

from tstmeta import exercises
from tstmeta.storage import whole

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "data" / "exercises" / "answers.csv"
#: Code in a page's text that hands an answer in.
SOLUTION = re.compile(r"^```python\n((?:(?!```).*\n)*?.*tst\.check\(.*\n(?:(?!```).*\n)*)```", re.M)


def lesson(exercise: str) -> Path:
    """The notebook of an exercise: ``lesson-4-2`` stands in ``lesson_4_….ipynb``."""
    number = exercise.split("-")[1]
    return next((ROOT / "notebooks").glob(f"lesson_{number}_*.ipynb"))


def answers(path: Path, tags: set[str]) -> dict[str, Any]:
    """The true answers of a lesson, from its solutions, after the cells with one of these tags."""
    given: dict[str, Any] = {}
    space: dict[str, Any] = {"__name__": "notebook", "check": given.__setitem__}
    cells = nbformat.read(path, as_version=4).cells
    run = [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and {"parameters", *tags} & set(cell.metadata.get("tags", []))
    ]
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    solutions = [code for text in texts for code in SOLUTION.findall(text)]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for source in (*run, *solutions):
            exec(compile(source.replace("tst.check(", "check("), path.stem, "exec"), space)
    return given


def write(rows: dict[str, dict[str, str]], out: Path) -> None:
    """The rows with the hashes of the true answers; a row keeps the salt that it has."""
    tags: dict[Path, set[str]] = {}
    for name, row in rows.items():
        tags.setdefault(lesson(name), set()).update(row["cells"].split())
    true = {name: answer for path in tags for name, answer in answers(path, tags[path]).items()}
    for name, row in rows.items():
        row["salt"] = row["salt"] or secrets.token_hex(4)
        row["hashes"] = " ".join(exercises.accepted(row, true[name]))
    with whole(out) as fresh, fresh.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(next(iter(rows.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


if __name__ == "__main__":
    write(exercises.rows(), FILE)
