"""The likelihood method as two metrics: ``likelihood`` (content) and ``likelihood-style``.

Both take the same tokens' log-probabilities, which are kept in the score store's folder ``tokens``:
the second metric runs no model.  A variant is words joined by ``+``, in any order, each of them a
model, a variant of the method or an instruction set::

    likelihood                       the embedded demonstration model, equations as printed
    likelihood:released              what the paper's program computes
    likelihood:emphasis              another instruction set
    likelihood:8b+released           Llama 3.1 8B
    likelihood:owner/model@revision  any causal model of a hub; a folder works as well
    likelihood:my.toml#mine          instructions of your own
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from ..metrics.base import Request, Score, Unit
from ..models import loading
from ..models.causal import (
    BACKBONES,
    Backbone,
    LanguageModel,
    MissingModel,
    backbone,
    described,
)
from ..models.template import DATE
from ..models.tokencache import Cached
from ..schema import Signature, Status, TstmetaError
from . import styles
from .instructions import Instructions, shipped
from .scorer import Judged, Rewrite, Scorer, named
from .tokens import VARIANTS, Variant

#: Rewrites whose tokens are held in memory at a time.
_SHARD = 2**16


class DemonstrationWarning(UserWarning):
    """The embedded model shows how the method works, not how well."""


class Likelihood:
    """Content preservation, Pauli et al. (2025), Eq. 1: <= 0, higher is better.

    Args:
        words: words of the variant, joined by ``+`` (see the module).
        model, instructions, variant, wordings: the same as objects; they win over words.
        device, dtype, attention: see :func:`tstmeta.models.loading.load`.
        options: of the engine, for instance ``budget``.
    """

    name = "likelihood"
    unit: Unit = "item"
    dimensions: tuple[str, ...] = ("content",)
    bases: tuple[str, ...] = ("source",)
    languages: tuple[str, ...] = ()
    higher_is_better = True
    max_tokens: int | None = None
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
        device: str = "auto",
        dtype: str = "auto",
        attention: str = "sdpa",
        **options: Any,
    ):
        said = _understood(words)
        chosen = model or said.get("model", "embedded")
        self.model = backbone(chosen) if isinstance(chosen, str) else chosen
        self.instructions = named(instructions or said.get("instructions", "paper"))
        given = variant or said.get("variant", "equation")
        self.variant = VARIANTS[given] if isinstance(given, str) else given
        self.wordings = styles.shipped() if wordings is None else wordings
        self.name = f"{self.name}:{words}" if words else self.name
        self._folder: Path | None = None
        self._progress = False
        self._loading = {"attention": attention, "rounded": self.variant.rounded, **options}
        # The demonstration model is small: a CPU gives everybody the same bytes.
        self._device = "cpu" if self._demonstrates and device == "auto" else device
        self._dtype = dtype

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def _demonstrates(self) -> bool:
        return isinstance(self.model, Backbone) and self.model.profile == "embedded"

    @property
    def profile(self) -> str:
        """``embedded`` with the demonstration model, else ``real``."""
        return "embedded" if self._demonstrates else "real"

    @property
    def missing(self) -> str:
        """What to do when the model is not on this machine; empty when it is."""
        if not isinstance(self.model, Backbone) or loading.here(self.model):
            return ""
        return f"{self.model.where} is not here: {loading.remedy(self.model)}"

    def signature(self, basis: str) -> Signature:
        """Model, revision, dtype, attention, variant, instructions, wordings, template's date."""
        fields = {
            "basis": basis,
            "model": self._identity(),
            "variant": self.variant.name,
            "instructions": f"{self.instructions.name}@{self.instructions.hash}",
            "styles": styles.hash_of(self.wordings),
            "date": DATE,
            "transformers": version("transformers") if find_spec("transformers") else "none",
        }
        return Signature.of(self.name.partition(":")[0], fields)

    def _identity(self) -> str:
        if not isinstance(self.model, Backbone):
            return self.model.identity.replace("|", " ")
        dtype = loading.dtype_of(self._dtype, loading.device_of(self._device))
        attention, rounded = self._loading["attention"], self.variant.rounded
        said = described(loading.identity(self.model), dtype, attention, rounded)
        return said.replace("|", " ")

    def keep_in(self, folder: Path, progress: bool) -> None:
        """Scoring says where the store is and whether bars are wanted."""
        self._folder, self._progress = folder / "tokens", progress

    def scorer(self) -> Scorer:
        """The scorer behind the metric; its model is loaded when something new is asked.

        Raises:
            MissingModel: the model is not here and cannot be fetched.
        """
        if isinstance(self.model, Backbone):
            model = _loaded(self.model, self._device, self._dtype, tuple(self._loading.items()))
        else:
            model = self.model
        kept = model if self._folder is None else Cached(model, self._folder)
        return Scorer(kept, self.instructions, self.variant, self.wordings)

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """One score a rewrite; see :meth:`Scorer.judge` for empty and long texts."""
        if self._demonstrates:
            warnings.warn(
                "the embedded model demonstrates how the likelihood method works; its scores "
                "reproduce nothing. Name a real model, for instance likelihood:3b",
                DemonstrationWarning,
                stacklevel=2,
            )
        try:
            scorer = self.scorer()
        except MissingModel as error:
            yield from (tuple(_failed(str(error)) for _ in unit) for unit in units)
            return
        for start in range(0, len(units), _SHARD):
            shard = units[start : start + _SHARD]
            rewrites = [
                Rewrite(one.source, one.output, one.style) for unit in shard for one in unit
            ]
            found = iter(scorer.judge(rewrites, progress=self._progress))
            for unit in shard:
                yield tuple(self._scored(scorer, next(found)) for _ in unit)

    def _scored(self, scorer: Scorer, judged: Judged) -> Score:
        if not judged.status.has_value:
            return Score(math.nan, judged.status, judged.detail)
        value = self._value(scorer, judged)
        if not math.isfinite(value):
            detail = "a token's probability was rounded to 0"
            return Score(math.nan, Status.INVALID, detail)
        return Score(value, judged.status, judged.detail)

    def _value(self, scorer: Scorer, judged: Judged) -> float:
        return scorer.content(judged)


class LikelihoodStyle(Likelihood):
    """Style strength, Pauli et al. (2025), Eq. 2: in [-1, 1], higher is stronger."""

    name = "likelihood-style"
    dimensions: tuple[str, ...] = ("style",)

    def _value(self, scorer: Scorer, judged: Judged) -> float:
        return scorer.style(judged)


def _failed(reason: str) -> Score:
    return Score(math.nan, Status.ERROR, reason)


def _understood(words: str) -> dict[str, str]:
    """What each word of a variant names: model, variant or instructions."""
    said: dict[str, str] = {}
    for word in filter(None, words.split("+")):
        if word in VARIANTS:
            kind = "variant"
        elif word in shipped() or ".toml" in word:
            kind = "instructions"
        elif word in BACKBONES or "/" in word or Path(word).expanduser().is_dir():
            kind = "model"
        else:
            raise TstmetaError(
                f"likelihood does not know {word!r}: use a variant ({', '.join(VARIANTS)}), "
                f"instructions ({', '.join(shipped())}, or FILE.toml#NAME) or a model "
                f"({', '.join(BACKBONES)}, an id such as owner/name@revision, or a folder)"
            )
        if kind in said:
            raise TstmetaError(f"{words!r} names two {kind}s: {said[kind]} and {word}")
        said[kind] = word
    return said


@lru_cache(maxsize=2)
def _loaded(model: Backbone, device: str, dtype: str, options: tuple) -> LanguageModel:
    """A model; content and style, one after the other, load it once."""
    return loading.Lazy(model, device, dtype, **dict(options))
