"""A data set with ratings by a judge, planted so that each analysis has something to find."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, labels_table, ratings_table, scores_table
from tstmeta.judge.ratings import COLUMNS

SYSTEMS = ("A", "B", "C", "D")
SOURCES = 40
ROWS = SOURCES * len(SYSTEMS)
WORDS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def study(name: str = "lai", per_place: float = 0.0, copies: bool = True, seed: int = 0) -> Dataset:
    """Forty sources, four systems, two slots in four surveys, ChatGPT in two manners.

    System D copies A where ``copies``; the judge adds ``per_place`` points a place to a rating
    when asked for content alone.  All ratings lie between 0 and 100.
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(60, 15, (SOURCES, 4))
    words = rng.integers(3, 12, (SOURCES, 4))
    if copies:
        quality[:, 3], words[:, 3] = quality[:, 0], words[:, 0]
    number = np.repeat(np.arange(SOURCES), 4)
    ids = [f"s{n // 4}-{SYSTEMS[n % 4]}" for n in range(ROWS)]
    texts = [
        [
            " ".join([f"text {source}-{i % 3 if copies else i}", *WORDS[: words[source, i]]])
            for i in range(4)
        ]
        for source in range(SOURCES)
    ]
    items = items_table(
        name,
        item_id=ids,
        source_id=[f"s{n}" for n in number],
        system=list(SYSTEMS) * SOURCES,
        style="formal",
        source="a source of five words",
        output=[text for row in texts for text in row],
    )
    flat = quality.ravel()
    noise = rng.normal(0, 6, (4, ROWS))
    # a text is rated once by people, whoever wrote it
    if copies:
        noise[:2] = noise[:2].reshape(2, SOURCES, 4)[:, :, [0, 1, 2, 0]].reshape(2, ROWS)
    place = np.tile(np.arange(4), SOURCES)
    alone = np.round(np.clip(flat + noise[2] + per_place * place, 0, 100))
    at_once = np.round(np.clip(0.5 * flat + 2.0 * words.ravel() + noise[3] + 10, 0, 100))
    people = {("content", f"r{slot + 1}"): flat + noise[slot] for slot in range(2)}
    judge = [
        scores_table(name, pd.Series(ids), values, metric=metric, dimension="content",
                     basis=basis, fields={"from": "made"})
        for metric, values in (("released:chatgpt", alone), ("released:chatgpt-multi", at_once))
        for basis in ("source", "reference")
    ]  # fmt: skip
    other = scores_table(
        name, pd.Series(ids), flat + rng.normal(0, 20, ROWS), metric="released:bleurt",
        dimension="content", basis="source", fields={"from": "made"},
    )  # fmt: skip
    return Dataset.of(
        name,
        items,
        Card(name, name, {"scale": {"content": [1, 100]}}),
        ratings=ratings_table(name, ids, people),
        labels=labels_table(name, ids, survey=[str(n // 10) for n in number]),
        scores=pd.concat([*judge, other], ignore_index=True),
    )


def rows_of(data: Dataset, samples: int = 2, seed: int = 1, **facts) -> pd.DataFrame:
    """Answers of a judge of one's own on a scale of 1 to 5, with gaps, in shuffled order."""
    rng = np.random.default_rng(seed)
    human = data.means["content"].to_numpy()
    tables = []
    for sample in range(samples):
        place = np.concatenate([rng.permutation(4) + 1 for _ in range(SOURCES)])
        rating = np.clip(np.round(human / 20 + rng.normal(0, 0.5, ROWS)), 1, 5)
        rating[sample::40] = np.nan
        table = pd.DataFrame(
            {
                "dataset": data.name.partition("@")[0],
                "item_id": data.items["item_id"],
                "source_id": data.items["source_id"],
                "place": place,
                "rival": "",
                "dimension": "content",
                "sample": sample,
                "rating": rating,
                "status": np.where(np.isnan(rating), "refused", "ok"),
                "detail": np.where(np.isnan(rating), "I would rather not.", ""),
                **{"prompt": "mine", "prompt_hash": "abc", "low": 1.0, "high": 5.0},
                **{"server": "http://localhost/v1", "model": "small", "revision": ""},
                "asked_how": "temperature 1",
            }
        )
        tables.append(table.assign(**facts))
    return pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)
