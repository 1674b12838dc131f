"""Ratings in words: ``4``, ``4/5``, ``Rating: 4``, ``4 out of 5``, ``৪``, ``4,5``, ``yes``.

A number counts as a rating only where the answer presents it as one: alone in a line, in front of
everything else, behind a label, or over the scale's end.  Any other number may be about the text
("it has 3 errors") and is not taken, and neither is one that counts a list (:mod:`.lists`).  Two
different ratings are none, and so is one on another scale or of an interval.  All patterns are
bounded: an answer of any length is read in linear time.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from .lists import Points

#: Labels of a rating, whatever is rated: English, Hindi, Bengali.
LABELS = (
    *("rating", "rate", "rated", "score", "scored", "scores", "grade", "answer", "verdict"),
    *("result", "give", "gave", "assign", "assigned", "award"),
    *("रेटिंग", "स्कोर", "अंक", "उत्तर", "রেটিং", "স্কোর", "নম্বর", "উত্তর"),
)
#: Words that may stand between a label and its number.
_BETWEEN = (
    *("is", "as", "was", "of", "for", "to", "be", "would", "a", "an", "the", "it", "this", "at"),
    *("that", "preservation", "strength", "transfer", "accuracy", "change", "score", "rating"),
    *("on", "scale", "from", "out", "likert", "boxed", "value", "number", "equals", "rewrite"),
    *("sentence", "text", "output", "है", "হল", "হলো"),
)
_JOIN = r"[\s:=*_\\\"'“”‘’`|>()\[\]{}~–—-]"
_DECOR = r"[\s*_\"'“”‘’`|>()\[\]{}~#]"


def _choice(options: Iterable[str]) -> str:
    """An alternation, longest first, so that none hides a longer one."""
    return f"(?:{'|'.join(re.escape(one) for one in sorted(options, key=len, reverse=True))})"


#: What may stand between a label and what it announces.
_GAP = rf"(?:{_JOIN}{{1,4}}{_choice(_BETWEEN)}(?![^\W_])){{0,6}}{_JOIN}{{1,24}}?"
#: A number, what makes it another number (a sign, a scale's end, a percent sign, an interval), and
#: what may follow one that stands in front of an explanation.
_DIGITS = (
    r"(?<![^\W_])(?<!\d[.,/])(?P<sign>[-−+]?)(?P<whole>\d{1,12})"
    r"(?:(?P<point>[.,])(?P<part>\d{1,12}))?(?![^\W_])(?![.,]\d)"
)
_END = r"(?:[ \t]{0,3}(?P<over>/|out[ \t]{1,3}of|of)[ \t]{0,3}(?P<most>\d{1,6})(?!\d))"
_REST = r"(?P<percent>[ \t]?%)?+(?P<interval>[ \t]{0,3}(?:-|–|—|to|or|and)[ \t]{0,3}\d)?+"
_NUMBER = rf"{_DIGITS}{_END}?+{_REST}"
_STOP = r"(?=[ \t]{0,9}(?:\Z|[\n,;|)\]}>]|[.:*_`\"'।–—-](?![^\W_])))"
_AFTER = rf"(?:{_STOP}|(?=[ \t]{{1,3}}(?:because|since|overall|points?|stars?)(?![^\W_])))"
_TAIL = rf"{_DECOR}{{0,20}}[.:;,!।]?{_DECOR}{{0,20}}$"
_FRONT = re.compile(rf"{_DECOR}{{0,20}}{_NUMBER}{_AFTER}")
_ALONE = re.compile(rf"^{_DECOR}{{0,20}}{_NUMBER}{_TAIL}", re.MULTILINE)
#: "4/5" is a rating anywhere; "4 of 5" only where no noun follows ("4 of 5 facts").
_OVER = re.compile(rf"{_DIGITS}{_END}{_REST}(?P<stop>{_STOP})?")
#: A number behind a label: with a colon or the like between, or with no noun behind it.
_BEHIND = re.compile(
    rf"(?:{_GAP}(?<=[:=]){_JOIN}{{0,8}}?(?P<told>)|{_GAP}){_NUMBER}(?(told)|{_AFTER})",
    re.IGNORECASE,
)
#: What begins to speak of one text or of a first reason, and chooses none: "Rewrite 1: it keeps".
_NAMED = re.compile(
    rf"(?:(?:first|second){_JOIN}{{0,6}},"
    r"|(?:(?:the )?(?:first|second)|\w{2,9} \d)[*_\"']{0,6}(?:[:)]|[ \t][-–—]))"
    r"[^\n]{0,200}?[^\W_]",
    re.IGNORECASE,
)
#: Most ratings and labels of one kind that are looked at in one text.
_MOST = 500


class Reading(NamedTuple):
    """A rating as presented.

    Attributes:
        value: NaN where it is no rating on this scale.
        start, end: the place of its number (not of a scale's end behind it); -1 where there is
            none at all.
        why: what is wrong with it; empty if nothing is.
    """

    value: float
    start: int
    end: int
    why: str = ""


class Scale(NamedTuple):
    """The ends of a scale."""

    low: float
    high: float


def plain(text: str) -> str:
    """The same text with the decimal digits of all scripts as ``0`` to ``9``, place by place."""
    if text.isascii():
        return text
    digits = {char: unicodedata.decimal(char, None) for char in set(text) if char > "9"}
    known = {ord(char): str(digit) for char, digit in digits.items() if digit is not None}
    return text.translate(known) if known else text


def readings(
    text: str, scale: Scale, labels: Iterable[str] = LABELS, before: str | None = None
) -> list[Reading]:
    """All ratings that a text presents as such, in any of the four ways, by place.

    Args:
        text: an answer, or a part of one.
        scale: mentions of it ("from 1 to 5") are no ratings.
        labels: words that announce a rating.
        before: what stands before this part of an answer as its label; None where nothing does.
    """
    text = _without_scale(plain(text), scale)
    points = Points(text, before)
    front = _FRONT.match(text, _start(text))
    matches = [*([front] if front else []), *islice(_ALONE.finditer(text), _MOST)]
    matches = [match for match in matches if not _is_point(match, points)]
    over = (match for match in _OVER.finditer(text) if _is_over(match, scale))
    matches += islice(over, _MOST)
    return _unique(
        [*(_reading(match, scale) for match in matches), *_behind(text, labels, scale, points)]
    )


def labelled(text: str, scale: Scale, labels: Iterable[str]) -> list[Reading]:
    """Only the ratings that stand behind one of the labels."""
    text = _without_scale(plain(text), scale)
    return _unique(_behind(text, labels, scale, Points(text)))


def words(
    text: str, known: Mapping[str, float], labels: Iterable[str] = LABELS, after: str = ""
) -> list[Reading]:
    """Answers that are a word, such as yes or no, presented like a rating.

    Args:
        text: an answer, or a part of one.
        known: casefolded word -> value.
        labels: words that announce an answer.
        after: a bounded pattern that makes the word before it an answer; by default there is none.
    """
    front, alone, behind, before = _word_patterns(tuple(known), after)
    text = plain(text)
    points = Points(text)
    first = front.match(text, _start(text))
    matches = [*([first] if first else []), *islice(alone.finditer(text), _MOST)]
    matches = [match for match in matches if not _NAMED.match(text, match.start("word"))]
    matches += _at_labels(text, tuple(labels), behind)
    matches = [
        match for match in matches if len(match["word"]) > 1 or not points.has(*match.span("word"))
    ]
    matches += islice(before.finditer(text), _MOST) if after else ()
    found = (Reading(known[match["word"].casefold()], *match.span("word")) for match in matches)
    return _unique(found)


def decide(found: Sequence[Reading], scale: Scale) -> Reading:
    """The one rating that all readings agree on, or a reading that says why there is none."""
    if not found:
        return Reading(math.nan, -1, -1, "no rating found")
    for reading in found:
        if reading.why:
            return reading
    if len({reading.value for reading in found}) > 1:
        return Reading(math.nan, 0, 0, "two different ratings")
    first = found[0]
    if not scale.low <= first.value <= scale.high:
        why = f"{first.value:g} is not from {scale.low:g} to {scale.high:g}"
        return first._replace(value=math.nan, why=why)
    return first


def _behind(text: str, labels: Iterable[str], scale: Scale, points: Points) -> list[Reading]:
    matches = _at_labels(text, tuple(labels), _BEHIND)
    return [_reading(match, scale) for match in matches if not _is_point(match, points)]


def _start(text: str) -> int:
    """Where the first word begins, behind the space that stands for thoughts."""
    return len(text) - len(text.lstrip())


def _is_point(match: re.Match[str], points: Points) -> bool:
    """Whether a number counts a point of a list; one over a scale's end or in percent does not."""
    if match["most"] or match["percent"]:
        return False
    return points.has(match.start("whole"), match.end("part" if match["part"] else "whole"))


def _at_labels(text: str, labels: tuple[str, ...], what: re.Pattern[str]) -> list[re.Match[str]]:
    """What follows the labels of a text, where it is what is looked for."""
    places = islice(_label_pattern(labels).finditer(text), _MOST)
    matches = (what.match(text, place.end()) for place in places)
    return [match for match in matches if match]


def _reading(match: re.Match[str], scale: Scale) -> Reading:
    sign, whole, point, part, most, percent, interval = match.group(
        "sign", "whole", "point", "part", "most", "percent", "interval"
    )
    start, end = match.start("sign"), match.end("part" if part else "whole")
    why = ""
    if interval:
        why = "an interval and no rating"
    elif (most and float(most) != scale.high) or (percent and scale.high != 100):
        why = f"a rating on another scale than to {scale.high:g}"
    elif point == "," and len(part) == 3:  # 1,000 may be one or a thousand
        why = "a comma that may part thousands"
    value = float(f"{whole}.{part or 0}") * (-1 if sign in ("-", "−") else 1)
    return Reading(math.nan if why else value, start, end, why)


def _is_over(match: re.Match[str], scale: Scale) -> bool:
    """Whether a number over this scale's end is a rating wherever it stands."""
    over, most = match["over"], match["most"]
    return bool(over) and float(most) == scale.high and (over == "/" or match["stop"] is not None)


def _unique(found: Iterable[Reading]) -> list[Reading]:
    """Each place once, from left to right."""
    return list({(one.start, one.end): one for one in sorted(found, key=lambda r: r[1:3])}.values())


def _without_scale(text: str, scale: Scale) -> str:
    """The text with mentions of its scale blanked, every other character in its place."""
    return _scale_pattern(scale).sub(lambda match: " " * len(match[0]), text)


@cache
def _scale_pattern(scale: Scale) -> re.Pattern[str]:
    low, high = (re.escape(f"{end:g}") for end in scale)
    return re.compile(
        rf"(?<![\d.,/]){low}\s{{0,3}}(?:-|–|—|to|and|through)\s{{0,3}}{high}(?![\d/])(?![.,]\d)"
    )


@cache
def _label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){_choice(labels)}", re.IGNORECASE)


@cache
def _word_patterns(known: tuple[str, ...], after: str) -> list[re.Pattern[str]]:
    """A word in front, alone in a line, behind a label, before ``after``."""
    word = rf"(?<![^\W_])(?P<word>{_choice(known)})(?![^\W_])"
    patterns = (
        rf"{_DECOR}{{0,20}}{word}{_STOP}",
        rf"^{_DECOR}{{0,20}}{word}{_TAIL}",
        rf"{_GAP}{word}{_STOP}",
        rf"{word}{after}",
    )
    return [re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns]
