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
    """Items: ``source_id_system`` as in the file; the human rewrite is the reference, and an item.

    Labels: ``issue`` (the topic) and ``batch``.
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
        _, ratings = answers(root / RESULTS, QUESTIONS)
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
    path: Path, questions: Mapping[str, str], texts: tuple[str, ...] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A results file, one row a judgement, with the ``texts`` in its dict literal; and its ratings.

    ``questions`` are in the order of the page.  Who judged an item again is another rater there.
    """
    table = read_csv(path)
    results = pd.DataFrame([ast.literal_eval(cell) for cell in table["result"]])
    judges = table.groupby(["post_id", "user_id"]).cumcount().astype(str) + " " + table["user_id"]
    rated = [
        (dimension, judges, results[key].str.removeprefix("other").astype(float) - OPTIONS * place)
        for place, (key, dimension) in enumerate(questions.items())
    ]
    return table.join(results[list(texts)]), long_ratings(table["post_id"], rated)
