"""What a judge answered: a rating, or the status of an answer that has none.

Each form that a prompt asks for (JSON, labels, a number, a word) has one strict reading; an answer
in another form is ``invalid``.  The reader never sees the texts that were judged.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..schema import Status
from .base import Reply
from .prompts import Prompt

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
#: The ways to answer in a word -> the words and their values.
WORDS: Mapping[str, Mapping[str, float]] = {
    "yes-no": {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
    "first": {"1": 1.0, "rewrite 1": 1.0, "2": 0.0, "rewrite 2": 0.0, "tie": 0.5},
}
_DECOR = r"[\s*_\"'`‘’“”#|()\[\]{}]*+"  # possessive: a line of signs is looked through once
_LABEL = rf"{_DECOR}(?:[^\W\d_][^\n:=.,;!?]{{0,60}}[:=])?{_DECOR}"
#: A rating in another form than was asked for, such as ``4 out of 5`` or ``80%``.
_OTHER = re.compile(
    rf"{_LABEL}\d+(?:\.\d+)?\s?(?:%|(?:/|(?:out )?of)\s?\d+(?:\.\d+)?){_DECOR}\.?{_DECOR}", re.I
)
#: What stands above the ratings of an output, and before its explanation, in labels.
#: Signs stay on their line: across lines, an answer of blank ones would take hours to read.
_SIGNS = r"[^\w\n]*"
_OUTPUT = re.compile(rf"^{_SIGNS}output\s+(\d{{1,6}})\b", re.I | re.M)
_REASONS = re.compile(rf"^{_SIGNS}explanation{_SIGNS}?[:=]", re.I | re.M)


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        detail: why there is no value, and the raw answer; empty for a rating.
    """

    value: float = math.nan
    status: Status = Status.INVALID
    detail: str = "no rating found"
    explanation: str = ""


Row = dict[str, Rating]


def read(reply: Reply, prompt: Prompt, items: int) -> list[Row]:
    """A dict dimension -> rating for each of so many rewrites, in the order they were shown in.

    For a pair, 1 stands with the better rewrite, 0 with the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if why:
        rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
        return [dict.fromkeys(prompt.dimensions, rating)] * items
    text, cut = without_thoughts(reply.text), reply.finish == "length"
    if prompt.answer == "json":
        rows = _read_json(text, prompt, items)
    elif prompt.answer == "labels":  # the last line may be half a rating: 1 of 10
        rows = _read_labels(text.rpartition("\n")[0] if cut else text, prompt, items)
    else:
        text = "" if cut and "\n" not in text.strip() else text
        rows = [dict.fromkeys(prompt.dimensions, _read_lines(text, prompt))] * items
    rows = [{name: _with_answer(row[name], reply) for name in row} for row in rows]
    if prompt.unit == "pair":
        [(name, second)] = rows[1].items()
        rows[1] = {name: second._replace(value=1 - second.value)}
    return rows


def _no_answer(reply: Reply) -> tuple[Status, str]:
    """Status and reason where there is nothing to read; else ok and no reason."""
    if reply.failure:
        return Status.ERROR, reply.failure
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish == "content_filter":
        return Status.REFUSED, f"held back by the server's content filter: {_shown(reply.text)}"
    return Status.OK, ""


def _with_answer(rating: Rating, reply: Reply) -> Rating:
    """A rating as a row keeps it: one that is missing quotes the answer."""
    if rating.status is Status.OK:
        return rating._replace(explanation=_shown(rating.explanation))
    status = Status.TRUNCATED if reply.finish == "length" else Status.INVALID
    return Rating(math.nan, status, f"{rating.detail}; the answer: {_shown(reply.text)}")


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: cut, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def _read_lines(text: str, prompt: Prompt) -> Rating:
    """The rating that the first line is; another one below it, in any form, makes it invalid."""
    lines = text.strip().split("\n")
    ratings = [_read_line(line, prompt) for line in lines]
    values = {rating.value for rating in ratings if rating.status is Status.OK}
    if len(values) > 1:
        return Rating(detail="two different ratings")
    unread = (line for line, rating in zip(lines, ratings, strict=True) if rating.detail)
    if any(map(_OTHER.fullmatch, unread)):
        return Rating(detail="a rating in another form or on another scale")
    is_list = len(lines) > 1 and re.fullmatch(r"\d+\.", lines[0].strip())
    return Rating() if is_list else ratings[0]


def _read_line(line: str, prompt: Prompt) -> Rating:
    """The rating that a line is, perhaps behind a label: ``4``, ``**Rating:** 4/5``."""
    if words := WORDS.get(prompt.answer):
        pattern = f"({'|'.join(words)})"
    else:
        pattern = rf"(\d+(?:\.\d+)?)(?:\s?/\s?{prompt.scale[1]:g})?"
    match = re.fullmatch(rf"{_LABEL}{pattern}{_DECOR}\.?{_DECOR}", line.casefold())
    if not match:
        return Rating()
    return _on_scale(words[match[1]] if words else float(match[1]), prompt)


def _on_scale(value: float, prompt: Prompt) -> Rating:
    low, high = prompt.scale
    if low <= value <= high:
        return Rating(float(value), Status.OK, "")
    return Rating(detail=f"{value:g} is not from {low:g} to {high:g}")


def json_of(text: str) -> dict[str, Any]:
    """The one JSON object of an answer, perhaps among words or in a fence; empty without it."""
    start = min((place for place in map(text.find, "{[") if place >= 0), default=0)
    end = max(map(text.rfind, "}]")) + 1
    try:
        value = json.loads(text[start:end], object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key that comes twice, neither value counts."""
    keys = Counter(key for key, _ in pairs)
    return {key: value if keys[key] == 1 else None for key, value in pairs}


def _read_json(text: str, prompt: Prompt, items: int) -> list[Row]:
    fields = json_of(text)
    if prompt.unit != "source":
        return [_read_object(fields, prompt)]
    entries = fields.get("ratings")
    entries = entries if isinstance(entries, list) else []
    entries = [entry for entry in entries if isinstance(entry, dict)]
    numbers = [entry.get("number") for entry in entries]
    return _by_number(numbers, [_read_object(entry, prompt) for entry in entries], prompt, items)


def _read_object(fields: dict[str, Any], prompt: Prompt) -> Row:
    reasons = fields.get("explanation")
    reasons = reasons if isinstance(reasons, str) else ""
    row: Row = {}
    for name in prompt.dimensions:
        value, rating = fields.get(prompt.keys[name]), Rating()
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12:
            rating = _on_scale(value, prompt)
        row[name] = rating._replace(explanation=reasons)
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
            ordered.append(dict.fromkeys(prompt.dimensions, Rating(detail=why)))
    return ordered


def _read_labels(text: str, prompt: Prompt, items: int) -> list[Row]:
    """Ratings below lines ``Output N``, each behind its label; ``Explanation:`` comes last."""
    _, *parts = _OUTPUT.split(text)
    rows: list[Row] = []
    for part in parts[1::2]:
        ratings, *reasons = _REASONS.split(part, maxsplit=1)
        row: Row = {}
        for name in prompt.dimensions:
            rating = _read_label(ratings, prompt.keys[name], prompt)
            row[name] = rating._replace(explanation="".join(reasons).strip())
        rows.append(row)
    return _by_number([int(number) for number in parts[::2]], rows, prompt, items)


def _read_label(text: str, label: str, prompt: Prompt) -> Rating:
    """The rating in the one line that begins with a label."""
    pattern = rf"^{_SIGNS}{re.escape(label)}{_SIGNS}?[:=](.*)$"
    lines = re.findall(pattern, text, re.I | re.M)
    return _read_line(lines[0], prompt) if len(lines) == 1 else Rating()


def without_thoughts(text: str) -> str:
    """An answer without the thoughts before it, which end with the last closing tag."""
    text = text.rpartition("</think>")[2]
    return "" if text.lstrip().startswith("<think>") else text
