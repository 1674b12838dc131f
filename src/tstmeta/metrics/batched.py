"""Metrics with a model behind them: many rewrites at a time, each distinct pair of texts once.

A subclass defines :meth:`BatchedMetric.pairs`, or :meth:`BatchedMetric.values` where an answer
needs more than two texts.  Guards are owned here, as :class:`~tstmeta.metrics.base.PairMetric` owns
them for metrics that take one rewrite at a time: empty texts, texts that are too long, a model that
is not here, a text that breaks its batch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ..models.causal import MissingModel
from ..schema import Status, TstmetaError
from .base import PairMetric, Request, Score

Answer = float | Score
Pair = tuple[str, str]
#: Half of a character, as a damaged file gives it: no tokenizer reads it.
_HALF = re.compile(r"[\ud800-\udfff]")


class BatchedMetric(PairMetric):
    """A metric that is quick only over many rewrites at once."""

    #: Rewrites that are answered at a time: what a killed run loses at most.
    shard: int = 2**10
    _folder: Path | None = None
    _progress: bool = False

    @property
    def missing(self) -> str:
        """What to do when the metric cannot run on this machine; empty when it can."""
        return ""

    def keep_in(self, folder: Path, progress: bool) -> None:
        """Scoring says where the store is and whether bars are wanted."""
        self._folder, self._progress = folder, progress

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Answer]:
        """One answer a pair of (text compared with, output); pairs are distinct and not blank.

        A plain number is a score with status ok, NaN an invalid one.
        """
        raise NotImplementedError

    def values(self, requests: Sequence[Request]) -> Sequence[Answer]:
        """One answer a request: the best over the texts that it is compared with."""
        asked = dict.fromkeys((text, one.output) for one in requests for text in one.against)
        answers = self.pairs(list(asked)) if asked else ()
        found = dict(zip(asked, map(_scored, answers), strict=True))
        return [self._best([found[text, one.output] for text in one.against]) for one in requests]

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """One score a rewrite, in order, shard by shard."""
        if self.missing:
            yield from (tuple(_failed(self.missing) for _ in unit) for unit in units)
            return
        rest = iter(units)
        while shard := list(islice(rest, self.shard)):
            answers = iter(self._shard([request for unit in shard for request in unit]))
            for unit in shard:
                yield tuple(next(answers) for _ in unit)

    def _shard(self, requests: list[Request]) -> list[Score]:
        found: list[Score | None] = [_halved(one) or self._blank(one) for one in requests]
        places = [place for place, score in enumerate(found) if score is None]
        cut = [self._cut(requests[place]) for place in places]
        answers = self._safely([request for request, _ in cut])
        for place, (_, detail), answer in zip(places, cut, answers, strict=True):
            if detail and answer.status is Status.OK:
                answer = answer._replace(status=Status.TRUNCATED, detail=detail)
            found[place] = answer
        return [score for score in found if score is not None]

    def _blank(self, request: Request) -> Score | None:
        texts = (request.output, *request.against)
        if self.accepts_empty or all(text.strip() for text in texts):
            return None
        return Score(self.empty_value, Status.EMPTY, "empty text")

    def _safely(self, requests: list[Request]) -> list[Score]:
        """Answers of a batch; when it breaks, of its halves, so that one request is lost."""
        if not requests:
            return []
        try:
            answers = self.values(requests)
            return [_scored(one) for one, _ in zip(answers, requests, strict=True)]
        except MissingModel as error:
            return [_failed(str(error))] * len(requests)
        except Exception as error:  # a metric's failure is a row, not the end of a run
            if len(requests) == 1:
                ours = isinstance(error, TstmetaError)  # says by itself what to do
                return [_failed(str(error) if ours else f"{type(error).__name__}: {error}")]
        half = len(requests) // 2
        return [*self._safely(requests[:half]), *self._safely(requests[half:])]

    def _best(self, answers: Sequence[Score]) -> Score:
        known = [one for one in answers if one.status.has_value]
        if not known:
            return answers[0] if answers else Score(math.nan, Status.INVALID, "nothing to compare")
        best = max if self.higher_is_better else min
        return best(known, key=lambda one: one.value)


def _scored(answer: Answer) -> Score:
    if isinstance(answer, Score):
        return answer
    if not math.isfinite(answer):
        return Score(math.nan, Status.INVALID, f"the metric returned {answer}")
    return Score(float(answer))


def _halved(request: Request) -> Score | None:
    """The score of a text with half a character in it; None where all are whole."""
    half = next(filter(None, map(_HALF.search, (request.output, *request.against))), None)
    if half is None:
        return None
    where = f"U+{ord(half[0]):04X}, at character {half.start() + 1}"
    return _failed(f"a text with half a character ({where}): save it as UTF-8")


def _failed(reason: str) -> Score:
    return Score(math.nan, Status.ERROR, reason)
