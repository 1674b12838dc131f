"""Reading what a judge answered: a rating, or why there is none.

Each form that a prompt asks for (JSON, labels, a number, a word) has one strict reading; an answer
in another form is ``invalid``.  The reader never sees the texts that were judged.
"""

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
_DECOR = r"[\s*_\"'`#|()\[\]{}]{0,40}+"  # possessive: a line of signs is looked through once
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
#: What stands above the ratings of an output, and before its explanation, in labels.
#: Signs stay on their line: across lines, an answer of blank ones would take hours to read.
_SIGNS = r"[^\w\n]*"
_OUTPUT = re.compile(rf"^{_SIGNS}output\s+(\d{{1,6}})\b", re.I | re.M)
_REASONS = re.compile(rf"^{_SIGNS}explanation{_SIGNS}?[:=]", re.I | re.M)
#: How a refusal in words begins; many servers never fill the field that is meant for it.
_REFUSAL = re.compile(
    r"\W{0,20}((i('m| am)? |my )?(so |very )?(sorry|apolog\w+|unfortunately)\b"
    r"|i (can('|no)t|can not|won't|will not|must decline|do(n't| not) feel comfortable)\b"
    r"|i('m| am) (unable|not able)\b|as an? (ai|(large )?language model)\b)",
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
    """A rating with its place in the answer, or why there is none."""

    value: float = math.nan
    why: str = "no rating found"
    start: int = -1
    end: int = -1
    explanation: str = ""


Row = dict[str, _Reading]


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """A dict dimension -> rating for each of so many rewrites, in the order they were shown in.

    For a pair, 1 stands with the better rewrite, 0 with the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if not why:
        text = aloud(reply.text)
        if prompt.answer == "json":
            rows = _of_json(text, prompt, items)
        elif prompt.answer == "labels":
            rows = _of_labels(text, reply.finish == "length", prompt, items)
        else:
            reading = _of_lines(text, reply.finish == "length", prompt)
            rows = [dict.fromkeys(prompt.dimensions, reading)] * items
        ratings = [{name: _rating(row[name], reply, prompt) for name in row} for row in rows]
        is_rated = any(rating.status is Status.OK for row in ratings for rating in row.values())
        if is_rated or not _REFUSAL.match(text.lstrip()[:300].replace("’", "'")):
            return [ratings[0], *map(_other, ratings[1:])] if prompt.unit == "pair" else ratings
        status, why = Status.REFUSED, f"a refusal in words; the answer: {_shown(reply.text)}"
    rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
    return [dict.fromkeys(prompt.dimensions, rating)] * items


def _other(row: dict[str, Rating]) -> dict[str, Rating]:
    return {
        name: rating._replace(value=1 - rating.value, expected=1 - rating.expected)
        for name, rating in row.items()
    }


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
        status = Status.TRUNCATED if reply.finish == "length" else Status.INVALID
        return Rating(math.nan, status, f"{why}; the answer: {_shown(reply.text)}")
    known = _WORDS.get(prompt.answer) or ratings_of(prompt.low, prompt.high)
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
    rating = _Reading()
    for start, line in lines[:1] if cut else lines[-1:] + lines[:1]:
        if reading := readings[line]:
            rating = reading._replace(start=start + reading.start, end=start + reading.end)
    if rating.why:
        return rating
    if len({reading.why or reading.value for reading in readings.values() if reading}) > 1:
        return _Reading(why="two different ratings")
    # a word may go on, and so may 1 on a scale that has 10
    ends = alone and rating.end == len(text.rstrip())
    if cut and ends and (prompt.answer in _WORDS or rating.value * 10 <= prompt.high):
        return _Reading(why="cut short, perhaps inside the rating")
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
        return _Reading(why=f"a rating on another scale than to {prompt.high:g}")
    return _Reading(float(match["value"].replace("−", "-")), "", *match.span("value"))


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
        values[name] = None if name in values else value
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda name: None)


def _of_json(text: str, prompt: Prompt, items: int) -> list[Row]:
    value, why = json_of(text)
    if not why and prompt.unit != "source":
        return [_of_object(value, text, prompt)]
    listed = value.get("ratings") if isinstance(value, dict) else value
    listed = listed if isinstance(listed, list) else []
    numbers: list[Any] = [
        entry.get("number") if isinstance(entry, dict) else None for entry in listed
    ]
    if not all(type(number) is int and 1 <= number <= items for number in numbers):
        why = f"numbers that do not fit the {items} outputs"
    if why:
        return [dict.fromkeys(prompt.dimensions, _Reading(why=why))] * items
    objects = [
        _of_object(entry, text, prompt, place, len(listed)) for place, entry in enumerate(listed)
    ]
    return _by_number(numbers, objects, prompt, items)


def _by_number(numbers: list[int], rows: list[Row], prompt: Prompt, items: int) -> list[Row]:
    ordered: list[Row] = []
    for number in range(1, items + 1):
        if numbers.count(number) == 1:
            ordered.append(rows[numbers.index(number)])
        else:
            times = "twice" if number in numbers else "never"
            wrong = _Reading(why=f"number {number} is rated {times}")
            ordered.append(dict.fromkeys(prompt.dimensions, wrong))
    return ordered


def _of_labels(text: str, cut: bool, prompt: Prompt, items: int) -> list[Row]:
    """Ratings below lines ``Output N``, each behind its label; ``Explanation:`` comes last."""
    heads = [*_OUTPUT.finditer(text)]
    numbers = [int(head[1]) for head in heads]
    if not heads or not all(1 <= number <= items for number in numbers):
        why = f"numbers that do not fit the {items} outputs" if heads else "no rating found"
        return [dict.fromkeys(prompt.dimensions, _Reading(why=why))] * items
    ends = [head.start() for head in heads[1:]] + [len(text)]
    rows: list[Row] = []
    for head, end in zip(heads, ends, strict=True):
        ratings, *reasons = _REASONS.split(text[head.end() : end], maxsplit=1)
        row: Row = {}
        for name in prompt.dimensions:
            reading = _of_label(ratings, prompt.keys[name], prompt)
            start, stop = reading.start + head.end(), reading.end + head.end()
            if cut and stop == len(text.rstrip()):
                reading = _Reading(why="cut short, perhaps inside the rating")
            why = "".join(reasons).strip()
            row[name] = reading._replace(start=start, end=stop, explanation=why)
        rows.append(row)
    return _by_number(numbers, rows, prompt, items)


def _of_label(text: str, label: str, prompt: Prompt) -> _Reading:
    """The rating in the one line that begins with a label."""
    pattern = rf"^{_SIGNS}{re.escape(label)}{_SIGNS}?[:=](.*)$"
    lines = [*re.finditer(pattern, text, re.I | re.M)]
    if len(lines) != 1:
        return _Reading(why=f"{label} is given twice" if lines else "no rating found")
    if not (reading := _of_line(lines[0][1], prompt, alone=True)):
        return _Reading(why="no number where the rating should be")
    start = lines[0].start(1)
    return reading._replace(start=start + reading.start, end=start + reading.end)


def _of_object(value: Any, text: str, prompt: Prompt, place: int = 0, of: int = 1) -> Row:
    """The ratings of one object; ``place`` is its number among ``of`` objects of the answer."""
    fields = value if isinstance(value, dict) else {}
    reasons = fields.get("explanation")
    reasons = reasons if isinstance(reasons, str) else ""
    row: Row = {}
    for name in prompt.dimensions:
        key = prompt.keys[name].strip().casefold()
        reading = _value(fields[key], prompt) if key in fields else _Reading()
        pattern = rf'(?<!\\)"\s*{re.escape(key)}\s*"\s*:\s*"?({_NUMBER})'
        numbers = [] if reading.why else [*re.finditer(pattern, text, re.IGNORECASE)]
        start, end = numbers[place].span(1) if len(numbers) == of else (-1, -1)
        row[name] = reading._replace(start=start, end=end, explanation=reasons)
    return row


def _value(value: Any, prompt: Prompt) -> _Reading:
    if isinstance(value, str) and (reading := _of_line(value.strip(), prompt, alone=True)):
        return reading
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _Reading(why="no number where the rating should be")
    return _Reading(float(value), "") if abs(value) < 1e12 else _Reading(why="a huge number")


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
