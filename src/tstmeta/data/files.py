"""Reading raw files of others strictly: a fault is a DataError with file, row and remedy."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..schema import DataError
from .checks import RESTORE, check, checked, fault, numbers, published
from .sheet import Sheet

__all__ = ["UnverifiedForm", "check", "fault", "numbers", "read_csv", "read_json"]
__all__ += ["read_json_lines", "read_lines", "read_tabs", "read_text"]


class UnverifiedForm(UserWarning):
    """A file was read by a form that was inferred, because the file could not be had."""


def warn_unverified(path: Path, name: str) -> None:
    """Say so, on behalf of a loader."""
    warnings.warn(
        f"{path.name}: the form of this file was inferred, never seen; hold the correlations "
        f"against the published ones (tstmeta data show {name}) before you use them",
        UnverifiedForm,
        stacklevel=3,
    )


def read_text(path: Path, encoding: str = "utf-8", remedy: str = RESTORE) -> str:
    """The whole file as text, without a byte order mark; line ends as they are."""
    if not path.is_file():
        raise DataError([fault(path, "the file is missing", remedy=remedy)])
    raw = path.read_bytes()
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        what = f"not {encoding.upper()} text (byte 0x{raw[error.start]:02x})"
        raise DataError([fault(path, what, row, "", remedy)]) from error


def read_lines(path: Path, count: int | None = None, encoding: str = "utf-8") -> list[str]:
    """Lines of a text file, split at newlines only, without a last empty line.

    ``str.splitlines`` would also cut at U+0085 or U+2028, which occur inside sentences.
    ``count`` is how many there must be.
    """
    lines = [line.removesuffix("\r") for line in read_text(path, encoding).split("\n")]
    if lines[-1] == "":
        lines.pop()
    if count is not None and len(lines) != count:
        raise DataError([fault(path, f"{len(lines)} lines where {count} are needed")])
    return lines


def read_tabs(
    path: Path, columns: Sequence[str], count: int | None = None, encoding: str = "utf-8"
) -> pd.DataFrame:
    """A tab-separated file without header and without quoting, all cells as text."""
    rows = [line.split("\t") for line in read_lines(path, count, encoding)]
    check(
        fault(path, f"{len(row)} fields where {len(columns)} are needed", number)
        for number, row in enumerate(rows, 1)
        if len(row) != len(columns)
    )
    return pd.DataFrame(rows, columns=list(columns), dtype=str)


def read_csv(
    path: Path,
    columns: Mapping[str, Any] | Iterable[str] = (),
    delimiter: str = ",",
    *,
    unique: Sequence[str] = (),
    may_lack: int = 0,
    text: str | None = None,
    remedy: str = RESTORE,
) -> pd.DataFrame:
    """A CSV file with a header; cells are texts (an empty cell is ``""``), or numbers if so held.

    Args:
        columns: names that must be there, each with a check of its cells if this is a mapping.
        unique: columns in which no two rows may agree.
        may_lack: how many cells a row may end early.
        text: the content, when it is no file of its own; ``path`` then names it in messages.
        remedy: what to do where a column or a row is not as it should be.
    """
    checks = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    sheet = Sheet(str(path))
    text = read_text(path, remedy=remedy) if text is None else text
    sheet.add_csv(text, delimiter, may_lack)
    header = sheet.columns
    if not header:
        raise DataError([fault(path, "the file is empty, not even a header", remedy=remedy)])
    problems = [
        fault(path, "missing column", 0, name, remedy) for name in checks if name not in header
    ]
    problems += [
        fault(path, "the column comes twice", 0, name, remedy)
        for name in dict.fromkeys(header)
        if header.count(name) > 1
    ]
    check([*problems, *(fault(path, p.what, p.row, "", remedy) for p in sheet.problems)])
    table = pd.DataFrame(list(sheet.rows.values()), columns=header, dtype=str)
    table.index += 1
    with published():
        return checked(table, checks, path, unique).reset_index(drop=True)


def read_json(path: Path) -> Any:
    """A JSON file."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        row = getattr(error, "lineno", None)
        raise DataError([fault(path, f"not JSON ({str(error)[:60]})", row)]) from error


def read_json_lines(
    path: Path, keys: Iterable[str] = (), count: int | None = None
) -> list[dict[str, Any]]:
    """A file with one JSON object a line, each with some keys; blank lines are faults."""
    wanted, problems, objects = list(keys), [], []
    for row, line in enumerate(read_lines(path, count), 1):
        try:
            value = json.loads(line)
        except ValueError as error:
            problems.append(fault(path, f"not JSON ({str(error)[:60]})", row))
            continue
        if not isinstance(value, dict):
            problems.append(fault(path, "not a JSON object", row))
            continue
        problems += [fault(path, "missing key", row, key) for key in wanted if key not in value]
        objects.append(value)
    check(problems)
    return objects
