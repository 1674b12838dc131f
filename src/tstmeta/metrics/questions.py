"""What QuestEval asked, what it was told, and what that makes; kept so that a page can show why.

A question is written from one text about words of that text (*expected*) and put to the other text,
which tells *found*.  Questions from the output put to the source make precision: does the source
say what the output says?  Those from the source put to the output make recall.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

#: Names of the two sides.
PRECISION, RECALL = "precision", "recall"
#: How questions become a score: as the paper prints it, or as the released program does.
RULES = ("equation", "released", "released-0.1")

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


class Asked(NamedTuple):
    """A question and its answer.

    ``answerable`` is one minus the probability that the answer begins as "unanswerable" does,
    ``f1`` the overlap of the words expected and found, both in [0, 1]; ``alike`` their BERTScore,
    NaN where the rule asks for none.
    """

    side: str
    question: str
    expected: str
    found: str
    answerable: float
    f1: float
    alike: float = math.nan


class Sums(NamedTuple):
    """Precision, recall and the score of both, in [0, 1]."""

    precision: float
    recall: float
    score: float


class Record(NamedTuple):
    """All that was asked of two texts."""

    against: str
    output: str
    asked: tuple[Asked, ...]


def token_f1(expected: str, found: str) -> float:
    """F1 of two answers' words, in [0, 1], as SQuAD measures it (Rajpurkar et al., 2016).

    Case, ASCII punctuation and the articles a, an, the do not count; words count as often as they
    occur.  Two answers without words are equal: 1.
    """
    one, other = _words(expected), _words(found)
    if not one or not other:
        return float(one == other)
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total())


def _words(text: str) -> Counter[str]:
    return Counter(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def summed(asked: Sequence[Asked], rule: str = "equation") -> Sums:
    """Precision, recall and score of the questions about two texts.

    ``equation`` is Scialom et al. (2021, Section 3) with equal weights: precision is the mean F1 of
    the questions from the output, recall the mean answerability of those from the source, the score
    their harmonic mean.  ``released`` is upstream's program (0.2.4): each side is the mean of
    answerability, BERTScore and F1 of all its questions, the score the mean of both sides;
    ``released-0.1`` is its first version, without BERTScore.  A side without questions counts 0, as
    there.  Upstream's users noticed the difference, too (issue 7 of its repository): F1 and
    answerability are each asked of one side in the equations, of both in every released version.
    """
    sides = {side: [one for one in asked if one.side == side] for side in (PRECISION, RECALL)}
    if rule != "equation":
        third = rule == "released"
        precision, recall = (
            _mean([v for o in side for v in (o.answerable, o.f1, *[o.alike] * third)])
            for side in sides.values()
        )
        return Sums(precision, recall, (precision + recall) / 2)
    precision = _mean([one.f1 for one in sides[PRECISION]])
    recall = _mean([one.answerable for one in sides[RECALL]])
    whole = precision + recall
    return Sums(precision, recall, 2 * precision * recall / whole if whole else 0.0)


def _mean(values: Sequence[float]) -> float:
    # A probability may miss its bounds by a rounding.
    return float(np.clip(values, 0, 1).mean()) if len(values) else 0.0


# ----------------------------------------------------------------------------------- records


def keep(path: Path, records: Iterable[Record]) -> None:
    """Append records to a JSONL file, one line each; a kill may cut the last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(_plain(record), allow_nan=False) + "\n" for record in records]
    with open(path, "ab") as file:
        # what a killed run left of a line must not swallow the next one
        if file.tell() and path.read_bytes()[-1:] != b"\n":
            lines.insert(0, "\n")
        file.write("".join(lines).encode())


def _plain(record: Record) -> list:
    """A record as JSON has it: null in a number's place where there is none."""
    rows = [[None if value != value else value for value in one] for one in record.asked]
    return [record.against, record.output, rows]


def _asked(row: list) -> Asked:
    one = Asked(*row)
    return one if one.alike is not None else one._replace(alike=math.nan)


def records(path: Path) -> Iterator[Record]:
    """The records of a file, each pair of texts once, as it was asked last; damaged lines not."""
    found: dict[tuple[str, str], Record] = {}
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    for line in lines:
        try:
            against, output, asked = json.loads(line)
            record = Record(str(against), str(output), tuple(map(_asked, asked)))
        except (ValueError, TypeError):
            continue
        found[record.against, record.output] = record
    yield from found.values()


def table(path: Path, against: str | None = None, output: str | None = None) -> pd.DataFrame:
    """What was asked, one row a question, the worst answered first within two texts.

    Args:
        path: a file that :func:`keep` wrote (see :meth:`tstmeta.metrics.factual.QuestEval.kept`).
        against, output: only questions about these texts.

    Returns:
        Columns against, output, side, question, expected, found, answerable, f1, alike.
    """
    rows = [
        {"against": one.against, "output": one.output, **asked._asdict()}
        for one in records(path)
        if against in (None, one.against) and output in (None, one.output)
        for asked in sorted(one.asked, key=lambda asked: asked.f1 + asked.answerable)
    ]
    return pd.DataFrame(rows, columns=["against", "output", *Asked._fields])
