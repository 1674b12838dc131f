"""How each file of :mod:`.alva` is read: one function a collection.

Three repositories speak of the same sentences, but tokenise them differently, so texts are compared
by their letters and digits alone.  Every file's sentence must agree with ASSET's of that number:
some count from 0 and some from 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from .files import (
    check,
    consistent,
    fault,
    items_table,
    numbers,
    one_of,
    read_aligned,
    read_csv,
    read_lines,
    same,
    scores_table,
    unique,
)

NAME = "alva"
STYLE = "simplified"
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


class Column(NamedTuple):
    """A column of ratings: its dimension and scale."""

    name: str
    dimension: str
    low: float
    high: float


class Study(NamedTuple):
    """Outputs of several systems with released means, and single ratings of one dimension."""

    items: str
    means: tuple[Column, ...]
    ratings: str
    single: Column
    metrics: str


STUDIES = {
    "simplicity_da": Study(
        "simplicity_DA.csv",
        (Column("meaning", "content", 0, 100), Column("fluency", "fluency", 0, 100)),
        "simplicity_DA_ratings.csv",
        Column("simplicity", "style", 0, 100),
        "metrics_simplicity_DA.csv",
    ),
    "structural": Study(
        "structural_simplicity.csv",
        (
            Column("meaning", "content", 1, 5),
            Column("simplicity", "style", -2, 2),
            Column("grammaticality", "fluency", 1, 5),
        ),
        "structural_simplicity_ratings.csv",
        Column("structural_simplicity", "structure", -2, 2),
        "metrics_structural_simplicity.csv",
    ),
}
#: Released metric -> (dimension it claims, basis).  Their averages with each other are left out.
METRICS = {
    "bleu": ("content", "reference"),
    "ibleu": ("content", "reference"),
    "bertscore_P": ("content", "reference"),
    "bertscore_R": ("content", "reference"),
    "bertscore_F1": ("content", "reference"),
    "sari": ("style", "reference"),
    "fkbleu": ("style", "reference"),
    "fkgl": ("style", "none"),
    "samsa": ("structure", "source"),
}


class Part(NamedTuple):
    """One collection; raters are still named as in the file, with the collection in front."""

    items: pd.DataFrame
    ratings: pd.DataFrame
    preferences: pd.DataFrame
    scores: pd.DataFrame
    #: One column ``candidates``: systems that an output may come from, where there are several.
    candidates: pd.DataFrame


class Sentences(NamedTuple):
    """The test sentences of ASSET and the ten simplifications of each."""

    originals: list[str]
    references: list[list[str]]

    @classmethod
    def read(cls, root: Path) -> Sentences:
        """Read ``asset.test.orig`` and ``asset.test.simp.0`` … ``9``, line by line."""
        names = ["orig", *(f"simp.{number}" for number in range(10))]
        texts = read_aligned({name: root / _DATASET / f"asset.test.{name}" for name in names})
        originals = texts.pop("orig")
        return cls(originals, [list(group) for group in zip(*texts.values(), strict=True)])

    def locate(self, table: pd.DataFrame, path: Path, number: str, text: str, first: int) -> None:
        """Turn the column ``number``, which counts from ``first``, into line numbers from 0.

        Raises:
            DataError: no such line, or the sentence in column ``text`` is another one.
        """
        last = first + len(self.originals) - 1
        given = numbers(table[number], path, number, first, last)
        check(
            fault(path, f"{value:g} is not a whole number", row, number)
            for row, value in enumerate(given, 1)
            if value % 1
        )
        table[number] = given.astype(int) - first
        ours = [bare(self.originals[line]) for line in table[number]]
        same([bare(cell) for cell in table[text]], ours, path, text, "asset.test.orig")


def bare(text: str) -> str:
    """Lower-case letters and digits of a text alone: the same under every tokenisation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def asset(root: Path, sentences: Sentences) -> Part:
    """``human_ratings.csv``, one row a rating; it names no system, see :func:`_systems`."""
    path, number = root / _HUMAN / "human_ratings.csv", "original_sentence_id"
    columns = ("original", "simplification", number, "aspect", "worker_id", "rating")
    table = read_csv(path, columns)
    sentences.locate(table, path, number, "original", first=0)
    one_of(table["aspect"], ASPECTS, path, "aspect")
    _one_rating(table, [number, "aspect", "worker_id"], path)
    consistent(table, [number], ["original", "simplification"], path)
    first = table.drop_duplicates(number).set_index(number)
    outputs = dict(zip(first.index.astype(int), first["simplification"], strict=True))
    candidates = _systems(root, outputs, len(sentences.originals))
    items = _items(
        "asset",
        first.index,
        sentences,
        item_id=[f"asset-{line}" for line in first.index],
        system=[names[0] if len(names) == 1 else "" for names in candidates],
        source=first["original"],
        output=first["simplification"],
    )
    ratings = _ratings(
        [f"asset-{line}" for line in table[number]],
        [ASPECTS[aspect] for aspect in table["aspect"]],
        [f"asset {worker}" for worker in table["worker_id"]],
        numbers(table["rating"], path, "rating", 0, 100),
    )
    several = ["|".join(names) if len(names) > 1 else "" for names in candidates]
    return _part(items, ratings=ratings, candidates=pd.DataFrame({"candidates": several}))


def _one_rating(table: pd.DataFrame, key: list[str], path: Path) -> None:
    """Nobody rates the same thing twice; the key, which ends with a worker, is not quoted."""
    unique(table[key].itertuples(index=False, name=None), path, key[-1], private=True)


def _systems(root: Path, outputs: Mapping[int, str], count: int) -> list[list[str]]:
    """For each output (line from 0 -> text), the systems whose released line is the same text."""
    lines = {name: read_lines(root / _OUTPUTS / name, count) for name in SYSTEMS}
    return [
        [name for name in SYSTEMS if bare(lines[name][line]) == bare(output)]
        for line, output in outputs.items()
    ]


def study(root: Path, name: str, sentences: Sentences) -> Part:
    """One of :data:`STUDIES`: means and single ratings, which must agree, and released scores."""
    spec, keys = STUDIES[name], ["sent_id", "sys_name"]
    path = root / _META / spec.items
    means = [*spec.means, spec.single]
    table = read_csv(path, (*keys, "orig_sent", "simp_sent", *(column.name for column in means)))
    sentences.locate(table, path, "sent_id", "orig_sent", first=1)
    ids = [f"{name}-{line}-{system}" for line, system in table[keys].to_numpy()]
    unique(ids, path, "sent_id, sys_name")
    items = _items(
        name,
        table["sent_id"],
        sentences,
        item_id=ids,
        system=table["sys_name"],
        source=table["orig_sent"],
        output=table["simp_sent"],
    )
    values = {c: numbers(table[c.name], path, c.name, c.low, c.high) for c in means}
    ratings = [_ratings(ids, c.dimension, schema.MEAN_RATER, values[c]) for c in spec.means]
    ratings.append(_singles(root, name, spec, dict(zip(ids, values[spec.single], strict=True))))
    scores = _scores(root / _META / "metrics_per_sentence" / spec.metrics, name, ids)
    return _part(items, ratings=pd.concat(ratings), scores=scores)


def _singles(root: Path, name: str, spec: Study, means: dict[str, float]) -> pd.DataFrame:
    """Single ratings; their mean must be the released one (``means``: item -> mean)."""
    path, column = root / _META / "ratings_per_annotator" / spec.ratings, spec.single
    table = read_csv(path, ("sent_id", "sys_name", "rater_id", column.name))
    ids = _known(table, path, name, means)
    _one_rating(table, ["sent_id", "sys_name", "rater_id"], path)
    values = numbers(table[column.name], path, column.name, column.low, column.high)
    raters = [f"{name} {rater}" for rater in table["rater_id"]]
    ratings = _ratings(ids, column.dimension, raters, values)
    found = ratings.groupby("item_id")["value"].mean()
    check(
        fault(path, f"the ratings of {item!r} do not have the released mean", None, column.name)
        for item, mean in means.items()
        if not abs(found.get(item, np.inf) - mean) < 1e-6  # released with eight decimals
    )
    return ratings


def _scores(path: Path, name: str, items: Sequence[str]) -> pd.DataFrame:
    """Released scores; those against references once for each set of references (``test_set``)."""
    table = read_csv(path, ("sent_id", "sys_name", "test_set", *METRICS))
    table["item"] = _known(table, path, name, items)
    unique(zip(table["item"], table["test_set"], strict=True), path, "test_set")
    values = {metric: numbers(table[metric], path, metric) for metric in METRICS}
    tables = []
    for metric, (dimension, basis) in METRICS.items():
        sets = table["test_set"].unique() if basis == "reference" else table["test_set"].iloc[:1]
        for references in sets:
            rows = (table["test_set"] == references).to_numpy()
            fields = {"refs": references} if basis == "reference" else {}
            tables.append(
                scores_table(
                    NAME,
                    table["item"][rows].tolist(),
                    values[metric][rows].tolist(),
                    metric=f"released:{metric}",
                    dimension=dimension,
                    basis=basis,
                    fields={"from": "alvamanchego2021", **fields},
                )
            )
    return pd.concat(tables, ignore_index=True)


def _known(table: pd.DataFrame, path: Path, name: str, items: Iterable[str]) -> list[str]:
    """The items that rows speak of, by sentence (counted from 1) and system."""
    lines = numbers(table["sent_id"], path, "sent_id") - 1
    ids = [f"{name}-{line:g}-{s}" for line, s in zip(lines, table["sys_name"], strict=True)]
    known = set(items)
    check(
        fault(path, f"no item is called {item!r}", row, "sent_id, sys_name")
        for row, item in enumerate(ids, 1)
        if item not in known
    )
    return ids


def comparisons(root: Path, sentences: Sentences) -> Part:
    """Pairs of human simplifications; item a is the one of ASSET."""
    path = root / _HUMAN / "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    columns = ("worker_id", "sentence_id", "aspect", "source", "other_dataset", "winner")
    table = read_csv(path, (*columns, "asset_simplification", "other_simplification"))
    sentences.locate(table, path, "sentence_id", "source", first=0)
    one_of(table["aspect"], ASPECTS, path, "aspect")
    one_of(table["other_dataset"], list(CORPORA)[1:], path, "other_dataset")
    results = [
        {"asset": "a", "similar": "tie", other: "b"}.get(winner, "")
        for winner, other in table[["winner", "other_dataset"]].to_numpy()
    ]
    check(
        fault(path, f"{winner!r} is neither side of this comparison", row, "winner")
        for row, (winner, result) in enumerate(zip(table["winner"], results, strict=True), 1)
        if not result
    )
    rewrites, pairs = _rewrites(table)
    items = _items(
        "preferences",
        [rewrite.line for rewrite in rewrites],
        sentences,
        item_id=[rewrite.item for rewrite in rewrites],
        system=[CORPORA[rewrite.corpus] for rewrite in rewrites],
        source=[rewrite.source for rewrite in rewrites],
        output=[rewrite.text for rewrite in rewrites],
        is_reference=True,
    )
    preferences = pd.DataFrame(
        {
            "dataset": NAME,
            "item_a": [a for a, _ in pairs],
            "item_b": [b for _, b in pairs],
            "dimension": table["aspect"].map(ASPECTS),
            "rater": "preferences " + table["worker_id"],
            "value": results,
        }
    )
    return _part(items, preferences=preferences)


class Rewrite(NamedTuple):
    """One human simplification that was compared."""

    item: str
    line: int
    corpus: str
    source: str
    text: str


def _rewrites(table: pd.DataFrame) -> tuple[list[Rewrite], list[tuple[str, str]]]:
    """The texts compared, each once and numbered by first appearance, and the items of each row."""
    found: dict[tuple[int, str, str], Rewrite] = {}
    count: Counter[tuple[int, str]] = Counter()
    pairs = []
    wanted = ["sentence_id", "source", "other_dataset"]
    wanted += ["asset_simplification", "other_simplification"]
    for line, source, other, *texts in table[wanted].itertuples(index=False):
        sides = [(line, corpus, text) for corpus, text in zip(("asset", other), texts, strict=True)]
        for key in sides:
            if key not in found:
                _, corpus, text = key
                count[line, corpus] += 1
                item = f"preferences-{line}-{corpus}-{count[line, corpus]}"
                found[key] = Rewrite(item, line, corpus, source, text)
        a, b = (found[key].item for key in sides)
        pairs.append((a, b))
    return list(found.values()), pairs


# ------------------------------------------------------------------------------------ tables


def _items(collection: str, lines: Iterable[int], sentences: Sentences, **columns) -> pd.DataFrame:
    """Items with the references of their sentence, without the rewrite itself if it is one."""
    references = [sentences.references[line] for line in lines]
    if columns.get("is_reference"):
        references = [
            [text for text in texts if bare(text) != bare(output)]
            for texts, output in zip(references, columns["output"], strict=True)
        ]
    return items_table(
        NAME,
        source_id=[f"{collection}-{line}" for line in lines],
        style=STYLE,
        references=references,
        **columns,
    )


def _ratings(
    ids: Sequence[str],
    dimension: Sequence[str] | str,
    rater: Sequence[str] | str,
    values: np.ndarray,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dataset": NAME,
            "item_id": list(ids),
            "dimension": dimension,
            "rater": rater,
            "value": values,
        }
    )


def _part(items: pd.DataFrame, **tables: pd.DataFrame) -> Part:
    """A part with empty tables for what it does not have."""
    none = {name: schema.empty(name) for name in ("ratings", "preferences", "scores")}
    none["candidates"] = pd.DataFrame({"candidates": [""] * len(items)})
    return Part(items, **{**none, **tables})
