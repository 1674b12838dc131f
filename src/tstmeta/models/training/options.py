"""What shapes a training run.  The defaults are those of the weights that are shipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from ...schema import TstmetaError


class Prompts(Protocol):
    """An instruction set: a system prompt and what the user asks for under each task."""

    @property
    def name(self) -> str: ...

    @property
    def system(self) -> str: ...

    def fill(self, source: str, style: str) -> tuple[str, str, str]:
        """The user's words for (style, paraphrase, repeat)."""
        ...


@dataclass(frozen=True)
class TrainingOptions:
    """Shape of the model and course of the training.

    The shape is Llama's: ``width`` is the hidden size, ``inner`` that of the feed-forward layers.
    ``batch`` counts conversations a step, ``rate`` is the peak of the learning rate, reached after
    ``warmup`` steps and let down to zero along a straight line over the last part ``cooling``.

    The course has three parts: for ``drill`` of the steps the model repeats short strings of random
    tokens, which is where copying is learned cheapest; then it follows instructions without a
    system prompt, and from the part ``systems`` of the steps on also with one.  ``mixed`` has
    matrices multiplied in bfloat16.  ``checkpoint`` is the number of steps between two checkpoints.
    """

    vocabulary: int = 4096
    width: int = 256
    layers: int = 4
    heads: int = 8
    inner: int = 704
    positions: int = 2048
    batch: int = 48
    rate: float = 4e-3
    warmup: int = 20
    cooling: float = 0.4
    drill: float = 0.25
    systems: float = 0.7
    decay: float = 0.05
    clip: float = 1.0
    mixed: bool = True
    checkpoint: int = 25
    threads: int = 1

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            TstmetaError: a size below one, or a width that the heads do not divide.
        """
        may_be_nothing = ("drill", "systems", "mixed", "decay", "cooling")
        for name, value in asdict(self).items():
            if value < 0 or (value == 0 and name not in may_be_nothing):
                raise TstmetaError(f"training option {name} is {value}; give a positive number")
        if not self.drill <= self.systems <= 1 or self.cooling > 1:
            raise TstmetaError(
                f"the parts drill = {self.drill}, systems = {self.systems}, cooling = "
                f"{self.cooling} are no course; give drill <= systems <= 1 and cooling <= 1"
            )
        if self.width % self.heads or self.width // self.heads % 2:
            raise TstmetaError(
                f"{self.heads} heads do not fit a width of {self.width}; "
                "width / heads must be an even whole number"
            )


def named(prompts: Sequence[Prompts]) -> list[str]:
    """Names of the instruction sets, for the report.

    Raises:
        TstmetaError: there is none.
    """
    if not prompts:
        raise TstmetaError("no instruction set to train with; give at least one")
    return [one.name for one in prompts]
