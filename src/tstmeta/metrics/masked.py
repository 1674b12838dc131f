"""Masked metrics: style words are hidden in both texts before the texts are compared.

A rewrite has to change style words; a metric of content should not punish it for that (Mir et al.,
2019, Section 4; Mukherjee et al., 2025).  The words after the colon say which words are hidden, and
how::

    masked-bleu                      words of ours for the style that is asked for
    masked-bleu:sentiment            the lexicon of Mir et al. (2019), once its data are here
    masked-bleu:/path/words.csv      a lexicon of yours (see tstmeta.models.lexicon)
    masked-bleu:dropped              style words are left out instead of replaced
    masked-cosine:dropped+labse      what is no such word goes to the metric cosine

A name such as ``sentiment`` is an entry point that gives a path when scores are asked for, so this
module knows of no data; from Python a lexicon can be handed over as an object.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ..models import lexicon as lexicons
from ..models.lexicon import Lexicon
from ..schema import MissingData, Status, TstmetaError
from .base import Request, Score
from .batched import BatchedMetric
from .text import refused, word_spans

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
_ENDINGS = (".csv", ".json")


class Hidden(NamedTuple):
    """A text without its style words."""

    text: str
    hidden: int  # words that are hidden, those of phrases one by one
    words: int  # words of the text


class Mask:
    """Finds the words and phrases of a lexicon in texts, whatever their case and spelling.

    Phrases go before single words, longer ones first, from left to right.  Each word or phrase
    becomes one ``token``; an empty token leaves it out.

    Raises:
        TstmetaError: no entry of the lexicon has a letter or a digit.
    """

    def __init__(self, lexicon: Lexicon, token: str):
        forms = (tuple(form for *_, form in word_spans(one.word)) for one in lexicon.entries)
        self._phrases = {form for form in forms if form}
        if not self._phrases:
            raise TstmetaError(f"the lexicon {lexicon.name} has no word with a letter or a digit")
        self._longest: dict[str, int] = {}
        for first, *rest in self._phrases:
            self._longest[first] = max(self._longest.get(first, 0), 1 + len(rest))
        self._token = f" {token} " if token else " "

    def __call__(self, text: str) -> Hidden:
        """The text with its style words hidden; as it is when it has none."""
        spans = word_spans(text)
        parts, end, hidden, place = [], 0, 0, 0
        while place < len(spans):
            length = self._match(
                [form for *_, form in spans[place : place + self._at(spans, place)]]
            )
            if length:
                parts += [text[end : spans[place][0]], self._token]
                end = spans[place + length - 1][1]
                hidden += length
            place += length or 1
        if not hidden:
            return Hidden(text, 0, len(spans))
        return Hidden(" ".join("".join([*parts, text[end:]]).split()), hidden, len(spans))

    def _at(self, spans: list[tuple[int, int, str]], place: int) -> int:
        return self._longest.get(spans[place][2], 0)

    def _match(self, forms: list[str]) -> int:
        """How many of these words, from the first on, are an entry."""
        return next((n for n in range(len(forms), 0, -1) if tuple(forms[:n]) in self._phrases), 0)


class MaskedBleu(BatchedMetric):
    """Sentence BLEU (``bleu``) of the masked texts, in [0, 100]; higher is better.

    Several references clip together, as in ``bleu``.  ``detail`` says how many words were hidden.
    Without a lexicon, words of ours for the target style are hidden, those of the other side as
    well; a style without such a list is refused.

    Args:
        words: see the module.
        lexicon: one as an object, or its file; instead of the one that words name.

    Raises:
        TstmetaError: a word that names nothing, two lexicons, or a file with faults.
    """

    name = "masked-bleu"
    max_tokens = None
    languages: tuple[str, ...] = ("en",)
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment")
    #: The metric that compares what is left, and what stands for a hidden word: one token of its
    #: own for every tokenizer, and in no text.
    _stem: ClassVar[str] = "bleu"
    _token: str = "■"

    def __init__(self, words: str = "", *, lexicon: Lexicon | Path | str | None = None):
        every = [word for word in words.split("+") if word]
        named = [word for word in every if word.endswith(_ENDINGS) or word in lexicons.names()]
        rest = [word for word in every if word not in named and word != "dropped"]
        if len(named) + (lexicon is not None) > 1:
            raise TstmetaError(f"{words!r} names two lexicons; name one")
        self._token = "" if "dropped" in every else self._token
        self._name = named[0] if named and not named[0].endswith(_ENDINGS) else ""
        given = lexicon if lexicon is not None else named[0] if named and not self._name else None
        self._given = lexicons.read(given) if isinstance(given, str | Path) else given
        self._inner = self._compared(rest)
        self.name = f"{self.name}:{words}" if words else self.name
        if self._given:
            self.languages = self._inner.languages
        ours = not (self._given or self._name)
        self.profile = self._inner.profile if ours else "real"

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    def _compared(self, rest: list[str]) -> Any:
        """The metric that compares masked texts; ``rest`` are words for it."""
        from . import get

        if rest and self._stem == "bleu":
            known = ", ".join(["dropped", *lexicons.names()])
            raise TstmetaError(
                f"{rest[0]!r} is not understood; use {known} or a .csv or .json file"
            )
        return get(":".join([self._stem, *["+".join(rest)] * bool(rest)]))

    @property
    def missing(self) -> str:
        """What to do when the lexicon or the model is not here; empty when both are."""
        if self._name:
            try:
                lexicons.place(self._name)
            except MissingData as error:
                return str(error)
        return getattr(self._inner, "missing", "")

    @cached_property
    def _lexicon(self) -> Lexicon | None:
        """The one lexicon for all styles; None: ours."""
        return lexicons.read(lexicons.place(self._name)) if self._name else self._given

    def fields(self) -> dict[str, object]:
        return {
            "lexicon": self._identity(),
            "mask": self._token or "dropped",
            "match": "words+longest-phrase+lower",
            **self._inner.fields(),
        }

    def _identity(self) -> str:
        if not self._name and self._given is None:
            return f"ours@{_all_ours()}"
        try:
            found = self._lexicon
        except MissingData:
            found = None
        return f"{found.name}@{found.hash}" if found else f"{self._name}@missing"

    def values(self, requests: Sequence[Request]) -> list[Score]:
        memory: dict[tuple[Mask, str], Hidden] = {}
        found = [self._hide(request, memory) for request in requests]
        asked = [one[0] for one in found if not isinstance(one, Score)]
        answers = self._inner.score([(request,) for request in asked])
        return [one if isinstance(one, Score) else _told(next(answers)[0], one[1]) for one in found]

    def _hide(
        self, request: Request, memory: dict[tuple[Mask, str], Hidden]
    ) -> Score | tuple[Request, str]:
        """The request with style words hidden and how many they were, or why it has no value."""
        if no := refused(self, request):
            return no
        if self._lexicon is None and request.style not in OURS:
            asked = (
                f"for the style {request.style!r}" if request.style else "without a target style"
            )
            remedy = f"name a lexicon, for instance {self.name.partition(':')[0]}:words.csv"
            return Score(math.nan, Status.REFUSED, f"no list of style words {asked}; {remedy}")
        mask = _mask(self._lexicon or ours(OURS[request.style]), self._token)

        def hide(text: str) -> Hidden:
            if (mask, text) not in memory:
                memory[mask, text] = mask(text)
            return memory[mask, text]

        output, others = hide(request.output), [hide(text) for text in request.against]
        count, words = sum(one.hidden for one in others), sum(one.words for one in others)
        note = (
            f"style words: {output.hidden} of {output.words} in the output, "
            f"{count} of {words} in what it is compared with"
        )
        texts = tuple(one.text for one in others)
        return request._replace(output=output.text, against=texts), note


class MaskedCosine(MaskedBleu):
    """Cosine of sentence vectors (``cosine``) of the masked texts, in [-1, 1]; higher is better.

    A hidden word becomes ``[MASK]``, which encoders of BERT's kind read as their own mask.  The
    best of several references counts.  See :class:`MaskedBleu`; words that are neither a lexicon
    nor ``dropped`` go to ``cosine``.
    """

    name = "masked-cosine"
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment", "labse")
    _stem: ClassVar[str] = "cosine"
    _token: str = "[MASK]"


def _told(answer: Score, note: str) -> Score:
    """An answer of the metric inside, with how many words were hidden."""
    if answer.status is Status.OK:
        return answer._replace(detail=note)
    if answer.status is Status.EMPTY:
        return answer._replace(detail=f"nothing is left; {note}")
    return answer._replace(detail=f"{answer.detail}; {note}")


@cache
def ours(task: str) -> Lexicon:
    """The words of ours of one task of the contrast set."""
    return lexicons.read(_FOLDER / f"{task}.csv")


@cache
def _all_ours() -> str:
    """One hash of all lists of ours and of which style takes which."""
    tasks = sorted(set(OURS.values()))
    facts = repr([(task, ours(task).hash) for task in tasks]) + repr(sorted(OURS.items()))
    return hashlib.sha256(facts.encode()).hexdigest()[:12]


@cache
def _mask(lexicon: Lexicon, token: str) -> Mask:
    return Mask(lexicon, token)
