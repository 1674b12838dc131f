"""Simplification ratings of Maddela et al. (2023), with human-written outputs among them.

* ``simpda_2022``: 360 outputs (60 sentences x four systems and two people), three ratings each of
  adequacy (content), fluency and simplicity (style) from 0 to 100, and three overall ratings.
* ``simplikert_2022``: the same outputs again, rated on short scales.
* ``simpeval_past``: 2,400 outputs of 24 older systems, five overall ratings.

Their scales differ and their texts repeat, so work with one at a time (``lens@simpda_2022`` …); the
label ``collection`` tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from . import parts
from .base import Dataset
from .files import (
    check,
    consistent,
    fault,
    items_table,
    labels_table,
    numbers,
    rater_names,
    read_csv,
    unique,
)

NAME = "lens"
STYLE = "simplified"
#: Collection -> file and scale (low, high) of each rated question.
RATED = {
    "simpda_2022": (
        "simpDA_2022.csv",
        {"adequacy": (0, 100), "fluency": (0, 100), "simplicity": (0, 100)},
    ),
    "simplikert_2022": (
        "simplikert_2022.csv",
        {"adequacy": (1, 5), "fluency": (1, 5), "simplicity": (-2, 2)},
    ),
}
QUESTIONS = {"adequacy": "content", "fluency": "fluency", "simplicity": "style"}
OVERALL = (0, 100)
#: Systems of ``simpeval_past`` that are corpora written by people.
PAST_HUMAN = (
    "asset.test.simp",
    "new_asset.test.simp.second",
    "new_turk_corpus_random",
    "new_simple_wiki",
)
SUBSETS = parts.subsets(*RATED, "simpeval_past")


class Part(NamedTuple):
    """Items and ratings of one collection; raters still have names of the file."""

    items: pd.DataFrame
    ratings: pd.DataFrame


def load(root: Path) -> Dataset:
    """Load the three collections.

    Items: ``item_id`` is ``source_id-system``, ``source_id`` is ``collection-number``.
    ``references`` are all human-written outputs of the source, the item's own among them.  Labels:
    ``collection``, and for ``simpda_2022`` the ``sentence_type`` (what the rewrite should do:
    split, delete, …).

    Raises:
        DataError: a file is missing or not as published, or two files disagree.
    """
    pieces = {name: _rated(root, name) for name in RATED}
    overall, types = _overall_2022(root, pieces["simpda_2022"].items)
    pieces["simpeval_past"] = _past(root)
    items = pd.concat([piece.items for piece in pieces.values()], ignore_index=True)
    ratings = pd.concat([*(piece.ratings for piece in pieces.values()), overall], ignore_index=True)
    labels = labels_table(
        NAME,
        items["item_id"],
        collection=[name for name, piece in pieces.items() for _ in range(len(piece.items))],
        sentence_type=items["item_id"].map(types).fillna(""),
    )
    ratings["rater"] = ratings["rater"].map(rater_names(ratings["rater"]))
    return Dataset.of(NAME, items, ratings=ratings, labels=labels)


def _rated(root: Path, name: str) -> Part:
    """A file with one row an output and worker."""
    file, scales = RATED[name]
    path, key = root / "data" / file, ["Input.id", "Input.system"]
    texts = ["Input.original", "Input.simplified"]
    table = read_csv(path, ("WorkerId", *key, *texts, *(f"Answer.{name}" for name in scales)))
    rows = table[[*key, "WorkerId"]].itertuples(index=False, name=None)
    unique(rows, path, "WorkerId", private=True)
    consistent(table, key, texts, path)
    table["item"] = _ids(name, table["Input.id"], table["Input.system"])
    first = table.drop_duplicates("item")
    ratings = [
        _ratings(
            table["item"],
            QUESTIONS[question],
            f"{name} " + table["WorkerId"],
            numbers(table[f"Answer.{question}"], path, f"Answer.{question}", *scale),
        )
        for question, scale in scales.items()
    ]
    human = first["Input.system"].str.startswith("Human")
    return Part(_items(name, first[[*key, *texts]], human), pd.concat(ratings))


def _overall_2022(root: Path, items: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Overall ratings of the outputs of ``simpda_2022``, and the type of each sentence.

    The columns ``rating_1`` … ``rating_3`` are places, not persons.  An output that is another text
    here than in ``simpda_2022`` (spaces aside) gets no rating: it is not what was rated.
    """
    path = root / "data" / "simpeval_2022.csv"
    columns = [f"rating_{place}" for place in (1, 2, 3)]
    key = ("original_id", "system")
    table = read_csv(path, (*key, "generation", "sentence_type", *columns))
    ids = _ids("simpda_2022", *(table[name] for name in key))
    unique(ids, path, ", ".join(key))
    outputs = dict(zip(items["item_id"], items["output"], strict=True))
    check(
        fault(path, f"simpDA_2022.csv has no {item!r}", row, ", ".join(key))
        for row, item in enumerate(ids, 1)
        if item not in outputs
    )
    pairs = zip(ids, table["generation"], strict=True)
    same_text = np.array([outputs[item].split() == text.split() for item, text in pairs])
    ratings = [
        _ratings(ids, "overall", f"simpeval_2022 {column}", values)[same_text]
        for column in columns
        for values in [numbers(table[column], path, column, *OVERALL)]
    ]
    return pd.concat(ratings), dict(zip(ids, table["sentence_type"], strict=True))


def _past(root: Path) -> Part:
    """One row an output with five overall ratings; each column is one person.

    The output is the cleaned text (``processed_generation``): the raw one is in lower case for some
    systems and marks sentence ends with ``||``.
    """
    path, name = root / "data" / "simpeval_past.csv", "simpeval_past"
    key = ["original_id", "system"]
    columns = [f"rating_{person}" for person in range(1, 6)]
    table = read_csv(path, (*key, "original", "processed_generation", *columns))
    ids = _ids(name, *(table[column] for column in key))
    unique(ids, path, ", ".join(key))
    consistent(table, key[:1], ["original"], path)
    ratings = [
        _ratings(ids, "overall", f"{name} {column}", numbers(table[column], path, column, *OVERALL))
        for column in columns
    ]
    human = table["system"].isin(PAST_HUMAN)
    items = _items(name, table[[*key, "original", "processed_generation"]], human)
    return Part(items, pd.concat(ratings))


# ------------------------------------------------------------------------------------ tables


def _ids(collection: str, numbers_: pd.Series, systems: pd.Series) -> list[str]:
    slugs = systems.str.replace(" ", "-")
    return [f"{collection}-{n}-{system}" for n, system in zip(numbers_, slugs, strict=True)]


def _items(collection: str, table: pd.DataFrame, human: pd.Series) -> pd.DataFrame:
    """Items from columns number, system, source, output; ``human`` marks what people wrote."""
    number, system, source, output = (table[column] for column in table.columns)
    references = output[human].groupby(number[human]).agg(list).to_dict()
    return items_table(
        NAME,
        item_id=_ids(collection, number, system),
        source_id=f"{collection}-" + number,
        system=system,
        style=STYLE,
        source=source,
        output=output,
        references=[references.get(key, []) for key in number],
        is_reference=human,
    )


def _ratings(
    ids: Iterable[str], dimension: str, rater: pd.Series | str, values: np.ndarray
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": NAME,
            "item_id": list(ids),
            "dimension": dimension,
            "rater": rater if isinstance(rater, str) else list(rater),
            "value": values,
        }
    )
