"""Masked metrics: style words are hidden in both texts before the texts are compared.

A rewrite has to change style words (Mir et al., 2019, Section 4; Mukherjee et al., 2025).
"""

import hashlib
import math
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from ..models import lexicon as lexicons
from ..models.lexicon import Lexicon
from ..schema import MissingData, Status, TstmetaError
from .base import Request, Score
from .batched import BatchedMetric
from .settings import MetricSettings, Short
from .text import word_spans

#: Our words: style that is asked for -> list that has the words of both sides.
OURS = {
    **dict.fromkeys(("positive", "negative"), "sentiment"),
    **dict.fromkeys(("non-toxic", "detoxified", "toxic"), "detoxify"),
    **dict.fromkeys(("polite", "impolite"), "polite"),
    **dict.fromkeys(("formal", "informal"), "formal"),
    "catchy": "catchy",
    "persuasive": "persuasive",
}


class Mask:
    """Puts one ``token`` for each word or phrase of a lexicon, longer ones first, in any case."""

    def __init__(self, lexicon: Lexicon, token: str):
        self._phrases = {tuple(form for *_, form in word_spans(word)) for word in lexicon.words}
        self._phrases.discard(())
        if not self._phrases:
            raise TstmetaError(f"the lexicon {lexicon.name} has no word with a letter or a digit")
        self._longest = max(map(len, self._phrases))
        self._token = token

    def __call__(self, text: str) -> str:
        """The text with its style words hidden; as it is when it has none."""
        spans = word_spans(text)
        forms = [form for *_, form in spans]
        parts, end, place = [], 0, 0
        while place < len(spans):
            lengths = range(min(self._longest, len(forms) - place), 0, -1)
            entry = (n for n in lengths if tuple(forms[place : place + n]) in self._phrases)
            if length := next(entry, 0):
                parts += [text[end : spans[place][0]], self._token]
                end = spans[place + length - 1][1]
            place += length or 1
        return " ".join(" ".join([*parts, text[end:]]).split()) if parts else text


class MaskedSettings(MetricSettings):
    """A lexicon: ``sentiment`` (of Mir et al., 2019, once its data are here), or a file."""

    lexicon: Annotated[
        str, Short(r"sentiment|.+\.(csv|json)"), Field(description="sentiment|FILE.csv|FILE.json")
    ] = ""


class MaskedCosineSettings(MaskedSettings):
    """A lexicon, and a model of ``cosine``."""

    default_key = "model"
    model: Annotated[str, Field(description="MODEL")] = ""


class MaskedBleu(BatchedMetric):
    """Sentence BLEU (``bleu``) of the masked texts, in [0, 100]; higher is better.

    Without a lexicon words of ours for the target style and its opposite are hidden.
    """

    name = "masked-bleu"
    languages: tuple[str, ...] = ("en",)
    VARIANTS: ClassVar[tuple[str, ...]] = ("sentiment",)
    #: The metric that compares what is left, and what stands for a hidden word.
    stem: ClassVar[str] = "bleu"
    token: ClassVar[str] = "■"
    Settings: ClassVar[type[MaskedSettings]] = MaskedSettings

    def __init__(self, variant: str = ""):
        from .registry import get

        super().__init__(variant)
        model = getattr(self.settings, "model", "")
        self._inner = get(f"{self.stem}:{model}" if model else self.stem)
        self._words = self.settings.lexicon
        if self._words not in ("", "sentiment"):
            self.languages = self._inner.languages
        self.styles = () if self._words else (*OURS,)
        self.profile = "real" if self._words else self._inner.profile

    @property
    def missing(self) -> str:
        try:
            _ = self._lexicon
        except TstmetaError as error:
            return str(error)
        return self._inner.missing

    @cached_property
    def _lexicon(self) -> Lexicon | None:
        """The one lexicon for all styles; None: ours."""
        if not self._words:
            return None
        return lexicons.read(lexicons.sentiment() if self._words == "sentiment" else self._words)

    def fields(self) -> dict[str, object]:
        try:
            lexicon = self._lexicon
            identity = f"{lexicon.name}@{lexicon.hash}" if lexicon else f"ours@{_all_ours()}"
        except MissingData:
            identity = f"{self._words}@missing"
        return {
            "lexicon": identity,
            "mask": self.token,
            "match": "words+longest-phrase+lower",
            **self._inner.fields(),
        }

    def values(self, requests: Sequence[Request]) -> list[Score]:
        masked = []
        for request in requests:
            hide = _mask(self._lexicon or _ours(OURS[request.style]), self.token)
            against = tuple(map(hide, request.against))
            masked.append(request._replace(output=hide(request.output), against=against))
        return list(self._inner.score(masked))

    def _blank(self, request: Request) -> Score | None:
        if (score := super()._blank(request)) or self._lexicon or request.style in OURS:
            return score
        what = f"no list of style words for the style {request.style!r}"
        remedy = f"name a lexicon, for instance {self.name.partition(':')[0]}:words.csv"
        return Score(math.nan, Status.REFUSED, f"{what}; {remedy}")


class MaskedCosine(MaskedBleu):
    """Cosine of sentence vectors (``cosine``) of the masked texts, in [-1, 1]; higher is better."""

    name = "masked-cosine"
    VARIANTS: ClassVar[tuple[str, ...]] = ("sentiment", "labse", "multilingual-minilm")
    Settings = MaskedCosineSettings
    stem: ClassVar[str] = "cosine"
    token: ClassVar[str] = "[MASK]"


@cache
def _ours(task: str) -> Lexicon:
    return lexicons.read(Path(__file__).parent / "lexicons" / f"{task}.csv")


@cache
def _all_ours() -> str:
    """A hash of all our words."""
    hashes = [(task, _ours(task).hash) for task in sorted(set(OURS.values()))]
    return hashlib.sha256(f"{hashes}{sorted(OURS.items())}".encode()).hexdigest()[:12]


_mask = cache(Mask)
