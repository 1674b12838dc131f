"""Could a metric replace one of the raters?  The alternative annotator test as tables.

See :mod:`tstmeta.stats.alternative` for the test and :mod:`.rated` for what data must have.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from ..data import Dataset
from ..schema import TstmetaError
from ..stats.alternative import AlternativeTest, alternative_annotator_test
from .matrices import cube, matrices
from .rated import NOT_IDENTIFIABLE, check, impossible, unfit

FLAT_LINE = "flat line"
PASSES, FAILS, NO_MORE = "passes", "fails", "passes, and so does a flat line"
#: Of the flat line alone.
WOULD_PASS = "would pass"
LEFT_OUT = "left out"

_ALTERNATIVE = [
    *("metric", "basis", "verdict", "omega", "rho", "flat_omega", "flat_rho", "epsilon"),
    *("beaten", "tested", "left_out", "n", "note", "signature"),
]
_RATERS = [
    *("rater", "n", "advantage_metric", "advantage_rater", "p", "adjusted", "beaten", "test"),
    "note",
]


def alternative(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    epsilon: float = 0.1,
    *,
    seed: int = 0,
    least: int = 30,
    independent: Literal["items", "sources"] = "items",
) -> pd.DataFrame:
    """Could a metric replace one of the raters?  The alternative annotator test, metric by metric.

    See :mod:`tstmeta.stats.alternative`.  The first row is the flat line at the mean rating of
    other sources.  Where it wins against half of the raters itself, the ratings are too noisy for
    the test to tell a metric from nothing, and the verdict of a winner says so.

    Args:
        epsilon: margin; the paper advises .2 for experts, .15 for skilled and .1 for other raters.
        seed: shuffles sources into the folds of the map to the scale.
        least: raters with fewer items are left out.
        independent: what the test takes for independent: items as in the paper, or sources.

    Returns:
        metric, basis, verdict, omega (share of raters beaten), rho (advantage probability),
        flat_omega and flat_rho (of the flat line on the same items), epsilon, beaten, tested and
        left_out (raters), n (items over tested raters), note, signature.  One row with verdict
        ``not identifiable`` where raters are no persons.

    Raises:
        TstmetaError: several rating scales at once, an unknown dimension, or an epsilon beyond
            [0, 1).
    """
    check(dataset, dimension)
    if not 0 <= epsilon < 1:
        raise TstmetaError(f"epsilon {epsilon} is no margin of probability: give 0 to below 1")
    people = cube(dataset, dimension)
    reason = impossible(dataset, dimension, people) or people.reason
    if reason:
        row = {"metric": "", "basis": "", "verdict": NOT_IDENTIFIABLE, "epsilon": epsilon}
        return _finished([row | {"note": reason}])
    found = matrices(dataset, scores, dimension)
    lines: dict[bytes, AlternativeTest] = {}

    def ask(values: np.ndarray) -> AlternativeTest:
        rng = np.random.default_rng(seed)
        return alternative_annotator_test(
            people.ratings, values, epsilon=epsilon, least=least, independent=independent, rng=rng
        )

    def line(values: np.ndarray) -> AlternativeTest:
        key = np.isfinite(values).tobytes()
        if key not in lines:
            lines[key] = ask(np.where(np.isfinite(values), 0.0, np.nan))
        return lines[key]

    flat = line(np.zeros(found.shape))
    head = {"metric": FLAT_LINE, "basis": "", "signature": "alternative-annotator|flat line"}
    first = head | _verdict(flat, flat)
    if first["verdict"] == FAILS and flat.omega >= 0.5:
        first["verdict"] = WOULD_PASS  # it beats half of the raters, but is no metric
    rows = [first]
    for (metric, basis), signature, values in zip(
        found.names, found.signatures, found.metrics, strict=True
    ):
        row = {"metric": metric, "basis": basis, "epsilon": epsilon, "signature": signature}
        if reason := unfit(metric, dimension, values):
            rows.append(row | {"verdict": LEFT_OUT, "note": reason})
        else:
            rows.append(row | _verdict(ask(values), line(values)))
    return _finished(rows)


def alternative_by_rater(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    epsilon: float = 0.1,
    *,
    seed: int = 0,
    least: int = 30,
    independent: Literal["items", "sources"] = "items",
) -> pd.DataFrame:
    """One metric against each rater: n, advantage probabilities, p, adjusted p, who is left out.

    Args:
        scores: a ``scores`` table with a single metric on a single basis.

    Raises:
        TstmetaError: raters are no persons, or the scores hold several metrics.
    """
    check(dataset, dimension)
    people, found = cube(dataset, dimension), matrices(dataset, scores, dimension)
    if reason := impossible(dataset, dimension, people) or people.reason:
        raise TstmetaError(f"{dataset.name}: {NOT_IDENTIFIABLE}: {reason}")
    if len(found.names) != 1:
        raise TstmetaError(f"one metric on one basis is needed, the scores hold {len(found.names)}")
    test = alternative_annotator_test(
        people.ratings,
        found.metrics[0],
        epsilon=epsilon,
        least=least,
        independent=independent,
        rng=np.random.default_rng(seed),
    )
    rows = [(people.raters[row.rater], *row[1:]) for row in test.raters]
    return pd.DataFrame(rows, columns=_RATERS)


def _verdict(test: AlternativeTest, flat: AlternativeTest) -> dict:
    tested = [row for row in test.raters if not row.reason]
    verdict = PASSES if test.passed else FAILS
    if test.passed and flat.omega >= 0.5:
        verdict = NO_MORE
    if not tested:
        verdict = NOT_IDENTIFIABLE
    return {
        "verdict": verdict,
        **{"omega": test.omega, "rho": test.rho, "epsilon": test.epsilon},
        **{"flat_omega": flat.omega, "flat_rho": flat.rho},
        "beaten": sum(row.beaten for row in tested),
        "tested": len(tested),
        "left_out": sum(row.n > 0 for row in test.raters) - len(tested),
        **{"n": test.n, "note": test.reason},
    }


def _finished(rows: list[dict]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=_ALTERNATIVE)
    counts = ["beaten", "tested", "left_out", "n"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table.fillna({"note": "", "signature": ""})
