"""Small rated data sets and scores for the tests of combinations; every number is ours."""

import numpy as np
import pandas as pd

from tests.analysis.tiny import scores
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table

DIMENSIONS = ("content", "style", "fluency")


def rated(sources: int = 20, systems: int = 3, seed: int = 0, name: str = "ours") -> Dataset:
    """Rewrites of ``sources`` by ``systems``, rated in three dimensions by one rater."""
    rng = np.random.default_rng(seed)
    n = sources * systems
    ids = [f"i{number:03}" for number in range(n)]
    items = items_table(
        name,
        item_id=ids,
        source_id=[f"s{number // systems:03}" for number in range(n)],
        system=[f"M{number % systems}" for number in range(n)],
        source="a text of ours",
        output="another text of ours",
    )
    values = {(name, "r1"): rng.normal(3.0, 1.0, n).tolist() for name in DIMENSIONS}
    return Dataset.of(name, items, Card(name, name), ratings=ratings_table(name, ids, values))


def rating(data: Dataset, values: np.ndarray, dimension: str = "content") -> Dataset:
    """The same data set with other ratings of one dimension; NaN is none."""
    kept = data.ratings[data.ratings["dimension"] != dimension]
    ids, some = data.items["item_id"].to_numpy(str), np.isfinite(values)
    own = ratings_table(data.name, ids[some].tolist(), {(dimension, "r1"): values[some].tolist()})
    ratings = pd.concat([kept, own], ignore_index=True)
    return Dataset.of(data.name, data.items, data.card, ratings=ratings)


def score(data: Dataset, metric: str, values, dimension="content", basis="source") -> pd.DataFrame:
    """Scores of all items under one name."""
    return scores(data, values, metric, basis).assign(dimension=dimension)


def noisy(data: Dataset, dimension: str, noise: float, seed: int, sign: float = 1.0) -> np.ndarray:
    """The mean rating with noise: the less of it, the better the metric."""
    drawn = np.random.default_rng(seed).normal(0.0, noise, len(data.items))
    return sign * (data.means[dimension].to_numpy(float) + drawn)


def several(
    data: Dataset, dimension: str = "content", noises: tuple[float, ...] = (0.5, 1, 2, 4, 8)
) -> pd.DataFrame:
    """Metrics ``<dimension>-0``, ``-1``, ... of one dimension, from good to bad."""
    return pd.concat(
        [
            score(data, f"{dimension}-{k}", noisy(data, dimension, noise, 10 + k), dimension)
            for k, noise in enumerate(noises)
        ],
        ignore_index=True,
    )
