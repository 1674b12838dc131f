"""Events: who does what to which thing, and where, when, with whom, for how much and why.

An event is a list of constituents.  Each is a pattern with facts in it, so that one fact can be
changed, a constituent left out or one put in: the three kinds of content error.
"""

from dataclasses import dataclass, replace
from string import Formatter
from typing import NamedTuple

from .words import PHRASES, VERBS, WORDS, Choices, Verb, fact, is_held_out, plural, pool

#: Constituents that can be left out, in the order of the plain sentence.
ADJUNCTS = ("company", "purpose", "price", "place", "time", "reason")
_ORDER = ("subject", "object", "extension", *ADJUNCTS)
_THINGS = ("goods", "objects", "papers")
#: How often a slot is chosen for a substitution, relative to the others.
_WEIGHTS = {"person": 3, "town": 3, "weekday": 4, "clock": 3, "month": 3, "number": 3, "digits": 3}


class Constituent(NamedTuple):
    """A piece of a sentence: its role, its pattern and the facts that fill it."""

    role: str
    pattern: str
    facts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return self.pattern.format(**dict(self.facts))


@dataclass(frozen=True)
class Event:
    verb: Verb
    constituents: tuple[Constituent, ...]

    @property
    def frame(self) -> str:
        """What kind of event it is: the verb and the roles that are filled."""
        return "+".join([self.verb.plain, *(part.role for part in self.constituents)])

    def text(self, role: str) -> str:
        return next((part.text for part in self.constituents if part.role == role), "")

    @property
    def object(self) -> str:
        """What is acted on, with an addition to it if it has one."""
        return f"{self.text('object')} {self.text('extension')}".strip()

    @property
    def several(self) -> bool:
        pattern = next(part.pattern for part in self.constituents if part.role == "object")
        return bool(self.text("extension")) or "things}" in pattern or " and " in pattern

    def roles(self) -> list[str]:
        return [role for role in ADJUNCTS if self.text(role)]


def event(draws: Choices, roles: tuple[str, ...], subject: bool) -> Event:
    """An event on the draws' side of the split, with one to three of the adjuncts ``roles``."""
    for attempt in range(1000):
        choices = draws.below(f"event{attempt}")
        verb = choices.pick("verb", VERBS)
        count = 1 + choices.number("count", 3)
        chosen = sorted(
            roles, key=lambda role, choices=choices: choices.number(f"order-{role}", 1 << 30)
        )
        filled = {"object", *chosen[:count], *(["subject"] if subject else [])}
        drawn = Event(
            verb,
            tuple(
                constituent(role, verb, choices.below(role)) for role in _ORDER if role in filled
            ),
        )
        if is_held_out(drawn.frame) == draws.held_out:
            break
    return drawn


def constituent(role: str, verb: Verb, draws: Choices) -> Constituent:
    pattern = draws.pick("pattern", PHRASES["patterns"][role])
    slots = [slot for _, slot, *_ in Formatter().parse(pattern) if slot]
    return Constituent(role, pattern, tuple((slot, _fill(slot, verb, draws)) for slot in slots))


def _fill(slot: str, verb: Verb, draws: Choices) -> str:
    choices = draws.below(slot)
    if slot == "digit":
        return str(1 + choices.number("day", 28))
    if slot in ("thing", "things", "other", "others"):
        kind = choices.pick("kind", verb.objects if slot.startswith("thing") else _THINGS)
    elif slot == "roles":
        kind = slot
    else:
        return fact(f"{slot}s" if f"{slot}s" in WORDS["things"] else slot, choices)
    noun = choices.pick("noun", pool(kind, draws.held_out))
    return plural(noun) if slot.endswith("s") else noun


# ------------------------------------------------------------------------------- content errors


def spoil(event: Event, error: str, draws: Choices) -> Event | None:
    """The event with one content error; None where the event has no place for that kind."""
    if error == "substitution":
        return _substituted(event, draws)
    if error == "deletion":
        roles = [role for role in event.roles() if len(event.text(role).split()) <= 6]
        if not roles:
            return None
        lost = draws.pick("role", roles)
        rest = tuple(part for part in event.constituents if part.role != lost)
        return replace(event, constituents=rest)
    missing = [role for role in ("company", "purpose", "extension") if not event.text(role)]
    new = constituent(draws.pick("role", missing), event.verb, draws)
    longer = sorted([*event.constituents, new], key=lambda part: _ORDER.index(part.role))
    return replace(event, constituents=tuple(longer))


def _substituted(event: Event, draws: Choices) -> Event:
    places = [
        (number, slot)
        for number, part in enumerate(event.constituents)
        for slot, _ in part.facts
        for _ in range(_WEIGHTS.get(slot, 1))
    ]
    number, slot = draws.pick("place", places)
    changed = list(event.constituents)
    facts = dict(changed[number].facts)
    values = (_fill(slot, event.verb, draws.below(f"new{attempt}")) for attempt in range(1000))
    facts[slot] = next(value for value in values if value != facts[slot])
    changed[number] = changed[number]._replace(facts=tuple(facts.items()))
    return replace(event, constituents=tuple(changed))
