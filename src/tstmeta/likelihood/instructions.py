"""Instructions as data: the three tasks under which each token of a rewrite is scored.

Ours and the published ones stand in ``instructions.toml``; yours go into a file of the same form.
``styles.csv`` has the wordings of styles in the released program of Pauli et al. (2025), and ours;
another style is put in as it stands.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from ..data.paths import regular
from ..schema import DataError, Problem, TstmetaError

#: The three tasks, in the order of the rows of every table of token log-probabilities.
TASKS = ("style", "paraphrase", "repeat")
#: The slots that each text must have; a system prompt is not filled in.
_SLOTS = {
    "system": [],
    "style": ["{source}", "{style}"],
    "paraphrase": ["{source}"],
    "repeat": ["{source}"],
}
_SHIPPED = files(__package__)
_REMEDY = "write TOML, a table a set, as the how-to does"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Instructions:
    """A system prompt (may be empty) and an instruction a task, with slots source and style."""

    name: str
    system: str
    style: str
    paraphrase: str
    repeat: str
    origin: str = "yours"
    about: str = ""

    @model_validator(mode="after")
    def _slots(self) -> Self:
        for part, slots in _SLOTS.items():
            text = getattr(self, part)
            if set(re.findall(r"\{[^{}]*\}|[{}]", text)) != set(slots):
                need = " and ".join(slots) or "no slot"
                raise ValueError(f"{part}: wrong slots in {text!r}, use {need}, and no other brace")
        return self

    @property
    def hash(self) -> str:
        """First 8 hexadecimal digits of the SHA-256 of all words that a model reads."""
        return _hash("\0".join([self.system, *(getattr(self, task) for task in TASKS)]))

    def fill(self, source: str, style: str) -> tuple[str, str, str]:
        """What the user asks for under each task, in the order of :data:`TASKS`."""
        # str.replace and not str.format: a source may hold braces of its own
        texts = (getattr(self, task).split("{source}") for task in TASKS)
        return tuple(source.join(part.replace("{style}", style) for part in text) for text in texts)  # type: ignore[return-value]


@cache
def shipped() -> dict[str, Instructions]:
    """The sets that come with the package; ``paper`` is the published one."""
    return _sets(_SHIPPED.joinpath("instructions.toml").read_text(encoding="utf-8"), "shipped")


def read(path: Path) -> dict[str, Instructions]:
    """Instruction sets of a TOML file, by name: a table each, with the fields of Instructions."""
    try:
        return _sets(regular(path).read_text(encoding="utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise TstmetaError(
            f"cannot read instructions from {path}: {error}. Remedy: {_REMEDY}"
        ) from error


def get(name: Instructions | str) -> Instructions:
    """A shipped set by name, or ``FILE.toml`` (its only set) or ``FILE.toml#NAME``."""
    if isinstance(name, Instructions):
        return name
    if name in shipped():
        return shipped()[name]
    stem, _, wanted = name.partition("#")
    if not stem.endswith(".toml"):
        known = ", ".join(shipped())
        raise TstmetaError(
            f"no instruction set is called {name!r}; use {known}, or FILE.toml#NAME for your own"
        )
    own = read(Path(stem))
    if not wanted and len(own) == 1:
        return next(iter(own.values()))
    if wanted not in own:
        raise TstmetaError(f"{stem} has the sets {', '.join(own)}; name one: {stem}#NAME")
    return own[wanted]


def _sets(text: str, where: str) -> dict[str, Instructions]:
    sets: dict[str, Instructions] = {}
    problems: list[Problem] = []
    for name, table in (tomllib.loads(text) or {"mine": None}).items():
        facts = {"name": name, **table} if isinstance(table, dict) else table
        try:
            sets[name] = TypeAdapter(Instructions).validate_python(facts)
        except ValidationError as error:
            for fault in error.errors():
                place = ".".join(map(str, (name, *fault["loc"])))
                problems.append(Problem(where, None, place, fault["msg"], _REMEDY))
    if problems:
        raise DataError(problems)
    return sets


@cache
def wordings() -> dict[str, str]:
    """Style -> wording in ``styles.csv``, over all data sets; no style is worded in two ways."""
    with _SHIPPED.joinpath("styles.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    return dict(zip(table["style"], table["likelihood"], strict=True))


def hash_of(wordings: Mapping[str, str]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of all wordings, in sorted order."""
    return _hash(json.dumps(sorted(wordings.items())))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
