"""A data set made ready for the tables about confounds: matrices, the oracle's row, draws.

In all those tables the human style rating (or, where labels hold by construction, the style label)
stands as a row like any metric: what looking at style alone would give.  A metric for which less is
better is turned round first, so that above 0 always means that it agrees as it claims.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import metrics as registry
from .. import schema, scoring, stats
from ..data import Dataset
from ..schema import TstmetaError
from ..scoring import HUMAN_STYLE
from ..stats import Draws, Setting
from ..stats.limits import of_values
from .cells.lai2023 import DISTANCES
from .layout import NO_SYSTEMS, OF_SYSTEMS
from .matrices import Matrices, matrices
from .tables import judged, truth

#: What follows the name of a metric whose sign was turned.
TURNED = " ↓"
#: The oracle where nobody rated style: the label by construction, 1 for a strong shift.
STYLE_LABEL = "style-label"
#: Rows that are no metrics but human values of style.
ORACLES = (HUMAN_STYLE, STYLE_LABEL)


class Material(NamedTuple):
    """A data set ready for these tables.

    Attributes:
        found: matrices, scores turned so that more is better.
        dimensions: human values of each judged dimension ``[S, K]``.
        rows: what stands at the head of each metric's row.
        claims: the dimension that each metric claims.
        draws: draws of sources.
    """

    found: Matrices
    dimensions: dict[str, np.ndarray]
    rows: list[dict[str, str]]
    claims: list[str]
    draws: Draws

    @property
    def units(self) -> int:
        """Sources that were drawn; each stratum but one takes one away, for its own mean."""
        return units_of(self.found)

    def other(self, dimension: str) -> list[str]:
        """Content, style and fluency without the one, as far as they were judged."""
        known = ("content", "style", "fluency")
        return [one for one in known if one in self.dimensions and one != dimension]


def units_of(found: Matrices) -> int:
    """See :attr:`Material.units`."""
    strata = 1 if found.tasks is None else len(set(found.tasks.tolist()))
    return len(set(found.layout.sources)) - strata + 1


def material(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str,
    draws: int,
    seed: int,
    level: str = "pooled",
) -> Material:
    """Matrices, oracle row and draws of a data set.

    Raises:
        TstmetaError: nobody judged the dimension, or a level of systems where none is named.
    """
    wanted = judged(dataset)
    if dimension not in wanted:
        known = ", ".join(wanted) or "nothing"
        raise TstmetaError(
            f"{dataset.name}: nobody judged {dimension}; judged: {known}. Choose another dimension"
            " or a data set with ratings"
        )
    scores = with_oracle(dataset, scores)
    found = matrices(dataset, scores, dimension, level)
    if level in OF_SYSTEMS and not found.layout.named:
        raise TstmetaError(f"{dataset.name}: {NO_SYSTEMS}; choose another level than {level}")
    lower = np.array([lower_is_better(*one) for one in found.names], dtype=bool)
    found = found._replace(metrics=np.where(lower[:, None, None], -found.metrics, found.metrics))
    claims = scores.drop_duplicates("signature").set_index("signature")["dimension"]
    human = {one: found.layout.matrix(truth(dataset, one)[0]) for one in wanted}
    rng = np.random.default_rng(seed)
    return Material(
        found,
        human,
        heads(found, lower),
        [claims[signature] for signature in found.signatures],
        stats.draw(found.plan(n=draws), found.shape, rng),
    )


def heads(found: Matrices, lower: np.ndarray) -> list[dict[str, str]]:
    """Metric, basis, better and signature of each metric."""
    named = zip(found.names, found.signatures, lower, strict=True)
    return [
        {
            "metric": name,
            "basis": basis,
            "better": "lower" if less else "higher",
            "signature": signature,
        }
        for (name, basis), signature, less in named
    ]


def lower_is_better(metric: str, basis: str) -> bool:
    """Whether less is better on a basis: a metric says so itself, or is a released distance.

    Other scores that nobody registered count as better when higher.
    """
    if metric.startswith("released:"):
        return metric in DISTANCES
    return registry.lower_is_better(metric, basis)


def upright(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of which more is better: where less was, the sign is turned and the name has an arrow.

    Released metrics lose the word ``released:``; their signature keeps it.
    """
    names = scores["metric"].astype(str)
    heads = pd.MultiIndex.from_arrays([names, scores["basis"].astype(str)])
    turned = heads.isin([head for head in heads.unique() if lower_is_better(*head)])
    shown = names.str.removeprefix("released:")
    return scores.assign(
        value=scores["value"].where(~turned, -scores["value"]),
        metric=shown.where(~turned, shown + TURNED),
    )


def with_oracle(dataset: Dataset, scores: pd.DataFrame) -> pd.DataFrame:
    """The scores with the oracle's rows at the end, if they are not there yet."""
    values, against = truth(dataset, "style")
    if not against or set(ORACLES) & set(scores["metric"]):
        return scores
    oracle = scoring.human_style(dataset)
    if oracle.empty:
        items = dataset.items[["dataset", "item_id"]]
        oracle = items.assign(
            metric=STYLE_LABEL,
            dimension="style",
            basis="none",
            signature=f"{STYLE_LABEL}|{against}",
            sample=0,
            value=values,
            status="ok",
            detail="",
        )[schema.columns("scores")]
    return pd.concat([scores, oracle[np.isfinite(oracle["value"])]], ignore_index=True)


def bounds(
    drawn: np.ndarray,
    values: np.ndarray,
    units: int | np.ndarray,
    ends: tuple[float, float] = (-1.0, 1.0),
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile limits ``[M]`` of draws ``[M, D]``, see :mod:`tstmeta.stats.limits`.

    Args:
        values: what the draws are draws of ``[M]``; NaN has no limits.
        units: how many units were drawn, one number or one a metric.
        ends: of the scale; they stand for draws without a value.
    """
    several = np.broadcast_to(units, len(values))
    far = 1e200  # stands for an endless scale, between whose ends nothing can be interpolated
    within = max(ends[0], -2 * far), min(ends[1], 2 * far)
    found = [
        of_values(one[None], [value], units=int(n), bounds=within)[0]
        for one, value, n in zip(drawn, values, several, strict=True)
    ]
    limits = np.array([(one.low, one.high) for one in found]).reshape(-1, 2).T
    low, high = np.where(np.abs(limits) > far, np.copysign(np.inf, limits), limits)
    return low, high


def ends_of(setting: Setting) -> tuple[float, float]:
    """Ends of a statistic's scale: accuracies lie in [0, 1], correlations in [-1, 1]."""
    return (-1.0 if setting.function.chance == 0 else 0.0, 1.0)


def ordered(table: pd.DataFrame, metrics: int) -> pd.DataFrame:
    """Rows of a metric together, in the order in which they were made; the signature last."""
    order = np.argsort(np.arange(len(table)) % max(metrics, 1), kind="stable")
    columns = [name for name in table.columns if name != "signature"]
    return table.iloc[order][[*columns, "signature"]].reset_index(drop=True)
