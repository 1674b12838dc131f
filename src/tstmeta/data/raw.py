"""Reading published files, whose SHA-256 the manifest pins: what is wrong with one shows there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd


def read_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Lines of a text file, split at newlines only, without a last empty line.

    ``str.splitlines`` would also cut at U+0085 or U+2028, which occur inside sentences.
    """
    text = path.read_bytes().decode(encoding).removeprefix("\ufeff").removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")]


def read_tabs(path: Path, columns: Sequence[Any], encoding: str = "utf-8") -> pd.DataFrame:
    """A tab-separated file without header and without quoting, all cells as text."""
    rows = [line.split("\t") for line in read_lines(path, encoding)]
    return pd.DataFrame(rows, columns=list(columns), dtype=str)


def read_csv(path: Path, **form: Any) -> pd.DataFrame:
    """A CSV file with a header, all cells as text; an empty one is ``""``.

    ``form`` goes to pandas.
    """
    return pd.read_csv(path, dtype=str, keep_default_na=False, index_col=False, **form)


def read_json_lines(path: Path) -> list[Any]:
    """A file with one JSON value a line."""
    return [json.loads(line) for line in read_lines(path)]


def floats(values: Any) -> pd.Series | pd.DataFrame:
    """Cells as numbers; an empty one is NaN."""
    return values.replace("", None).astype(float)
