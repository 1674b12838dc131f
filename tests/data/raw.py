"""Writing small raw files of the upstream form; their texts are ours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd


def write(path: Path, lines: Iterable[str], encoding: str = "utf-8") -> None:
    """Write lines, each ended by a newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))


def write_table(path: Path, rows: Sequence[Mapping[str, object]], delimiter: str = ",") -> None:
    """Write rows as a CSV file with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, sep=delimiter, index=False)


def write_rows(path: Path, columns: str, rows: Iterable[Sequence[object]], **form: str) -> None:
    """The same from rows of cells under some columns."""
    write_table(path, [dict(zip(columns.split(), row, strict=True)) for row in rows], **form)
