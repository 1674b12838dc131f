"""What the command line prints: tables on stdout, everything else on stderr.

A table is drawn at a terminal, is plain aligned text when piped (nothing cut, one row a line), or
is CSV or JSON.  Control characters are shown as escapes, so that no text can steer a terminal.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import storage

if TYPE_CHECKING:
    import pandas as pd

#: Control characters, ends of lines, marks of direction, and what UTF-8 or XML cannot hold.
_STEERING = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0x200E, 0x200F)
_STEERING += (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_STEERING += (*range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
_ESCAPES = {code: repr(chr(code))[1:-1] for code in _STEERING}
_LINES = _ESCAPES | {0x0A: "\n"}
#: A cell that a spreadsheet takes for a formula, escaped or not; and a cell that is a number.
_FORMULA = re.compile(r"'*(\t|\s*[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.ASCII | re.I)
_CONTROLS = {code: text for code, text in _ESCAPES.items() if code < 0xA0 and code not in (9, 10)}


#: The rows of a table, each by column.
TableRows = list[dict[str, Any]]
#: How a table is written on stdout, and a table of results.
Format = StrEnum("Format", ["table", "csv", "json"])
TableFormat = StrEnum("TableFormat", ["table", "csv", "json", "latex"])


def escaped(text: str) -> str:
    """A text on one line, with escapes for whatever steers a terminal."""
    return text.translate(_ESCAPES)


def note(*messages: str) -> None:
    """Lines for the person who waits, on stderr."""
    for message in messages:
        print(message.translate(_LINES), file=sys.stderr, flush=True)


def put(text: str, drawn: bool = False) -> None:
    """Lines on stdout: exact when piped, with escapes at a terminal unless drawn for it."""
    sys.stdout.write(text.translate(_LINES) if sys.stdout.isatty() and not drawn else text)


def waiting(what: str) -> AbstractContextManager[Any]:
    """A line at a terminal that ``what`` goes on, for as long as it does; elsewhere nothing."""
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(escaped(what)))


def show_table(frame: pd.DataFrame | TableRows, format: Format | str = Format.table) -> None:
    """Print a table on stdout, without its index.

    Args:
        frame: the table, or its rows, which need no pandas to be shown as a table.
        format: ``table`` (drawn at a terminal, plain when piped), ``csv`` or ``json`` (a list of
            objects, one a row).  In CSV and JSON numbers keep all their digits; a missing value is
            an empty cell or null, and a list is written as JSON.
    """
    if isinstance(frame, list) and format != Format.table:
        import pandas as pd

        frame = pd.DataFrame(frame).convert_dtypes()  # whole numbers stay whole beside gaps
    write = {Format.csv: to_csv, Format.json: to_json, Format.table: to_text}[Format(format)]
    put(write(frame), drawn=write is to_text)


def write_table(frame: pd.DataFrame, out: Path | None = None) -> None:
    """Write a table to a file, whole or not at all: JSON or Parquet by its ending, else CSV.

    Without a file CSV goes to stdout.
    """
    ending = out.suffix.lower() if out else ""
    if out is None:
        put(to_csv(frame))
    elif ending == ".parquet":
        with storage.replacing(out) as draft:
            frame.to_parquet(draft, index=False)
    else:
        storage.write(out, to_json(frame) if ending == ".json" else to_csv(frame))


def to_csv(frame: pd.DataFrame, for_people: bool = False) -> str:
    """A table as CSV with line ends ``\\n``; lists are written as JSON.

    Args:
        for_people: the file will be opened in a spreadsheet, and its texts are :func:`inert`.
    """
    frame = frame.map(lambda value: _dumps(value) if isinstance(value, list | dict) else value)
    if for_people:
        frame = frame.rename(columns=inert).map(lambda v: inert(v) if isinstance(v, str) else v)
    written = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in written:  # the csv module would leave it bare, and a reader would end the row there
        written = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return written


def inert(text: str) -> str:
    """A text that is no formula in a spreadsheet: an apostrophe before it, controls escaped.

    Source: OWASP, CSV Injection (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    text = text.translate(_CONTROLS)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_inert(text: str) -> str:
    """Undo :func:`inert`; escapes of control characters stay."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def to_json(frame: pd.DataFrame) -> str:
    """A table as a JSON list of objects, one a line; missing values and infinities are null."""
    keys = [str(column) for column in frame.columns]
    lines = []
    for row in _rows(frame):
        row = [None if value in (math.inf, -math.inf) else value for value in row]
        lines.append(_dumps(dict(zip(keys, row, strict=True))))
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def to_text(frame: pd.DataFrame | TableRows, rule: int = 0) -> str:
    """A table, or its rows, as text: drawn for a terminal, else aligned; a line after ``rule``."""
    if isinstance(frame, list):
        names, rows = [*(frame or [{}])[0]], iter([[*row.values()] for row in frame])
        numbers = [n for n in names if all(isinstance(row[n], int | None) for row in frame)]
    else:
        names, rows = [*frame.columns], _rows(frame)
        numbers = [name for name in names if frame[name].dtype.kind in "iuf"]
    cells = [[_cell(value) for value in row] for row in ([str(name) for name in names], *rows)]
    return (_drawn if sys.stdout.isatty() else _aligned)(cells, [n in numbers for n in names], rule)


def _drawn(cells: list[list[str]], numeric: list[bool], rule: int) -> str:
    """A table for the terminal, whose cells fold; the first row is the head."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, header_style="bold")
    for name, is_number in zip(cells[0], numeric, strict=True):
        table.add_column(Text(name), justify="right" if is_number else "left")
    for place, row in enumerate(cells[1:], 1):
        table.add_row(*map(Text, row), end_section=place == rule)
    console = Console(file=sys.stdout)
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().rstrip("\n").split("\n"))


def _aligned(cells: list[list[str]], numeric: list[bool], rule: int) -> str:
    """The columns under each other, two spaces apart; nothing is cut."""
    from rich.cells import cell_len

    columns = []
    for column, is_number in zip(zip(*cells, strict=True), numeric, strict=True):
        widths = [*map(cell_len, column)]
        gaps = [" " * (max(widths) - width) for width in widths]
        columns.append([g + c if is_number else c + g for c, g in zip(column, gaps, strict=True)])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)] or [""]
    if rule:
        lines.insert(1 + rule, "-" * min(max(map(len, lines)), 80))
    return "".join(f"{line}\n" for line in lines)


def _rows(frame: pd.DataFrame) -> Iterator[list[Any]]:
    """TableRows as plain Python values; a missing value of any kind is None."""
    objects = frame.astype(object)
    for row in objects.where(frame.notna(), None).itertuples(index=False, name=None):
        yield [value.item() if hasattr(value, "item") else value for value in row]


def _cell(value: Any) -> str:
    """A value as one line of text; floats with three decimals, a missing value as ``-``."""
    if isinstance(value, list | dict):
        return escaped(_dumps(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    return f"{value:z.3f}" if isinstance(value, float) else escaped(str(value))


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
