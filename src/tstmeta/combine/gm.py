"""GM of Pang and Gimpel (2019, Section 3.3), accuracy, similarity and perplexity in one number; J.

::

    GM = ([100 Acc - t1]+ * [100 Sim - t2]+ * min([t3 - PP]+, [PP - t4]+)) ^ (1/3)

Below its threshold a part makes the whole zero, and that is meant.  Fluency is best at a perplexity
of (t3 + t4) / 2, with the printed thresholds 30; less counts as too plain a text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import differential_evolution

from ..data import Dataset
from .parts import Array, Combination, CombineError, Parts, digest, emit, pick, splits

#: Names of Acc, Sim and PP.
PARTS = ("style-accuracy", "sim", "corpus-perplexity")
MARGIN = 1.0


class Thresholds(NamedTuple):
    """t1 on 100 Acc, t2 on 100 Sim, t3 (upper) and t4 (lower) on the perplexity."""

    t1: float
    t2: float
    t3: float
    t4: float

    def __str__(self) -> str:
        return ",".join(f"{value:.6g}" for value in self)


#: As printed in Section 3.3.
PRINTED = Thresholds(63.0, 71.0, 97.0, -37.0)


def gm(
    acc: ArrayLike, sim: ArrayLike, pp: ArrayLike, thresholds: Thresholds = PRINTED
) -> np.ndarray:
    """GM of texts or of whole corpora, zero or more (pang2019unsupervised, Section 3.3).

    Acc and Sim lie in [0, 1] (a cosine may be negative), PP is a perplexity; any shapes that fit.
    """
    t1, t2, t3, t4 = thresholds
    accurate = np.maximum(100.0 * np.asarray(acc, dtype=float) - t1, 0.0)
    similar = np.maximum(100.0 * np.asarray(sim, dtype=float) - t2, 0.0)
    perplexity = np.asarray(pp, dtype=float)
    fluent = np.minimum(np.maximum(t3 - perplexity, 0.0), np.maximum(perplexity - t4, 0.0))
    return np.cbrt(accurate * similar * fluent)


def hinge(thresholds: ArrayLike, better: Array, worse: Array) -> Array:
    """Mean hinge loss, max(0, 1 - GM(better) + GM(worse)), of thresholds ``[4]`` or ``[4, C]``.

    Better and worse are Acc, Sim and PP ``[3, P]`` of the text preferred and of the other.
    """
    t = np.asarray(thresholds, dtype=float)
    columns = Thresholds(*(row[..., None] for row in t))
    good, bad = (gm(acc, sim, pp, columns) for acc, sim, pp in (better, worse))
    return np.maximum(0.0, MARGIN - (good - bad)).mean(axis=-1)


def learn(better: ArrayLike, worse: ArrayLike, seed: int = 0) -> Thresholds:
    """Thresholds that order pairs as people do: the least mean :func:`hinge` loss, as in the paper.

    Chosen here: differential evolution (scipy), as the loss is flat wherever both of a pair are
    zero; t1 and t2 in [0, 100], t3 in [0, T] and t4 in [-T, T], T being twice the 97.5 % quantile
    of the perplexities given.
    """
    good, bad = np.asarray(better, dtype=float), np.asarray(worse, dtype=float)
    if not good.shape[1]:
        raise CombineError(
            "thresholds of GM cannot be learned: no pair has an order and scores on both sides;"
            " give preferences that are no ties"
        )
    top = max(1.0, 2.0 * float(np.quantile(np.concatenate([good[2], bad[2]]), 0.975)))
    best = differential_evolution(
        hinge,
        [(0.0, 100.0), (0.0, 100.0), (0.0, top), (-top, top)],
        args=(good, bad),
        rng=np.random.default_rng(seed),
        maxiter=150,
        popsize=20,
        tol=1e-8,
        polish=False,
        vectorized=True,
        updating="deferred",
    )
    return Thresholds(*map(float, best.x))


def gm_scores(
    dataset: Dataset, scores: pd.DataFrame, *, names: Sequence[str] = PARTS
) -> pd.DataFrame:
    """GM of each text with the printed thresholds, as a ``scores`` table.

    Args:
        names: of the metrics that are Acc, Sim and PP.

    Raises:
        CombineError: one of the three is missing, there twice, or out of its range.
    """
    parts = _three(dataset, scores, names)
    return emit(parts, gm(*parts.matrix), "gm", {"t": PRINTED})


def learned_gm(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    names: Sequence[str] = PARTS,
    outer: int = 5,
    seed: int = 0,
) -> Combination:
    """GM of each text with thresholds learned from the data set's preferences between texts.

    A pair is fitted on where both texts lie outside the fold of sources that is scored, and people
    did not tie them.  ``outer`` is the number of folds.

    Raises:
        CombineError: no preferences, fewer sources than folds, or as :func:`gm_scores`.
    """
    parts = _three(dataset, scores, names)
    pairs = _ordered(parts, dataset.preferences)
    values = np.full(len(parts.item_ids), np.nan)
    details = np.full(len(values), "", dtype=object)
    fits = []
    for where, train, judged in splits(parts.sources, outer, seed):
        better, worse = pairs[:, train[pairs].all(axis=0)]
        t = learn(parts.matrix[:, better], parts.matrix[:, worse], seed)
        acc, sim, pp = parts.matrix[:, judged]
        values[judged] = gm(acc, sim, pp, t)
        details[judged] = f"{where}: t {t}, from {len(better)} pairs"
        fits.append(t._asdict())
    fields = {
        "t": "learned",
        "loss": f"hinge-{MARGIN:g}",
        "folds": outer,
        "seed": seed,
        "preferences-hash": digest(*sorted(map(">".join, parts.item_ids[pairs].T.tolist()))),
    }
    return Combination(emit(parts, values, "gm", fields, details.tolist()), fits)


def _three(dataset: Dataset, scores: pd.DataFrame, names: Sequence[str]) -> Parts:
    """Acc, Sim and PP in that order."""
    ranges = {"accuracy": (0.0, 1.0), "similarity": (-1.0, 1.0), "perplexity": (0.0, np.inf)}
    wanted = {what: (name, *ends) for name, (what, ends) in zip(names, ranges.items(), strict=True)}
    return pick(dataset, scores, "GM", wanted)


def _ordered(parts: Parts, preferences: pd.DataFrame) -> np.ndarray:
    """Places of the text preferred and of the other ``[2, P]``; without ties or missing scores."""
    place = {item: number for number, item in enumerate(parts.item_ids.tolist())}
    rows = preferences[preferences["value"] != "tie"]
    rows = rows[rows["item_a"].isin(place) & rows["item_b"].isin(place)]
    a, b = (rows[name].map(place).to_numpy(int) for name in ("item_a", "item_b"))
    first = (rows["value"] == "a").to_numpy()
    both = np.stack([np.where(first, a, b), np.where(first, b, a)])
    return both[:, parts.complete[both].all(axis=0)]


def j(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    acc: str = "style-accuracy",
    sim: str = "sim",
    fl: str,
) -> pd.DataFrame:
    """Accuracy x similarity x fluency of each text, as a ``scores`` table; J is their mean.

    Krishna, Wieting and Iyyer (2020, Reformulating Unsupervised Style Transfer as Paraphrase
    Generation), where accuracy and fluency are 0 or 1 (two classifiers).

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
