"""Metrics that are weighted sums of metrics: ``tst-content``.

``weighted.toml`` has the weights, and the families of data sets that they were fitted on: the book
fits them in its chapter on combinations, by a rule that was written first.  The variant
``without-FAMILY`` has not seen a family; what the book says of that family rests on it.
"""

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from ..metrics import registry
from ..metrics.base import PairMetric, Request, Score
from ..schema import Status


@cache
def fitted() -> Mapping[str, Any]:
    """Metric -> families, variant -> intercept and weights; the variant of all families is ""."""
    text = Path(__file__).with_name("weighted.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class WeightedSum(PairMetric):
    """An intercept and a weighted sum of other metrics; more is better.

    A part without a value leaves the sum without one, and says why.
    """

    bases: tuple[str, ...] = ("source",)
    languages = ("en",)
    accepts_empty = True
    max_tokens: int | None = None
    shard = 2**10

    def __init__(self, variant: str = ""):
        known = fitted()[self.name]["weights"]
        self.weights: dict[str, float] = dict(known[variant])
        super().__init__(variant)
        self.intercept = self.weights.pop("intercept")

    @cached_property
    def metrics(self) -> list[PairMetric]:
        """The parts, in the order of the weights."""
        return [registry.get(name) for name in self.weights]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.weights)

    @property
    def missing(self) -> str:
        return next(filter(None, (metric.missing for metric in self.metrics)), "")

    def keep_in(self, folder: Path, progress: bool) -> None:
        for metric in self.metrics:
            metric.keep_in(folder, progress)

    def fields(self) -> dict[str, object]:
        words = [f"{self.intercept!r}", *map(repr, self.weights.items())]
        words += [str(metric.signature("source")) for metric in self.metrics]
        digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
        return {"parts": "+".join(self.weights), "weights": digest}

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        units = [(request,) for request in requests]
        return self.summed([[score for (score,) in metric.score(units)] for metric in self.metrics])

    def summed(self, columns: Sequence[Sequence[Score]]) -> list[Score]:
        """The sum for each rewrite, from the scores of the parts, a column a part."""
        return [self._sum(scores) for scores in zip(*columns, strict=True)]

    def _sum(self, scores: Sequence[Score]) -> Score:
        for name, score in zip(self.weights, scores, strict=True):
            if not score.status.has_value:
                return Score(math.nan, score.status, f"{name}: {score.detail}")
        parts = zip(self.weights.values(), scores, strict=True)
        value = self.intercept + sum(weight * score.value for weight, score in parts)
        worst = [score for score in scores if score.status is not Status.OK]
        status, detail = (worst[0].status, worst[0].detail) if worst else (Status.OK, "")
        return Score(value, status, detail)


class TstContent(WeightedSum):
    """Content preservation by a sum of parts that was fitted on rated families of data sets.

    In units of the standard deviation among rewrites of a source; about 0 for an average rewrite of
    the sets that it was fitted on; higher is better.  English; source-based.
    """

    name = "tst-content"
    VARIANTS: ClassVar[tuple[str, ...]] = tuple(filter(None, fitted()["tst-content"]["weights"]))
