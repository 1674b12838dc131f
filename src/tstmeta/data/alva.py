"""Simplification ratings of Alva-Manchego et al. (2020, 2021): four collections.

They share the 359 test sentences of ASSET and its ten references, but neither raters nor scales:
work with one at a time (``alva@asset`` …).  Three repositories tokenise differently, so texts are
compared by letters and digits alone.
"""

import re
from pathlib import Path

import pandas as pd

from ..schema import MEAN_RATER
from .base import Dataset, by_label
from .raw import floats, read_csv, read_lines
from .tables import assemble, long_ratings, scores_table

NAME = "alva"
_HUMAN = Path("asset", "human_ratings")
_OUTPUTS = Path("easse", "easse", "resources", "data", "system_outputs", "turkcorpus", "test")
#: Systems whose released outputs are searched for the outputs rated in ``asset``.
SYSTEMS = ("ACCESS", "DMASS-DCSS", "Dress-Ls", "Hybrid", "NTS-SARI", "PBMT-R", "SBMT-SARI")
#: Rated aspect -> our dimension.
ASPECTS = {"meaning": "content", "fluency": "fluency", "simplicity": "style"}
#: Winner and corpus names of the comparisons -> system.
CORPORA = {"asset": "ASSET", "turkcorpus": "TurkCorpus", "hsplit": "HSplit"}
_STRUCTURAL = {"meaning": "content", "simplicity": "style", "grammaticality": "fluency"}
#: Collection -> what its file names have in common, and its columns of ratings with dimensions.
#: All are released as means; single ratings were released of the last.
STUDIES = {
    "simplicity_da": ("simplicity_DA", ASPECTS),
    "structural": ("structural_simplicity", _STRUCTURAL | {"structural_simplicity": "structure"}),
}
#: Released metric -> (dimension it claims, basis).  Their averages with each other are left out.
METRICS = {
    **dict.fromkeys(("bleu", "ibleu"), ("content", "reference")),
    **dict.fromkeys(("bertscore_P", "bertscore_R", "bertscore_F1"), ("content", "reference")),
    **dict.fromkeys(("sari", "fkbleu"), ("style", "reference")),
    "fkgl": ("style", "none"),
    "samsa": ("structure", "source"),
}
SUBSETS = by_label("collection", ("asset", *STUDIES, "preferences"))


def load(root: Path) -> Dataset:
    """Items: ``collection-sentence``, then the system, or for ``preferences`` corpus and number.

    Where several systems of ``asset`` printed the same, the system is empty.  References are the
    ten of the sentence, without the rewrite itself if it is one.
    """
    parts = [_asset(root), *(_study(root, name) for name in STUDIES), _preferences(root)]
    tables = {
        name: pd.concat([part[name] for part in parts if name in part])
        for name in ("items", "ratings", "preferences", "scores")
    }
    items = tables.pop("items")
    collection = items["item_id"].str.partition("-")[0]
    by_people = collection == "preferences"
    files = [root / "asset" / "dataset" / f"asset.test.simp.{number}" for number in range(10)]
    references = list(zip(*map(read_lines, files), strict=True))
    return assemble(
        NAME,
        items,
        source_id=collection + "-" + items["line"].astype(str),
        style="simplified",
        references=[
            [text for text in references[line] if not by_person or _bare(text) != _bare(output)]
            for line, by_person, output in zip(
                items["line"], by_people, items["output"], strict=True
            )
        ],
        is_reference=by_people,
        labels={"collection": collection},
        **tables,
    )


def _bare(text: str) -> str:
    """Lower-case letters and digits of a text alone: the same under every tokenisation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _asset(root: Path) -> dict[str, pd.DataFrame]:
    """``human_ratings.csv``, one row a rating.

    The file names no system; an output is of the one whose released line is the same text.
    """
    table = read_csv(root / _HUMAN / "human_ratings.csv")
    table["line"] = table["original_sentence_id"].astype(int)
    table["item_id"] = "asset-" + table["line"].astype(str)
    items = table.rename(columns={"original": "source", "simplification": "output"})
    items = items.drop_duplicates("line")
    released = {name: read_lines(root / _OUTPUTS / name) for name in SYSTEMS}
    systems = [
        [name for name in SYSTEMS if _bare(released[name][line]) == _bare(output)]
        for line, output in zip(items["line"], items["output"], strict=True)
    ]
    items["system"] = [names[0] if len(names) == 1 else "" for names in systems]
    rated = (table["aspect"].map(ASPECTS), "asset " + table["worker_id"], floats(table["rating"]))
    return {"items": items, "ratings": long_ratings(table["item_id"], [rated])}


def _study(root: Path, name: str) -> dict[str, pd.DataFrame]:
    """One of :data:`STUDIES`: means, single ratings of the last column, released scores."""
    stem, rated = STUDIES[name]
    *means, single = rated

    def read(file: str) -> pd.DataFrame:
        table = read_csv(root / "metaeval-simplification" / "data" / file)
        table["line"] = table["sent_id"].astype(int) - 1
        ids = f"{name}-" + table["line"].astype(str) + "-" + table["sys_name"]
        return table.assign(item_id=ids)

    table = read(f"{stem}.csv")
    names = {"sys_name": "system", "orig_sent": "source", "simp_sent": "output"}
    singles = read(f"ratings_per_annotator/{stem}_ratings.csv")
    people = (rated[single], f"{name} " + singles["rater_id"], floats(singles[single]))
    mean_columns = [(rated[column], MEAN_RATER, floats(table[column])) for column in means]
    ratings = [
        long_ratings(table["item_id"], mean_columns),
        long_ratings(singles["item_id"], [people]),
    ]
    scores = _scores(read(f"metrics_per_sentence/metrics_{stem}.csv"))
    items = table.rename(columns=names)
    return {"items": items, "ratings": pd.concat(ratings), "scores": scores}


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    """Released scores; those against references once for each set of references (``test_set``)."""
    tables, sets = [], list(table.groupby("test_set", sort=False))
    for metric, (dimension, basis) in METRICS.items():
        for references, rows in sets if basis == "reference" else sets[:1]:
            name, fields = f"released:{metric}", {"from": "alvamanchego2021"}
            if basis == "reference":
                name, fields = f"{name}-{references}", fields | {"refs": references}
            facts = (name, dimension, basis, fields)
            tables.append(scores_table(NAME, rows["item_id"], floats(rows[metric]), *facts))
    return pd.concat(tables)


def _preferences(root: Path) -> dict[str, pd.DataFrame]:
    """Pairs of human simplifications, each an item once; item a is the one of ASSET."""
    path = root / _HUMAN / "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    table = read_csv(path)
    table["line"] = table["sentence_id"].astype(int)
    results = table["winner"].map({"asset": "a", "similar": "tie"})
    results = results.mask(table["winner"] == table["other_dataset"], "b")
    sides = [
        table.assign(corpus="asset", output=table["asset_simplification"]),
        table.assign(corpus=table["other_dataset"], output=table["other_simplification"]),
    ]
    key = ["line", "corpus", "output"]
    items = pd.concat(sides).sort_index(kind="stable").drop_duplicates(key)
    place = items.groupby(key[:2]).cumcount() + 1
    stem = "preferences-" + items["line"].astype(str) + "-" + items["corpus"]
    items["item_id"] = stem + "-" + place.astype(str)
    items["system"] = items["corpus"].map(CORPORA)
    a, b = (side.merge(items[[*key, "item_id"]], on=key, how="left")["item_id"] for side in sides)
    facts = {"dimension": table["aspect"].map(ASPECTS), "value": results}
    raters = "preferences " + table["worker_id"]
    compared = pd.DataFrame({"item_a": a, "item_b": b, "rater": raters, **facts})
    return {"items": items, "preferences": compared}
