"""Prompts as data: what a judge is asked, on which scale, and how its answer is read.

The shipped ones stand in ``prompts/``; yours is a file of the same form, which
``book/howto_judges.md`` shows.  Texts that are judged are data, and so is the name of a style:
unless ``fence = false``, each stands between two lines of a fence that it cannot close.  Published
prompts keep their words, which put them in bare.
"""

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ValidationError, model_validator

from ..data.paths import regular
from ..metrics.base import Request
from ..schema import DataError, Problem, TstmetaError
from .base import Message, Question, Sampling

#: Counts up with a release that fills slots, or reads answers, in another way: it is part of every
#: hash, one more for a fence, which has the style in it since then.
RULES = 3
#: A slot is a name in braces; other braces, as of an example in JSON, are words like any other.
SLOT = re.compile(r"\{([a-z_]+)\}")
_TEXT = r"\{(?:source|outputs?|first|second|style|opposite)\}"
#: A language, and a script and a region at most: longer, it could be a sentence.
CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?")
#: How instructions in English name a language; a code that is not here goes in as it is.
LANGUAGES = {"en": "English", "de": "German", "fr": "French", "it": "Italian", "pt": "Portuguese"}
LANGUAGES |= {"bn": "Bengali", "hi": "Hindi", "mag": "Magahi"}
#: Scales with at most so many ratings are listed one by one in a schema: every server knows that.
_LISTED = 21
_FOLDER = files(__package__).joinpath("prompts")
#: Slots that a user message must have, by unit.
_MUST = {"item": {"output"}, "source": {"outputs"}, "pair": {"first", "second"}}
#: What does not change a message or its reading, and so stays out of the hash.
_BESIDE = {"name", "origin", "cites", "about", "models", "sampling", "scale"}
_OTHER = "use another prompt, or a copy with it added"


class Prompt(BaseModel, frozen=True, extra="forbid"):
    """What a judge is asked.

    Attributes:
        origin: ``published``: the words that a paper or its program gives as its parameter;
            ``ours``; ``yours``.
        cites, models: keys of ``book/references.bib``, and the ids of models that papers asked.
        scale: its ends; 0 and 1 where the answer is a word.
        only_styles: no other style than those of ``styles`` can be asked for.
        explain: an answer in JSON has an ``explanation`` too, before the ratings; one in labels,
            after them.
    """

    name: str
    origin: Literal["published", "ours", "yours"] = "yours"
    cites: tuple[str, ...] = ()
    about: str
    unit: Literal["item", "source", "pair"]
    dimensions: tuple[Literal["content", "style", "fluency", "overall", "structure"], ...]
    scale: tuple[float, float]
    answer: Literal["json", "labels", "number", "yes-no", "first"]
    languages: tuple[str, ...] = ()
    sampling: Sampling = Sampling()
    models: tuple[str, ...] = ()
    user: str
    system: str = ""
    each: str = "{number}. {output}"
    keys: dict[str, str] = {}
    styles: dict[str, str] = {}
    opposites: dict[str, str] = {}
    only_styles: bool = False
    fence: bool = True
    explain: bool = False

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if faults := list(self._faults()):
            raise ValueError("; ".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        if not self.dimensions or len(set(self.dimensions)) < len(self.dimensions):
            yield "dimensions: name each that is rated once"
        is_word = self.answer in ("yes-no", "first")
        low, high = self.scale
        if not 0 <= low < high < math.inf or (is_word and self.scale != (0, 1)):
            yield "scale: two numbers from 0 on, such as [1, 5]; [0, 1] where the answer is a word"
        keys = [key.strip().casefold() for key in self.keys.values()]
        has_keys = self.answer in ("json", "labels")
        if has_keys and set(self.keys) != set(self.dimensions):
            yield "keys: below a line [keys], name the key of each dimension, and of no other"
        if len({"", "number", "explanation", "ratings", *keys}) < 4 + len(keys):
            yield "keys: give each dimension a word of its own, not number or explanation"
        several = len(self.dimensions) > 1 or self.unit == "source" or self.explain
        if several and not has_keys:
            yield "answer: only 'json' and 'labels' hold several ratings, or an explanation"
        if (self.unit == "pair") != (self.answer == "first"):
            yield "answer: pairs, and only pairs, answer 'first'"
        if self.answer == "labels" and self.unit != "source":
            yield "answer: 'labels' stand below the number of each output: unit = \"source\""
        slots, must = set(SLOT.findall(self.user + self.system)), _MUST[self.unit]
        known = must | {"source", "style", "language", "fence"}
        known |= {"opposite"} if self.opposites else set()
        known |= {"count"} if self.unit == "source" else set()
        if unknown := sorted(slots - known):
            yield f"user, system: no slot {{{unknown[0]}}} here; use {', '.join(sorted(known))}"
        if lacking := sorted(must - set(SLOT.findall(self.user))):
            yield f"user: say where {{{lacking[0]}}} goes"
        if set(SLOT.findall(self.each)) != {"number", "output"}:
            yield "each: a line with {number} and {output}"
        if self.fence and "fence" not in slots:
            yield "user: say that texts between lines {fence} are data, or write fence = false"

    @property
    def hash(self) -> str:
        """12 hexadecimal digits of the SHA-256 of all that changes a message or its reading."""
        facts = self.model_dump(exclude=_BESIDE)
        facts |= {"rules": RULES + self.fence, "low": self.scale[0], "high": self.scale[1]}
        facts |= {name: sorted(facts[name].items()) for name in ("keys", "styles", "opposites")}
        facts = {name: fact for name, fact in facts.items() if fact or name != "opposites"}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]

    def question(self, items: Sequence[Request], sample: int = 0) -> Question:
        """The request for one unit.

        Args:
            items: one rewrite for unit ``item``; all outputs of one source, in the order in which
                they are numbered from 1, for unit ``source``; two rewrites for unit ``pair``.
            sample: which of several answers, from 0; a seed goes up with it.
        """
        self._check(items)
        how = self.sampling
        if how.seed is not None:  # else a server that takes seeds would say the same each time
            how = replace(how, seed=how.seed + sample)
        return Question(self._messages(items), self.answer_schema(len(items)), how, sample)

    def answer_schema(self, items: int = 1) -> dict[str, Any] | None:
        """The JSON schema of an answer about so many items; None where the answer is no JSON."""
        if self.answer != "json":
            return None
        ratings = {self.keys[name]: _rating(*self.scale) for name in self.dimensions}
        reasons = {"explanation": {"type": "string"}} if self.explain else {}
        if self.unit != "source":
            return object_schema({**reasons, **ratings})
        number = {"number": {"type": "integer", "enum": list(range(1, items + 1))}}
        rows = {
            "type": "array",
            "items": object_schema({**number, **reasons, **ratings}),
            "minItems": items,
            "maxItems": items,
        }
        return object_schema({"ratings": rows})

    def _messages(self, items: Sequence[Request]) -> tuple[Message, ...]:
        # what the rewrite is compared with stands in where the source is not given
        source = items[0].source or "".join(items[0].against[:1])
        style = self.styles.get(items[0].style, items[0].style)
        opposite = self.opposites.get(items[0].style, items[0].style)
        texts = [source, style, opposite, *(item.output for item in items)]
        fence = fence_for(texts) if self.fence else ""

        def text(words: str) -> str:
            return f"{fence}\n{words}\n{fence}" if fence else words

        lines = [
            _fill(self.each, {"number": str(number), "output": text(item.output)}, fence)
            for number, item in enumerate(items, 1)
        ]
        words = {
            "source": text(source),
            "output": text(items[0].output),
            "outputs": "\n".join(lines),
            "first": text(items[0].output),
            "second": text(items[-1].output),
            "count": str(len(items)),
            "style": text(style),
            "opposite": text(opposite),
            "language": LANGUAGES.get(items[0].language, items[0].language),
            "fence": fence,
        }
        turns = [Message("system", self.system), Message("user", self.user)]
        return tuple(Message(role, _fill(text, words, fence)) for role, text in turns if text)

    def _check(self, items: Sequence[Request]) -> None:
        item, why = items[0], ""
        if len({(item.source, item.against, item.style, item.language) for item in items}) > 1:
            why = "asks about rewrites of one source into one style and language; group them so"
        elif "{style}" in self.system + self.user and not item.style.strip():
            why = "asks about a target style, and there is none; name it in the column style"
        elif "{language}" in self.system + self.user and not CODE.fullmatch(item.language):
            why = f"names the language, and {item.language!r} is no code such as en or pt-BR"
        elif self.languages and item.language not in self.languages:
            why = f"is made for {', '.join(self.languages)} and not for {item.language!r}; {_OTHER}"
        elif self.only_styles and item.style not in self.styles:
            styles = ", ".join(sorted(self.styles))
            why = f"knows the target styles {styles} and not {item.style!r}; {_OTHER}"
        if why:
            raise TstmetaError(f"prompt {self.name} {why}")


def names() -> list[str]:
    """The shipped prompts, in alphabetical order."""
    return sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir())


def load(name: str) -> Prompt:
    """A shipped prompt by name, or your own from a file whose name ends with ``.toml``."""
    is_file = name.endswith(".toml")
    if not is_file and name not in names():
        raise TstmetaError(
            f"no prompt is called {name!r}; use {', '.join(names())}, "
            f"or the path of a file that ends with .toml"
        )
    file = regular(Path(name)) if is_file else _FOLDER.joinpath(f"{name}.toml")
    try:
        return parse(file.read_text(encoding="utf-8-sig"), file.name[:-5], str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise TstmetaError(f"cannot read a prompt from {name}: {error}") from error


def parse(text: str, name: str, where: str) -> Prompt:
    """A prompt from the text of a file; ``where`` is what messages call it."""
    try:
        return Prompt.model_validate({**tomllib.loads(text), "name": name})
    except ValidationError as error:
        faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
    except (ValueError, RecursionError) as error:  # of numbers and nesting without end, too
        faults = [("", f"no TOML: {error}")]
    remedy = "see the form of a prompt on the page Ask a judge (book/howto_judges.md)"
    raise DataError([Problem(where, what, None, field, remedy) for field, what in faults])


def fence_for(texts: Sequence[str]) -> str:
    """A line of ``=`` that is longer than any run of ``=`` in the texts, and at least four."""
    runs = (len(run) for text in texts for run in re.findall("=+", text))
    return "=" * max(4, max(runs, default=0) + 1)


def _fill(template: str, words: Mapping[str, str], fence: str) -> str:
    """Fill slots in one pass, so that a slot inside a text stays what it is."""
    if fence:  # which has lines of its own
        template = re.sub(rf"(?<=[^\n])(?={_TEXT})", "\n", template)
        template = re.sub(rf"({_TEXT})(?=[^\n])", r"\1\n", template)
    return SLOT.sub(lambda slot: words.get(slot[1], slot[0]), template)


def _rating(low: float, high: float) -> dict[str, Any]:
    if not (low.is_integer() and high.is_integer()):
        return {"type": "number", "minimum": low, "maximum": high}
    if high - low < _LISTED:
        return {"type": "integer", "enum": list(range(int(low), int(high) + 1))}
    return {"type": "integer", "minimum": int(low), "maximum": int(high)}


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """All properties and no others, as servers that enforce a schema strictly ask for."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
