"""Instructions as data: the three tasks under which each token of a rewrite is scored.

Ours and the published ones stand in ``instructions.toml``, wordings of styles in ``styles.csv``.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
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
_FOLDER = Path(__file__).parent
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
    return read(_FOLDER / "instructions.toml")


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
    sets = read(Path(stem))
    if not wanted and len(sets) == 1:
        return next(iter(sets.values()))
    if wanted not in sets:
        raise TstmetaError(f"{stem} has the sets {', '.join(sets)}; name one: {stem}#NAME")
    return sets[wanted]


def _sets(text: str, where: str) -> dict[str, Instructions]:
    tables = (tomllib.loads(text) or {"mine": None}).items()
    facts = {name: {"name": name, **t} if isinstance(t, dict) else t for name, t in tables}
    try:
        return TypeAdapter(dict[str, Instructions]).validate_python(facts)
    except ValidationError as error:
        places = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
        problems = [Problem(where, None, place, what, _REMEDY) for place, what in places]
        raise DataError(problems) from None


@cache
def wordings() -> dict[str, str]:
    """Style -> wording in ``styles.csv``, over all data sets; no style is worded in two ways."""
    table = pd.read_csv(_FOLDER / "styles.csv", dtype=str, keep_default_na=False)
    return dict(zip(table["style"], table["likelihood"], strict=True))


def hash_of(wordings: Mapping[str, str]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of all wordings, in sorted order."""
    return _hash(json.dumps(sorted(wordings.items())))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
