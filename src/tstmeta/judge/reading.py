"""Reading what a judge answered: ratings out of a text, or why there are none.

Each form that a prompt asks for (JSON, labels, a number, a word) has one strict reading.  Only the
standard library is used: the file goes, as it is, into what ``tstmeta judge export`` writes.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

#: What of a prompt says how an answer is read.
FORM = ("answer", "unit", "dimensions", "low", "high", "keys")
#: The ways to answer in a word -> the words and their values.
WORDS: Mapping[str, Mapping[str, float]] = {
    "yes-no": {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
    "first": {"1": 1.0, "rewrite 1": 1.0, "2": 0.0, "rewrite 2": 0.0, "tie": 0.5},
}
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


class PlacedRating(NamedTuple):
    """A rating with its place in the answer, or why there is none."""

    value: float = math.nan
    why: str = "no rating found"
    start: int = -1
    end: int = -1
    explanation: str = ""


Row = dict[str, PlacedRating]


def readings(text: str, form: Any, items: int, cut: bool = False) -> list[Row]:
    """A dict dimension -> reading for each of so many rewrites, in the order they were shown in.

    Args:
        form: a :class:`~.prompts.Prompt`, or what has the attributes :data:`FORM` of one.
        cut: the answer ran out of tokens.
    """
    text = aloud(text)
    if form.answer == "json":
        rows = _of_json(text, form, items)
    elif form.answer == "labels":
        rows = _of_labels(text, cut, form, items)
    else:
        rows = [dict.fromkeys(form.dimensions, _of_lines(text, cut, form))] * items
    for row in rows:
        for name, reading in row.items():
            if not reading.why and not form.low <= reading.value <= form.high:
                why = f"{reading.value:g} is not from {form.low:g} to {form.high:g}"
                row[name] = PlacedRating(why=why)
    return rows


def _of_lines(text: str, cut: bool, form: Any) -> PlacedRating:
    """The rating that is the first line, or the last one of a whole answer.

    Other lines may quote what was judged: one that is another rating makes both invalid.
    """
    lines, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip("`*_ \t\r\n"):  # else nothing, or a fence
            lines.append((at + len(line) - len(line.lstrip()), line.strip()))
        at += len(line)
    alone = len(lines) == 1
    each = {line: _of_line(line, form, alone) for line in {line for _, line in lines}}
    rating = PlacedRating()
    for start, line in lines[:1] if cut else lines[-1:] + lines[:1]:
        if reading := each[line]:
            rating = reading._replace(start=start + reading.start, end=start + reading.end)
    if rating.why:
        return rating
    if len({reading.why or reading.value for reading in each.values() if reading}) > 1:
        return PlacedRating(why="two different ratings")
    # a word may go on, and so may 1 on a scale that has 10
    ends = alone and rating.end == len(text.rstrip())
    if cut and ends and (form.answer in WORDS or rating.value * 10 <= form.high):
        return PlacedRating(why="cut short, perhaps inside the rating")
    return rating


def _of_line(line: str, form: Any, alone: bool) -> PlacedRating | None:
    """The rating that a line is, if it is one; ``alone``: it is all of the answer."""
    if len(line) > _LINE:
        return None
    words = WORDS.get(form.answer)
    if words is not None:
        match = _WORD.fullmatch(line)
        value = words.get(match["value"].casefold()) if match else None
        return (
            PlacedRating(value, "", *match.span("value")) if match and value is not None else None
        )
    match = _RATING.fullmatch(line)
    if not match or not (alone or match["label"] or not match["dot"]):  # "1." counts a list
        return None
    end = float(match["end"] or (100 if match["percent"] else form.high))
    if end != form.high:
        return PlacedRating(why=f"a rating on another scale than to {form.high:g}")
    return PlacedRating(float(match["value"].replace("−", "-")), "", *match.span("value"))


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


def _of_json(text: str, form: Any, items: int) -> list[Row]:
    value, why = json_of(text)
    if not why and form.unit != "source":
        return [_of_object(value, text, form)]
    listed = value.get("ratings") if isinstance(value, dict) else value
    listed = listed if isinstance(listed, list) else []
    numbers = [entry.get("number") if isinstance(entry, dict) else None for entry in listed]
    rows = [_of_object(entry, text, form, place, len(listed)) for place, entry in enumerate(listed)]
    return _by_number(numbers, rows, form, items, why)


def _by_number(numbers: list[Any], rows: list[Row], form: Any, items: int, why: str) -> list[Row]:
    """Rows in the order of their numbers, each of which must stand once; or why there is none."""
    if not all(type(number) is int and 1 <= number <= items for number in numbers):
        why = f"numbers that do not fit the {items} outputs"
    ordered: list[Row] = []
    for number in range(1, items + 1):
        if not why and numbers.count(number) == 1:
            ordered.append(rows[numbers.index(number)])
        else:
            times = "twice" if number in numbers else "never"
            none = PlacedRating(why=why or f"number {number} is rated {times}")
            ordered.append(dict.fromkeys(form.dimensions, none))
    return ordered


def _of_labels(text: str, cut: bool, form: Any, items: int) -> list[Row]:
    """Ratings below lines ``Output N``, each behind its label; ``Explanation:`` comes last."""
    heads = [*_OUTPUT.finditer(text)]
    numbers = [int(head[1]) for head in heads]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    rows: list[Row] = []
    for head, end in zip(heads, ends, strict=False):
        ratings, *reasons = _REASONS.split(text[head.end() : end], maxsplit=1)
        row: Row = {}
        for name in form.dimensions:
            reading = _of_label(ratings, form.keys[name], form)
            start, stop = reading.start + head.end(), reading.end + head.end()
            if cut and stop == len(text.rstrip()):
                reading = PlacedRating(why="cut short, perhaps inside the rating")
            why = "".join(reasons).strip()
            row[name] = reading._replace(start=start, end=stop, explanation=why)
        rows.append(row)
    return _by_number(numbers, rows, form, items, "" if heads else "no rating found")


def _of_label(text: str, label: str, form: Any) -> PlacedRating:
    """The rating in the one line that begins with a label."""
    pattern = rf"^{_SIGNS}{re.escape(label)}{_SIGNS}?[:=](.*)$"
    lines = [*re.finditer(pattern, text, re.I | re.M)]
    if len(lines) != 1:
        return PlacedRating(why=f"{label} is given twice" if lines else "no rating found")
    if not (reading := _of_line(lines[0][1], form, alone=True)):
        return PlacedRating(why="no number where the rating should be")
    start = lines[0].start(1)
    return reading._replace(start=start + reading.start, end=start + reading.end)


def _of_object(value: Any, text: str, form: Any, place: int = 0, of: int = 1) -> Row:
    """The ratings of one object; ``place`` is its number among ``of`` objects of the answer."""
    fields = value if isinstance(value, dict) else {}
    reasons = fields.get("explanation")
    reasons = reasons if isinstance(reasons, str) else ""
    row: Row = {}
    for name in form.dimensions:
        key = form.keys[name].strip().casefold()
        reading = _value(fields[key], form) if key in fields else PlacedRating()
        pattern = rf'(?<!\\)"\s*{re.escape(key)}\s*"\s*:\s*"?({_NUMBER})'
        numbers = [] if reading.why else [*re.finditer(pattern, text, re.IGNORECASE)]
        start, end = numbers[place].span(1) if len(numbers) == of else (-1, -1)
        row[name] = reading._replace(start=start, end=end, explanation=reasons)
    return row


def _value(value: Any, form: Any) -> PlacedRating:
    if isinstance(value, str) and (reading := _of_line(value.strip(), form, alone=True)):
        return reading
    if isinstance(value, bool) or not isinstance(value, int | float):
        return PlacedRating(why="no number where the rating should be")
    return (
        PlacedRating(float(value), "") if abs(value) < 1e12 else PlacedRating(why="a huge number")
    )


def aloud(text: str) -> str:
    """An answer with the thoughts before it, up to the last closing tag, blanked in place."""
    end = text.rfind("</think>")
    end = end + len("</think>") if end >= 0 else 0
    if text[end:].lstrip().startswith("<think>"):
        end = len(text)
    return (" " * (end - 1) + "\n" if end else "") + text[end:]
