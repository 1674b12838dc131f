"""What several metrics share: spelling, sentences, tokens and stems."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from .base import Request, code_of

#: Languages written in Devanagari, and (the last two) in the Bengali script; codes of ISO 639.
_RESPELT = frozenset({"hi", "mag", "bho", "mai", "mr", "ne", "sa", "bn", "as"})

#: Joiners choose between two shapes of the same letters; the others are invisible altogether.
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\xad"))
#: Devanagari and Bengali digits -> 0-9, without which "3.5" is one word in one script only.
_DIGITS = {first + n: str(n) for first in (0x0966, 0x09E6) for n in range(10)}
#: How khanda ta was typed before it had a character of its own (Unicode 4.1).
_KHANDA_TA = "\u09a4\u09cd\u200d"
_DANDA = re.compile(r"\s*([।॥])\s*")


@cache
def _word(joined: bool = False) -> Any:
    """Letters or digits with their marks and joiners; joined by apostrophes between letters."""
    import regex  # takes long to import, and the list of metrics does without

    word = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
    return regex.compile(word + r"(?:['’]\p{L}[\p{L}\p{M}\u200c\u200d]*)*" * joined)


def sentences(text: str) -> list[str]:
    """The sentences of an English text by Punkt's trained parameters (Kiss and Strunk, 2006)."""
    import punkt

    return punkt.sent_tokenize(text)


def respelt(text: str) -> str:
    """A text in which letters of Devanagari and Bengali script are spelt in one way.

    NFC, one khanda ta, no joiners or invisible characters, digits 0-9, one double danda.
    """
    text = unicodedata.normalize("NFC", text).replace(_KHANDA_TA, "\u09ce")
    return text.translate(_UNSEEN).translate(_DIGITS).replace("।।", "॥")


def spelt(request: Request, apart: bool = False) -> Request:
    """The request with texts :func:`respelt`; spaces around dandas if they stand apart."""
    if request.language == "en" or code_of(request.language) not in _RESPELT:
        return request

    def spell(text: str) -> str:
        return _DANDA.sub(r" \1 ", respelt(text)).strip() if apart else respelt(text)

    return request.changed(spell)


def word_spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end and dictionary form of each word: lower case, respelt, ``'`` for ``’``.

    A word is letters and digits of any script with their marks, and what an apostrophe joins:
    ``don't`` is one word, ``well-made`` is two.
    """
    return [(*match.span(), _form(match.group())) for match in _word(joined=True).finditer(text)]


@lru_cache(maxsize=2**16)
def _form(word: str) -> str:
    return respelt(word).lower().replace("’", "'")


def tokens13a(text: str) -> list[str]:
    """sacreBLEU's default tokens (mteval-v13a): words and punctuation marks, case kept."""
    return sacrebleu("BLEU").tokenizer(text).split()


@cache
def sacrebleu(kind: str, **options: Any) -> Any:
    """A metric of sacreBLEU, which takes long to import."""
    import sacrebleu.metrics

    return getattr(sacrebleu.metrics, kind)(**options)


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """The stem of a word (Porter, 1980), by NLTK."""
    from nltk.stem.porter import PorterStemmer  # takes long to import

    return PorterStemmer().stem(word)


class UnicodeWords:
    """A tokenizer for rouge-score that is upstream's on ASCII and does not lose other scripts.

    A text without any word (only emoji, only punctuation) is cut at white space instead.
    """

    def __init__(self, stem: Callable[[str], str] | None = None):
        self._stem = stem

    def tokenize(self, text: str) -> list[str]:
        words = _word().findall(text.lower()) or text.split()
        # Upstream stems words of more than three characters only.
        return [self._stem(w) if len(w) > 3 else w for w in words] if self._stem else words
