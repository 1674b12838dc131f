"""What a value at a level with groups is over, and why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .kernels import Array
from .statistic import Statistic

Groups = Sequence[tuple[Array, Array]]


def groups_of(x: Array, y: Array, level: str, labels: Array | None) -> Groups:
    """The two vectors of each source, system or task of two matrices ``[S, K]``."""
    if level == "source":
        return list(zip(x, y, strict=True))
    if level == "within-system":
        return list(zip(x.T, y.T, strict=True))
    if labels is None:
        raise ValueError(f"level {level} needs a task label for each source")
    tasks = dict.fromkeys(labels.tolist())
    return [(x[labels == task].ravel(), y[labels == task].ravel()) for task in tasks]


def with_items(groups: Groups, function: Statistic) -> int:
    """How many groups have as many items as the statistic needs."""
    return sum(int((np.isfinite(x) & np.isfinite(y)).sum()) >= function.least for x, y in groups)


def with_value(groups: Groups, function: Statistic) -> int:
    """How many groups have a value."""
    longest = max((len(x) for x, _ in groups), default=0)
    x, y = (np.full((len(groups), 1, longest), np.nan) for _ in range(2))
    for place, (of_x, of_y) in enumerate(groups):
        x[place, 0, : len(of_x)], y[place, 0, : len(of_y)] = of_x, of_y
    if not x.size:
        return 0
    sums = function.sums(x, y, np.ones((1, longest)))
    return int(np.isfinite(function.finish(*sums)).sum())


def of_groups(groups: Groups, function: Statistic, kind: str) -> str:
    """Why no group has a value, the commonest reason first."""
    if not groups:
        return f"there is no {kind}"
    reasons = Counter(function.why(x, y, function.least) for x, y in groups)
    often_first = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return f"no {kind} has a value: " + ", ".join(f"{why} ({n})" for why, n in often_first)


def within_tasks(x: Array, y: Array, function: Statistic, items: int) -> str:
    """Why two matrices, standardised within tasks, have no value; ``items`` were there before."""
    left = int((np.isfinite(x) & np.isfinite(y)).sum())
    if items > left and left < function.least:
        return "in every task all ratings or all scores are equal"
    return function.why(x.ravel(), y.ravel())
