"""``rows.csv``: the rewrites with their verdicts, as a person reads and mends them.

A person may change two columns: ``output``, the rewrite, and ``accept``, which is ``yes`` for a row
that may go into the set whatever a check says, ``no`` for one that may not, and otherwise empty.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ...console import to_csv
from ...data.files import fault, read_csv
from ...schema import DataError, Problem, TstmetaError
from .plan import write_text
from .verdicts import CELLS, Row, Verdict, digest

FILE = "rows.csv"
COLUMNS = [
    *("item_id", "source_id", "system", "kind", "source", "output"),
    *("verdict", "why", "accept", "span", "note", "made"),
]
_ACCEPT = {"yes": "yes", "no": "no", "": "", "y": "yes", "n": "no"}


class Edit(NamedTuple):
    """What a person has settled of a row; the fields are those of :class:`.Row`."""

    output: str
    accept: str
    made: str


def write(folder: Path, rows: Iterable[Row], found: Mapping[tuple[str, str], Verdict]) -> Path:
    """Write the rows with their verdicts.

    Raises:
        TstmetaError: the file cannot be written.
    """
    lines = []
    for row in rows:
        verdict = found[row.source_id, row.cell]
        why = "; ".join(map(str, verdict.findings))
        head = (row.item_id, row.source_id, row.cell, row.kind, row.source, row.output)
        lines.append((*head, verdict.state, why, row.accept, verdict.span, row.note, row.made))
    write_text(folder / FILE, to_csv(pd.DataFrame(lines, columns=COLUMNS)))
    return folder / FILE


def read(folder: Path) -> list[Row]:
    """The rows of a folder, as a person may have changed them.

    Raises:
        TstmetaError: there are none yet.
        DataError: every fault: a row that is missing, doubled or of no source, rewrites of a
            source that disagree about it, an ``accept`` that is neither yes nor no.
    """
    path = folder / FILE
    if not path.is_file():
        raise TstmetaError(
            f"{folder} has no {FILE} yet. Remedy: let tstmeta construct end; the same command goes "
            "on where it stopped"
        )
    frame = read_csv(path, COLUMNS)
    problems: list[Problem] = []
    rows: list[Row] = []
    for number, cells in enumerate(frame.to_dict("records"), 1):
        accept = _ACCEPT.get(cells["accept"].strip().lower())
        if accept is None:
            what = f"{cells['accept']!r} is neither yes nor no"
            problems.append(fault(path, what, number, "accept", "write yes, no or nothing"))
        if cells["system"] not in CELLS:
            what = f"{cells['system']!r} is no cell of the design"
            problems.append(fault(path, what, number, "system", f"one of {', '.join(CELLS)}"))
        row = Row(
            source_id=cells["source_id"],
            cell=cells["system"],
            kind=cells["kind"],
            source=cells["source"],
            output=cells["output"].strip(),
            note=cells["note"],
            accept=accept or "",
            made=cells["made"],
        )
        if row.item_id != cells["item_id"]:
            remedy = "change only output and accept"
            problems.append(fault(path, "another id", number, "item_id", remedy))
        rows.append(row)
    problems += _whole(path, rows)
    if problems:
        raise DataError(problems)
    return rows


def _whole(path: Path, rows: list[Row]) -> Iterable[Problem]:
    """Each source has its four rewrites once, and they agree about it."""
    remedy = "put the rows back as they were; to leave one out, write no under accept"
    counts = Counter((row.source_id, row.cell) for row in rows)
    first: dict[str, tuple[str, str]] = {}
    for number, row in enumerate(rows, 1):
        if counts[row.source_id, row.cell] > 1:
            yield fault(path, "the row comes more than once", number, "item_id", remedy)
        if row.made.partition("-")[0] != digest(row.source):
            what = "the source is another one than was rewritten"
            yield fault(path, what, number, "source", "put it back; only output and accept change")
        if first.setdefault(row.source_id, (row.source, row.kind)) != (row.source, row.kind):
            what = f"{row.source_id} has another source or kind of error in a row above"
            yield fault(path, what, number, "source", remedy)
    for source_id in first:
        for cell in CELLS:
            if not counts[source_id, cell]:
                yield fault(path, f"there is no {cell} rewrite of {source_id}", remedy=remedy)


def stamp(folder: Path) -> str:
    """What tells one state of the table from another; empty where there is none."""
    path = folder / FILE
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def edits(rows: Iterable[Row]) -> dict[tuple[str, str], Edit]:
    """What a person has settled, by source and cell; the rest is the model's."""
    return {
        (row.source_id, row.cell): Edit(row.output, row.accept, row.made)
        for row in rows
        if row.accept or (row.output and row.made.partition("-")[2] != digest(row.output))
    }


def counted(found: Mapping[tuple[str, str], Verdict]) -> pd.DataFrame:
    """How many rows came to which verdict, and what was found in those that wait.

    Returns:
        Columns verdict, check (empty: all of the verdict) and rows.  A row with two findings
        counts in both.
    """
    states = Counter(verdict.state for verdict in found.values())
    lines = [(state, "", states[state]) for state in ("passed", "accepted", "rejected", "look")]
    checks = Counter(
        name
        for verdict in found.values()
        if verdict.state == "look"
        for name in {finding.check for finding in verdict.findings}
    )
    lines += [("look", name, count) for name, count in sorted(checks.items())]
    return pd.DataFrame(lines, columns=["verdict", "check", "rows"])
