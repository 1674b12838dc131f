"""What an answer holds before it becomes a rating: a reading, its place, the reasons beside it.

Shared by the readers of one rewrite (:mod:`.answers`) and of several (:mod:`.several`).
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable
from typing import NamedTuple

from . import numerals
from .loose import Branch, Leaf, Value, documents
from .numerals import Reading, Scale
from .prompts import Prompt

#: Keys of a JSON answer that hold a rating, whatever is rated, and those that hold reasons.
SCORES = ("rating", "score", "value")
REASONS = ("explanation", "reason", "reasoning", "rationale", "justification", "comment")
#: What some models put around their thoughts, where the server does not take them out.
_THOUGHT = ("<think>", "</think>")


class Found(NamedTuple):
    """A rating with its place in the answer, and the reasons that stand with it."""

    reading: Reading
    explanation: str = ""
    #: It stands in running words, and not under a key of JSON.
    spoken: bool = False


#: What is found where nothing is.
NONE = Reading(math.nan, -1, -1, "no rating found")


def aloud(text: str) -> str:
    """An answer with the thoughts before it blanked, all else in its place.

    They end with the last closing tag, whether or not the server kept the opening one.  A tag
    within a quoted text of whole JSON is part of what is quoted.
    """
    end = text.rfind(_THOUGHT[1])
    quoted = sorted((leaf.start, leaf.end) for leaf in leaves_of(text)) if end >= 0 else []
    while end >= 0:
        place = bisect(quoted, (end, len(text) + 1)) - 1
        if place < 0 or quoted[place][1] <= end:
            break
        end = text.rfind(_THOUGHT[1], 0, end)
    end = end + len(_THOUGHT[1]) if end >= 0 else 0
    if text[end:].lstrip().startswith(_THOUGHT[0]):
        end = len(text)
    return (" " * (end - 1) + "\n" if end else "") + text[end:]


def leaves_of(text: str) -> list[Leaf]:
    """All texts and numbers of the whole JSON in a text."""
    whole = (doc for doc in documents(text) if doc.closed)
    return [leaf for doc in whole for branch in doc.branches() for leaf in branch.leaves()]


def valued(value: Value, scale: Scale) -> Reading:
    """The rating under a key: a number, a text that presents one, or a table that holds one."""
    if isinstance(value, Branch):
        inside = [one for one in value.get(*SCORES) if isinstance(one, Leaf)]
        if len(inside) != 1:
            return Reading(math.nan, value.start, value.start, "a table where a rating should be")
        value = inside[0]
    reading = numerals.decide(numerals.readings(value.text, scale, before=""), scale)
    if reading.start < 0 and value.closed:
        return reading._replace(start=value.start, end=value.end)
    return moved(reading, value.start)


def moved(reading: Reading, by: int) -> Reading:
    """A reading of a part, with its place in the whole."""
    if reading.start < 0:
        return reading
    return reading._replace(start=reading.start + by, end=reading.end + by)


def keys_of(prompt: Prompt, dimension: str) -> tuple[str, ...]:
    """What a dimension may be called in an answer: its key, and its name unless another has it."""
    keys = {name: prompt.key_of(name).strip().casefold() for name in prompt.dimensions}
    taken = {key for name, key in keys.items() if name != dimension}
    return tuple(dict.fromkeys(key for key in (keys[dimension], dimension) if key not in taken))


def reasons_in(branches: Iterable[Branch]) -> str:
    """The first reasons that a JSON answer gives there; empty if it gives none."""
    leaves = (value for branch in branches for value in branch.get(*REASONS))
    return next((leaf.text for leaf in leaves if isinstance(leaf, Leaf)), "")
