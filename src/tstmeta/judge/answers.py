"""Reading what a judge answered: a rating, or why there is none.

Each form that a prompt asks for (JSON, a number, a word) has one strict reading; an answer in
another form is ``invalid``.  The reader never sees the texts that were judged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..schema import Status
from .base import Reply
from .expected import expect, ratings_of
from .prompts import Prompt

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
#: The ways to answer in a word -> the words and their values.
_WORDS: Mapping[str, Mapping[str, float]] = {
    "yes-no": {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
    "first": {"1": 1.0, "rewrite 1": 1.0, "2": 0.0, "rewrite 2": 0.0, "tie": 0.5},
}
#: What some models put around their thoughts, where the server does not take them out.
_THOUGHT = ("<think>", "</think>")
#: A line that is nothing but an answer, perhaps behind a label: ``4``, ``**Rating:** 4/5``.
_DECOR = r"[\s*_\"'`#|()\[\]{}]{0,40}"
_LABEL = rf"{_DECOR}(?P<label>[^\W\d_][^\n:=.,;!?]{{0,60}}[:=])?{_DECOR}"
_NUMBER = r"(?<!\d)[-−+]?\d{1,12}(?:\.\d{1,12})?(?!\d)"
_END = rf"{_DECOR}(?P<dot>\.?){_DECOR}"
_RATING = re.compile(
    rf"{_LABEL}(?P<value>{_NUMBER})"
    rf"(?:\s?(?:/|out of)\s?(?P<end>\d{{1,6}})|(?P<percent>\s?%))?{_END}"
)
_WORD = re.compile(rf"{_LABEL}(?P<value>[\w ]{{1,20}}?){_END}")
#: Longest line that is looked at.
_LINE = 200
_OPENING = re.compile(r"[{\[]")
_CANNOT = (
    r"\b(can(not|'t| not)|won't|will not|(am |'m )?(unable|not able)|do(n't| not) feel comfortable"
    r"|(must|have to) (\w+ )?decline)\b"
)
_SORRY = (
    r"(sorry|apolog\w+|unfortunately|as an? ((large )?language model|ai|artificial intelligence))\b"
)
_SERVICE = (
    r"(assist|help|comply|continue|engage|rat|judg|evaluat|assess|scor|answer|respond|provid"
    r"|complet|do (this|that))"
)
#: How an answer begins that refuses; many servers never fill the field that is meant for it.
_DECLINES = re.compile(
    rf"\W{{0,20}}((i( a|')m |my )?(\w+ )?{_SORRY}[^\n]{{0,80}}?\bi ?{_CANNOT}"
    rf"|i ?{_CANNOT}( to)? {_SERVICE}|i (must|have to) (\w+ )?decline)",
    re.I,
)


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        detail: why there is no value, and the raw answer; empty for a rating.
        explanation: the judge's reasons, where a JSON answer has them.
        expected, mass, logprobs: as in :class:`~.expected.Expected`.
    """

    value: float
    status: Status
    detail: str
    explanation: str = ""
    expected: float = math.nan
    mass: float = math.nan
    logprobs: str = ""


class _Reading(NamedTuple):
    """A rating with its place, or why there is none; ``missing``: nothing stands there."""

    value: float
    why: str = ""
    start: int = -1
    end: int = -1
    explanation: str = ""
    missing: bool = False


_NOTHING = _Reading(math.nan, "no rating found", missing=True)
Row = dict[str, _Reading]


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """A dict dimension -> rating for each of so many rewrites, in the order they were shown in.

    For a pair, 1 stands with the better rewrite, 0 with the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    text = "" if why else aloud(reply.text)
    if why:
        rows: list[Row] = []
    elif prompt.answer == "json" or prompt.unit == "source":
        rows = _of_json(text, prompt, items)
    else:
        reading = _of_lines(text, reply.finish == "length", prompt)
        rows = [dict.fromkeys(prompt.dimensions, reading)] * items
    if rows and all(reading.missing for row in rows for reading in row.values()) and declines(text):
        status, why = Status.REFUSED, f"a refusal in words; the answer: {_shown(reply.text)}"
    if why:
        rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
        return [dict.fromkeys(prompt.dimensions, rating)] * items
    ratings = [{name: _rating(row[name], reply, prompt) for name in row} for row in rows]
    if prompt.answer == "first":
        ratings[1:] = [
            {
                name: rating._replace(value=1 - rating.value, expected=1 - rating.expected)
                for name, rating in row.items()
            }
            for row in ratings[1:]
        ]
    return ratings


def _no_answer(reply: Reply) -> tuple[Status, str]:
    """Status and reason of an answer without words; ok and nothing if there are some to read."""
    if reply.failure:
        return Status.ERROR, reply.failure
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish == "content_filter":
        text = f": {_shown(reply.text)}" if reply.text else ""
        return Status.REFUSED, f"held back by the server's content filter{text}"
    if not reply.text.strip():
        if reply.finish == "length":
            return Status.TRUNCATED, "cut short before its first word"
        return Status.INVALID, "an empty answer"
    return Status.OK, ""


def _rating(reading: _Reading, reply: Reply, prompt: Prompt) -> Rating:
    why = reading.why
    if not why and not prompt.low <= reading.value <= prompt.high:
        why = f"{reading.value:g} is not from {prompt.low:g} to {prompt.high:g}"
    if why:
        cut = reply.finish == "length" and reading.missing
        status = Status.TRUNCATED if cut else Status.INVALID
        return Rating(math.nan, status, f"{why}; the answer: {_shown(reply.text)}")
    words = _WORDS.get(prompt.answer)
    known = words or ratings_of(prompt.low, prompt.high)
    mean = expect(reply, reading.start, reading.end, known)
    return Rating(reading.value, Status.OK, "", _shown(reading.explanation), *mean)


def _of_lines(text: str, cut: bool, prompt: Prompt) -> _Reading:
    """The rating that is the first line, or the last one of a whole answer.

    Other lines may quote what was judged: one that is another rating makes both invalid.
    """
    lines, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip("`*_ \t\r\n"):  # else nothing, or a fence
            lines.append((at + len(line) - len(line.lstrip()), line.strip()))
        at += len(line)
    alone = len(lines) == 1
    readings = {line: _of_line(line, prompt, alone) for line in {line for _, line in lines}}
    rating = _NOTHING
    for start, line in lines[:1] if cut else lines[-1:] + lines[:1]:
        if reading := readings[line]:
            rating = reading._replace(start=start + reading.start, end=start + reading.end)
    if rating.why:
        return rating
    if len({reading.why or reading.value for reading in readings.values() if reading}) > 1:
        return _Reading(math.nan, "two different ratings")
    # a word may go on, and so may 1 on a scale that has 10
    ends = alone and rating.end == len(text.rstrip())
    if cut and ends and (prompt.answer in _WORDS or rating.value * 10 <= prompt.high):
        return _Reading(math.nan, "cut short, perhaps inside the rating", missing=True)
    return rating


def _of_line(line: str, prompt: Prompt, alone: bool) -> _Reading | None:
    """The rating that a line is, if it is one; ``alone``: it is all of the answer."""
    if len(line) > _LINE:
        return None
    words = _WORDS.get(prompt.answer)
    if words is not None:
        match = _WORD.fullmatch(line)
        value = words.get(match["value"].casefold()) if match else None
        return _Reading(value, "", *match.span("value")) if match and value is not None else None
    match = _RATING.fullmatch(line)
    if not match or not (alone or match["label"] or not match["dot"]):  # "1." counts a list
        return None
    end = float(match["end"] or (100 if match["percent"] else prompt.high))
    if end != prompt.high:
        return _Reading(math.nan, f"a rating on another scale than to {prompt.high:g}")
    return _Reading(float(match["value"].replace("−", "-")), "", *match.span("value"))


class _Doubled:
    """Stands for the values of a key that came twice."""


def json_of(text: str) -> tuple[Any, str]:
    """The one JSON value of an answer, which may stand in words or in a fence; or what is wrong.

    Of a key that comes twice in an object, neither value is kept; keys are casefolded.
    """
    values: list[Any] = []
    end = 0
    try:
        while opening := _OPENING.search(text, end):
            value, end = _DECODER.raw_decode(text, opening.start())
            if values and value != values[0]:
                return None, "more than one JSON value"
            values[:] = [value]
    except (ValueError, RecursionError):
        return None, "broken JSON"
    return (values[0], "") if values else (None, "no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        name = key.strip().casefold()
        values[name] = _Doubled if name in values else value
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda name: None)


def _of_json(text: str, prompt: Prompt, items: int) -> list[Row]:
    value, why = json_of(text)
    if why:
        nothing = _Reading(math.nan, why, missing=why != "more than one JSON value")
        return [dict.fromkeys(prompt.dimensions, nothing)] * items
    if prompt.unit != "source":
        return [_of_object(value, text, prompt)]
    return _of_rows(value, text, prompt, items)


def _of_object(value: Any, text: str, prompt: Prompt, place: int = 0, of: int = 1) -> Row:
    """The ratings of one object; ``place`` is its number among ``of`` objects of the answer."""
    if not isinstance(value, dict):
        return dict.fromkeys(prompt.dimensions, _NOTHING)
    reasons = value.get("explanation")
    reasons = reasons if isinstance(reasons, str) else ""
    row: Row = {}
    for name in prompt.dimensions:
        key = prompt.key_of(name).strip().casefold()
        reading = _value(value[key], prompt) if key in value else _NOTHING
        pattern = rf'(?<!\\)"\s*{re.escape(key)}\s*"\s*:\s*"?({_NUMBER})'
        numbers = [] if reading.why else [*re.finditer(pattern, text, re.IGNORECASE)]
        start, end = numbers[place].span(1) if len(numbers) == of else (-1, -1)
        row[name] = reading._replace(start=start, end=end, explanation=reasons)
    return row


def _value(value: Any, prompt: Prompt) -> _Reading:
    if isinstance(value, str) and (reading := _of_line(value.strip(), prompt, alone=True)):
        return reading
    if value is _Doubled:
        return _Reading(math.nan, "rated twice")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _Reading(math.nan, "no number where the rating should be")
    return _Reading(float(value)) if abs(value) < 1e12 else _Reading(math.nan, "a huge number")


def _of_rows(value: Any, text: str, prompt: Prompt, items: int) -> list[Row]:
    listed = value.get("ratings") if isinstance(value, dict) else value
    listed = listed if isinstance(listed, list) else []
    rows: dict[int, Row] = {}
    for place, entry in enumerate(listed):
        number = entry.get("number") if isinstance(entry, dict) else None
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= items:
            wrong = _Reading(math.nan, f"numbers that do not fit the {items} outputs")
            return [dict.fromkeys(prompt.dimensions, wrong)] * items
        if number in rows:
            wrong = _Reading(math.nan, f"number {number} is rated twice")
            rows[number] = dict.fromkeys(prompt.dimensions, wrong)
        else:
            rows[number] = _of_object(entry, text, prompt, place, len(listed))
    none = {n: _NOTHING._replace(why=f"no rating of number {n}") for n in range(1, items + 1)}
    return [rows.get(n) or dict.fromkeys(prompt.dimensions, none[n]) for n in none]


def declines(text: str) -> bool:
    """Whether an answer begins like a refusal."""
    return _DECLINES.match(text.lstrip()[:300].replace("’", "'")) is not None


def aloud(text: str) -> str:
    """An answer with the thoughts before it, up to the last closing tag, blanked in place."""
    end = text.rfind(_THOUGHT[1])
    end = end + len(_THOUGHT[1]) if end >= 0 else 0
    if text[end:].lstrip().startswith(_THOUGHT[0]):
        end = len(text)
    return (" " * (end - 1) + "\n" if end else "") + text[end:]


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: cut, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
