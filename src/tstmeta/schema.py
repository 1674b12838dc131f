"""The five tables, the signature and the statuses: the words that the rest of the package speaks.

Tables are validated where they enter, by :func:`validate`, and trusted after.  A user's mistake
becomes a :class:`DataError` that carries one :class:`Problem` a fault.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .secrecy import conceal

if TYPE_CHECKING:  # imported late: the command line must start at once
    import pandas as pd
    import pandera.pandas as pa

#: What a rating can be about.  ``overall``, ``structure`` and ``overcorrection`` occur in few sets.
DIMENSIONS = ("content", "style", "fluency", "overall", "structure", "overcorrection")
#: What an output is compared with: its source (S-), its references (R-) or nothing.
BASES = ("source", "reference", "none")
#: The rater name under which a released mean is stored (the single ratings were not released).
MEAN_RATER = "mean"


class Status(StrEnum):
    """The outcome of a score.  Only ``ok``, ``empty`` and ``truncated`` carry a value."""

    OK = "ok"
    EMPTY = "empty"  # a text was empty: the value is the metric's value for "nothing matches"
    TRUNCATED = "truncated"  # a text was longer than max_tokens and was cut before scoring
    REFUSED = "refused"
    INVALID = "invalid"
    ERROR = "error"

    @property
    def has_value(self) -> bool:
        """Whether a score with this status carries a number."""
        return self in (Status.OK, Status.EMPTY, Status.TRUNCATED)


#: Scores that count in an analysis; the others have no value.
USABLE = tuple(str(status) for status in Status if status.has_value)


def light(table: pd.DataFrame) -> pd.DataFrame:
    """A table with texts as categories: of millions of rows, a fifth of the memory."""
    return table.astype(dict.fromkeys(table.select_dtypes("str"), "category"))


class TstmetaError(Exception):
    """A mistake that the user can mend; URLs in the message lose user, password and query."""

    def __init__(self, *words: object):
        super().__init__(*(conceal(word) if isinstance(word, str) else word for word in words))


class Problem(NamedTuple):
    """One fault in an input file; ``row`` counts data rows from 1, None is the whole file."""

    file: str
    what: str
    row: int | None = None
    column: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        row = f"row {self.row}" if self.row is not None else ""
        column = f"column {self.column}" if self.column else ""
        where = ", ".join(filter(None, (self.file, row, column)))
        return f"{where}: {self.what}. Remedy: {self.remedy}."


class DataError(TstmetaError):
    """A file or table that cannot be used; lists every fault found, not only the first."""

    shown = 40

    def __init__(self, problems: Iterable[Problem]):
        self.problems = list(problems)
        count = len(self.problems)
        lines = [f"{count} problem{'s' * (count != 1)} found:"]
        lines += map(str, self.problems[: self.shown])
        lines += [f"... and {count - self.shown} more"] * (count > self.shown)
        super().__init__("\n".join(lines))


def check(problems: Iterable[Problem]) -> None:
    """Raise one DataError with all problems, if there are any."""
    if listed := list(problems):
        raise DataError(listed)


class MissingData(TstmetaError):
    """A raw file that is not on this machine; the message names the command that gets it."""


@dataclass(frozen=True)
class Signature:
    """All that changes a metric's value, as sacreBLEU prints beside its scores (Post, 2018).

    For instance ``bleu|basis:source|tok:13a|smooth:exp|version:2.6.0``.
    """

    name: str
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, fields: Mapping[str, object]) -> Self:
        """Build a signature; delimiters become ``_``, URLs lose user, password and query."""
        clean = str.maketrans({"|": "_", "\n": "_"})
        return cls(
            conceal(name),
            tuple((key, conceal(str(value).translate(clean))) for key, value in fields.items()),
        )

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.fields)])

    @property
    def hash(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 of the printed form."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:16]


def shown(value: object) -> str:
    """A cell as a report quotes it: escaped, on one line, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class CellCheck(NamedTuple):
    """A check of every cell, missing ones too, and the remedy that a report names."""

    passes: Callable[[Any], bool]
    remedy: str
    is_number: bool = False

    def every(self, cells: pd.Series) -> pd.Series:
        import pandas as pd

        if isinstance(cells.dtype, pd.StringDtype):  # the same text many times: looked at once
            codes, texts = pd.factorize(cells, use_na_sentinel=False)
            passed = pd.array([self.passes(text) for text in texts], bool)
            return pd.Series(passed[codes], cells.index)
        return cells.map(self.passes).astype(bool)


def member_of(known: Collection[str]) -> CellCheck:
    """Cells that are one of a few texts."""
    return CellCheck(
        lambda cell: isinstance(cell, str) and cell in known, f"use one of {', '.join(known)}"
    )


#: Cells that are texts and not blank.
FILLED = CellCheck(
    lambda cell: isinstance(cell, str) and bool(cell.strip()), "write a text or drop the row"
)
_HALF = re.compile("[\ud800-\udfff]")
_LIST = CellCheck(
    lambda cell: (
        isinstance(cell, list)
        and all(x is None or (isinstance(x, str) and not _HALF.search(x)) for x in cell)
    ),
    "use a list of texts",
)


def hold(frame: pd.DataFrame, schema: pa.DataFrameSchema, where: str) -> pd.DataFrame:
    """Validate a frame, indexed by row number from 1; every failure case becomes a Problem."""
    try:
        return schema.validate(frame, lazy=True)
    except pandera().errors.SchemaErrors as error:
        cases = error.failure_cases
    # Of texts that UTF-8 cannot hold pandera names neither row nor cell.
    remedy = "use texts that UTF-8 can hold"
    halves = [Problem(where, "not texts", None, name, remedy) for name in cases["column"].unique()]
    raise DataError(list(_problems(cases, schema, where)) or halves)


#: How a report names the types of columns.
_KINDS = {"float64": "numbers", "int64": "whole numbers", "bool": "True and False"}


def _problems(cases: pd.DataFrame, schema: pa.DataFrameSchema, where: str) -> Iterator[Problem]:
    """Failure cases of pandera in the order of the rows, each cell once."""
    unique = cases["check"].astype(str).str.contains("uniqueness")
    cases = cases.assign(column=cases["column"].mask(unique, ", ".join(schema.unique or [])))
    cases = cases.drop_duplicates(["column", "index"]).sort_values("index", kind="stable")
    cases = cases.assign(has_row=cases["index"].notna())
    for column, check, cell, index, has_row in cases[
        ["column", "check", "failure_case", "index", "has_row"]
    ].itertuples(index=False):
        check, kind = str(check), _KINDS.get(str(check).removeprefix("dtype('").removesuffix("')"))
        row = int(index) if has_row else None
        if row is None and not kind:  # a check that could not run on values of the wrong type
            continue
        what, remedy = f"bad value {shown(cell)}", f"use {kind}" if kind else check
        if "uniqueness" in check:
            what, remedy = "duplicate row", "keep one row for each combination of these columns"
        elif cell is None or not str(cell).strip() or check == "not_nullable":
            what = "missing value"
            if check in ("not_nullable", FILLED.remedy):
                remedy = "fill it in or drop the row"
        elif row is None:
            what = f"values of type {cell}"
        yield Problem(where, what, row, str(column), remedy)


_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def number(cell: Any) -> float:
    """A cell as a number; NaN for an empty cell, a truth value, a word, "1,5" or "1_0"."""
    if isinstance(cell, bool) or (isinstance(cell, str) and not _NUMBER.fullmatch(cell)):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def numeric(
    low: float = -math.inf, high: float = math.inf, *, integer=False, optional=False, hint=""
) -> CellCheck:
    """Cells that are finite numbers from ``low`` to ``high``, or empty where that is allowed."""
    kind = "whole" if integer else "finite"
    span = "" if math.isinf(low) else f" from {low:g} to {high:g}"
    remedy = f"use a {kind} number{span}" + ", or leave the cell empty" * optional + hint

    def passes(cell: Any) -> bool:
        if optional and (cell is None or (isinstance(cell, str) and not cell.strip())):
            return True
        value = number(cell)
        return math.isfinite(value) and low <= value <= high and not (integer and value % 1)

    return CellCheck(passes, remedy, is_number=True)


def checked(
    frame: pd.DataFrame, checks: Mapping[str, Any], where: Path | str, unique: Sequence[str] = ()
) -> pd.DataFrame:
    """Check cells, and convert columns with a :func:`numeric` check to floats (NaN = empty).

    ``frame`` is indexed by row number, from 1; ``checks`` gives a column its check or None;
    in the columns ``unique`` no two rows may agree.
    """
    pa = pandera()
    table = {name: Column(None, check, True).for_pandera() for name, check in checks.items()}
    try:
        hold(frame, pa.DataFrameSchema(table, unique=list(unique) or None), str(where))
    except TypeError:  # lists cannot be looked up among others: they are the fault
        hold(frame, pa.DataFrameSchema(table), str(where))
    numbers = [name for name, check in checks.items() if getattr(check, "is_number", False)]
    return frame.assign(**{name: frame[name].map(number).astype(float) for name in numbers})


def pandera() -> Any:
    """The library, which takes long to import; it stores texts as pandas does at its import."""
    import pandas as pd

    with pd.option_context("mode.string_storage", "auto"):
        import pandera.pandas
    return pandera.pandas


class Column(NamedTuple):
    """A column of a table: its type, the check of its cells, whether a cell may be missing."""

    kind: type | None
    check: CellCheck | None = None
    nullable: bool = False

    def for_pandera(self) -> pa.Column:
        pa, check, kind = pandera(), self.check, self.kind
        check = check and pa.Check(check.every, ignore_na=False, error=check.remedy)
        return pa.Column(kind, check, nullable=self.nullable, coerce=kind is str)


def _filled(*names: str) -> dict[str, Column]:
    return dict.fromkeys(names, Column(str, FILLED))


#: Table -> its columns, in order.
TABLES: dict[str, dict[str, Column]] = {
    "items": {
        **_filled("dataset", "item_id", "source_id"),
        **dict.fromkeys(("system", "style", "direction"), Column(str)),
        **_filled("language"),
        **dict.fromkeys(("source", "output"), Column(str, nullable=True)),
        "references": Column(object, _LIST),
        "is_reference": Column(bool),
    },
    "ratings": {
        **_filled("dataset", "item_id"),
        "dimension": Column(str, member_of(DIMENSIONS)),
        **_filled("rater"),
        "value": Column(float, CellCheck(lambda cell: not math.isinf(cell), "use a finite number")),
    },
    "labels": {**_filled("dataset", "item_id", "name"), "value": Column(str)},
    "preferences": {
        **_filled("dataset", "item_a", "item_b"),
        "dimension": Column(str, member_of(DIMENSIONS)),
        **_filled("rater"),
        "value": Column(str, member_of(("a", "b", "tie"))),
    },
    "scores": {
        **_filled("dataset", "item_id", "metric"),
        "dimension": Column(str, member_of(DIMENSIONS)),
        "basis": Column(str, member_of(BASES)),
        **_filled("signature"),
        "sample": Column(int),
        "value": Column(float, nullable=True),
        "status": Column(str, member_of([str(status) for status in Status])),
        "detail": Column(str),
    },
}
#: Columns in which no two rows of a table agree.
UNIQUE = {
    "items": ["dataset", "item_id"],
    "ratings": ["dataset", "item_id", "dimension", "rater"],
    "labels": ["dataset", "item_id", "name"],
    "scores": ["dataset", "item_id", "signature", "basis", "sample"],
}


def columns(table: str) -> list[str]:
    """Column names of a table, in order."""
    return list(TABLES[table])


def empty(table: str) -> pd.DataFrame:
    """A table with no rows and the right column types."""
    import pandas as pd

    types = {name: column.kind for name, column in TABLES[table].items()}
    return pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in types.items()})


def validate(frame: pd.DataFrame, table: str, where: str = "") -> pd.DataFrame:
    """Check a table against its schema and return it with a fresh index.

    Columns may come in any order.  Whole numbers are taken for a ``value``, and arrays of texts, as
    Parquet gives them back, for lists of references.

    Raises:
        DataError: one problem a missing or unknown column, and one a failing cell.
    """
    known, present, where = columns(table), [str(name) for name in frame.columns], where or table
    listed = ", ".join(known)
    other, remedy = [name for name in present if name not in known], f"use only {listed}"
    problems = [Problem(where, "unknown column", None, name, remedy) for name in other]
    missing, remedy = [n for n in known if n not in present], f"the table {table} has {listed}"
    problems += [Problem(where, "missing column", None, name, remedy) for name in missing]
    if not missing:
        frame = frame[known].set_axis(range(1, len(frame) + 1))
        if "value" in frame and frame["value"].dtype.kind in "iu":
            frame = frame.astype({"value": float})
        if "references" in frame:
            lists = frame["references"].map(lambda x: x.tolist() if hasattr(x, "tolist") else x)
            frame = frame.assign(references=lists.astype(object))
        try:
            checks = {name: column.for_pandera() for name, column in TABLES[table].items()}
            rule = pandera().DataFrameSchema(checks, unique=UNIQUE.get(table))
            frame = hold(frame, rule, where) if len(frame) else empty(table)
        except DataError as error:
            problems += error.problems
    check(problems)
    return frame.reset_index(drop=True)
