"""Scores of several metrics as a matrix, and a combination of them as scores again.

A combination is given a ``scores`` table and gives one: what it makes can be stored, tabled and
held against people like the scores of any metric.  Here the long table becomes rows of numbers (one
row a metric) and back.
"""

from __future__ import annotations

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
        names: name of each metric ``[M]``.
        bases, dimensions, signatures: beside the names.
        lower: whether less of it is better ``[M]``.
        matrix: scores ``[M, N]``, NaN where there is no value.
        statuses: ``[M, N]`` statuses as text.
        item_ids, sources: of the items ``[N]``.
        dataset: name that the scores carry.
    """

    names: tuple[str, ...]
    bases: tuple[str, ...]
    dimensions: tuple[str, ...]
    signatures: tuple[str, ...]
    lower: np.ndarray
    matrix: Array
    statuses: np.ndarray
    item_ids: np.ndarray
    sources: np.ndarray
    dataset: str

    def take(self, chosen: Sequence[int] | np.ndarray) -> Parts:
        """The same with only these metrics, by place."""
        places = [int(place) for place in chosen]

        def only(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(texts[place] for place in places)

        return self._replace(
            names=only(self.names),
            bases=only(self.bases),
            dimensions=only(self.dimensions),
            signatures=only(self.signatures),
            lower=self.lower[places],
            matrix=self.matrix[places],
            statuses=self.statuses[places],
        )

    @property
    def basis(self) -> str:
        """Reference if any part looks at references, else source if any does, else none."""
        return next((one for one in ("reference", "source") if one in self.bases), "none")

    @property
    def complete(self) -> np.ndarray:
        """Items on which every metric has a value ``[N]``."""
        return np.asarray(np.isfinite(self.matrix).all(axis=0))


class Fit(NamedTuple):
    """What was fitted once.

    Attributes:
        fold: number of the fold that it judges; 0 where nothing was held out.
        found: what came out, by name: weights that sum to 1, or thresholds.
        fitted_on, judged_on: how many items, or pairs of items.
    """

    fold: int
    found: dict[str, float]
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
    """The metrics of a ``scores`` table, in order of appearance, over the items in their order.

    Args:
        scores: a valid ``scores`` table with one sample an item.
        dimension: only metrics that claim this dimension; None takes all.
        lower: further names of which less is better, see :func:`.orient.lower_is_better`.

    Raises:
        CombineError: no such metric in the table, scores of several samples, or of no item here.
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
    keys = ["metric", "basis", "signature"]
    ids = dataset.items["item_id"]
    if not set(ids) & set(scores["item_id"]):
        raise CombineError(f"{dataset.name}: none of the scores is of an item of this data set")
    heads, values, statuses = [], [], []
    for (name, basis, signature), table in scores.groupby(keys, sort=False, observed=True):
        rows = table.set_index("item_id").reindex(ids)
        status = rows["status"].fillna("").to_numpy(str)
        given = np.isin(status, [str(one) for one in Status if one.has_value])
        heads.append((str(name), str(basis), str(table["dimension"].iloc[0]), str(signature)))
        values.append(np.where(given, rows["value"].to_numpy(float), np.nan))
        statuses.append(status)
    names, bases, dimensions, signatures = zip(*heads, strict=True)
    return Parts(
        names,
        bases,
        dimensions,
        signatures,
        np.array(
            [lower_is_better(*one, lower) for one in zip(names, bases, strict=True)], dtype=bool
        ),
        np.array(values),
        np.array(statuses),
        ids.to_numpy(str),
        dataset.items["source_id"].to_numpy(str),
        str(scores["dataset"].iloc[0]),
    )


def join(several: Sequence[Parts]) -> Parts:
    """The metrics of several, over the same items, one after the other."""
    first = several[0]

    def all_of(field: str) -> tuple[str, ...]:
        return tuple(text for each in several for text in getattr(each, field))

    return first._replace(
        names=all_of("names"),
        bases=all_of("bases"),
        dimensions=all_of("dimensions"),
        signatures=all_of("signatures"),
        lower=np.concatenate([each.lower for each in several]),
        matrix=np.concatenate([each.matrix for each in several]),
        statuses=np.concatenate([each.statuses for each in several]),
    )


def one(parts: Parts, name: str, what: str) -> int:
    """The place of a metric by name; ``what`` says what it is wanted for.

    Raises:
        CombineError: no metric of that name, or several.
    """
    found = [place for place, known in enumerate(parts.names) if known == name]
    if len(found) != 1:
        count = "no" if not found else "more than one"
        known = ", ".join(dict.fromkeys(parts.names))
        raise CombineError(
            f"{count} metric called {name!r} is in the scores, wanted for {what}; there are {known}"
        )
    return found[0]


def emit(
    parts: Parts,
    values: Array,
    details: Sequence[str],
    *,
    name: str,
    dimension: str,
    fields: Mapping[str, object],
) -> pd.DataFrame:
    """A ``scores`` table of a combination.

    Status: ``invalid`` where the combination has no value; otherwise the least good one of the
    parts (truncated, then empty, then ok).  A part without a value is named in the detail.  The
    signature names ``fields``, the parts and a hash of their signatures.

    Args:
        values: ``[N]``, NaN where there is none.
        details: ``[N]``, what stands beside a value (the fold, the weights).
    """
    signature = Signature.of(
        name,
        {
            "basis": parts.basis,
            **fields,
            "parts": "+".join(parts.names),
            "parts-hash": digest(*(f"{a}|{b}" for a, b in _heads(parts))),
        },
    )
    # what was never scored (a source without a reference) has no row here either
    there = (parts.statuses != "").any(axis=0)
    rows = [
        (item, *_judged(parts, place, value), detail)
        for place, (item, value, detail) in enumerate(
            zip(parts.item_ids, values, details, strict=True)
        )
        if there[place]
    ]
    frame = pd.DataFrame(
        {
            "dataset": parts.dataset,
            "item_id": [row[0] for row in rows],
            "metric": name,
            "dimension": dimension,
            "basis": parts.basis,
            "signature": str(signature),
            "sample": 0,
            "value": np.array([row[1] for row in rows], dtype=float),
            "status": [str(row[2]) for row in rows],
            "detail": [row[3] or row[4] for row in rows],
        }
    )
    return schema.validate(frame, "scores", name)


def _heads(parts: Parts) -> list[tuple[str, str]]:
    return list(zip(parts.signatures, parts.bases, strict=True))


def _judged(parts: Parts, place: int, value: float) -> tuple[float, Status, str]:
    """Value, status and (where there is none) the reason."""
    lacking = ~np.isfinite(parts.matrix[:, place])
    if lacking.any():
        names = ", ".join(np.array(parts.names)[lacking].tolist())
        return np.nan, Status.INVALID, f"no value of {names}"
    if not np.isfinite(value):
        return np.nan, Status.INVALID, ""
    seen = set(parts.statuses[:, place].tolist())
    found = next((one for one in (Status.TRUNCATED, Status.EMPTY) if str(one) in seen), Status.OK)
    return float(value), found, ""


def digest(*texts: str) -> str:
    """First 16 hexadecimal digits of the SHA-256 of texts, each with its end marked."""
    made = hashlib.sha256()
    for text in texts:
        made.update(f"{len(text)}:{text}".encode())
    return made.hexdigest()[:16]


def digest_of_values(item_ids: np.ndarray, values: Array) -> str:
    """A hash of ratings (or of anything else that is fitted on), item by item."""
    both = zip(item_ids.tolist(), values.tolist(), strict=True)
    return digest(*(f"{item}={value!r}" for item, value in sorted(both)))
