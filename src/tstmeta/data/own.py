"""Your own data: a file with one rewrite a row, with or without ratings.

Columns ``source`` and ``output`` are needed; other columns of the items, ``reference``,
``reference_1``, ... and ratings such as ``content.r1`` are understood, any other is a label.  The
data set is called after the file.  A file ``mine.csv.toml`` beside ``mine.csv`` may give ``scale``
(``scale.content = [1, 5]``), ``ratings`` (a file with ``item_id, dimension, rater, value``),
``preferences`` (a file with ``item_a, item_b, dimension, rater, value``), ``title``, ``task``,
``licence``, and ``examples`` (whether sentences may be printed).

Ratings and scores may stand in files of their own, one value a row.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, ValidationError

from .. import schema
from ..schema import BASES, DIMENSIONS, MEAN_RATER, DataError, Problem, Status
from ..secrecy import conceal
from .base import Card, Dataset
from .checks import FILLED, check, checked, each, numeric, one_of
from .sheet import BROKEN, Sheet, misspelt, read_sheet
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
        DataError: everything that is wrong with the files.
    """
    path = Path(path)
    name, sheet = path.stem, read_sheet(path)
    facts = _beside(path, sheet.problems)
    scale, file = facts.setdefault("scale", {}), facts.pop("ratings", "")
    compared = schema.empty("preferences")
    if beside := facts.pop("preferences", ""):
        other = read_sheet(path.parent / beside)
        other.refuse()
        compared = schema.validate(other.frame().assign(dataset=name), "preferences", other.file)
    references, rated, labels = _roles(sheet)
    table = _checked(sheet, references, rated, scale)
    sheet.tables = []  # a second copy of all cells
    columns = {key: table[column] for column, key in rated.items()}
    judged = ratings_table(name, table["item_id"], columns)
    sheet.problems += mixed(judged, sheet.file)
    if file:
        if columns:
            what, remedy = f"ratings here and in {file}", "keep them in one place"
            sheet.fault(sheet.header, next(iter(rated)), what, remedy)
        try:
            judged = long(path.parent / file, name, set(table["item_id"]), scale)
        except DataError as error:
            sheet.problems += error.problems
    sheet.refuse()
    rename_raters(judged, compared)
    given = _given(table, references)
    return Dataset.of(
        name,
        items_table(name, **given),
        Card(name, facts.get("title", name), {"name": name, **facts}),
        ratings=judged,
        preferences=compared,
        labels=labels_table(name, given["item_id"], **table[labels].map(_label)),
    )


def items(sheet: Sheet, name: str) -> pd.DataFrame:
    """The items of a part of a file, as :func:`read` takes them; its ratings are checked, too.

    Of equal ids and of sources the part alone is looked at.

    Raises:
        DataError: everything that is wrong with the part.
    """
    sheet.settle()
    references, rated, _ = _roles(sheet)
    table = _checked(sheet, references, rated, {})
    sheet.refuse()
    return items_table(name, **_given(table, references))


def _given(table: pd.DataFrame, references: list[str]) -> dict[str, Any]:
    """Columns of items, from cells that passed."""
    given = dict(table[table.columns.intersection(_KNOWN[:-1])])
    if "language" in given:
        given["language"] = given["language"].replace("", "en")
    if "is_reference" in given:
        given["is_reference"] = given["is_reference"].map(_TRUTH)
    if references:
        texts = table[references].itertuples(index=False)
        given["references"] = [[text for text in row if (text or "").strip()] for row in texts]
    return given


def _beside(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """What ``<path>.toml`` says, if it is there; its faults go to ``problems``."""
    file = path.with_name(f"{path.name}.toml")
    if not file.is_file():
        return {}
    try:
        facts = _Facts.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        return facts.model_dump(exclude_unset=True)
    except ValidationError as error:
        faults = [(".".join(map(str, e["loc"])), e["msg"]) for e in error.errors()]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        faults = [("", f"not TOML ({error})")]
    remedy = f"use only {', '.join(_Facts.model_fields)}; a scale is written scale.content = [1, 5]"
    problems += [Problem(str(file), None, key, what, remedy) for key, what in faults]
    return {}


def _roles(sheet: Sheet) -> tuple[list[str], dict[str, tuple[str, str]], list[str]]:
    """Columns of references, of ratings (with dimension and rater) and of labels.

    Unknown, doubtful and missing ones are faults.
    """
    references, ratings, labels, meant = [], {}, [], set(sheet.columns)
    for column in sheet.columns:
        (dimension, _, rater), what = column.partition("."), ""
        near = misspelt(column, (*_KNOWN, "reference", *DIMENSIONS))
        if column in _KNOWN:
            continue
        if _REFERENCE.fullmatch(column):
            references.append(column)
        elif dimension in DIMENSIONS and rater:
            ratings[column] = (dimension, rater)
        elif dimension in DIMENSIONS:
            what = "a rating without a rater"
            remedy = f"name it {dimension}.r1, or {dimension}.{MEAN_RATER} if it is a mean"
        elif "." in column:
            what = f"unknown dimension {dimension!r}"
            remedy = f"use one of {', '.join(DIMENSIONS)}; the name of a label has no dot"
        elif _PERSON.fullmatch(column):
            what = "looks like the identity of a person"
            remedy = "drop it; raters are r1, r2, ... in the names of the rating columns"
        elif near:
            what = "unknown column that looks misspelt"
            remedy = f"rename it to {near!r}, or to something less like it if it is a label"
            meant.add(near)
        else:
            labels.append(column)
        if what:
            sheet.fault(sheet.header, column, what, remedy)
    for column, texts in (("source", "original texts"), ("output", "rewrites")):
        if column not in meant:
            remedy = f"name the column of {texts} {column!r}"
            sheet.fault(sheet.header, column, "missing column", remedy)
    if references and "references" in sheet.columns:
        what, remedy = "references in two forms", f"keep 'references' or {references[0]!r}"
        sheet.fault(sheet.header, "references", what, remedy)
    references.sort(key=lambda column: int(re.sub(r"\D", "", column) or 0))
    return references, ratings, labels


def _checked(
    sheet: Sheet, references: list[str], ratings: Mapping[str, tuple[str, str]], scale: Scale
) -> pd.DataFrame:
    """The cells, read as what they are for; faults go to the sheet, then there are no ratings."""
    table = sheet.frame(_NAMES)
    if "is_reference" in table:
        table["is_reference"] = [_label(cell).strip().lower() for cell in table["is_reference"]]
    if "references" in table:
        table["references"] = table["references"].map(_list)
    checks = {column: check for column, check in _CHECKS.items() if column in table}
    checks |= dict.fromkeys(references, _TEXT)
    for column, (dimension, _) in ratings.items():
        checks[column] = numeric(*scale.get(dimension, ()), optional=True)
    if "item_id" not in table:
        table["item_id"] = table.index.astype(str)
    try:
        table = checked(table, checks, sheet.file, unique=["item_id"])
    except DataError as error:
        sheet.problems += error.problems
        return table.assign(item_id=table["item_id"].astype(str), **dict.fromkeys(ratings))
    if "source" in table and "source_id" not in table:
        table["source_id"] = [f"s{n + 1}" for n in table["source"].factorize()[0]]
    elif "source" in table:
        first = table.groupby("source_id")["source"].transform("first")
        for row in table.index[table["source"] != first]:
            what = "the source_id of an earlier row with another source"
            sheet.fault(row, "source_id", what, "give each source its own id")
    return table


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
    value = "" if value is None else value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _known(ids: set[str]):
    return each(
        lambda cell: isinstance(cell, str) and cell in ids, "use an item_id of the data set"
    )


def long(path: Path, dataset: str, ids: set[str], scale: Scale) -> pd.DataFrame:
    """Ratings from a file with one rating a row; raters are as the file names them."""
    sheet = read_sheet(path)
    for column in sheet.columns:
        if column not in (*_LONG, "dataset"):
            remedy = f"drop it: a file of ratings has only {', '.join(_LONG)}"
            sheet.fault(sheet.header, column, "unknown column", remedy)
    sheet.check_columns(*_LONG)
    table = sheet.frame(_LONG[:3])
    checks = {"item_id": _known(ids), "dimension": one_of(DIMENSIONS), "rater": FILLED}
    table = sheet.hold(table, {**checks, "value": numeric()}, _LONG[:3])
    for dimension, rows in table.groupby("dimension"):
        sheet.hold(rows, {"value": numeric(*scale.get(str(dimension), ()))})
    check(mixed(table, sheet.file))
    return table.assign(dataset=dataset)[schema.columns("ratings")]


def rated(dataset: Dataset, path: Path) -> Dataset:
    """A data set with the ratings of a long file in the place of those it has."""
    name, ids = dataset.items["dataset"].iloc[0], set(dataset.items["item_id"])
    ratings = long(path, name, ids, dataset.card.scale)
    rename_raters(ratings)
    return replace(dataset, ratings=schema.validate(ratings, "ratings", name))


def mixed(ratings: pd.DataFrame, file: str) -> list[Problem]:
    """Dimensions that have both single ratings and a mean, which would count people twice."""
    raters = ratings.groupby("dimension")["rater"].agg(set)
    what = "{} has single ratings and a mean"
    return [
        Problem(file, None, str(dimension), what.format(dimension), "drop the mean")
        for dimension, names in raters.items()
        if MEAN_RATER in names and len(names) > 1
    ]


def read_scores(path: Path, dataset: Dataset) -> pd.DataFrame:
    """Scores that were computed elsewhere, from CSV, TSV, JSONL or Parquet, as a ``scores`` table.

    Required columns: ``item_id, metric, value``; optional, also cell by cell: ``dimension``
    (content), ``basis`` (source), ``signature``, ``sample`` (0), ``status`` (ok), ``detail``.
    Without a signature the file's name and SHA-256 stand in for one.  A row whose status has no
    value (refused, invalid, error) needs none, and one given there does not count.
    """
    if (ours := _scored_in_chunks(path, dataset)) is not None:
        return ours
    sheet, columns = read_sheet(path), schema.columns("scores")
    for column in sheet.columns:
        near = misspelt(column, columns)
        if column not in columns and near:
            what = "unknown column that looks misspelt"
            sheet.fault(sheet.header, column, what, f"write {near}")
    names = [column for column in columns if column not in ("sample", "value")]
    sheet.check_columns(*_SCORE)
    table = sheet.frame(names).reindex(columns=columns).astype(object)
    for column in columns:
        empty = table[column].isna() | (table[column].map(str) == "")
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
    held = sheet.hold(held, checks, ("item_id", "signature", "basis", "sample"))
    held = held.assign(dataset=dataset.name.partition("@")[0], value=held["value"].mask(nothing))
    return schema.validate(held.astype({"sample": int}), "scores", str(path))


def _scored_in_chunks(path: Path, dataset: Dataset) -> pd.DataFrame | None:
    """Scores that :mod:`tstmeta.bulk` wrote, read column by column, for they may be millions; None
    for any other file, and where something is wrong, which is then looked for cell by cell.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = pq.read_schema(path) if path.suffix.lower() == ".parquet" else None
    except (pa.ArrowException, OSError):
        return None
    if about is None or b"tstmeta" not in (about.metadata or {}):
        return None
    if about.names != schema.columns("scores"):
        return None
    table = pd.read_parquet(path).assign(dataset=dataset.name.partition("@")[0])
    for column in ("metric", "signature"):
        shown = {text: conceal(text) for text in table[column].dropna().unique()}
        table[column] = table[column].map(shown)
    valued = table["status"].isin([str(status) for status in Status if status.has_value])
    known = table["item_id"].astype(object).isin(set(dataset.items["item_id"]))
    sound = known & (table["value"].notna() == valued)
    try:
        return schema.validate(table, "scores", str(path)) if sound.all() else None
    except DataError:
        return None
