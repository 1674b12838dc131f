"""Your own data: rewrites, with or without ratings, in a file of yours.

One row is one rewrite.  Columns ``source`` and ``output`` are needed.  These are understood:
``item_id, source_id, system, style, direction, language, references, is_reference`` (``dataset`` is
allowed and not used: the data set is called after the file), ``reference``, ``reference_1``,
``reference_2``, ... for one reference each, and ``<dimension>.<rater>`` for ratings, such as
``content.r1``.  Any other column is a label of the items.

Ratings can also come as a long file with ``item_id, dimension, rater, value``.  A file
``mine.csv.toml`` beside ``mine.csv`` may give ``scale`` (``scale.content = [1, 5]``), ``ratings``
(the name of a long file beside it), ``title``, ``task``, ``licence``, and ``examples`` (whether
sentences may be printed).

Whatever is wrong is listed at once, with file, row, column and remedy.  An output may be empty (a
system may return nothing; metrics then have status ``empty``); a source may not.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..schema import DIMENSIONS, MEAN_RATER, DataError, Problem, TstmetaError
from .base import Card, Dataset
from .files import items_table, labels_table
from .own_ratings import Scale, long, mixed, ratings_table, unknown_dimension, wide
from .sheet import Sheet, read_frame, read_sheet, shown

__all__ = ["DataWarning", "read", "read_frame", "template"]

_TEXTS = ("source", "output")
_NAMES = ("item_id", "source_id", "system", "style", "direction", "language")
_KNOWN = (*_TEXTS, *_NAMES, "references", "is_reference", "dataset")
_REFERENCE = re.compile(r"reference(?:_(\d{1,4}))?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
#: Columns that say who somebody is.  They must not become labels, which are stored and shown.
_PERSON = re.compile(
    r"(worker|annotator|rater|prolific|participant|user|e-?mail)s?([ _.-]?(id|name|code))?", re.I
)
_TRUTH = {"": False, "false": False, "0": False, "no": False, "true": True, "1": True, "yes": True}


class DataWarning(UserWarning):
    """Something in your data that is allowed and that you should know."""


class _Roles(NamedTuple):
    """What the columns of a file are for."""

    references: list[str]
    ratings: dict[str, tuple[str, str]]
    labels: list[str]


def read(
    path: Path,
    ratings: Path | None = None,
    name: str | None = None,
    scale: Scale | None = None,
) -> Dataset:
    """Read a data set of your own from CSV, TSV, JSONL or Parquet.

    What is not given: ``item_id`` is the row number, ``source_id`` is the same for equal sources,
    ``language`` is ``en``.  Names of raters are not kept: ``r1``, ``r2``, ... and ``mean`` stay
    what they are, all others become the next free ``r<number>`` in order of first appearance.

    Args:
        path: the rewrites; see the module for the columns.
        ratings: a long file of ratings; goes before the one named in ``<path>.toml``.
        name: what the data set is called; by default the file's name without its ending.
        scale: dimension -> (lowest, highest) rating; goes before that of ``<path>.toml``.  Where
            no scale is known any finite number is a rating.

    Raises:
        DataError: everything that is wrong with the files.

    Warns:
        DataWarning: all ratings of a dimension are equal, so nothing can correlate with them.
    """
    name = name or path.stem
    sheet = read_sheet(path)
    facts = _beside(path, sheet.problems)
    limits = dict(facts.get("scale", {}) if scale is None else scale)
    beside = facts.pop("ratings", None)
    ratings = ratings or (path.parent / beside if beside else None)
    roles = _roles(sheet)
    ids = _item_ids(sheet)
    items = _items(sheet, roles)
    judged = wide(sheet, roles.ratings, ids, limits)
    if ratings is not None:
        if roles.ratings:
            what, remedy = f"ratings here and in {ratings}", "keep them in one place"
            sheet.fault(sheet.header, next(iter(roles.ratings)), what, remedy)
        judged, faults = long(ratings, set(ids.values()), limits)
        sheet.problems += faults
    for dimension in mixed(judged):
        what = f"{dimension} has single ratings and a mean"
        sheet.fault(sheet.header, f"{dimension}.{MEAN_RATER}", what, "drop the mean")
    if sheet.problems:
        raise DataError(
            sorted(sheet.problems, key=lambda p: (p.file, -1 if p.row is None else p.row))
        )
    labels = {label: [_label(cell) for _, cell in sheet.column(label)] for label in roles.labels}
    dataset = Dataset.of(
        name,
        items_table(name, item_id=list(ids.values()), **items),
        Card(name, facts.get("title", name), {"name": name, **facts, "scale": limits}),
        ratings=ratings_table(name, judged),
        labels=labels_table(name, ids.values(), **labels),
    )
    _warn_if_constant(dataset, path)
    return dataset


def _warn_if_constant(dataset: Dataset, path: Path) -> None:
    for dimension, values in dataset.ratings.groupby("dimension")["value"]:
        if values.min() == values.max():
            what = f"all {len(values)} ratings of {dimension} are {values.iloc[0]:g}"
            remedy = "nothing can correlate with them; rate items that differ"
            warnings.warn(
                str(Problem(str(path), None, "", what, remedy)), DataWarning, stacklevel=3
            )


def _beside(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """What ``<path>.toml`` says, if it is there; its faults go to ``problems``."""
    file = path.with_name(f"{path.name}.toml")
    if not file.is_file():
        return {}

    def fault(key: str, what: str, remedy: str) -> None:
        problems.append(Problem(str(file), None, key, what, remedy))

    try:
        facts = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        fault("", f"not TOML ({error})", "write for instance: scale.content = [1, 5]")
        return {}
    kinds = {
        "title": str,
        "task": str,
        "licence": str,
        "ratings": str,
        "examples": bool,
        "scale": dict,
    }
    for key in list(facts):
        if not isinstance(facts[key], kinds.get(key, ())):
            what = "a value of the wrong kind" if key in kinds else "unknown key"
            fault(key, what, f"use only {', '.join(kinds)}")
            del facts[key]
    for dimension, limits in list(facts.get("scale", {}).items()):
        if dimension not in DIMENSIONS:
            fault("scale", *unknown_dimension(dimension))
        elif not _is_scale(limits):
            fault("scale", f"{limits!r} is no scale", f"write for instance {dimension} = [1, 5]")
        else:
            continue
        del facts["scale"][dimension]
    return facts


def _is_scale(limits: Any) -> bool:
    numbers = isinstance(limits, list) and all(type(limit) in (int, float) for limit in limits)
    return numbers and len(limits) == 2 and limits[0] < limits[1]


# ------------------------------------------------------------------------------------ example


_EXAMPLE = """\
source,output,system,style,reference_1,reference_2,content.r1,content.r2,style.r1,style.r2
gonna be late :(,I am sorry to be late.,A,formal,I will be late.,I regret to be late.,5,4,5,5
gonna be late :(,I will be early.,B,formal,I will be late.,I regret to be late.,1,2,4,4
send me the bill,Could you send me the bill?,A,formal,Would you send me the bill?,,5,5,4,5
send me the bill,"send me the bill, ok",B,formal,Would you send me the bill?,,5,5,1,
"""


def template(path: Path) -> None:
    """Write a small example to start from: four rewrites, two raters, up to two references.

    Raises:
        TstmetaError: the file is there already, or its name does not end in .csv.
    """
    if path.suffix.lower() != ".csv":
        raise TstmetaError(f"the example is a CSV file: end its name in .csv, not {path.name!r}")
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            file.write(_EXAMPLE)
    except FileExistsError as error:
        raise TstmetaError(f"{path} is there already; name another file") from error


# ------------------------------------------------------------------------------------ columns


def _roles(sheet: Sheet) -> _Roles:
    """What each column is for; unknown, doubtful and missing ones are faults."""
    roles, meant = _Roles([], {}, []), set(sheet.columns)
    for column in sheet.columns:
        if column in _KNOWN:
            continue
        if _REFERENCE.fullmatch(column):
            roles.references.append(column)
        elif "." in column:
            _rating_column(sheet, column, roles)
        elif column in DIMENSIONS:
            remedy = f"name it {column}.r1, or {column}.{MEAN_RATER} if it is a mean of raters"
            sheet.fault(sheet.header, column, "a rating without a rater", remedy)
        elif _PERSON.fullmatch(column):
            remedy = "drop it; raters are r1, r2, ... in the names of the rating columns"
            sheet.fault(sheet.header, column, "looks like the identity of a person", remedy)
        elif near := _near(column, [*_KNOWN, "reference", *DIMENSIONS]):
            remedy = f"rename it to {near!r}, or to something less like it if it is a label"
            sheet.fault(sheet.header, column, "unknown column that looks misspelt", remedy)
            meant.add(near)
        else:
            roles.labels.append(column)
    for column, texts in (("source", "original texts"), ("output", "rewrites")):
        if column not in meant:
            remedy = f"name the column of {texts} {column!r}"
            sheet.fault(sheet.header, column, "missing column", remedy)
    if roles.references and "references" in sheet.columns:
        what, remedy = "references in two forms", f"keep 'references' or {roles.references[0]!r}"
        sheet.fault(sheet.header, "references", what, remedy)
    roles.references.sort(key=lambda column: int(re.sub(r"\D", "", column) or 0))
    return roles


def _rating_column(sheet: Sheet, column: str, roles: _Roles) -> None:
    dimension, _, rater = (part.strip() for part in column.partition("."))
    if dimension not in DIMENSIONS:
        what, remedy = unknown_dimension(dimension)
        sheet.fault(sheet.header, column, what, f"{remedy}; the name of a label has no dot")
    elif not rater:
        sheet.fault(sheet.header, column, "a rating without a rater", f"name it {dimension}.r1")
    elif (dimension, rater) in roles.ratings.values():
        what = f"the rater has another column of {dimension}"
        sheet.fault(sheet.header, column, what, "rename or drop one")
    else:
        roles.ratings[column] = (dimension, rater)


def _near(name: str, known: Iterable[str]) -> str:
    """The known name that a misspelt one most likely means, or an empty text."""
    by_key = {option.lower().strip(): option for option in known}
    found = difflib.get_close_matches(name.lower().strip(), by_key, n=1, cutoff=0.8)
    return by_key[found[0]] if found else ""


# -------------------------------------------------------------------------------------- items


def _item_ids(sheet: Sheet) -> dict[int, str]:
    """Row number -> item id."""
    if "item_id" not in sheet.columns:
        return {row: str(row) for row in sheet.rows}
    ids = {row: sheet.name(row, "item_id") for row in sheet.rows}
    first: dict[str, int] = {}
    for row, item in ids.items():
        if not item:
            remedy = "give each item an id, or drop the column (ids are then row numbers)"
            sheet.fault(row, "item_id", "an empty id", remedy)
        elif item in first:
            what = f"the id {shown(item)} is already in row {first[item]}"
            sheet.fault(row, "item_id", what, "give each item its own id")
        first.setdefault(item, row)
    return ids


def _items(sheet: Sheet, roles: _Roles) -> dict[str, list]:
    """The columns of an items table but for the ids."""
    rows = list(sheet.rows)
    texts = {column: [_text(sheet, row, column) for row in rows] for column in _TEXTS}
    named = {
        column: [sheet.name(row, column) for row in rows]
        for column in ("system", "style", "direction")
    }
    return {
        "source_id": _source_ids(sheet, texts["source"]),
        **named,
        "language": [_language(sheet, row) for row in rows],
        **texts,
        "references": [_references(sheet, row, roles.references) for row in rows],
        "is_reference": [_truth(sheet, row) for row in rows],
    }


def _text(sheet: Sheet, row: int, column: str) -> str:
    """A source or output.  A missing column is one fault of the file, not one of each row."""
    if column not in sheet.columns:
        return ""
    if column not in sheet.rows[row]:
        sheet.fault(row, column, "missing key", "each object needs source and output")
        return ""
    text = sheet.rows[row][column]
    if text is None and column == "output":
        remedy = 'write "" if the system returned nothing, else drop the row'
        sheet.fault(row, column, "null where a text is needed", remedy)
    elif text is not None and not isinstance(text, str):
        sheet.fault(row, column, f"{shown(text)} is not a text", "put it in quotes")
    elif column == "source" and not (text or "").strip():
        sheet.fault(row, column, "the source is empty", "fill it in or drop the row")
    return text if isinstance(text, str) else ""


def _source_ids(sheet: Sheet, sources: list[str]) -> list[str]:
    if "source_id" not in sheet.columns:
        numbers = {text: f"s{n}" for n, text in enumerate(dict.fromkeys(sources), 1)}
        return [numbers[text] for text in sources]
    ids = [sheet.name(row, "source_id") for row in sheet.rows]
    first: dict[str, tuple[int, str]] = {}
    for row, key, text in zip(sheet.rows, ids, sources, strict=True):
        before, same = first.setdefault(key, (row, text))
        if not key:
            remedy = "give each source an id, or drop the column (equal sources then share one)"
            sheet.fault(row, "source_id", "an empty id", remedy)
        elif text != same:
            what = f"{shown(key)} has another source than in row {before}"
            sheet.fault(row, "source_id", what, "give each source its own id")
    return ids


def _language(sheet: Sheet, row: int) -> str:
    code = sheet.name(row, "language") or "en"
    if not _LANGUAGE.fullmatch(code):
        remedy = "write a code such as en, de or pt-BR"
        sheet.fault(row, "language", f"{shown(code)} is not a language code", remedy)
    return code


def _truth(sheet: Sheet, row: int) -> bool:
    value = sheet.rows[row].get("is_reference")
    key = "" if value is None else str(value).strip().lower()
    if key not in _TRUTH:
        sheet.fault(
            row, "is_reference", f"{shown(value)} is not true or false", "write true or false"
        )
    return _TRUTH.get(key, False)


def _references(sheet: Sheet, row: int, columns: list[str]) -> list[str]:
    cells = sheet.rows[row]
    if columns:
        given = [(column, cells.get(column)) for column in columns]
        for column, text in given:
            if not isinstance(text, str | None):
                sheet.fault(row, column, f"{shown(text)} is not a text", "put it in quotes")
        return [text for _, text in given if isinstance(text, str) and text.strip()]
    value = cells.get("references")
    if sheet.header is not None and value:
        try:
            value = json.loads(value)
        except ValueError:
            value = "no list"
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        remedy = 'write ["first", "second"], or use columns reference_1, reference_2'
        sheet.fault(row, "references", "not a list of texts", remedy)
        return []
    if not all(isinstance(text, str) and text.strip() for text in value):
        what, remedy = "a reference is empty or not a text", "fill it in or take it out"
        sheet.fault(row, "references", what, remedy)
        return []
    return value


def _label(value: Any) -> str:
    """A label's value as text; a missing one is empty, which means: no such label."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)
