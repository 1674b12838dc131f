"""Rewriting inappropriate arguments: Ziegenbein et al. (2024), 1,350 rewrites of 225 arguments.

Five systems and a person rewrote each argument.  The list of rewrites is verified; the file of
ratings could not be had, so its form is inferred from the sibling study (:mod:`.ziegen_editing`,
which shares :func:`answers`) and from the annotation page.  Without it there are items alone.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .base import Dataset
from .files import (
    UnverifiedForm,
    check,
    consistent,
    fault,
    items_table,
    labels_table,
    rater_names,
    read_csv,
    unique,
)

NAME = "ziegen"
STYLE = "appropriate"
ITEMS = Path("src", "annotation-interface", "appropriateness-study-abs", "data", "study_pairs.csv")
RESULTS = Path("data", "style-transfer", "study_results", "study_abs_results.csv")
#: Answer key -> dimension; the options of the first question are ``other1`` … ``other5``, those of
#: the second ``other6`` … ``other10``, and so on: 1 to 5 each.
QUESTIONS = {
    "otherErrorQuestion1": "style",
    "otherErrorQuestion2": "content",
    "otherErrorQuestion3": "fluency",
}
OPTIONS = 5


class Answers(NamedTuple):
    """What annotators answered, one row a judgement."""

    #: The file's own columns.
    table: pd.DataFrame
    #: The dict of each row.
    results: list[dict[str, Any]]
    #: A ratings table.
    ratings: pd.DataFrame


def load(root: Path) -> Dataset:
    """Load the rewrites and, if its file is there, the ratings (with a warning: unverified form).

    Items: ``item_id`` is ``source_id_system`` as in the file.  ``references`` holds the human
    rewrite of the source, which is an item too.  Labels: ``issue`` (the topic) and ``batch``.

    Raises:
        DataError: a file is not as published.
    """
    path = root / ITEMS
    table = read_csv(path, ("id", "source", "rewrite", "issue", "batch"))
    unique(table["id"], path, "id")
    parts = table["id"].str.partition("_")
    table["number"], table["system"] = parts[0], parts[2]
    check(
        fault(path, f"{name!r} is not number_system", row, "id")
        for row, (name, system) in enumerate(zip(table["id"], table["system"], strict=True), 1)
        if not system
    )
    consistent(table, ["number"], ["source"], path)
    human = table["system"] == "human"
    reference = dict(zip(table["number"][human], table["rewrite"][human], strict=True))
    items = items_table(
        NAME,
        item_id=table["id"],
        source_id=table["number"],
        system=table["system"],
        style=STYLE,
        source=table["source"],
        output=table["rewrite"],
        references=[[reference[n]] if n in reference else [] for n in table["number"]],
        is_reference=human,
    )
    labels = labels_table(NAME, table["id"], issue=table["issue"], batch=table["batch"])
    return Dataset.of(NAME, items, labels=labels, ratings=_ratings(root / RESULTS))


def _ratings(path: Path) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    warnings.warn(
        f"{path.name}: this form was inferred from a sibling study, never seen; hold the "
        "correlations against the published ones (tstmeta data show ziegen) before you use them",
        UnverifiedForm,
        stacklevel=3,
    )
    return answers(path, NAME, QUESTIONS).ratings


def answers(
    path: Path, dataset: str, questions: Mapping[str, str], needed: tuple[str, ...] = ()
) -> Answers:
    """Read a results file of this group: one row a judgement, its answers in a Python dict literal.

    The literal is parsed (:func:`ast.literal_eval`), never run.  Who judged an item a second time
    counts as another rater there, so that nothing is dropped and nothing overwritten.

    Args:
        questions: key of an answer -> dimension, in the order of the page, see :data:`QUESTIONS`.
        needed: further keys that each dict must have, with a text.

    Raises:
        DataError: a cell that is no dict, an answer that is missing or none of the options.
    """
    table = read_csv(path, ("user_id", "post_id", "result"))
    results = _literals(table["result"], path)
    check(
        fault(path, f"no text under {key!r}", row, "result")
        for key in needed
        for row, result in enumerate(results, 1)
        if not isinstance(result.get(key), str)
    )
    problems, columns = [], {}
    for place, key in enumerate(questions):
        options = {f"other{place * OPTIONS + value}": value for value in range(1, OPTIONS + 1)}
        columns[key] = [options.get(str(result.get(key))) for result in results]
        problems += [
            fault(path, f"{key} is none of {', '.join(options)}", row, "result")
            for row, value in enumerate(columns[key], 1)
            if value is None
        ]
    check(problems)
    again = table.groupby(["post_id", "user_id"]).cumcount().astype(str)
    judges = again + " " + table["user_id"]
    raters = judges.map(rater_names(judges))
    ratings = pd.concat(
        pd.DataFrame(
            {
                "dataset": dataset,
                "item_id": table["post_id"],
                "dimension": dimension,
                "rater": raters,
                "value": pd.Series(columns[key], dtype=float),
            }
        )
        for key, dimension in questions.items()
    )
    return Answers(table, results, ratings)


def _literals(cells: pd.Series, path: Path) -> list[dict[str, Any]]:
    problems, results = [], []
    for row, cell in enumerate(cells, 1):
        try:
            value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        if not isinstance(value, dict):
            problems.append(fault(path, "not a Python dict literal", row, "result"))
        results.append(value)
    check(problems)
    return results
