"""Your own data: a file with one rewrite a row, with or without ratings.

Columns ``source`` and ``output`` are needed; other columns of the items, ``reference``,
``reference_1``, ... and ratings such as ``content.r1`` are understood, any other is a label.  The
data set is called after the file.  A file ``mine.csv.toml`` beside ``mine.csv`` may give ``scale``
(``scale.content = [1, 5]``), ``ratings`` (a file with ``item_id, dimension, rater, value``),
``preferences`` (a file with ``item_a, item_b, dimension, rater, value``), ``title``, ``task``,
``licence``, and ``examples`` (whether sentences may be printed).

Ratings and scores may stand in files of their own, one value a row.
"""

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, ValidationError

from .. import schema
from ..schema import BASES, DIMENSIONS, MEAN_RATER, DataError, Problem, Status
from ..secrecy import conceal
from .base import Card, Dataset
from .checks import FILLED, check, checked, each, fault, numeric, one_of
from .files import BROKEN, Part, lacking, read_rows, read_text
from .tables import items_table, labels_table, ratings_table, rename_raters

#: Dimension -> (lowest, highest) possible rating.
Scale = Mapping[str, tuple[float, float]]

_LONG = ("item_id", "dimension", "rater", "value")
_SCORE = ("item_id", "metric", "value")
#: What empty cells of a score file mean.
_DEFAULTS = {"dimension": "content", "basis": "source", "sample": 0, "status": "ok"}
_NAMES = ("item_id", "source_id", "system", "style", "direction", "language")
_KNOWN = ("source", "output", *_NAMES, "references", "is_reference", "dataset")
_REFERENCE = re.compile(r"reference(?:_(\d{1,4}))?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
#: Columns that say who somebody is.  They must not become labels, which are stored and shown.
_PERSON = re.compile(
    r"(worker|annotator|rater|prolific|participant|user|e-?mail)s?([ _.-]?(id|name|code))?", re.I
)
_TRUTH = {"": False, "false": False, "0": False, "no": False, "true": True, "1": True, "yes": True}

_NAME = each(lambda cell: isinstance(cell, str), "write a text or a whole number")
_TEXT = each(lambda cell: cell is None or isinstance(cell, str), "put the text in quotes")
_LABEL = each(lambda cell: not isinstance(cell, list), "write a text or a number")
_CHECKS: dict[str, Any] = {
    "source": each(
        lambda cell: isinstance(cell, str) and bool(cell.strip()), "write a text or drop the row"
    ),
    "output": each(
        lambda cell: isinstance(cell, str),
        'write a text, in quotes ("" if the system returned nothing), or drop the row',
    ),
    **dict.fromkeys(_NAMES, _NAME),
    "item_id": [_NAME, FILLED],
    "source_id": [_NAME, FILLED],
    "language": each(
        lambda code: code == "" or bool(isinstance(code, str) and _LANGUAGE.fullmatch(code)),
        "write a code such as en, de or pt-BR",
    ),
    "references": each(
        lambda cell: (
            isinstance(cell, list)
            and all(isinstance(text, str) and text.strip() for text in cell)
            and not BROKEN.search("".join(cell))  # JSON may spell what the file itself may not hold
        ),
        'write ["first", "second"], none of them empty, or use columns reference_1, reference_2',
    ),
    "is_reference": each(lambda cell: cell in _TRUTH, "write true or false"),
}


def _rising(limits: list[float]) -> list[float]:
    if limits[0] >= limits[1]:
        raise ValueError("the lowest rating comes first")
    return limits


_Limits = Annotated[list[FiniteFloat], Field(min_length=2, max_length=2), AfterValidator(_rising)]


class _Facts(BaseModel, extra="forbid", strict=True):
    title: str = ""
    task: str = ""
    licence: str = ""
    ratings: str = ""
    preferences: str = ""
    examples: bool = False
    scale: dict[Literal[DIMENSIONS], _Limits] = {}  # type: ignore[valid-type]


def read(path: Path | str) -> Dataset:
    """Read a data set of your own from CSV, TSV, JSONL or Parquet.

    What is not given: ``item_id`` is the row number, ``source_id`` is the same for equal sources,
    ``language`` is ``en``.  Names of raters are not kept: ``r1``, ``r2``, ... and ``mean`` stay
    what they are, all others become the next free ``r<number>`` in order of first appearance.

    Raises:
        DataError: everything that is wrong with the file, or else with those beside it.
    """
    path = Path(path)
    name, facts = path.stem, _beside(path)
    scale, file = facts.setdefault("scale", {}), facts.pop("ratings", "")
    compared = schema.empty("preferences")
    if beside := facts.pop("preferences", ""):
        other = read_rows(path.parent / beside)
        check(other.problems)
        compared = schema.validate(other.table.assign(dataset=name), "preferences", other.file)
    table, roles = _held(read_rows(path), scale, file)
    columns = {key: table[column] for column, key in roles.ratings.items()}
    judged = ratings_table(name, table["item_id"], columns)
    if file:
        judged = long(path.parent / file, name, set(table["item_id"]), scale)
    rename_raters(judged, compared)
    given = _given(table, roles)
    labels = {key: map(_label, table[key]) for key in roles.labels}
    return Dataset.of(
        name,
        items_table(name, **given),
        Card(name, facts.get("title", name), {"name": name, **facts}),
        ratings=judged,
        preferences=compared,
        labels=labels_table(name, given["item_id"], **labels),
    )


def items(part: Part, name: str) -> pd.DataFrame:
    """The items of a part of a file, as :func:`read` takes them; its ratings are checked, too.

    Of equal ids and of sources the part alone is looked at.

    Raises:
        DataError: everything that is wrong with the part.
    """
    return items_table(name, **_given(*_held(part, {})))


class _Roles(NamedTuple):
    """Columns of references, of ratings (with dimension and rater) and of labels."""

    references: list[str]
    ratings: dict[str, tuple[str, str]]
    labels: list[str]


def _given(table: pd.DataFrame, roles: _Roles) -> dict[str, Any]:
    """Columns of items, from cells that passed."""
    given = dict(table[table.columns.intersection(_KNOWN[:-1])])
    if "language" in given:
        given["language"] = given["language"].replace("", "en")
    if "is_reference" in given:
        given["is_reference"] = given["is_reference"].map(_TRUTH)
    if roles.references:
        texts = table[roles.references].itertuples(index=False)
        given["references"] = [[text for text in row if (text or "").strip()] for row in texts]
    return given


def beside(path: Path) -> list[Path]:
    """Files that are read with a data set."""
    facts = _beside(path) if path.is_file() else {}
    names = (facts.get("ratings"), facts.get("preferences"))
    return [Path(f"{path}.toml"), *(path.parent / name for name in names if name)]


def _beside(path: Path) -> dict[str, Any]:
    """What ``<path>.toml`` says, if it is there."""
    file = path.with_name(f"{path.name}.toml")
    if not file.is_file():
        return {}
    try:
        facts = _Facts.model_validate(tomllib.loads(read_text(file)))
        return facts.model_dump(exclude_unset=True)
    except ValidationError as error:
        faults = [(".".join(map(str, e["loc"])), e["msg"]) for e in error.errors()]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        faults = [("", f"not TOML ({error})")]
    remedy = f"use only {', '.join(_Facts.model_fields)}; a scale is written scale.content = [1, 5]"
    raise DataError(fault(file, what, None, key, remedy) for key, what in faults)


def _roles(columns: Sequence[str]) -> tuple[_Roles, list[tuple[str, str, str]]]:
    """What columns are for; of unknown, doubtful and missing ones what is wrong and the remedy."""
    roles, faults, meant = _Roles([], {}, []), [], set(columns)
    for column in columns:
        dimension, _, rater = column.partition(".")
        near = misspelt(column, (*_KNOWN, "reference", *DIMENSIONS))
        if column in _KNOWN:
            continue
        if _REFERENCE.fullmatch(column):
            roles.references.append(column)
        elif dimension in DIMENSIONS and rater:
            roles.ratings[column] = (dimension, rater)
        elif dimension in DIMENSIONS:
            remedy = f"name it {dimension}.r1, or {dimension}.{MEAN_RATER} if it is a mean"
            faults.append((column, "a rating without a rater", remedy))
        elif "." in column:
            remedy = f"use one of {', '.join(DIMENSIONS)}; the name of a label has no dot"
            faults.append((column, f"unknown dimension {dimension!r}", remedy))
        elif _PERSON.fullmatch(column):
            remedy = "drop it; raters are r1, r2, ... in the names of the rating columns"
            faults.append((column, "looks like the identity of a person", remedy))
        elif near:
            remedy = f"rename it to {near!r}, or to something less like it if it is a label"
            faults.append((column, "unknown column that looks misspelt", remedy))
            meant.add(near)
        else:
            roles.labels.append(column)
    for column, texts in (("source", "original texts"), ("output", "rewrites")):
        if column not in meant:
            faults.append((column, "missing column", f"name the column of {texts} {column!r}"))
    if roles.references and "references" in columns:
        remedy = f"keep 'references' or {roles.references[0]!r}"
        faults.append(("references", "references in two forms", remedy))
    roles.references.sort(key=lambda column: int(re.sub(r"\D", "", column) or 0))
    return roles, faults


def _held(part: Part, scale: Scale, beside: str = "") -> tuple[pd.DataFrame, _Roles]:
    """The cells, read as what they are for, of a part without a fault."""
    if part.table.empty:
        check(part.problems or [fault(part.file, "there are no rows", remedy="add at least one")])
    table = part.table.copy(deep=False)
    roles, faults = _roles([*table])
    if roles.ratings and beside:
        what, remedy = f"ratings here and in {beside}", "keep them in one place"
        faults.append((next(iter(roles.ratings)), what, remedy))
    problems = [fault(part.file, what, None, column, remedy) for column, what, remedy in faults]
    problems += [*part.problems, *mixed(roles.ratings.values(), part.file)]
    for column in table.columns.intersection(list(_NAMES)):
        table[column] = table[column].map(_name)
    if "is_reference" in table:
        table["is_reference"] = [_label(cell).strip().lower() for cell in table["is_reference"]]
    if "references" in table:
        table["references"] = table["references"].map(_list)
    checks = {column: check for column, check in _CHECKS.items() if column in table}
    lists = [name for name in roles.labels if table[name].dtype == object]  # a text is no list
    checks |= dict.fromkeys(roles.references, _TEXT) | dict.fromkeys(lists, _LABEL)
    for column, (dimension, _) in roles.ratings.items():
        checks[column] = numeric(*scale.get(dimension, ()), optional=True)
    if "item_id" not in table:
        table["item_id"] = table.index.astype(str)
    try:
        table = checked(table, checks, part.file, unique=["item_id"])
        if {"source", "source_id"} <= {*table}:
            first = table.groupby("source_id")["source"].transform("first")
            what = "the source_id of an earlier row with another source"
            rows, remedy = table.index[table["source"] != first], "give each source its own id"
            problems += [fault(part.file, what, row, "source_id", remedy) for row in rows]
        elif "source" in table:
            table["source_id"] = [f"s{n + 1}" for n in table["source"].factorize()[0]]
    except DataError as error:
        problems += error.problems
    check(sorted(problems, key=lambda problem: problem.row or 0))
    return table, roles


def _name(cell: Any) -> Any:
    """A short text such as an id or a system; whole numbers are taken as written, null as ""."""
    if isinstance(cell, float) and cell.is_integer():  # an id that went through a float
        cell = int(cell)
    if cell is None or isinstance(cell, str):
        return (cell or "").strip()
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else cell


def _list(cell: Any) -> Any:
    """References: a list, in JSON where the format has no lists; an empty cell is an empty list."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return [] if cell is None or cell == "" else cell


def _label(value: Any) -> str:
    """A label's value as text; a missing one is empty, which means: no such label."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that another one most likely means, or an empty text."""
    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.8)), "")


def _known(ids: set[str]):
    return each(
        lambda cell: isinstance(cell, str) and cell in ids, "use an item_id of the data set"
    )


def long(path: Path, dataset: str, ids: set[str], scale: Scale) -> pd.DataFrame:
    """Ratings from a file with one rating a row; raters are as the file names them."""
    part = read_rows(path)
    remedy = f"drop it: a file of ratings has only {', '.join(_LONG)}"
    strange = [name for name in part.table if name not in (*_LONG, "dataset")]
    problems = [fault(path, "unknown column", None, name, remedy) for name in strange]
    check([*part.problems, *problems, *lacking(part, _LONG)])
    table = part.table.assign(**{name: part.table[name].map(_name) for name in _LONG[:3]})
    checks = {"item_id": _known(ids), "dimension": one_of(DIMENSIONS), "rater": FILLED}
    table = checked(table, {**checks, "value": numeric()}, path, _LONG[:3])
    for dimension, rows in table.groupby("dimension"):
        checked(rows, {"value": numeric(*scale.get(str(dimension), ()))}, path)
    check(mixed(zip(table["dimension"], table["rater"], strict=True), part.file))
    return table.assign(dataset=dataset)[schema.columns("ratings")]


def rated(dataset: Dataset, path: Path) -> Dataset:
    """A data set with the ratings of a long file in the place of those it has."""
    name, ids = dataset.items["dataset"].iloc[0], set(dataset.items["item_id"])
    ratings = long(path, name, ids, dataset.card.scale)
    rename_raters(ratings)
    return replace(dataset, ratings=schema.validate(ratings, "ratings", name))


def mixed(rated: Iterable[tuple[str, str]], file: str) -> list[Problem]:
    """Dimensions that have both single ratings and a mean, which would count people twice."""
    raters: dict[str, set[str]] = {}
    for dimension, rater in rated:
        raters.setdefault(dimension, set()).add(rater)
    return [
        fault(file, f"{name} has single ratings and a mean", None, name, "drop the mean")
        for name, known in raters.items()
        if MEAN_RATER in known and len(known) > 1
    ]


def read_scores(path: Path, dataset: Dataset) -> pd.DataFrame:
    """Scores that were computed elsewhere, from CSV, TSV, JSONL or Parquet, as a ``scores`` table.

    Required columns: ``item_id, metric, value``; optional, also cell by cell: ``dimension``
    (content), ``basis`` (source), ``signature``, ``sample`` (0), ``status`` (ok), ``detail``.
    Without a signature the file's name and SHA-256 stand in for one.  A row whose status has no
    value (refused, invalid, error) needs none, and one given there does not count.
    """
    part, columns = read_rows(path), schema.columns("scores")
    near = {name: misspelt(name, columns) for name in part.table if name not in columns}
    problems = [
        fault(path, "unknown column that looks misspelt", None, name, f"write {meant}")
        for name, meant in near.items()
        if meant
    ]
    check([*part.problems, *problems, *lacking(part, _SCORE)])
    table = part.table.reindex(columns=columns)
    for column in columns:
        if column not in ("sample", "value"):
            table[column] = table[column].map(_name)
        empty = table[column].isna() | (table[column] == "")
        table[column] = table[column].mask(empty, _DEFAULTS.get(column, ""))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    for column in ("metric", "signature"):
        table[column] = table[column].map(lambda x: conceal(x) if isinstance(x, str) else x)
    origin = table["metric"].astype(str) + f"|file:{path.name}|sha256:{digest}"
    table["signature"] = table["signature"].mask(table["signature"] == "", origin)
    without = [str(status) for status in Status if not status.has_value]
    nothing = table["status"].map(lambda cell: cell in without)
    checks = {
        "item_id": _known(set(dataset.items["item_id"])),
        **dict.fromkeys(("metric", "signature"), FILLED),
        "detail": _TEXT,
        "dimension": one_of(DIMENSIONS),
        "basis": one_of(BASES),
        "sample": numeric(whole=True),
        "status": one_of([str(status) for status in Status]),
        "value": numeric(hint=f", or give a status: {', '.join(without)}"),
    }
    held = table.assign(value=table["value"].mask(nothing, 0.0))
    held = checked(held, checks, path, ("item_id", "signature", "basis", "sample"))
    held = held.assign(dataset=dataset.name.partition("@")[0], value=held["value"].mask(nothing))
    return schema.validate(held.astype({"sample": int}), "scores", str(path))
