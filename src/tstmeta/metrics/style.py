"""Style strength by a model of style: accuracy, confidence, distances.

The plain names cover English toxicity (toxic, non-toxic), sentiment (negative, positive) and
formality (informal, formal); another style is refused, as is one that a model named instead does
not know.  A blank text has probability 0 of the target style, the rest is shared alike.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ..models import classifiers, hub
from ..schema import Status, TstmetaError
from .base import CorpusMetric, Request, Score, failed, installed, scored
from .batched import ModelMetric
from .settings import SEPARATOR, ModelSettings

#: Probabilities below this count as this in a divergence, which would else have no bound.
FLOOR = 1e-12
#: What data sets call the styles of models that others trained.
_WORDINGS = {
    "s-nlp/roberta_toxicity_classifier": dict.fromkeys(
        ("non-toxic", "detoxified", "neutral"), "neutral"
    )
}


class TextStyle(NamedTuple):
    """What a model says of a text."""

    styles: np.ndarray  # distribution over the styles of the task
    target: int  # place of the target style
    cut: str = ""
    blank: bool = False


class StyleSettings(ModelSettings, extra="allow"):
    """A model; ``LABEL_1=positive+LABEL_1=good`` says which styles of the data its label is."""


class DistanceSettings(StyleSettings):
    """A model, and whether a distance has a sign."""

    sign: Literal["none", "directed"] = "none"


class StyleConfidence(ModelMetric):
    """Probability of the target style, in [0, 1] (Mukherjee et al., 2025, Table 1)."""

    name = "style-confidence"
    dimensions = ("style",)
    bases: tuple[str, ...] = ("none",)
    limits: tuple[float, float] = (0.0, 1.0)
    accepts_empty = True
    VARIANTS: ClassVar[tuple[str, ...]] = ("toxicity",)
    models: ClassVar = classifiers.MODELS
    default = "embedded"
    Settings: ClassVar[type[StyleSettings]] = StyleSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.directed = getattr(self.settings, "sign", "none") == "directed"
        called = self.settings.model_extra.items()
        renamed = {style: label for label, text in called for style in SEPARATOR.split(text)}
        #: What the data call a style -> what the model calls it.
        self.wordings = {**_WORDINGS.get(self.model.where, {}), **renamed}

    @property
    def missing(self) -> str:
        return classifiers.missing(self.model)

    def fields(self) -> dict[str, object]:
        called = {f"called:{style}": label for style, label in sorted(self.wordings.items())}
        libraries = {package: installed(package) for package in classifiers.packages(self.model)}
        directed = {"direction": "directed"} if self.directed else {}
        facts = {**super().fields(), "model": hub.identity(self.model)}
        return {**facts, **directed, **called, **libraries}

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        texts: dict[str, dict[str, None]] = {}
        for r in requests:
            texts.setdefault(r.style, {}).update(dict.fromkeys((r.output, *r.against)))
        known = {style: self._read(list(distinct), style) for style, distinct in texts.items()}
        return [self._answer(r, known[r.style]) for r in requests]

    def _answer(self, request: Request, known: Mapping[str, TextStyle] | Score) -> Score:
        if isinstance(known, Score):
            return known
        output, *others = (known[text] for text in (request.output, *request.against))
        value, other = self.compared(output, others)
        if output.blank or other.blank:
            return Score(value, Status.EMPTY, "empty text")
        return scored(value, output.cut or other.cut)

    def compared(self, output: TextStyle, texts: list[TextStyle]) -> tuple[float, TextStyle]:
        """The metric, and which of the texts compared with it comes from."""
        return self.strength(output), output

    def strength(self, text: TextStyle) -> float:
        """The metric of one text."""
        return float(text.styles[text.target])

    def _read(self, texts: list[str], style: str) -> Mapping[str, TextStyle] | Score:
        """What the model says of texts; a score without a value if it knows no such style."""
        model = classifiers.load(self.model)
        try:
            number, target = model.place(style, self.wordings)
        except classifiers.UnknownStyle as error:
            return Score(math.nan, Status.REFUSED, str(error))
        except TstmetaError as error:
            return failed(error)
        task = model.about.tasks[number]
        shares = np.full(len(task.styles), 1 / max(1, len(task.styles) - 1))
        shares[target] = 0
        blank = TextStyle(shares, target, blank=True)
        full = [text for text in texts if text.strip()]
        estimates = model.probabilities(full, number) if full else ()
        rows = (TextStyle(row, target, cut) for row, cut in zip(*estimates, strict=True))
        return dict.fromkeys(texts, blank) | dict(zip(full, rows, strict=True))


class StyleAccuracy(StyleConfidence, CorpusMetric):
    """Share of outputs that a model of style takes for the target style, in [0, 1].

    "Sentence accuracy" of Mukherjee et al. (2025, Table 1), Acc of Pang and Gimpel (2019) when the
    model is a TextCNN.  A tie and a blank output count 0.  Statistics: right outputs, outputs.
    """

    name = "style-accuracy"

    def strength(self, text: TextStyle) -> float:
        rest = np.delete(text.styles, text.target)
        return float(len(rest) > 0 and text.styles[text.target] > rest.max())

    def _answer(self, request: Request, known: Mapping[str, TextStyle] | Score) -> Score:
        hit = super()._answer(request, known)
        return hit._replace(detail=json.dumps([hit.value, 1.0])) if hit.status.has_value else hit

    def aggregate(self, total: np.ndarray) -> float:
        return float(total[0] / total[1]) if total[1] else math.nan


class StyleEmd(StyleConfidence):
    """Earth mover's distance of two texts' style distributions, in [0, 1].

    Styles are as far apart as any: then it is half of the summed differences (Rubner et al., 2000;
    Mir et al., 2019).  Against the source more is better; against references less, and the nearest
    counts.  ``directed``: negative where the output is less probably in the target style.
    """

    name = "style-emd"
    bases = ("source", "reference")
    facts = "refs:nearest"
    VARIANTS: ClassVar[tuple[str, ...]] = ("directed",)
    Settings: ClassVar[type[StyleSettings]] = DistanceSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        # with a direction more is stronger style, whatever the other text is
        self.flipped_bases = () if self.directed else ("reference",)
        self.limits = (-self.limits[1] * self.directed, self.limits[1])

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        """The distance of two distributions [k]."""
        return float(np.abs(output - other).sum() / 2)

    def compared(self, output: TextStyle, texts: list[TextStyle]) -> tuple[float, TextStyle]:
        measured = [(self.measure(output.styles, text.styles), text) for text in texts]
        best = min if self.higher_is_better else max  # a distance, or a similarity
        value, other = best(measured, key=lambda pair: pair[0])
        towards = output.styles[output.target] >= other.styles[output.target]
        return value if towards or not self.directed else -value, other


class StyleKl(StyleEmd):
    """Kullback-Leibler divergence of the output's style distribution from the other's, in nats.

    D(output || compared), >= 0 (Kullback, 1997), of probabilities of at least 1e-12.
    """

    name = "style-kl"
    limits = (0.0, -math.log(FLOOR))
    facts = f"refs:nearest order:output-from-compared floor:{FLOOR}"

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        first, second = (np.maximum(side, FLOOR) for side in (output, other))
        return divergence(first / first.sum(), second / second.sum())


class StyleJs(StyleEmd):
    """Jensen-Shannon divergence of two style distributions, in bits, in [0, 1] (Lin, 1991)."""

    name = "style-js"
    facts = "refs:nearest base:2"

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        middle = (output + other) / 2
        return (divergence(output, middle) + divergence(other, middle)) / 2 / math.log(2)


class StyleCosine(StyleEmd):
    """Cosine of two style distributions, in [0, 1]: against the source less is better."""

    name = "style-cosine"
    higher_is_better = False
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    Settings = StyleSettings

    def measure(self, output: np.ndarray, other: np.ndarray) -> float:
        length = math.sqrt(float(output @ output) * float(other @ other))
        return min(1.0, float(output @ other) / length)


def divergence(first: np.ndarray, second: np.ndarray) -> float:
    """D(first || second) in nats; what has no probability in the first adds nothing."""
    first, second = first[first > 0], second[first > 0]
    return max(0.0, float((first * np.log(first / second)).sum()))
