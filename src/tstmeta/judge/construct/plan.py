"""What a construction is asked to make: kept in its folder, so that it can only go on as it began.

The kinds of error are dealt to the sources at random and evenly, from the seed, before anything is
asked: no model chooses them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...data.files import read_json, read_lines
from ...data.sheet import read_sheet
from ...schema import DataError, Problem, TstmetaError
from .steps import ERRORS, Setting, prompt_hash

FILE = "plan.json"
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
#: Names of files that a construction keeps beside its data set.
_TAKEN = ("rows", "ratings")
#: Languages that are written without spaces; our checks compare words.
_UNSPACED = ("zh", "ja", "th", "lo", "km", "my", "bo")
#: Columns of texts in a file of sources, the first that is there counts.
_TEXTS = ("source", "text")


@dataclass(frozen=True)
class Plan:
    """All that decides what is asked.

    Attributes:
        name: of the data set, and the beginning of every id in it.
        sources: given texts; empty where the model is asked for them.
        generate: how many sources the model is asked for; 0 where they are given.
        origin: where the sources come from, in words.
        errors: kinds of error that are dealt.
        server, model, revision: who is asked; the server without user, password and query.
        prompt: hash of the words of all steps.
    """

    name: str
    setting: Setting
    sources: tuple[str, ...]
    generate: int
    origin: str
    errors: tuple[str, ...]
    server: str
    model: str
    revision: str = ""
    prompt: str = ""

    @property
    def size(self) -> int:
        """How many sources there are to be."""
        return self.generate or len(self.sources)

    def source_id(self, number: int) -> str:
        """The id of a source, counted from 0."""
        return f"{self.name}-{number + 1:0{max(2, len(str(self.size)))}}"

    def kinds(self) -> list[str]:
        """The kind of error of each source: as many of each as can be, in an order drawn."""
        rng = np.random.default_rng(self.setting.seed)
        extra = rng.permutation(self.errors)[: self.size % len(self.errors)]
        dealt = [*self.errors * (self.size // len(self.errors)), *extra]
        return [str(kind) for kind in rng.permutation(dealt)]


def planned(
    folder: Path,
    setting: Setting,
    *,
    sources: Path | None,
    generate: int | None,
    errors: Sequence[str],
    server: str,
    model: str,
    revision: str = "",
) -> Plan:
    """A plan from what a user asks for; the data set is called after the folder.

    Raises:
        TstmetaError: no style, no language code, an unknown kind of error, sources both given and
            asked for or neither.
        DataError: the file of sources has faults.
    """
    _check(setting, errors)
    if (sources is None) == (generate is None):
        raise TstmetaError(
            "sources come from a file (--sources FILE) or from the model (--generate N): say one"
        )
    if generate is not None and generate < 1:
        raise TstmetaError(f"{generate} sources are none; ask for at least 1")
    texts = read_sources(sources) if sources else ()
    origin = f"asked of the model, {generate}"
    if sources:
        digest = hashlib.sha256(sources.read_bytes()).hexdigest()
        origin = f"the file {sources.name}, {len(texts)} texts, sha256 {digest}"
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "set"
    if name in _TAKEN:
        name = f"{name}-set"
    plan = Plan(name, setting, texts, generate or 0, origin, tuple(errors), server, model, revision)
    return replace(plan, prompt=prompt_hash())


def _check(setting: Setting, errors: Sequence[str]) -> None:
    for what, text in (("style", setting.style), ("style of the sources", setting.style_now)):
        if len(text) > 100 or not (text.isprintable() and (text.strip() or what != "style")):
            raise TstmetaError(f"the {what} is a few words on one line, such as more formal")
    if not _LANGUAGE.fullmatch(setting.language):
        raise TstmetaError(f"{setting.language!r} is no language code; write en, de or pt-BR")
    if setting.language.partition("-")[0] in _UNSPACED:
        raise TstmetaError(
            f"{setting.language} is written without spaces, and the checks of a construction "
            "compare words between spaces. Remedy: write the set by hand, or ask in a language "
            "with spaces"
        )
    if not 0 <= setting.temperature <= 2:
        raise TstmetaError(f"a temperature of {setting.temperature:g}; use 0 to 2")
    if unknown := [kind for kind in errors if kind not in ERRORS]:
        known = ", ".join(ERRORS)
        raise TstmetaError(f"unknown kind of error {', '.join(unknown)!r}; known: {known}")
    if not errors or len(set(errors)) < len(errors):
        raise TstmetaError("name each kind of error once, and at least one")


def read_sources(path: Path) -> tuple[str, ...]:
    """Texts of a file: lines of a .txt, or the column source (or text) of a table.

    Raises:
        DataError: every fault of the file.
    """
    if path.suffix.lower() == ".txt":
        texts = [line.strip() for line in read_lines(path) if line.strip()]
        if not texts:
            remedy = "write one text a line"
            raise DataError([Problem(str(path), None, "", "there are no texts", remedy)])
        return tuple(texts)
    sheet = read_sheet(path)
    column = next((name for name in _TEXTS if name in sheet.columns), "")
    if not column:
        raise sheet.stop(sheet.header, "", "no column of texts", "name it source")
    found = []
    for row, cell in sheet.column(column):
        if not isinstance(cell, str) or not cell.strip():
            sheet.fault(row, column, "no text", "fill it in or drop the row")
        else:
            found.append(cell.strip())
    if sheet.problems:
        raise DataError(sheet.problems)
    return tuple(found)


# ------------------------------------------------------------------------------------- on disk


def write_text(path: Path, text: str) -> None:
    """A file, whole or not at all.

    Raises:
        TstmetaError: it cannot be written.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(text.encode("utf-8", "replace"))
        os.replace(partial, path)
    except OSError as error:
        raise TstmetaError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """The folder for one process at a time; it is made if it is not there.

    Raises:
        TstmetaError: another process works in it, or it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TstmetaError(f"cannot make {folder}: {error.strerror or error}") from error
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise TstmetaError(f"another run works in {folder}; wait for it or stop it") from error


def begin(folder: Path, plan: Plan) -> None:
    """Write the plan into its folder, or see that the folder is of this plan.

    Raises:
        TstmetaError: the folder holds another construction; says what differs.
    """
    path = folder / FILE
    if not path.exists():
        write_text(path, json.dumps(asdict(plan), ensure_ascii=False, indent=1) + "\n")
        return
    before, now = _flat(read(folder)), _flat(plan)
    differ = [name for name, value in now.items() if before[name] != value and name != "origin"]
    if differ:
        raise TstmetaError(
            f"{folder} holds a construction that differs in {', '.join(differ)}. Remedy: ask for "
            "the same as before, or name another folder"
        )


def _flat(plan: Plan) -> dict[str, Any]:
    facts = asdict(plan)
    return {**facts.pop("setting"), **facts}


def read(folder: Path) -> Plan:
    """The plan of a folder.

    Raises:
        TstmetaError: there is none, or it is no plan of ours.
    """
    path = folder / FILE
    if not path.is_file():
        raise TstmetaError(
            f"{folder} holds no construction ({FILE} is missing). Remedy: begin one with tstmeta "
            "construct --style ... --out FOLDER"
        )
    try:
        facts = read_json(path)
        lists = {name: tuple(facts[name]) for name in ("sources", "errors")}
        return Plan(**{**facts, **lists, "setting": Setting(**facts["setting"])})
    except (DataError, TypeError, KeyError) as error:
        raise TstmetaError(
            f"{path} is not as it was written. Remedy: put it back, or begin in another folder"
        ) from error
