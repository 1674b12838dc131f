"""What several metrics share: variants, the texts compared with, tokens and stems."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

import regex  # type: ignore[import-untyped]

from ..schema import TstmetaError
from .base import PairMetric, Request

#: A sentence ends at white space after an end mark, or after a quote or bracket that closes on it.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"')\]])\s+")
#: Letters or digits with the marks and joiners that belong to them.
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*")


def chosen(metric: PairMetric, variant: str) -> str:
    """Check a variant and add it to the metric's name.

    Raises:
        TstmetaError: the metric has no such variant.
    """
    if not variant:
        return ""
    if variant not in metric.VARIANTS:
        known = ", ".join(metric.VARIANTS)
        raise TstmetaError(f"{metric.name} has no variant {variant!r}; it has: {known}")
    metric.name = f"{metric.name}:{variant}"
    return variant


def against(request: Request) -> tuple[str, ...]:
    """The texts that the output is compared with, at least one.

    Raises:
        TstmetaError: there is none.
    """
    if not request.against:
        raise TstmetaError("no text to compare the output with")
    return request.against


def sentences(text: str) -> list[str]:
    """A text cut at white space after ``.``, ``!`` or ``?``; abbreviations are cut as well."""
    return _SENTENCE_END.split(text)


def tokens13a(text: str) -> list[str]:
    """sacreBLEU's default tokens (mteval-v13a): words and punctuation marks, case kept."""
    return _tokenizer13a()(text).split()


@cache
def _tokenizer13a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


class Stemmer:
    """NLTK's Porter stemmer with a memory: the same words come back in text after text."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self.stem: Callable[[str], str] = lru_cache(maxsize=2**16)(PorterStemmer().stem)


class UnicodeWords:
    """A tokenizer for rouge-score that is upstream's on ASCII and does not lose other scripts.

    Upstream keeps a-z and 0-9 only, so that Hindi or Arabic becomes an empty text.  A text without
    any word (only emoji, only punctuation) is cut at white space instead.
    """

    def __init__(self, stemmer: Stemmer | None = None):
        self._stemmer = stemmer

    def tokenize(self, text: str) -> list[str]:
        """Lower-case words, stemmed where there is a stemmer."""
        words = _WORD.findall(text.lower()) or text.split()
        if self._stemmer is None:
            return words
        # Upstream stems words of more than three characters only.
        return [self._stemmer.stem(word) if len(word) > 3 else word for word in words]
