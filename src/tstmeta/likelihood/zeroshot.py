"""The likelihood method as two metrics: ``likelihood`` (content) and ``likelihood-style``.

Both take the same tokens' log-probabilities, which are kept in the score store's folder ``tokens``.
``likelihood:8b+released`` names a model and a variant of the method: words are joined by ``+`` in
any order, one of each kind (see :func:`_kind`).  A model beside a server names the tokenizer.
"""

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ..metrics.base import Request, Score, failed
from ..metrics.batched import ModelMetric, installed
from ..models import hub
from ..models.causal import BACKBONES, Backbone, LanguageModel, MissingModel, backbone, described
from ..models.template import DATE
from ..models.tokencache import Cached
from ..schema import DemonstrationWarning, Status, TstmetaError
from ..secrecy import conceal
from . import instructions as sets
from . import tokens
from .instructions import Instructions, shipped
from .scorer import Rewrite, Scorer, TokenScores
from .tokens import VARIANTS, Variant

_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True)
class Server:
    """A model that a server runs: where, what it is called there, and whose tokenizer it has."""

    url: str = field(repr=False)  # it may hold a password
    model: str
    tokenizer: Backbone

    @property
    def identity(self) -> str:
        return f"{self.model}|server|{self._label}"

    @property
    def _label(self) -> str:
        return f"tokenizer {hub.identity(self.tokenizer)}"

    def connected(self) -> LanguageModel:
        """A backend; nothing is sent yet."""
        from ..models.server import ServerModel

        tokenizer = hub.tokenizer(self.tokenizer)
        return ServerModel(self.url, self.model, tokenizer, label=self._label)


class Likelihood(ModelMetric):
    """Content preservation, Pauli et al. (2025), Eq. 1: <= 0, higher is better.

    Args:
        words: words of the variant.
        model, instructions, variant, wordings: the same as objects; they win over words.
        name: what tables call it, for instance ``likelihood:mine``; the words by default.
    """

    name = "likelihood"
    bases: tuple[str, ...] = ("source",)
    #: Rewrites whose tokens are held in memory at a time.
    shard = 2**16
    VARIANTS: ClassVar[tuple[str, ...]] = (
        "released",
        *(name for name in shipped() if name != "paper"),
        *(name for name in BACKBONES if name != "embedded"),
        *(f"{name}+released" for name in ("3b", "8b")),
    )

    def __init__(
        self,
        words: str = "",
        *,
        model: Backbone | LanguageModel | str | None = None,
        instructions: Instructions | str | None = None,
        variant: Variant | str | None = None,
        wordings: Mapping[str, str] | None = None,
        name: str = "",
    ):
        super().__init__(words)
        self.name = name or conceal(self.name)
        kinds = parse(words)
        self.model = backbone(model) if isinstance(model, str) else model or model_of(kinds)
        self.instructions = sets.get(instructions or kinds.get("instruction set", "paper"))
        self.method = tokens.get(variant or kinds.get("variant", "equation"))
        own = kinds.get("wordings file")
        shown = sets.read_wordings(Path(own)) if own else sets.wordings()
        self.wordings = shown if wordings is None else wordings
        self.profile = self.model.profile if isinstance(self.model, Backbone) else "real"
        self.languages = getattr(self.model, "languages", ())
        # The demonstration model is small: a CPU gives everybody the same bytes.
        self._device = kinds.get("device", "cpu" if self.profile == "embedded" else "auto")
        self._dtype = kinds.get("dtype", "auto")

    @property
    def missing(self) -> str:
        return hub.absent(self.model) if isinstance(self.model, Backbone) else ""

    def fields(self) -> dict[str, object]:
        return {
            "model": self._identity().replace("|", " "),
            "variant": str(self.method),
            "instructions": f"{self.instructions.name}@{self.instructions.hash}",
            "styles": sets.hash_of(self.wordings),
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
        kept = model if self._folder is None else Cached(model, self._folder / "tokens")
        return Scorer(kept, self.instructions, self.method, self.wordings)

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """One score a rewrite; see :meth:`Scorer.judge` for empty and long texts."""
        if self.profile == "embedded":
            warnings.warn(
                "the embedded model demonstrates how the likelihood method works; its scores "
                "reproduce nothing. Name a real model, for instance likelihood:3b",
                DemonstrationWarning,
                stacklevel=2,
            )
        try:
            scorer = self.scorer()
        except MissingModel as error:
            yield from ((failed(error),) * len(unit) for unit in units)
            return
        for start in range(0, len(units), self.shard):
            shard = units[start : start + self.shard]
            rewrites = [Rewrite(r.source, r.output, r.style) for unit in shard for r in unit]
            scores = iter(scorer.judge(rewrites, progress=self._progress))
            for unit in shard:
                yield tuple(self.rated(scorer, next(scores)) for _ in unit)

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


def parse(words: str) -> dict[str, str]:
    """What each word of a variant names: kind -> word.

    Where the words hold a password or a key no message shows any: each may be a part of it.
    """
    secret = TstmetaError(
        "the words after likelihood: are not understood, and not shown, for they hold a user, a "
        "password or a key. Remedy: write http://HOST/v1#NAME, with %2B for a + in a password, and "
        "give a key in the variable OPENAI_API_KEY"
    )
    if _torn(words):
        raise secret
    kinds: dict[str, str] = {}
    try:
        for word in filter(None, words.split("+")):
            kind = _kind(word)
            if kind in kinds:
                raise TstmetaError(f"{words!r} names two {kind}s: {kinds[kind]} and {word}")
            kinds[kind] = word
    except TstmetaError:
        if conceal(words) == words:
            raise
        raise secret from None
    return kinds


def _torn(words: str) -> bool:
    """Whether a + in a password or a query may have made a word of the rest of it."""
    parts = words.split("+")
    if "+".join(map(conceal, parts)) != conceal(words):
        return True
    queries = [place for place, part in enumerate(parts) if "?" in part and conceal(part) != part]
    return any("/" in part for part in parts[queries[0] + 1 :]) if queries else False


def model_of(kinds: dict[str, str]) -> Backbone | Server:
    """The model that is named; the embedded one when none is."""
    if "server" not in kinds:
        return backbone(kinds.get("model", "embedded"))
    from ..models.server import address

    url, _, name = kinds["server"].partition("#")
    address(url)  # refuses what is no URL
    if "?" in name:
        raise TstmetaError("a query stands before the # of a server's address, and is never sent")
    if not name and "model" not in kinds:
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
    tokenizer = backbone(kinds.get("model", name))
    return Server(url, name or tokenizer.where, tokenizer)


def _kind(word: str) -> str:
    if word.startswith(("http://", "https://")):
        return "server"
    if word in VARIANTS:
        return "variant"
    if word in shipped() or re.search(r"\.toml(#|$)", word):
        return "instruction set"
    if word.endswith(".csv"):
        return "wordings file"
    if word in hub.DTYPES:
        return "dtype"
    if _DEVICE.fullmatch(word):
        return "device"
    if word in BACKBONES or "/" in word or Path(word).expanduser().is_dir():
        return "model"
    raise TstmetaError(
        f"likelihood does not know {word!r}: use a variant ({', '.join(VARIANTS)}), "
        f"instructions ({', '.join(shipped())}, or FILE.toml#NAME), wordings of styles (FILE.csv), "
        f"a model ({', '.join(BACKBONES)}, an id such as owner/name@revision, or a folder), "
        f"a server (http://HOST/v1#NAME), a dtype ({', '.join(hub.DTYPES)}) "
        "or a device (cpu, cuda)"
    )


# Content and style, one after the other, load a model once, and two are never held; a server is
# asked once what it can do.
_loaded = lru_cache(maxsize=1)(hub.Lazy)
_connected = lru_cache(maxsize=1)(Server.connected)
