"""The words of a model that declines, in English.

Many servers never fill the field that is meant for a refusal: it comes as a plain answer.
"""

from __future__ import annotations

import re

#: Anywhere in a text.  Narrow, because a text may itself say that its writer cannot help.
REFUSAL = re.compile(
    r"\b(as an? (ai|artificial intelligence|(large )?language model)\b"
    r"|i('m| am) (very )?sorry,? but i (can('|no)t|cannot|can not|am (not able|unable))"
    r"|i('m| am)? ?(can('|no)t|cannot|can not|won't|not able to|unable to) (assist|help|comply"
    r"|fulfil|fulfill|complete|do|rewrite|generate|create|provide|produce|write)\b"
    r"( with| you with)? (this|that|your|the) (request|task|text|rewrite|instruction|content))",
    re.I,
)
_CANNOT = (
    r"(?:can(?:'|no)t|can not|will not|won't|(?:am|'m|are|'re) (?:not able|unable|not allowed)"
    r"|do(?:n't| not) feel comfortable|must (?:respectfully |politely )?decline|have to decline)"
)
_SERVICE = (
    r"(?: to)? (?:assist|help|comply|fulfill?|complete|rate|judge|evaluate|assess|score|engage"
    r"|participate|provide|do (?:this|that)|continue|answer|respond|process"
    r"|(?:rat|judg|evaluat|assess|scor|answer|provid)ing)\b"
)
_SELF = r"\b(?:i|we)(?: am| are|'m|'re)?"
#: How a refusal begins: a judge that answers like this and rates nothing has declined.
_OPENING = re.compile(
    rf"\W{{0,20}}(?:(?:{_SELF} )?(?:(?:really|very|so|truly) )?(?:sorry|apologi[sz]e|regret)\b"
    rf"[^\n]{{0,80}}?\b(?:i|we) ?{_CANNOT}"
    rf"|my apologies\b[^\n]{{0,80}}?\b(?:i|we) ?{_CANNOT}"
    rf"|as an? (?:ai|artificial intelligence|(?:large )?language model)\b[^\n]{{0,80}}?{_CANNOT}"
    rf"|(?:unfortunately,? )?\b(?:i|we) ?(?:must (?:respectfully |politely )?decline\b"
    rf"|have to decline\b|{_CANNOT}{_SERVICE}))",
    re.I,
)


def declines(text: str) -> bool:
    """Whether an answer begins like a refusal."""
    return _OPENING.match(text.lstrip()[:300].replace("’", "'")) is not None
