"""One number for style, content and fluency together: three geometric means of ours, and J.

Mukherjee et al. (2025, Table 4) take the geometric mean of the metric of each dimension that agrees
best with people in a task and language, hybrids left out (Ours1) or not (Ours2).  What that chose
is open; notebook 06 has the readings.  These scores (``grid:ours``) follow other rules of our own:

``overall-existing``
    the metrics that their Tables 1 to 3 group as previously used (:data:`PREVIOUSLY_USED`), those
    of one dimension with equal weights;
``overall-ours1``
    Hybrid-Simulation for style and for content, all fluency metrics given with equal weights;
``overall-ours2``
    the same with Hybrid-Learned.

``j`` is the overall score of Krishna et al. (2020, Reformulating Unsupervised Style Transfer as
Paraphrase Generation): accuracy x similarity x fluency of each text, averaged over texts.
"""

from collections.abc import Collection
from typing import Literal

import numpy as np
import pandas as pd

from ..data import Dataset
from .hybrids import Chosen, Kind, Settings, fit, ratings_of, weights_by_name
from .parts import (
    Combination,
    CombineError,
    Fit,
    Scaling,
    digest,
    digest_of_values,
    emit,
    gather,
    geometric_mean,
    pick,
)

Which = Literal["existing", "ours1", "ours2"]
#: Dimensions that count, in the order in which they are shown.
THREE = ("style", "content", "fluency")
#: Names (before the colon) of metrics that mukherjee2025 groups as previously used (Tables 1-3).
PREVIOUSLY_USED: dict[str, frozenset[str]] = {
    "style": frozenset({"style-accuracy", "style-emd"}),
    "content": frozenset(
        {"bleu", "rouge2", "rougeL", "meteor", "cosine", "masked-bleu", "masked-cosine"}
    ),
    "fluency": frozenset({"perplexity"}),
}
#: Which hybrid stands for style and content.
HYBRID: dict[str, Kind | None] = {"existing": None, "ours1": "simulation", "ours2": "learned"}


def overall_scores(
    dataset: Dataset,
    scores: pd.DataFrame,
    which: Which = "existing",
    settings: Settings = Settings(),  # noqa: B008  (a tuple: nothing can change it)
    *,
    lower: Collection[str] = (),
) -> Combination:
    """An overall score of each text as a ``scores`` table.

    Args:
        scores: of metrics of all three dimensions.
        settings: folds and hybrids; ``existing`` uses the folds only, as its scale is fitted too.
        lower: names of unregistered metrics of which less is better.

    Returns:
        Scores in (0, 1], more is better; ``fits`` hold the weights of all metrics.

    Raises:
        CombineError: a dimension without metrics, or what :func:`.hybrids.hybrid` raises.
    """
    if which not in HYBRID:
        raise CombineError(f"unknown overall score {which!r}; known: {', '.join(HYBRID)}")
    kind, sides = HYBRID[which], []
    for name in THREE:
        rows, used = scores[scores["dimension"] == name], ""
        if which == "existing":
            rows = rows[rows["metric"].str.split(":").str[0].isin(PREVIOUSLY_USED[name])]
            used = f" (one of {', '.join(sorted(PREVIOUSLY_USED[name]))})"
        if rows.empty:
            raise CombineError(
                f"{dataset.name}: overall-{which} needs scores of {name}{used}, and none of"
                " those given is one; score such a metric"
            )
        sides.append(gather(dataset, rows, lower))
    parts = sides[0]._replace(
        heads=pd.concat([side.heads for side in sides], ignore_index=True),
        matrix=np.concatenate([side.matrix for side in sides]),
        statuses=np.concatenate([side.statuses for side in sides]),
    )
    people = {name: ratings_of(dataset, name) for name in ("style", "content") if kind}
    values = np.full(len(parts.item_ids), np.nan)
    details = np.full(len(values), "", dtype=object)
    fits = []
    for fold, (train, judged) in enumerate(settings.splits(parts.sources)):
        means, weights = [], {}
        for name, side in zip(THREE, sides, strict=True):
            if kind and name in people:
                chosen = fit(side, people[name], train, kind, settings)
            else:
                n, scale = len(side.names), Scaling.fitted(side.matrix[:, train], side.lower)
                chosen = Chosen(np.arange(n), np.full(n, 1.0 / n), scale)
            means.append(chosen(side.matrix[:, judged]))
            for metric, weight in weights_by_name(side, chosen).items():
                weights[f"{name}: {metric}"] = weight / len(THREE)
        values[judged] = geometric_mean(np.array(means), np.ones(len(THREE)))
        details[judged] = settings.where(fold)
        fits.append(Fit(fold, weights, int(train.sum())))
    fields = {"grid": "ours", **settings.fields(kind)}
    if kind:
        hashes = (digest_of_values(parts.item_ids, people[name]) for name in sorted(people))
        fields |= {"hybrid": kind, "ratings-hash": digest(*hashes)}
    table = emit(parts, values, f"overall-{which}", fields, details.tolist())
    return Combination(table, tuple(fits))


def j(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    acc: str = "style-accuracy",
    sim: str = "sim",
    fl: str,
) -> pd.DataFrame:
    """Accuracy x similarity x fluency of each text, as a ``scores`` table; J is their mean.

    In the paper accuracy and fluency are 0 or 1 (two classifiers).

    Args:
        acc, sim, fl: names of metrics with values in [0, 1] of which more is better; a similarity
            below 0 counts as 0.

    Raises:
        CombineError: a metric that is missing, there twice, a distance, or out of its range.
    """
    wanted = {"accuracy": (acc, 0, 1), "similarity": (sim, -1, 1), "fluency": (fl, 0, 1)}
    parts = pick(dataset, scores, "J", wanted)
    if parts.lower.any():
        worse = ", ".join(np.array(parts.names)[parts.lower].tolist())
        raise CombineError(f"J wants metrics of which more is better; less of {worse} is better")
    return emit(parts, np.prod(np.clip(parts.matrix, 0, 1), axis=0), "j", {"mean": "texts"})
