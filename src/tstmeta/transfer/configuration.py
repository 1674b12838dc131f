"""What makes a transfer model the one it is: a TOML file, not a class."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    ValidationError,
)

from ..data import paths
from ..models.training.options import Options
from ..schema import TstmetaError

LossName = Literal[
    "reconstruction", "paraphrase", "cyclic", "language", "adversarial", "wasserstein"
]
Share = Annotated[float, Field(gt=0, lt=0.5)]


class TransferOptions(Options):
    """Sizes and course of a transfer model.

    ``word``, ``style`` and ``content`` are the sizes of the vectors; the GRUs have as many states
    as style and content together.  ``maps`` are filters of a width in a discriminator.
    ``vocabulary`` bounds the words, ``longest`` those of a sentence, ``sentences`` the training
    sentences of a style; the parts that choose and report have ``held`` sentences a style, and
    ``referenced`` sources a style have references.  ``steps`` bounds the course (0: its epochs do),
    which is measured at ``points``.  The weight of the second discriminators halves after each
    ``halving`` updates.
    """

    word: PositiveInt = 64
    style: PositiveInt = 32
    content: PositiveInt = 96
    maps: PositiveInt = 32
    vocabulary: PositiveInt = 4000
    longest: PositiveInt = 15
    sentences: PositiveInt = 10_000
    held: PositiveInt = 250
    referenced: PositiveInt = 250
    batch: PositiveInt = 32
    steps: Annotated[int, Field(ge=0)] = 0
    points: PositiveInt = 12
    halving: PositiveInt = 300
    temperature: PositiveFloat = 1.0
    penalty: NonNegativeFloat = 10.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.5
    language_epochs: PositiveInt = 2


class Configuration(BaseModel):
    """The file: options, weights of the losses, losses of each model, metrics, deviations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: TransferOptions
    quick: dict[str, int]
    weights: dict[LossName, PositiveFloat]
    models: dict[str, list[LossName]]
    metrics: dict[Literal["source", "reference", "none"], list[str]]
    gm: Annotated[list[str], Field(min_length=3, max_length=3)]
    paraphrases: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
    deviations: list[str]

    def weights_of(self, model: str) -> dict[str, float]:
        """Loss -> weight of a model; what it lacks has none.

        Raises:
            TstmetaError: no model has this name.
        """
        if model not in self.models:
            known = ", ".join(self.models)
            raise TstmetaError(f"no transfer model is called {model!r}; use one of {known}")
        return {loss: self.weights[loss] for loss in self.models[model]}


def read(path: Path | None = None) -> Configuration:
    """Read a configuration; by default the one that comes with the project.

    Raises:
        TstmetaError: the file is missing or has another form.
    """
    path = path or paths.own("transfer", "models.toml")
    try:
        return Configuration.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        words = f"{place}: {error.errors()[0]['msg']}"
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        words = str(error)
    raise TstmetaError(f"{path} is no configuration of transfer models ({words})")
