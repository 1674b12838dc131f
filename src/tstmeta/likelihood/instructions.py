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
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from ..schema import FILLED, DataError, Problem, TstmetaError, hold

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
        return _sets(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TstmetaError(
            f"cannot read instructions from {path}: {error}. Remedy: write TOML, as the how-to does"
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
    tables = tomllib.loads(text) or {"mine": None}
    problems = [fault for name, table in tables.items() for fault in _faults(name, table, where)]
    if problems:
        raise DataError(problems)
    return {name: Instructions(name, **table) for name, table in tables.items()}


def _faults(name: str, table: object, where: str) -> list[Problem]:
    if not isinstance(table, dict):
        return [Problem(where, None, name, "no table", f"write the set below a line [{name}]")]
    faults = {key: ("missing", f"add {key} = '...'") for key in _SLOTS if key not in table}
    for key, text in table.items():
        slots = _SLOTS.get(key)
        if slots is None and key not in ("origin", "about"):
            faults[key] = ("unknown key", f"use only {', '.join(_SLOTS)} and about")
        elif not isinstance(text, str):
            faults[key] = ("no text", "put it in quotes")
        elif slots is not None and set(re.findall(r"\{[^{}]*\}|[{}]", text)) != set(slots):
            remedy = f"use {' and '.join(slots) or 'no slot'}, and no other brace"
            faults[key] = (f"wrong slots in {text!r}", remedy)
    return [Problem(where, None, f"{name}.{key}", *fault) for key, fault in faults.items()]


#: Of a file of wordings, whose columns may be more.
_WORDINGS = pa.DataFrameSchema(
    {name: pa.Column(checks=FILLED) for name in ("style", "wording")}, unique=["style"]
)


@cache
def wordings() -> dict[str, str]:
    """Style -> wording in ``styles.csv``, over all data sets; no style is worded in two ways."""
    with _SHIPPED.joinpath("styles.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    return dict(zip(table["style"], table["likelihood"], strict=True))


def read_wordings(path: Path) -> dict[str, str]:
    """The shipped wordings with those of a CSV file (columns style and wording) over them."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        table = table[["style", "wording"]].fillna("")
    except (OSError, ValueError, KeyError) as error:
        raise TstmetaError(
            f"cannot read wordings from {path}: {error}. Remedy: write a CSV file in UTF-8 with "
            "the columns style and wording"
        ) from error
    hold(table.set_axis(range(1, len(table) + 1)), _WORDINGS, str(path))
    return {**wordings(), **dict(zip(table["style"], table["wording"], strict=True))}


def hash_of(wordings: Mapping[str, str]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of all wordings, in sorted order."""
    return _hash(json.dumps(sorted(wordings.items())))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
