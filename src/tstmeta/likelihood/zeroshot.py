"""The likelihood method as two metrics: ``likelihood`` (content) and ``likelihood-style``.

Both take the same tokens' log-probabilities, which are in the score store.
``likelihood[model=8b,variant=released]``, short ``likelihood:8b+released``, names a model and a
variant of the method (:class:`LikelihoodSettings`).  A model beside a server names the tokenizer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..metrics.base import Request, Score
from ..metrics.batched import ModelMetric, installed
from ..metrics.settings import ModelSettings, Short
from ..models import hub
from ..models.causal import BACKBONES, Backbone, LanguageModel, backbone, described
from ..models.template import DATE
from ..schema import Status, TstmetaError
from ..secrecy import conceal
from . import instructions as sets
from .instructions import shipped
from .scorer import Rewrite, Scorer, TokenScores
from .tokens import VARIANTS

_DEVICE = "cpu|mps|cuda(:[0-9]{1,3})?"


class LikelihoodSettings(ModelSettings):
    """The model, the variant of the method, and where the model runs."""

    variant: Literal["equation", "released"] = "equation"
    instructions: Annotated[
        str,
        Short(rf"{'|'.join(shipped())}|.+\.toml(#.+)?"),
        Field(description=f"{'|'.join(shipped())}|FILE.toml|FILE.toml#NAME"),
    ] = "paper"
    server: Annotated[
        str, Short("https?://.+"), Field(pattern="^https?://.", description="https://HOST")
    ] = ""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Annotated[
        str, Short(_DEVICE), Field(pattern=f"^({_DEVICE})$", description="cpu|mps|cuda:N")
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

    def connected(self) -> LanguageModel:
        """A backend; nothing is sent yet."""
        from ..models.server import ServerModel

        tokenizer = hub.tokenizer(self.tokenizer)
        return ServerModel(self.address, self.model, tokenizer, self.identity)


class Likelihood(ModelMetric):
    """Content preservation, Pauli et al. (2025), Eq. 1: <= 0, higher is better.

    Args:
        variant: the settings, in the short spelling.
        model: the model as an object; it wins over that of the settings.
        name: what tables call it, for instance ``likelihood:mine``; the settings by default.
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
        *(name for name in BACKBONES if name != "embedded"),
        *(f"{name}+released" for name in ("3b", "8b")),
    )
    demonstration = (
        "the embedded model demonstrates how the likelihood method works; its scores reproduce "
        "nothing. Name a real model, for instance likelihood:3b"
    )

    def __init__(
        self,
        variant: str = "",
        *,
        model: Backbone | LanguageModel | str | None = None,
        name: str = "",
    ):
        named, self.settings = read(variant)
        self.name = name or conceal(f"{self.name}:{variant}" if variant else self.name)
        self.model = backbone(model) if isinstance(model, str) else model or named
        self.instructions = sets.get(self.settings.instructions)
        self.method = VARIANTS[self.settings.variant]
        self.profile = self.model.profile if isinstance(self.model, Backbone) else "real"
        self.languages = getattr(self.model, "languages", ())
        # The demonstration model is small: a CPU gives everybody the same bytes.
        self._device = self.settings.device or ("cpu" if self.profile == "embedded" else "auto")
        self._dtype = self.settings.dtype

    @property
    def missing(self) -> str:
        return hub.absent(self.model) if isinstance(self.model, Backbone) else ""

    def fields(self) -> dict[str, object]:
        return {
            "model": self._identity().replace("|", " "),
            "variant": self.method.name,
            "instructions": f"{self.instructions.name}@{self.instructions.hash}",
            "styles": sets.hash_of(sets.wordings()),
            "date": DATE,
            "transformers": installed("transformers"),
        }

    def _identity(self) -> str:
        if not isinstance(self.model, Backbone):
            return self.model.identity
        # to ask for devices takes seconds
        device = hub.device_of("auto") if self._device == "auto" else self._device
        dtype = hub.dtype_of(self._dtype, device)
        return described(hub.identity(self.model), dtype, self.method.rounded)

    def scorer(self) -> Scorer:
        """Its model is loaded when something new is asked."""
        model: LanguageModel
        if isinstance(self.model, Backbone):
            model = _loaded(self.model, self._device, self._dtype, rounded=self.method.rounded)
        elif isinstance(self.model, Server):
            model = _connected(self.model)
        else:
            model = self.model
        return Scorer(model, self.instructions, self.method.name, self._folder)

    def values(self, requests: Sequence[Request]) -> list[Score]:
        """One score a rewrite; see :meth:`Scorer.judge` for empty and long texts."""
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


def read(words: str) -> tuple[Backbone | Server, LikelihoodSettings]:
    """The settings of a variant, and the model or the server that they name.

    Raises:
        TstmetaError: among others, a server's address with a user, a password or a query, whose
            words are not shown.
    """
    if conceal(words) != words:
        raise TstmetaError(
            "the address of the server holds a user, a password or a query, and a key comes from "
            "the environment alone. Remedy: write it into OPENAI_API_KEY"
        )
    settings = LikelihoodSettings.read(words, BACKBONES)
    model, server = settings.model, settings.server
    if not server:
        return model or BACKBONES["embedded"], settings
    from ..models.connection import address  # takes time to import

    where = address(server)  # refuses what is no URL
    url, _, name = server.partition("#")
    if not (name or model):
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
    tokenizer = model or backbone(name)
    return Server(where, name or tokenizer.where, tokenizer), settings


# Content and style, one after the other, load a model once, and two are never held; a server is
# asked once what it can do.
_loaded = lru_cache(maxsize=1)(hub.Lazy)
_connected = lru_cache(maxsize=1)(Server.connected)
