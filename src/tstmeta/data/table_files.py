"""Your own data: a file with one rewrite a row, with or without ratings.

Columns ``source`` and ``output`` are needed; other columns of the items, ``reference``,
``reference_1``, ... and ratings such as ``content.r1`` are understood, any other is a label.  The
data set is called after the file.  A file ``mine.csv.toml`` beside ``mine.csv`` may give ``scale``
(``scale.content = [1, 5]``), ``ratings`` (a file with ``item_id, dimension, rater, value``),
``preferences`` (a file with ``item_a, item_b, dimension, rater, value``), ``title``, ``task``,
``licence``, and ``examples`` (whether sentences may be printed).
"""

import difflib
import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, FiniteFloat, ValidationError

from .. import schema
from ..schema import (
    BASES,
    DIMENSIONS,
    FILLED,
    MEAN_RATER,
    CellCheck,
    DataError,
    MissingData,
    Problem,
    Status,
    check,
    checked,
    member_of,
    numeric,
)
from ..secrecy import conceal
from .base import Card, Dataset
from .files import Part, check_rows, read_part, read_rows
from .paths import read_text
from .tables import assemble, items_table, rename_raters

#: Dimension -> (lowest, highest) possible rating.
Scale = Mapping[str, tuple[float, float]]

_RATING = ("item_id", "dimension", "rater", "value")
#: What empty cells of a score file mean.
_DEFAULTS = {"dimension": "content", "basis": "source", "sample": 0, "status": "ok"}
_NAMES = ("item_id", "source_id", "system", "style", "direction", "language")
_ITEM = ("source", "output", *_NAMES, "references", "is_reference")
_UNDERSTOOD = (*_ITEM, "dataset", "reference", *DIMENSIONS)
_REFERENCE = re.compile(r"reference(?:_(\d{1,4}))?", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
#: Columns that say who somebody is.  They must not become labels, which are stored and shown.
_PERSON = re.compile(
    r"(worker|annotator|rater|prolific|participant|user|e-?mail)s?([ _.-]?(id|name|code))?", re.I
)
_TRUTH = {"": False, "false": False, "0": False, "no": False, "true": True, "1": True, "yes": True}

_is_text = partial(CellCheck, lambda cell: isinstance(cell, str))
_TEXT, _QUOTED = _is_text("write a text or a number"), _is_text("put the text in quotes")
_CHECKS: dict[str, Any] = {
    **dict.fromkeys(("source", "item_id", "source_id"), FILLED),
    **dict.fromkeys(("system", "style", "direction"), _TEXT),
    "output": _is_text(
        'write a text, in quotes ("" if the system returned nothing), or drop the row'
    ),
    "language": CellCheck(
        lambda code: code == "" or bool(isinstance(code, str) and _LANGUAGE.fullmatch(code)),
        "write a code such as en, de or pt-BR",
    ),
    "references": CellCheck(
        lambda cell: (
            isinstance(cell, list) and all(isinstance(text, str) and text.strip() for text in cell)
        ),
        'write ["first", "second"], none of them empty, or use columns reference_1, reference_2',
    ),
    "is_reference": CellCheck(lambda cell: cell in _TRUTH, "write true or false"),
}


class _Facts(BaseModel, extra="forbid"):
    """What the file beside a data set may say."""

    title: str = ""
    task: str = ""
    licence: str = ""
    ratings: str = ""
    preferences: str = ""
    examples: bool = False
    scale: dict[Literal[DIMENSIONS], tuple[FiniteFloat, FiniteFloat]] = {}  # type: ignore[valid-type]


class _Roles(NamedTuple):
    references: list[str]
    ratings: dict[str, tuple[str, str]]  # with dimension and rater
    labels: list[str]


def read(path: Path | str, card: Card | None = None) -> Dataset:
    """Read a data set of your own from CSV, TSV, JSONL or Parquet.

    Defaults: ``item_id`` is the row number, ``source_id`` is the same for equal sources,
    ``language`` is ``en``.  Raters ``r1``, ``r2``, ... and ``mean`` keep their names; any other
    becomes the next free ``r<number>`` in order of first appearance.

    Args:
        card: with title and scale; by default those of the file beside it.

    Raises:
        DataError: everything that is wrong with the file, or else with those beside it.
    """
    path = Path(path)
    name, facts = path.stem, _facts(path)
    file, compared = facts.pop("ratings", ""), None
    if beside := facts.pop("preferences", ""):
        other = path.parent / beside
        compared = read_rows(other).assign(dataset=name)
        compared = schema.validate(compared, "preferences", str(other))
    card = card or Card(name, facts.get("title", name), {"name": name, **facts})
    table, roles = _checked(read_part(path), card.scale, file)
    ratings: Any = {rated: table[column] for column, rated in roles.ratings.items()}
    if file:
        ratings = _read_ratings(path.parent / file, name, table["item_id"], card.scale)
    return assemble(
        name,
        table,
        ratings=ratings,
        labels=dict(table[roles.labels]),
        preferences=compared,
        card=card,
    )


def by_hand(path: Path) -> Dataset:
    """A data set of others that cannot be fetched, from a file in the form of one's own."""
    name = path.stem
    if not path.is_file():
        raise MissingData(
            f"{path} is not here. Whom to ask, and what it holds, in the form of a file of your "
            f"own: tstmeta data show {name}"
        )
    return read(path, Card.read(name))


def items(part: Part, name: str) -> pd.DataFrame:
    """The items of a part of a file, as :func:`read` takes them; its ratings are checked, too."""
    return items_table(name, _checked(part, {})[0])


def beside(path: Path) -> list[Path]:
    """Files that are read with a data set."""
    facts = _facts(path) if path.is_file() else {}
    names = (facts.get("ratings"), facts.get("preferences"))
    return [Path(f"{path}.toml"), *(path.parent / name for name in names if name)]


def _facts(path: Path) -> dict[str, Any]:
    """The facts in ``<path>.toml``; none without that file."""
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
    raise DataError(Problem(str(file), what, None, key, remedy) for key, what in faults)


def _roles(part: Part, ratings_file: str) -> _Roles:
    """The roles of the columns; a DataError names those that have none."""
    roles, faults = _Roles([], {}, []), list[tuple[str, str, str]]()
    for column in part.table:
        dimension, _, rater = column.partition(".")
        if column in _ITEM or column == "dataset":
            continue
        if _REFERENCE.fullmatch(column):
            roles.references.append(column)
        elif dimension in DIMENSIONS and rater:
            roles.ratings[column] = (dimension, rater)
        elif dimension in DIMENSIONS or "." in column:
            is_known = dimension in DIMENSIONS
            what = "a rating without a rater" if is_known else f"unknown dimension {dimension!r}"
            remedy = f"name it as content.r1 or content.{MEAN_RATER}: {', '.join(DIMENSIONS)}"
            faults.append((column, what, remedy))
        elif _PERSON.fullmatch(column):
            remedy = "drop it; raters are r1, r2, ... in the names of the rating columns"
            faults.append((column, "looks like the identity of a person", remedy))
        elif near := difflib.get_close_matches(column.lower(), _UNDERSTOOD, n=1, cutoff=0.8):
            remedy = f"rename it to {near[0]!r}, or to something less like it if it is a label"
            faults.append((column, "unknown column that looks misspelt", remedy))
        else:
            roles.labels.append(column)
    for column, texts in (("source", "original texts"), ("output", "rewrites")):
        if column not in part.table:
            faults.append((column, "missing column", f"name the column of {texts} {column!r}"))
    if roles.references and "references" in part.table:
        remedy = f"keep 'references' or {roles.references[0]!r}"
        faults.append(("references", "references in two forms", remedy))
    if roles.ratings and ratings_file:
        what, remedy = f"ratings here and in {ratings_file}", "keep them in one place"
        faults.append((next(iter(roles.ratings)), what, remedy))
    check(Problem(part.file, what, None, column, remedy) for column, what, remedy in faults)
    _check_mixed(roles.ratings.values(), part.file)
    roles.references.sort(key=lambda column: int(re.sub(r"\D", "", column) or 0))
    return roles


def _checked(part: Part, scale: Scale, ratings_file: str = "") -> tuple[pd.DataFrame, _Roles]:
    """The cells without a fault, as tables of ours have them, and the roles of their columns."""
    check_rows(part)
    table = part.table.copy(deep=False)
    roles = _roles(part, ratings_file)
    for column in table.columns.intersection(_NAMES):
        table[column] = table[column].map(_text)
    if "is_reference" in table:
        table["is_reference"] = [str(_text(cell)).lower() for cell in table["is_reference"]]
    if "references" in table:
        table["references"] = table["references"].map(_list)
    for column in roles.references:
        table[column] = table[column].fillna("")
    if "item_id" not in table:
        table["item_id"] = table.index.astype(str)
    table[roles.labels] = table[roles.labels].map(
        lambda cell: str(cell).lower() if isinstance(cell, bool) else _text(cell)
    )
    lists = [name for name in roles.labels if table[name].map(type).eq(list).any()]
    checks = {column: check for column, check in _CHECKS.items() if column in table}
    checks |= dict.fromkeys(roles.references, _QUOTED) | dict.fromkeys(lists, _TEXT)
    for column, (dimension, _) in roles.ratings.items():
        checks[column] = numeric(*scale.get(dimension, ()), optional=True)
    table = checked(table, checks, part.file, unique=["item_id"])
    if "source_id" not in table:
        table["source_id"] = [f"s{n + 1}" for n in table["source"].factorize()[0]]
    first = table.groupby("source_id")["source"].transform("first")
    what, remedy = "the source_id of an earlier row with another source", "give each source its id"
    rows = table.index[table["source"] != first]
    check(Problem(part.file, what, row, "source_id", remedy) for row in rows)
    if "language" in table:
        table["language"] = table["language"].replace("", "en")
    if "is_reference" in table:
        table["is_reference"] = table["is_reference"].map(_TRUTH)
    if roles.references:
        texts = table[roles.references].itertuples(index=False)
        table["references"] = [[text for text in row if text.strip()] for row in texts]
    return table, roles


def _text(cell: Any) -> Any:
    """A text or number as text without blanks around it, 5.0 as "5", none as ""; others stay."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer():  # an id that went through a float
        cell = int(cell)
    is_text = isinstance(cell, str | int | float) and not isinstance(cell, bool)
    return str(cell).strip() if is_text else cell


def _list(cell: Any) -> Any:
    """References: a list, in JSON where the format has no lists; an empty cell is an empty list."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return [] if cell is None or cell == "" else cell


def _long(path: Path, table: str, needed: Sequence[str]) -> pd.DataFrame:
    """A file with one value a row, with the columns of a table of ours."""
    columns = schema.columns(table)
    frame = read_rows(path, needed).reindex(columns=columns)
    texts = [name for name in columns if name not in ("sample", "value")]
    return frame.assign(**frame[texts].map(_text))


def _item_in(ids: Iterable[str]) -> CellCheck:
    return member_of({*ids})._replace(remedy="use an item_id of the data set")


def _read_ratings(path: Path, dataset: str, ids: Iterable[str], scale: Scale) -> pd.DataFrame:
    """Ratings from a file with one rating a row; raters are as the file names them."""
    checks = {"item_id": _item_in(ids), "dimension": member_of(DIMENSIONS), "rater": FILLED}
    checks["value"] = numeric()
    table = checked(_long(path, "ratings", _RATING), checks, path, _RATING[:3])
    for dimension, rows in table.groupby("dimension"):
        checked(rows, {"value": numeric(*scale.get(str(dimension), ()))}, path)
    _check_mixed(zip(table["dimension"], table["rater"], strict=True), path)
    return table.assign(dataset=dataset)


def rated(dataset: Dataset, path: Path) -> Dataset:
    """A data set with the ratings of a file, one a row, in the place of those it has."""
    name = dataset.items["dataset"].iloc[0]
    ratings = _read_ratings(path, name, dataset.items["item_id"], dataset.card.scale)
    rename_raters(ratings)
    return replace(dataset, ratings=schema.validate(ratings, "ratings", name))


def _check_mixed(rated: Iterable[tuple[str, str]], file: Path | str) -> None:
    """Refuse a dimension with both single ratings and a mean, which would count people twice."""
    pairs, what = dict.fromkeys(rated), "single ratings and a mean"
    raters = Counter(dimension for dimension, _ in pairs)
    mixed = [name for name in raters if raters[name] > 1 and (name, MEAN_RATER) in pairs]
    check(Problem(str(file), f"{name} has {what}", None, name, "drop the mean") for name in mixed)


def read_scores(path: Path, dataset: Dataset) -> pd.DataFrame:
    """Scores that were computed elsewhere, as a ``scores`` table.

    Required columns: ``item_id, metric, value``; optional, also cell by cell: ``dimension``
    (content), ``basis`` (source), ``signature``, ``sample`` (0), ``status`` (ok), ``detail``.
    Without a signature the file's name and SHA-256 stand in for one.  A row whose status has no
    value (refused, invalid, error) needs none, and a value there does not count.
    """
    table = _long(path, "scores", ("item_id", "metric", "value"))
    for column, default in _DEFAULTS.items():
        empty = table[column].isna() | (table[column] == "")
        table[column] = table[column].mask(empty, default)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    for column in ("metric", "signature"):
        table[column] = table[column].map(lambda x: conceal(x) if isinstance(x, str) else x)
    origin = table["metric"].astype(str) + f"|file:{path.name}|sha256:{digest}"
    table["signature"] = table["signature"].mask(table["signature"] == "", origin)
    failed = [str(status) for status in Status if not status.has_value]
    without = table["status"].map(lambda cell: cell in failed)
    checks = {
        "item_id": _item_in(dataset.items["item_id"]),
        **dict.fromkeys(("metric", "signature"), FILLED),
        "detail": _TEXT,
        "dimension": member_of(DIMENSIONS),
        "basis": member_of(BASES),
        "sample": numeric(integer=True),
        "status": member_of([str(status) for status in Status]),
        "value": numeric(hint=f", or give a status: {', '.join(failed)}"),
    }
    table = table.assign(value=table["value"].mask(without, 0.0))
    table = checked(table, checks, path, ("item_id", "signature", "basis", "sample"))
    table = table.assign(dataset=dataset.name.partition("@")[0], value=table["value"].mask(without))
    return schema.validate(table.astype({"sample": int}), "scores", str(path))
