"""Passwords and keys stay out of names, messages and files.

Every :class:`~tstmeta.schema.TstmetaError` and every name of a metric goes through :func:`conceal`;
what a server repeats of a key is masked in its answers (:func:`mask_of`, :func:`excerpt`).
"""

import html
import json
import re

#: What is shorter is no secret ("EMPTY" stands for none): to mask it would spoil answers.
LEAST = 6
#: Finds secrets; None if there are none.
Mask = re.Pattern[str] | None

_START = r"((?:https?:?/+|//)"
#: The user of a URL ends at the last @ of its host; a password that was not escaped may hold a /,
#: and then the @ stands before a + (of a metric's name), a # (a model's) or a | (a signature's).
_USER = re.compile(_START + r")(?:[^/?#\s]*|[^#+|,;'\"<>\s]*)@", re.IGNORECASE)
_QUERY = re.compile(_START + r"[^?|'\"<>\s]*)\?[^+#|'\"<>\s]*", re.IGNORECASE)


def conceal(text: str) -> str:
    """The text, URLs in it without user, password and query; unchanged where they have none.

    >>> conceal("likelihood:8b+http://ann:secret@host/v1?key=secret#name+released")
    'likelihood:8b+http://host/v1#name+released'
    """
    return _QUERY.sub(r"\1", _USER.sub(r"\1", text)) if "/" in text else text


def mask_of(key: str) -> Mask:
    """A mask of a key: it finds it bare and with any of its signs escaped (JSON, URLs, HTML)."""
    return re.compile("".join(map(_spellings, key))) if len(key) >= LEAST else None


def _spellings(sign: str) -> str:
    """The regular expression of a sign, bare or escaped, in JSON within JSON too."""
    bare = {sign, json.dumps(sign, ensure_ascii=False)[1:-1], html.escape(sign)}
    units = re.findall("....", sign.encode("utf-16-be").hex())
    coded = [
        "".join(rf"\\{{1,8}}u{unit}" for unit in units),
        "".join(f"%{byte:02x}" for byte in sign.encode()),
        f"&#(?:{ord(sign)}|x{ord(sign):x});",
    ]
    return rf"(?:\\{{0,8}}(?:{'|'.join(map(re.escape, bare))})|(?i:{'|'.join(coded)}))"


def masked(text: str, mask: Mask) -> str:
    """The text with every secret replaced by ``***``."""
    return mask.sub("***", text) if mask else text


def excerpt(text: str, most: int = 200, mask: Mask = None) -> str:
    """A stranger's words on one line: at most ``most`` characters, no control signs, no secret."""
    # zeros are of UTF-16; many times what is shown is left, for blanks become one
    text = masked(text.replace("\0", ""), mask)[: 20 * most]
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= most else text[: most - 1] + "…"
