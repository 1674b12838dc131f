"""Reading what a judge answered: ratings out of a text, or why there are none.

Each form that a prompt asks for (JSON, labels, a number, a word) has one strict reading.
"""

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from .prompts import Prompt

#: The ways to answer in a word -> the words and their values.
WORDS: Mapping[str, Mapping[str, float]] = {
    "yes-no": {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
    "first": {"1": 1.0, "rewrite 1": 1.0, "2": 0.0, "rewrite 2": 0.0, "tie": 0.5},
}
_DECOR = r"[\s*_\"'`‘’“”#|()\[\]{}]{0,40}+"  # possessive: a line of signs is looked through once
_LABEL = rf"{_DECOR}(?P<label>[^\W\d_][^\n:=.,;!?]{{0,60}}[:=])?{_DECOR}"
_NUMBER = r"(?<!\d)[-−+]?\d{1,12}(?:\.\d{1,12})?(?!\d)"
#: A number in another form than was asked for, such as ``4 out of 5`` or ``80%``.
_OTHER_FORM = r"\s?(?:%|(?:/|(?:out )?of)\s?\d{1,12}(?:\.\d{1,12})?)"
#: Longest line that is looked at, without the blanks around it.
_LONGEST = 200
_OPENING = re.compile(r"[{\[]")
#: What stands above the ratings of an output, and before its explanation, in labels.
#: Signs stay on their line: across lines, an answer of blank ones would take hours to read.
_SIGNS = r"[^\w\n]*"
_OUTPUT = re.compile(rf"^{_SIGNS}output\s+(\d{{1,6}})\b", re.I | re.M)
_REASONS = re.compile(rf"^{_SIGNS}explanation{_SIGNS}?[:=]", re.I | re.M)


class PlacedRating(NamedTuple):
    """A rating with its end in the answer, or why there is none."""

    value: float = math.nan
    why: str = "no rating found"
    end: int = -1
    explanation: str = ""

    def moved(self, start: int) -> "PlacedRating":
        return self._replace(end=self.end + start)


Row = dict[str, PlacedRating]
_NO_NUMBER = PlacedRating(why="no number where the rating should be")
_OTHER = PlacedRating(why="a rating in another form or on another scale")
_CUT = PlacedRating(why="cut short, perhaps inside the rating")


def readings(text: str, prompt: Prompt, items: int, cut: bool = False) -> list[Row]:
    """A dict dimension -> reading for each of so many rewrites, in the order they were shown in.

    ``cut``: the answer ran out of tokens.
    """
    text = without_thoughts(text)
    if prompt.answer == "json":
        rows = _read_json(text, prompt, items)
    elif prompt.answer == "labels":
        rows = _read_labels(text, cut, prompt, items)
    else:
        rows = [dict.fromkeys(prompt.dimensions, _read_lines(text, cut, prompt))] * items
    for row in rows:
        for name, reading in row.items():
            low, high = prompt.scale
            if not reading.why and not low <= reading.value <= high:
                why = f"{reading.value:g} is not from {low:g} to {high:g}"
                row[name] = PlacedRating(why=why)
    return rows


def _read_lines(text: str, cut: bool, prompt: Prompt) -> PlacedRating:
    """The rating that is the first line, or the last one of a complete answer.

    Another line that is another rating, or one in another form, makes it invalid.
    """
    lines = list(re.finditer(r"^[^\n]*[^`*_\s][^\n]*$", text, re.M))  # others are blank, or a fence
    is_alone = len(lines) == 1
    ratings = [_read_line(line[0], prompt, is_alone).moved(line.start()) for line in lines]
    if any(rating.why == _OTHER.why for rating in ratings):
        return _OTHER
    ends = ratings[:1] if cut else [*ratings[:1], *ratings[-1:]]
    rating = next((rating for rating in ends if not rating.why), PlacedRating())
    if rating.why:
        return rating
    if len({rating.value for rating in ratings if not rating.why}) > 1:
        return PlacedRating(why="two different ratings")
    # a word may go on, and so may 1 on a scale that has 10
    may_go_on = prompt.answer in WORDS or rating.value * 10 <= prompt.scale[1]
    is_last = is_alone and rating.end == len(text.rstrip())
    return _CUT if cut and is_last and may_go_on else rating


@cache
def _line_pattern(answer: str, high: float) -> re.Pattern[str]:
    """A line that is nothing but an answer, perhaps behind a label: ``4``, ``**Rating:** 4/5``."""
    words = WORDS.get(answer)
    value = "|".join(words) if words else _NUMBER
    scale = "" if words else rf"(?:\s?/\s?{high:g}|(?P<other>{_OTHER_FORM}))?"
    return re.compile(rf"{_LABEL}(?P<value>{value}){scale}{_DECOR}(?P<dot>\.?){_DECOR}", re.I)


def _read_line(line: str, prompt: Prompt, is_alone: bool) -> PlacedRating:
    """The rating that a line is, if it is one; a number "1." beside other lines counts a list."""
    bare, pattern = line.strip(), _line_pattern(prompt.answer, prompt.scale[1])
    match = pattern.fullmatch(bare) if len(bare) <= _LONGEST else None
    words = WORDS.get(prompt.answer)
    is_listed = match and match["dot"] and not (match["label"] or is_alone or words)
    if not match or is_listed:
        return PlacedRating()
    text = match["value"].casefold()
    if not words and match["other"]:
        return _OTHER
    # the pattern ignores case in more ways than casefold: "tıe" is no word
    value = words.get(text) if words else float(text.replace("−", "-"))
    if value is None:
        return PlacedRating()
    return PlacedRating(value, "", match.end("value")).moved(line.find(bare))


def json_of(text: str) -> tuple[Any, str]:
    """The one JSON value of an answer, which may stand in words or in a fence; or what is wrong."""
    opening = _OPENING.search(text)
    if not opening:
        return None, "no JSON"
    try:
        value, end = _DECODER.raw_decode(text, opening.start())
    except (ValueError, RecursionError):
        return None, "broken JSON"
    return (None, "more than one JSON value") if _OPENING.search(text, end) else (value, "")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key that comes twice, neither value counts."""
    values: dict[str, Any] = {}
    for key, value in pairs:
        values[key] = None if key in values else value
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda name: None)


def _read_json(text: str, prompt: Prompt, items: int) -> list[Row]:
    value, why = json_of(text)
    if prompt.unit != "source":
        if why:
            return [{name: PlacedRating(why=why) for name in prompt.dimensions}]
        return [_read_object(value, prompt)]
    entries = value.get("ratings") if isinstance(value, dict) else None
    entries = entries if isinstance(entries, list) else []
    numbers = [entry.get("number") if isinstance(entry, dict) else None for entry in entries]
    rows = [_read_object(entry, prompt) for entry in entries]
    return _by_number(numbers, rows, prompt, items, why)


def _read_object(value: Any, prompt: Prompt) -> Row:
    """The ratings of one object."""
    fields = value if isinstance(value, dict) else {}
    reasons = fields.get("explanation")
    reasons = reasons if isinstance(reasons, str) else ""
    row: Row = {}
    for name in prompt.dimensions:
        key = prompt.keys[name]
        rating = fields.get(key)
        reading = PlacedRating() if key not in fields else _NO_NUMBER
        if isinstance(rating, int | float) and not isinstance(rating, bool) and abs(rating) < 1e12:
            reading = PlacedRating(float(rating), "")
        row[name] = reading._replace(explanation=reasons)
    return row


def _by_number(
    numbers: list[Any], rows: list[Row], prompt: Prompt, items: int, why: str
) -> list[Row]:
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
            ordered.append(dict.fromkeys(prompt.dimensions, none))
    return ordered


def _read_labels(text: str, cut: bool, prompt: Prompt, items: int) -> list[Row]:
    """Ratings below lines ``Output N``, each behind its label; ``Explanation:`` comes last."""
    heads = list(_OUTPUT.finditer(text))
    numbers = [int(head[1]) for head in heads]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    rows: list[Row] = []
    for head, end in zip(heads, ends, strict=False):
        ratings, *reasons = _REASONS.split(text[head.end() : end], maxsplit=1)
        row: Row = {}
        for name in prompt.dimensions:
            reading = _read_label(ratings, prompt.keys[name], prompt).moved(head.end())
            reading = _CUT if cut and reading.end == len(text.rstrip()) else reading
            row[name] = reading._replace(explanation="".join(reasons).strip())
        rows.append(row)
    return _by_number(numbers, rows, prompt, items, "" if heads else "no rating found")


def _read_label(text: str, label: str, prompt: Prompt) -> PlacedRating:
    """The rating in the one line that begins with a label."""
    pattern = rf"^{_SIGNS}{re.escape(label)}{_SIGNS}?[:=](.*)$"
    lines = list(re.finditer(pattern, text, re.I | re.M))
    if len(lines) != 1:
        return PlacedRating(why=f"{label} is given twice" if lines else "no rating found")
    reading = _read_line(lines[0][1], prompt, is_alone=True)
    return _NO_NUMBER if reading.why else reading.moved(lines[0].start(1))


def without_thoughts(text: str) -> str:
    """An answer with the thoughts before it, up to the last closing tag, blanked in place."""
    end = text.rfind("</think>")
    end = end + len("</think>") if end >= 0 else 0
    if text[end:].lstrip().startswith("<think>"):
        end = len(text)
    return (" " * (end - 1) + "\n" if end else "") + text[end:]
