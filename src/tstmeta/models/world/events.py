"""Events: who does what to which thing, and where, when, with whom, for how much and why.

An event is a list of parts.  Each part is a pattern with facts in it, so that one fact can be
changed, a part left out or a part put in: the three kinds of content error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from .draws import Draws, is_held_out
from .words import Verb, fact, plural, pool, verbs

#: Parts that can be left out, in the order of the plain sentence.
ADJUNCTS = ("company", "purpose", "price", "place", "time", "reason")
_PATTERNS = {
    "subject": (
        "{person}",
        "{person} {family}",
        "the {role} from {town}",
        "{person}'s {relative}",
        "the {group} in {town}",
        "the {town} {group}",
        "our {role}",
        "my {relative} {person}",
        "the {venue} in {street}",
    ),
    "object": (
        "the {adjective} {thing}",
        "the {number} {things}",
        "{number} {adjective} {things}",
        "the {thing}",
        "{person}'s {thing}",
        "{digits} {things}",
        "our {adjective} {thing}",
        "the {thing} and the {other}",
        "the {town} {thing}",
    ),
    "extension": (
        "and {number} {others}",
        "and {person}'s {other}",
        "and the {adjective} {other}",
        "and some {others}",
    ),
    "company": (
        "with {person}",
        "with the {role}",
        "together with {person} {family}",
        "with the {group}",
        "with {number} {roles}",
    ),
    "purpose": (
        "for {person}",
        "for the {event}",
        "for the {group}",
        "for my {relative}",
        "for the {town} {event}",
    ),
    "price": (
        "for {number} pounds",
        "for {digits} dollars",
        "for {digits} euros",
        "at half price",
    ),
    "place": (
        "in {town}",
        "at the {venue}",
        "at the {venue} in {street}",
        "outside the {venue}",
        "behind the {venue} in {town}",
        "at {person}'s {venue}",
        "near the {town} {venue}",
        "in {street}",
    ),
    "time": (
        "on {weekday}",
        "on {weekday} at {clock}",
        "before {clock}",
        "after {clock}",
        "in {month}",
        "every {weekday}",
        "by {clock} on {weekday}",
        "until {month}",
        "on {digit} {month}",
        "next {weekday}",
        "on {weekday} evening",
    ),
    "reason": (
        "because the {thing} is {state}",
        "because {person} has the {event}",
        "because the {venue} is {state}",
        "because {person}'s {thing} is {state}",
    ),
}


class Part(NamedTuple):
    """A piece of a sentence: its role, its pattern and the facts that fill it."""

    role: str
    pattern: str
    facts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The words."""
        return self.pattern.format(**dict(self.facts))


@dataclass(frozen=True)
class Event:
    """A verb and its parts; ``frame`` names which patterns are combined, without the facts."""

    verb: Verb
    parts: tuple[Part, ...]

    @property
    def frame(self) -> str:
        """What kind of event it is: the verb and the roles that are filled."""
        return "+".join([self.verb.plain, *(part.role for part in self.parts)])

    def text(self, role: str) -> str:
        """The words of one part, empty where it is missing."""
        return next((part.text for part in self.parts if part.role == role), "")

    @property
    def object(self) -> str:
        """What is acted on, with an addition to it if there is one."""
        return f"{self.text('object')} {self.text('extension')}".strip()

    @property
    def several(self) -> bool:
        """Whether the object is plural."""
        pattern = next(part.pattern for part in self.parts if part.role == "object")
        return bool(self.text("extension")) or "things}" in pattern or " and " in pattern

    def roles(self) -> list[str]:
        """The adjuncts that are there, in their plain order."""
        there = {part.role for part in self.parts}
        return [role for role in ADJUNCTS if role in there]


def event(draws: Draws, roles: tuple[str, ...] = ADJUNCTS, subject: bool = True) -> Event:
    """An event whose frame and words are on the draws' side of the split.

    ``roles`` are the adjuncts that the kind of sentence has a place for; one to three are filled.
    An order has no ``subject``.
    """
    for attempt in range(1000):
        here = draws.below(f"event{attempt}")
        verb = here.pick("verb", verbs())
        count = 1 + here.number("count", 3)
        chosen = sorted(roles, key=lambda role: here.number(f"order-{role}", 1 << 30))[:count]
        made = Event(verb, ())
        kinds = [*["subject"] * subject, "object", *(role for role in ADJUNCTS if role in chosen)]
        made = replace(made, parts=tuple(part(kind, verb, here.below(kind)) for kind in kinds))
        if is_held_out(made.frame) == draws.held_out:
            break
    return made


def part(role: str, verb: Verb, draws: Draws) -> Part:
    """A new part of a role."""
    pattern = draws.pick("pattern", _PATTERNS[role])
    return Part(role, pattern, tuple((slot, _fill(slot, verb, draws)) for slot in slots(pattern)))


def slots(pattern: str) -> list[str]:
    """The names between braces."""
    return [piece.split("}")[0] for piece in pattern.split("{")[1:]]


def _fill(slot: str, verb: Verb, draws: Draws) -> str:
    here = draws.below(slot)
    if slot in ("thing", "things", "other", "others"):
        kind = here.pick("kind", verb.objects if slot.startswith("thing") else _THINGS)
        noun = here.pick("noun", pool(kind, draws.held_out))
        return plural(noun) if slot.endswith("s") else noun
    if slot == "roles":
        return plural(here.pick("noun", pool("roles", draws.held_out)))
    if slot == "digit":
        return str(1 + here.number("day", 28))
    return fact(_KINDS.get(slot, slot), here)


_THINGS = ("goods", "objects", "papers")
_KINDS = {
    "role": "roles",
    "relative": "relatives",
    "group": "groups",
    "venue": "venues",
    "event": "events",
    "state": "states",
    "adjective": "adjectives",
}

# ------------------------------------------------------------------------------ content errors

#: Slots whose change changes the fact, and how often each is chosen, relative to the others.
_WEIGHTS = {"person": 3, "town": 3, "weekday": 4, "clock": 3, "month": 3, "number": 3, "digits": 3}


def spoil(made: Event, error: str, draws: Draws) -> Event | None:
    """The event with one content error; None where the event has no place for that kind.

    Args:
        made: the event.
        error: ``substitution``, ``deletion`` or ``insertion``.
        draws: choices of the place and the new words.
    """
    if error == "substitution":
        return _substituted(made, draws)
    if error == "deletion":
        roles = [role for role in made.roles() if len(made.text(role).split()) <= 6]
        if not roles:
            return None
        gone = draws.pick("role", roles)
        return replace(made, parts=tuple(part for part in made.parts if part.role != gone))
    missing = [role for role in ("company", "purpose", "extension") if not made.text(role)]
    new = part(draws.pick("role", missing), made.verb, draws)
    order = ["subject", "object", "extension", *ADJUNCTS]
    parts = sorted([*made.parts, new], key=lambda piece: order.index(piece.role))
    return replace(made, parts=tuple(parts))


def _substituted(made: Event, draws: Draws) -> Event:
    places = [
        (number, slot)
        for number, piece in enumerate(made.parts)
        for slot, _ in piece.facts
        for _ in range(_WEIGHTS.get(slot, 1))
    ]
    number, slot = draws.pick("place", places)
    old = made.parts[number]
    facts = dict(old.facts)
    for attempt in range(1000):
        value = _fill(slot, made.verb, draws.below(f"new{attempt}"))
        if value != facts[slot]:
            break
    facts[slot] = value
    parts = list(made.parts)
    parts[number] = old._replace(facts=tuple(facts.items()))
    return replace(made, parts=tuple(parts))
