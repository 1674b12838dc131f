"""Rewriting inappropriate arguments: Ziegenbein et al. (2024), 1,350 rewrites of 225 arguments.

Five systems and a person rewrote each argument.  The file of ratings could not be had, so its form
is inferred from the sibling study (:mod:`.ziegen_editing`).  Without it there are items alone.
"""

import ast
import warnings
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from .base import Dataset
from .raw import read_csv
from .tables import assemble, long_ratings

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


def load(root: Path) -> Dataset:
    """Load the rewrites and, if its file is there, the ratings (with a warning: unverified form).

    Items: ``item_id`` is ``source_id_system`` as in the file.  ``references`` holds the human
    rewrite of the source, which is an item too.  Labels: ``issue`` (the topic) and ``batch``.
    """
    table = read_csv(root / ITEMS)
    table[["number", "_", "system"]] = table["id"].str.partition("_")
    human = table["system"] == "human"
    references = table[human].groupby("number")["rewrite"].agg(list)
    ratings = None
    if (root / RESULTS).is_file():
        warnings.warn(
            f"{RESULTS.name}: the form of this file was inferred, never seen; hold the correlations"
            f" against the published ones (tstmeta data show {NAME}) before you use them",
            stacklevel=2,
        )
        _, ratings = answers(root / RESULTS, NAME, QUESTIONS)
    return assemble(
        NAME,
        table.rename(columns={"id": "item_id", "number": "source_id", "rewrite": "output"}),
        style=STYLE,
        references=[references.get(number, []) for number in table["number"]],
        is_reference=human,
        labels=dict(table[["issue", "batch"]]),
        ratings=ratings,
    )


def answers(
    path: Path, dataset: str, questions: Mapping[str, str], texts: tuple[str, ...] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A results file of this group, one row a judgement, and the ratings in it.

    The answers stand in a Python dict literal: ``questions`` are its keys for each dimension, in
    the order of the page, see :data:`QUESTIONS`, and ``texts`` are keys whose texts are joined to
    the rows.  Who judged an item a second time counts as another rater there.
    """
    table = read_csv(path)
    results = pd.DataFrame([ast.literal_eval(cell) for cell in table["result"]])
    judges = table.groupby(["post_id", "user_id"]).cumcount().astype(str) + " " + table["user_id"]
    columns = []
    for place, (key, dimension) in enumerate(questions.items()):
        options = {f"other{place * OPTIONS + value}": value for value in range(1, OPTIONS + 1)}
        columns.append((dimension, judges, [float(options[answer]) for answer in results[key]]))
    ratings = long_ratings(dataset, table["post_id"], columns)
    return table.join(results[list(texts)]), ratings
