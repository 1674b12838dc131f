"""Words of the small world: how they are chosen, the lists of ``words.yaml``, facts, inflection.

A choice depends on a seed and on the name of what is chosen, on nothing else.  So two texts from
the same choices differ only where their content differs: a rewrite and its twin with one error
share every other word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import yaml

from experiments.training.splits import hashed

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """Choices under a seed; ``held_out`` picks the side of the split that words come from."""

    seed: str
    held_out: bool = False

    def number(self, name: str, limit: int) -> int:
        """A whole number in [0, limit)."""
        return hashed(f"{self.seed}/{name}") % limit

    def pick(self, name: str, options: Sequence[T]) -> T:
        return options[self.number(name, len(options))]

    def chance(self, name: str, share: float) -> bool:
        """True with the probability ``share``."""
        return self.number(name, 1_000_000) < share * 1_000_000

    def below(self, name: str) -> "Choices":
        """Choices of their own for a part, on the same side of the split."""
        return Choices(f"{self.seed}/{name}", self.held_out)


def is_held_out(text: str) -> bool:
    """Whether a content word or a frame is kept for held-out text: one in five, by hash."""
    return hashed(f"side/{text}") % 5 == 0


WORDS, PHRASES = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("words.yaml", "phrases.yaml")
)


class Verb(NamedTuple):
    """The plain, the formal and the informal verb, and the kinds of thing it can be done to."""

    plain: str
    formal: str
    informal: str
    objects: tuple[str, ...]


VERBS = [Verb(*forms, tuple(objects.split())) for *forms, objects in WORDS["verbs"]]
SYNONYMS = dict(WORDS["synonyms"]) | {other: word for word, other in WORDS["synonyms"]}


@cache
def every(kind: str) -> list[str]:
    tables = ("closed", "things", "names", "glue", "rude")
    words = next(WORDS[table][kind] for table in tables if kind in WORDS[table])
    return [word.replace("_", " ") for word in words.split()]


@cache
def pool(kind: str, held_out: bool) -> list[str]:
    """The words of a kind on one side of the split; closed kinds and glue are whole on both."""
    if kind in WORDS["closed"] or kind in WORDS["glue"]:
        return every(kind)
    return [word for word in every(kind) if is_held_out(word) == held_out]


def fact(kind: str, draws: Choices) -> str:
    """A fact of a kind: person, family, town, street, clock, digits, or a word of a pool."""
    invent = _INVENT.get(kind)
    return invent(draws) if invent else draws.pick(kind, pool(kind, draws.held_out))


def _on_its_side(draws: Choices, invent: Callable[[Choices], str]) -> str:
    """The first name that belongs to the draws' side of the split."""
    names = (invent(draws.below(str(attempt))) for attempt in range(1000))
    return next(name for name in names if is_held_out(name) == draws.held_out)


def _syllables(draws: Choices) -> str:
    letters = [
        draws.pick(f"{kind}{place}", every(kind))
        for place in range(1 + draws.number("length", 2))
        for kind in ("onset", "vowel", "coda")
    ]
    return "".join(letters).capitalize()


def _person(draws: Choices) -> str:
    if draws.chance("invented", 0.35):
        return _on_its_side(draws, _syllables)
    return draws.pick("first", pool("first", draws.held_out))


def _place(draws: Choices) -> str:
    def compound(choices: Choices) -> str:
        return choices.pick("prefix", every("prefix")) + choices.pick("suffix", every("suffix"))

    return _on_its_side(draws, compound)


def _street(draws: Choices) -> str:
    stems = draws.pick("of", [every("prefix"), every("first")])
    stem = _on_its_side(draws, lambda choices: choices.pick("stem", stems))
    return f"{stem} {draws.pick('street', every('street'))}"


def _clock(draws: Choices) -> str:
    hour, digit = draws.pick("hour", every("hour")), 1 + draws.number("digit", 12)
    digits = f"{digit}:{5 * draws.number('minutes', 12):02d}"
    quarter = f"{draws.pick('to', ['quarter past', 'quarter to'])} {hour}"
    forms = [hour, f"{hour} o'clock", f"half past {hour}", quarter, digits, digits]
    part = draws.pick("part", ["noon", "midnight", "lunchtime", "sunset", "dawn"])
    return draws.pick("form", [*forms, part])


def _digits(draws: Choices) -> str:
    return str(2 + draws.number("value", draws.pick("top", (20, 100, 500, 3000))))


_INVENT = {"person": _person, "family": _place, "town": _place, "street": _street}
_INVENT |= {"clock": _clock, "digits": _digits}


def past(verb: str) -> str:
    word, _, rest = verb.partition(" ")
    if word in WORDS["past"]:
        form = WORDS["past"][word]
    elif word.endswith("e"):
        form = word + "d"
    elif word.endswith("y") and word[-2] not in "aeiou":
        form = word[:-1] + "ied"
    else:
        form = word + (word[-1] if word in WORDS["doubled"] else "") + "ed"
    return f"{form} {rest}".strip()


def third(verb: str) -> str:
    word, _, rest = verb.partition(" ")
    form = {"be": "is", "do": "does", "go": "goes"}.get(word) or plural(word)
    return f"{form} {rest}".strip()


def plural(noun: str) -> str:
    """The regular plural; a loaf is several loaves."""
    if noun == "loaf":
        return "loaves"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
