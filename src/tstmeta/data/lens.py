"""Simplification ratings of Maddela et al. (2023), with human-written outputs among them.

The scales of the three collections differ and their texts repeat, so work with one at a time
(``lens@simpda_2022`` …).
"""

from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .raw import floats, read_csv
from .tables import assemble, long_ratings

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
    """Items: ``source_id-system``, of the sources ``collection-number``.

    ``references`` are all human-written outputs of the source, the item's own among them.  The
    label ``sentence_type`` of ``simpda_2022`` is what the rewrite should do: split, delete, …
    """
    parts = [*(_survey(root, name) for name in SURVEYS), _past(root)]
    items = pd.concat([items for items, _ in parts], ignore_index=True)
    by_people = items[items["is_reference"]].groupby("source_id")["output"].agg(list)
    overall, types = _overall_2022(root, items)
    return assemble(
        "lens",
        items,
        style="simplified",
        references=[by_people.get(source, []) for source in items["source_id"]],
        ratings=pd.concat([*(ratings for _, ratings in parts), overall]),
        labels={
            "collection": items["item_id"].str.partition("-")[0],
            "sentence_type": items["item_id"].map(types).fillna(""),
        },
    )


def _read(root: Path, file: str, collection: str, columns: str) -> pd.DataFrame:
    """A file with the ids of its items; ``columns`` has number, system, source and output in it."""
    names = dict(zip(columns.split(), ("number", "system", "source", "output"), strict=True))
    table = read_csv(root / "data" / file).rename(columns=names)
    table["source_id"] = f"{collection}-" + table["number"]
    return table.assign(item_id=table["source_id"] + "-" + table["system"].str.replace(" ", "-"))


def _survey(root: Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = "Input.id Input.system Input.original Input.simplified"
    table = _read(root, SURVEYS[name], name, columns)
    raters = f"{name} " + table["WorkerId"]
    rated = [(ours, raters, floats(table[f"Answer.{name}"])) for name, ours in QUESTIONS.items()]
    items = table.drop_duplicates("item_id")
    items = items.assign(is_reference=items["system"].str.startswith("Human"))
    return items, long_ratings(table["item_id"], rated)


def _overall_2022(root: Path, items: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Overall ratings of the outputs of ``simpda_2022``, and the type of each sentence.

    An output that is another text here than in ``simpda_2022`` (spaces aside) gets no rating.
    """
    columns = "original_id system original generation"
    table = _read(root, "simpeval_2022.csv", "simpda_2022", columns)
    outputs = items.set_index("item_id")["output"]
    same = table[table["item_id"].map(outputs).str.split() == table["output"].str.split()]
    places = [f"rating_{place}" for place in (1, 2, 3)]
    rated = [("overall", f"simpeval_2022 {place}", floats(same[place])) for place in places]
    types = dict(zip(table["item_id"], table["sentence_type"], strict=True))
    return long_ratings(same["item_id"], rated), types


def _past(root: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and ratings of a file with one row an output; each of five columns is one person."""
    name, columns = "simpeval_past", "original_id system original processed_generation"
    table = _read(root, f"{name}.csv", name, columns)
    people = [f"rating_{person}" for person in range(1, 6)]
    rated = [("overall", f"{name} {person}", floats(table[person])) for person in people]
    items = table.assign(is_reference=table["system"].isin(PAST_HUMAN))
    return items, long_ratings(table["item_id"], rated)
