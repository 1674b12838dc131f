"""Simplification ratings of Alva-Manchego et al. (2020, 2021): four collections.

* ``asset``: 100 outputs, 15 ratings each of meaning (content), fluency and simplicity (style).
* ``simplicity_da``: 600 outputs of six systems; 15 ratings of simplicity, means of the others.
* ``structural``: 1,750 outputs of 25 systems on other scales, with structural simplicity.
* ``preferences``: 2,154 comparisons of human simplifications, which are items without ratings.

They share the 359 test sentences of ASSET and its ten references, but neither raters nor scales:
work with one at a time (``alva@asset`` …; the label ``collection`` tells them apart).  Three
repositories tokenise the sentences differently, so texts are compared by letters and digits alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..schema import MEAN_RATER, columns
from .base import Dataset, by_label
from .checks import check, consistent, fault, numeric, one_of, same
from .files import read_csv, read_lines
from .tables import items_table, labels_table, long_ratings, rename_raters, scores_table

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
#: Collection -> what its file names have in common, and its columns of ratings: dimension and scale
#: (low, high).  All are released as means; single ratings were released of the last.
STUDIES = {
    "simplicity_da": (
        "simplicity_DA",
        {
            "meaning": ("content", 0, 100),
            "fluency": ("fluency", 0, 100),
            "simplicity": ("style", 0, 100),
        },
    ),
    "structural": (
        "structural_simplicity",
        {
            "meaning": ("content", 1, 5),
            "simplicity": ("style", -2, 2),
            "grammaticality": ("fluency", 1, 5),
            "structural_simplicity": ("structure", -2, 2),
        },
    ),
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
    """Load the four collections.

    Items: ``item_id`` is ``source_id``, then for ``simplicity_da`` and ``structural`` the system,
    for ``preferences`` the corpus and a number; ``source_id`` is ``collection-sentence``, with the
    sentence counted from 0.  Released means have rater ``mean``.  Labels: ``collection`` and, where
    several systems of ``asset`` printed the same, ``candidates``.
    """
    originals = read_lines(root / _DATASET / "asset.test.orig")
    files = [root / _DATASET / f"asset.test.simp.{number}" for number in range(10)]
    texts = zip(*(read_lines(file, len(originals)) for file in files), strict=True)
    sentences = list(zip(originals, map(list, texts), strict=True))
    rated, candidates = _asset(root, sentences)
    collections = {
        "asset": rated,
        **{name: _study(root, name, sentences) for name in STUDIES},
        "preferences": _preferences(root, sentences),
    }
    tables = {
        name: pd.concat([tables[name] for tables in collections.values() if name in tables])
        for name in ("items", "ratings", "preferences", "scores")
    }
    rename_raters(tables["ratings"], tables["preferences"])
    items = tables.pop("items")
    labels = labels_table(
        NAME,
        items["item_id"],
        collection=[name for name, tables in collections.items() for _ in tables["items"].index],
        candidates=candidates + [""] * (len(items) - len(candidates)),
    )
    return Dataset.of(NAME, items, labels=labels, **tables)


def _bare(text: str) -> str:
    """Lower-case letters and digits of a text alone: the same under every tokenisation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _read(
    path: Path,
    sentences: Sentences,
    number: str,
    text: str,
    first: int,
    unique: Sequence[str],
    **more,
) -> pd.DataFrame:
    """A file whose column ``number`` counts sentences from ``first``; it then counts from 0.

    The sentence in column ``text`` must be ASSET's of that number.
    """
    checks = {number: numeric(first, first + len(sentences) - 1, whole=True), text: None, **more}
    table = read_csv(path, checks, unique=unique)
    table[number] = table[number].astype(int) - first
    ours = [_bare(sentences[line][0]) for line in table[number]]
    same([_bare(cell) for cell in table[text]], ours, path, text, "asset.test.orig")
    return table


def _asset(root: Path, sentences: Sentences) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """``human_ratings.csv``, one row a rating, and the candidates for each output's system.

    The file names no system; an output is of the one whose released line is the same text.
    """
    path, number = root / _HUMAN / "human_ratings.csv", "original_sentence_id"
    table = _read(
        path,
        sentences,
        number,
        "original",
        first=0,
        unique=(number, "aspect", "worker_id"),
        simplification=None,
        aspect=one_of(ASPECTS),
        worker_id=None,
        rating=numeric(0, 100),
    )
    consistent(table, [number], ["original", "simplification"], path)
    first = table.drop_duplicates(number)
    released = {name: read_lines(root / _OUTPUTS / name, len(sentences)) for name in SYSTEMS}
    systems = [
        [name for name in SYSTEMS if _bare(released[name][line]) == _bare(output)]
        for line, output in zip(first[number], first["simplification"], strict=True)
    ]
    items = _items(
        "asset",
        first[number],
        sentences,
        item_id="asset-" + first[number].astype(str),
        system=[names[0] if len(names) == 1 else "" for names in systems],
        source=first["original"],
        output=first["simplification"],
    )
    ids, raters = "asset-" + table[number].astype(str), "asset " + table["worker_id"]
    ratings = long_ratings(NAME, ids, table["aspect"].map(ASPECTS), raters, table["rating"])
    candidates = ["|".join(names) if len(names) > 1 else "" for names in systems]
    return {"items": items, "ratings": ratings}, candidates


def _study(root: Path, name: str, sentences: Sentences) -> dict[str, pd.DataFrame]:
    """One of :data:`STUDIES`: means and single ratings, which must agree, and released scores."""
    files, rated = STUDIES[name]
    path, key, single = root / _META / f"{files}.csv", ("sent_id", "sys_name"), list(rated)[-1]
    scales = {column: numeric(low, high) for column, (_, low, high) in rated.items()}
    texts = {"sys_name": None, "simp_sent": None}
    table = _read(path, sentences, "sent_id", "orig_sent", 1, key, **texts, **scales)
    ids = name + "-" + table["sent_id"].astype(str) + "-" + table["sys_name"]
    items = _items(
        name,
        table["sent_id"],
        sentences,
        item_id=ids,
        system=table["sys_name"],
        source=table["orig_sent"],
        output=table["simp_sent"],
    )
    ratings = [
        long_ratings(NAME, ids, dimension, MEAN_RATER, table[column])
        for column, (dimension, _, _) in rated.items()
        if column != single
    ]
    path = root / _META / "ratings_per_annotator" / f"{files}_ratings.csv"
    singles = _of_items(path, name, ids, "rater_id", {single: scales[single]})
    means = singles.groupby("item")[single].mean().reindex(ids).to_numpy()
    check(
        fault(path, f"the ratings of {item!r} do not have the released mean", None, single)
        for item, mean, released in zip(ids, means, table[single], strict=True)
        if not abs(mean - released) < 1e-6  # released with eight decimals
    )
    raters = f"{name} " + singles["rater_id"]
    ratings.append(long_ratings(NAME, singles["item"], rated[single][0], raters, singles[single]))
    path = root / _META / "metrics_per_sentence" / f"metrics_{files}.csv"
    scores = _of_items(path, name, ids, "test_set", dict.fromkeys(METRICS, numeric()))
    return {"items": items, "ratings": pd.concat(ratings), "scores": _scores(scores)}


def _of_items(
    path: Path, name: str, ids: Iterable[str], which: str, values: dict[str, object]
) -> pd.DataFrame:
    """A file with one row an item and ``which``; ``item`` is the id."""
    key = ("sent_id", "sys_name", which)
    table = read_csv(path, {**dict.fromkeys(key), "sent_id": numeric(), **values}, unique=key)
    numbers = (table["sent_id"] - 1).map("{:g}".format)
    table["item"] = name + "-" + numbers + "-" + table["sys_name"]
    known = set(ids)
    check(
        fault(path, f"no item is called {item!r}", row, "sent_id, sys_name")
        for row, item in enumerate(table["item"], 1)
        if item not in known
    )
    return table


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    """Released scores; those against references once for each set of references (``test_set``)."""
    tables = []
    for metric, (dimension, basis) in METRICS.items():
        sets = table["test_set"].unique() if basis == "reference" else table["test_set"].iloc[:1]
        for references in sets:
            rows = table[table["test_set"] == references]
            fields = {"refs": references} if basis == "reference" else {}
            scores = scores_table(
                NAME,
                rows["item"],
                rows[metric].to_numpy(),
                metric=f"released:{metric}",
                dimension=dimension,
                basis=basis,
                fields={"from": "alvamanchego2021", **fields},
            )
            tables.append(scores)
    return pd.concat(tables)


def _preferences(root: Path, sentences: Sentences) -> dict[str, pd.DataFrame]:
    """Pairs of human simplifications, each an item once; item a is the one of ASSET."""
    path = root / _HUMAN / "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    others, line = list(CORPORA)[1:], "sentence_id"
    texts = dict.fromkeys(("worker_id", "winner", "asset_simplification", "other_simplification"))
    held = {"aspect": one_of(ASPECTS), "other_dataset": one_of(others)}
    table = _read(path, sentences, line, "source", 0, (), **texts, **held)
    results = table["winner"].map({"asset": "a", "similar": "tie"})
    results = results.mask(table["winner"] == table["other_dataset"], "b")
    check(
        fault(path, "the winner is neither side of this comparison", row, "winner")
        for row, result in enumerate(results, 1)
        if pd.isna(result)
    )
    sides = [
        table.assign(corpus=corpus, text=table[text])
        for corpus, text in (
            ("asset", "asset_simplification"),
            (table["other_dataset"], "other_simplification"),
        )
    ]
    key = [line, "corpus", "text"]
    rewrites = pd.concat(sides).sort_index(kind="stable").drop_duplicates(key)
    place = rewrites.groupby(key[:2]).cumcount() + 1
    stem = "preferences-" + rewrites[line].astype(str) + "-" + rewrites["corpus"]
    rewrites["item"] = stem + "-" + place.astype(str)
    items = _items(
        "preferences",
        rewrites[line],
        sentences,
        item_id=rewrites["item"],
        system=rewrites["corpus"].map(CORPORA),
        source=rewrites["source"],
        output=rewrites["text"],
        is_reference=True,
    )
    a, b = (side.merge(rewrites[[*key, "item"]], on=key, how="left")["item"] for side in sides)
    rater = "preferences " + table["worker_id"]
    fields = (NAME, a, b, table["aspect"].map(ASPECTS), rater, results)
    preferences = pd.DataFrame(dict(zip(columns("preferences"), fields, strict=True)))
    return {"items": items, "preferences": preferences}


def _items(collection: str, lines: Iterable[int], sentences: Sentences, **given) -> pd.DataFrame:
    """Items with the references of their sentence, without the rewrite itself if it is one."""
    references = [sentences[line][1] for line in lines]
    if given.get("is_reference"):
        references = [
            [text for text in texts if _bare(text) != _bare(output)]
            for texts, output in zip(references, given["output"], strict=True)
        ]
    return items_table(
        NAME,
        source_id=[f"{collection}-{line}" for line in lines],
        style="simplified",
        references=references,
        **given,
    )
