"""Rating forms for Label Studio: rewrites go out without labels, ratings come back without names.

Formats: https://labelstud.io/guide/tasks, https://labelstud.io/guide/export (JSON; checked with
Label Studio 1.23.2).  The form is ``data/contrast/label_studio.xml``.
"""

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
from .files import read_text
from .tables import rename_raters

#: Name of each question in the form -> what it rates.  Other questions (a comment) are not read.
QUESTIONS = {"rate_content": "content", "rate_style": "style", "rate_fluency": "fluency"}
#: Field of a task -> column of the items.  Label Studio shows its own record for ``$source``.
SHOWN = {"style": "style", "source_text": "source", "output_text": "output"}
#: Lowest and highest answer.
SCALE = (1, 5)
_CHOICES = [[str(value)] for value in range(SCALE[0], SCALE[1] + 1)]
FORM = "label_studio.xml"

# The id hides the cell of the design from raters.  It is no secret: the texts are public, and
# the importer must find the item again without a key file.
_KEY = b"tstmeta rating form"
_EXPORT = "export the project again from Label Studio, as JSON"


def form_id(dataset: str, item_id: str) -> str:
    """The id that raters see: ``t`` and 16 digits of a keyed BLAKE2b hash (RFC 7693)."""
    text = f"{dataset}\0{item_id}".encode()
    return "t" + hashlib.blake2b(text, key=_KEY, digest_size=8).hexdigest()


def tasks(dataset: Dataset, seed: int = 0) -> pd.DataFrame:
    """What raters are shown, one row a rewrite, in that order; indexed by ``item_id``.

    The columns are the ``data`` of a task: the opaque id of :func:`form_id` under ``item_id``,
    ``style``, ``source_text``, ``output_text`` and ``batch``, from 1; give each rater one.  As in a
    Latin square, no batch holds two rewrites of one source, and where every source has every
    system, each batch holds them equally often (give or take one).
    """
    items, remedy = dataset.items, "fill it in or leave the rewrite out"
    check(
        Problem(dataset.name, int(row) + 1, column, "raters would have nothing to judge", remedy)
        for column in SHOWN.values()
        for row in items.index[items[column].str.strip() == ""]
    )
    rng = np.random.default_rng(seed)
    by_system = items.sort_values(["source_id", "system"], kind="stable")
    rewrite = by_system.groupby("source_id").cumcount().reindex(items.index)
    sources = items.drop_duplicates("source_id").set_index("source_id")["style"]
    shuffled = sources.iloc[rng.permutation(len(sources))].sort_values(kind="stable")
    turn = pd.Series(range(len(shuffled)), index=shuffled.index)
    batch = ((rewrite + items["source_id"].map(turn)) % (rewrite.max() + 1)).to_numpy(int)
    order = rng.permutation(len(items))
    order = order[np.argsort(batch[order], kind="stable")]
    shown = items.iloc[order].set_index("item_id", drop=False)
    data = {"item_id": [form_id(*ids) for ids in shown[["dataset", "item_id"]].to_numpy()]}
    data |= {field: shown[column] for field, column in SHOWN.items()}
    return pd.DataFrame(data, shown.index).assign(batch=pd.factorize(batch[order])[0] + 1)


def write_form(dataset: Dataset, folder: Path, seed: int = 0) -> list[Path]:
    """Write the form, ``tasks-<batch>.json`` for each batch, and ``key.csv``.

    ``key.csv`` (form_id, item_id, batch) is for the people who run the study, not for raters.
    """
    todo = tasks(dataset, seed)
    files = {FORM: paths.own("contrast", FORM).read_text("utf-8")}
    for batch, rows in todo.groupby("batch"):
        part = [{"data": task} for task in rows.to_dict("records")]
        files[f"tasks-{batch}.json"] = json.dumps(part, ensure_ascii=False, indent=1) + "\n"
    key = todo.rename(columns={"item_id": "form_id"})[["form_id", "batch"]].reset_index()
    files["key.csv"] = to_csv(key[["form_id", "item_id", "batch"]], for_people=True)
    if strangers := sorted({path.name for path in folder.glob("tasks-*.json")} - set(files)):
        listed = ", ".join(strangers)
        raise TstmetaError(f"{folder} holds another form ({listed}): name an empty one")
    for name, text in files.items():
        storage.write(folder / name, text)
    return [folder / name for name in files]


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
    records = dataset.items.to_dict("records")
    items = {form_id(item["dataset"], item["item_id"]): item for item in records}
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for path in files:
        try:
            export = json.loads(read_text(path, remedy=_EXPORT))
        except DataError as error:
            problems += error.problems
            continue
        except (ValueError, RecursionError) as error:
            row = getattr(error, "lineno", None)
            problems.append(fault(path, f"not JSON ({str(error)[:60]})", row, remedy=_EXPORT))
            continue
        if not isinstance(export, list):
            problems.append(fault(path, "not a list of tasks", remedy=_EXPORT))
            continue
        if export and all(isinstance(task, dict) and "annotations" not in task for task in export):
            problems.append(fault(path, "tasks that went out, without annotations", remedy=_EXPORT))
            continue
        for number, task in enumerate(export, 1):
            try:
                rows += [{"file": path, "row": number, **r} for r in _ratings(task, items)]
            except _Fault as error:
                what, column, remedy = error.args
                problems.append(fault(path, what, number, column, remedy))
    if not (rows or problems):
        problems.append(fault(files[0], "no ratings", remedy=_EXPORT))
    check(problems)
    table = pd.DataFrame(rows)
    twice = table[table.duplicated(["item_id", "dimension", "rater"])]
    what = "the same person rated this rewrite before"
    remedy = "delete one of the two annotations in Label Studio and export again"
    places = twice[["file", "row"]].drop_duplicates().to_numpy()
    check(fault(file, what, row, "", remedy) for file, row in places)
    rename_raters(table)
    item = pd.Index(dataset.items["item_id"]).get_indexer(table["item_id"])
    dimension = table["dimension"].map([*QUESTIONS.values()].index)
    order = np.lexsort((dimension, table["rater"].str[1:].astype(int), item))
    table = table.drop(columns=["file", "row"]).iloc[order]
    return validate(table, "ratings", dataset.name)


class _Fault(Exception):
    """What is wrong with a task, where, and what to do."""


def _ratings(task: Any, items: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The ratings of one task, under what the server calls its raters."""
    try:
        data, annotations = task["data"], []
        for annotation in task["annotations"]:
            if not (annotation.get("was_cancelled") or annotation.get("skipped")):
                answers: dict[str, list[str]] = {question: [] for question in QUESTIONS}
                for entry in annotation["result"]:
                    if entry["from_name"] in QUESTIONS:
                        answers[entry["from_name"]] += entry["value"]["choices"]
                annotations.append((_rater(annotation), answers))
        item = items.get(str(data.get("item_id")))
    except (TypeError, KeyError, AttributeError):
        raise _Fault("not a task with data and annotations", "", _EXPORT) from None
    for rater, answers in annotations:
        # A rating holds for the text that was shown, and for no other.
        if item is None or any(
            str(data.get(field, item[column])).split() != item[column].split()
            for field, column in SHOWN.items()
        ):
            remedy = "name the data set that the form was made from, as it was then"
            raise _Fault("the raters saw another text than it has under this id", "item_id", remedy)
        if not rater:
            remedy = "export again with the annotators, so that raters can be told apart"
            raise _Fault("it does not say who rated", "completed_by", remedy)
        for question, dimension in QUESTIONS.items():
            if answers[question] not in _CHOICES:
                what = f"{shown(answers[question])} is not one whole number from 1 to 5"
                remedy = "rate it again with this form, or skip the task, and export again"
                raise _Fault(what, question, remedy)
            rating = {"rater": rater, "dimension": dimension, "value": int(answers[question][0])}
            yield {"dataset": item["dataset"], "item_id": item["item_id"], **rating}


def _rater(annotation: Mapping[str, Any]) -> str:
    """Who rated, in one word that goes no further than :func:`read_export`; empty = unknown."""
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        person = person.get("id", person.get("email"))
    name = str(person) if isinstance(person, str | int) and not isinstance(person, bool) else ""
    return name if name.isprintable() else ""  # half a character names nobody
