"""``tst-content``: a weighted sum of metrics, fitted on ratings.

``weighted.toml`` has the weights and the families of data sets that they rest on; the chapter of
the book on combinations computes them.  The variant ``without-FAMILY`` has not seen a family: what
the book says of that family rests on it.
"""

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from ..schema import Status
from . import registry
from .base import PairMetric, Request, Score, read_table

#: Version, families, and the weights of each variant, those of all families under ``all``.
FITTED: dict[str, Any] = read_table("weighted.toml")["tst-content"]


class TstContent(PairMetric):
    """Content preservation by parts whose weights were fitted on rated families of data sets.

    In units of the parts' standard deviation among rewrites of a source; 0 for the mean of the sets
    that it was fitted on; higher is better.  English, against the source.  A part without a value
    leaves the sum without one, and says why.
    """

    name = "tst-content"
    VARIANTS: ClassVar[tuple[str, ...]] = tuple(name for name in FITTED["weights"] if name != "all")
    bases: tuple[str, ...] = ("source",)
    languages = ("en",)
    profile = "real"
    accepts_empty = True
    max_tokens: int | None = None
    shard = 2**10

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.weights: dict[str, float] = dict(FITTED["weights"][variant or "all"])
        self.intercept = self.weights.pop("intercept")

    @cached_property
    def parts(self) -> list[PairMetric]:
        """The metrics that are summed, in the order of the weights."""
        return [registry.get(name) for name in self.weights]

    @property
    def missing(self) -> str:
        return next(filter(None, (part.missing for part in self.parts)), "")

    def fields(self) -> dict[str, object]:
        facts = [repr(self.intercept), *map(repr, self.weights.values())]
        facts += [str(part.signature("source")) for part in self.parts]
        digest = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]
        return {"version": FITTED["version"], "parts": "+".join(self.weights), "parts-hash": digest}

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        columns = [list(part.score(requests)) for part in self.parts]
        return [self.summed(scores) for scores in zip(*columns, strict=True)]

    def summed(self, scores: Sequence[Score]) -> Score:
        """The sum for one rewrite, from the score of each part."""
        for name, score in zip(self.weights, scores, strict=True):
            if not Status(score.status).has_value:
                return Score(math.nan, score.status, f"{name}: {score.detail}")
        pairs = zip(self.weights.values(), scores, strict=True)
        value = self.intercept + sum(weight * score.value for weight, score in pairs)
        doubt = next((score for score in scores if score.status != Status.OK), Score(0.0))
        return Score(value, doubt.status, doubt.detail)
