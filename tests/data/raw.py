"""Writing and breaking small raw files of the upstream form; all texts in them are ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tstmeta import schema
from tstmeta.data import Dataset
from tstmeta.schema import DataError

Load = Callable[[Path], Dataset]


def write(path: Path, lines: Iterable[str], encoding: str = "utf-8") -> None:
    """Write lines, each ended by a newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))


def change(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text, which must be there."""
    text = path.read_bytes().decode()
    if old not in text:
        raise ValueError(f"{old!r} is not in {path.name}")
    path.write_bytes(text.replace(old, new, 1).encode())


def drop_last_line(path: Path) -> None:
    """Cut the file's last line off."""
    lines = path.read_bytes().decode().split("\n")[:-1]
    write(path, lines[:-1])


def break_encoding(path: Path) -> None:
    """Put a byte that is in no UTF-8 text at the end of the first line."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\xff\n", 1))


def complaint(load: Load, root: Path) -> str:
    """The message of the DataError that loading raises; each of its problems must have a remedy."""
    with pytest.raises(DataError) as caught:
        load(root)
    assert all(problem.remedy for problem in caught.value.problems)
    return str(caught.value)


def words(dataset: Dataset) -> set[str]:
    """All runs of six or more letters and digits in any cell of any table of a data set."""
    found: set[str] = set()
    for table in schema.SCHEMAS:
        for _, column in getattr(dataset, table).items():
            for value in column.map(str).unique():
                found.update(re.findall(r"[A-Za-z0-9]{6,}", value))
    return found
