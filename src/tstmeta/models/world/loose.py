"""Texts without grammar: what the model learns to copy, and what it learns to change freely.

A grammar has few words.  So that copying generalises, the model also repeats strings of random
words, and rewrites strings in which facts (names, numbers, things) stay and glue (function words,
verbs, adjectives, adverbs) changes.
"""

from __future__ import annotations

from .draws import Draws
from .words import every, fact, pool

_FACTS = ("person", "family", "town", "street", "clock", "digits", "number", "weekday", "month")
_NOUNS = ("goods", "objects", "papers", "events", "venues", "roles", "groups", "relatives")
_GLUE = ("function", "function", "function", "verb", "quality", "manner")


def fact_words(draws: Draws) -> str:
    """One fact: a name, a number, a time or a thing with its determiner."""
    if draws.chance("name", 0.5):
        return fact(draws.pick("kind", _FACTS), draws)
    noun = draws.pick("noun", pool(draws.pick("nouns", _NOUNS), draws.held_out))
    return f"{draws.pick('determiner', ('the', 'the', 'my', 'our', 'your', 'this'))} {noun}"


def glue_words(draws: Draws, most: int) -> str:
    """One to ``most`` words that say no fact."""
    count = 1 + draws.number("count", most)
    words = (
        draws.pick(f"word{place}", every(draws.pick(f"kind{place}", _GLUE)))
        for place in range(count)
    )
    return " ".join(words)


def mixture(draws: Draws, most: int = 6) -> tuple[str, str]:
    """Two strings with the same facts in the same or another order, and each with its own glue."""
    count = 1 + draws.number("facts", most)
    facts = [fact_words(draws.below(f"fact{place}")) for place in range(count)]
    moved = list(facts)
    if draws.chance("moved", 0.5):
        at = draws.number("at", count)
        moved = moved[at:] + moved[:at]
    return _joined(facts, draws.below("one")), _joined(moved, draws.below("two"))


def _joined(facts: list[str], draws: Draws) -> str:
    pieces = []
    for place, words in enumerate(facts):
        here = draws.below(f"glue{place}")
        if here.chance("there", 0.8):
            pieces.append(glue_words(here, 4))
        pieces.append(words + ("," if here.chance("comma", 0.1) else ""))
    if draws.chance("after", 0.4):
        pieces.append(glue_words(draws.below("after"), 3))
    text = " ".join(pieces)
    return text[0].upper() + text[1:] + draws.pick("end", (".", ".", "!", "?", ""))


def jumble(draws: Draws, most: int = 40) -> str:
    """Random words of every kind, with names and numbers, in no order."""
    count = 3 + draws.number("count", most - 2)
    kinds = (*_NOUNS, *_FACTS, *_GLUE)
    here = (draws.below(str(place)) for place in range(count))
    return " ".join(fact(draw.pick("kind", kinds), draw) for draw in here)
