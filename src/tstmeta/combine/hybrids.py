"""Hybrids of Mukherjee et al. (2025, Tables 5 and 6): three metrics of one dimension, weighted.

Each is a weighted geometric mean.  ``hybrid-simulation`` takes the three with the highest
correlation with people and, of all weights in steps of 0.05 that sum to 1, each at least 0.1, those
whose mean correlates best (all printed weights are such).  ``hybrid-learned`` takes the three most
important features of a random forest (scikit-learn) that predicts the ratings from all metrics, and
their importances, divided by their sum.  ``hybrid-equal``, which is not in the paper, weighs all
metrics alike: the negative control.

What the paper leaves open: outer folds of sources judge, and everything, the scale of a metric too,
is fitted on the other folds; a correlation that selects is the mean over inner folds.

The overall scores (``grid:ours``; notebook 06 reads the paper's Table 4) follow rules of our own:
``overall-existing`` weighs the metrics alike that Tables 1 to 3 group as previously used;
``overall-ours1`` takes Hybrid-Simulation for style and content and all fluency metrics with equal
weights; ``overall-ours2`` does the same with Hybrid-Learned.
"""

import itertools
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..analysis.frame import SCORED
from ..data import Dataset
from ..extras import needs
from ..stats import Setting
from .parts import (
    ENDS,
    FLOOR,
    Array,
    Combination,
    CombineError,
    Parts,
    Scaling,
    digest,
    digest_of_values,
    emit,
    gather,
    geometric_mean,
    oriented,
    splits,
)

KINDS = ("simulation", "learned", "equal")
#: Dimensions that count, in the order in which they are shown.
THREE = ("style", "content", "fluency")
#: Names (before the colon) of metrics that mukherjee2025 groups as previously used (Tables 1-3).
PREVIOUSLY_USED = {
    "style": ("style-accuracy", "style-emd"),
    "content": ["bleu", "cosine", "masked-bleu", "masked-cosine", "meteor", "rouge2", "rougeL"],
    "fluency": ("perplexity",),
}
#: Which hybrid stands for style and content.
HYBRID = {"existing": "", "ours1": "simulation", "ours2": "learned"}
#: Weights are tried in steps of one over this; the least is so many steps.
STEPS, LEAST_STEPS = 20, 2
#: Fewer rated items than this cannot tell metrics apart at all.
LEAST = 10


class Settings(NamedTuple):
    """How a hybrid is fitted."""

    top: int = 3  # metrics that it takes
    outer: int = 5  # folds of sources that judge
    inner: int = 4  # folds that choose
    statistic: str = "pearson"  # by which they choose, at level pooled
    trees: int = 100  # of the forest, otherwise with scikit-learn's defaults
    seed: int = 0
    in_sample: bool = False  # fit and judge on the same ratings, as one should not

    def fields(self, kind: str) -> dict[str, object]:
        """What of it changes a value, for a signature; no kind is the scale alone."""
        fields: dict[str, object] = {"top": self.top} if kind in ("simulation", "learned") else {}
        if kind == "simulation":
            fields |= {"steps": STEPS, "statistic": self.statistic}
        elif kind == "learned":
            fields |= {"trees": self.trees, "sklearn": version("scikit-learn")}
        fields |= {"scale": f"quantiles-{ENDS[0]:g}-{ENDS[1]:g}", "floor": FLOOR}
        fields["folds"] = "none-in-sample" if self.in_sample else self.outer
        if kind == "simulation" and not self.in_sample:
            fields["inner"] = self.inner
        return fields | {"seed": self.seed}


class Chosen(NamedTuple):
    """What a hybrid takes: places of its metrics, their weights (sum 1) and the scale of all."""

    places: np.ndarray
    weights: Array
    scale: Scaling

    def __call__(self, matrix: Array) -> Array:
        """Values ``[n]`` in (0, 1] of scores ``[M, n]`` of all metrics."""
        return geometric_mean(self.scale(matrix)[self.places], self.weights)


def hybrid(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str,
    kind: str = "simulation",
    settings: Settings = Settings(),  # noqa: B008  (a tuple: nothing can change it)
) -> Combination:
    """A hybrid of the metrics that claim a dimension, fitted on mean ratings of other sources.

    Args:
        scores: of the metrics to choose from; those of other dimensions are left out.
        kind: one of :data:`KINDS`.

    Returns:
        Scores in (0, 1], more is better, of all items; the detail says the fold and the weights.

    Raises:
        CombineError: fewer metrics than the hybrid takes, fewer rated items than :data:`LEAST`,
            fewer sources than folds, an unknown kind, or scikit-learn is not installed.
    """
    if kind not in KINDS:
        raise CombineError(f"unknown kind of hybrid {kind!r}; known: {', '.join(KINDS)}")
    scores, least = scores[scores["dimension"] == dimension], 1 if kind == "equal" else settings.top
    present = scores.drop_duplicates(SCORED)["metric"]
    if len(present) < least:
        raise CombineError(
            f"{dataset.name}: a hybrid takes {least} or more metrics of {dimension}; there are"
            f" {', '.join(present) or 'none'}"
        )
    parts, people = gather(dataset, scores), ratings_of(dataset, dimension)
    values = np.full(len(people), np.nan)
    details = np.full(len(people), "", dtype=object)
    fits = []
    outer = splits(parts.sources, settings.outer, settings.seed, in_sample=settings.in_sample)
    for where, train, judged in outer:
        chosen = fit(parts, people, train, kind, settings)
        values[judged] = chosen(parts.matrix[:, judged])
        fits.append(weights_by_name(parts, chosen))
        listed = ", ".join(f"{name} {weight:.2f}" for name, weight in fits[-1].items())
        details[judged] = f"{where}: {listed}"
    fields = {"dimension": dimension, **settings.fields(kind)}
    if kind != "equal":
        fields["ratings-hash"] = digest_of_values(parts.item_ids, people)
    table = emit(parts, values, f"hybrid-{kind}", fields, details.tolist(), dimension)
    return Combination(table, fits)


def overall_scores(
    dataset: Dataset,
    scores: pd.DataFrame,
    which: str = "existing",
    settings: Settings = Settings(),  # noqa: B008  (a tuple: nothing can change it)
) -> Combination:
    """An overall score of each text as a ``scores`` table.

    Args:
        scores: of metrics of all three dimensions.
        which: a key of :data:`HYBRID`.
        settings: folds and hybrids; ``existing`` uses the folds only, as its scale is fitted too.

    Returns:
        Scores in (0, 1], more is better; ``fits`` hold the weights of all metrics.

    Raises:
        CombineError: a dimension without metrics, or what :func:`.hybrids.hybrid` raises.
    """
    if which not in HYBRID:
        raise CombineError(f"unknown overall score {which!r}; known: {', '.join(HYBRID)}")
    kind = HYBRID[which]
    sides = [_side(dataset, scores, name, which) for name in THREE]
    parts = sides[0]._replace(
        heads=pd.concat([side.heads for side in sides], ignore_index=True),
        matrix=np.concatenate([side.matrix for side in sides]),
        statuses=np.concatenate([side.statuses for side in sides]),
    )
    people = {name: ratings_of(dataset, name) for name in ("style", "content") if kind}
    values = np.full(len(parts.item_ids), np.nan)
    details = np.full(len(values), "", dtype=object)
    fits = []
    outer = splits(parts.sources, settings.outer, settings.seed, in_sample=settings.in_sample)
    for where, train, judged in outer:
        means, weights = [], {}
        for name, side in zip(THREE, sides, strict=True):
            if kind and name in people:
                chosen = fit(side, people[name], train, kind, settings)
            else:
                chosen = equal_weights(side, train)
            means.append(chosen(side.matrix[:, judged]))
            for metric, weight in weights_by_name(side, chosen).items():
                weights[f"{name}: {metric}"] = weight / len(THREE)
        values[judged] = geometric_mean(np.array(means), np.ones(len(THREE)))
        details[judged] = where
        fits.append(weights)
    fields = {"grid": "ours", **settings.fields(kind)}
    if kind:
        hashes = (digest_of_values(parts.item_ids, people[name]) for name in sorted(people))
        fields |= {"hybrid": kind, "ratings-hash": digest(*hashes)}
    table = emit(parts, values, f"overall-{which}", fields, details.tolist())
    return Combination(table, fits)


def _side(dataset: Dataset, scores: pd.DataFrame, name: str, which: str) -> Parts:
    """The metrics of a dimension that an overall score takes."""
    rows, used = scores[scores["dimension"] == name], ""
    if which == "existing":
        rows = rows[rows["metric"].str.split(":").str[0].isin(PREVIOUSLY_USED[name])]
        used = f" (one of {', '.join(PREVIOUSLY_USED[name])})"
    if rows.empty:
        raise CombineError(
            f"{dataset.name}: overall-{which} needs scores of {name}{used}, and none of"
            " those given is one; score such a metric"
        )
    return gather(dataset, rows)


def fit(parts: Parts, people: Array, train: np.ndarray, kind: str, settings: Settings) -> Chosen:
    """Choose and weigh metrics on the training items alone (a mask ``[N]``)."""
    used = train & parts.complete
    if kind != "equal":
        used = used & np.isfinite(people)
    if used.sum() < LEAST:
        raise CombineError(
            f"{int(used.sum())} items with ratings and scores of all metrics are left to fit on,"
            f" fewer than {LEAST}: rate more, use fewer folds, or leave out metrics without values"
        )
    if kind == "equal":
        return equal_weights(parts, used)
    choose = {"simulation": _by_correlation, "learned": _by_forest}[kind]
    scale = Scaling.fitted(parts.matrix[:, used], parts.lower)
    return Chosen(*choose(parts, people, used, settings), scale)


def equal_weights(parts: Parts, train: np.ndarray) -> Chosen:
    """All metrics with equal weights; only their scale is fitted."""
    n, scale = len(parts.names), Scaling.fitted(parts.matrix[:, train], parts.lower)
    return Chosen(np.arange(n), np.full(n, 1.0 / n), scale)


def weights_by_name(parts: Parts, chosen: Chosen) -> dict[str, float]:
    """Weights by metric; the basis is added where a name comes twice."""
    weights: dict[str, float] = {}
    for place, weight in zip(chosen.places, chosen.weights, strict=True):
        name = parts.names[place]
        if parts.names.count(name) > 1:
            name = f"{name} ({parts.heads['basis'][place]})"
        weights[name] = float(weight)
    return weights


def _by_correlation(
    parts: Parts, people: Array, used: np.ndarray, settings: Settings
) -> tuple[np.ndarray, Array]:
    """The metrics that agree best and, of all weights on the grid, those that agree best."""
    sources = parts.sources[used]
    inner = splits(sources, settings.inner, settings.seed + 1, in_sample=settings.in_sample)
    matrix, ratings, lower = parts.matrix[:, used], people[used], parts.lower
    upright = oriented(matrix, lower)

    def agreements(judged: np.ndarray, rows: Array) -> Array:
        """Agreement of each row with people, 0 where it has no value."""
        setting = Setting(settings.statistic, "pooled")
        values = stats.estimate(ratings[judged][:, None], rows[:, :, None], setting)
        return np.nan_to_num(values, nan=0.0)

    single = [agreements(judged, upright[:, judged]) for _, _, judged in inner]
    places, tried = top_places(np.mean(single, axis=0), settings.top), grid(settings.top)
    by_fold = []
    for _, train, judged in inner:
        scale = Scaling.fitted(matrix[places][:, train], lower[places])
        by_fold.append(agreements(judged, geometric_mean(scale(matrix[places][:, judged]), tried)))
    # the first of equals is the one nearest to equal weights, as the grid is ordered
    return places, tried[int(np.argmax(np.round(np.mean(by_fold, axis=0), 12)))]


def top_places(values: Array, top: int) -> np.ndarray:
    """Places of the highest values, highest first; of equal ones the first counts as higher."""
    return np.argsort(-np.round(values, 12), kind="stable")[:top]


def grid(parts: int) -> Array:
    """Weights ``[C, parts]`` in steps of 1/STEPS that sum to 1, each of LEAST_STEPS or more."""
    spare = STEPS - parts * LEAST_STEPS
    # each way to put parts - 1 bars between the spare steps is one way to share them out
    ways = itertools.combinations(range(spare + parts - 1), parts - 1)
    ends = np.array([(-1, *bars, spare + parts - 1) for bars in ways])
    weights = (np.diff(ends, axis=1) - 1 + LEAST_STEPS) / STEPS
    return weights[np.argsort(np.round((weights**2).sum(axis=1), 9), kind="stable")]


def _by_forest(
    parts: Parts, people: Array, used: np.ndarray, settings: Settings
) -> tuple[np.ndarray, Array]:
    """The most important features (by impurity) of a forest; their importances over their sum."""
    needs("sklearn")
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(settings.trees, random_state=settings.seed, n_jobs=1)
    forest.fit(parts.matrix[:, used].T, people[used])
    importances = np.asarray(forest.feature_importances_, dtype=float)
    places = top_places(importances, settings.top)
    weights = importances[places]
    if weights.sum() <= 0:  # nothing varies: no feature tells anything
        weights = np.ones(len(places))
    return places, weights / weights.sum()


def ratings_of(dataset: Dataset, dimension: str) -> Array:
    """Mean ratings of the items, NaN where there is none ``[N]``."""
    if dimension not in dataset.means:
        known = ", ".join(dataset.dimensions) or "nothing"
        raise CombineError(
            f"{dataset.name}: nobody rated {dimension}, so nothing can be fitted; rated: {known}"
        )
    return dataset.means[dimension].to_numpy(float)
