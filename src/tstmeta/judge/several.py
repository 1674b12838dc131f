"""The ratings of several rewrites in one answer: whose each one is.

They are matched by the numbers that the answer gives them, in whatever order they come.  Only a
prompt that asks for a bare list (``numbered = false``) is read by place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from . import numerals
from .loose import Branch, Leaf, documents
from .numerals import Reading, Scale
from .parts import SCORES, Found, keys_of, moved, reasons_in, valued
from .prompts import Prompt

#: Most lines of an answer in words that are looked at for the ratings of several outputs.
ENTRIES = 1_000
#: Keys of a JSON answer that say which output a rating is of.
_NUMBERS = ("number", "no", "no.", "nr", "id", "index", "sentence", "output", "rewrite", "item")
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


def several(text: str, cut: bool, prompt: Prompt, items: int) -> list[dict[str, Found]]:
    """The ratings of all outputs of a source, by their numbers or, in a bare list, by place.

    Args:
        text: the answer.
        cut: it ended for its length.
        prompt: what was asked.
        items: how many rewrites it was asked about.

    Returns:
        A dict dimension -> rating for each rewrite, in the order they were asked in.
    """
    docs = {_outline(doc): doc for doc in documents(text)}  # a list that is said twice counts once
    rows = [*_numbered(docs.values(), prompt)] or [*_lines(text, prompt)]
    if not rows and not prompt.numbered:
        return _by_place(text, cut, list(docs.values()), prompt, items)
    found: dict[tuple[int, str], list[Found]] = {}
    for number, dimension, one in rows:
        found.setdefault((number, dimension), []).append(one)
    if any(not 1 <= number <= items for number, _ in found):  # whose each one is, is not known
        why = Reading(math.nan, 0, 0, f"numbers that do not fit the {items} outputs")
        return [dict.fromkeys(prompt.dimensions, Found(why)) for _ in range(items)]
    return [
        {name: _only(found.get((number, name), []), number) for name in prompt.dimensions}
        for number in range(1, items + 1)
    ]


def _only(found: list[Found], number: int) -> Found:
    if not found:
        return Found(Reading(math.nan, -1, -1, f"no rating of number {number}"))
    if len(found) > 1:
        return Found(Reading(math.nan, 0, 0, f"number {number} is rated {len(found)} times"))
    return found[0]


def _numbered(docs: Iterable[Branch], prompt: Prompt) -> Iterator[tuple[int, str, Found]]:
    """(number, dimension, rating) of JSON in which outputs have numbers, in any of these forms.

    ``[{"number": 1, "style": 80}]``, ``{"1": 80}``, ``{"1": {"style": 80}}``,
    ``{"style": {"1": 80}}``.
    """
    scale = Scale(prompt.low, prompt.high)
    single = prompt.dimensions[0] if len(prompt.dimensions) == 1 else ""
    queue = [("", doc) for doc in docs]
    for above, branch in queue:  # grows while it is read
        own = {_number(leaf.text) for leaf in branch.get(*_NUMBERS) if isinstance(leaf, Leaf)}
        own.discard(None)
        if len(own) == 1:
            yield from _row(own.pop() or 0, branch, prompt)
            continue
        about = next((name for name in prompt.dimensions if above in keys_of(prompt, name)), single)
        for key, value in branch.members:
            number = _number(key) if branch.named else None
            if isinstance(value, Leaf):
                if number is not None and about:
                    yield number, about, Found(valued(value, scale))
            elif number is None or value.get(*_NUMBERS):
                queue.append((key.strip().casefold() or above, value))
            else:
                yield from _row(number, value, prompt)


def _row(number: int, row: Branch, prompt: Prompt) -> Iterator[tuple[int, str, Found]]:
    """The ratings in what JSON says of one output."""
    scale, reasons = Scale(prompt.low, prompt.high), reasons_in([row])
    for dimension in prompt.dimensions:
        values = row.get(*keys_of(prompt, dimension))
        if not values and len(prompt.dimensions) == 1:
            values = row.get(*SCORES)
        if values:
            reading = numerals.decide([valued(value, scale) for value in values], scale)
            yield number, dimension, Found(reading, reasons)


def _lines(text: str, prompt: Prompt) -> Iterator[tuple[int, str, Found]]:
    """(number, dimension, rating) of lines such as ``2: 80`` or ``2. content: 80, style: 70``."""
    scale, plain = Scale(prompt.low, prompt.high), numerals.plain(text)
    entries = list(islice(_ENTRY.finditer(plain), ENTRIES))
    ends = [*(entry.start() for entry in entries[1:]), len(plain)]
    for entry, end in zip(entries, ends, strict=False):  # without entries there is an end too many
        part = plain[entry.end() : end]
        for dimension in prompt.dimensions:
            keys = keys_of(prompt, dimension)
            if len(prompt.dimensions) == 1:
                labels = (*numerals.LABELS, *keys)
                found = numerals.readings(part, scale, labels, before=entry[0].strip())
            else:
                found = numerals.labelled(part, scale, keys)
            if found:
                reading = moved(numerals.decide(found, scale), entry.end())
                yield int(entry[1]), dimension, Found(reading)


def _by_place(
    text: str, cut: bool, docs: list[Branch], prompt: Prompt, items: int
) -> list[dict[str, Found]]:
    """The ratings of a bare list: the first is that of the first output, and so on."""
    rows: list[dict[str, Found]] = [{} for _ in range(items)]
    for dimension in prompt.dimensions:
        lists = _lists(text, docs, keys_of(prompt, dimension), len(prompt.dimensions) == 1)
        leaves, closed = lists[0] if len(lists) == 1 else ([], True)
        if len(leaves) != items and not (cut and not closed and len(leaves) < items):
            count = f"{len(leaves)} ratings" if len(lists) < 2 else f"{len(lists)} lists"
            why = Reading(math.nan, -1, -1, f"{count} for {items} outputs")
            for row in rows:
                row[dimension] = Found(why)
            continue
        for row, leaf in zip(rows, leaves, strict=False):
            row[dimension] = Found(valued(leaf, Scale(prompt.low, prompt.high)))
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


def _number(text: str) -> int | None:
    """The number of an output in its name: ``2``, ``S2``, ``sentence_2``."""
    match = _NUMBERED.match(numerals.plain(text))
    return int(match[1]) if match else None
