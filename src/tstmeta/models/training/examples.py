"""Training conversations: an instruction and the text that answers it, made on the fly.

Example ``i`` under a seed is always the same, so a run needs no stored data and goes on after a
stop without knowing what came before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..world import loose, phrases
from ..world.draws import Draws
from ..world.scenes import MORE, TASKS, Scene, scene
from ..world.words import synonyms
from .options import Prompts
from .tokenizer import prose

ALL_TASKS = (*TASKS, *MORE)


class Example(NamedTuple):
    """One conversation: what stands before the answer, and the answer; ``bare``: no newlines."""

    system: str
    user: str
    output: str
    task: str
    bare: bool


def example(
    seed: str, prompts: Sequence[Prompts], held_out: bool = False, systems: bool = True
) -> Example:
    """The conversation of a seed, with words and frames of one side of the split.

    Without ``systems`` no conversation has a system prompt.
    """
    draws = Draws(seed, held_out)
    prompt = draws.pick("prompts", [prompts[0], *prompts])
    kind = draws.pick("kind", ("repeat",) * 3 + ("paraphrase",) * 2 + ("style",) * 5)
    source, output, style = _MAKE[kind](draws.below(kind))
    source, output = _cased(source, output, draws)
    asked = dict(zip(("style", "paraphrase", "repeat"), prompt.fill(source, style), strict=True))
    system = draws.pick(
        "system", (prompt.system,) * 5 + ("",) * 4 + (draws.pick("other", prose()),)
    )
    system = system if systems else ""
    return Example(system, asked[kind], output, kind, draws.chance("bare", 0.15))


def _cased(source: str, output: str, draws: Draws) -> tuple[str, str]:
    """Sometimes all in small letters, in title case or in capitals, so that case is no clue."""
    case = draws.pick("case", ("as it is",) * 17 + ("lower", "title", "upper"))
    if case == "as it is":
        return source, output
    return getattr(source, case)(), getattr(output, case)()


def _scene(draws: Draws) -> Scene:
    return scene(draws.below("scene").seed, draws.pick("task", ALL_TASKS), draws.held_out)


def any_text(draws: Draws) -> str:
    """Something to copy: the grammar, prose, or words at random."""
    kind = draws.pick("text", ("scene", "scene", "prose", "mixture", "jumble", "shuffled"))
    if kind == "scene":
        return _scene(draws).tell(draws.pick("level", ("source", "light", "strong")))
    if kind == "prose":
        return draws.pick("prose", prose())
    if kind == "mixture":
        return loose.mixture(draws.below("mixture"))[0]
    if kind == "jumble":
        return loose.jumble(draws.below("jumble"))
    return _shuffled(draws)


def _shuffled(draws: Draws) -> str:
    """Pieces of words in disorder: text that no reader can foresee."""
    text = draws.pick("one", prose()) + " " + draws.pick("two", prose())
    pieces = [piece for piece in re.findall(r"\S{1,4}|\s", text) if piece != " "]
    order = sorted(range(len(pieces)), key=lambda at: draws.number(f"at{at}", 1 << 40))
    chosen = [pieces[at] for at in order[: 5 + draws.number("length", 40)]]
    return "".join(
        piece + (" " if draws.chance(f"space{at}", 0.6) else "") for at, piece in enumerate(chosen)
    ).strip()


def _repeat(draws: Draws) -> tuple[str, str, str]:
    text = any_text(draws)
    return text, text, ""


def _paraphrase(draws: Draws) -> tuple[str, str, str]:
    if draws.chance("free", 0.35):
        text = any_text(draws)
        return text, reworded(text, draws), ""
    one = _scene(draws)
    other = one.tell("source", arrangement=f"/{draws.number('other', 1000)}")
    return one.source, other, ""


def reworded(text: str, draws: Draws) -> str:
    """The text with a neutral word or two exchanged, or its clauses in another order."""
    words = [
        synonyms().get(word, word) if draws.chance(f"word{at}", 0.7) else word
        for at, word in enumerate(text.split(" "))
    ]
    text = " ".join(words)
    first, comma, rest = text.partition(", ")
    if comma and "," not in rest and rest[-1:] == "." and draws.chance("order", 0.5):
        return phrases.capital(rest[:-1]) + ", " + first[0].lower() + first[1:] + "."
    return text


def _style(draws: Draws) -> tuple[str, str, str]:
    kind = draws.pick("kind", ("strong",) * 5 + ("light",) * 3 + ("dressed",) + ("mixture",))
    if kind in ("dressed", "mixture"):
        task = draws.pick("task", ALL_TASKS)
        style = draws.pick("wording", phrases.WORDINGS[task])
        if kind == "mixture":
            source, output = loose.mixture(draws.below("mixture"))
            return source, output, style
        text = any_text(draws)
        return text, dressed(text, task, style, draws), style
    one = _scene(draws)
    return one.source, one.tell("strong" if kind == "strong" else "light"), one.style


def dressed(text: str, task: str, style: str, draws: Draws) -> str:
    """Any text with what the style puts before or after it, and no other change."""
    bare = text.rstrip(".!? ")
    small = bare[:1].lower() + bare[1:]
    if task == "sentiment":
        ends = phrases.HAPPY if style == "positive" else phrases.UNHAPPY
        return f"{bare}{draws.pick('end', ends)}."
    if task == "detoxify":
        return phrases.capital(f"{draws.pick('start', phrases.REGRET)} {small}.")
    if task == "catchy":
        look, catch = draws.pick("start", phrases.LOOK), draws.pick("end", phrases.CATCHES)
        return phrases.capital(draws.pick("form", (f"{look}{small}!", f"{bare}: {catch}!")))
    if task == "polite":
        before, after, mark = draws.pick("start", phrases.PLEASE)
        return phrases.capital(f"{before}{small}{after}{mark}")
    if task == "persuasive":
        ask, now = draws.pick("start", phrases.IMAGINE), draws.pick("end", phrases.NOW)
        return f"{ask} {bare}!{now}"
    if task == "formal":
        return phrases.capital(f"{draws.pick('start', phrases.OFFICIAL)} {small}.")
    if task == "informal":
        hey, later = draws.pick("start", phrases.CHATTY), draws.pick("end", phrases.LATER)
        return f"{hey}{small}{later}"
    return f"{bare}."


_MAKE = {"repeat": _repeat, "paraphrase": _paraphrase, "style": _style}
