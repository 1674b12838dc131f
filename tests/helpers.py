"""What several test modules share."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tstmeta import data

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, when the raw files of a data set are not on this machine."""
    missing = [name for name in names if not data.has_texts(name)]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"raw data not on this machine: {', '.join(missing)} (tstmeta data fetch)",
    )


def where_here(names: Iterable[str]) -> list[Any]:
    """Data sets as parameters of a test that is skipped for those whose raw files are not here."""
    return [pytest.param(name, marks=needs(name)) for name in names]


def python(*words: object, codes: Container[int] = (0,), **options: Any) -> Any:
    """Python in a process of its own, which ends with one of these codes; ``env`` is added."""
    env = {**os.environ, **options.pop("env", {})}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, **options)
    assert done.returncode in codes, done.stdout + done.stderr
    return done


def nightly_but(paths: Iterable[Path], *quick: str) -> list[Any]:
    """Files as parameters of a test that runs nightly, but for those whose names begin so."""
    marks = {path: () if path.stem.startswith(quick) else pytest.mark.nightly for path in paths}
    return [pytest.param(path, id=path.stem, marks=marks[path]) for path in marks]


def closure(requirements: Iterable[str]) -> set[str]:
    """The distributions that are installed with these, their extras included."""
    todo = [Requirement(text) for text in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        wanted = todo.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        for need in map(Requirement, distribution(wanted.name).requires or []):
            extras = ("", *wanted.extras)
            if not need.marker or any(need.marker.evaluate({"extra": e}) for e in extras):
                todo.append(need)
    return {name for name, _ in seen}
