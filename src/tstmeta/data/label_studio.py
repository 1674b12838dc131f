"""Rating forms for Label Studio: rewrites go out without labels, ratings come back without names.

:func:`write_form` writes what a new project needs, :func:`read_export` reads what it gave.  Raters
are blind: a task has the target style, the source and the rewrite, and an id that tells nothing.
The form itself is ``data/contrast/label_studio.xml``; it asks three questions on a scale of 1 to 5.

Formats: https://labelstud.io/guide/tasks, https://labelstud.io/guide/export (JSON, JSON-MIN, CSV,
TSV; checked with Label Studio 1.23.2).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..console import write_table
from ..schema import DataError, Problem, TstmetaError, validate
from . import paths
from .base import Dataset
from .files import fault, rater_names, read_csv, read_json

#: Name of each question in the form -> what it rates.  Other questions (a comment) are not read.
QUESTIONS = {"rate_content": "content", "rate_style": "style", "rate_fluency": "fluency"}
#: Field of a task -> column of the items.  Label Studio shows its own record for ``$source``.
SHOWN = {"style": "style", "source_text": "source", "output_text": "output"}
#: Lowest and highest answer.
SCALE = (1, 5)
FORM = "label_studio.xml"

# The id hides the cell of the design from raters.  It is no secret: the texts are public, and
# the importer must find the item again without a key file.
_KEY = b"tstmeta rating form"
_EXPORT = "export the project again from Label Studio, as JSON"


def form_id(dataset: str, item_id: str) -> str:
    """The id that raters see: ``t`` and 16 hexadecimal digits of a keyed BLAKE2b hash (RFC 7693).

    It depends on nothing but the two names, so it stays the same whatever the seed and batches.
    """
    text = f"{dataset}\0{item_id}".encode()
    return "t" + hashlib.blake2b(text, key=_KEY, digest_size=8).hexdigest()


# -------------------------------------------------------------------------------------- out


def tasks(
    dataset: Dataset, *, batches: int | None = None, per_rater: int | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """Tasks to import into Label Studio, one a rewrite, in the order in which they are shown.

    Each is ``{"data": {item_id, style, source_text, output_text, batch}}`` with the id of
    :func:`form_id`: no label, no system, no prediction.  ``batch`` counts from 1; give each rater
    one batch.

    Args:
        batches: rewrites are dealt to that many batches as in a Latin square: none holds two
            rewrites of one source, and where every source has every system, all batches hold
            each system equally often (give or take one).  1 = all together; None = as many as the
            largest number of rewrites of a source.
        per_rater: the most tasks in a batch; larger ones are cut into equal parts.
        seed: of the order of tasks and of which rewrite goes where.

    Raises:
        TstmetaError: too few batches to keep the rewrites of a source apart, or a number below 1.
        DataError: a rewrite has no target style, no source or no text to show.
    """
    items = dataset.items
    _check_shown(items, dataset.name)
    most = int(items.groupby("source_id").size().max())
    count = most if batches is None else batches
    if count < 1 or (per_rater is not None and per_rater < 1):
        raise TstmetaError("batches and per_rater count from 1")
    if 1 < count < most:
        raise TstmetaError(
            f"{count} batches cannot keep apart the {most} rewrites that a source of "
            f"{dataset.name!r} has; use {most} batches or more, or 1 for all together"
        )
    rng = np.random.default_rng(seed)
    batch = _dealt(items, count, rng)
    order = rng.permutation(len(items))
    made: list[dict[str, Any]] = []
    number = 0
    for wanted in range(count):
        rows = order[batch[order] == wanted]
        parts = 1 if per_rater is None else -(-len(rows) // per_rater)
        for part in np.array_split(rows, max(parts, 1)):
            number += len(part) > 0
            made += [_task(items.iloc[row], number) for row in part]
    return made


def _check_shown(items: pd.DataFrame, name: str) -> None:
    problems = [
        Problem(name, int(row) + 1, column, "empty, so raters have nothing to judge", remedy)
        for column, remedy in (
            ("style", "name the target style of every rewrite"),
            ("source", "fill it in"),
            ("output", "leave rewrites without text out of the form"),
        )
        for row in items.index[items[column].str.strip() == ""]
    ]
    if problems:
        raise DataError(problems)


def _dealt(items: pd.DataFrame, batches: int, rng: np.random.Generator) -> np.ndarray:
    """The batch of each item, from 0: rewrite number + source number, modulo ``batches``.

    Sources are numbered at random within their style, so that batches are alike in every style.
    """
    if batches == 1:
        return np.zeros(len(items), dtype=int)
    by_system = items.sort_values(["source_id", "system"], kind="stable")
    rewrite = by_system.groupby("source_id").cumcount().reindex(items.index)
    sources = items.drop_duplicates("source_id").set_index("source_id")["style"]
    shuffled = sources.iloc[rng.permutation(len(sources))].sort_values(kind="stable")
    turn = pd.Series(np.arange(len(shuffled)), index=shuffled.index)
    return ((rewrite + items["source_id"].map(turn)) % batches).to_numpy(int)


def _task(item: pd.Series, batch: int) -> dict[str, Any]:
    shown = {field: item[column] for field, column in SHOWN.items()}
    return {"data": {"item_id": form_id(item["dataset"], item["item_id"]), **shown, "batch": batch}}


def write_form(
    dataset: Dataset,
    folder: Path,
    *,
    batches: int | None = None,
    per_rater: int | None = None,
    seed: int = 0,
) -> list[Path]:
    """Write the form, ``tasks-<batch>.json`` for each batch, and ``key.csv``.

    ``key.csv`` (form_id, item_id, batch) is for the people who run the study, not for raters.

    Raises:
        TstmetaError: as :func:`tasks`; the folder has tasks of another form, or cannot be written.
    """
    parts: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for task in tasks(dataset, batches=batches, per_rater=per_rater, seed=seed):
        parts[task["data"]["batch"]].append(task)
    files = {folder / f"tasks-{batch}.json": part for batch, part in parts.items()}
    strangers = sorted(path.name for path in set(folder.glob("tasks-*.json")) - set(files))
    if strangers:
        raise TstmetaError(
            f"{folder} holds another form ({', '.join(strangers)}): name an empty one"
        )
    ids = _items_by_form_id(dataset)
    key = [
        (shown, ids[shown]["item_id"], batch)
        for batch, part in parts.items()
        for shown in (task["data"]["item_id"] for task in part)
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.own("contrast", FORM), folder / FORM)
        for path, part in files.items():
            partial = path.with_name(f"{path.name}.part")
            partial.write_text(json.dumps(part, ensure_ascii=False, indent=1) + "\n", "utf-8")
            os.replace(partial, path)
    except OSError as error:
        raise TstmetaError(f"cannot write {folder}: {error.strerror or error}") from error
    write_table(pd.DataFrame(key, columns=["form_id", "item_id", "batch"]), folder / "key.csv")
    return [folder / FORM, *files, folder / "key.csv"]


def _items_by_form_id(dataset: Dataset) -> dict[str, dict[str, Any]]:
    rows = dataset.items.to_dict("records")
    return {form_id(row["dataset"], row["item_id"]): row for row in rows}


# --------------------------------------------------------------------------------------- in


class _Answer(NamedTuple):
    """What one person said of one rewrite, as the export has it."""

    file: str
    row: int  # the task or row in the file, from 1
    data: Mapping[str, Any]
    rater: str  # the raw id, which goes no further than read_export
    given: Mapping[str, list[Any]]  # question -> every answer to it, as it is written


def read_export(path: Path | Iterable[Path], dataset: Dataset) -> pd.DataFrame:
    """The ratings in one export of Label Studio, or in several of the same server and format.

    JSON, JSON-MIN, CSV and TSV are understood.  Cancelled and skipped annotations, tasks that
    nobody rated, drafts, predictions and comments are left out.  Raters become ``r1``, ``r2``, ...
    by first appearance; their ids, names and e-mail addresses are not kept.

    Returns:
        A ratings table, sorted by item (in item order), rater and dimension; values 1 to 5.

    Raises:
        DataError: everything that is wrong, with file, task or row (counted from 1) and remedy.
    """
    files = [path] if isinstance(path, Path) else list(path)
    problems: list[Problem] = []
    answers: list[_Answer] = []
    formats: set[str] = set()
    for file in files:
        try:
            form, found = _answers(file, problems)
        except DataError as error:
            problems += [problem._replace(remedy=_EXPORT) for problem in error.problems]
            continue
        formats.add(form)
        answers += found
    if len(formats) > 1:
        what = (
            f"exports of different formats ({', '.join(sorted(formats))}) name raters differently"
        )
        problems.append(fault(files[0], what, remedy="export all projects as JSON"))
    rows = _ratings(answers, dataset, problems)
    if not problems and not rows:
        problems.append(fault(files[0] if files else "", "no ratings", remedy=_EXPORT))
    if problems:
        raise DataError(problems)
    raters = rater_names(row[3] for row in rows)
    frame = pd.DataFrame(
        [(*row[:3], raters[row[3]], row[4]) for row in rows],
        columns=["dataset", "item_id", "dimension", "rater", "value"],
    ).astype({"value": float})
    keys = pd.DataFrame(
        {
            "item": pd.Index(dataset.items["item_id"]).get_indexer(frame["item_id"]),
            "rater": frame["rater"].str[1:].astype(int),
            "dimension": frame["dimension"].map(list(QUESTIONS.values()).index),
        }
    )
    return validate(frame.loc[keys.sort_values(list(keys)).index], "ratings", dataset.name)


def _ratings(
    answers: list[_Answer], dataset: Dataset, problems: list[Problem]
) -> list[tuple[str, str, str, str, int]]:
    """Rows of dataset, item, dimension, raw rater and value; faults go to ``problems``."""
    items = _items_by_form_id(dataset)
    rows: list[tuple[str, str, str, str, int]] = []
    first: dict[tuple[str, str], _Answer] = {}
    for answer in answers:
        shown = str(answer.data.get("item_id", ""))
        item = items.get(shown)
        if item is None:
            what = f"no rewrite of {dataset.name!r} has the id {shown[:40]!r}"
            remedy = "name the data set that the form was made from"
            problems.append(fault(answer.file, what, answer.row, "item_id", remedy))
            continue
        problems += _changed(answer, item)
        before = first.setdefault((shown, answer.rater), answer)
        if before is not answer:
            what = f"the same person rated this rewrite in row {before.row} of {before.file}"
            remedy = "delete one of the two annotations in Label Studio and export again"
            problems.append(fault(answer.file, what, answer.row, "", remedy))
            continue
        for question, dimension in QUESTIONS.items():
            value = _value(answer, question, problems)
            if value is not None:
                rows.append((item["dataset"], item["item_id"], dimension, answer.rater, value))
    return rows


def _changed(answer: _Answer, item: Mapping[str, Any]) -> Iterator[Problem]:
    """A rating holds for the text that was shown, and for no other."""
    for field, column in SHOWN.items():
        shown = answer.data.get(field, item[column])
        if str(shown).split() != item[column].split():
            what = "the raters saw another text than the data set has now"
            remedy = "use the data set as it was when the form was made"
            yield fault(answer.file, what, answer.row, field, remedy)


def _value(answer: _Answer, question: str, problems: list[Problem]) -> int | None:
    """The one answer to a question, a whole number on the scale; otherwise a problem and None."""
    given = answer.given.get(question, [])
    if len(given) == 1:
        raw = _unwrapped(given[0])
        for number in range(SCALE[0], SCALE[1] + 1):
            if str(raw).strip() == str(number):
                return number
        what = f"{str(raw)[:40]!r} is not a whole number from {SCALE[0]} to {SCALE[1]}"
        remedy = f"rate it again with the form of this project ({FORM}) and export again"
    elif given:
        what, remedy = f"{len(given)} answers to one question", "keep one and export again"
    else:
        what, remedy = "no answer", "answer all questions or skip the task, and export again"
    problems.append(fault(answer.file, what, answer.row, question, remedy))
    return None


def _unwrapped(raw: Any) -> Any:
    """An answer without the wrappings of Label Studio: 4, "4", ["4"], {"rating": 4}."""
    while isinstance(raw, list | dict) and len(raw) == 1:
        raw = raw[0] if isinstance(raw, list) else raw.get("choices", raw.get("rating"))
    return raw


# ---------------------------------------------------------------------- the forms of an export


def _answers(path: Path, problems: list[Problem]) -> tuple[str, list[_Answer]]:
    """The format of an export and its answers."""
    if path.suffix.lower() in (".csv", ".tsv"):
        tab = path.suffix.lower() == ".tsv"
        rows = read_csv(path, ["item_id", "annotator"], "\t" if tab else ",").to_dict("records")
        return "CSV", list(_flat(path, rows, problems))
    try:
        records = read_json(path)
    except (RecursionError, ValueError) as error:  # nested too deep, or a number too long to read
        raise DataError([fault(path, f"not JSON: {error}", remedy=_EXPORT)]) from error
    if not isinstance(records, list):
        raise DataError([fault(path, "not a list of tasks", remedy=_EXPORT)])
    tasks_ = []
    for row, record in enumerate(records, 1):
        if isinstance(record, dict):
            tasks_.append((row, record))
        else:
            problems.append(fault(path, "not a task", row, "", _EXPORT))
    if any("annotations" in task for _, task in tasks_):
        nested = (_nested(path, row, task, problems) for row, task in tasks_)
        return "JSON", [answer for found in nested for answer in found]
    return "JSON-MIN", list(_flat(path, [task for _, task in tasks_], problems))


def _nested(
    path: Path, row: int, task: Mapping[str, Any], problems: list[Problem]
) -> Iterator[_Answer]:
    """The annotations of one task of a JSON export."""
    data, annotations = task.get("data"), task.get("annotations")
    for name, value, kind in (("data", data, dict), ("annotations", annotations, list)):
        if not isinstance(value, kind):
            problems.append(fault(path, f"the task has no {name}", row, name, _EXPORT))
            return
    for annotation in annotations or []:
        result = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(result, list) or not all(isinstance(entry, dict) for entry in result):
            problems.append(fault(path, "an annotation has no result", row, "result", _EXPORT))
            continue
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            continue
        values: defaultdict[str, list[Any]] = defaultdict(list)
        for entry in result:
            values[str(entry.get("from_name"))].append(entry.get("value"))
        rater = _rater(annotation.get("completed_by"), path, row, "completed_by", problems)
        yield _Answer(str(path), row, data or {}, rater, values)


def _flat(path: Path, records: list[dict[str, Any]], problems: list[Problem]) -> Iterator[_Answer]:
    """The rows of a JSON-MIN, CSV or TSV export; one without annotation is a task nobody rated."""
    for row, record in enumerate(records, 1):
        if record.get("annotation_id") in (None, "") and not any(map(record.get, QUESTIONS)):
            continue
        values = {name: [_cell(record[name])] for name in QUESTIONS if record.get(name)}
        rater = _rater(record.get("annotator"), path, row, "annotator", problems)
        yield _Answer(str(path), row, record, rater, values)


def _cell(value: Any) -> Any:
    """CSV holds answers that are no plain text as JSON."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _rater(raw: Any, path: Path, row: int, column: str, problems: list[Problem]) -> str:
    """Who rated, in one word; the number goes before the e-mail address."""
    if isinstance(raw, dict):
        raw = raw.get("id", raw.get("email"))
    if isinstance(raw, str | int) and not isinstance(raw, bool) and str(raw) not in ("", "None"):
        return str(raw)
    remedy = "export again with the annotators, so that raters can be told apart"
    problems.append(fault(path, "it is not said who rated", row, column, remedy))
    return f"unknown {path} {row}"
