"""Explanations written by hand, for tests of what shows them."""

import math
import re

from tstmeta.likelihood.explain import Explanation, Token
from tstmeta.likelihood.scorer import Rewrite
from tstmeta.schema import Status


def made(output: str, logs: list[float] | None = None, **changes) -> Explanation:
    """An explanation with a token a word; by default a third for style, a tenth for the others."""
    found = list(re.finditer(r"\s*\S+", output))
    logs = logs or [math.log(1 / 3)] * len(found)
    tokens = tuple(
        Token(place, m[0], *m.span(), (log, log - math.log(3.3), log - math.log(3.3)))
        for place, (m, log) in enumerate(zip(found, logs, strict=True))
    )
    given = {
        "rewrite": Rewrite("a source", output, "formal"),
        "wording": "formal",
        "asked": ("", "", ""),
        "tokens": tokens,
        "end_of_turn": None,
        "content": sum(logs) / len(logs) if logs else math.nan,
        "style": 0.1,
        "status": Status.OK,
        "detail": "",
        "model": "tiny@1 float32",
        "instructions": "paper",
        "variant": "equation",
        "signature": "likelihood|model:tiny@1",
    }
    return Explanation(**{**given, **changes})
