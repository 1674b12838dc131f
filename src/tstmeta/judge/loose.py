"""JSON as models write it: inside prose, with loose commas and quotes, or cut short.

The standard reader refuses all of that, keeps the last of two equal keys without a word, and does
not say where in the text a rating stood, which expected ratings need.  This one repairs nothing: it
keeps what is there, as text, with its place.  On valid JSON it sees what the standard reader sees.
One pass, no recursion, and a bound on its steps, for answers are written by others.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

#: Most tokens that are looked at in one answer.
STEPS = 20_000
#: After a fault this near its start, a document may begin one character further on.
_NEAR = 200

_OPENING = re.compile(r"[{\[]")
_GAP = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:")
_BARE = re.compile(r"[^\s,:{}\[\]\"']+")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*+(?:\\\Z)?', re.DOTALL)
_BEHIND = re.compile(r"[\s,:}\]]")
#: An apostrophe ends a text in single quotes only where JSON goes on after it.
_SINGLE = re.compile(r"'(?:[^'\\]|\\.|'(?!\s{0,20}(?:[,:}\]]|\Z)))*+(?:\\\Z)?", re.DOTALL)


class Leaf(NamedTuple):
    """A text, a number or a word, as written.

    Attributes:
        text: without quotes, escapes resolved.
        start, end: where it stands in the answer, without quotes.
        closed: something follows, so that it cannot have been cut.
    """

    text: str
    start: int
    end: int
    closed: bool


@dataclass
class Branch:
    """An object or a list; members of a list have the key ``""``."""

    named: bool
    start: int
    members: list[tuple[str, Leaf | Branch]] = field(default_factory=list)
    closed: bool = False

    def get(self, *keys: str) -> list[Leaf | Branch]:
        """Members under any of these keys (casefolded), all of them where a key comes twice."""
        return [value for key, value in self.members if key.strip().casefold() in keys]

    def leaves(self) -> list[Leaf]:
        """Members that are no branch."""
        return [value for _, value in self.members if isinstance(value, Leaf)]

    def branches(self) -> list[Branch]:
        """This branch and all below it, from the top."""
        found = [self]
        for branch in found:  # grows while it is read
            found += [value for _, value in branch.members if isinstance(value, Branch)]
        return found


Value: TypeAlias = Leaf | Branch


def documents(text: str) -> list[Branch]:
    """All objects and lists of a text, from left to right; one that is cut short is the last."""
    found: list[Branch] = []
    at, steps = 0, 0
    while steps < STEPS:
        opening = _OPENING.search(text, at)
        if opening is None:
            break
        start = opening.start()
        branch, end, taken = _document(text, start, STEPS - steps)
        steps += taken + 1
        if branch is not None:
            found.append(branch)
            at = end
        else:
            at = start + 1 if end - start < _NEAR else end
    return found


def _document(text: str, start: int, steps: int) -> tuple[Branch | None, int, int]:
    """The branch that begins at ``start`` or None, where it ends or fails, and the steps taken."""
    root = Branch(text[start] == "{", start)
    stack, key, at = [root], "", start + 1
    for taken in range(steps):
        at = _end(_GAP, text, at)
        if at >= len(text):
            return root, at, taken
        top, sign = stack[-1], text[at]
        if sign in "}]":
            if key or top.named != (sign == "}"):
                return None, at, taken
            stack.pop().closed = True
            at += 1
            if not stack:
                return root, at, taken
        elif top.named and not key:
            leaf, after = _leaf(text, at)
            colon = _COLON.match(text, after)
            if leaf is None or (colon is None and after < len(text)):
                return None, max(at, after), taken
            if colon is None:
                return root, after, taken  # cut inside a key
            key, at = leaf.text or " ", colon.end()
        elif sign in "{[":
            child = Branch(sign == "{", at)
            top.members.append((key, child))
            stack.append(child)
            key, at = "", at + 1
        else:
            leaf, after = _leaf(text, at)
            if leaf is None:
                return None, at, taken
            top.members.append((key, leaf))
            key, at = "", after
    return None, at, steps


def _leaf(text: str, at: int) -> tuple[Leaf | None, int]:
    """The text or word at a place, None if another follows without a gap; and the place behind."""
    sign = text[at]
    if sign in "\"'":
        end = _end(_DOUBLE if sign == '"' else _SINGLE, text, at)
        closed = end < len(text) and text[end] == sign
        leaf, after = Leaf(_unescape(text[at + 1 : end]), at + 1, end, closed), end + closed
    else:
        after = _end(_BARE, text, at)
        leaf = Leaf(text[at:after], at, after, after < len(text))
    whole = after > at and (after == len(text) or _BEHIND.match(text, after))
    return (leaf if whole else None), after


def _unescape(body: str) -> str:
    if "\\" not in body:
        return body
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:  # an escape that JSON does not know: it stays as it is written
        return body


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
