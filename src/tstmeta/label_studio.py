"""Rating forms for Label Studio: rewrites go out without labels, ratings come back without names.

Format: https://labelstud.io/guide/export (JSON; checked with Label Studio 1.23.2).  One form asks
for ratings, the other which of two rewrites is better, as Pang and Gimpel (2019, Section 6.2) did.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import storage
from .console import inert, to_csv
from .data import paths
from .data.base import Dataset
from .data.files import read_rows
from .data.tables import rename_raters
from .schema import CellCheck, DataError, Problem, TstmetaError, check, checked, member_of, validate

#: Lowest and highest answer of a form of ratings.
SCALE = (1, 5)


class Form(NamedTuple):
    """A form, and the columns that its opaque id stands for."""

    file: str
    key: str
    ids: list[str]
    questions: Mapping[str, str]  # -> dimension
    shown: Mapping[str, str]  # field of a task -> column; $source is a record of Label Studio
    answers: Mapping[str, Any]  # choice -> value


RATING = Form(
    "label_studio.xml",
    "item_id",
    ["item_id"],
    {"rate_content": "content", "rate_style": "style", "rate_fluency": "fluency"},
    {"style": "style", "source_text": "source", "output_text": "output"},
    {str(value): value for value in range(SCALE[0], SCALE[1] + 1)},
)
PAIRWISE = Form(
    "label_studio_pairwise.xml",
    "form_id",
    ["item_a", "item_b"],
    {"better_content": "content", "better_style": "style", "better_fluency": "fluency"},
    {"style": "style", "source_text": "source", "A": "output_a", "B": "output_b"},
    {"A": "a", "B": "b", "tie": "tie"},
)

# The id hides the cell of the design from raters.  It is no secret: the texts are public, and
# the importer must find the item again without a key file.
_KEY = b"tstmeta rating form"


def form_id(dataset: str, *item_ids: str) -> str:
    """The id that raters see: ``t`` and 16 digits of a keyed BLAKE2b hash (RFC 7693)."""
    text = "\0".join([dataset, *item_ids]).encode()
    return "t" + hashlib.blake2b(text, key=_KEY, digest_size=8).hexdigest()


def _compared(items: pd.DataFrame) -> pd.DataFrame:
    """Every two rewrites of one source in one style by two systems, in both orders."""
    shared = ["dataset", "source_id", "source", "style"]
    items = items[[*shared, "system", "item_id", "output"]].rename(columns={"item_id": "item"})
    both = items.merge(items, on=shared, suffixes=("_a", "_b"))
    both = both[both["system_a"] != both["system_b"]].reset_index(drop=True)
    if both.empty:
        what = "no source has rewrites of two systems in one style"
        raise TstmetaError(f"{what}. Remedy: name the system of each rewrite in a column system")
    return both


def _drawn(both: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """One order of each comparison; two systems are A equally often, give or take one."""
    first = both[both["system_a"] < both["system_b"]].sample(frac=1, random_state=rng)
    first["system"] = first["system_a"] + "\0" + first["system_b"]
    swapped = first.groupby("system").cumcount() % 2 == 1
    sides = {f"{name}_{s}": f"{name}_{o}" for name in ("item", "output") for s, o in ("ab", "ba")}
    return pd.concat([first[~swapped], first[swapped].rename(columns=sides)]).sort_index()


def tasks(dataset: Dataset, seed: int = 0, form: Form = RATING) -> pd.DataFrame:
    """The tasks of a form, one row a rewrite, in the order of showing; indexed by the item.

    The columns are the ``data`` of a task, and ``batch``, from 1; give each rater one.  As in a
    Latin square, no batch holds two rewrites of one source, and where every source has every
    system, each batch holds them equally often (give or take one).  Of a pairwise form a row is two
    rewrites of a source by two systems, indexed by both items; which of them is ``A`` is drawn.
    """
    items, remedy = dataset.with_texts("to be rated"), "fill it in or leave the rewrite out"
    check(
        Problem(dataset.name, "raters would have nothing to judge", int(row) + 1, column, remedy)
        for column in RATING.shown.values()
        for row in items.index[items[column].str.strip() == ""]
    )
    rng = np.random.default_rng(seed)
    items = _drawn(_compared(items), rng) if form is PAIRWISE else items
    by_system = items.sort_values(["source_id", "system"], kind="stable")
    rewrite = by_system.groupby("source_id").cumcount().reindex(items.index)
    sources = items.drop_duplicates("source_id").set_index("source_id")["style"]
    shuffled = sources.iloc[rng.permutation(len(sources))].sort_values(kind="stable")
    turn = pd.Series(range(len(shuffled)), index=shuffled.index)
    batch = ((rewrite + items["source_id"].map(turn)) % (rewrite.max() + 1)).to_numpy(int)
    order = rng.permutation(len(items))
    order = order[np.argsort(batch[order], kind="stable")]
    shown = items.iloc[order].set_index(form.ids, drop=False)
    data = {form.key: [form_id(*ids) for ids in shown[["dataset", *form.ids]].to_numpy()]}
    data |= {field: shown[column] for field, column in form.shown.items()}
    return pd.DataFrame(data, shown.index).assign(batch=pd.factorize(batch[order])[0] + 1)


def write_form(dataset: Dataset, folder: Path, seed: int = 0, form: Form = RATING) -> list[Path]:
    """Write the form, ``tasks-<batch>.json``, of comparisons a sheet, and ``key.csv``.

    The key (form_id, items, batch) is for the people who run the study, not for raters.
    """
    table = tasks(dataset, seed, form)
    files = {form.file: paths.project("contrast", form.file).read_text("utf-8")}
    for batch, rows in table.groupby("batch"):
        listed = [{"data": task} for task in rows.to_dict("records")]
        files[f"tasks-{batch}.json"] = json.dumps(listed, ensure_ascii=False, indent=1) + "\n"
    if form is PAIRWISE:
        sheet = table.assign(**dict.fromkeys(form.questions, ""))
        files["comparisons.csv"] = to_csv(sheet, for_people=True)
    key = table.rename(columns={form.key: "form_id"})[["form_id", "batch"]].reset_index()
    files["key.csv"] = to_csv(key[["form_id", *form.ids, "batch"]], for_people=True)
    for name in files:
        storage.no_input(folder / name)
    if folder.is_dir() and any(folder.iterdir()):
        raise TstmetaError(f"{folder} holds files, maybe of another form: name an empty folder")
    for name, text in files.items():
        storage.write(folder / name, text)
    return [folder / name for name in files]


def read_export(files: Sequence[Path], dataset: Dataset, form: Form = RATING) -> pd.DataFrame:
    """The ratings in JSON exports of one Label Studio server, or in sheets (``.csv``).

    Cancelled and skipped annotations and rows without any answer are left out.  Raters become
    ``r1``, ``r2``, ... by first appearance; a sheet is of one rater, or of those in its column
    ``rater``.

    Returns:
        A ratings table, sorted by item, rater and dimension; values 1 to 5.  Of a pairwise form a
        preferences table; ``item_a`` is of the system that is sorted first.

    Raises:
        DataError: all faults of the first file with any, by task (counted from 1), with remedies.
    """
    items = dataset.with_texts("to be held against what raters saw")
    known = _compared(items) if form is PAIRWISE else items
    keys = [form_id(*ids) for ids in known[["dataset", *form.ids]].to_numpy()]
    known = known.set_axis(keys)
    answers = pd.concat([_answers(path, form, known) for path in files])
    if answers.empty:
        remedy = "export the project again, or fill in the sheet, once somebody has rated"
        check([Problem(str(files[0]), "no ratings", remedy=remedy)])
    what, remedy = "the same person rated this before", "delete one of the two answers"
    twice = answers[answers.duplicated([form.key, "rater"])]
    check(Problem(file, what, row, "", remedy) for row, file in twice["file"].items())
    facts = ["dataset", *form.ids]
    answers[facts] = known.loc[answers[form.key], facts].to_numpy()
    table = answers.melt([*facts, "rater"], [*form.questions], "dimension", "value")
    table["dimension"] = table["dimension"].map(form.questions)
    table["value"] = table["value"].map(form.answers)
    if form is PAIRWISE:
        system = items.set_index("item_id")["system"]
        swapped = table["item_a"].map(system) > table["item_b"].map(system)
        table.loc[swapped, form.ids] = table.loc[swapped, form.ids[::-1]].to_numpy()
        table["value"] = table["value"].mask(swapped, table["value"].replace({"a": "b", "b": "a"}))
    rename_raters(table)
    table = table.sort_values([*form.ids, "rater", "dimension"])
    return validate(table, "preferences" if form is PAIRWISE else "ratings", dataset.name)


def _answers(path: Path, form: Form, known: pd.DataFrame) -> pd.DataFrame:
    """The answers in a file, a row a person and task, indexed by the number of the task."""
    table = (_sheet if path.suffix.lower() == ".csv" else _export)(path, form)
    rater = CellCheck(bool, "name who rated, or export again with the annotators")
    checks = {"rater": rater, **dict.fromkeys(form.questions, member_of(form.answers))}
    table = checked(table, checks, path)
    now = known.reindex(table[form.key])
    # A rating holds for the text that was shown, and for no other.
    pairs = [zip(table[field], now[column], strict=True) for field, column in form.shown.items()]
    same = [
        [isinstance(x, str) and seen.split() in (x.split(), inert(x).split()) for seen, x in pair]
        for pair in pairs
    ]
    what = "the raters saw another text than it has under this id"
    remedy = "name the data set that the form was made from, as it was then"
    other = table.index[~np.all(same, axis=0)].unique()
    check(Problem(str(path), what, row, form.key, remedy) for row in other)
    # a name that :func:`rename_raters` never keeps
    return table.assign(file=str(path), rater="by " + table["rater"])


def _export(path: Path, form: Form) -> pd.DataFrame:
    """The answers in an export: texts, several of one question joined by ``, ``."""
    rows, numbers, number = [], [], None
    try:
        for number, task in enumerate(json.loads(paths.read_text(path)), 1):
            seen = {field: str(task["data"].get(field)) for field in (form.key, *form.shown)}
            for annotation in task["annotations"]:
                if annotation.get("was_cancelled") or annotation.get("skipped"):
                    continue
                choices: dict[str, list[str]] = {question: [] for question in form.questions}
                for entry in annotation["result"]:
                    if entry["from_name"] in choices:
                        choices[entry["from_name"]] += entry["value"]["choices"]
                answers = {question: ", ".join(words) for question, words in choices.items()}
                person = annotation.get("completed_by")
                person = person["id"] if isinstance(person, dict) else person
                rows.append({**seen, "rater": str(person or ""), **answers})
                numbers.append(number)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        what = f"not an export of rated tasks ({type(error).__name__}: {str(error)[:60]})"
        remedy = "export the project again from Label Studio, as JSON"
        raise DataError([Problem(str(path), what, number, remedy=remedy)]) from error
    columns = [form.key, *form.shown, "rater", *form.questions]
    return pd.DataFrame(rows, numbers, columns, dtype=object)


def _sheet(path: Path, form: Form) -> pd.DataFrame:
    """Rows of a sheet that have an answer."""
    questions = [*form.questions]
    table = read_rows(path, [form.key, *form.shown, *questions]).fillna("").astype(str)
    table = table.apply(lambda cells: cells.str.strip())
    table = table[(table[questions] != "").any(axis=1)]
    return table if "rater" in table else table.assign(rater=str(path))
