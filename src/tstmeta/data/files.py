"""Reading raw files of others strictly: a fault is a DataError with file, row and remedy."""

import io
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..schema import DataError
from .checks import RESTORE, check, checked, fault, published
from .sheet import Sheet


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
    path: Path, columns: Sequence[Any], count: int | None = None, encoding: str = "utf-8"
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
    count: int | None = None,
    may_lack: int = 0,
    text: str | None = None,
    remedy: str = RESTORE,
) -> pd.DataFrame:
    """A CSV file with a header; cells are texts (an empty cell is ``""``), or numbers if so held.

    Args:
        columns: names that must be there, each with a check of its cells if this is a mapping.
        unique: columns in which no two rows may agree.
        count: how many rows there must be.
        may_lack: how many cells a row may end early.
        text: the content, when it is no file of its own; ``path`` then names it in messages.
        remedy: what to do where the file is not as it should be.
    """
    checks = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    sheet = Sheet(str(path))
    text = read_text(path, remedy=remedy) if text is None else text
    with published(remedy):
        for _ in sheet.csv_batches(io.StringIO(text, newline=""), delimiter, may_lack):
            pass
        sheet.check_columns(*checks)
        check(sheet.problems)
        table = checked(sheet.frame().astype(str), checks, path, unique)
    if count not in (None, len(table)):
        check([fault(path, f"{len(table)} rows where {count} are needed", remedy=remedy)])
    return table.reset_index(drop=True)


def read_json_lines(
    path: Path, keys: Sequence[str] = (), count: int | None = None
) -> list[dict[str, Any]]:
    """A file with one JSON object a line, each with some keys; blank lines are faults."""
    problems, objects = [], []
    for row, line in enumerate(read_lines(path, count), 1):
        try:
            objects.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            problems.append(fault(path, f"not JSON ({str(error)[:60]})", row))
            continue
        if not isinstance(objects[-1], dict):
            problems.append(fault(path, "not a JSON object", row))
        else:
            lacking = [key for key in keys if key not in objects[-1]]
            problems += [fault(path, "missing key", row, key) for key in lacking]
    check(problems)
    return objects
