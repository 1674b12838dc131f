"""What shapes a model and the course of its training; ``--set NAME=VALUE`` changes each.

``rate`` is the learning rate, ``decay`` the weight decay (of a linear model the weight of the L2
penalty), ``checkpoint`` the number of steps between two checkpoints.  Another number of ``threads``
gives other bytes.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from ...schema import TstmetaError


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    epochs: PositiveInt = 3
    rate: PositiveFloat = 1e-3
    batch: PositiveInt = 1
    decay: NonNegativeFloat = 0.0
    checkpoint: PositiveInt = 200
    threads: PositiveInt = 1


class LmOptions(Options):
    """Of a language model, in Llama's shape; defaults are those of the shipped weights.

    ``inner`` is the size of the feed-forward layers, ``vocabulary`` counts the tokens of a
    byte-level BPE, ``length`` those of the longest sentence, with its marks.  A fine-tuned model
    keeps its shape and tokenizer.  ``steps`` bounds the course (0: its ``epochs`` do).  The rate
    goes up over ``warmup`` steps and down to 0 over the last part ``cooling``.  ``mixed`` has
    matrices multiplied in bfloat16.
    """

    vocabulary: Annotated[int, Field(ge=257)] = 2560
    width: PositiveInt = 128
    layers: PositiveInt = 3
    heads: PositiveInt = 4
    inner: PositiveInt = 352
    length: Annotated[int, Field(ge=3)] = 256
    batch: PositiveInt = 32
    steps: NonNegativeInt = 0
    rate: PositiveFloat = 4e-3
    warmup: PositiveInt = 50
    cooling: Annotated[float, Field(ge=0, le=1)] = 0.5
    decay: NonNegativeFloat = 0.05
    mixed: bool = True

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError(
                f"{self.heads} heads do not fit a width of {self.width}: width / heads must be an "
                "even whole number"
            )
        return self


#: Fine-tuning as Mukherjee et al. (2025, Appendix C) print it.  They print no schedule: the rate
#: stays level here.
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


class StyleOptions(Options):
    """Of a model of style, whose rate falls along a line to 0.

    ``bits`` (of the number of features) is for linear models, ``vector`` (size of a word vector)
    and ``maps`` (filters of a width) are for TextCNN.
    """

    bits: Annotated[int, Field(ge=4, le=24)] = 18
    vector: PositiveInt = 128
    maps: PositiveInt = 100


#: Of TextCNN Kim (2014) has 50 rows a batch; of fine-tuning, the usual settings of BERT.
STYLE = {
    "linear": StyleOptions(epochs=5, rate=1.0, decay=1e-6),
    "textcnn": StyleOptions(epochs=2, rate=1e-3, batch=50),
    "transformer": StyleOptions(epochs=3, rate=2e-5, batch=16, decay=0.01),
}


def configure(options: Options, settings: Iterable[str] = ()) -> Any:
    """Options with other values, each as ``NAME=VALUE``."""
    changes = dict(setting.partition("=")[::2] for setting in settings)
    try:
        return type(options).model_validate(options.model_dump() | changes)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        raise TstmetaError(
            f"--set {name}={changes.get(name, '')}: {problem['msg']}. Remedy: give NAME=VALUE with "
            f"one of {', '.join(type(options).model_fields)}"
        ) from error
