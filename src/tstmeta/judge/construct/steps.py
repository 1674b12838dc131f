"""The questions of a construction, and how their answers are read.

The order of steps follows Pauli et al. (2025, Section 4.2 and Appendix B): a source, a strong
rewrite, a light rewrite, an error in the light one.  The last step goes beyond it: the same error
in the strong one, which makes the design a full 2 x 2.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple
from unicodedata import category

from ...data.contrast import Span
from ..answers import aloud, json_of
from ..base import Message, Question, Reply, Sampling
from ..prompts import LANGUAGES, fence_for
from .checks import runs

#: The kinds of error, in the order in which they are dealt.
ERRORS = ("substitution", "deletion", "insertion")
#: Texts asked for in one request for sources.
BATCH = 10
#: So many of the sources that are there are shown, the newest ones.
SHOWN = 40
#: Characters of the longest text that is taken from an answer.
LONGEST = 5000
_UNSEEN = ("Cc", "Cs")  # control characters, and halves of characters


@dataclass(frozen=True)
class Setting:
    """What all questions of one construction have in common.

    Attributes:
        style: the target style in words, such as ``more formal``.
        style_now: the style of the sources; may be empty.
        language: a code such as ``en``.
        seed: sent with every question; another try of a step sends the next number.
        temperature: how answers are drawn.
    """

    style: str
    style_now: str = ""
    language: str = "en"
    seed: int = 0
    temperature: float = 0.7

    def sampling(self, attempt: int, tokens: int) -> Sampling:
        """How the answer of one try is drawn."""
        return Sampling(temperature=self.temperature, max_tokens=tokens, seed=self.seed + attempt)


class Read(NamedTuple):
    """Texts of an answer; or none, and why."""

    texts: tuple[str, ...]
    problem: str = ""


@cache
def wording() -> dict[str, str]:
    """The words of every step, by name."""
    return tomllib.loads(files(__package__).joinpath("steps.toml").read_text(encoding="utf-8"))


@cache
def prompt_hash() -> str:
    """First 12 hexadecimal digits of the SHA-256 of all words and schemas."""
    text = json.dumps([sorted(wording().items()), _SCHEMAS], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def told(setting: Setting) -> frozenset[tuple[str, ...]]:
    """Runs of words that only our prompts have, to be looked for in answers."""
    found: set[tuple[str, ...]] = set()
    for text in wording().values():
        found |= runs(_filled(text, setting, count="ten", now=""))
    return frozenset(found)


# ------------------------------------------------------------------------------------ questions


def ask_sources(setting: Setting, count: int, before: Sequence[str], attempt: int) -> Question:
    """So many new sources, unlike those that are there."""
    now = wording()["now" if setting.style_now else "not_yet"]
    words = _filled(wording()["source"], setting, count=str(count), now=_filled(now, setting))
    shown = [(f"text {place}", text) for place, text in enumerate(before[-SHOWN:], 1)]
    if shown:
        words += "\n" + wording()["again"]
    return _question(setting, words, shown, "texts", attempt, 200 + 80 * count)


def ask_rewrite(setting: Setting, shift: str, source: str, attempt: int) -> Question:
    """The strong or the light rewrite of a source."""
    words = _filled(wording()[shift], setting)
    return _question(setting, words, [("text", source)], "text", attempt, _room(source))


def ask_error(setting: Setting, kind: str, light: str, strong: str, attempt: int) -> Question:
    """The light rewrite with one error, in words that both rewrites have."""
    words = _filled(wording()[kind], setting)
    shown = [("text A", light), ("text B", strong)]
    return _question(setting, words, shown, "text", attempt, _room(light))


def ask_same(setting: Setting, strong: str, change: Span, attempt: int) -> Question:
    """The strong rewrite with the error of the light one."""
    words = _filled(wording()["same"], setting)
    shown = [("text", strong), ("taken out", change.removed), ("put in", change.added)]
    return _question(setting, words, shown, "text", attempt, _room(strong))


def _filled(text: str, setting: Setting, **more: str) -> str:
    language = LANGUAGES.get(setting.language, setting.language)
    named = {"style": setting.style, "style_now": setting.style_now, "language": language}
    return Template(text).substitute(**{**named, "now": "", "count": "", **more}).strip()


def _room(text: str) -> int:
    """Tokens for an answer about as long as a text; a byte is a token at worst."""
    return min(200 + 3 * len(text.encode(errors="replace")), 4000)


def _question(
    setting: Setting,
    words: str,
    shown: Sequence[tuple[str, str]],
    schema: str,
    attempt: int,
    tokens: int,
) -> Question:
    system = Message("system", _filled(wording()["system"], setting))
    user = Message("user", "\n\n".join([words, *fenced(shown)]))
    sampling = setting.sampling(attempt, tokens)
    return Question((system, user), _SCHEMAS[schema], sampling, attempt)


def fenced(texts: Sequence[tuple[str, str]]) -> list[str]:
    """Named texts, each between two lines of a fence that none of them can close."""
    line = fence_for([text for _, text in texts])
    return [f"{name}:\n{line}\n{text}\n{line}" for name, text in texts]


def _schema(name: str, kind: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: kind},
        "required": [name],
        "additionalProperties": False,
    }


_SCHEMAS = {
    "text": _schema("text", {"type": "string"}),
    "texts": _schema("texts", {"type": "array", "items": {"type": "string"}}),
}


# -------------------------------------------------------------------------------------- answers


def read(reply: Reply, field: str = "text") -> Read:
    """The text of an answer, or its texts, or why there is none.

    Prose or a code fence around the JSON object is passed over, and so is what a model thinks
    first.  An answer without the object that was asked for gives no text, and so does one with two
    that differ.

    Args:
        field: ``text`` or ``texts``.
    """
    if reply.failure:
        return Read((), f"no answer: {reply.failure}")
    if reply.refusal or reply.finish == "content_filter":
        return Read((), "the model refused")
    if not reply.text.strip():
        return Read((), "the answer is empty")
    value, why = json_of(aloud(reply.text))
    if why:
        cut = " and was cut off" if reply.finish == "length" else ""
        return Read((), f"the answer has {why}{cut}")
    if not isinstance(value, dict) or field not in value:
        return Read((), f'the answer has no "{field}" in a JSON object')
    given = value[field] if field == "texts" else [value[field]]
    whole = isinstance(given, list) and len(given) > 0
    if not whole or not all(isinstance(one, str) for one in given):
        return Read((), f'"{field}" of the answer is of the wrong type')
    texts = tuple(text.replace("\r\n", "\n").strip() for text in given)
    if max(map(len, texts), default=0) > LONGEST:
        return Read((), f"a text of more than {LONGEST} characters")
    if any(category(sign) in _UNSEEN and sign not in "\n\t" for text in texts for sign in text):
        return Read((), "a text with control characters or half characters")
    return Read(texts) if any(texts) else Read((), "the text of the answer is blank")
