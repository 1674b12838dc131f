"""Scores of several metrics as a matrix, one row a metric, and a combination as scores again."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from ..schema import Signature, Status, TstmetaError
from .orient import Array, lower_is_better


class CombineError(TstmetaError):
    """Scores, ratings or settings that cannot be combined; says what, where and what to do."""


class Parts(NamedTuple):
    """What is combined: M metrics on N items.

    Attributes:
        heads: a row a metric: metric, basis, signature, lower (whether less of it is better).
        matrix, statuses: ``[M, N]``, scores (NaN where there is no value) and statuses as text.
        item_ids, sources: of the items ``[N]``.
        dataset: name that the scores carry.
    """

    heads: pd.DataFrame
    matrix: Array
    statuses: np.ndarray
    item_ids: np.ndarray
    sources: np.ndarray
    dataset: str

    @property
    def names(self) -> list[str]:
        return self.heads["metric"].tolist()

    @property
    def lower(self) -> np.ndarray:
        return self.heads["lower"].to_numpy(bool)

    @property
    def basis(self) -> str:
        bases = set(self.heads["basis"])
        return next((basis for basis in ("reference", "source") if basis in bases), "none")

    @property
    def complete(self) -> np.ndarray:
        return np.asarray(np.isfinite(self.matrix).all(axis=0))


class Fit(NamedTuple):
    """What was fitted to judge a fold: weights that sum to 1, or thresholds, by name; ``fitted_on``
    and ``judged_on`` count items, or pairs of items.
    """

    fold: int
    parameters: dict[str, float]
    fitted_on: int
    judged_on: int


class Combination(NamedTuple):
    """A combination's ``scores`` table and what was fitted for it, one fit a fold."""

    scores: pd.DataFrame
    fits: tuple[Fit, ...]


def gather(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str | None = None,
    lower: Collection[str] = (),
) -> Parts:
    """The metrics of a ``scores`` table (of one dimension) in order of appearance, over all items.

    ``lower`` as in :func:`.orient.lower_is_better`.
    """
    if dimension is not None:
        scores = scores[scores["dimension"] == dimension]
    if scores.empty:
        what = f"of {dimension}" if dimension else "at all"
        raise CombineError(f"{dataset.name}: no scores {what} were given; score some metrics first")
    if len(set(scores["sample"])) > 1:
        raise CombineError(
            f"{dataset.name}: scores of several samples cannot be combined; average them, or keep"
            " one sample"
        )
    ids = dataset.items["item_id"]
    if not set(ids) & set(scores["item_id"]):
        raise CombineError(f"{dataset.name}: none of the scores is of an item of this data set")
    heads, values, statuses = [], [], []
    for (name, basis, signature), table in scores.groupby(
        ["metric", "basis", "signature"], sort=False, observed=True
    ):
        rows = table.set_index("item_id").reindex(ids)
        status = rows["status"].fillna("").to_numpy(str)
        given = np.isin(status, [str(known) for known in Status if known.has_value])
        heads.append((name, basis, signature, lower_is_better(name, basis, lower)))
        values.append(np.where(given, rows["value"].to_numpy(float), np.nan))
        statuses.append(status)
    return Parts(
        pd.DataFrame(heads, columns=["metric", "basis", "signature", "lower"]),
        np.array(values),
        np.array(statuses),
        ids.to_numpy(str),
        dataset.items["source_id"].to_numpy(str),
        str(scores["dataset"].iloc[0]),
    )


def join(several: Sequence[Parts]) -> Parts:
    return several[0]._replace(
        heads=pd.concat([each.heads for each in several], ignore_index=True),
        matrix=np.concatenate([each.matrix for each in several]),
        statuses=np.concatenate([each.statuses for each in several]),
    )


def pick(
    dataset: Dataset,
    scores: pd.DataFrame,
    whole: str,
    wanted: Mapping[str, tuple[str, float, float]],
) -> Parts:
    """The metrics of a whole (GM, J) by what each is to it: its name, least and largest value."""
    tables = [scores[scores["metric"] == name] for name, *_ in wanted.values()]
    parts = gather(dataset, pd.concat(tables, ignore_index=True))
    for what, (name, low, high) in wanted.items():
        if (count := parts.names.count(name)) != 1:
            known = ", ".join(dict.fromkeys(parts.names))
            raise CombineError(
                f"{'more than one' if count else 'no'} metric called {name!r} is in the scores,"
                f" wanted for the {what} of {whole}; there are {known}"
            )
        row = parts.matrix[parts.names.index(name)]
        row = row[np.isfinite(row)]
        # cosines of equal texts are above 1 by rounding
        if len(row) and not (low - 1e-6 <= row.min() and row.max() <= high + 1e-6):
            raise CombineError(
                f"{whole} wants {name} between {low:g} and {high:g}, but its scores lie between"
                f" {row.min():.3g} and {row.max():.3g}; name another metric"
            )
    return parts


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
    texts = parts.heads["signature"] + "|" + parts.heads["basis"]
    own = {"parts": "+".join(parts.names), "parts-hash": digest(*texts)}
    signature = Signature.of(name, {"basis": parts.basis, **fields, **own})
    each = zip(parts.item_ids, values, details or [""] * len(values), strict=True)
    rows = [
        (item, *_outcome(parts, place, value, detail))
        for place, (item, value, detail) in enumerate(each)
        # what was never scored (a source without a reference) has no row here either
        if (parts.statuses[:, place] != "").any()
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "value", "status", "detail"]).assign(
        dataset=parts.dataset,
        metric=name,
        dimension=dimension,
        basis=parts.basis,
        signature=str(signature),
        sample=0,
    )
    order = ["dataset", "item_id", "metric", "dimension", "basis", "signature", "sample"]
    return schema.validate(frame[[*order, "value", "status", "detail"]], "scores", name)


def _outcome(parts: Parts, place: int, value: float, detail: str) -> tuple[float, str, str]:
    lacking = ~np.isfinite(parts.matrix[:, place])
    if lacking.any():
        names = ", ".join(np.array(parts.names)[lacking].tolist())
        return np.nan, str(Status.INVALID), f"no value of {names}"
    if not np.isfinite(value):
        return np.nan, str(Status.INVALID), detail
    worse = [str(s) for s in (Status.TRUNCATED, Status.EMPTY) if s in parts.statuses[:, place]]
    return float(value), worse[0] if worse else str(Status.OK), detail


def digest(*texts: str) -> str:
    """16 hexadecimal digits of the SHA-256 of texts, each with its end marked."""
    marked = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(marked.encode()).hexdigest()[:16]


def digest_of_values(item_ids: np.ndarray, values: Array) -> str:
    """A hash of ratings, item by item."""
    both = zip(item_ids.tolist(), values.tolist(), strict=True)
    return digest(*(f"{item}={value!r}" for item, value in sorted(both)))
