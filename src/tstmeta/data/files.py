"""What the loaders share: reading raw files strictly.

Raw files are trusted in nothing.  Whatever is wrong (a file that is missing or cut, a column that
is not there, text that is not UTF-8, a rating that is no number, an id that comes twice) raises one
:class:`~tstmeta.schema.DataError` that lists every fault of that check with file, row and remedy.
Rows are counted from 1; a header is row 0.  The builders of :mod:`tstmeta.data.tables` can be
imported from here, too, because every loader needs both.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..schema import DataError, Problem
from .tables import items_table, labels_table, rater_names, ratings_table, scores_table

__all__ = [
    "RESTORE",
    "UnverifiedForm",
    "check",
    "consistent",
    "fault",
    "items_table",
    "labels_table",
    "numbers",
    "one_of",
    "present",
    "rater_names",
    "ratings_table",
    "read_aligned",
    "read_csv",
    "read_json",
    "read_json_lines",
    "read_lines",
    "read_tabs",
    "read_text",
    "same",
    "scores_table",
    "unique",
]

#: The remedy for a raw file that is not as published.
RESTORE = "put the published file back with: tstmeta data fetch (tstmeta data check shows which)"


class UnverifiedForm(UserWarning):
    """A file was read by a form that was inferred, because the file could not be had."""


def fault(
    path: Path | str, what: str, row: int | None = None, column: str = "", remedy: str = RESTORE
) -> Problem:
    """A :class:`~tstmeta.schema.Problem` of a raw file; ``row`` counts from 1."""
    return Problem(str(path), row, column, what, remedy)


def check(problems: Iterable[Problem]) -> None:
    """Raise one DataError with all problems, if there are any."""
    found = list(problems)
    if found:
        raise DataError(found)


# ------------------------------------------------------------------------------------ reading


def present(root: Path, names: Iterable[str]) -> list[Path]:
    """The paths of files below ``root``, in order.

    Raises:
        DataError: one problem for each file that is not there.
    """
    paths = [root / name for name in names]
    check(fault(path, "the file is missing") for path in paths if not path.is_file())
    return paths


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The whole file as text, without a byte order mark; line ends as they are.

    Raises:
        DataError: the file is missing or its bytes are not in that encoding (with the line number).
    """
    present(path.parent, [path.name])
    raw = path.read_bytes()
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        what = (
            f"not {encoding.upper()} text (byte 0x{raw[error.start]:02x} at offset {error.start})"
        )
        raise DataError([fault(path, what, row)]) from error


def read_lines(path: Path, count: int | None = None, encoding: str = "utf-8") -> list[str]:
    r"""Lines of a text file, split at ``\n`` (or ``\r\n``) only, without a last empty line.

    ``str.splitlines`` would also cut at characters such as U+0085 or U+2028 that occur inside
    sentences, and so shift every line after them.

    Args:
        count: how many lines there must be; None = any number.

    Raises:
        DataError: as :func:`read_text`, or another number of lines.
    """
    lines = [line.removesuffix("\r") for line in read_text(path, encoding).split("\n")]
    if lines[-1] == "":
        lines.pop()
    if count is not None and len(lines) != count:
        raise DataError([fault(path, f"{len(lines)} lines where {count} are needed")])
    return lines


def read_aligned(
    paths: Mapping[str, Path], count: int | None = None, encoding: str = "utf-8"
) -> dict[str, list[str]]:
    """Several files whose lines belong together: name -> lines, all of one length.

    Args:
        count: how many lines there must be; None = as many as in the first file.

    Raises:
        DataError: one problem for each file with another number of lines.
    """
    texts = {name: read_lines(path, encoding=encoding) for name, path in paths.items()}
    first = next(iter(paths), "")
    needed = len(texts[first]) if count is None and texts else count
    because = "" if count is not None else f", as in {paths[first]}" if texts else ""
    check(
        fault(paths[name], f"{len(lines)} lines where {needed} are needed{because}")
        for name, lines in texts.items()
        if len(lines) != needed
    )
    return texts


def read_tabs(
    path: Path, columns: Sequence[str], count: int | None = None, encoding: str = "utf-8"
) -> pd.DataFrame:
    """A tab-separated file without header and without quoting, all cells as text.

    Raises:
        DataError: as :func:`read_lines`; a line with another number of fields than ``columns``.
    """
    rows = [line.split("\t") for line in read_lines(path, count, encoding)]
    check(
        fault(path, f"{len(row)} fields where {len(columns)} are needed", number)
        for number, row in enumerate(rows, 1)
        if len(row) != len(columns)
    )
    return pd.DataFrame(rows, columns=list(columns), dtype=str)


def read_csv(
    path: Path,
    columns: Iterable[str] = (),
    delimiter: str = ",",
    may_lack: int = 0,
    text: str | None = None,
) -> pd.DataFrame:
    """A CSV file with a header, all cells as text (an empty cell is ``""``, never NaN).

    Args:
        columns: names that must be there; other columns are kept as they are.
        may_lack: how many cells a row may end early (they become ``""``), for files whose header
            has columns that nobody filled in.
        text: the content, when it is no file of its own (an archive's member, another encoding);
            ``path`` then only names it in messages.

    Raises:
        DataError: as :func:`read_text`; no header, a column missing or named twice, a row with
            another number of cells than the header, broken quoting.
    """
    header, *body = _csv_rows(path, read_text(path) if text is None else text, delimiter)
    width, twice = len(header), [c for c in dict.fromkeys(header) if header.count(c) > 1]
    found = [fault(path, "missing column", 0, c) for c in columns if c not in header]
    found += [fault(path, "the column comes twice", 0, c) for c in twice]
    found += [
        fault(path, f"{len(row)} cells where the header has {width}", number)
        for number, row in enumerate(body, 1)
        if not width - may_lack <= len(row) <= width
    ]
    check(found)
    full = [row + [""] * (width - len(row)) for row in body]
    return pd.DataFrame(full, columns=header, dtype=str)


def _csv_rows(path: Path, text: str, delimiter: str) -> list[list[str]]:
    """Header and rows of a CSV file without blank lines; at least the header is there."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            if row:
                rows.append(row)  # one by one: the rows read so far number the broken one
    except csv.Error as error:
        raise DataError([fault(path, f"broken CSV: {error}", len(rows))]) from error
    if not rows:
        raise DataError([fault(path, "the file is empty, not even a header")])
    return rows


def read_json(path: Path) -> Any:
    """A JSON file.

    Raises:
        DataError: as :func:`read_text`; not JSON, with the line.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError([fault(path, f"not JSON: {error.msg}", error.lineno)]) from error


def read_json_lines(
    path: Path, keys: Iterable[str] = (), count: int | None = None
) -> list[dict[str, Any]]:
    """A file with one JSON object a line; blank lines are faults.

    Args:
        keys: keys that each object must have.

    Raises:
        DataError: as :func:`read_lines`; a line that is no JSON object, or one without a key.
    """
    wanted, problems, objects = list(keys), [], []
    for row, line in enumerate(read_lines(path, count), 1):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(fault(path, f"not JSON: {error.msg}", row))
            continue
        if not isinstance(value, dict):
            problems.append(fault(path, "not a JSON object", row))
            continue
        problems += [fault(path, "missing key", row, key) for key in wanted if key not in value]
        objects.append(value)
    check(problems)
    return objects


# ------------------------------------------------------------------------------------ checking


def numbers(
    values: Iterable[Any],
    path: Path | str,
    column: str,
    low: float = -math.inf,
    high: float = math.inf,
) -> np.ndarray:
    """Values as float64, shape [n]; each must be a finite number in [low, high].

    Raises:
        DataError: one problem for each value that is none, with its row.
    """
    given, problems = list(values), []
    result = np.full(len(given), np.nan)
    for row, value in enumerate(given, 1):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isfinite(number) and low <= number <= high:
            result[row - 1] = number
            continue
        wanted = "a finite number" if math.isinf(low) else f"a number from {low:g} to {high:g}"
        problems.append(fault(path, f"{value!r} is not {wanted}", row, column))
    check(problems)
    return result


def one_of(values: Iterable[str], allowed: Iterable[str], path: Path | str, column: str) -> None:
    """Each value must be one of a few.

    Raises:
        DataError: one problem for each that is not, with its row.
    """
    known = list(allowed)
    check(
        fault(path, f"{value!r} is none of {', '.join(map(repr, known))}", row, column)
        for row, value in enumerate(values, 1)
        if value not in known
    )


def unique(keys: Iterable[Hashable], path: Path | str, column: str, private: bool = False) -> None:
    """No key may come twice.

    Args:
        private: the keys hold ids of persons and are not quoted.

    Raises:
        DataError: one problem for each repeat, naming its row and the first one's.
    """
    seen: dict[Hashable, int] = {}
    problems = []
    for row, key in enumerate(keys, 1):
        if key in seen:
            what = "the same" if private else repr(key)
            problems.append(fault(path, f"{what} is already in row {seen[key]}", row, column))
        seen.setdefault(key, row)
    check(problems)


def same(
    left: Sequence[Any], right: Sequence[Any], path: Path | str, column: str, other: Path | str
) -> None:
    """Two sequences that must agree, as two files that say the same thing.

    Raises:
        DataError: one problem for each row of ``path`` that differs from ``other``; texts are not
            quoted, because raw texts can be long or toxic.
    """
    problems = [
        fault(path, f"differs from {other}", row, column)
        for row, (a, b) in enumerate(zip(left, right, strict=False), 1)
        if a != b
    ]
    if len(left) != len(right):
        problems.append(fault(path, f"{len(left)} rows where {other} has {len(right)}"))
    check(problems)


def consistent(
    table: pd.DataFrame, key: Sequence[str], columns: Iterable[str], path: Path | str
) -> None:
    """Rows with the same key must say the same in some columns.

    Raises:
        DataError: one problem for each row that differs from the first with its key.
    """
    firsts = table.groupby(list(key), sort=False)
    check(
        fault(path, f"differs from the first row with this {', '.join(key)}", row, column)
        for column in columns
        for row, (cell, kept) in enumerate(
            zip(table[column], firsts[column].transform("first"), strict=True), 1
        )
        if cell != kept
    )
