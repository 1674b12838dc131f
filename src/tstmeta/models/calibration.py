"""How good a classifier is, and how well its probabilities mean what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from .classifiers import softmax

#: Bins of the expected calibration error (Guo et al., 2017, use 15).
BINS = 15


def temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The number that logits are divided by to be most likely (Guo et al., 2017, Section 4.2).

    In [0.05, 20], of logits [n, k] and labels [n] of held-out text; 1 where there is none, or where
    all answers are right, and then the colder the better.
    """
    from scipy.optimize import minimize_scalar

    if (logits.argmax(axis=1) == labels).all():
        return 1.0
    rows = np.arange(len(labels))

    def loss(log: float) -> float:
        likely = softmax(logits / np.exp(log))[rows, labels]
        return -float(np.log(np.maximum(likely, 1e-300)).mean())

    bounds = (np.log(0.05), np.log(20))
    return round(float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)), 4)


def calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Expected calibration error of probabilities [n, k], in [0, 1] (Guo et al., Equation 3)."""
    sure = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    # right edges belong to their bin
    places = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    gaps = np.bincount(places, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


def quality(
    logits: np.ndarray, labels: np.ndarray, heat: float, styles: tuple[str, ...]
) -> dict[str, Any]:
    """Share of right answers with its 95 % interval (Wilson, 1927), calibration error, confusion.

    ``confusion`` is {right style: {given style: count}}.
    """
    from scipy.stats import binomtest

    given = logits.argmax(axis=1)
    right = int((given == labels).sum())
    counts = np.zeros((len(styles), len(styles)), dtype=int)
    np.add.at(counts, (labels, given), 1)
    low, high = binomtest(right, len(labels)).proportion_ci(method="wilson")
    return {
        "accuracy": right / len(labels),
        "low": float(low),
        "high": float(high),
        "n": len(labels),
        "calibration_error": calibration_error(softmax(logits / heat), labels),
        "calibration_error_raw": calibration_error(softmax(logits), labels),
        "confusion": {
            style: dict(zip(styles, map(int, row), strict=True))
            for style, row in zip(styles, counts, strict=True)
        },
    }


def closeness(values: np.ndarray, labels: np.ndarray) -> dict[str, float | int]:
    """Of a regressor: Pearson's correlation, mean absolute error, and the count."""
    flat = len(values) < 2 or values.std() == 0 or labels.std() == 0
    return {
        "pearson": float("nan") if flat else float(np.corrcoef(values, labels)[0, 1]),
        "mean_absolute_error": float(np.abs(values - labels).mean()),
        "n": len(values),
    }
