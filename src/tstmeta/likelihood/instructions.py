"""Instructions as data: the three tasks under which each token of a rewrite is scored.

Ours and the published ones stand in ``instructions.toml``, wordings of styles in ``styles.csv``.
"""

import csv
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..data.paths import regular
from ..schema import TstmetaError

#: The three tasks, in the order of the rows of every table of token log-probabilities.
TASKS = ("style", "paraphrase", "repeat")
#: The slots that each text must have; a system prompt is not filled in.
_SLOTS: dict[str, set[str]] = {
    "system": set(),
    "style": {"{source}", "{style}"},
    "paraphrase": {"{source}"},
    "repeat": {"{source}"},
}
_FOLDER = Path(__file__).parent


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

    def __post_init__(self) -> None:
        for part, slots in _SLOTS.items():
            text = getattr(self, part)
            if set(re.findall(r"\{[^{}]*\}|[{}]", text)) != slots:
                need = " and ".join(sorted(slots)) or "no slot"
                raise ValueError(f"{part}: wrong slots in {text!r}, use {need}, and no other brace")

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
    sets, where = {}, str(path)
    try:
        for name, table in tomllib.loads(regular(path).read_text(encoding="utf-8")).items():
            where = f"{path}, table {name}"
            sets[name] = Instructions(name, **table)
    except (OSError, ValueError, TypeError) as error:  # a TypeError: a key too few or too many
        remedy = "write TOML, a table a set, as the how-to does"
        message = f"cannot read instructions from {where}: {error}. Remedy: {remedy}"
        raise TstmetaError(message) from error
    return sets


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


@cache
def wordings() -> dict[str, str]:
    """Style -> wording in ``styles.csv``, over all data sets; no style is worded in two ways."""
    with (_FOLDER / "styles.csv").open(encoding="utf-8", newline="") as file:
        return {row["style"]: row["likelihood"] for row in csv.DictReader(file)}


def hash_of(wordings: Mapping[str, str]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of all wordings, in sorted order."""
    return _hash(json.dumps(sorted(wordings.items())))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
