"""Training conversations: an instruction and the text that answers it, drawn when asked for.

Example ``i`` under a seed is always the same, so a run needs no stored data.  A grammar has few
words: so that copying generalises, the model also repeats strings of random words, and rewrites
strings in which facts (names, numbers, things) stay and glue (function words, verbs, ...) changes.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tstmeta.likelihood.instructions import Instructions

from .scenes import ALL_TASKS, LEVELS, WORDINGS, Scene, capital, scene
from .words import PHRASES, SYNONYMS, Choices, every, fact, pool

_FACTS = ("person", "family", "town", "street", "clock", "digits", "number", "weekday", "month")
_NOUNS = ("goods", "objects", "papers", "events", "venues", "roles", "groups", "relatives")
_GLUE = ("function", "function", "function", "verb", "quality", "manner")
#: Scenes of each task from which the tokenizer learns.
_TOKENIZED = 400


class Example(NamedTuple):
    """What stands before the answer, and the answer; ``bare``: no newlines between them."""

    system: str
    user: str
    output: str
    task: str
    bare: bool


def example(
    seed: str, prompts: Sequence[Instructions], held_out: bool = False, systems: bool = True
) -> Example:
    """The conversation of a seed, with words and frames of one side of the split."""
    draws = Choices(seed, held_out)
    prompt = draws.pick("prompts", [prompts[0], *prompts])
    task = draws.pick("kind", ("repeat",) * 3 + ("paraphrase",) * 2 + ("style",) * 5)
    source, output, style = _TASKS[task](draws.below(task))
    # so that case is no clue
    case = draws.pick("case", ("as it is",) * 17 + ("lower", "title", "upper"))
    if case != "as it is":
        source, output = getattr(source, case)(), getattr(output, case)()
    users = dict(zip(("style", "paraphrase", "repeat"), prompt.fill(source, style), strict=True))
    other = draws.pick("other", prose())
    system = draws.pick("system", (prompt.system,) * 5 + ("",) * 4 + (other,)) if systems else ""
    return Example(system, users[task], output, task, draws.chance("bare", 0.15))


@cache
def prose() -> tuple[str, ...]:
    return tuple(Path(__file__).with_name("prose.txt").read_text(encoding="utf-8").splitlines())


# ------------------------------------------------------------------------------------- the tasks


def _repeat(draws: Choices) -> tuple[str, str, str]:
    text = any_text(draws)
    return text, text, ""


def _paraphrase(draws: Choices) -> tuple[str, str, str]:
    if draws.chance("free", 0.35):
        text = any_text(draws)
        return text, reworded(text, draws), ""
    drawn = _scene(draws)
    arrangement = f"/{draws.number('other', 1000)}"
    return drawn.source, drawn.tell("source", arrangement=arrangement), ""


def _style(draws: Choices) -> tuple[str, str, str]:
    kind = draws.pick("kind", ("strong",) * 5 + ("light",) * 3 + ("dressed",) + ("mixture",))
    if kind in ("strong", "light"):
        drawn = _scene(draws)
        return drawn.source, drawn.tell(kind), drawn.style
    task = draws.pick("task", ALL_TASKS)
    style = draws.pick("wording", WORDINGS[task])
    if kind == "mixture":
        return *mixture(draws.below("mixture")), style
    text = any_text(draws)
    return text, dressed(text, task, style, draws), style


_TASKS = {"repeat": _repeat, "paraphrase": _paraphrase, "style": _style}


def _scene(draws: Choices) -> Scene:
    return scene(draws.below("scene").seed, draws.pick("task", ALL_TASKS), draws.held_out)


def reworded(text: str, draws: Choices) -> str:
    """The text with a neutral word or two exchanged, or its clauses in another order."""
    words = [
        SYNONYMS.get(word, word) if draws.chance(f"word{at}", 0.7) else word
        for at, word in enumerate(text.split(" "))
    ]
    text = " ".join(words)
    first, comma, rest = text.partition(", ")
    if comma and "," not in rest and rest[-1:] == "." and draws.chance("order", 0.5):
        return capital(rest[:-1]) + ", " + first[0].lower() + first[1:] + "."
    return text


def dressed(text: str, task: str, style: str, draws: Choices) -> str:
    """Any text with what the style puts before or after it, and no other change."""
    starts, ends = (
        {name: draws.pick(place, options) for name, options in PHRASES["phrases"].items()}
        for place in ("start", "end")
    )
    bare = text.rstrip(".!? ")
    small = bare[:1].lower() + bare[1:]
    before, after, mark = starts["please"]
    slogans = (f"{starts['look']}{small}!", f"{bare}: {ends['catches']}!")
    mood = "happy" if style == "positive" else "unhappy"
    forms = {
        "sentiment": f"{bare}{ends[mood]}.",
        "detoxify": capital(f"{starts['regret']} {small}."),
        "catchy": capital(draws.pick("form", slogans)),
        "polite": capital(f"{before}{small}{after}{mark}"),
        "persuasive": f"{starts['imagine']} {bare}!{ends['now']}",
        "formal": capital(f"{starts['official']} {small}."),
        "informal": f"{starts['chatty']}{small}{ends['later']}",
    }
    return forms.get(task, f"{bare}.")


# ------------------------------------------------------------------------- texts without grammar


def any_text(draws: Choices) -> str:
    """Something to copy: the grammar, prose, or words at random."""
    kind = draws.pick("text", ("scene", "scene", "prose", "mixture", "jumble", "shuffled"))
    if kind == "scene":
        return _scene(draws).tell(draws.pick("level", LEVELS))
    if kind == "prose":
        return draws.pick("prose", prose())
    if kind == "mixture":
        return mixture(draws.below("mixture"))[0]
    return jumble(draws.below("jumble")) if kind == "jumble" else _shuffled(draws)


def _shuffled(draws: Choices) -> str:
    """Pieces of words in disorder: text that no reader can foresee."""
    text = draws.pick("one", prose()) + " " + draws.pick("two", prose())
    pieces = [piece for piece in re.findall(r"\S{1,4}|\s", text) if piece != " "]
    order = sorted(range(len(pieces)), key=lambda at: draws.number(f"at{at}", 1 << 40))
    chosen = [pieces[at] for at in order[: 5 + draws.number("length", 40)]]
    spaces = (" " * draws.chance(f"space{at}", 0.6) for at in range(len(chosen)))
    return "".join(piece + space for piece, space in zip(chosen, spaces, strict=True)).strip()


def jumble(draws: Choices) -> str:
    """3 to 41 random words of every kind, with names and numbers, in no order."""
    words = (draws.below(str(place)) for place in range(3 + draws.number("count", 38)))
    return " ".join(
        fact(choices.pick("kind", (*_NOUNS, *_FACTS, *_GLUE)), choices) for choices in words
    )


def mixture(draws: Choices) -> tuple[str, str]:
    """Two strings with the same facts in the same or another order, and each with its own glue."""
    count = 1 + draws.number("facts", 6)
    facts = [fact_words(draws.below(f"fact{place}")) for place in range(count)]
    at = draws.number("at", count) if draws.chance("moved", 0.5) else 0
    moved = facts[at:] + facts[:at]
    return _glued(facts, draws.below("one")), _glued(moved, draws.below("two"))


def fact_words(draws: Choices) -> str:
    if draws.chance("name", 0.5):
        return fact(draws.pick("kind", _FACTS), draws)
    noun = draws.pick("noun", pool(draws.pick("nouns", _NOUNS), draws.held_out))
    return f"{draws.pick('determiner', ('the', 'the', 'my', 'our', 'your', 'this'))} {noun}"


def _glued(facts: Sequence[str], draws: Choices) -> str:
    pieces = []
    for place, words in enumerate(facts):
        choices = draws.below(f"glue{place}")
        if choices.chance("there", 0.8):
            pieces.append(_glue(choices, 4))
        pieces.append(words + ("," if choices.chance("comma", 0.1) else ""))
    if draws.chance("after", 0.4):
        pieces.append(_glue(draws.below("after"), 3))
    return capital(" ".join(pieces)) + draws.pick("end", (".", ".", "!", "?", ""))


def _glue(draws: Choices, most: int) -> str:
    words = (
        draws.pick(f"word{place}", every(draws.pick(f"kind{place}", _GLUE)))
        for place in range(1 + draws.number("count", most))
    )
    return " ".join(words)


def for_tokenizer(prompts: Sequence[Instructions]) -> Iterator[str]:
    """The texts that merges are learned from; always the same for the same prompts."""
    for prompt in prompts:
        yield from [prompt.system, *prompt.fill("", "polite")] * 40
    yield "system user assistant\n\n" * 40
    yield from prose()
    for kind in ("function", "verb", "quality", "manner"):
        words = " ".join(every(kind))
        yield from [words, words, words.title()]
    for kind in ("goods", "objects", "papers", "events", "venues", "roles", "first", "prefix"):
        names = " ".join(pool(kind, False))
        yield from [names, names.title(), names.lower()]
    for number in range(_TOKENIZED):
        for task in ALL_TASKS:
            drawn = scene(f"tokenizer/{number}", task)
            yield from (drawn.source, drawn.tell("strong"))
        yield " ".join(mixture(Choices(f"tokenizer/{number}")))


def sentences(scenes: int = 800) -> list[str]:
    """What the embedded language model reads: prose, then scenes of each task at three levels."""
    scenes_of = (scene(f"lm/{number}", task) for number in range(scenes) for task in ALL_TASKS)
    texts = (drawn.tell(level) for drawn in scenes_of for level in LEVELS)
    return list(dict.fromkeys([*prose(), *texts]))
