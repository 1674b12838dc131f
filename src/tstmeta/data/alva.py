"""Simplification ratings of Alva-Manchego et al. (2020, 2021): four collections.

They share the 359 test sentences of ASSET and its ten references, but neither raters nor scales:
work with one at a time (``alva@asset`` …).  Three repositories tokenise differently, so texts are
compared by letters and digits alone.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ..schema import MEAN_RATER
from .base import Dataset, by_label
from .raw import floats, read_csv, read_lines
from .tables import assemble, items_table, long_ratings, scores_table

NAME = "alva"
_DATASET = Path("asset", "dataset")
_HUMAN = Path("asset", "human_ratings")
_META = Path("metaeval-simplification", "data")
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

#: The test sentences of ASSET: each with its ten simplifications.
Sentences = list[tuple[str, list[str]]]


def load(root: Path) -> Dataset:
    """Load the four collections (label ``collection``).

    Items: ``item_id`` is ``source_id``, then for ``simplicity_da`` and ``structural`` the system,
    for ``preferences`` the corpus and a number; ``source_id`` is ``collection-sentence``, counted
    from 0.  Where several systems of ``asset`` printed the same, the system is empty.
    """
    originals = read_lines(root / _DATASET / "asset.test.orig")
    files = [root / _DATASET / f"asset.test.simp.{number}" for number in range(10)]
    texts = zip(*map(read_lines, files), strict=True)
    sentences = list(zip(originals, map(list, texts), strict=True))
    studies = [_study(root, name, sentences) for name in STUDIES]
    collections = [_asset(root, sentences), *studies, _preferences(root, sentences)]
    tables = {
        name: pd.concat([tables[name] for tables in collections if name in tables])
        for name in ("items", "ratings", "preferences", "scores")
    }
    items, scores = tables.pop("items"), [tables.pop("scores")]
    labels = {"collection": items["item_id"].str.partition("-")[0]}
    return assemble(NAME, items, labels=labels, scores=scores, **tables)


def _bare(text: str) -> str:
    """Lower-case letters and digits of a text alone: the same under every tokenisation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _asset(root: Path, sentences: Sentences) -> dict[str, pd.DataFrame]:
    """``human_ratings.csv``, one row a rating.

    The file names no system; an output is of the one whose released line is the same text.
    """
    table = read_csv(root / _HUMAN / "human_ratings.csv")
    table["line"] = table["original_sentence_id"].astype(int)
    first = table.drop_duplicates("line")
    released = {name: read_lines(root / _OUTPUTS / name) for name in SYSTEMS}
    systems = [
        [name for name in SYSTEMS if _bare(released[name][line]) == _bare(output)]
        for line, output in zip(first["line"], first["simplification"], strict=True)
    ]
    items = _items(
        "asset",
        first["line"],
        sentences,
        item_id="asset-" + first["line"].astype(str),
        system=[names[0] if len(names) == 1 else "" for names in systems],
        source=first["original"],
        output=first["simplification"],
    )
    rated = (table["aspect"].map(ASPECTS), "asset " + table["worker_id"], floats(table["rating"]))
    ratings = long_ratings(NAME, "asset-" + table["line"].astype(str), [rated])
    return {"items": items, "ratings": ratings}


def _study(root: Path, name: str, sentences: Sentences) -> dict[str, pd.DataFrame]:
    """One of :data:`STUDIES`: means, single ratings of the last column, released scores."""
    stem, rated = STUDIES[name]
    *means, single = rated

    def read(file: str) -> pd.DataFrame:
        table = read_csv(root / _META / file)
        table["line"] = table["sent_id"].astype(int) - 1
        return table.assign(item=f"{name}-" + table["line"].astype(str) + "-" + table["sys_name"])

    table = read(f"{stem}.csv")
    names = {"item": "item_id", "sys_name": "system", "orig_sent": "source", "simp_sent": "output"}
    items = _items(name, table["line"], sentences, **table[[*names]].rename(columns=names))
    singles = read(f"ratings_per_annotator/{stem}_ratings.csv")
    people = (rated[single], f"{name} " + singles["rater_id"], floats(singles[single]))
    mean_columns = [(rated[column], MEAN_RATER, floats(table[column])) for column in means]
    ratings = [
        long_ratings(NAME, table["item"], mean_columns),
        long_ratings(NAME, singles["item"], [people]),
    ]
    scores = _scores(read(f"metrics_per_sentence/metrics_{stem}.csv"))
    return {"items": items, "ratings": pd.concat(ratings), "scores": scores}


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    """Released scores; those against references once for each set of references (``test_set``)."""
    tables, sets = [], list(table.groupby("test_set", sort=False))
    for metric, (dimension, basis) in METRICS.items():
        facts = {"metric": f"released:{metric}", "dimension": dimension, "basis": basis}
        for references, rows in sets if basis == "reference" else sets[:1]:
            fields = {"from": "alvamanchego2021"}
            if basis == "reference":
                facts["metric"] = f"released:{metric}-{references}"
                fields["refs"] = references
            values = floats(rows[metric])
            tables.append(scores_table(NAME, rows["item"], values, **facts, fields=fields))
    return pd.concat(tables)


def _preferences(root: Path, sentences: Sentences) -> dict[str, pd.DataFrame]:
    """Pairs of human simplifications, each an item once; item a is the one of ASSET."""
    path = root / _HUMAN / "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    table = read_csv(path)
    table["line"] = table["sentence_id"].astype(int)
    results = table["winner"].map({"asset": "a", "similar": "tie"})
    results = results.mask(table["winner"] == table["other_dataset"], "b")
    sides = [
        table.assign(corpus="asset", text=table["asset_simplification"]),
        table.assign(corpus=table["other_dataset"], text=table["other_simplification"]),
    ]
    key = ["line", "corpus", "text"]
    rewrites = pd.concat(sides).sort_index(kind="stable").drop_duplicates(key)
    place = rewrites.groupby(key[:2]).cumcount() + 1
    stem = "preferences-" + rewrites["line"].astype(str) + "-" + rewrites["corpus"]
    rewrites["item"] = stem + "-" + place.astype(str)
    columns = rewrites[["source"]].assign(item_id=rewrites["item"], output=rewrites["text"])
    columns["system"] = rewrites["corpus"].map(CORPORA)
    items = _items("preferences", rewrites["line"], sentences, **columns, is_reference=True)
    a, b = (side.merge(rewrites[[*key, "item"]], on=key, how="left")["item"] for side in sides)
    facts = {"dimension": table["aspect"].map(ASPECTS), "value": results}
    raters = "preferences " + table["worker_id"]
    compared = pd.DataFrame({"item_a": a, "item_b": b, "rater": raters, "dataset": NAME, **facts})
    return {"items": items, "preferences": compared}


def _items(collection: str, lines: Iterable[int], sentences: Sentences, **columns) -> pd.DataFrame:
    """Items with the references of their sentence, without the rewrite itself if it is one."""
    references = [sentences[line][1] for line in lines]
    if columns.get("is_reference"):
        references = [
            [text for text in texts if _bare(text) != _bare(output)]
            for texts, output in zip(references, columns["output"], strict=True)
        ]
    return items_table(
        NAME,
        source_id=[f"{collection}-{line}" for line in lines],
        style="simplified",
        references=references,
        **columns,
    )
