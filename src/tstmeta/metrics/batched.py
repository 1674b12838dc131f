"""Metrics with a model behind them: many rewrites at a time, each distinct pair of texts once."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from ..models.causal import MissingModel
from ..schema import DemonstrationWarning, Signature, Status
from .base import PairMetric, Request, Score, failed
from .settings import MetricSettings, ModelSettings

Pair = tuple[str, str]


class BatchedMetric(PairMetric):
    """A metric that is quick only over many rewrites at once.

    A subclass defines :meth:`prepare` and :meth:`compare`, or :meth:`pairs` where two texts have to
    be seen together, or :meth:`values` where an answer needs more than them.
    """

    max_tokens: int | None = None
    #: Rewrites that are answered at a time: what a killed run loses at most.
    shard: int = 2**10
    #: Whether a model that is missing is fetched when it is first used.
    fetches: bool = False
    #: Warns of the embedded model.
    demonstration: str = ""
    _folder: Path | None = None
    _progress: bool = False

    def keep_in(self, folder: Path, progress: bool) -> None:
        self._folder, self._progress = folder, progress

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
        """One score a request: the best over the texts that it is compared with."""
        distinct = list(dict.fromkeys((text, r.output) for r in requests for text in r.against))
        known = dict(zip(distinct, self.pairs(distinct), strict=True)) if distinct else {}
        return [self._best([known[text, r.output] for text in r.against]) for r in requests]

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        if self.demonstration and self.profile == "embedded":
            warnings.warn(self.demonstration, DemonstrationWarning, stacklevel=2)
        if not self.fetches and self.missing:
            yield from (tuple(failed(self.missing) for _ in unit) for unit in units)
            return
        rest = iter(units)
        while shard := list(islice(rest, self.shard)):
            answers = iter(self._shard([request for unit in shard for request in unit]))
            for unit in shard:
                yield tuple(next(answers) for _ in unit)

    def _shard(self, requests: list[Request]) -> list[Score]:
        scores = [self._blank(request) for request in requests]
        places = [place for place, score in enumerate(scores) if score is None]
        cuts = [self._cut(requests[place]) for place in places]
        answers = self._safely([request for request, _ in cuts])
        for place, (_, detail), answer in zip(places, cuts, answers, strict=True):
            if detail and answer.status is Status.OK:
                answer = answer._replace(status=Status.TRUNCATED, detail=detail)
            scores[place] = answer
        return [score for score in scores if score is not None]

    def _safely(self, requests: list[Request]) -> list[Score]:
        """Answers of a batch; when it breaks, of its halves, so that one request is lost."""
        if not requests:
            return []
        try:
            answers = self.values(requests)
            return [answer for answer, _ in zip(answers, requests, strict=True)]
        except MissingModel as error:
            return [failed(error)] * len(requests)
        except Exception as error:  # a metric's failure is a row, not the end of a run
            if len(requests) == 1:
                return [failed(error)]
        half = len(requests) // 2
        return [*self._safely(requests[:half]), *self._safely(requests[half:])]

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

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        if self.default:
            self.model = self.settings.model or self.models[self.default]
            self.profile, self.languages = self.model.profile, self.model.languages

    def signature(self, basis: str) -> Signature:
        return replace(super().signature(basis), name=self.name.partition(":")[0])


def cut_note(length: int, limit: int, unit: str = "tokens") -> str:
    """What is said of a text that is longer than what is read of it; empty when it fits."""
    return f"{length} {unit}, first {limit} used" if length > limit else ""
