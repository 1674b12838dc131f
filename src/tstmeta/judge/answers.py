"""Reading what a judge answered: a rating, or a row that says why there is none.

Nothing is ever put in a rating's place.  A refusal, an answer that was cut short, a rating off the
scale or two that differ are rows with a status and the raw words.  The reader never sees the texts
that were judged, so nothing in them can change how an answer is read.

Ratings of several outputs are matched by the numbers that the answer gives them, in whatever order
they come.  Only a prompt that asks for a bare list (``numbered = false``) is read by place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..schema import Status
from . import expected, numerals
from .base import Reply
from .loose import Branch, Leaf, Value, documents
from .numerals import Reading, Scale
from .prompts import Prompt

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
#: Most lines of an answer in words that are looked at for the ratings of several outputs.
ENTRIES = 1_000
_SCORES = ("rating", "score", "value")
_REASONS = ("explanation", "reason", "reasoning", "rationale", "justification", "comment")
_NUMBERS = ("number", "no", "no.", "nr", "id", "index", "sentence", "output", "rewrite", "item")
_YES_NO = {
    **dict.fromkeys(("yes", "true", "1", "हाँ", "हां", "হ্যাঁ"), 1.0),
    **dict.fromkeys(("no", "false", "0", "नहीं", "না"), 0.0),
}
_FIRST = {
    **dict.fromkeys(("1", "a", "first", "the first", "rewrite 1", "text 1"), 1.0),
    **dict.fromkeys(("2", "b", "second", "the second", "rewrite 2", "text 2"), 0.0),
    **dict.fromkeys(("tie", "equal", "neither", "both", "same"), 0.5),
}
_CHOICES = (*numerals.LABELS, "better", "best", "winner", "choice", "choose", "prefer", "preferred")
_BETTER = r"(?=[ \t]{1,3}(?:is|does it)(?: clearly| slightly| much)?[ \t]{1,3}(?:the )?better)"
#: What an output may be called in front of its number.
_CALLED = r"(?:sentence|output|rewrite|text|item|system|candidate|version|number|no|nr|s|r|t)?"
#: "1: ", "2)", "Sentence 3 - ", "S4. " at the start of a line or after a comma: whose rating comes.
_ENTRY = re.compile(
    rf"(?:^|[\n,;|])[ \t]{{0,8}}[*_#>\"'(\[{{-]{{0,6}}[ \t]{{0,4}}{_CALLED}[ \t]{{0,3}}"
    r"#?(\d{1,4})"
    r"[*_\"')\]]{0,6}[ \t]{0,3}(?:\.(?=[ \t*])|[:)=|–—-])[ \t*_]{0,8}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"\A\W{{0,3}}{_CALLED}[\W_]{{0,3}}(\d{{1,4}})\W{{0,3}}\Z", re.IGNORECASE)


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        status: ok, refused, truncated (the answer ended before the rating did), invalid, error.
        detail: why there is no value, and the raw answer; empty for a rating.
        explanation: the judge's reasons, if it gave any where a JSON answer has them.
        expected: the mean over all ratings, weighted by their probability; NaN where unknown.
        mass: the probability that all ratings had together at this place.
        logprobs: what log-probabilities came, or why they give no expected rating.
    """

    value: float
    status: Status
    detail: str
    explanation: str = ""
    expected: float = math.nan
    mass: float = math.nan
    logprobs: str = ""


class _Found(NamedTuple):
    """A rating with its place in the answer, and the reasons that stand with it."""

    reading: Reading
    explanation: str = ""


_NONE = Reading(math.nan, -1, -1, "no rating found")


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """The ratings in an answer.

    Args:
        reply: what came back.
        prompt: what was asked.
        items: how many rewrites it was asked about.

    Returns:
        A dict dimension -> rating for each rewrite, in the order they were asked in; always
        ``items`` long with all dimensions.  For a pair, 1 stands with the better rewrite, 0 with
        the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if why:
        rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
        return [dict.fromkeys(prompt.dimensions, rating) for _ in range(items)]
    if prompt.unit == "source":
        found = _several(reply, prompt, items)
    elif prompt.answer in ("yes-no", "first"):
        found = [_word(reply.text, prompt)] * items
    else:
        found = [_one(reply.text, prompt)]
    ratings = [
        {name: _rating(one.get(name, _Found(_NONE)), reply, prompt) for name in prompt.dimensions}
        for one in found
    ]
    if prompt.answer == "first":
        ratings[1:] = [{name: _other(one) for name, one in row.items()} for row in ratings[1:]]
    return ratings


def _no_answer(reply: Reply) -> tuple[Status, str]:
    """Status and words of an answer without words; ok and nothing if there are some to read."""
    if reply.failure:
        return Status.ERROR, reply.failure
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish == "content_filter":
        said = f": {_shown(reply.text)}" if reply.text else ""
        return Status.REFUSED, f"held back by the server's content filter{said}"
    if not reply.text.strip():
        if reply.finish == "length":
            return Status.TRUNCATED, "cut short before its first word"
        return Status.INVALID, "an empty answer"
    return Status.OK, ""


def _rating(found: _Found, reply: Reply, prompt: Prompt) -> Rating:
    reading, scale = found.reading, Scale(prompt.low, prompt.high)
    cut = reply.finish == "length"
    why = reading.why
    if cut and not why and prompt.answer in ("json", "number"):
        why = _half(reading, reply.text, scale)
    if why:
        missing = reading.start < 0 or not reading.why
        status = Status.TRUNCATED if cut and missing else Status.INVALID
        return Rating(math.nan, status, f"{why}; the answer: {_shown(reply.text)}")
    values = {"yes-no": _YES_NO, "first": _FIRST}.get(prompt.answer)
    known = expected.words_of(values) if values else expected.ratings_of(scale)
    mean = expected.expect(reply, reading.start, reading.end, known)
    explanation = _shown(found.explanation)
    return Rating(reading.value, Status.OK, "", explanation, mean.value, mean.mass, mean.logprobs)


def _half(reading: Reading, text: str, scale: Scale) -> str:
    """What is wrong where an answer was cut right behind a rating that could have gone on.

    "4" is whole on a scale from 1 to 5, for no rating there has two digits; "1" is not to 100.
    """
    goes_on = reading.end >= len(text) and reading.value * 10 <= scale.high
    return "cut short, perhaps inside the rating" if goes_on else ""


def _other(rating: Rating) -> Rating:
    """The rating of the second of a pair."""
    return rating._replace(value=1 - rating.value, expected=1 - rating.expected)


def _word(text: str, prompt: Prompt) -> dict[str, _Found]:
    """An answer in one word."""
    if prompt.answer == "first":
        found = numerals.words(text, _FIRST, _CHOICES, _BETTER)
    else:
        found = numerals.words(text, _YES_NO, (*numerals.LABELS, *prompt.dimensions))
    reading = numerals.decide(found, Scale(0, 1))
    return {prompt.dimensions[0]: _Found(reading)}


def _one(text: str, prompt: Prompt) -> dict[str, _Found]:
    """The ratings of one rewrite: from JSON where there is some, else from words."""
    docs = documents(text)
    branches = [branch for doc in docs for branch in doc.branches()]
    reasons = _reasons(branches)
    scale, found = Scale(prompt.low, prompt.high), {}
    for dimension in prompt.dimensions:
        keys = _keys(prompt, dimension)
        values = [value for branch in branches for value in branch.get(*keys)]
        if not values and len(prompt.dimensions) == 1:
            values = [value for branch in branches for value in branch.get(*_SCORES)]
        if values:
            reading = _agreed((_valued(value, scale) for value in values), scale)
        elif len(prompt.dimensions) == 1:
            labels = (*numerals.LABELS, *keys)
            reading = numerals.decide(numerals.readings(text, scale, labels), scale)
        else:
            reading = numerals.decide(numerals.labelled(text, scale, keys), scale)
        found[dimension] = _Found(reading, reasons)
    return found


def _several(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, _Found]]:
    """The ratings of all outputs of a source, by their numbers or, in a bare list, by place."""
    docs = {_outline(doc): doc for doc in documents(reply.text)}  # a list said twice counts once
    rows = [*_numbered(docs.values(), prompt)] or [*_lines(reply.text, prompt)]
    if not rows and not prompt.numbered:
        return _by_place(reply, list(docs.values()), prompt, items)
    found: dict[tuple[int, str], list[_Found]] = {}
    for number, dimension, one in rows:
        found.setdefault((number, dimension), []).append(one)
    if any(number == 0 for number, _ in found):
        why = Reading(math.nan, 0, 0, "numbers that begin at 0, so whose they are is not known")
        return [dict.fromkeys(prompt.dimensions, _Found(why)) for _ in range(items)]
    return [
        {name: _only(found.get((number, name), []), number) for name in prompt.dimensions}
        for number in range(1, items + 1)
    ]


def _only(found: list[_Found], number: int) -> _Found:
    if not found:
        return _Found(Reading(math.nan, -1, -1, f"no rating of number {number}"))
    if len(found) > 1:
        return _Found(Reading(math.nan, 0, 0, f"number {number} is rated {len(found)} times"))
    return found[0]


def _numbered(docs: Iterable[Branch], prompt: Prompt) -> Iterator[tuple[int, str, _Found]]:
    """(number, dimension, rating) of JSON in which outputs have numbers, in any of these forms.

    ``[{"number": 1, "style": 80}]``, ``{"1": 80}``, ``{"1": {"style": 80}}``,
    ``{"style": {"1": 80}}``.
    """
    scale = Scale(prompt.low, prompt.high)
    single = prompt.dimensions[0] if len(prompt.dimensions) == 1 else ""
    for doc in docs:
        for above, branch in _with_keys(doc):
            own = {_number(leaf.text) for leaf in branch.get(*_NUMBERS) if isinstance(leaf, Leaf)}
            own.discard(None)
            if len(own) == 1:
                yield from _row(own.pop() or 0, branch, prompt)
                continue
            about = [name for name in prompt.dimensions if above in _keys(prompt, name)]
            for key, value in branch.members if branch.named else ():
                number, dimension = _number(key), about[0] if about else single
                if number is None:
                    continue
                if isinstance(value, Branch) and not value.get(*_NUMBERS):
                    yield from _row(number, value, prompt)
                elif isinstance(value, Leaf) and dimension:
                    yield number, dimension, _Found(_valued(value, scale))


def _row(number: int, row: Branch, prompt: Prompt) -> Iterator[tuple[int, str, _Found]]:
    """The ratings in what JSON says of one output."""
    scale, reasons = Scale(prompt.low, prompt.high), _reasons([row])
    for dimension in prompt.dimensions:
        values = row.get(*_keys(prompt, dimension))
        if not values and len(prompt.dimensions) == 1:
            values = row.get(*_SCORES)
        if values:
            reading = _agreed((_valued(value, scale) for value in values), scale)
            yield number, dimension, _Found(reading, reasons)


def _lines(text: str, prompt: Prompt) -> Iterator[tuple[int, str, _Found]]:
    """(number, dimension, rating) of lines such as ``2: 80`` or ``2. content: 80, style: 70``."""
    scale, plain = Scale(prompt.low, prompt.high), numerals.plain(text)
    entries = list(islice(_ENTRY.finditer(plain), ENTRIES))
    ends = [*(entry.start() for entry in entries[1:]), len(plain)]
    for entry, end in zip(entries, ends, strict=False):  # without entries there is an end too many
        part = plain[entry.end() : end]
        for dimension in prompt.dimensions:
            keys = _keys(prompt, dimension)
            if len(prompt.dimensions) == 1:
                found = numerals.readings(part, scale, (*numerals.LABELS, *keys))
            else:
                found = numerals.labelled(part, scale, keys)
            if found:
                reading = _moved(numerals.decide(found, scale), entry.end())
                yield int(entry[1]), dimension, _Found(reading)


def _by_place(
    reply: Reply, docs: list[Branch], prompt: Prompt, items: int
) -> list[dict[str, _Found]]:
    """The ratings of a bare list: the first is that of the first output, and so on."""
    rows: list[dict[str, _Found]] = [{} for _ in range(items)]
    for dimension in prompt.dimensions:
        lists = _lists(reply.text, docs, _keys(prompt, dimension), len(prompt.dimensions) == 1)
        leaves, closed = lists[0] if len(lists) == 1 else ([], True)
        cut = reply.finish == "length" and not closed and len(leaves) < items
        if len(leaves) != items and not cut:
            count = f"{len(leaves)} ratings" if len(lists) < 2 else f"{len(lists)} lists"
            why = Reading(math.nan, -1, -1, f"{count} for {items} outputs")
            for row in rows:
                row[dimension] = _Found(why)
            continue
        for row, leaf in zip(rows, leaves, strict=False):
            row[dimension] = _Found(_valued(leaf, Scale(prompt.low, prompt.high)))
    return rows


def _lists(
    text: str, docs: list[Branch], keys: tuple[str, ...], any_key: bool
) -> list[tuple[list[Leaf], bool]]:
    """Lists of nothing but texts and numbers: their members, and whether they are closed."""
    named = [(above, branch) for doc in docs for above, branch in _with_keys(doc)]
    flat = [
        (above, branch)
        for above, branch in named
        if not branch.named and branch.members and len(branch.leaves()) == len(branch.members)
    ]
    chosen = [branch for above, branch in flat if above in keys]
    if not chosen and any_key:
        chosen = [branch for _, branch in flat]
    if chosen or docs or not any_key:
        return [(branch.leaves(), branch.closed) for branch in chosen]
    plain = numerals.plain(text)
    pieces = (match for match in re.finditer(r"[^,;\n]+", plain) if match[0].strip())
    parts = list(islice(pieces, ENTRIES))
    leaves = [Leaf(part[0], part.start(), part.end(), part.end() < len(text)) for part in parts]
    return [(leaves, False)]


def _valued(value: Value, scale: Scale) -> Reading:
    """The rating under a key: a number, a text that presents one, or a table that holds one."""
    if isinstance(value, Branch):
        inside = [one for one in value.get(*_SCORES) if isinstance(one, Leaf)]
        if len(inside) != 1:
            return Reading(math.nan, value.start, value.start, "a table where a rating should be")
        value = inside[0]
    reading = numerals.decide(numerals.readings(value.text, scale), scale)
    if reading.start < 0 and value.closed:
        return reading._replace(start=value.start, end=value.end)
    return _moved(reading, value.start)


def _agreed(found: Iterable[Reading], scale: Scale) -> Reading:
    readings = list(found)
    bad = [reading for reading in readings if reading.why]
    return bad[0] if bad else numerals.decide(readings, scale)


def _moved(reading: Reading, by: int) -> Reading:
    """A reading of a part, with its place in the whole."""
    if reading.start < 0:
        return reading
    return reading._replace(start=reading.start + by, end=reading.end + by)


def _with_keys(doc: Branch) -> Iterator[tuple[str, Branch]]:
    """All branches of a document, each with the key (casefolded) that it stands under."""
    queue = [("", doc)]
    for above, branch in queue:  # grows while it is read
        yield above, branch
        queue += [
            (key.strip().casefold() or above, value)
            for key, value in branch.members
            if isinstance(value, Branch)
        ]


def _outline(doc: Branch) -> tuple[object, ...]:
    """What a document says, without where."""
    return tuple(
        (branch.named, key, value.text if isinstance(value, Leaf) else None)
        for branch in doc.branches()
        for key, value in branch.members
    )


def _keys(prompt: Prompt, dimension: str) -> tuple[str, ...]:
    """What a dimension may be called in an answer: its key, and its name unless another has it."""
    keys = {name: prompt.key_of(name).strip().casefold() for name in prompt.dimensions}
    taken = {key for name, key in keys.items() if name != dimension}
    return tuple(dict.fromkeys(key for key in (keys[dimension], dimension) if key not in taken))


def _number(text: str) -> int | None:
    """The number of an output in its name: ``2``, ``S2``, ``sentence_2``."""
    match = _NUMBERED.match(numerals.plain(text))
    return int(match[1]) if match else None


def _reasons(branches: Iterable[Branch]) -> str:
    leaves = (value for branch in branches for value in branch.get(*_REASONS))
    return next((leaf.text for leaf in leaves if isinstance(leaf, Leaf)), "")


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: at most so long, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
