"""Rating forms for Label Studio: rewrites go out without labels, ratings come back without names.

Formats: https://labelstud.io/guide/tasks, https://labelstud.io/guide/export (JSON; checked with
Label Studio 1.23.2).  The form is ``data/contrast/label_studio.xml``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import storage
from ..console import to_csv
from ..schema import DataError, Problem, TstmetaError, shown, validate
from . import paths
from .base import Dataset
from .checks import check, fault
from .files import read_json
from .tables import rename_raters

#: Name of each question in the form -> what it rates.  Other questions (a comment) are not read.
QUESTIONS = {"rate_content": "content", "rate_style": "style", "rate_fluency": "fluency"}
#: Field of a task -> column of the items.  Label Studio shows its own record for ``$source``.
SHOWN = {"style": "style", "source_text": "source", "output_text": "output"}
#: Lowest and highest answer.
SCALE = (1, 5)
_ANSWERS = {str(value): value for value in range(SCALE[0], SCALE[1] + 1)}
FORM = "label_studio.xml"

# The id hides the cell of the design from raters.  It is no secret: the texts are public, and
# the importer must find the item again without a key file.
_KEY = b"tstmeta rating form"
_EXPORT = "export the project again from Label Studio, as JSON"


def form_id(dataset: str, item_id: str) -> str:
    """The id that raters see: ``t`` and 16 digits of a keyed BLAKE2b hash (RFC 7693)."""
    text = f"{dataset}\0{item_id}".encode()
    return "t" + hashlib.blake2b(text, key=_KEY, digest_size=8).hexdigest()


def tasks(dataset: Dataset, seed: int = 0) -> list[dict[str, Any]]:
    """Tasks to import into Label Studio, one a rewrite, in the order in which they are shown.

    Each is ``{"data": {item_id, style, source_text, output_text, batch}}`` with the id of
    :func:`form_id`; raters are blind to all else.  ``batch`` counts from 1; give each rater one.

    Rewrites are dealt to as many batches as a source has rewrites, as in a Latin square: none holds
    two rewrites of one source, and where every source has every system, all batches hold each
    system equally often (give or take one).  ``seed`` decides the order and which goes where.
    """
    items, remedy = dataset.items, "fill it in or leave the rewrite out"
    check(
        Problem(dataset.name, int(row) + 1, column, "raters would have nothing to judge", remedy)
        for column in SHOWN.values()
        for row in items.index[items[column].str.strip() == ""]
    )
    count = int(items.groupby("source_id").size().max())
    rng = np.random.default_rng(seed)
    batch = _dealt(items, count, rng)
    order = rng.permutation(len(items))
    order = order[np.argsort(batch[order], kind="stable")]
    numbers = pd.factorize(batch[order])[0] + 1
    shown = items.iloc[order].assign(batch=numbers)
    return [
        {
            "data": {
                "item_id": form_id(item["dataset"], item["item_id"]),
                **{field: item[column] for field, column in SHOWN.items()},
                "batch": item["batch"],
            }
        }
        for item in shown.to_dict("records")
    ]


def _dealt(items: pd.DataFrame, batches: int, rng: np.random.Generator) -> np.ndarray:
    """The batch of each item, from 0: rewrite number + random source number, modulo ``batches``."""
    by_system = items.sort_values(["source_id", "system"], kind="stable")
    rewrite = by_system.groupby("source_id").cumcount().reindex(items.index)
    sources = items.drop_duplicates("source_id").set_index("source_id")["style"]
    shuffled = sources.iloc[rng.permutation(len(sources))].sort_values(kind="stable")
    turn = pd.Series(np.arange(len(shuffled)), index=shuffled.index)
    return ((rewrite + items["source_id"].map(turn)) % batches).to_numpy(int)


def write_form(dataset: Dataset, folder: Path, seed: int = 0) -> list[Path]:
    """Write the form, ``tasks-<batch>.json`` for each batch, and ``key.csv``.

    ``key.csv`` (form_id, item_id, batch) is for the people who run the study, not for raters.
    """
    todo = [task["data"] for task in tasks(dataset, seed=seed)]
    ids = {name: item["item_id"] for name, item in _items_by_form_id(dataset).items()}
    key = pd.DataFrame(
        [(task["item_id"], ids[task["item_id"]], task["batch"]) for task in todo],
        columns=["form_id", "item_id", "batch"],
    )
    files = {FORM: paths.own("contrast", FORM).read_text("utf-8")}
    for batch in key["batch"].unique():
        part = [{"data": task} for task in todo if task["batch"] == batch]
        files[f"tasks-{batch}.json"] = json.dumps(part, ensure_ascii=False, indent=1) + "\n"
    files["key.csv"] = to_csv(key)
    strangers = sorted({path.name for path in folder.glob("tasks-*.json")} - set(files))
    if strangers:
        raise TstmetaError(
            f"{folder} holds another form ({', '.join(strangers)}): name an empty one"
        )
    for name, text in files.items():
        storage.write(folder / name, text)
    return [folder / name for name in files]


def _items_by_form_id(dataset: Dataset) -> dict[str, dict[str, Any]]:
    rows = dataset.items.to_dict("records")
    return {form_id(row["dataset"], row["item_id"]): row for row in rows}


def read_export(exports: Path | Iterable[Path], dataset: Dataset) -> pd.DataFrame:
    """The ratings in one JSON export of Label Studio, or in several of the same server.

    Cancelled and skipped annotations, drafts, predictions and comments are left out.  Raters become
    ``r1``, ``r2``, ... by first appearance; nothing else of them is kept.

    Returns:
        A ratings table, sorted by item (in item order), rater and dimension; values 1 to 5.

    Raises:
        DataError: everything that is wrong, with file, task (counted from 1) and remedy.
    """
    files = [exports] if isinstance(exports, Path) else list(exports)
    read = [entry for path in files for entry in _ratings(path, dataset)]
    problems = [entry for entry in read if isinstance(entry, Problem)]
    if not read:
        problems.append(fault(files[0] if files else "", "no ratings", remedy=_EXPORT))
    check(problems)
    columns = ["place", "dataset", "item_id", "dimension", "rater", "value"]
    table, key = pd.DataFrame(read, columns=columns), ["item_id", "dimension", "rater"]
    remedy = "delete one of the two annotations in Label Studio and export again"
    check(
        fault(file, "the same person rated this rewrite before", row, "", remedy)
        for file, row in table.loc[table.duplicated(key), "place"].unique()
    )
    table = table.drop(columns="place").astype({"value": float})
    rename_raters(table)
    order = pd.DataFrame(
        {
            "item": pd.Index(dataset.items["item_id"]).get_indexer(table["item_id"]),
            "rater": table["rater"].str[1:].astype(int),
            "dimension": table["dimension"].map(list(QUESTIONS.values()).index),
        }
    )
    return validate(table.loc[order.sort_values(list(order)).index], "ratings", dataset.name)


def _ratings(path: Path, dataset: Dataset) -> Iterator[tuple | Problem]:
    """Rows of place, dataset, item, dimension, raw rater and value; and what is wrong."""
    try:
        export = read_json(path)
    except DataError as error:
        yield from (problem._replace(remedy=_EXPORT) for problem in error.problems)
        return
    if not isinstance(export, list):
        yield fault(path, "not a list of tasks", remedy=_EXPORT)
        return
    items = _items_by_form_id(dataset)
    for row, task in enumerate(export, 1):
        try:
            item = items.get(str(task["data"].get("item_id")), {})
            annotations = [
                (_rater(annotation), _answers(annotation["result"]))
                for annotation in task["annotations"]
                if not (annotation.get("was_cancelled") or annotation.get("skipped"))
            ]
        except (TypeError, KeyError, AttributeError):
            yield fault(path, "not a task with data and annotations", row, "", _EXPORT)
            continue
        if annotations and (not item or _changed(task["data"], item)):
            what = f"the raters saw another text than {dataset.name!r} has under this id"
            remedy = "name the data set that the form was made from, as it was then"
            yield fault(path, what, row, "item_id", remedy)
            continue
        for rater, answers in annotations:
            if not rater:
                remedy = "export again with the annotators, so that raters can be told apart"
                yield fault(path, "it does not say who rated", row, "completed_by", remedy)
            for question, dimension in QUESTIONS.items():
                given = answers[question]
                if len(given) == 1 and given[0] in _ANSWERS:
                    named = item["dataset"], item["item_id"], dimension, rater
                    yield ((str(path), row), *named, _ANSWERS[given[0]])
                else:
                    what = f"{shown(given)} is not one whole number from {SCALE[0]} to {SCALE[1]}"
                    remedy = "rate it again with this form, or skip the task, and export again"
                    yield fault(path, what, row, question, remedy)


def _changed(data: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether another text was shown: a rating holds for no other."""
    return any(
        str(data.get(field, item[column])).split() != item[column].split()
        for field, column in SHOWN.items()
    )


def _answers(result: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Question -> every answer to it."""
    answers: dict[str, list[str]] = {question: [] for question in QUESTIONS}
    for entry in result:
        if entry["from_name"] in QUESTIONS:
            answers[entry["from_name"]] += entry["value"]["choices"]
    return answers


def _rater(annotation: Mapping[str, Any]) -> str:
    """Who rated, in one word that goes no further than :func:`read_export`; empty = unknown."""
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        person = person.get("id", person.get("email"))
    return str(person) if isinstance(person, str | int) and not isinstance(person, bool) else ""
