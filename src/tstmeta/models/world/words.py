"""The lexicon of the small world, read once, and the kinds of fact that a slot can hold."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from .draws import Draws, is_held_out


class Verb(NamedTuple):
    """The plain, the formal and the informal verb, and the kinds of thing it can be done to."""

    plain: str
    formal: str
    informal: str
    objects: tuple[str, ...]


class Mood(NamedTuple):
    """Adjectives of one aspect from bad to good; the light rewrites are the two in the middle."""

    bad: tuple[str, ...]
    mild_bad: tuple[str, ...]
    mild_good: tuple[str, ...]
    good: tuple[str, ...]


@cache
def lexicon() -> dict:
    """``lexicon.toml`` as it stands."""
    return tomllib.loads(files(__package__).joinpath("lexicon.toml").read_text(encoding="utf-8"))


def _rows(table: str) -> list[list[str]]:
    return [line.split("|") for line in lexicon()[table]["lines"].strip().splitlines()]


@cache
def verbs() -> tuple[Verb, ...]:
    """All verbs."""
    return tuple(
        Verb(plain, formal, informal, tuple(objects.split()))
        for plain, formal, informal, objects in _rows("verbs")
    )


@cache
def moods() -> tuple[Mood, ...]:
    """All aspects that a thing can be praised or blamed for."""
    return tuple(Mood(*(tuple(cell.split(", ")) for cell in row)) for row in _rows("moods"))


@cache
def feelings() -> tuple[tuple[str, ...], ...]:
    """Verbs of liking, from strong bad over mild bad and mild good to strong good."""
    return tuple(tuple(row) for row in _rows("feelings"))


@cache
def synonyms() -> dict[str, str]:
    """Neutral words and what may stand for them in a paraphrase, both ways."""
    rows = _rows("synonyms")
    return {row[0]: row[1] for row in rows} | {b: a for a, b in rows}


@cache
def rude(kind: str) -> tuple[str, ...]:
    """Insults, ``adjectives`` or ``nouns``; mild ones."""
    return tuple(lexicon()["rude"][kind].split())


@cache
def every(kind: str) -> tuple[str, ...]:
    """All words of a kind, whatever their side of the split."""
    tables = ("closed", "things", "names", "glue")
    words = next(lexicon()[table][kind] for table in tables if kind in lexicon()[table])
    return tuple(word.replace("_", " ") for word in words.split())


@cache
def pool(kind: str, held_out: bool) -> tuple[str, ...]:
    """The words of a kind on one side of the split; closed kinds are whole on both sides."""
    words = every(kind)
    if kind in lexicon()["closed"] or kind in lexicon()["glue"]:
        return words
    return tuple(word for word in words if is_held_out(word) == held_out)


def fact(kind: str, draws: Draws) -> str:
    """A fact of a kind: person, family, town, street, clock, digits, number, or a pool's word."""
    made = _MADE.get(kind)
    return made(draws) if made else draws.pick(kind, pool(kind, draws.held_out))


def _on_its_side(draws: Draws, make) -> str:
    """The first name made from the draws that belongs to their side of the split."""
    attempts = (make(draws.below(str(attempt))) for attempt in range(1000))
    return next(name for name in attempts if is_held_out(name) == draws.held_out)


def _compound(draws: Draws) -> str:
    return draws.pick("prefix", every("prefix")) + draws.pick("suffix", every("suffix"))


def _syllables(draws: Draws) -> str:
    parts = [
        draws.pick(f"{part}{place}", every(part))
        for place in range(1 + draws.number("length", 2))
        for part in ("onset", "vowel", "coda")
    ]
    return "".join(parts).capitalize()


def _person(draws: Draws) -> str:
    if draws.chance("invented", 0.35):
        return _on_its_side(draws, _syllables)
    return draws.pick("first", pool("first", draws.held_out))


def _street(draws: Draws) -> str:
    first = draws.pick("of", [every("prefix"), every("first")])
    stem = _on_its_side(draws, lambda d: d.pick("stem", first))
    return f"{stem} {draws.pick('street', every('street'))}"


def _clock(draws: Draws) -> str:
    hour = draws.pick("hour", every("hour"))
    minutes = 5 * draws.number("minutes", 12)
    forms = [
        hour,
        f"{hour} o'clock",
        f"half past {hour}",
        f"{draws.pick('to', ['quarter past', 'quarter to'])} {hour}",
        f"{1 + draws.number('digit', 12)}:{minutes:02d}",
        f"{1 + draws.number('digit', 12)}:{minutes:02d}",
        draws.pick("part", ["noon", "midnight", "lunchtime", "sunset", "dawn"]),
    ]
    return draws.pick("form", forms)


def _digits(draws: Draws) -> str:
    top = draws.pick("top", (20, 100, 500, 3000))
    return str(2 + draws.number("value", top))


_MADE = {
    "person": _person,
    "family": lambda draws: _on_its_side(draws, _compound),
    "town": lambda draws: _on_its_side(draws, _compound),
    "street": _street,
    "clock": _clock,
    "digits": _digits,
}

_DOUBLED = {"swap", "grab", "flog", "stop", "nod", "skip", "run"}
_IRREGULAR = (
    "send:sent bring:brought buy:bought sell:sold lend:lent give:gave take:took keep:kept "
    "find:found lose:lost build:built show:showed write:wrote read:read put:put set:set "
    "leave:left go:went get:got run:ran be:was hide:hid break:broke dig:dug hang:hung "
    "burn:burned cancel:cancelled knock:knocked kick:kicked do:did"
)
_PAST = {pair.split(":")[0]: pair.split(":")[1] for pair in _IRREGULAR.split()}


def past(verb: str) -> str:
    """The simple past of a verb phrase, whose first word is the verb."""
    word, _, rest = verb.partition(" ")
    if word in _PAST:
        form = _PAST[word]
    elif word.endswith("e"):
        form = word + "d"
    elif word.endswith("y") and word[-2] not in "aeiou":
        form = word[:-1] + "ied"
    else:
        form = word + (word[-1] if word in _DOUBLED else "") + "ed"
    return f"{form} {rest}".strip()


def third(verb: str) -> str:
    """The third person singular of a verb phrase."""
    word, _, rest = verb.partition(" ")
    form = {"be": "is", "do": "does", "go": "goes"}.get(word) or plural(word)
    return f"{form} {rest}".strip()


def plural(noun: str) -> str:
    """The regular plural; a loaf is several loaves."""
    if noun == "loaf":
        return "loaves"
    if noun.endswith(("s", "x", "ch", "sh", "ss")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
