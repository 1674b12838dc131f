"""Simplification ratings of Scialom et al. (2021): systems and people. THE FORM IS UNVERIFIED.

The authors link an archive that could not be had.  The loader follows what other published loaders
say of its main file, one row a rating; it warns each time.  Two data sets of Pauli et al. (2025)
come from it: ``human`` (their Scialom, 65 x 25) and ``alva-m`` (their Alva-M., 135 x 11).
"""

import ast
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..schema import MissingData
from .base import Dataset, Subsets
from .raw import floats, read_csv, warn_unverified
from .tables import assemble, long_ratings

NAME = "scialom"
FILE = "questeval_simplification_likert_ratings.csv"
PLACES = (f"simplification_human_evaluations/{FILE}", FILE)
ASPECTS = {"meaning": "content", "fluency": "fluency", "simplicity": "style"}
#: Ratings of each dimension in ``alva-m``.
ALVA_M = 11
KEY = ["sentence_id", "source", "simplification", "system_name"]


def ready(root: Path) -> bool:
    """Whether the file is in the folder, unpacked."""
    return any((root / place).is_file() for place in PLACES)


def load(root: Path) -> Dataset:
    """Load the main file of the unpacked archive, with a warning.

    Items: ``item_id`` is ``sentence_id-system-number`` (``human`` where the file names no system),
    the number by first appearance; ``source_id`` is ``sentence-`` and the file's ``sentence_id``.
    """
    if not ready(root):
        raise MissingData(
            f"{root / PLACES[0]} is not on this machine. Unpack the authors' archive there; its "
            f"address stands in its card: tstmeta data show {NAME}"
        )
    path = next(root / place for place in PLACES if (root / place).is_file())
    warn_unverified(path, NAME)
    table = read_csv(path, encoding="latin-1")
    first = table.drop_duplicates(KEY)
    number = first.groupby(["sentence_id", "system_name"]).cumcount() + 1
    system = first["system_name"].str.replace(" ", "-").replace("", "human")
    first = first.assign(item=first["sentence_id"] + "-" + system + "-" + number.astype(str))
    ids = table.merge(first[[*KEY, "item"]], on=KEY, how="left", validate="many_to_one")["item"]
    rated = (table["aspect"].map(ASPECTS), table["worker_id"], floats(table["rating"]))
    kinds = first.get("simplification_type", [""] * len(first))
    return assemble(
        NAME,
        item_id=first["item"],
        source_id="sentence-" + first["sentence_id"],
        system=first["system_name"].replace("", "human"),
        style="simplified",
        source=first["source"],
        output=first["simplification"],
        references=map(_references, first.get("references", [""] * len(first))),
        is_reference=first["system_name"] == "",
        ratings=long_ratings(NAME, ids, [rated]),
        labels={"simplification_type": kinds},
    )


def _references(cell: str) -> list[str]:
    """A Python list literal of texts, or one text."""
    texts = ast.literal_eval(cell) if cell.startswith("[") else [cell]
    return [text for text in texts if text.strip()]


def _rated_by(dataset: Dataset, number: int) -> pd.Series:
    """Whether each item has that many ratings of every dimension, shape [items]."""
    counts = pd.crosstab(dataset.ratings["item_id"], dataset.ratings["dimension"])
    counts = counts.reindex(dataset.items["item_id"], columns=[*ASPECTS.values()], fill_value=0)
    return (counts >= number).all(axis=1).to_numpy()


def _human(dataset: Dataset) -> Dataset:
    return dataset.where(dataset.items["is_reference"] & _rated_by(dataset, 1))


def _alva_m(dataset: Dataset) -> Dataset:
    """System outputs with 11 ratings or more of every dimension; the first 11 in file order."""
    subset = dataset.where(~dataset.items["is_reference"] & _rated_by(dataset, ALVA_M))
    first = subset.ratings.groupby(["item_id", "dimension"], sort=False).head(ALVA_M)
    return replace(subset, ratings=first.reset_index(drop=True))


SUBSETS: Subsets = {"human": _human, "alva-m": _alva_m}
