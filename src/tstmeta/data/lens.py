"""Simplification ratings of Maddela et al. (2023), with human-written outputs among them.

The scales of the three collections differ and their texts repeat, so work with one at a time
(``lens@simpda_2022`` …).
"""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .raw import floats, read_csv
from .tables import assemble, items_table, long_ratings

NAME = "lens"
QUESTIONS = {"adequacy": "content", "fluency": "fluency", "simplicity": "style"}
#: Collection -> file.
SURVEYS = {"simpda_2022": "simpDA_2022.csv", "simplikert_2022": "simplikert_2022.csv"}
#: Systems of ``simpeval_past`` that are corpora written by people.
PAST_HUMAN = (
    "asset.test.simp",
    "new_asset.test.simp.second",
    "new_turk_corpus_random",
    "new_simple_wiki",
)
SUBSETS = by_label("collection", (*SURVEYS, "simpeval_past"))


def load(root: Path) -> Dataset:
    """Load the three collections (label ``collection``).

    Items: ``item_id`` is ``source_id-system``, ``source_id`` is ``collection-number``.
    ``references`` are all human-written outputs of the source, the item's own among them.  The
    label ``sentence_type`` of ``simpda_2022`` is what the rewrite should do: split, delete, …
    """
    tables = [*(_survey(root, name) for name in SURVEYS), _past(root)]
    items = pd.concat([items for items, _ in tables], ignore_index=True)
    overall, types = _overall_2022(root, items)
    ratings = pd.concat([*(rated for _, rated in tables), overall])
    labels = {
        "collection": items["item_id"].str.partition("-")[0],
        "sentence_type": items["item_id"].map(types).fillna(""),
    }
    return assemble(NAME, items, ratings=ratings, labels=labels)


def _survey(root: Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    key, texts = ["Input.id", "Input.system"], ["Input.original", "Input.simplified"]
    table = read_csv(root / "data" / SURVEYS[name])
    ids = _ids(name, table["Input.id"], table["Input.system"])
    raters = f"{name} " + table["WorkerId"]
    rated = [(ours, raters, floats(table[f"Answer.{name}"])) for name, ours in QUESTIONS.items()]
    first = table.drop_duplicates(key)
    human = first["Input.system"].str.startswith("Human")
    return _items(name, first[[*key, *texts]], human), long_ratings(NAME, ids, rated)


def _overall_2022(root: Path, items: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Overall ratings of the outputs of ``simpda_2022``, and the type of each sentence.

    An output that is another text here than in ``simpda_2022`` (spaces aside) gets no rating.
    """
    places = [f"rating_{place}" for place in (1, 2, 3)]
    table = read_csv(root / "data" / "simpeval_2022.csv")
    table["item"] = _ids("simpda_2022", table["original_id"], table["system"])
    outputs = dict(zip(items["item_id"], items["output"], strict=True))
    same = table[table["item"].map(outputs).str.split() == table["generation"].str.split()]
    rated = [("overall", f"simpeval_2022 {place}", floats(same[place])) for place in places]
    types = dict(zip(table["item"], table["sentence_type"], strict=True))
    return long_ratings(NAME, same["item"], rated), types


def _past(root: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and ratings of a file with one row an output; each of five columns is one person."""
    name, key = "simpeval_past", ["original_id", "system"]
    texts = ["original", "processed_generation"]
    people = [f"rating_{person}" for person in range(1, 6)]
    table = read_csv(root / "data" / "simpeval_past.csv")
    ids = _ids(name, *(table[column] for column in key))
    rated = [("overall", f"{name} {person}", floats(table[person])) for person in people]
    human = table["system"].isin(PAST_HUMAN)
    return _items(name, table[[*key, *texts]], human), long_ratings(NAME, ids, rated)


def _ids(collection: str, numbers: Iterable[str], systems: pd.Series) -> list[str]:
    slugs = systems.str.replace(" ", "-")
    return [f"{collection}-{n}-{system}" for n, system in zip(numbers, slugs, strict=True)]


def _items(collection: str, table: pd.DataFrame, human: pd.Series) -> pd.DataFrame:
    """Items from columns number, system, source, output; ``human`` marks what people wrote."""
    table = table.set_axis(["number", "system", "source", "output"], axis="columns")
    references = table[human].groupby("number")["output"].agg(list)
    return items_table(
        NAME,
        table,
        item_id=_ids(collection, table["number"], table["system"]),
        source_id=f"{collection}-" + table["number"],
        style="simplified",
        references=[references.get(key, []) for key in table["number"]],
        is_reference=human,
    )
