"""Writing, breaking and comparing small raw files of the upstream form; their texts are ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from tstmeta.data import Dataset
from tstmeta.schema import DataError

Harm = Callable[[Path], object]
#: Name of a fault -> file, what is done to it, words of the report.
Faults = Mapping[str, tuple[str, Harm, Sequence[str]]]


def write(path: Path, lines: Iterable[str], encoding: str = "utf-8") -> None:
    """Write lines, each ended by a newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))


def write_table(
    path: Path, rows: Sequence[Mapping[str, object]], delimiter: str = ",", encoding: str = "utf-8"
) -> None:
    """Write rows as a CSV file with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, sep=delimiter, index=False, encoding=encoding)


def write_rows(path: Path, columns: str, rows: Iterable[Sequence[object]], **form: str) -> None:
    """The same from rows of cells under some columns."""
    write_table(path, [dict(zip(columns.split(), row, strict=True)) for row in rows], **form)


def change(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text, which must be there."""
    text = path.read_bytes()
    assert old.encode() in text
    path.write_bytes(text.replace(old.encode(), new.encode(), 1))


def swap(old: str, new: str) -> Harm:
    return lambda path: change(path, old, new)


def drop_last_line(path: Path) -> None:
    write(path, path.read_bytes().decode().split("\n")[:-2])


def break_encoding(path: Path) -> None:
    """Put a byte that is in no UTF-8 text at the end of the first line."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\xff\n", 1))


def complaint(load: Callable[[Path], object], root: Path) -> str:
    """The message of the DataError that loading raises; each of its problems must have a remedy."""
    with pytest.raises(DataError) as caught:
        load(root)
    assert all(problem.remedy for problem in caught.value.problems)
    return str(caught.value)


def reporting(
    load: Callable[[Path], object], faults: Faults, root: str = "root"
) -> Callable[..., None]:
    """A test for each fault of the files in a fixture: the report names the file and has all words.

    It quotes nobody who rated; in all files their names are made up, and say so.
    """

    @pytest.mark.filterwarnings("ignore::tstmeta.data.files.UnverifiedForm")
    @pytest.mark.parametrize(("file", "harm", "words"), faults.values(), ids=faults)
    def test(request, file, harm, words):
        folder = request.getfixturevalue(root)
        harm(folder / file)
        message = complaint(load, folder)
        assert all(word in message for word in [Path(file).name, *words]), message
        assert not re.search("made-?up", message, re.I)

    return test


def pearson(dataset: Dataset, *pairs: tuple[str, str]) -> list[float]:
    """Pearson correlations of item means, with three decimals."""
    return [round(float(dataset.means[a].corr(dataset.means[b])), 3) for a, b in pairs]
