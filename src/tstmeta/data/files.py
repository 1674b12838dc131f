"""Files of rows as somebody made them: CSV, TSV, JSONL or Parquet, read without trusting them.

Reading goes on after a fault where it can.  Rows are counted as a person counts them: from 1 below
the header, blank ones too; in JSONL a row is a line.  A location may be a folder or an address that
fsspec opens: ``hf://``, ``s3://``, ``https://`` work where the package for them is installed.
"""

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pandas as pd

from ..schema import DataError, Problem, TstmetaError
from ..secrecy import conceal
from . import paths
from .checks import check, checked, fault

#: Endings of names of files that are read.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: Halves of characters (a byte that is not UTF-8 is read as one) and NUL bytes.
BROKEN = re.compile("[\ud800-\udfff\0]")
#: Rows that are held as cells at once; a table of texts takes a fraction of the room.
_HELD = 50_000
# a cell may be a long text; where a quote is not closed, no more than this is read
csv.field_size_limit(2**27)


class Part(NamedTuple):
    """Rows of a file, and the faults met while reading them.

    ``table`` is indexed by row number; its cells are texts, numbers, truth values, lists of these,
    or None for what is not there; those of CSV and TSV are texts.
    """

    file: str
    table: pd.DataFrame
    problems: list[Problem]


def read_text(path: Path) -> str:
    """The whole file as text, without a byte order mark; line ends as they are."""
    try:
        return paths.regular(path).read_bytes().decode().removeprefix("\ufeff")
    except OSError as error:
        what, remedy = error.strerror or str(error), "check the name, the folder and your rights"
    except UnicodeDecodeError as error:
        what, remedy = f"not UTF-8 ({error.reason} at {error.start})", "save it as UTF-8"
    raise DataError([fault(path, what, remedy=remedy)])


def read_csv(
    path: Path, columns: Mapping[str, Any] | Iterable[str] = (), unique: Sequence[str] = ()
) -> pd.DataFrame:
    """A table whose cells are texts (an empty cell is ``""``), or numbers if so held.

    Args:
        columns: names that must be there, each with a check of its cells if this is a mapping.
        unique: columns in which no two rows may agree.
    """
    part = _whole(path)
    checks = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    check([*part.problems, *lacking(part, checks)])
    table = checked(part.table.fillna("").astype(str), checks, path, unique)
    return table.reset_index(drop=True)


def lacking(part: Part, needed: Iterable[str]) -> Iterator[Problem]:
    """A problem for each column that is not there."""
    remedy = f"the file needs the columns {', '.join(needed)}"
    for name in needed:
        if name not in part.table:
            yield fault(part.file, "missing column", None, name, remedy)


def read_rows(path: Path) -> Part:
    """All rows of a file; it has some.

    Raises:
        DataError: nothing can be read.
    """
    part = _whole(path)
    if part.table.empty:
        remedy = "add at least one row"
        check(part.problems or [fault(path, "there are no rows", remedy=remedy)])
    return part


def _whole(path: Path) -> Part:
    if not paths.regular(path).is_file():
        check([fault(path, "there is no such file", remedy="check the name and the folder")])
    if path.suffix.lower() not in ENDINGS:
        remedy = f"save it as one of {', '.join(ENDINGS)}"
        check([fault(path, f"unknown format {path.suffix!r}", remedy=remedy)])
    parts = [
        part._replace(table=part.table.apply(_packed))
        for part in read_parts(partial(path.open, "rb"), str(path), _HELD)
    ]
    names = dict.fromkeys(chain.from_iterable(part.table for part in parts))
    tables = [p.table.assign(**dict.fromkeys(names.keys() - {*p.table})) for p in parts]
    problems = [problem for part in parts for problem in part.problems]
    table = pd.concat(tables)[list(names)] if tables else pd.DataFrame()
    return Part(str(path), table, problems)


def _packed(cells: pd.Series) -> pd.Series:
    is_text = pd.api.types.infer_dtype(cells, skipna=False) == "string"
    return cells.astype("str") if is_text else cells


def is_location(name: str) -> bool:
    """Whether a name can only mean a file, a folder or an address, not a registered data set."""
    return "://" in name or name.lower().endswith(ENDINGS) or os.path.isdir(name)


def files_of(location: str) -> list[tuple[Any, str]]:
    """The files of a location, each with the file system that opens it; of a folder, by name.

    Raises:
        TstmetaError: nothing is there, nothing of it can be read, or a package is missing.
    """
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
    hidden = {name for name in listed if os.path.basename(name).startswith(("_", "."))} - {path}
    read = [name for name in listed if name.lower().endswith(ENDINGS) and name not in hidden]
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
    """At most ``size`` rows at once, in order; ``start`` opens the file for bytes.

    Raises:
        DataError: the file cannot be read on.
    """
    file, ending = conceal(path), path[path.rfind(".") :].lower()
    read = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet}[ending]
    rows: dict[int, dict[str, Any]] = {}
    problems: list[Problem] = []
    names: list[str] | None = None
    row = -1
    try:
        with start() as stream:
            for row, record in read(stream, file):
                if row == 0:
                    names = record
                    continue
                new = [record] if isinstance(record, Problem) else [*_faults(file, row, record)]
                problems += new
                if not new:
                    rows[row] = record
                if len(rows) == size:
                    yield _part(file, rows, problems, names)
                    rows, problems = {}, []
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or conceal(str(error))[:100]})"
        raise DataError(
            [*problems, fault(file, what, remedy="check its rights, or the connection")]
        ) from error
    if rows or problems or row == 0:
        yield _part(file, rows, problems, names)


def _part(file: str, rows: dict[int, dict[str, Any]], problems: list[Problem], names: Any) -> Part:
    table = pd.DataFrame([*rows.values()], index=[*rows], columns=names, dtype=object)
    return Part(file, table.where(table.notna(), None), problems)


def _faults(file: str, row: int, record: Mapping[str, Any]) -> Iterator[Problem]:
    """What no cell may be; such text cannot even be put into a table."""
    for name, cell in record.items():
        inner = cell if isinstance(cell, list) else [cell]
        if any(isinstance(value, dict | list) for value in inner):
            remedy = "write a text, a number or a list of texts"
            yield fault(file, "an object, or a list within a list", row, name, remedy)
        elif broken := BROKEN.search("".join(x for x in inner if isinstance(x, str))):
            what = f"a NUL byte or broken UTF-8 at character {broken.start() + 1}"
            yield fault(file, what, row, name, "take it out and save the file as UTF-8")


def _check_names(file: str, names: Sequence[str]) -> None:
    """Refuse names of columns that are blank, broken, or come twice."""
    if BROKEN.search("".join(names)):
        what = "a NUL byte or broken UTF-8 in the names of columns"
        check([fault(file, what, remedy="save the file as UTF-8")])
    for name, count in Counter(names).items():
        if not name or count > 1:
            what = f"the column comes {count} times" if name else "a column without a name"
            check([fault(file, what, None, name, "give each column a name of its own")])


def _text(stream: Any, newline: str) -> io.TextIOWrapper:
    """Text of a stream; a byte that is not UTF-8 stays visible as half a character."""
    return io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline=newline)


def _csv(stream: Any, file: str, delimiter: str = ",") -> Iterator[tuple[int, Any]]:
    row, names = -1, list[str]()
    try:
        with _text(stream, "") as text:
            for row, cells in enumerate(csv.reader(text, delimiter=delimiter, strict=True)):
                if row == 0:
                    yield 0, (names := _header(file, cells, delimiter))
                elif len(cells) == len(names):
                    yield row, dict(zip(names, cells, strict=True))
                elif cells:
                    what = f"{len(cells)} cells where the header has {len(names)}"
                    remedy = f"put a cell that contains {_DELIMITERS[delimiter]} in double quotes"
                    yield row, fault(file, what, row, "", remedy)
    except csv.Error as error:
        what = f"broken CSV ({error}); nothing below is read"
        remedy = "close each double quote, and write one inside a quoted cell twice"
        row = max(row + 1, 1)
        yield row, fault(file, what, row, "", remedy)


def _header(file: str, cells: Sequence[str], delimiter: str) -> list[str]:
    names = [name.strip() for name in cells]
    other = [mark for mark in _DELIMITERS if mark in "".join(names)]
    if not names:
        check([fault(file, "the first line is blank", remedy="name the columns there")])
    if len(names) == 1 and other:
        what = f"the columns are separated by {_DELIMITERS[other[0]]}"
        remedy = f"separate them with {_DELIMITERS[delimiter]} (.csv: commas, .tsv: tabs)"
        check([fault(file, what, remedy=remedy)])
    _check_names(file, names)
    return names


def _tsv(stream: Any, file: str) -> Iterator[tuple[int, Any]]:
    return _csv(stream, file, "\t")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1 or not key or BROKEN.search(key):
            raise ValueError(f"the key {key!r} comes twice, is empty or is not UTF-8")
    return dict(pairs)


def _jsonl(stream: Any, file: str) -> Iterator[tuple[int, Any]]:
    """Lines end in a newline; other ends of lines may stand in texts."""
    remedy = 'write one complete JSON object a line: {"source": ..., "output": ...}'
    with _text(stream, "\n") as lines:
        for row, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line, object_pairs_hook=_unique)
                what = "" if isinstance(value, dict) else "not a JSON object"
            except (ValueError, RecursionError) as error:
                what = f"not JSON ({str(error)[:60]})"
            yield row, fault(file, what, row, "", remedy) if what else value


def _parquet(stream: Any, file: str) -> Iterator[tuple[int, Any]]:
    """Rows are numbered from 1; the index that pandas adds is left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        table = pq.ParquetFile(stream)
        _check_names(file, table.schema_arrow.names)
        for group in range(table.num_row_groups):  # one iterator over all keeps what it read
            for batch in table.iter_batches(10_000, row_groups=[group]):
                for record in batch.to_pylist():
                    row += 1
                    yield row, {k: v for k, v in record.items() if not k.startswith("__index_")}
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        what = f"not readable as Parquet after row {row} ({' '.join(str(error).split())[:80]})"
        remedy = "write it anew, for instance with to_parquet, with texts for dates and times"
        raise DataError([fault(file, what, remedy=remedy)]) from error
