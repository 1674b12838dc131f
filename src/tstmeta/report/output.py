"""Tables of results as text for other programs: LaTeX with booktabs, Markdown, and files.

CSV, JSON and plain text of any table are in :mod:`tstmeta.console`.  Texts of data sets may be
hostile: whatever means something in LaTeX or Markdown is escaped, and a cell stays one line.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

import pandas as pd

from ..schema import TstmetaError


class TableFormat(StrEnum):
    """How a table of results is written."""

    table = "table"
    csv = "csv"
    json = "json"
    latex = "latex"
    markdown = "markdown"


#: What a file's name ends in, and what is written to it then.
ENDINGS = {
    ".csv": TableFormat.csv,
    ".json": TableFormat.json,
    ".tex": TableFormat.latex,
    ".md": TableFormat.markdown,
}


def format_of(out: Path | None, asked: TableFormat | str | None = None) -> TableFormat:
    """The format asked for, else what the file's name ends in, else a plain table.

    Raises:
        TstmetaError: a file whose name says no format, and none was asked for; a table for reading
            in a file.
    """
    if out is None:
        return TableFormat(asked or TableFormat.table)
    found = TableFormat(asked) if asked else ENDINGS.get(out.suffix.lower())
    if found is None:
        endings = ", ".join(ENDINGS)
        raise TstmetaError(
            f"cannot tell the format of {out.name}: end its name in {endings}, or say --format"
        )
    if found is TableFormat.table:
        raise TstmetaError("a file is csv, json, latex or markdown; a table is for reading")
    return found


def save(text: str, out: Path) -> None:
    """Write a file, whole or not at all.

    Raises:
        TstmetaError: a file that cannot be written.
    """
    partial = out.with_name(f"{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(text.encode())
        os.replace(partial, out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise TstmetaError(f"cannot write {out}: {error.strerror or error}") from error


# ------------------------------------------------------------------------------------- cells


def number(value: object, decimals: int = 3) -> str:
    """A cell as text: floats with some decimals, a missing value as ``-``."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:z.{decimals}f}"
    return str(value)


def _one_line(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)


def _cells(frame: pd.DataFrame) -> Iterable[list[object]]:
    objects = frame.astype(object)
    return objects.where(frame.notna(), None).to_numpy().tolist()


def _numeric(frame: pd.DataFrame) -> list[bool]:
    """Columns of numbers: by type, or where every cell that is there is a number."""
    found = []
    for name in frame.columns:
        given = frame[name].dropna()
        kinds = given.map(lambda cell: isinstance(cell, int | float) and not isinstance(cell, bool))
        found.append(frame[name].dtype.kind in "iuf" or (len(given) > 0 and bool(kinds.all())))
    return found


# ------------------------------------------------------------------------------------- LaTeX

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # behind a line's end these would be its arguments
    "]": "{]}",
    "*": "{*}",
    "−": r"$-$",
    "–": "--",
    "…": r"\ldots{}",
}


def escape_latex(text: str) -> str:
    """A text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def to_latex(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    label: str = "",
    notes: Sequence[str] = (),
    rule: int = 0,
) -> str:
    """A table for LaTeX; it needs ``\\usepackage{booktabs}``.

    Args:
        notes: lines that go before the table as comments: how to get these numbers again.
        rule: a line is drawn after so many rows; 0 for none.
    """
    numeric = _numeric(frame)
    lines = [f"% {_one_line(note)}" for note in notes]
    lines += [r"\begin{table}", r"\centering"]
    if caption:
        lines.append(rf"\caption{{{escape_latex(caption)}}}")
    if label:
        lines.append(rf"\label{{{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}")
    lines += [rf"\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric)}}}", r"\toprule"]
    lines.append(" & ".join(escape_latex(str(name)) for name in frame.columns) + r" \\")
    lines.append(r"\midrule")
    for place, row in enumerate(_cells(frame)):
        if rule and place == rule:
            lines.append(r"\midrule")
        lines.append(" & ".join(map(_latex_cell, row)) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _latex_cell(value: object) -> str:
    text = number(value)
    if isinstance(value, int | float):
        return re.sub(r"^-(?=.)", "$-$", text) if text != "-" else "--"
    return escape_latex("–" if text == "-" else text)


# ----------------------------------------------------------------------------------- Markdown

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~$#])")


def escape_markdown(text: str) -> str:
    """A text that Markdown shows as it stands, also inside a table."""
    return _MARKDOWN.sub(r"\\\1", _one_line(text).replace("&", "&amp;"))


def to_markdown(
    frame: pd.DataFrame, *, title: str = "", notes: Sequence[str] = (), rule: int = 0
) -> str:
    """A table for Markdown (pipes, as GitHub and MyST read it).

    Args:
        title: a line above the table.
        notes: lines below it.
        rule: a row of dashes stands after so many rows, as Markdown has no line; 0 for none.
    """
    heads = [escape_markdown(str(name)) or " " for name in frame.columns]
    lines = [f"**{escape_markdown(title)}**", ""] if title else []
    lines.append(f"| {' | '.join(heads)} |")
    lines.append("|" + "|".join("---:" if n else "---" for n in _numeric(frame)) + "|")
    for place, row in enumerate(_cells(frame)):
        if rule and place == rule:
            lines.append(f"| {' | '.join(['—'] * len(heads))} |")
        lines.append(f"| {' | '.join(escape_markdown(number(cell)) for cell in row)} |")
    if notes:
        lines += ["", *(f"- {escape_markdown(note)}" for note in notes)]
    return "\n".join(lines) + "\n"
