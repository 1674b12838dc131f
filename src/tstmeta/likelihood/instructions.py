"""Instructions as data: the three tasks under which each token of a rewrite is judged.

A set is a system prompt and three instructions, named after what they ask for: ``style`` (rewrite
to be S), ``paraphrase`` and ``repeat``.  Ours and the published ones stand in
``instructions.toml``; yours go into a file of the same form and are read with :func:`read`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..schema import DataError, Problem, TstmetaError

#: The three tasks, in the order of the rows of every table of token log-probabilities.
TASKS = ("style", "paraphrase", "repeat")
_KEYS = ("origin", "about", "system", *TASKS)


@dataclass(frozen=True)
class Instructions:
    """A system prompt (may be empty) and an instruction a task, with slots source and style."""

    name: str
    system: str
    style: str
    paraphrase: str
    repeat: str
    origin: str = "yours"
    about: str = ""

    @property
    def hash(self) -> str:
        """First 8 hexadecimal digits of the SHA-256 of all words that a model reads."""
        words = "\0".join([self.system, *(getattr(self, task) for task in TASKS)])
        return hashlib.sha256(words.encode()).hexdigest()[:8]

    def fill(self, source: str, style: str) -> tuple[str, str, str]:
        """What the user asks for under each task, in the order of :data:`TASKS`."""
        # str.replace and not str.format: a source may hold braces of its own
        texts = (getattr(self, task).split("{source}") for task in TASKS)
        return tuple(source.join(part.replace("{style}", style) for part in text) for text in texts)  # type: ignore[return-value]


@cache
def shipped() -> dict[str, Instructions]:
    """The sets that come with the package, by name; ``paper`` is the published one."""
    text = files(__package__).joinpath("instructions.toml").read_text(encoding="utf-8")
    return _parsed(text, "instructions.toml")


def read(path: Path) -> dict[str, Instructions]:
    """Instruction sets of a TOML file, by name.

    Each table of the file is a set with the keys ``system``, ``style``, ``paraphrase`` and
    ``repeat``; ``about`` is free text.

    Raises:
        DataError: the file is no TOML, a key is missing or unknown, or a text lacks ``{source}`` or
            (for ``style``) ``{style}`` or has other braces.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problem = Problem(
            str(path), None, "", f"no UTF-8 at byte {error.start}", "save it as UTF-8"
        )
        raise DataError([problem]) from error
    except OSError as error:
        raise TstmetaError(f"cannot read instructions from {path}: {error.strerror}") from error
    return _parsed(text, str(path))


def get(name: str) -> Instructions:
    """A shipped set by name, or ``FILE.toml`` (its only set) or ``FILE.toml#NAME``."""
    if name in shipped():
        return shipped()[name]
    stem, _, wanted = name.partition("#")
    if not stem.endswith(".toml"):
        known = ", ".join(shipped())
        raise TstmetaError(
            f"no instruction set is called {name!r}; use {known}, or FILE.toml#NAME for your own"
        )
    found = read(Path(stem))
    if not wanted and len(found) == 1:
        return next(iter(found.values()))
    if wanted not in found:
        raise TstmetaError(f"{stem} has the sets {', '.join(found)}; name one: {stem}#NAME")
    return found[wanted]


def _parsed(text: str, where: str) -> dict[str, Instructions]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = Problem(where, None, "", f"no TOML: {error}", "see the example in the how-to")
        raise DataError([problem]) from error
    problems = [
        problem for name, table in tables.items() for problem in _faults(name, table, where)
    ]
    if not tables:
        problems = [Problem(where, None, "", "no instruction set", "add a table such as [mine]")]
    if problems:
        raise DataError(problems)
    return {name: Instructions(name, **table) for name, table in tables.items()}


def _faults(name: str, table: object, where: str) -> list[Problem]:
    if not isinstance(table, dict):
        return [Problem(where, None, name, "not a table", f"put it below a line [{name}]")]

    def problem(key: str, what: str, remedy: str) -> Problem:
        return Problem(where, None, f"{name}.{key}", what, remedy)

    found = [
        problem(key, "missing", f"add {key} = '...'")
        for key in ("system", *TASKS)
        if key not in table
    ]
    found += [
        problem(key, "unknown", f"use only {', '.join(_KEYS)}") for key in table if key not in _KEYS
    ]
    for key in (key for key in _KEYS if key in table):
        if not isinstance(table[key], str):
            found.append(problem(key, "no text", "put it in quotes"))
        elif key in ("system", *TASKS):
            found += [problem(key, *fault) for fault in _slots(key, table[key])]
    return found


def _slots(key: str, text: str) -> list[tuple[str, str]]:
    """What is wrong with the slots of a text: (what, remedy)."""
    allowed = {"style": ["source", "style"], "system": []}.get(key, ["source"])
    slots = re.findall(r"\{([^{}]*)\}", text)
    missing = [
        (f"no {{{slot}}}", f"say where the {slot} goes") for slot in allowed if slot not in slots
    ]
    remedy = f"use only {' and '.join(f'{{{one}}}' for one in allowed)}"
    extra = [
        (f"unknown slot {{{slot}}}", remedy if allowed else "a system prompt has no slots")
        for slot in slots
        if slot not in allowed
    ]
    if not slots and key == "system":
        return []  # no slot is filled there, so a single brace harms nobody
    loose = re.sub(r"\{[^{}]*\}", "", text)
    if "{" in loose or "}" in loose:
        extra.append(("a brace that belongs to no slot", "take it out"))
    return missing + extra
