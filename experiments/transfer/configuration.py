"""What makes a transfer model the one it is: a TOML file, not a class."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt

from experiments.training.loop import Options
from tstmeta.data import paths
from tstmeta.schema import TstmetaError

Loss = Literal[
    "reconstruction", "paraphrase", "cyclic", "language", "adversarial", "wasserstein", "reward"
]


class TransferOptions(Options):
    """Sizes and course; ``sentences`` of a style are learned from, ``held`` of a part transferred.

    A GRU has as many states as style and content together, a discriminator ``maps`` filters of a
    width.  ``steps`` bounds the course (0: its epochs do).  It begins with ``alone`` steps of
    reconstruction, and is measured then and at ``points``.  Eq. 7 weighs half as much after each
    ``halving`` further steps.
    """

    word: PositiveInt
    style: PositiveInt
    content: PositiveInt
    maps: PositiveInt
    vocabulary: PositiveInt
    longest: PositiveInt
    sentences: PositiveInt
    held: PositiveInt
    steps: Annotated[int, Field(ge=0)] = 0
    alone: Annotated[int, Field(ge=0)] = 0
    points: PositiveInt
    halving: PositiveInt
    temperature: PositiveFloat
    language_epochs: PositiveInt


class Configuration(BaseModel, extra="forbid", frozen=True):
    """The file: sizes, weights of losses, losses of each model, metrics, deviations.

    ``reward`` is the metric that the loss of this name has a model write for.
    """

    options: TransferOptions
    quick: dict[str, int]
    weights: dict[Loss, PositiveFloat]
    models: dict[str, list[Loss]]
    metrics: dict[Literal["source", "reference", "none"], list[str]]
    reward: str
    paraphrases: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
    deviations: list[str]

    def weights_of(self, model: str) -> dict[str, float]:
        """Loss -> weight of a model; a model of another name is refused."""
        if model not in self.models:
            known = ", ".join(self.models)
            raise TstmetaError(f"no transfer model is called {model!r}; use one of {known}")
        return {loss: self.weights[loss] for loss in self.models[model]}


def read(path: Path | None = None) -> Configuration:
    """Read a configuration, by default the project's own; one of another form is refused."""
    path = path or paths.project("transfer", "models.toml")
    try:
        text = paths.regular(path).read_text(encoding="utf-8")
        return Configuration.model_validate(tomllib.loads(text))
    except (OSError, ValueError) as error:  # no file, no TOML, another form
        words = f"{path} is no configuration of transfer models: {error}"
        raise TstmetaError(words) from error
