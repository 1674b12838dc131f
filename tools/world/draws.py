"""Named draws: a choice depends on a seed and on the name of what is chosen, on nothing else.

So two texts from the same draws differ only where their content differs: a rewrite and its twin
with one error share every other word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tstmeta.models.splits import hashed

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
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

    def below(self, name: str) -> Choices:
        """Choices of their own for a part, on the same side of the split."""
        return Choices(f"{self.seed}/{name}", self.held_out)


def is_held_out(text: str) -> bool:
    """Whether a content word or a frame is kept for held-out text: one in five, by hash."""
    return hashed(f"side/{text}") % 5 == 0
