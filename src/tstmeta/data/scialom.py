"""Simplification ratings of Scialom et al. (2021): systems and people. THE FORM IS UNVERIFIED.

The authors link an archive that could not be had when this was written.  The loader follows what
other published loaders say of its main file, a CSV in Latin-1 with one row a rating; it was tested
on archives that we made up, and it warns each time.  Two data sets of Pauli et al. (2025) come from
it: ``scialom@human`` (their Scialom, 65 x 25) and ``scialom@alva-m`` (their Alva-M., 135 x 11).
"""

from __future__ import annotations

import ast
import tarfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..schema import DataError, MissingData
from .base import Dataset
from .files import (
    UnverifiedForm,
    check,
    fault,
    items_table,
    labels_table,
    numbers,
    one_of,
    rater_names,
    read_csv,
    read_text,
    unique,
)

NAME = "scialom"
STYLE = "simplified"
ENCODING = "latin-1"
ARCHIVE = "simplification_human_evaluations.tar.gz"
FILE = "questeval_simplification_likert_ratings.csv"
FOLDER = "simplification_human_evaluations"
#: Largest file that is read from the archive, in bytes: far above what it can be.
MAX_BYTES = 1 << 28
ASPECTS = {"meaning": "content", "fluency": "fluency", "simplicity": "style"}
SCALE = (0, 100)
#: Ratings of each dimension in ``alva-m``.
ALVA_M = 11
KEY = ["sentence_id", "source", "simplification", "system_name"]


def ready(root: Path) -> bool:
    """Whether the archive, or the file that it holds, is in the folder."""
    return any((root / place).is_file() for place in (ARCHIVE, FILE, f"{FOLDER}/{FILE}"))


def load(root: Path) -> Dataset:
    """Load the main file, from the extracted folder or the archive, with a warning.

    Items: ``item_id`` is ``sentence_id-system-number`` (``human`` where the file names no system),
    the number by first appearance; ``source_id`` is ``sentence-`` and the file's ``sentence_id``.
    Raters keep their identity across dimensions.  Label: ``simplification_type``.

    Raises:
        MissingData: neither archive nor file is here.
        DataError: the archive is damaged, or the file has another form than we expect.
    """
    path, text = _read(root)
    warnings.warn(
        f"{path}: the form of this file was inferred, never seen; hold support and correlations "
        "against the published ones (tstmeta data show scialom) before you use them",
        UnverifiedForm,
        stacklevel=2,
    )
    table = _checked(read_csv(path, [*KEY, "aspect", "worker_id", "rating"], text=text), path)
    ratings = pd.DataFrame(
        {
            "dataset": NAME,
            "item_id": table["item"],
            "dimension": table["aspect"].map(ASPECTS),
            "rater": table["worker_id"].map(rater_names(table["worker_id"])),
            "value": numbers(table["rating"], path, "rating", *SCALE),
        }
    )
    first = table.drop_duplicates("item")
    items = items_table(
        NAME,
        item_id=first["item"],
        source_id="sentence-" + first["sentence_id"],
        system=first["system_name"].replace("", "human"),
        style=STYLE,
        source=first["source"],
        output=first["simplification"],
        references=_references(first, path),
        is_reference=first["system_name"] == "",
    )
    kinds = first["simplification_type"] if "simplification_type" in first else [""] * len(first)
    labels = labels_table(NAME, first["item"], simplification_type=kinds)
    return Dataset.of(NAME, items, ratings=ratings, labels=labels)


def _checked(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The table with a column ``item``; aspects are known and nobody rates one thing twice."""
    one_of(table["aspect"], ASPECTS, path, "aspect")
    for column in ("sentence_id", "worker_id"):
        check(
            fault(path, "empty cell", row, column)
            for row, cell in enumerate(table[column], 1)
            if not cell.strip()
        )
    first = table.drop_duplicates(KEY)
    number = first.groupby(["sentence_id", "system_name"]).cumcount() + 1
    system = first["system_name"].str.replace(" ", "-").replace("", "human")
    first = first[KEY].assign(item=first["sentence_id"] + "-" + system + "-" + number.astype(str))
    table = table.merge(first, on=KEY, how="left", validate="many_to_one")
    keys = ["item", "aspect", "worker_id"]
    unique(table[keys].itertuples(index=False, name=None), path, "worker_id", private=True)
    return table


def _references(table: pd.DataFrame, path: Path) -> list[list[str]]:
    """References of each row: a Python list literal of texts, or one text; the column may lack."""
    if "references" not in table:
        return [[] for _ in range(len(table))]
    found, problems = [], []
    for row, cell in table["references"].items():
        try:
            value = ast.literal_eval(cell) if cell.lstrip().startswith("[") else [cell]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            problems.append(fault(path, "not a list of texts", int(str(row)) + 1, "references"))
            continue
        found.append([text for text in value if text.strip()])
    check(problems)
    return found


def _read(root: Path) -> tuple[Path, str]:
    """The main file's path (inside the archive, if it is) and text."""
    for path in (root / FOLDER / FILE, root / FILE):
        if path.is_file():
            return path, read_text(path, ENCODING)
    archive = root / ARCHIVE
    if not archive.is_file():
        raise MissingData(
            f"{archive} is not on this machine. Get it with: tstmeta data fetch {NAME} (no hash of "
            "it is known, so what arrives cannot be verified)"
        )
    try:
        return archive / FILE, _member(archive)
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise DataError([fault(archive, f"not a readable tar.gz ({error})")]) from error


def _member(archive: Path) -> str:
    """The main file's text, read in memory: nothing of the archive is written to disk."""
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            if member.isfile() and Path(member.name).name == FILE:
                tarfile.data_filter(member, str(archive.parent))  # refuses names that leave it
                if member.size > MAX_BYTES:
                    raise DataError([fault(archive, f"{member.name} has {member.size} bytes")])
                opened = tar.extractfile(member)
                return opened.read().decode(ENCODING) if opened else ""
    raise DataError([fault(archive, f"the archive holds no {FILE}")])


# ------------------------------------------------------------------------------------ subsets


def _counts(dataset: Dataset) -> pd.DataFrame:
    """Ratings of each item (rows in item order) and dimension, 0 where there are none."""
    table = pd.crosstab(dataset.ratings["item_id"], dataset.ratings["dimension"])
    return table.reindex(dataset.items["item_id"], columns=list(ASPECTS.values()), fill_value=0)


def _human(dataset: Dataset) -> Dataset:
    """Human-written outputs that were rated on all three dimensions."""
    rated = (_counts(dataset) > 0).all(axis=1).to_numpy()
    return dataset.where(dataset.items["is_reference"] & rated, f"{NAME}@human")


def _alva_m(dataset: Dataset) -> Dataset:
    """System outputs with 11 ratings or more of every dimension; the first 11 in file order."""
    enough = (_counts(dataset) >= ALVA_M).all(axis=1).to_numpy()
    subset = dataset.where(~dataset.items["is_reference"] & enough, f"{NAME}@alva-m")
    first = subset.ratings.groupby(["item_id", "dimension"], sort=False).head(ALVA_M)
    return replace(subset, ratings=first.reset_index(drop=True))


SUBSETS: dict[str, Callable[[Dataset], Dataset]] = {"human": _human, "alva-m": _alva_m}
