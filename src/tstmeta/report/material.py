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
from ..metrics import CorpusMetric
from ..schema import TstmetaError
from ..scoring import HUMAN_STYLE
from ..stats import Draws
from .matrices import Matrices, matrices
from .tables import judged, truth

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

    def other(self, dimension: str) -> list[str]:
        """Content, style and fluency without the one, as far as they were judged."""
        known = ("content", "style", "fluency")
        return [one for one in known if one in self.dimensions and one != dimension]


def material(
    dataset: Dataset, scores: pd.DataFrame, dimension: str, draws: int, seed: int
) -> Material:
    """Matrices, oracle row and draws of a data set.

    Raises:
        TstmetaError: nobody judged the dimension.
    """
    wanted = judged(dataset)
    if dimension not in wanted:
        known = ", ".join(wanted) or "nothing"
        raise TstmetaError(
            f"{dataset.name}: nobody judged {dimension}; judged: {known}. Choose another dimension"
            " or a data set with ratings"
        )
    scores = _with_oracle(dataset, of_items(scores))
    found = matrices(dataset, scores, dimension)
    lower = np.array([lower_is_better(name) for name, _ in found.names], dtype=bool)
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


def lower_is_better(metric: str) -> bool:
    """Whether a metric says that less is better; one that nobody registered is taken at its word.

    Released and imported scores count as better when higher.
    """
    try:
        return not registry.get(metric).higher_is_better
    except registry.UnknownMetric:
        return False


def of_items(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores without those of metrics of whole outputs, which have no value an item."""
    return scores[~scores["metric"].map(_of_outputs).astype(bool)]


def _of_outputs(metric: str) -> bool:
    try:
        return isinstance(registry.get(metric), CorpusMetric)
    except registry.UnknownMetric:
        return False


def _with_oracle(dataset: Dataset, scores: pd.DataFrame) -> pd.DataFrame:
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


def bounds(drawn: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bounds of draws ``[..., D]``; draws without a value are left out.

    NaN where fewer than half of the draws have one: what is left would be a choice of draws.
    """
    given = np.isfinite(drawn)
    enough = (given.sum(axis=-1) * 2 >= drawn.shape[-1]) & given.any(axis=-1)
    filled = np.where(enough[..., None], drawn, 0.0)
    outside = (1.0 - confidence) / 2.0
    found = [np.full(enough.shape, np.nan)] * 2
    if drawn.shape[-1]:
        found = list(np.nanquantile(filled, [outside, 1.0 - outside], axis=-1))
    low, high = (np.where(enough, one, np.nan) for one in found)
    return low, high


def ordered(table: pd.DataFrame, metrics: int) -> pd.DataFrame:
    """Rows of a metric together, in the order in which they were made; the signature last."""
    order = np.argsort(np.arange(len(table)) % max(metrics, 1), kind="stable")
    columns = [name for name in table.columns if name != "signature"]
    return table.iloc[order][[*columns, "signature"]].reset_index(drop=True)
