"""The five tables, the signature and the statuses: the words that the rest of the package speaks.

Everything that moves through tstmeta is one of five pandas tables (items, ratings, labels,
preferences, scores).  They are validated where they enter, by :func:`validate`, and trusted after.
A user's mistake becomes a :class:`DataError` that carries one :class:`Problem` a fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.errors import SchemaErrors

from .secrecy import conceal

#: What a rating can be about.  ``overall`` and ``structure`` occur in simplification data only.
DIMENSIONS = ("content", "style", "fluency", "overall", "structure")
#: What an output is compared with: its source (S-), its references (R-) or nothing.
BASES = ("source", "reference", "none")
#: The rater name under which a released mean is stored (the single ratings were not released).
MEAN_RATER = "mean"


class Status(StrEnum):
    """How a score came about.  Only ``ok``, ``empty`` and ``truncated`` carry a value."""

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


class TstmetaError(Exception):
    """A mistake that the user can mend; the message says what, where and what to do.

    URLs in it lose user, password and query, whoever wrote it.
    """

    def __init__(self, *words: object):
        super().__init__(*(conceal(one) if isinstance(one, str) else one for one in words))


class DemonstrationWarning(UserWarning):
    """The small embedded model shows how a metric works, not how well."""


class Problem(NamedTuple):
    """One fault in an input file.

    ``row`` is the line's data row counted from 1 (the header is row 0), or None for the whole file.
    """

    file: str
    row: int | None
    column: str
    what: str
    remedy: str

    def __str__(self) -> str:
        where = ", ".join(
            part
            for part in (
                self.file,
                f"row {self.row}" if self.row is not None else "",
                f"column {self.column}" if self.column else "",
            )
            if part
        )
        return f"{where}: {self.what}. Remedy: {self.remedy}."


class DataError(TstmetaError):
    """A file or table that cannot be used; lists every fault found, not only the first."""

    shown = 40

    def __init__(self, problems: Iterable[Problem]):
        self.problems = list(problems)
        lines = [str(problem) for problem in self.problems[: self.shown]]
        if len(self.problems) > self.shown:
            lines.append(f"... and {len(self.problems) - self.shown} more")
        count = len(self.problems)
        super().__init__("\n".join([f"{count} problem{'s' * (count != 1)} found:", *lines]))


class MissingData(TstmetaError):
    """A raw file that is not on this machine; the message names the command that gets it."""


# --------------------------------------------------------------------------------- signature


@dataclass(frozen=True)
class Signature:
    """All that changes a metric's value, as sacreBLEU prints beside its scores (Post, 2018).

    ``fields`` are (key, value) pairs in the order they are shown, for instance
    ``bleu|basis:source|tok:13a|smooth:exp|version:2.6.0``.
    """

    name: str
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, fields: Mapping[str, object]) -> Signature:
        """Build a signature; characters that delimit the printed form are replaced by ``_``.

        URLs in it lose user, password and query.
        """
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


# ------------------------------------------------------------------------------------ tables


def _text(**options) -> pa.Column:
    return pa.Column(str, coerce=True, **options)


def _is_list_of_text(values: pd.Series) -> pd.Series:
    return values.map(
        lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value)
    )


def _one_of(known: Iterable[str]) -> pa.Check:
    return pa.Check.isin(tuple(known), error=f"use one of {', '.join(known)}")


# What a check is called is the remedy that a report names.
_filled = pa.Check(lambda s: s.str.strip() != "", error="fill it in or drop the row")
#: How a report names the types of columns.
_KINDS = {
    "dtype('float64')": "numbers",
    "dtype('int64')": "whole numbers",
    "dtype('bool')": "True and False",
}

ITEMS = pa.DataFrameSchema(
    {
        "dataset": _text(checks=_filled),
        "item_id": _text(checks=_filled),
        "source_id": _text(checks=_filled),
        "system": _text(),
        "style": _text(),
        "direction": _text(),
        "language": _text(checks=_filled),
        "source": _text(),
        "output": _text(),
        "references": pa.Column(
            object, checks=pa.Check(_is_list_of_text, error="use a list of texts")
        ),
        "is_reference": pa.Column(bool),
    },
    unique=["dataset", "item_id"],
    strict=True,
    ordered=True,
    name="items",
)

RATINGS = pa.DataFrameSchema(
    {
        "dataset": _text(checks=_filled),
        "item_id": _text(checks=_filled),
        "dimension": _text(checks=_one_of(DIMENSIONS)),
        "rater": _text(checks=_filled),
        "value": pa.Column(float, checks=pa.Check(np.isfinite, error="use a finite number")),
    },
    unique=["dataset", "item_id", "dimension", "rater"],
    strict=True,
    ordered=True,
    name="ratings",
)

LABELS = pa.DataFrameSchema(
    {
        "dataset": _text(checks=_filled),
        "item_id": _text(checks=_filled),
        "name": _text(checks=_filled),
        "value": _text(),
    },
    unique=["dataset", "item_id", "name"],
    strict=True,
    ordered=True,
    name="labels",
)

PREFERENCES = pa.DataFrameSchema(
    {
        "dataset": _text(checks=_filled),
        "item_a": _text(checks=_filled),
        "item_b": _text(checks=_filled),
        "dimension": _text(checks=_one_of(DIMENSIONS)),
        "rater": _text(checks=_filled),
        "value": _text(checks=_one_of(("a", "b", "tie"))),
    },
    strict=True,
    ordered=True,
    name="preferences",
)

SCORES = pa.DataFrameSchema(
    {
        "dataset": _text(checks=_filled),
        "item_id": _text(checks=_filled),
        "metric": _text(checks=_filled),
        "dimension": _text(checks=_one_of(DIMENSIONS)),
        "basis": _text(checks=_one_of(BASES)),
        "signature": _text(checks=_filled),
        "sample": pa.Column(int),
        "value": pa.Column(float, nullable=True),
        "status": _text(checks=_one_of([str(status) for status in Status])),
        "detail": _text(),
    },
    unique=["dataset", "item_id", "signature", "basis", "sample"],
    strict=True,
    ordered=True,
    name="scores",
)

SCHEMAS = {
    schema.name: schema for schema in (ITEMS, RATINGS, LABELS, PREFERENCES, SCORES) if schema.name
}


def columns(table: str) -> list[str]:
    """Column names of a table, in order."""
    return list(SCHEMAS[table].columns)


def empty(table: str) -> pd.DataFrame:
    """A table with no rows and the right column types."""
    types = {
        "value": float if table in ("ratings", "scores") else str,
        "references": object,
        "is_reference": bool,
        "sample": int,
    }
    return pd.DataFrame(
        {name: pd.Series([], dtype=types.get(name, str)) for name in columns(table)}
    )


def validate(frame: pd.DataFrame, table: str, where: str = "") -> pd.DataFrame:
    """Check a table against its schema and return it with a fresh index.

    Columns may come in any order.  Whole numbers are taken for a ``value``, and arrays of texts, as
    Parquet gives them back, for lists of references.

    Raises:
        DataError: one problem a missing, unknown or doubled column and, where no column is missing
            or doubled, one a failing cell, with the row counted from 1.
    """
    schema, known = SCHEMAS[table], columns(table)
    given = [str(name) for name in frame.columns]
    listed = ", ".join(known)
    faults = {
        ("unknown column", f"use only {listed}"): [name for name in given if name not in known],
        ("missing column", f"the table {table} has {listed}"): [
            name for name in known if name not in given
        ],
        ("the column comes more than once", "rename or drop one"): [
            name for name in known if given.count(name) > 1
        ],
    }
    problems = [
        Problem(where or table, None, name, what, remedy)
        for (what, remedy), names in faults.items()
        for name in names
    ]
    if set(known) <= set(given) and len(set(given)) == len(given):
        ordered = frame[known].reset_index(drop=True)
        try:
            ordered = schema.validate(_typed(ordered), lazy=True) if len(ordered) else empty(table)
        except SchemaErrors as error:
            problems += _cell_problems(error.failure_cases, schema, where or table)
    if problems:
        raise DataError(problems)
    return ordered


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers as floats where a value is wanted, arrays as lists where a list is wanted."""
    if "value" in frame and frame["value"].dtype.kind in "iu":
        frame = frame.astype({"value": float})
    if "references" in frame:
        lists = [
            one.tolist() if isinstance(one, np.ndarray) else one for one in frame["references"]
        ]
        frame = frame.assign(references=pd.Series(lists, index=frame.index, dtype=object))
    return frame


def _cell_problems(
    cases: pd.DataFrame, schema: pa.DataFrameSchema, where: str
) -> Iterator[Problem]:
    """What pandera found, in the order of the rows, each fault once."""
    unique = cases["check"].astype(str).str.contains("uniqueness")
    cases = cases.assign(column=cases["column"].mask(unique, ", ".join(schema.unique or [])))
    cases = cases.drop_duplicates(["column", "check", "index"]).sort_values("index", kind="stable")
    for case in cases.itertuples():
        check, kind = str(case.check), _KINDS.get(str(case.check), "")
        row = None if pd.isna(case.index) else int(case.index) + 1
        if row is None and not kind:  # a check that could not run on values of the wrong type
            continue
        what, remedy = f"bad value {case.failure_case!r}", check
        if "uniqueness" in check:
            what, remedy = "duplicate row", "keep one row for each combination of these columns"
        elif check == "not_nullable":
            what, remedy = "missing value", "fill it in or drop the row"
        elif kind:
            what = what if row else f"values of type {case.failure_case}"
            remedy = f"use {kind}"
        yield Problem(where, row, str(case.column), what, remedy)
