r"""A file of rows as somebody made it: CSV, TSV, JSONL or Parquet, read without trusting it.

Reading goes on after a fault where it can, so that one report lists them all.  Rows are counted as
a person counts them: from 1 below the header, blank ones too; in JSONL a row is a line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..schema import DataError, Problem

#: What can be read, by the ending of the file's name.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Sheet:
    """Rows and the faults found while reading them.

    Attributes:
        columns: in the order of the file; a JSONL file has every key of every line.
        rows: row number -> column -> cell; a row that could not be read is left out.  A cell of CSV
            or TSV is a text; other formats give what they hold, None for null.
        header: the row number of the header, None for formats without one.
    """

    file: str
    header: int | None
    columns: list[str] = field(default_factory=list)
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def fault(self, row: int | None, column: str, what: str, remedy: str) -> None:
        """Note one fault and go on."""
        self.problems.append(Problem(self.file, row, _SURROGATE.sub("?", column), what, remedy))

    def stop(self, row: int | None, column: str, what: str, remedy: str) -> DataError:
        """The error for a fault after which reading makes no sense."""
        self.fault(row, column, what, remedy)
        return DataError(self.problems)

    def column(self, name: str) -> Iterator[tuple[int, Any]]:
        """Row numbers and cells of one column; None where a row does not have it."""
        return ((row, cells.get(name)) for row, cells in self.rows.items())

    def name(self, row: int, column: str) -> str:
        """A short text such as an id or a system; whole numbers are taken as written.

        A missing one is empty; anything else is a fault (and its text is given).
        """
        value = self.rows[row].get(column)
        if isinstance(value, float) and value.is_integer():  # an id that went through a float
            value = int(value)
        if value is None or isinstance(value, str):
            return (value or "").strip()
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault(
                row, column, f"{shown(value)} is not a name", "write a text or a whole number"
            )
        return str(value)


def shown(value: object) -> str:
    """A cell as a report quotes it: escaped, on one line, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_sheet(path: Path) -> Sheet:
    """Read a file; its faults are in ``problems``.

    Raises:
        DataError: nothing can be read: no such file, a folder, an unknown format, the wrong
            delimiter, no header, no rows.
    """
    ending = path.suffix.lower()
    sheet = Sheet(str(path), 0 if ending in (".csv", ".tsv") else None)
    if path.is_dir():
        raise sheet.stop(None, "", "this is a folder", "name a file in it")
    if not path.is_file():
        raise sheet.stop(None, "", "there is no such file", "check the name and the folder")
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise sheet.stop(None, "", f"unknown format {ending!r}", f"save it as one of {known}")
    try:
        if ending == ".parquet":
            _parquet(sheet, path)
        elif ending == ".jsonl":
            _jsonl(sheet, _decoded(sheet, path))
        else:
            _csv(sheet, _decoded(sheet, path), "," if ending == ".csv" else "\t")
    except OSError as error:
        raise sheet.stop(
            None, "", f"the file cannot be read ({error.strerror or error})", "check its rights"
        ) from error
    _check_characters(sheet)
    if not sheet.rows:
        if not sheet.problems:
            sheet.fault(None, "", "there are no rows", "add at least one row")
        raise DataError(sheet.problems)
    return sheet


def read_frame(path: Path) -> pd.DataFrame:
    """Read a file that has nothing wrong with its form as a table; cells as in :class:`Sheet`.

    Raises:
        DataError: every fault of the file.
    """
    sheet = read_sheet(path)
    if sheet.problems:
        raise DataError(sheet.problems)
    rows = [[cells.get(name) for name in sheet.columns] for cells in sheet.rows.values()]
    return pd.DataFrame(rows, columns=sheet.columns)


# -------------------------------------------------------------------------------------- text


def _decoded(sheet: Sheet, path: Path) -> str:
    """The text of a file; a byte that is not UTF-8 stays visible as a surrogate."""
    raw = path.read_bytes()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise sheet.stop(None, "", "the file is UTF-16, not UTF-8", "save it as UTF-8")
    text = raw.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    if not text.strip():
        raise sheet.stop(None, "", "the file is empty", "add a header and at least one row")
    return text


def _check_characters(sheet: Sheet) -> None:
    """Broken UTF-8, halves of characters and NUL bytes, wherever they stand."""
    cells = [(sheet.header, name, name) for name in sheet.columns]
    cells += [(row, key, cell) for row, rest in sheet.rows.items() for key, cell in rest.items()]
    for row, column, cell in cells:
        for text in cell if isinstance(cell, list) else [cell]:
            if not isinstance(text, str):
                continue
            if broken := _SURROGATE.search(text):
                code = ord(broken.group())
                byte = 0xDC80 <= code <= 0xDCFF
                what = f"byte 0x{code - 0xDC00:02x}" if byte else f"half a character, U+{code:04X}"
                place = f"at character {broken.start() + 1}"
                sheet.fault(row, column, f"broken UTF-8 ({what}, {place})", "save it as UTF-8")
            if "\0" in text:
                place = f"at character {text.index(chr(0)) + 1}"
                sheet.fault(row, column, f"a NUL byte {place}", "remove it")


# --------------------------------------------------------------------------------------- CSV


def _csv(sheet: Sheet, text: str, delimiter: str) -> None:
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = -1
    try:
        for number, record in enumerate(records):
            if number == 0:
                _header(sheet, record, delimiter)
            elif len(record) == len(sheet.columns):
                cells = zip(sheet.columns, record, strict=True)
                sheet.rows[number] = {name: cell for name, cell in cells if name}
            elif record:
                what = f"{len(record)} cells where the header has {len(sheet.columns)}"
                remedy = f"put a cell that contains {_DELIMITERS[delimiter]} in double quotes"
                sheet.fault(number, "", what, remedy)
    except csv.Error as error:
        long = "field limit" in str(error)
        what = "a cell of more than 131072 characters" if long else "a broken double quote"
        remedy = "close each quote; write a quote inside a quoted cell twice"
        if long:
            remedy += "; put texts that long in JSONL or Parquet"
        sheet.fault(number + 1, "", f"{what}; nothing below is read", remedy)
    sheet.columns = [name for name in sheet.columns if name]


def _header(sheet: Sheet, record: list[str], delimiter: str) -> None:
    names = [name.strip() for name in record]
    other = [mark for mark in _DELIMITERS if mark != delimiter and mark in "".join(names)]
    if len(names) <= 1 and other:
        found, needed = _DELIMITERS[other[0]], _DELIMITERS[delimiter]
        remedy = f"separate them with {needed}"
        if "\t" in (delimiter, other[0]):
            remedy += f", or name the file {'.tsv' if other[0] == chr(9) else '.csv'}"
        raise sheet.stop(0, "", f"the columns are separated by {found}", remedy)
    for position, name in enumerate(names, 1):
        if not name:
            sheet.fault(0, str(position), "a column without a name", "name it or drop it")
    for name, count in Counter(names).items():
        if name and count > 1:
            sheet.fault(0, name, f"the column comes {count} times", "rename or drop one")
    sheet.columns = names


# ------------------------------------------------------------------------------------- JSONL


class _Twice(ValueError):
    """A JSON object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise _Twice(key)
    return dict(pairs)


def _jsonl(sheet: Sheet, text: str) -> None:
    if text.lstrip().startswith("["):
        what, remedy = "a JSON list", "write one object a line, without a list around them"
        raise sheet.stop(1, "", what, remedy)
    names: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line, object_pairs_hook=_unique)
        except _Twice as twice:
            sheet.fault(number, str(twice), "the key comes twice in one object", "drop one")
        except json.JSONDecodeError as error:
            what = f"not JSON: {error.msg} (character {error.pos + 1})"
            sheet.fault(number, "", what, "write one complete JSON object a line")
        except (ValueError, RecursionError):
            sheet.fault(number, "", "a number too long or nested too deep", "correct the line")
        else:
            if isinstance(cells, dict):
                sheet.rows[number] = cells
                names.update(dict.fromkeys(cells))
            else:
                sheet.fault(number, "", "not a JSON object", 'write {"source": ..., "output": ...}')
    sheet.columns = list(names)


# ----------------------------------------------------------------------------------- Parquet


def _parquet(sheet: Sheet, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
        sheet.columns = [name for name in table.column_names if not name.startswith("__index_")]
        for name, count in Counter(sheet.columns).items():
            if count > 1:
                sheet.fault(None, name, f"the column comes {count} times", "rename or drop one")
        records = table.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = f"not a readable Parquet file ({str(error).splitlines()[0][:120]})"
        raise sheet.stop(None, "", what, "write it anew, for instance with to_parquet") from error
    for number, record in enumerate(records, 1):
        sheet.rows[number] = {name: record[name] for name in sheet.columns}
