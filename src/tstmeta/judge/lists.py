"""Numbers and letters that count the points of a list, and so are no ratings.

``1. The rewrite keeps the topic.`` begins a list of reasons as often as it gives a rating of 1.
What can be either is not taken: a number or a letter that begins its line with ``.``, ``)`` or
``:`` behind it and words on the same line, or one in a row of lines that count up.  Behind a label
on the same line (``Rating: 4. The rewrite ...``) it stays a rating, unless a bracket that nothing
opened (``meaning: 1) how well``) or the next point behind it shows that it counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice

#: Most characters of a line that are looked at on either side, and most lines that count.
_NEAR = 200
_MOST = 2_000
_AROUND = r"[*_\"'`“”‘’]{0,6}"
_WORD = re.compile(r"[^\W_]")
_MARK = re.compile(rf"{_AROUND}[.):]")
_WORDS = re.compile(rf"{_AROUND}[.):][^\n]{{0,{_NEAR}}}?[^\W_]")
_BRACKET = re.compile(rf"{_AROUND}\)[^\n]{{0,{_NEAR}}}?[^\W_]")
_COUNTS = r"[ \t]{0,3}(?:[.):\]](?![^\W_])|[-–—](?![^\W_]))"
_LINE = re.compile(
    rf"^[ \t]{{0,8}}[*_#>\"'(\[-]{{0,6}}[ \t]{{0,4}}(?P<sign>\d{{1,3}}|[A-Za-z]){_AROUND}{_COUNTS}",
    re.MULTILINE,
)
#: The next point of a list that goes on in the same line: "1. Meaning is kept. 2. Style is not".
_NEXT = r"[.;,:!?)][ \t]{1,3}\(?%s[.)][ \t]{1,3}[^\W_]"


class Points:
    """The points of the lists in a text.

    Args:
        text: with digits as ``0`` to ``9``.
        before: what labels the whole text from the same line, or None where nothing does.
    """

    def __init__(self, text: str, before: str | None = None):
        self._text, self._before = text, before
        self._places: dict[int, list[int]] = defaultdict(list)
        for line in islice(_LINE.finditer(text), _MOST):
            self._places[_order(line["sign"])].append(line.start("sign"))

    def has(self, start: int, end: int, at_end: bool = False) -> bool:
        """Whether the number or letter there counts a point.

        Args:
            at_end: the text was cut, so that words may have come behind its last sign.
        """
        text = self._text
        line = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
        told = _WORD.search(line) is not None
        if self._before is not None and "\n" not in text[max(0, start - _NEAR) : start]:
            line, told = self._before + line, True
        if told:
            loose = line.count("(") <= line.count(")") and _BRACKET.match(text, end)
            return bool(loose) or self._goes_on(start, end)
        if _WORDS.match(text, end) or self._in_row(start, end, at_end):
            return True
        mark = _MARK.match(text, end) if at_end else None
        return mark is not None and not text[mark.end() :].strip()

    def _goes_on(self, start: int, end: int) -> bool:
        """Whether the next point follows on the same line."""
        sign = self._text[start:end]
        if not _MARK.match(self._text, end) or not (sign.isdecimal() and len(sign) < 4):
            return False
        stop = self._text.find("\n", end, end + 5 * _NEAR)
        rest = self._text[end : stop if stop >= 0 else end + 5 * _NEAR]
        return re.search(_NEXT % (int(sign) + 1), rest) is not None

    def _in_row(self, start: int, end: int, at_end: bool) -> bool:
        """Whether a later line counts on from here, or this one from an earlier line."""
        sign = self._text[start:end]
        if not _counts(sign):
            return False
        order = _order(sign)
        own = self._places.get(order, [])
        if any(place != start for place in own):  # the list has its own point of this number
            return False
        later = any(place > start for place in self._places.get(order + 1, []))
        marked = bool(own) or at_end
        return later or (marked and any(place < start for place in self._places.get(order - 1, [])))


def _counts(sign: str) -> bool:
    return (sign.isdecimal() and len(sign) < 4) or (len(sign) == 1 and sign.isascii())


def _order(sign: str) -> int:
    """The place of a number or a letter; letters are far from all numbers."""
    return int(sign) if sign.isdecimal() else 10_000 + ord(sign.casefold())
