"""Small rated data sets and scores for the tests of combinations; every number is ours."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tests.analysis.tiny import scores
from tests.scored import dataset
from tstmeta.data import Dataset
from tstmeta.data.tables import ratings_table

DIMENSIONS = ("content", "style", "fluency")


def rated(sources: int = 20, systems: int = 3) -> Dataset:
    """Rewrites of ``sources`` by ``systems``, rated in three dimensions by one rater."""
    rng = np.random.default_rng(0)
    n = sources * systems
    rows = [
        {"item_id": f"i{k:03}", "source_id": f"s{k // systems:03}", "system": f"M{k % systems}"}
        for k in range(n)
    ]
    ratings = {(name, "r1"): rng.normal(3.0, 1.0, n).tolist() for name in DIMENSIONS}
    return dataset(*rows, ratings=ratings, name="ours")


def rating(data: Dataset, values: np.ndarray, dimension: str = "content") -> Dataset:
    """The same data set with other ratings of one dimension; NaN is none."""
    kept = data.ratings[data.ratings["dimension"] != dimension]
    ids, some = data.items["item_id"].to_numpy(str), np.isfinite(values)
    own = ratings_table(data.name, ids[some].tolist(), {(dimension, "r1"): values[some].tolist()})
    return replace(data, ratings=pd.concat([kept, own], ignore_index=True))


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
    """Metrics of a dimension, ``content-0``, ``content-1``, ... from good to bad."""
    tables = [
        score(data, f"{dimension}-{k}", noisy(data, dimension, noise, 10 + k), dimension)
        for k, noise in enumerate(noises)
    ]
    return pd.concat(tables, ignore_index=True)
