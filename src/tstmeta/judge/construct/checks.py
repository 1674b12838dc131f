"""Automatic checks of constructed rewrites: from texts to a reason, empty when all is well.

A check sends a row to a person; it decides nothing about meaning.  None can tell whether an error
changes what the text says, or whether a rewrite has the style: raters do.  Bounds were set on the
contrast set and on the set of Pauli et al. (2025), which people wrote or checked; the tests say how
many of their rows pass.  Words are runs between blanks, compared without case and outer
punctuation, as in :func:`tstmeta.data.contrast.span_of`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import regex  # type: ignore[import-untyped]
from rapidfuzz.distance import Levenshtein

from ...data.contrast import Span, span_of
from ..refusals import REFUSAL

#: Most words that an error takes out or puts in; the contrast set has no longer one.
ERROR_WORDS = 6
#: Words of a source, at least and at most.
SOURCE_WORDS = (3, 60)
#: A rewrite has this many words for each of its source, at least and at most; 98 % of the set of
#: Pauli et al. (2025) do.  A difference of no more than ``SLACK`` words is never too much.
LENGTH_RATIO = (0.5, 3.0)
SLACK = 5
#: A run of so many words of our own prompt is no coincidence.
LEAKED_WORDS = 6
#: Largest share of letters in a script that the language does not use, such as that of a name.
FOREIGN_LETTERS = 0.2


_OUTER = re.compile(r"^\W+|\W+$")


class Finding(NamedTuple):
    """What a check found: its name, and the reason in words."""

    check: str
    why: str

    def __str__(self) -> str:
        return f"{self.check}: {self.why}"


def words(text: str) -> list[str]:
    """Words as they are compared: lower case, no outer punctuation, none empty."""
    bare = (_OUTER.sub("", word).lower() for word in text.split())
    return [word for word in bare if word]


def _plain(text: str) -> str:
    """A text as duplicates are looked for: words only, without case and spacing."""
    return " ".join(words(text))


# ------------------------------------------------------------------------------ a text by itself

_TALK = re.compile(
    r"^\W{0,9}(sure|certainly|of course|absolutely|okay|ok|got it|no problem|understood)[,.!:]"
    r"|^\W{0,9}(here('s| is| are| you go)|below (is|are)|the following (is|are))\b"
    r"|^\W{0,9}(the )?(rewritten|rewrite|revised|new|output|answer|result|strong|light|formal"
    r"|source|original)( (text|sentence|version|rewrite))?\s*:"
    r"|\bi('ve| have)? (rewritten|rewrote|revised|changed the|kept the|made the)\b"
    r"|\b(the|this) (rewritten|original|source|revised) (text|sentence|version)\b"
    r"|\blet me know if you('d| would) like|\bhope (this|that) helps|\bwould you like me to"
    r"|\bnote that i\b|^\W{0,9}note:",
    re.I | re.M,
)
#: A short opening line before the text itself, whatever the language: up to a colon, then a new
#: line or a quotation mark.
_OPENING = re.compile(r"^[^:\n]{1,80}:\s*(\n|[\"“„«])")
_FENCE = re.compile(r"={4,}|`{3,}|~{4,}|<{3,}|>{3,}|<\|\w|\|>|</?(text|source|data|output)\b", re.I)


def blank(text: str) -> str:
    """Nothing but space."""
    return "" if words(text) else "there are no words"


def several_lines(text: str, source: str) -> str:
    """A line break that the source does not have."""
    broken = "\n" in text.strip() and "\n" not in source.strip()
    return "several lines where the source has one" if broken else ""


def meta_talk(text: str, source: str) -> str:
    """Talk about the task instead of the text alone; what the source says too is none."""
    for pattern in (_TALK, _OPENING):
        found = pattern.search(text)
        if found and not pattern.search(source):
            return f"talk about the task: {found.group().strip()!r}"
    return ""


def refusal(text: str, source: str) -> str:
    """The words of a model that declines, in English."""
    found, said = (REFUSAL.search(one.replace("’", "'")) for one in (text, source))
    return f"a refusal: {found.group()!r}" if found and not said else ""


def fence(text: str, source: str) -> str:
    """Marks that set texts apart in our prompts, or in the templates of models."""
    for found in _FENCE.finditer(text):
        if found.group() not in source:
            return f"a mark of the prompt: {found.group()!r}"
    return ""


def leaked(text: str, source: str, told: frozenset[tuple[str, ...]]) -> str:
    """Words of the prompt.

    Args:
        told: runs of :data:`LEAKED_WORDS` words of the prompt, see :func:`runs`.
    """
    found = sorted(runs(text) & told - runs(source))
    return f"words of the prompt: {' '.join(found[0])!r}" if found else ""


def runs(text: str, size: int = LEAKED_WORDS) -> frozenset[tuple[str, ...]]:
    """All runs of neighbouring words of one length."""
    found = words(text)
    return frozenset(tuple(found[i : i + size]) for i in range(len(found) - size + 1))


def source_length(text: str) -> str:
    """Too short to hold a fact to change, or too long to rate."""
    low, high = SOURCE_WORDS
    count = len(text.split())
    return "" if low <= count <= high else f"{count} words; a source has {low} to {high}"


def length(text: str, source: str) -> str:
    """Much shorter or longer than its source."""
    count, of_source = len(text.split()), len(source.split())
    low, high = LENGTH_RATIO
    near = abs(count - of_source) <= SLACK or low * of_source <= count <= high * of_source
    return "" if near else f"{count} words where the source has {of_source}"


def copied(text: str, source: str) -> str:
    """The source again."""
    return "the same words as the source" if _plain(text) == _plain(source) else ""


# --------------------------------------------------------------------------------------- script

#: Scripts, and the languages that write each of them and no other.
_WRITTEN = {
    "Latin": "en de fr es it pt nl sv da nb nn no fi is et lv lt pl cs sk sl hr hu ro tr vi id ms"
    " sw ca gl eu ga cy sq af tl",
    "Cyrillic": "ru uk bg mk be kk",
    "Arabic": "ar fa ur ps",
    "Devanagari": "hi mr ne mag",
    "Bengali": "bn as",
    "Greek": "el",
    "Hebrew": "he",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Hangul": "ko",
    "Georgian": "ka",
    "Armenian": "hy",
    "Ethiopic": "am",
    **dict.fromkeys(("Han", "Hiragana", "Katakana", "Thai"), ""),
}
_LETTERS = {name: regex.compile(rf"\p{{L}}(?<=\p{{Script={name}}})") for name in _WRITTEN}


def script(text: str, source: str, language: str) -> str:
    """Letters of a script that neither the language nor the source uses.

    Another language in the same script is not seen.
    """
    base = language.partition("-")[0]
    usual = {name for name, languages in _WRITTEN.items() if base in languages.split()}
    allowed = usual | set(_scripts(source))
    counts = _scripts(text)
    total = sum(counts.values())
    foreign = {name: count for name, count in counts.items() if name not in allowed}
    if not allowed or not total or sum(foreign.values()) <= FOREIGN_LETTERS * total:
        return ""
    most = max(foreign, key=lambda name: foreign[name])
    wanted = ", ".join(sorted(allowed))
    return f"letters of the {most} script where {wanted} is expected"


def _scripts(text: str) -> Counter[str]:
    """Letters of each script; a quick way for the usual text."""
    if text.isascii():
        return +Counter(Latin=sum(map(str.isalpha, text)))
    found = Counter({name: len(letter.findall(text)) for name, letter in _LETTERS.items()})
    return +found


# ------------------------------------------------------------------------- texts beside each other


def change(source: str, text: str) -> float:
    """Share of words that differ, 0 to 1: word edits over the words of the longer text."""
    return float(Levenshtein.normalized_distance(words(source), words(text)))


def shift(source: str, strong: str, light: str) -> str:
    """The strong rewrite must be further from the source than the light one."""
    far, near = change(source, strong), change(source, light)
    if far > near:
        return ""
    return f"the strong rewrite changes {far:.0%} of the words and the light one {near:.0%}"


def kind_of(span: Span) -> str:
    """substitution, deletion, insertion or none."""
    if span.removed and span.added:
        return "substitution"
    return "deletion" if span.removed else "insertion" if span.added else "none"


def places(kept: str, wrong: str) -> int:
    """In how many places words differ; one unchanged word between two changes joins them."""
    removed, added = (words(part) for part in span_of(kept, wrong))
    codes = Levenshtein.opcodes(removed, added)
    inner = [code.src_end - code.src_start for code in codes if code.tag == "equal"]
    return bool(removed or added) + sum(gap > 1 for gap in inner)


def error(kept: str, wrong: str, kind: str) -> str:
    """The announced error is there, and it is the only one.

    Args:
        kept: the rewrite that the error was put into.
        kind: substitution, deletion or insertion.
    """
    span = span_of(kept, wrong)
    found = kind_of(span)
    if found == "none":
        return f"no {kind}: no word differs from the rewrite without error"
    if (count := places(kept, wrong)) > 1:
        return f"words differ in {count} places; an error is in one"
    size = max(len(part.split()) for part in span)
    if size > ERROR_WORDS:
        return f"{size} words in a row differ; an error has {ERROR_WORDS} at most"
    return "" if found == kind else f"a {found} where a {kind} was asked for"


def same_error(light: Span, strong: Span) -> str:
    """Both errors take out the same words and put in the same words."""
    for part, told in (("removed", "taken out"), ("added", "put in")):
        one, other = (_plain(getattr(span, part)) for span in (light, strong))
        if one != other:
            return f"words {told}: {one!r} in the light rewrite, {other!r} in the strong one"
    return ""


def duplicates(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Which texts came before, without case, spacing and punctuation.

    Args:
        texts: (id, text) in order; blank ones are left out.

    Returns:
        id -> reason, for each but the first of equal texts.
    """
    seen: dict[str, str] = {}
    found: dict[str, str] = {}
    for name, text in texts:
        plain = _plain(text)
        if plain and plain in seen:
            found[name] = f"the same text as {seen[plain]}"
        elif plain:
            seen[plain] = name
    return found
