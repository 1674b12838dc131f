"""Reading what a judge answered: ratings out of a text, or why there are none.

Each form that a prompt asks for (JSON, labels, a number, a word) has one strict reading.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .prompts import Prompt

#: The ways to answer in a word -> the words and their values.
WORDS: Mapping[str, Mapping[str, float]] = {
    "yes-no": {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
    "first": {"1": 1.0, "rewrite 1": 1.0, "2": 0.0, "rewrite 2": 0.0, "tie": 0.5},
}
_DECOR = r"[\s*_\"'`‘’“”#|()\[\]{}]*+"  # possessive: a line of signs is looked through once
_LABEL = rf"{_DECOR}(?:[^\W\d_][^\n:=.,;!?]{{0,60}}[:=])?{_DECOR}"
#: What stands above the ratings of an output, and before its explanation, in labels.
#: Signs stay on their line: across lines, an answer of blank ones would take hours to read.
_SIGNS = r"[^\w\n]*"
_OUTPUT = re.compile(rf"^{_SIGNS}output\s+(\d{{1,6}})\b", re.I | re.M)
_REASONS = re.compile(rf"^{_SIGNS}explanation{_SIGNS}?[:=]", re.I | re.M)


class Reading(NamedTuple):
    """A rating on the scale, or why there is none."""

    value: float = math.nan
    why: str = "no rating found"
    explanation: str = ""


Row = dict[str, Reading]


def readings(text: str, prompt: Prompt, items: int, cut: bool = False) -> list[Row]:
    """A dict dimension -> reading for each of so many rewrites, in the order they were shown in.

    ``cut``: the answer ran out of tokens.
    """
    text = without_thoughts(text)
    if prompt.answer == "json":
        return _read_json(text, prompt, items)
    if cut:  # the last line may be half a rating: 1 of 10
        text = text.rpartition("\n")[0]
    if prompt.answer == "labels":
        return _read_labels(text, prompt, items)
    return [dict.fromkeys(prompt.dimensions, _read_lines(text, prompt))] * items


def _read_lines(text: str, prompt: Prompt) -> Reading:
    """The rating that the first line is; another one below it makes it invalid."""
    lines = [_read_line(line, prompt) for line in text.strip().split("\n")]
    values = {reading.value for reading in lines if not reading.why}
    return lines[0] if len(values) < 2 else Reading(why="two different ratings")


def _read_line(line: str, prompt: Prompt) -> Reading:
    """The rating that a line is, perhaps behind a label: ``4``, ``**Rating:** 4/5``."""
    if words := WORDS.get(prompt.answer):
        pattern = f"({'|'.join(words)})"
    else:
        pattern = rf"(\d+(?:\.\d+)?)(?:\s?/\s?{prompt.scale[1]:g})?"
    match = re.fullmatch(rf"{_LABEL}{pattern}{_DECOR}\.?{_DECOR}", line.casefold())
    if not match:
        return Reading()
    return _on_scale(words[match[1]] if words else float(match[1]), prompt)


def _on_scale(value: float, prompt: Prompt) -> Reading:
    low, high = prompt.scale
    if low <= value <= high:
        return Reading(float(value), "")
    return Reading(why=f"{value:g} is not from {low:g} to {high:g}")


def json_of(text: str) -> dict[str, Any] | None:
    """The one JSON object of an answer, which may stand in words or in a fence; None without it."""
    try:
        fields: dict[str, Any] = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    return fields


def _read_json(text: str, prompt: Prompt, items: int) -> list[Row]:
    fields = json_of(text)
    if fields is None:
        none = Reading(why="no JSON object that can be read")
        return [dict.fromkeys(prompt.dimensions, none)] * items
    if prompt.unit != "source":
        return [_read_object(fields, prompt)]
    entries = fields.get("ratings")
    entries = entries if isinstance(entries, list) else []
    entries = [entry for entry in entries if isinstance(entry, dict)]
    numbers = [entry.get("number") for entry in entries]
    return _by_number(numbers, [_read_object(entry, prompt) for entry in entries], prompt, items)


def _read_object(fields: dict[str, Any], prompt: Prompt) -> Row:
    """The ratings of one object."""
    row: Row = {}
    for name in prompt.dimensions:
        rating, reading = fields.get(prompt.keys[name]), Reading()
        if isinstance(rating, int | float) and not isinstance(rating, bool) and abs(rating) < 1e12:
            reading = _on_scale(rating, prompt)
        reasons = fields.get("explanation")
        row[name] = reading._replace(explanation=reasons if isinstance(reasons, str) else "")
    return row


def _by_number(numbers: list[Any], rows: list[Row], prompt: Prompt, items: int) -> list[Row]:
    """Rows in the order of their numbers, each of which must stand once; or why there is none."""
    fit = all(type(number) is int and 1 <= number <= items for number in numbers)
    ordered: list[Row] = []
    for number in range(1, items + 1):
        if fit and numbers.count(number) == 1:
            ordered.append(rows[numbers.index(number)])
        else:
            times = "twice" if number in numbers else "never"
            why = f"number {number} is rated {times}" if fit else f"numbers off the {items} outputs"
            ordered.append(dict.fromkeys(prompt.dimensions, Reading(why=why)))
    return ordered


def _read_labels(text: str, prompt: Prompt, items: int) -> list[Row]:
    """Ratings below lines ``Output N``, each behind its label; ``Explanation:`` comes last."""
    _, *parts = _OUTPUT.split(text)
    rows: list[Row] = []
    for part in parts[1::2]:
        ratings, *reasons = _REASONS.split(part, maxsplit=1)
        row: Row = {}
        for name in prompt.dimensions:
            reading = _read_label(ratings, prompt.keys[name], prompt)
            row[name] = reading._replace(explanation="".join(reasons).strip())
        rows.append(row)
    return _by_number([int(number) for number in parts[::2]], rows, prompt, items)


def _read_label(text: str, label: str, prompt: Prompt) -> Reading:
    """The rating in the one line that begins with a label."""
    pattern = rf"^{_SIGNS}{re.escape(label)}{_SIGNS}?[:=](.*)$"
    lines = re.findall(pattern, text, re.I | re.M)
    if len(lines) > 1:
        return Reading(why=f"{label} is given twice")
    return _read_line(lines[0], prompt) if lines else Reading()


def without_thoughts(text: str) -> str:
    """An answer without the thoughts before it, which end with the last closing tag."""
    text = text.rpartition("</think>")[2]
    return "" if text.lstrip().startswith("<think>") else text
