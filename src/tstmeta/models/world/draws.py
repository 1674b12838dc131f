"""Named draws: a choice depends on a seed and on the name of what is chosen, on nothing else.

So two texts made from the same draws differ only where their content differs: a rewrite and its
twin with one error share every other word.  The hash is BLAKE2b, so a seed means the same on every
machine and under every version of Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


def hashed(text: str) -> int:
    """A number in [0, 2**64) that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Draws:
    """Choices under one seed; ``held_out`` picks the side of the split that words come from."""

    seed: str
    held_out: bool = False

    def number(self, name: str, limit: int) -> int:
        """A whole number in [0, limit)."""
        return hashed(f"{self.seed}/{name}") % limit

    def pick(self, name: str, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(name, len(options))]

    def chance(self, name: str, share: float) -> bool:
        """True with the probability ``share``."""
        return self.number(name, 1_000_000) < share * 1_000_000

    def below(self, name: str) -> Draws:
        """Draws of their own for a part, on the same side of the split."""
        return Draws(f"{self.seed}/{name}", self.held_out)

    def side(self, words: Sequence[str]) -> Sequence[str]:
        """The words of an open class that belong to this side of the split."""
        return [word for word in words if is_held_out(word) == self.held_out]


def is_held_out(text: str) -> bool:
    """Whether a content word or a frame is kept for held-out text: one in five, by hash."""
    return hashed(f"side/{text}") % 5 == 0
