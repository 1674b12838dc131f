"""Scores of several metrics as a matrix: direction and scale, folds of sources, scores again.

A geometric mean wants positive numbers of which more is better.  A metric of which less is better
(by its declaration, never by the ratings) changes its sign.  Each is mapped linearly: two quantiles
of the *training* items become 0 and 1, because a single perplexity of 100,000 would push all others
together.  As a zero would make the mean zero, u becomes ``FLOOR + (1 - FLOOR) u``.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import schema
from ..analysis.frame import SCORED, lower_is_better
from ..data import Dataset
from ..schema import USABLE, Signature, Status, TstmetaError

Array = npt.NDArray[np.float64]

#: The least that a scaled value can be.
FLOOR = 0.01
#: Quantiles of the training items that become 0 and 1.
ENDS = (0.025, 0.975)
#: Spread below this share of the largest value is rounding.
_FLAT = 1e-12


class CombineError(TstmetaError):
    """Scores, ratings or settings that cannot be combined; says what, where and what to do."""


class Parts(NamedTuple):
    """What is combined: M metrics on N items."""

    heads: pd.DataFrame  # a row a metric: metric, basis, signature, lower (less of it is better)
    matrix: Array  # [M, N], scores, NaN where there is no value
    statuses: np.ndarray  # [M, N], as text
    item_ids: np.ndarray  # [N]
    sources: np.ndarray  # [N]
    dataset: str  # the name that the scores carry

    @property
    def names(self) -> list[str]:
        return self.heads["metric"].tolist()

    @property
    def lower(self) -> np.ndarray:
        return self.heads["lower"].to_numpy(bool)

    @property
    def complete(self) -> np.ndarray:
        return np.asarray(np.isfinite(self.matrix).all(axis=0))


class Combination(NamedTuple):
    """A combination's ``scores`` table and what was fitted for it to judge each fold."""

    scores: pd.DataFrame
    fits: list[dict[str, float]]  # weights that sum to 1, or thresholds, by name


def gather(dataset: Dataset, scores: pd.DataFrame) -> Parts:
    """The metrics of a ``scores`` table in order of appearance, over all items."""
    if len(set(scores["sample"])) > 1:
        raise CombineError(
            f"{dataset.name}: scores of several samples cannot be combined; average them, or keep"
            " one sample"
        )
    ids, heads, values, statuses = dataset.items["item_id"], [], [], []
    for (name, basis, signature), table in scores.groupby(SCORED, sort=False, observed=True):
        rows = table.set_index("item_id").reindex(ids)
        statuses.append(rows["status"].fillna("").to_numpy(str))
        heads.append((name, basis, signature, lower_is_better(str(name), str(basis))))
        values.append(rows["value"].where(rows["status"].isin(USABLE)).to_numpy(float))
    return Parts(
        pd.DataFrame(heads, columns=[*SCORED, "lower"]),
        np.array(values),
        np.array(statuses),
        ids.to_numpy(str),
        dataset.items["source_id"].to_numpy(str),
        str(scores["dataset"].iloc[0]),
    )


def pick(
    dataset: Dataset,
    scores: pd.DataFrame,
    formula: str,
    wanted: Mapping[str, tuple[str, float, float]],
) -> Parts:
    """The metrics of a formula (GM, J): for each factor the metric's name and its range."""
    tables = []
    for factor, (name, low, high) in wanted.items():
        rows = scores[scores["metric"] == name]
        if (count := rows[["basis", "signature"]].drop_duplicates().shape[0]) != 1:
            known = ", ".join(scores["metric"].drop_duplicates())
            raise CombineError(
                f"{'more than one' if count else 'no'} metric called {name!r} is in the scores,"
                f" wanted for the {factor} of {formula}; there are {known}"
            )
        # cosines of equal texts are above 1 by rounding
        if rows["value"].min() < low - 1e-6 or rows["value"].max() > high + 1e-6:
            raise CombineError(
                f"{formula} wants {name} between {low:g} and {high:g}, but its scores lie between"
                f" {rows['value'].min():.3g} and {rows['value'].max():.3g}; name another metric"
            )
        tables.append(rows)
    return gather(dataset, pd.concat(tables, ignore_index=True))


def folds(sources: np.ndarray, k: int, seed: int) -> np.ndarray:
    """The fold of each item ``[N]``, 0 to k - 1: rewrites of a source, which share much of their
    score, go into one, and folds differ by at most one source.
    """
    # sorted names: the order of rows changes nothing
    names, place = np.unique(np.asarray(sources, dtype=str), return_inverse=True)
    if len(names) < k:
        raise CombineError(
            f"{len(names)} sources cannot be put into {k} folds: rate more sources, or ask for"
            " fewer folds"
        )
    number = np.empty(len(names), dtype=int)
    number[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names)) % k
    return number[place.reshape(-1)]


def splits(
    sources: np.ndarray, k: int, seed: int, *, in_sample: bool = False
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """The name of each fold, and masks ``[N]`` of what is fitted on and what is judged.

    ``in_sample``: everything is both.
    """
    if in_sample:
        every = np.ones(len(sources), dtype=bool)
        return [("in sample", every, every)]
    number = folds(sources, k, seed)
    return [(f"fold {fold + 1} of {k}", number != fold, number == fold) for fold in range(k)]


class Scaling(NamedTuple):
    """A map of M metrics onto [FLOOR, 1], more being better."""

    lower: np.ndarray  # of which metrics less is better
    low: Array  # the oriented values that become 0 and 1, equal where nothing varied: such a
    high: Array  # metric is 1 everywhere

    @classmethod
    def fitted(cls, values: Array, lower: np.ndarray) -> "Scaling":
        """Fitted on training items ``[M, n]``; without any value a metric counts as constant."""
        upright = oriented(values, lower)
        upright = np.where(np.isfinite(upright).any(axis=1, keepdims=True), upright, 0.0)
        # the second takes a row at a time, and a fit on noise asks for thousands
        quantile = np.quantile if np.isfinite(upright).all() else np.nanquantile
        low, high = quantile(upright, ENDS, axis=1)
        least, most = np.nanmin(upright, axis=1), np.nanmax(upright, axis=1)
        low, high = np.where(_apart(low, high), (low, high), (least, most))
        return cls(np.asarray(lower, dtype=bool), low, np.where(_apart(low, high), high, low))

    def __call__(self, values: Array) -> Array:
        """Values ``[M, n]`` on [FLOOR, 1]; NaN stays NaN."""
        upright = oriented(values, self.lower)
        width = (self.high - self.low)[:, None]
        flat = width == 0
        with np.errstate(over="ignore"):  # far out on a tiny scale: cut like all that lies beyond
            share = (upright - self.low[:, None]) / np.where(flat, 1.0, width)
        share = np.clip(share, 0.0, 1.0)
        share = np.where(flat & np.isfinite(upright), 1.0, share)
        return FLOOR + (1.0 - FLOOR) * share


def _apart(low: Array, high: Array) -> np.ndarray:
    return high - low > _FLAT * np.maximum(np.abs(low), np.abs(high))


def oriented(values: Array, lower: np.ndarray) -> Array:
    """Values ``[M, n]``, those of distances negated, so that more is better."""
    return np.where(np.asarray(lower, dtype=bool)[:, None], -np.asarray(values), values)


def geometric_mean(values: Array, weights: Array) -> Array:
    """Weighted geometric mean over metrics: ``[M, n]``, above 0, and weights ``[M]`` to ``[n]``.

    Weights are divided by their sum.  Weights ``[C, M]`` give ``[C, n]``.  NaN where any part of a
    positive weight is NaN.
    """
    total = weights.sum(axis=-1, keepdims=True)
    used = weights.reshape(-1, len(values)).any(axis=0)
    return np.exp((weights / total)[..., used] @ np.log(values[used]))


def emit(
    parts: Parts,
    values: Array,
    name: str,
    fields: Mapping[str, object],
    details: Sequence[str] | None = None,
    dimension: str = "overall",
) -> pd.DataFrame:
    """A ``scores`` table of a combination, from its values ``[N]`` and what to say of each.

    Status: ``invalid`` where the combination has no value; otherwise the least good one of the
    parts.  The signature names ``fields``, the parts and a hash of their signatures.
    """
    bases = set(parts.heads["basis"])
    basis = next((known for known in ("reference", "source") if known in bases), "none")
    texts = parts.heads["signature"] + "|" + parts.heads["basis"]
    fields = {**fields, "parts": "+".join(parts.names), "parts-hash": digest(*texts)}
    lacking, names = ~np.isfinite(parts.matrix.T), np.array(parts.names)
    invalid = lacking.any(axis=1) | ~np.isfinite(values)
    worse = [(parts.statuses == status).any(axis=0) for status in (Status.TRUNCATED, Status.EMPTY)]
    frame = pd.DataFrame(
        {
            "dataset": parts.dataset,
            "item_id": parts.item_ids,
            "metric": name,
            "dimension": dimension,
            "basis": basis,
            "signature": str(Signature.of(name, {"basis": basis, **fields})),
            "sample": 0,
            "value": np.where(invalid, np.nan, values),
            "status": np.select([invalid, *worse], ["invalid", "truncated", "empty"], "ok"),
            "detail": [
                f"no value of {', '.join(names[absent])}" if absent.any() else detail
                for absent, detail in zip(lacking, details or [""] * len(values), strict=True)
            ],
        }
    )
    # what was never scored (a source without a reference) has no row here either
    frame = frame[(parts.statuses != "").any(axis=0)].reset_index(drop=True)
    return schema.validate(frame, "scores", name)


def digest(*texts: str) -> str:
    """16 hexadecimal digits of the SHA-256 of texts, each with its end marked."""
    marked = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(marked.encode()).hexdigest()[:16]


def digest_of_values(item_ids: np.ndarray, values: Array) -> str:
    """A hash of ratings, item by item."""
    both = zip(item_ids.tolist(), values.tolist(), strict=True)
    return digest(*(f"{item}={value!r}" for item, value in sorted(both)))
