"""How a target style is worded in an instruction.

"Rewrite the following sentence to be *appropriated*": the released program of Pauli et al. (2025)
words some styles otherwise than the data sets do.  ``styles.csv`` holds the wording for each data
set and direction, ``published`` where that program has it, else ``ours``.  A style that is not in
the table is put in as it stands.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..schema import DataError, Problem, TstmetaError


@cache
def shipped() -> dict[str, str]:
    """Style -> wording, over all data sets; no style is worded in two ways."""
    return {row["style"]: row["likelihood"] for row in table()}


@cache
def table() -> list[dict[str, str]]:
    """The rows of ``styles.csv``: dataset, direction, style, likelihood, origin."""
    text = files(__package__).joinpath("styles.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def read(path: Path) -> dict[str, str]:
    """Wordings of your own: a CSV file with the columns ``style`` and ``wording``.

    They are laid over the shipped ones.

    Raises:
        DataError: a column is missing, a cell is empty or a style comes twice.
    """
    try:
        reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
        rows, columns = list(reader), reader.fieldnames or []
    except csv.Error as error:
        problem = Problem(str(path), None, "", f"no CSV: {error}", "save it as CSV")
        raise DataError([problem]) from error
    except UnicodeDecodeError as error:
        problem = Problem(
            str(path), None, "", f"no UTF-8 at byte {error.start}", "save it as UTF-8"
        )
        raise DataError([problem]) from error
    except OSError as error:
        raise TstmetaError(f"cannot read wordings from {path}: {error.strerror}") from error
    problems, found = [], {}
    remedy = "the first line names the columns: style,wording"
    if missing := [name for name in ("style", "wording") if name not in columns]:
        raise DataError(
            [Problem(str(path), None, one, "no such column", remedy) for one in missing]
        )
    for number, row in enumerate(rows, 1):
        style, wording = (row.get(name) or "" for name in ("style", "wording"))
        if not style.strip() or not wording.strip():
            remedy = "fill in both columns, style and wording"
            problems.append(Problem(str(path), number, "", "missing style or wording", remedy))
        elif style in found:
            problems.append(Problem(str(path), number, "style", f"{style!r} again", "keep one row"))
        found[style] = wording
    if not rows:
        problems = [Problem(str(path), None, "", "no row", "add a row for each style")]
    if problems:
        raise DataError(problems)
    return {**shipped(), **found}


def hash_of(wordings: Mapping[str, str]) -> str:
    """First 8 hexadecimal digits of the SHA-256 of all wordings, in sorted order."""
    text = json.dumps(sorted(wordings.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]
