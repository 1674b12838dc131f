"""Masked metrics: style words are hidden in both texts before the texts are compared.

A rewrite has to change style words; a metric of content should not punish it for that (Mir et al.,
2019, Section 4; Mukherjee et al., 2025).
"""

import hashlib
import math
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from ..models import lexicon as lexicons
from ..models.lexicon import Lexicon
from ..schema import MissingData, Status, TstmetaError
from .base import Request, Score
from .batched import BatchedMetric
from .text import word_spans
from .variants import choose

#: Our words: style that is asked for -> list that has the words of both sides.
OURS = {
    **dict.fromkeys(("positive", "negative"), "sentiment"),
    **dict.fromkeys(("non-toxic", "detoxified", "toxic"), "detoxify"),
    **dict.fromkeys(("polite", "impolite"), "polite"),
    **dict.fromkeys(("formal", "informal"), "formal"),
    "catchy": "catchy",
    "persuasive": "persuasive",
}
_FOLDER = Path(__file__).parent / "lexicons"


class Hidden(NamedTuple):
    """A text without its style words."""

    text: str
    hidden: int  # words that are hidden, those of phrases one by one
    words: int  # words of the text


class Mask:
    """Finds the words and phrases of a lexicon in texts, whatever their case and spelling.

    From left to right, longer phrases first.  Each word or phrase becomes one ``token``; an empty
    token leaves it out.
    """

    def __init__(self, lexicon: Lexicon, token: str):
        forms = (tuple(form for *_, form in word_spans(entry.word)) for entry in lexicon.entries)
        self._phrases = {form for form in forms if form}
        if not self._phrases:
            raise TstmetaError(f"the lexicon {lexicon.name} has no word with a letter or a digit")
        self._longest = max(map(len, self._phrases))
        self._token = f" {token} " if token else " "

    def __call__(self, text: str) -> Hidden:
        """The text with its style words hidden; as it is when it has none."""
        spans = word_spans(text)
        forms = [form for *_, form in spans]
        parts, end, hidden, place = [], 0, 0, 0
        while place < len(spans):
            lengths = range(min(self._longest, len(forms) - place), 0, -1)
            entry = (n for n in lengths if tuple(forms[place : place + n]) in self._phrases)
            if length := next(entry, 0):
                parts += [text[end : spans[place][0]], self._token]
                end = spans[place + length - 1][1]
                hidden += length
            place += length or 1
        if not hidden:
            return Hidden(text, 0, len(spans))
        shown = " ".join("".join([*parts, text[end:]]).split())
        return Hidden(shown, hidden, len(spans))


class MaskedBleu(BatchedMetric):
    """Sentence BLEU (``bleu``) of the masked texts, in [0, 100]; higher is better.

    Several references clip together, as in ``bleu``.  ``detail`` says how many words were hidden.
    Without a lexicon those are words of ours for the target style and its opposite; a style without
    such a list is refused.

    Args:
        words: a lexicon, ``sentiment`` (that of Mir et al., 2019, once its data are here) or a .csv
            or .json file; ``dropped``: style words are left out instead of replaced.
    """

    name = "masked-bleu"
    max_tokens = None
    languages: tuple[str, ...] = ("en",)
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment")
    #: The metric that compares what is left, and what stands for a hidden word: one token of its
    #: own for every tokenizer, and in no text.
    stem: ClassVar[str] = "bleu"
    token: str = "■"

    def __init__(self, words: str = ""):
        from . import get

        files = [word for word in words.split("+") if word.endswith((".csv", ".json"))]
        options = {"mask": ("dropped",), "lexicon": (*files, *lexicons.names())}
        chosen, rest = choose(words, options)
        if rest and self.stem == "bleu":
            known = ", ".join(["dropped", *lexicons.names()])
            raise TstmetaError(f"{rest[0]!r} is no lexicon: use {known} or a .csv or .json file")
        self.token = "" if "mask" in chosen else self.token
        self._inner = get(f"{self.stem}:{'+'.join(rest)}" if rest else self.stem)
        self._given = lexicons.read(files[0]) if files else None
        self._name = "" if files else chosen.get("lexicon", "")
        self.name = f"{self.name}:{words}" if words else self.name
        if self._given:
            self.languages = self._inner.languages
        self.profile = "real" if self._given or self._name else self._inner.profile

    @staticmethod
    def accepts_variant(words: str) -> bool:
        return bool(words)

    @property
    def missing(self) -> str:
        try:
            _ = self._lexicon
        except TstmetaError as error:
            return str(error)
        return getattr(self._inner, "missing", "")

    @cached_property
    def _lexicon(self) -> Lexicon | None:
        """The one lexicon for all styles; None: ours."""
        return lexicons.read(lexicons.place(self._name)) if self._name else self._given

    def fields(self) -> dict[str, object]:
        try:
            lexicon = self._lexicon
            identity = f"{lexicon.name}@{lexicon.hash}" if lexicon else f"ours@{_all_ours()}"
        except MissingData:
            identity = f"{self._name}@missing"
        return {
            "lexicon": identity,
            "mask": self.token or "dropped",
            "match": "words+longest-phrase+lower",
            **self._inner.fields(),  # type: ignore[attr-defined]
        }

    def values(self, requests: Sequence[Request]) -> list[Score]:
        masked, notes = zip(*map(self._hide, requests), strict=True)
        answers = self._inner.score([(request,) for request in masked])
        return [_noted(score, note) for (score,), note in zip(answers, notes, strict=True)]

    def _blank(self, request: Request) -> Score | None:
        if (score := super()._blank(request)) or self._lexicon or request.style in OURS:
            return score
        what = f"no list of style words for the style {request.style!r}"
        remedy = f"name a lexicon, for instance {self.name.partition(':')[0]}:words.csv"
        return Score(math.nan, Status.REFUSED, f"{what}; {remedy}")

    def _hide(self, request: Request) -> tuple[Request, str]:
        """The request with style words hidden, and how many they were."""
        hide = _mask(self._lexicon or _ours(OURS[request.style]), self.token)
        output = hide(request.output)
        texts, counts, words = zip(*map(hide, request.against), strict=True)
        hidden = f"output {output.hidden} of {output.words}, compared with {sum(counts)} of"
        note = f"style words: {hidden} {sum(words)}"
        return request._replace(output=output.text, against=texts), note


def _noted(score: Score, note: str) -> Score:
    return score._replace(detail=note if score.status is Status.OK else f"{score.detail}; {note}")


class MaskedCosine(MaskedBleu):
    """Cosine of sentence vectors (``cosine``) of the masked texts, in [-1, 1]; higher is better.

    A hidden word becomes ``[MASK]``, which encoders of BERT's kind read as their own mask.  The
    best of several references counts.  See :class:`MaskedBleu`; words that are neither a lexicon
    nor ``dropped`` go to ``cosine``.
    """

    name = "masked-cosine"
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment", "labse", "multilingual-minilm")
    stem: ClassVar[str] = "cosine"
    token: str = "[MASK]"


@cache
def _ours(task: str) -> Lexicon:
    return lexicons.read(_FOLDER / f"{task}.csv")


@cache
def _all_ours() -> str:
    """A hash of all our words."""
    tasks = sorted(set(OURS.values()))
    facts = repr([(task, _ours(task).hash) for task in tasks]) + repr(sorted(OURS.items()))
    return hashlib.sha256(facts.encode()).hexdigest()[:12]


_mask = cache(Mask)
