"""Metrics with a model behind them: many rewrites at a time, each distinct pair of texts once."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..models import hub
from ..models.causal import Backbone
from ..schema import Signature
from .base import PairMetric, Request, Score
from .settings import MetricSettings, ModelSettings

Pair = tuple[str, str]


class BatchedMetric(PairMetric):
    """A metric that is quick only over many rewrites at once.

    A subclass has :meth:`prepare` and :meth:`compare`, or else :meth:`pairs` or :meth:`values`.
    """

    max_tokens: int | None = None
    shard = 2**10

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Score]:
        """One score a pair of (text compared with, output); pairs are distinct and not blank."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        known = dict(zip(texts, self.prepare(texts), strict=True))
        return [self.compare(known[text], known[output]) for text, output in pairs]

    def prepare(self, texts: list[str]) -> Iterable[Any]:
        """What :meth:`compare` needs of each text, for instance its vector."""
        raise NotImplementedError

    def compare(self, text: Any, output: Any) -> Score:
        """The score of an output beside the text that it is compared with."""
        raise NotImplementedError

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        distinct = list(dict.fromkeys((text, r.output) for r in requests for text in r.against))
        known = dict(zip(distinct, self.pairs(distinct), strict=True)) if distinct else {}
        return [self._best([known[text, r.output] for text in r.against]) for r in requests]

    def _best(self, answers: Sequence[Score]) -> Score:
        known = [answer for answer in answers if answer.status.has_value]
        if not known:
            return answers[0]
        best = max if self.higher_is_better else min
        return best(known, key=lambda answer: answer.value)


class ModelMetric(BatchedMetric):
    """A batched metric with settings, which are a model or files mostly.

    The signature stands under the bare name, for a setting may be a path.
    """

    Settings: ClassVar[type[MetricSettings] | None] = ModelSettings
    #: The name of the model that is used by default.
    default: ClassVar[str] = ""
    #: The model that its settings name.
    model: Any = None

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        if self.default:
            self.model = self.settings.model or self.models[self.default]
            self.profile, self.languages = self.model.profile, self.model.languages

    @property
    def missing(self) -> str:
        return hub.absent(self.model) if isinstance(self.model, Backbone) else ""

    def signature(self, basis: str) -> Signature:
        return replace(super().signature(basis), name=self.name.partition(":")[0])
