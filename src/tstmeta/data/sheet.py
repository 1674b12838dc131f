"""A file of rows as somebody made it: CSV, TSV, JSONL or Parquet, read without trusting it.

Reading goes on after a fault where it can.  Rows are counted as a person counts them: from 1 below
the header, blank ones too; in JSONL a row is a line.
"""

import csv
import difflib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from ..schema import DataError, Problem
from ..secrecy import conceal
from .checks import checked

#: Endings of names of files that are read.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: Halves of characters (a byte that is not UTF-8 is read as one) and NUL bytes.
BROKEN = re.compile("[\ud800-\udfff\0]")
#: Rows that are held as cells at once; a table of texts takes a fraction of the room.
_HELD = 50_000


@dataclass
class Sheet:
    """Rows and the faults found while reading them.

    ``header`` is the row number of the header, None for formats without one.  ``rows`` has cells by
    row number; those of CSV or TSV are texts, None stands for null and a key that is not there.
    ``tables`` has rows before them, see :meth:`take`.
    """

    file: str
    header: int | None = 0
    columns: list[str] = field(default_factory=list)
    rows: dict[int, list[Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    tables: list[pd.DataFrame] = field(default_factory=list)
    broken: bool = False

    def take(self, part: "Sheet") -> None:
        """Add the next rows of the file, as a table; of characters in them faults are noted."""
        self.header = part.header
        new = [name for name in part.columns if name not in self.columns]
        self.columns = self.columns + new if self.columns else part.columns
        self.broken |= (broken := part.has_broken())
        self.problems += part.problems
        if broken or not part.rows:  # such text cannot even be put into a table
            return
        table = part.frame()
        for name in table if table.columns.is_unique else ():
            if pd.api.types.infer_dtype(table[name], skipna=False) == "string":
                table[name] = table[name].astype("str")
        self.tables.append(table)

    def fault(self, row: int | None, column: str, what: str, remedy: str) -> None:
        """Note one fault and go on."""
        self.problems.append(Problem(self.file, row, BROKEN.sub("?", column), what, remedy))

    def stop(self, what: str, remedy: str, row: int | None = None) -> DataError:
        """The error for a fault after which reading makes no sense."""
        self.fault(row, "", what, remedy)
        return DataError(self.problems)

    def check_columns(self, *needed: str) -> None:
        """Note columns that have no name or come twice; a missing one ends the reading."""
        for place, (name, count) in enumerate(Counter(self.columns).items(), 1):
            if not name:
                self.fault(self.header, str(place), "a column without a name", "name it or drop it")
            elif count > 1:
                self.fault(self.header, name, f"the column comes {count} times", "drop one")
        remedy = f"the file needs the columns {', '.join(needed)}"
        for name in needed:
            if name not in self.columns:
                self.fault(self.header, name, "missing column", remedy)
        if not set(needed) <= set(self.columns):
            raise DataError(self.problems)

    def frame(self, names: Iterable[str] = ()) -> pd.DataFrame:
        """The cells as a table, indexed by row number."""
        rows, index = list(self.rows.values()), list(self.rows)
        table = pd.DataFrame(rows, index=index, columns=self.columns, dtype=object)
        if self.tables:
            lacking = [dict.fromkeys({*self.columns} - {*own}) for own in self.tables]
            tables = [own.assign(**none) for own, none in zip(self.tables, lacking, strict=True)]
            table = pd.concat(tables)[self.columns]
            self.tables = [table]
        for column in table.columns.intersection(list(names)):
            table[column] = table[column].map(_name)
        return table

    def hold(
        self, table: pd.DataFrame, checks: Mapping[str, Any], unique: Sequence[str] = ()
    ) -> pd.DataFrame:
        """A table whose cells pass, see :func:`.checks.checked`, of a file without a fault."""
        try:
            table = checked(table, checks, self.file, unique)
        except DataError as error:
            self.problems += error.problems
        self.refuse()
        return table

    def refuse(self) -> None:
        """Raise what was noted, if anything was, in order of rows."""
        if self.problems:
            raise DataError(sorted(self.problems, key=lambda p: (p.file, p.row or 0)))

    def csv_batches(
        self, lines: Iterable[str], delimiter: str, may_lack: int = 0, size: int | None = None
    ) -> Iterator[None]:
        """Read CSV strictly, and give the caller a turn after every ``size`` rows.

        A row may end ``may_lack`` cells early.
        """
        number = -1
        try:
            for number, record in enumerate(csv.reader(lines, delimiter=delimiter, strict=True)):
                if number == 0 and not record:
                    raise self.stop("the first line is blank", "name the columns there", 0)
                elif number == 0:
                    self.columns = record
                elif len(self.columns) - may_lack <= len(record) <= len(self.columns):
                    self.rows[number] = record + [""] * (len(self.columns) - len(record))
                    if len(self.rows) == size:
                        yield
                elif record:
                    what = f"{len(record)} cells where the header has {len(self.columns)}"
                    remedy = f"put a cell that contains {_DELIMITERS[delimiter]} in double quotes"
                    self.fault(number, "", what, remedy)
        except csv.Error as error:
            remedy = "close each double quote, and write one inside a quoted cell twice"
            self.fault(number + 1, "", f"broken CSV ({error}); nothing below is read", remedy)
        yield

    def settle(self) -> None:
        """Hold what was read to what every file of rows must be; faults are noted or raised."""
        self.check_columns()
        has_rows = self.rows or self.tables
        if not (has_rows or self.problems):
            self.fault(None, "", "there are no rows", "add at least one row")
        nameless = len(set(self.columns)) < len(self.columns) or "" in self.columns
        if nameless or not has_rows or self.broken or self.has_broken():
            raise DataError(dict.fromkeys(self.problems))  # that of a header is in every part

    def has_broken(self) -> bool:
        """Whether characters are broken, or lists too deep to be looked into; faults are noted."""
        before = len(self.problems)
        for row, record in [(self.header, self.columns), *self.rows.items()]:
            for column, cell in zip(self.columns, record, strict=True):
                try:
                    if broken := next(filter(None, map(BROKEN.search, _texts(cell))), None):
                        what = f"a NUL byte or broken UTF-8 at character {broken.start() + 1}"
                        self.fault(row, column, what, "take it out and save the file as UTF-8")
                except RecursionError:
                    what = "lists or objects within others, more than 20 deep"
                    self.fault(row, column, what, "write a text, a number or a list of texts")
        return len(self.problems) > before


def _name(cell: Any) -> Any:
    """A short text such as an id or a system; whole numbers are taken as written, null as ""."""
    if isinstance(cell, float) and cell.is_integer():  # an id that went through a float
        cell = int(cell)
    if cell is None or isinstance(cell, str):
        return (cell or "").strip()
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else cell


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that another one most likely means, or an empty text."""
    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.8)), "")


def read_sheet(path: Path) -> Sheet:
    """Read a file; its faults are in ``problems``, or raised where nothing can be read."""
    sheet, ending = Sheet(BROKEN.sub("?", str(path))), path.suffix.lower()
    if not path.is_file():
        raise sheet.stop("there is no such file", "check the name and the folder")
    if sheet.file != str(path):
        raise sheet.stop("the name of the file is not UTF-8", "rename it")
    if ending not in ENDINGS:
        raise sheet.stop(f"unknown format {ending!r}", f"save it as one of {', '.join(ENDINGS)}")
    for part in read_parts(partial(path.open, "rb"), sheet.file, ending, _HELD):
        sheet.take(part)
    sheet.settle()
    return sheet


def read_parts(start: Callable[[], Any], file: str, ending: str, size: int) -> Iterator[Sheet]:
    """Sheets of at most ``size`` rows, in order, not settled.

    Args:
        start: opens the file for bytes; ``file`` names it in messages.
        ending: one of :data:`ENDINGS`.

    Raises:
        DataError: the file cannot be read on.
    """
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
    sheet = Sheet(file, 0 if readers[ending] is _csv else None)
    try:
        with start() as stream:
            yield from readers[ending](sheet, stream, "\t" if ending == ".tsv" else ",", size)
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or conceal(str(error)[:100])})"
        raise sheet.stop(what, "check its rights, or the connection") from error


def _texts(cell: Any, deepest: int = 20) -> Iterator[str]:
    """The texts in a cell, those in its lists and objects too."""
    if isinstance(cell, str | bytes):
        yield cell if isinstance(cell, str) else cell.decode(errors="surrogateescape")
    elif isinstance(cell, list | tuple | dict):
        if not deepest:
            raise RecursionError
        for part in chain(cell, cell.values()) if isinstance(cell, dict) else cell:
            yield from _texts(part, deepest - 1)


def _text(sheet: Sheet, stream: Any) -> io.TextIOWrapper:
    """Text of a stream; a byte that is not UTF-8 stays visible as half a character."""
    if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
        raise sheet.stop("the file is UTF-16, not UTF-8", "save it as UTF-8")
    stream.seek(0)
    return io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")


def _csv(sheet: Sheet, stream: Any, delimiter: str, size: int) -> Iterator[Sheet]:
    with _text(sheet, stream) as text:
        for _ in sheet.csv_batches(text, delimiter, size=size):
            _check_header(sheet, delimiter)
            if sheet.rows or sheet.problems:
                yield replace(sheet)
            sheet.rows, sheet.problems = {}, []


def _check_header(sheet: Sheet, delimiter: str) -> None:
    """Names of columns without blanks around; one that holds other delimiters ends the reading."""
    sheet.columns = [name.strip() for name in sheet.columns]
    other = [mark for mark in _DELIMITERS if mark in "".join(sheet.columns)]
    if len(sheet.columns) <= 1 and other:
        what = f"the columns are separated by {_DELIMITERS[other[0]]}"
        remedy = f"separate them with {_DELIMITERS[delimiter]} (.csv: commas, .tsv: tabs)"
        raise sheet.stop(what, remedy, 0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise ValueError(f"the key {key!r} comes twice")
    return dict(pairs)


def _jsonl(sheet: Sheet, stream: Any, _: str, size: int) -> Iterator[Sheet]:
    with _text(sheet, stream) as text:
        lines = ((number, line) for number, line in enumerate(_lines(text), 1) if line.strip())
        while batch := list(islice(lines, size)):
            yield _of_json(replace(sheet, problems=[]), batch)


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines that end in a newline; other ends of lines may stand in texts."""
    left = ""
    while block := text.read(1 << 20):
        *whole, left = (left + block).split("\n")
        yield from whole
    yield left


def _of_json(sheet: Sheet, lines: Iterable[tuple[int, str]]) -> Sheet:
    """Numbered lines as objects; columns are all keys that occur."""
    objects = {}
    for number, line in lines:
        try:
            value = json.loads(line, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            what = f"not JSON ({str(error)[:60]})"
            sheet.fault(number, "", what, "write one complete JSON object a line")
            continue
        if isinstance(value, dict):
            objects[number] = value
        else:
            remedy = 'write one object a line: {"source": ..., "output": ...}'
            sheet.fault(number, "", "not a JSON object", remedy)
    sheet.columns = list(dict.fromkeys(key for value in objects.values() for key in value))
    sheet.rows = {n: [value.get(c) for c in sheet.columns] for n, value in objects.items()}
    return sheet


def _parquet(sheet: Sheet, stream: Any, _: str, size: int) -> Iterator[Sheet]:
    """Rows are numbered from 1; the index that pandas adds is left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = 1
    try:
        file = pq.ParquetFile(stream)
        for batch in _batches(file, size):
            names = enumerate(batch.schema.names)
            batch = batch.select([n for n, name in names if not name.startswith("__index_")])
            part = replace(sheet, columns=batch.schema.names, problems=[])
            pairs = zip(part.columns, batch.columns, strict=True)
            columns = [_values(part, name, column, first) for name, column in pairs]
            part.rows = dict(enumerate(map(list, zip(*columns, strict=True)), first))
            first += len(part.rows)
            yield part
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None):  # of the disk or the connection
            raise
        what = f"not a readable Parquet file ({str(error).splitlines()[0][:120]})"
        raise sheet.stop(what, "write it anew, for instance with to_parquet") from error


def _batches(file: Any, size: int) -> Iterator[Any]:
    """Tables of ``size`` rows, a row group at a time: one iterator over all keeps what it read."""
    import pyarrow as pa

    rest: list[Any] = []
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(size, row_groups=[group]):
            rest.append(batch)
            if sum(map(len, rest)) >= size:
                table = pa.Table.from_batches(rest)
                yield table[:size]
                rest = table[size:].to_batches()
    if rest:
        yield pa.Table.from_batches(rest)


def _values(sheet: Sheet, name: str, column: Any, first: int) -> list[Any]:
    """A column of Parquet in Python's types; what they cannot hold is a fault of its row."""
    values: list[Any] = []
    with suppress(ValueError, OverflowError, LookupError):
        return column.to_pylist()
    try:
        for value in column:
            values.append(value.as_py())
    except (ValueError, OverflowError, LookupError) as error:
        what = f"a value of type {column.type} that cannot be read ({str(error)[:60]})"
        sheet.fault(first + len(values), name, what, "write it as a text")
        raise DataError(sheet.problems) from error
    return values
