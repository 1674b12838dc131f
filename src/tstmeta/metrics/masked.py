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
from typing import ClassVar, NamedTuple

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
        forms = (tuple(form for *_, form in word_spans(entry.word)) for entry in lexicon.entries)
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
        forms = [form for *_, form in spans]
        parts, end, hidden, place = [], 0, 0, 0
        while place < len(spans):
            length = self._match(forms, place)
            if length:
                parts += [text[end : spans[place][0]], self._token]
                end = spans[place + length - 1][1]
                hidden += length
            place += length or 1
        if not hidden:
            return Hidden(text, 0, len(spans))
        return Hidden(" ".join("".join([*parts, text[end:]]).split()), hidden, len(spans))

    def _match(self, forms: list[str], place: int) -> int:
        """How many words, from a place on, are an entry."""
        longest = min(self._longest.get(forms[place], 0), len(forms) - place)
        lengths = range(longest, 0, -1)
        return next((n for n in lengths if tuple(forms[place : place + n]) in self._phrases), 0)


class MaskedBleu(BatchedMetric):
    """Sentence BLEU (``bleu``) of the masked texts, in [0, 100]; higher is better.

    Several references clip together, as in ``bleu``.  ``detail`` says how many words were hidden.
    Without a lexicon, words of ours for the target style are hidden, those of the other side as
    well; a style without such a list is refused.

    Args:
        words: see the module.
        lexicon: one as an object, instead of the one that words name.

    Raises:
        TstmetaError: a word that names nothing, two lexicons, or a file with faults.
    """

    name = "masked-bleu"
    max_tokens = None
    languages: tuple[str, ...] = ("en",)
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment")
    #: The metric that compares what is left, and what stands for a hidden word: one token of its
    #: own for every tokenizer, and in no text.
    stem: ClassVar[str] = "bleu"
    token: str = "■"

    def __init__(self, words: str = "", *, lexicon: Lexicon | None = None):
        from . import get

        every = [word for word in words.split("+") if word]
        named = [word for word in every if word.endswith(_ENDINGS) or word in lexicons.names()]
        rest = [word for word in every if word not in named and word != "dropped"]
        if len(named) + (lexicon is not None) > 1:
            raise TstmetaError(f"{words!r} names two lexicons; name one")
        if rest and self.stem == "bleu":
            known = ", ".join(["dropped", *lexicons.names()])
            raise TstmetaError(
                f"{rest[0]!r} is not understood; use {known} or a .csv or .json file"
            )
        self.token = "" if "dropped" in every else self.token
        self._inner = get(f"{self.stem}:{'+'.join(rest)}" if rest else self.stem)
        self._name, self._given = "", lexicon
        if named and named[0].endswith(_ENDINGS):
            self._given = lexicons.read(named[0])
        elif named:
            self._name = named[0]
        self.name = f"{self.name}:{words}" if words else self.name
        if self._given:
            self.languages = self._inner.languages
        self.profile = "real" if self._given or self._name else self._inner.profile

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; the constructor refuses those that it does not understand."""
        return bool(words)

    @property
    def missing(self) -> str:
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
            "mask": self.token or "dropped",
            "match": "words+longest-phrase+lower",
            **self._inner.fields(),  # type: ignore[attr-defined]
        }

    def _identity(self) -> str:
        try:
            lexicon = self._lexicon
        except MissingData:
            return f"{self._name}@missing"
        return f"{lexicon.name}@{lexicon.hash}" if lexicon else f"ours@{_all_ours()}"

    def values(self, requests: Sequence[Request]) -> list[Score]:
        masked = [self._hide(request) for request in requests]
        answers = self._inner.score([(pair[0],) for pair in masked if not isinstance(pair, Score)])
        return [
            pair if isinstance(pair, Score) else _noted(next(answers)[0], pair[1])
            for pair in masked
        ]

    def _hide(self, request: Request) -> Score | tuple[Request, str]:
        """The request with style words hidden and how many they were, or why it has no value."""
        if refusal := refused(self, request):
            return refusal
        if self._lexicon is None and request.style not in OURS:
            style = request.style
            wanted = f"for the style {style!r}" if style else "without a target style"
            remedy = f"name a lexicon, for instance {self.name.partition(':')[0]}:words.csv"
            return Score(math.nan, Status.REFUSED, f"no list of style words {wanted}; {remedy}")
        hide = _mask(self._lexicon or ours(OURS[request.style]), self.token)
        output, compared = hide(request.output), [hide(text) for text in request.against]
        count, words = sum(text.hidden for text in compared), sum(text.words for text in compared)
        note = (
            f"style words: {output.hidden} of {output.words} in the output, "
            f"{count} of {words} in what it is compared with"
        )
        texts = tuple(text.text for text in compared)
        return request._replace(output=output.text, against=texts), note


class MaskedCosine(MaskedBleu):
    """Cosine of sentence vectors (``cosine``) of the masked texts, in [-1, 1]; higher is better.

    A hidden word becomes ``[MASK]``, which encoders of BERT's kind read as their own mask.  The
    best of several references counts.  See :class:`MaskedBleu`; words that are neither a lexicon
    nor ``dropped`` go to ``cosine``.
    """

    name = "masked-cosine"
    VARIANTS: ClassVar[tuple[str, ...]] = ("dropped", "sentiment", "labse")
    stem: ClassVar[str] = "cosine"
    token: str = "[MASK]"


def _noted(answer: Score, note: str) -> Score:
    """An answer of the metric inside, with how many words were hidden."""
    if answer.status is Status.OK:
        return answer._replace(detail=note)
    what = "nothing is left" if answer.status is Status.EMPTY else answer.detail
    return answer._replace(detail=f"{what}; {note}")


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
