"""Prompts as data: what a judge is asked, on which scale, and how its answer is read.

A prompt is a TOML file: words with slots, a scale, a unit (an item, a source with all its outputs,
a pair) and the way to read the answer.  The shipped ones stand in ``prompts/``; their ``origin``
says whose words they are.  Yours is a file of the same form: see :mod:`.promptfile`.

Texts that are judged are data.  In prompts of ours each stands between two lines of a fence that it
cannot close (:func:`fence_for`), and the words around say so.  Published prompts keep their words,
which put texts in bare: a text that ends in an instruction may then move the model.  It cannot move
how an answer is read, for the reader never sees the texts (:mod:`.answers`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..metrics.base import Request
from ..schema import TstmetaError
from .base import Message, Question, Role, Sampling

#: Counts up when slots are filled, or answers read, in another way: it is part of every hash.
RULES = 2
#: A slot is a name in braces; other braces, as of an example in JSON, are words like any other.
SLOT = re.compile(r"\{([a-z_]+)\}")
#: How instructions in English name a language; a code that is not here goes in as it is.
LANGUAGES = {
    "bn": "Bengali",
    "de": "German",
    "en": "English",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "mag": "Magahi",
    "pt": "Portuguese",
}
#: Scales with at most so many ratings are listed one by one in a schema: every server knows that.
_LISTED = 21
#: What does not change a message or its reading, and so stays out of the hash.
_BESIDE = ("name", "origin", "cites", "about", "models", "sampling")


class Unfit(TstmetaError):
    """Items that a prompt cannot be asked about; says the remedy."""


@dataclass(frozen=True)
class Prompt:
    """What a judge is asked.

    Attributes:
        name: of the file, without its ending.
        origin: ``published``: the words that a paper or its program gives as its parameter;
            ``described``: our words for what a paper describes; ``ours``; ``yours``.
        cites: keys of ``book/references.bib``.
        about: where the words are from, and what was not to be had.
        unit: ``item``, ``source`` (all outputs of a source in one message) or ``pair``.
        dimensions: what is rated.
        low, high: the ends of the scale; 0 and 1 where the answer is a word.
        answer: how it is read: ``json``, ``number``, ``yes-no`` or ``first`` (of two).
        languages: codes that the words are made for; empty = any.
        sampling: how the paper drew answers, or how we do.
        models: ids that the paper asked.
        user: the message, with slots.
        system: the message before it; empty = none.
        each: one line of the slot ``{outputs}``, for unit ``source``.
        keys: (dimension, key in a JSON answer) pairs.
        styles: (style, its words in this prompt) pairs.
        only_styles: no other style can be asked for.
        fence: texts stand between two lines of a fence.
        explain: the answer has an ``explanation`` too, before the ratings.
    """

    name: str
    origin: str
    cites: tuple[str, ...]
    about: str
    unit: str
    dimensions: tuple[str, ...]
    low: float
    high: float
    answer: str
    languages: tuple[str, ...]
    sampling: Sampling
    models: tuple[str, ...]
    user: str
    system: str = ""
    each: str = "{number}. {output}"
    keys: tuple[tuple[str, str], ...] = ()
    styles: tuple[tuple[str, str], ...] = ()
    only_styles: bool = False
    fence: bool = True
    explain: bool = False

    @property
    def hash(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of all that changes a message or its reading.

        Names, citations and sampling stay out: sampling is shown beside it, for it can be another.
        """
        facts = {one.name: getattr(self, one.name) for one in fields(self)}
        told = {name: value for name, value in facts.items() if name not in _BESIDE}
        text = json.dumps({"rules": RULES, **told}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def key_of(self, dimension: str) -> str:
        """What a dimension is called in a JSON answer."""
        return dict(self.keys).get(dimension, dimension)

    def question(
        self,
        items: Sequence[Request],
        *,
        sample: int = 0,
        sampling: Sampling | None = None,
        enforce: bool = True,
    ) -> Question:
        """The request for one unit.

        Args:
            items: one rewrite for unit ``item``; all outputs of one source, in the order in which
                they are numbered from 1, for unit ``source``; two rewrites for unit ``pair``.
            sample: which of several answers, from 0.
            sampling: instead of the prompt's own.
            enforce: send a JSON schema along, where the answer is JSON.

        Raises:
            Unfit: a number of items that the unit does not take, items of several sources, styles
                or languages, or a style or language that the prompt is not made for.
        """
        self._check(items)
        schema = self.schema(len(items)) if enforce else None
        return Question(self._messages(items), schema, sampling or self.sampling, sample)

    def schema(self, items: int = 1) -> dict[str, Any] | None:
        """The JSON schema of an answer about so many items; None where the answer is no JSON."""
        if self.answer != "json":
            return None
        ratings = {self.key_of(name): _rating(self.low, self.high) for name in self.dimensions}
        reasons = {"explanation": {"type": "string"}} if self.explain else {}
        if self.unit != "source":
            return _object({**reasons, **ratings})
        number = {"number": {"type": "integer", "enum": list(range(1, items + 1))}}
        rows = {
            "type": "array",
            "items": _object({**number, **reasons, **ratings}),
            "minItems": items,
            "maxItems": items,
        }
        return _object({"ratings": rows})

    def _messages(self, items: Sequence[Request]) -> tuple[Message, ...]:
        sources = [_source(item) for item in items]
        fence = fence_for([*sources, *(item.output for item in items)]) if self.fence else ""

        def text(words: str) -> str:
            return f"{fence}\n{words}\n{fence}" if fence else words

        lines = [
            _fill(self.each, {"number": str(number), "output": text(item.output)})
            for number, item in enumerate(items, 1)
        ]
        words = {
            "source": text(sources[0]),
            "output": text(items[0].output),
            "outputs": "\n".join(lines),
            "first": text(items[0].output),
            "second": text(items[-1].output),
            "count": str(len(items)),
            "style": dict(self.styles).get(items[0].style, items[0].style),
            "language": LANGUAGES.get(items[0].language, items[0].language),
            "fence": fence,
        }
        roles: tuple[tuple[Role, str], ...] = (("system", self.system), ("user", self.user))
        return tuple(Message(role, _fill(said, words)) for role, said in roles if said)

    def _check(self, items: Sequence[Request]) -> None:
        wanted = {"item": 1, "pair": 2}.get(self.unit)
        if not items or (wanted and len(items) != wanted):
            takes = {"item": "one rewrite", "pair": "two rewrites"}.get(self.unit, "some rewrites")
            raise Unfit(
                f"prompt {self.name} asks about {takes} at a time, and not about {len(items)}; "
                f"hand it units of this size"
            )
        facts = {
            "source": {_source(item) for item in items},
            "target style": {item.style for item in items},
            "language": {item.language for item in items},
        }
        for what, values in facts.items():
            if len(values) > 1:
                raise Unfit(
                    f"prompt {self.name} asks about rewrites of one {what} at a time; "
                    f"group the items by {what}"
                )
        first = items[0]
        if self.languages and first.language not in self.languages:
            raise Unfit(
                f"prompt {self.name} is made for {', '.join(self.languages)} and not for "
                f"{first.language!r}; use another prompt, or a copy with this language added"
            )
        known = dict(self.styles)
        if self.only_styles and first.style not in known:
            raise Unfit(
                f"prompt {self.name} knows the target styles {', '.join(known)} and not "
                f"{first.style!r}; use another prompt, or a copy with this style added"
            )


def names() -> list[str]:
    """The shipped prompts, in alphabetical order."""
    return sorted(_shipped())


def load(name: str) -> Prompt:
    """A shipped prompt by name, or your own from a file whose name ends with ``.toml``.

    Raises:
        TstmetaError: there is no such prompt or file.
        DataError: the file has faults; each is listed with its field and the remedy.
    """
    from . import promptfile

    if str(name).endswith(".toml"):
        return promptfile.read(Path(name))
    if name not in _shipped():
        raise TstmetaError(
            f"no prompt is called {name!r}; use {', '.join(names())}, "
            f"or the path of a file that ends with .toml"
        )
    return promptfile.parse(_shipped()[name], name, f"{name}.toml")


@cache
def _shipped() -> Mapping[str, str]:
    """Name -> TOML text."""
    folder = files(__package__).joinpath("prompts")
    return {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }


def fence_for(texts: Sequence[str]) -> str:
    """A line of ``=`` that is longer than any run of ``=`` in the texts, and at least four."""
    runs = (len(run) for text in texts for run in re.findall("=+", text))
    return "=" * max(4, max(runs, default=0) + 1)


def _source(item: Request) -> str:
    """The text that was rewritten; what it is compared with, where the source is not given."""
    return item.source or (item.against[0] if item.against else "")


def _fill(template: str, words: Mapping[str, str]) -> str:
    """Put words into slots in one pass, so that a slot inside a text stays what it is."""
    return SLOT.sub(lambda slot: words.get(slot[1], slot[0]), template)


def _rating(low: float, high: float) -> dict[str, Any]:
    if not (float(low).is_integer() and float(high).is_integer()):
        return {"type": "number", "minimum": low, "maximum": high}
    if high - low < _LISTED:
        return {"type": "integer", "enum": list(range(int(low), int(high) + 1))}
    return {"type": "integer", "minimum": int(low), "maximum": int(high)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """All properties and no others, as servers that enforce a schema strictly ask for."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
