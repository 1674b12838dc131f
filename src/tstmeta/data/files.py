"""Files of rows that users write: CSV, TSV, JSON Lines or Parquet.

Rows count from 1 below the header, blank ones too; in JSON Lines a row is a line.  Reading ends at
the first row that is broken.  A location may be a folder or an address that fsspec opens: ``hf://``,
``s3://``, ``https://`` work where the package for them is installed.
"""

import csv
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pandas as pd

from ..schema import DataError, Problem, TstmetaError, check, checked
from ..secrecy import conceal
from . import paths

#: Endings of names of files that are read.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: Halves of characters (a byte that is not UTF-8 is read as one) and NUL bytes.
BROKEN = re.compile("[\ud800-\udfff\0]")
# A cell may be a long text; after an open quote, no more than this is read.
csv.field_size_limit(2**27)


class Part(NamedTuple):
    """Rows of a file, by row number: texts, numbers, truth values, lists of these, or None."""

    file: str
    table: pd.DataFrame


def read_csv(
    path: Path, columns: Mapping[str, Any] | Iterable[str] = (), unique: Sequence[str] = ()
) -> pd.DataFrame:
    """A table of texts (an empty cell is ``""``), and of floats in columns checked as numbers.

    Args:
        columns: names that must be there, each with a check of its cells if this is a mapping.
        unique: columns in which no two rows may agree.
    """
    checks = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    table = read_part(path, checks).table.fillna("").astype(str)
    return checked(table, checks, path, unique).reset_index(drop=True)


def read_rows(path: Path, needed: Collection[str] = ()) -> pd.DataFrame:
    """The rows of a file, at least one, with the columns needed; see :class:`Part`."""
    part = read_part(path, needed)
    check_rows(part)
    return part.table


def check_rows(part: Part) -> None:
    """Raise a DataError if a part has no rows."""
    if part.table.empty:
        check([Problem(part.file, "there are no rows", remedy="add at least one row")])


def read_part(path: Path, needed: Collection[str] = ()) -> Part:
    """All rows of a file, with the columns needed.

    Raises:
        DataError: the file cannot be read, with the row where one is broken; or lacks columns.
    """
    if not paths.regular(path).is_file():
        check([Problem(str(path), "there is no such file", remedy="check the name and the folder")])
    if path.suffix.lower() not in ENDINGS:
        remedy = f"save it as one of {', '.join(ENDINGS)}"
        check([Problem(str(path), f"unknown format {path.suffix!r}", remedy=remedy)])
    parts = read_parts(partial(path.open, "rb"), str(path), sys.maxsize)
    part = next(parts, Part(str(path), pd.DataFrame()))
    missing = [name for name in needed if name not in part.table]
    remedy = f"the file needs the columns {', '.join(needed)}"
    check(Problem(str(path), "missing column", None, name, remedy) for name in missing)
    return part


def is_location(name: str) -> bool:
    """Whether a name can only mean a file, a folder or an address, not a registered data set."""
    return "://" in name or name.lower().endswith(ENDINGS) or os.path.isdir(name)


def files_of(location: str) -> list[tuple[Any, str]]:
    """The files of a location, each with the file system that opens it; of a folder, by name."""
    shown = conceal(location)
    try:
        system, path = fsspec.core.url_to_fs(location)
        listed = [path] if not system.isdir(path) else sorted(system.find(path))
        if listed == [path] and not system.exists(path):
            raise TstmetaError(f"{shown}: there is no such file. Remedy: check the name")
    except (ImportError, ValueError, OSError) as error:
        words = f"{shown} cannot be opened ({conceal(str(error))[:200]})"
        raise TstmetaError(f"{words}. Remedy: see the address, your rights to it, and that the "
                           "fsspec package for it is installed") from error  # fmt: skip
    read = [name for name in listed if name.lower().endswith(ENDINGS)]
    if not read:
        raise TstmetaError(f"{shown}: no file ends in {', '.join(ENDINGS)}. Remedy: name one")
    for name in read if "file" in system.protocol else ():
        paths.regular(Path(name))
    return [(system, name) for name in read]


def parts_of(location: str, size: int) -> Iterator[Part]:
    """The rows of all files of a location, at most ``size`` at once, so that memory stays flat."""
    for system, path in files_of(location):
        yield from read_parts(partial(system.open, path, "rb"), path, size)


def read_parts(start: Callable[[], Any], path: str, size: int) -> Iterator[Part]:
    """At most ``size`` rows at once, in order; ``start`` opens the file for bytes."""
    file, ending = conceal(path), path[path.rfind(".") :].lower()
    try:
        with start() as stream:
            rows = _READERS[ending](stream, file)
            while batch := list(islice(rows, size)):
                yield _part(file, batch)
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or conceal(str(error))[:100]})"
        remedy = "check its rights or the connection"
        raise DataError([Problem(file, what, remedy=remedy)]) from error


def _part(file: str, batch: Sequence[tuple[int, Mapping[str, Any]]]) -> Part:
    """A part from pairs of row number (0: no row) and the row's cells by column."""
    names = [*dict.fromkeys(chain.from_iterable(row for _, row in batch))]
    _check_names(file, names)
    check(problem for number, row in batch for problem in _unfit(file, number, row))
    rows = {number: row for number, row in batch if number}
    table = pd.DataFrame([*rows.values()], [*rows], names, dtype=object)
    return Part(file, table.where(table.notna(), None))


def _unfit(file: str, number: int, row: Mapping[str, Any]) -> Iterator[Problem]:
    """The faults of cells that no table can hold."""
    with suppress(TypeError, UnicodeEncodeError):
        if b"\0" not in "".join(row.values()).encode():
            return  # as nearly all rows of a file of texts
    for name, cell in row.items():
        inner = cell if isinstance(cell, list) else [cell]
        if any(isinstance(value, dict | list) for value in inner):
            remedy = "write a text, a number or a list of texts"
            yield Problem(file, "an object, or a list within a list", number, name, remedy)
        elif broken := BROKEN.search("".join(x for x in inner if isinstance(x, str))):
            what = f"a NUL byte or broken UTF-8 at character {broken.start() + 1}"
            yield Problem(file, what, number, name, "take it out and save the file as UTF-8")


def _check_names(file: str, names: Sequence[str]) -> None:
    """Refuse names of columns that are blank, broken, or come twice."""
    if BROKEN.search("".join(names)):
        what = "a NUL byte or broken UTF-8 in the names of columns"
        check([Problem(file, what, remedy="save the file as UTF-8")])
    for name, count in Counter(names).items():
        if not name or count > 1:
            what = f"the column comes {count} times" if name else "a column without a name"
            check([Problem(file, what, None, name, "give each column a name of its own")])


def _text(stream: Any, newline: str) -> io.TextIOWrapper:
    """Text of a stream; a byte that is not UTF-8 stays visible as half a character."""
    return io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline=newline)


def _csv(stream: Any, file: str, delimiter: str = ",") -> Iterator[tuple[int, dict[str, Any]]]:
    number, names, is_bare = 0, list[str](), True
    try:
        with _text(stream, "") as text:
            rows = csv.reader(text, delimiter=delimiter, strict=True)
            names = _header(file, next(rows, []), delimiter)
            for number, cells in enumerate(rows, 1):
                if len(cells) == len(names):
                    is_bare = False
                    yield number, dict(zip(names, cells, strict=True))
                elif cells:
                    what = f"{len(cells)} cells where the header has {len(names)}"
                    remedy = f"put a cell that contains {_DELIMITERS[delimiter]} in double quotes"
                    raise DataError([Problem(file, what, number, "", remedy)])
    except csv.Error as error:
        remedy = "close each double quote, and write one inside a quoted cell twice"
        raise DataError([Problem(file, f"broken CSV ({error})", number + 1, "", remedy)]) from error
    if names and is_bare:  # a header without rows
        yield 0, dict.fromkeys(names)


def _header(file: str, cells: Sequence[str], delimiter: str) -> list[str]:
    """Names of columns from the first row."""
    names = [name.strip() for name in cells]
    other = [mark for mark in _DELIMITERS if mark in "".join(names)]
    if len(names) == 1 and other:
        what = f"the columns are separated by {_DELIMITERS[other[0]]}"
        remedy = f"separate them with {_DELIMITERS[delimiter]} (.csv: commas, .tsv: tabs)"
        check([Problem(file, what, remedy=remedy)])
    _check_names(file, names)
    return names


def _json_lines(stream: Any, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines end in a newline; other ends of lines may stand in texts."""
    remedy = 'write one complete JSON object a line: {"source": ..., "output": ...}'
    with _text(stream, "\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line, object_pairs_hook=_keyed)
                what = "" if isinstance(value, dict) else "not a JSON object"
            except (ValueError, RecursionError) as error:
                what = f"not JSON ({str(error)[:60]})"
            check([Problem(file, what, number, "", remedy)] if what else [])
            yield number, value


def _keyed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, which has each key once: of two values one would be lost."""
    if len(keyed := dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return keyed


def _parquet(stream: Any, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The index that pandas adds is left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    last = 0
    try:
        table = pq.ParquetFile(stream)
        _check_names(file, table.schema_arrow.names)
        names = [name for name in table.schema_arrow.names if not name.startswith("__index_")]
        for group in range(table.num_row_groups):  # one iterator over all keeps what it read
            for batch in table.iter_batches(10_000, row_groups=[group]):
                for last, row in enumerate(batch.select(names).to_pylist(), last + 1):  # noqa: B020
                    yield last, row
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        what = f"not readable as Parquet after row {last} ({' '.join(str(error).split())[:80]})"
        remedy = "write it anew, for instance with to_parquet, with texts for dates and times"
        raise DataError([Problem(file, what, remedy=remedy)]) from error


#: Ending -> generator of rows: the number from 1, then the cells by column.
_READERS: dict[str, Callable[[Any, str], Iterator[tuple[int, dict[str, Any]]]]] = {
    ".csv": _csv,
    ".tsv": partial(_csv, delimiter="\t"),
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
