"""Style strength by a model of style: accuracy, confidence, distances, a regressor.

What comes after the colon names a model (see :mod:`tstmeta.models.classifiers`) and options::

    style-accuracy                      the embedded demonstration model
    style-accuracy:my/folder            a model that ``tstmeta train classifier`` made
    style-confidence:owner/model@rev    any sequence classifier of a hub
    style-confidence:owner/model+LABEL_1=positive+LABEL_0=negative   what its labels mean
    style-emd:directed                  negative where the output moved away from its target style

A blank text shows nothing of the target style: probability 0 of it, the rest shared alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..schema import Signature, Status, TstmetaError
from .base import CorpusMetric, Request, Score
from .batched import Answer, BatchedMetric
from .style_models import Judge, Seen, scored

#: Probabilities below this count as this in a divergence, which would else have no bound.
FLOOR = 1e-12
_DIRECTED: dict[str, tuple[str, ...]] = {"direction": ("directed",)}


def _named(metric: Any, words: str, judge: Judge) -> None:
    metric.profile = judge.model.profile
    if words:
        metric.name = f"{metric.name}:{words}"


class StyleConfidence(BatchedMetric):
    """Probability of the target style, in [0, 1].

    As a model of style gives it, after its temperature ("classifier confidence" of Mukherjee et
    al., 2025, Table 1).
    """

    name = "style-confidence"
    dimensions = ("style",)
    bases = ("none",)
    max_tokens = None
    accepts_empty = True
    VARIANTS: ClassVar[tuple[str, ...]] = ("toxicity",)

    def __init__(self, words: str = "", *, device: str = "auto"):
        self._judge = Judge(words, {}, "embedded", device)
        _named(self, words, self._judge)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model is not on this machine; empty when it is."""
        return self._judge.missing

    def signature(self, basis: str) -> Signature:
        """Model, wordings of styles, library versions."""
        fields = {"basis": basis, **self._judge.fields()}
        return Signature.of(self.name.partition(":")[0], fields)

    def values(self, requests: Sequence[Request]) -> Sequence[Answer]:
        """One score a request."""
        seen = self._judge.see([(one.output, one.style) for one in requests])
        found = [seen[one.output, one.style] for one in requests]
        return [
            one if isinstance(one, Score) else scored(float(one.styles[one.target]), one)
            for one in found
        ]


class _Hits(StyleConfidence):
    """1 where no other style is as probable as the target style, else 0."""

    def values(self, requests: Sequence[Request]) -> Sequence[Answer]:
        seen = self._judge.see([(one.output, one.style) for one in requests])
        found = [seen[one.output, one.style] for one in requests]
        return [one if isinstance(one, Score) else scored(_hit(one), one) for one in found]


def _hit(seen: Seen) -> float:
    others = np.delete(seen.styles, seen.target)
    return float(len(others) > 0 and seen.styles[seen.target] > others.max())


class StyleAccuracy(CorpusMetric):
    """Share of outputs that a model of style takes for the target style, in [0, 1].

    An item has 1 or 0 ("sentence accuracy" of Mukherjee et al., 2025, Table 1); a corpus the mean,
    Acc of Pang and Gimpel (2019) when the model is a TextCNN.  Its statistics, shape [2]: right
    outputs, outputs.  Not right: a blank output, and a tie.
    """

    name = "style-accuracy"
    dimensions = ("style",)
    bases = ("none",)
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = ("toxicity",)

    def __init__(self, words: str = "", *, device: str = "auto"):
        self._hits = _Hits(words, device=device)
        _named(self, words, self._hits._judge)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model is not on this machine; empty when it is."""
        return self._hits.missing

    def signature(self, basis: str) -> Signature:
        """Model, wordings of styles, library versions."""
        return replace(self._hits.signature(basis), name=self.name.partition(":")[0])

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """Hits, many outputs at a time; ``detail`` holds the statistics."""
        for unit in self._hits.score(units):
            yield tuple(
                one._replace(detail=json.dumps([one.value, 1.0])) if one.status.has_value else one
                for one in unit
            )

    def statistics(self, request: Request) -> np.ndarray:
        """Right outputs and outputs, shape [2]: [0, 1] or [1, 1].

        Raises:
            TstmetaError: the model is not here or does not know the style.
        """
        [(score,)] = self._hits.score([(request,)])
        if not score.status.has_value:
            raise TstmetaError(score.detail)
        return np.array([score.value, 1.0])

    def aggregate(self, total: np.ndarray) -> float:
        """The share of right outputs; NaN of none."""
        return float(total[0] / total[1]) if total[1] else math.nan


class StyleEmd(BatchedMetric):
    """Earth mover's distance of two texts' style distributions, in [0, 1].

    Styles are names, each as far from the others as any: then the distance is half of the summed
    differences, for two styles the difference of one probability (Rubner et al., 2000; Mir et al.,
    2019; Mukherjee et al., 2025, Tables 1 and 8).  Against the source more is better: the style
    changed; against references less is better, and the nearest one counts.  ``directed``, after Mir
    et al. (2019): negative where the output is less probably in the target style than what it is
    compared with; the plain distance cannot tell towards from away.
    """

    name = "style-emd"
    dimensions = ("style",)
    bases = ("source", "reference")
    max_tokens = None
    accepts_empty = True
    VARIANTS: ClassVar[tuple[str, ...]] = ("directed",)
    #: Kinds of options and their words.
    OPTIONS: ClassVar[dict[str, tuple[str, ...]]] = _DIRECTED

    def __init__(self, words: str = "", *, device: str = "auto"):
        self._judge = Judge(words, self.OPTIONS, "embedded", device)
        self._directed = "direction" in self._judge.chosen
        # with a direction more is stronger style, whatever the other text is
        self.turned = () if self._directed else ("reference",)
        _named(self, words, self._judge)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model is not on this machine; empty when it is."""
        return self._judge.missing

    def signature(self, basis: str) -> Signature:
        """Model, wordings of styles, direction, library versions."""
        fields = {"basis": basis, "refs": "nearest", **self.fields(), **self._judge.fields()}
        return Signature.of(self.name.partition(":")[0], fields)

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        """Of two distributions [k]."""
        return float(np.abs(output - other).sum() / 2)

    def values(self, requests: Sequence[Request]) -> Sequence[Answer]:
        """One score a request: against the text whose styles are nearest."""
        asked = [(text, one.style) for one in requests for text in (one.output, *one.against)]
        seen = self._judge.see(asked)
        return [
            self._nearest(seen[one.output, one.style], [seen[t, one.style] for t in one.against])
            for one in requests
        ]

    def _nearest(self, output: Seen | Score, others: Sequence[Seen | Score]) -> Score:
        wrong = next((one for one in (output, *others) if isinstance(one, Score)), None)
        if wrong is not None or not others:
            return wrong or Score(math.nan, Status.INVALID, "nothing to compare")
        pairs = [
            (self.measure(output.styles, one.styles), one)  # type: ignore[union-attr]
            for one in others
        ]
        best = min if self.higher_is_better else max  # a distance, or a similarity
        value, other = best(pairs, key=lambda pair: pair[0])
        if self._directed and output.styles[output.target] < other.styles[output.target]:  # type: ignore[union-attr]
            value = -value
        return scored(value, output, other)  # type: ignore[arg-type]


class StyleKl(StyleEmd):
    """Kullback-Leibler divergence of the output's style distribution from the other's, in nats.

    D(output || compared), >= 0 (Kullback, 1997), of probabilities of at least 1e-12.  Mukherjee et
    al. (2025, Tables 1 and 8) do not say which of the two comes first; the other order is a
    different number.  Otherwise as :class:`StyleEmd`.
    """

    name = "style-kl"

    def fields(self) -> dict[str, object]:
        return {"order": "output-from-compared", "floor": FLOOR}

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        return divergence(_floored(output), _floored(other))


class StyleJs(StyleEmd):
    """Jensen-Shannon divergence of two style distributions, in bits, in [0, 1] (Lin, 1991).

    Symmetric; otherwise as :class:`StyleEmd`.
    """

    name = "style-js"

    def fields(self) -> dict[str, object]:
        return {"base": 2}

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        middle = (output + other) / 2
        return (divergence(output, middle) + divergence(other, middle)) / 2 / math.log(2)


class StyleCosine(StyleEmd):
    """Cosine of two style distributions, in [0, 1]: 1 = the same styles.

    Against the source less is better, against references more (Mukherjee et al., 2025, Tables 1 and
    8).  It has no direction.
    """

    name = "style-cosine"
    higher_is_better = False
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    OPTIONS: ClassVar[dict[str, tuple[str, ...]]] = {}

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        length = math.sqrt(float(output @ output) * float(other @ other))
        return min(1.0, float(output @ other) / length)


class StyleRegressor(StyleConfidence):
    """How strong the target style is, as a regressor of style says; higher is stronger.

    In the unit of the regressor's training; where the target is the style of low values, the value
    is mirrored in the middle of the scale.  A blank output has the weakest value.  R-PT16 of Lai et
    al. (2023) is such a model, fine-tuned on ratings of formality.
    """

    name = "style-regressor"
    VARIANTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: str = "", *, device: str = "auto"):
        self._judge = Judge(words, {}, "embedded-strength", device)
        _named(self, words, self._judge)

    def values(self, requests: Sequence[Request]) -> Sequence[Answer]:
        """One score a request."""
        found = self._judge.strengths([(one.output, one.style) for one in requests])
        return [found[one.output, one.style] for one in requests]


def divergence(first: np.ndarray, second: np.ndarray) -> float:
    """D(first || second) in nats; what has no probability in the first adds nothing."""
    some = first > 0
    return max(0.0, float((first[some] * np.log(first[some] / second[some])).sum()))


def _floored(distribution: np.ndarray) -> np.ndarray:
    raised = np.maximum(distribution, FLOOR)
    return raised / raised.sum()
