"""The likelihood method as two metrics: ``likelihood`` (content) and ``likelihood-style``.

Both take the same tokens' log-probabilities, which are in the score store.  A model beside a server
names the tokenizer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..metrics.base import Request, Score, installed
from ..metrics.batched import ModelMetric
from ..metrics.settings import ModelSettings, Short
from ..models import hub
from ..models.causal import BACKBONES, DEFAULT, Backbone, LanguageModel, backbone, described
from ..models.template import DATE
from ..schema import Status, TstmetaError
from ..secrecy import conceal
from . import instructions as sets
from .instructions import shipped
from .scorer import Rewrite, Scorer, TokenScores


class LikelihoodSettings(ModelSettings):
    """The model, the variant of the method, and the server that runs the model."""

    variant: Literal["equation", "released"] = "equation"
    instructions: Annotated[
        str,
        Short(rf"{'|'.join(shipped())}|.+\.toml(#.+)?"),
        Field(description=f"{'|'.join(shipped())}|FILE.toml|FILE.toml#NAME"),
    ] = "paper"
    server: Annotated[
        str, Short("https?://.+"), Field(pattern="^https?://.", description="https://HOST")
    ] = ""


@dataclass(frozen=True)
class Server:
    """A model that a server runs: where, what it is called there, and whose tokenizer it has."""

    address: str
    model: str
    tokenizer: Backbone

    @property
    def identity(self) -> str:
        return f"{self.model}|server|tokenizer {hub.identity(self.tokenizer)}"


@lru_cache(maxsize=1)  # a server is asked once what it can do
def _connected(server: Server) -> LanguageModel:
    from ..models.server import ServerModel

    tokenizer = hub.tokenizer(server.tokenizer)
    return ServerModel(server.address, server.model, tokenizer, server.identity)


class Likelihood(ModelMetric):
    """Content preservation, Pauli et al. (2025), Eq. 1: <= 0, higher is better.

    A ``model`` that is an object wins over that of the settings.
    """

    name = "likelihood"
    bases: tuple[str, ...] = ("source",)
    accepts_empty = fetches = True
    Settings = LikelihoodSettings
    #: Rewrites whose tokens are held in memory at a time.
    shard = 2**16
    VARIANTS: ClassVar[tuple[str, ...]] = (
        "released",
        *(name for name in shipped() if name != "paper"),
        *(name for name in BACKBONES if name != DEFAULT),
        *(f"{name}+released" for name in ("3b", "8b")),
    )

    def __init__(self, variant: str = "", *, model: LanguageModel | None = None):
        named, self.settings = read(variant)
        self.name = conceal(f"{self.name}:{variant}" if variant else self.name)
        self.model = model or named
        self.instructions = sets.get(self.settings.instructions)
        self.released = self.settings.variant == "released"
        self.profile = self.model.profile if isinstance(self.model, Backbone) else "real"
        self.languages = getattr(self.model, "languages", ())

    def fields(self) -> dict[str, object]:
        identity = (
            described(hub.identity(self.model), hub.dtype_of(self.model), self.released)
            if isinstance(self.model, Backbone)
            else self.model.identity
        )
        return {
            "model": identity.replace("|", " "),
            "variant": self.settings.variant,
            "instructions": f"{self.instructions.name}@{self.instructions.hash}",
            "styles": sets.hash_of(sets.wordings()),
            "date": DATE,
            "transformers": installed("transformers"),
        }

    def scorer(self) -> Scorer:
        """Its model is loaded when something new is asked."""
        model: LanguageModel
        if isinstance(self.model, Backbone):
            model = hub.loaded(self.model, rounded=self.released)
        elif isinstance(self.model, Server):
            model = _connected(self.model)
        else:
            model = self.model
        return Scorer(model, self.instructions, self.settings.variant, self._folder)

    def values(self, requests: Sequence[Request]) -> list[Score]:
        scorer = self.scorer()
        rewrites = [Rewrite(r.source, r.output, r.style) for r in requests]
        token_scores = scorer.judge(rewrites, progress=self._progress)
        return [self.rated(scorer, scores) for scores in token_scores]

    _safely = values  # a model that fails is not asked again for halves of a batch

    def rated(self, scorer: Scorer, scores: TokenScores) -> Score:
        """The score of one rewrite, from its tokens' log-probabilities."""
        value = (scorer.style if self.dimensions == ("style",) else scorer.content)(scores)
        if scores.status.has_value and not math.isfinite(value):
            return Score(math.nan, Status.INVALID, "a token's probability was rounded to 0")
        return Score(value, scores.status, scores.detail)


class LikelihoodStyle(Likelihood):
    """Style strength, Pauli et al. (2025), Eq. 2: in [-1, 1], higher is stronger."""

    name = "likelihood-style"
    dimensions: tuple[str, ...] = ("style",)
    limits = (-1.0, 1.0)


def read(words: str) -> tuple[Backbone | Server, LikelihoodSettings]:
    """The model or the server that words name, and their settings; no secret is shown."""
    if conceal(words) != words:
        raise TstmetaError(
            "the address of the server holds a user, a password or a query, and a key comes from "
            "the environment alone. Remedy: write it into OPENAI_API_KEY"
        )
    settings = LikelihoodSettings.read(words, BACKBONES)
    model, server = settings.model, settings.server
    if not server:
        return model or BACKBONES[DEFAULT], settings
    from ..models.connection import address  # takes time to import

    where = address(server)  # refuses what is no URL
    url, _, name = server.partition("#")
    if not (name or model):
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
    tokenizer = model or backbone(name)
    return Server(where, name or tokenizer.where, tokenizer), settings
