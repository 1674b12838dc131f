"""Exercises of the lessons that check an answer: ``tst.check("lesson-4-2", -0.5)``.

``data/exercises/answers.csv`` has the right answers as salted SHA-256, so that reading the file
gives none away.  (A loop over answers would, and so does a click on the solution.)  A number is in
the cell floor(x / t) of a grid as wide as its tolerance t, and the file has the cell of the true
answer and its two neighbours.  So an answer within t of the truth is right, one that is 2t or more
away is not, and in between it depends on the grid.

``python -m tools.ship exercises`` takes the answers from the hidden solutions and hashes them.
"""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from numbers import Real
from typing import Any

from .data import paths
from .schema import TstmetaError

#: Kind of exercise -> the answers it takes, in words.
KINDS = {"number": "a number", "choice": "one name", "names": "a set or list of names"}


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right: true or false, and shown in words."""

    right: bool
    hint: str = ""

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return "right" if self.right else f"not yet. {self.hint}"


def check(exercise: str, answer: Any) -> Verdict:
    """Whether an answer to an exercise of a lesson is right, with a hint where it is not.

    Args:
        exercise: its id, such as ``lesson-4-2``; the lesson's page names it.
        answer: a number, a name, or a set or list of names, as the exercise asks; case and the
            order of names do not matter.

    Returns:
        ``right`` or ``not yet`` with a hint.  Answers are those of the lesson as it comes: one
        that was run with other parameters may have other answers, and the hint says which matter.

    Raises:
        TstmetaError: no such exercise (lists those of the lesson), or an answer of another kind.
    """
    row = rows().get(exercise)
    if row is None:
        lesson = str(exercise).rpartition("-")[0]
        known = [name for name in rows() if name.rpartition("-")[0] == lesson] or [*rows()]
        raise TstmetaError(f"no exercise is called {exercise!r}; there are {', '.join(known)}")
    hint = row["hint"]
    if row["parameters"]:
        hint += f" (Checked for the lesson as it comes, with its own {row['parameters']}.)"
    return Verdict(hashed(row, form(row, answer)) in row["hashes"].split(), hint)


@cache
def rows() -> dict[str, dict[str, str]]:
    """The rows of the file by exercise."""
    path = paths.project("exercises", "answers.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["exercise"]: row for row in csv.DictReader(file)}


def form(row: dict[str, str], answer: Any) -> int | str:
    """The part of an answer that is hashed: the cell of a number; names in lower case, sorted."""
    kind = row["kind"]
    if kind == "number" and isinstance(answer, Real) and not isinstance(answer, bool):
        if math.isfinite(answer):  # rounded first: -0.9999999999999996 lies with -1
            return math.floor(round(float(answer) / float(row["tolerance"]), 6))
    elif kind == "choice" and isinstance(answer, str):
        return answer.strip().lower()
    elif kind == "names" and isinstance(answer, Iterable) and not isinstance(answer, str):
        names = list(answer)
        if all(isinstance(name, str) for name in names):
            return "\n".join(sorted({name.strip().lower() for name in names}))
    raise TstmetaError(f"{row['exercise']} takes {KINDS[kind]}, got {answer!r}")


def hashed(row: dict[str, str], form: int | str) -> str:
    """The salted hash of a form of an answer."""
    return sha256(f"{row['salt']}\n{form}".encode()).hexdigest()[:24]
