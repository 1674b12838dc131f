"""What shapes a model and the course of its training.  Defaults are those of the shipped weights.

The shape is Llama's: ``width`` is the hidden size, ``inner`` that of the feed-forward layers, and
``vocabulary`` counts the tokens of a byte-level BPE of its own.  The learning rate goes up to
``rate`` over ``warmup`` steps and down to zero along a straight line over the last part
``cooling``; ``decay`` is the weight decay of matrices.  ``mixed`` has matrices multiplied in
bfloat16.  ``checkpoint`` is the number of steps between two checkpoints.
"""

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
    """Of the backbone; ``batch`` counts conversations a step.

    The course has three parts: for ``drill`` of the steps the model repeats short strings of random
    tokens, which is where copying is learned cheapest; then it follows instructions without a
    system prompt, and from the part ``systems`` of the steps on also with one.
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
        _check(self, may_be_nothing=("drill", "systems", "mixed", "decay", "cooling"))
        if not self.drill <= self.systems <= 1 or self.cooling > 1:
            raise TstmetaError(
                f"the parts drill = {self.drill}, systems = {self.systems}, cooling = "
                f"{self.cooling} are no course; give drill <= systems <= 1 and cooling <= 1"
            )


@dataclass(frozen=True)
class LmOptions:
    """Of a language model, or of a fine-tuning, which keeps the model's shape and tokenizer.

    ``length`` is the longest sentence in tokens, marks of beginning and end included; longer ones
    are cut, and the report counts them.  ``batch`` counts sentences a step.  ``steps`` bounds the
    course before its ``epochs`` are over; 0 = it does not.
    """

    vocabulary: int = 2560
    width: int = 128
    layers: int = 3
    heads: int = 4
    inner: int = 352
    length: int = 256
    batch: int = 32
    epochs: int = 3
    steps: int = 0
    rate: float = 4e-3
    warmup: int = 50
    cooling: float = 0.5
    decay: float = 0.05
    clip: float = 1.0
    mixed: bool = True
    checkpoint: int = 200
    threads: int = 1

    @property
    def positions(self) -> int:
        """Longest input of the model, in tokens."""
        return self.length

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            TstmetaError: a size below one, too few tokens, or a width that the heads do not divide.
        """
        _check(self, may_be_nothing=("steps", "mixed", "decay", "cooling"))
        if self.vocabulary < 257 or self.length < 3 or self.cooling > 1:
            raise TstmetaError(
                "give a vocabulary of 257 or more (all bytes and a mark), a length of 3 or more "
                f"and a cooling of at most 1; got {self.vocabulary}, {self.length}, {self.cooling}"
            )


#: Fine-tuning as Mukherjee et al. (2025, Appendix C) print it.  They print no schedule and no
#: clipping: the rate stays level here and gradients are clipped at 1, as is usual.
FINE_TUNING = LmOptions(
    length=512,
    epochs=10,
    batch=2,
    rate=1e-5,
    warmup=1,
    cooling=0.0,
    decay=0.01,
    mixed=False,
    checkpoint=1000,
)


def _check(options: TrainingOptions | LmOptions, may_be_nothing: Sequence[str]) -> None:
    for name, value in asdict(options).items():
        if value < 0 or (value == 0 and name not in may_be_nothing):
            raise TstmetaError(f"training option {name} is {value}; give a positive number")
    if options.width % options.heads or options.width // options.heads % 2:
        raise TstmetaError(
            f"{options.heads} heads do not fit a width of {options.width}; "
            "width / heads must be an even whole number"
        )


@dataclass(frozen=True)
class StyleOptions:
    """The course of a model of style, whose rate falls along a straight line from ``rate`` to 0.

    ``decay`` is the weight of the L2 penalty.  A linear model keeps a checkpoint after each epoch
    of a task.  ``bits`` (of the number of features) is for linear models, ``vector`` and ``maps``
    are for TextCNN.
    """

    epochs: int
    rate: float
    batch: int = 1
    decay: float = 0.0
    checkpoint: int = 200
    threads: int = 1
    bits: int = 18
    vector: int = 128
    maps: int = 100

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            TstmetaError: a number below its least value.
        """
        for name in ("epochs", "batch", "checkpoint", "threads", "vector", "maps"):
            if getattr(self, name) < 1:
                raise TstmetaError(
                    f"training option {name} is {getattr(self, name)}; give 1 or more"
                )
        if self.rate <= 0 or self.decay < 0 or not 4 <= self.bits <= 24:
            raise TstmetaError("give rate > 0, decay >= 0 and bits from 4 to 24")
