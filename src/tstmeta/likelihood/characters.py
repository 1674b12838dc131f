"""Which characters of a text a token stands for, and how to show them.

Byte-level tokenizers cut some characters into several tokens, and offsets leave out white space; a
reader wants each character once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from ..schema import TstmetaError

#: Format characters that shape letters or emoji; they do no harm and look wrong when spelled out.
_JOINERS = "\u200c\u200d"
#: White space that would break a line, as signs.
_SIGNS = {"\n": "↵", "\t": "⇥"}


def spans(tokenizer: Any, text: str, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Characters [start, end) of each token, without gap or overlap from 0 on.

    White space between two tokens goes to the later one.  A character that several tokens share
    goes to the first of them; the others have start = end.

    Args:
        tokenizer: one of transformers that knows offsets (any with a tokenizer.json).
        ids: the text's token ids, or the first of them where it was cut.

    Raises:
        TstmetaError: the tokenizer knows no offsets, or these are not the text's tokens.
    """
    if not ids:
        return []
    if not getattr(tokenizer, "is_fast", False):
        raise TstmetaError(
            "this tokenizer does not say which characters a token stands for; "
            "use a model that comes with tokenizer.json"
        )
    given = tokenizer(
        text,
        add_special_tokens=False,
        split_special_tokens=True,  # as the template reads a text: a control token is its letters
        verbose=False,
        return_offsets_mapping=True,
    )
    if list(given["input_ids"][: len(ids)]) != list(ids):
        raise TstmetaError("the tokens are not those of this output; judge the rewrite anew")
    groups = _groups(given["offset_mapping"][: len(ids)])
    if len(ids) == len(given["input_ids"]):  # white space at the very end has no token after it
        groups[-1][1] = len(text)
    return [
        (start if place == 0 else end, end)
        for start, end, tokens in groups
        for place in range(tokens)
    ]


def _groups(offsets: Sequence[tuple[int, int]]) -> list[list[int]]:
    """[start, end, number of tokens] of characters that go together, without gap or overlap."""
    groups: list[list[int]] = []
    for start, end in offsets:
        reached = groups[-1][1] if groups else 0
        blank = bool(groups) and groups[-1][0] == reached
        if groups and (blank or start < reached or end <= reached):
            groups[-1][1] = max(end, reached)
            groups[-1][2] += 1
        else:
            groups.append([reached, end, 1])
    return groups


def shown(text: str) -> str:
    """:func:`visible`, with a sign for a text of blanks alone."""
    return visible(text) if text.strip(" ") else "␣" * len(text)


def visible(text: str) -> str:
    """A text on one line: white space as signs, whatever steers a terminal or a line as escapes."""
    return "".join(
        _SIGNS.get(character) or (repr(character)[1:-1] if _steers(character) else character)
        for character in text
    )


def _steers(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS
