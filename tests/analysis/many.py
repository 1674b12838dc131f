"""A data set large enough to draw from: four systems, three raters, two tasks; texts are ours."""

import numpy as np
import pandas as pd

from tests.analysis.tiny import scores
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, labels_table, ratings_table

SOURCES, SYSTEMS, RATERS = 24, ("A", "B", "C", "D"), ("r1", "r2", "r3")
ROWS = SOURCES * len(SYSTEMS)


def rated(seed: int = 0, systems: bool = True, raters: bool = True, labels: bool = True) -> Dataset:
    """Ratings of content and style with a common part; tasks and surveys go by source."""
    rng = np.random.default_rng(seed)
    ids = [f"i{number}" for number in range(ROWS)]
    source = np.repeat(np.arange(SOURCES), len(SYSTEMS))
    items = items_table(
        "many",
        item_id=ids,
        source_id=[f"s{number}" for number in source],
        system=list(SYSTEMS) * SOURCES if systems else [""] * ROWS,
        source=[f"we saw {number} ships" for number in source],
        output=[f"we saw {number} boats" for number in range(ROWS)],
    )
    good = quality(seed)
    columns = {}
    for rater in RATERS if raters else ("mean",):
        noise = rng.normal(0, 0.4, (2, ROWS))
        columns["content", rater] = np.clip(np.round(3 + good + noise[0]), 1, 5).tolist()
        columns["style", rater] = np.clip(np.round(3 - 0.5 * good + noise[1]), 1, 5).tolist()
    facts = {
        "task": ["formal" if number < SOURCES / 2 else "polite" for number in source],
        "survey": [str(number // (SOURCES // 6)) for number in source],
    }
    card = Card("many", "many", {"scale": {"content": [1, 5], "style": [1, 5]}})
    tables = {"ratings": ratings_table("many", ids, columns)}
    tables |= {"labels": labels_table("many", ids, **facts)} if labels else {}
    return Dataset.of("many", items, card, **tables)


def quality(seed: int = 0) -> np.ndarray:
    """What raters and good metrics see ``[items]``; system A is the worst, D the best."""
    rng = np.random.default_rng([seed, 1])
    return rng.normal(0, 1, ROWS) + np.tile([-0.6, -0.2, 0.2, 0.6], SOURCES)


def scored(dataset: Dataset, **noise: float) -> pd.DataFrame:
    """A metric for each name: the quality with that much noise; ``ter`` is flipped."""
    rng = np.random.default_rng(9)
    tables = []
    for name, much in noise.items():
        values = quality() + rng.normal(0, 1, ROWS) * much
        metric = name.replace("_", "-")
        tables.append(scores(dataset, -values if metric == "ter" else values, metric))
    return pd.concat(tables, ignore_index=True)
