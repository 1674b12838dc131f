"""What shapes a language model of ours and the course of its training, or of a fine-tuning."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ...schema import TstmetaError


@dataclass(frozen=True)
class LmOptions:
    """Shape and course; the defaults are those of the weights that are shipped.

    The shape is Llama's: ``width`` is the hidden size, ``inner`` that of the feed-forward layers;
    ``vocabulary`` counts the tokens of a byte-level BPE of its own.  A model that is fine-tuned
    keeps its shape and its tokenizer.

    ``length`` is the longest sentence in tokens, marks of beginning and end included; longer ones
    are cut, and the report counts them.  ``batch`` counts sentences a step.  The learning rate goes
    up to ``rate`` over ``warmup`` steps and down to zero along a straight line over the last part
    ``cooling``; ``decay`` is the weight decay of matrices.  ``steps`` bounds the course before its
    ``epochs`` are over; 0 = it does not.  ``mixed`` has matrices multiplied in bfloat16.
    ``checkpoint`` is the number of steps between two checkpoints.
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

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            TstmetaError: a size below one, too few tokens, or a width that the heads do not divide.
        """
        may_be_nothing = ("steps", "mixed", "decay", "cooling")
        for name, value in asdict(self).items():
            if value < 0 or (value == 0 and name not in may_be_nothing):
                raise TstmetaError(f"training option {name} is {value}; give a positive number")
        if self.vocabulary < 257 or self.length < 3 or self.cooling > 1:
            raise TstmetaError(
                "give a vocabulary of 257 or more (all bytes and a mark), a length of 3 or more "
                f"and a cooling of at most 1; got {self.vocabulary}, {self.length}, {self.cooling}"
            )
        if self.width % self.heads or self.width // self.heads % 2:
            raise TstmetaError(
                f"{self.heads} heads do not fit a width of {self.width}; "
                "width / heads must be an even whole number"
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
