"""What a model of style says of texts: the part that all metrics of style share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from ..models import classifiers
from ..schema import Status, TstmetaError
from .base import Score
from .batched import failed, identity_of
from .variants import parse

#: What data sets call the styles of models that others trained.
_WORDINGS = {
    "s-nlp/roberta_toxicity_classifier": dict.fromkeys(
        ("non-toxic", "detoxified", "neutral"), "neutral"
    )
}


class TextStyle(NamedTuple):
    """A text's distribution over the styles of a task, the place of the target, what was cut."""

    styles: np.ndarray
    target: int
    cut: str
    blank: bool


class Styles:
    """The model that words name, and its answers about texts."""

    def __init__(self, words: str, options: Mapping[str, tuple[str, ...]], default: str):
        renamed = [word.split("=", 1) for word in words.split("+") if "=" in word]
        if not all(map(all, renamed)):
            raise TstmetaError(f"{words!r}: give both styles, the model's first: LABEL_1=positive")
        rest = "+".join(word for word in words.split("+") if "=" not in word)
        model, self.chosen = parse(rest, options, classifiers.MODELS)
        self.model = model or classifiers.MODELS[default]
        self._refuse_the_other_kind(default == "embedded-strength")
        self.wordings = {**_WORDINGS.get(self.model.where, {}), **{own: k for k, own in renamed}}

    def _refuse_the_other_kind(self, regression: bool) -> None:
        """A regressor where a classifier is needed; of models of others it shows when loaded."""
        path = classifiers.ours(self.model)
        if path is None or self.missing:
            return
        if classifiers.read_about(path).regression != regression:
            remedy = classifiers.CLASSIFIER if regression else classifiers.REGRESSOR
            raise TstmetaError(f"{self.model.name}: {remedy}")

    @property
    def missing(self) -> str:
        return classifiers.missing(self.model)

    def fields(self) -> dict[str, object]:
        called = {f"called:{theirs}": own for theirs, own in sorted(self.wordings.items())}
        libraries = {package: version(package) for package in classifiers.packages(self.model)}
        model = identity_of(self.model, classifiers.identity)
        return {"model": model, **self.chosen, **called, **libraries}

    def _loaded(self) -> classifiers.StyleModel:
        return classifiers.StyleModel(classifiers.load(self.model), self.wordings)

    def distributions(
        self, texts: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], TextStyle | Score]:
        """Of each (text, target style) the distribution; an error where the style is unknown."""
        model = self._loaded()
        return self._answers(texts, model, model.probabilities)

    def strengths(self, texts: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Score]:
        """Of each (text, target style) a regressor's value, higher towards the target."""
        model = self._loaded()
        answers = self._answers(texts, model, model.strengths)
        for key, answer in answers.items():
            if isinstance(answer, TextStyle):
                task = model.about.tasks[model.place(key[1])[0]]
                low, high = task.values
                value = low if answer.blank else float(answer.styles)
                if not answer.blank and answer.target < len(task.styles) - 1:
                    value = low + high - value
                answers[key] = style_score(value, answer)
        return answers

    def _answers(
        self,
        texts: Sequence[tuple[str, str]],
        model: classifiers.StyleModel,
        ask: Callable[[Sequence[str], int], classifiers.Estimates],
    ) -> dict[tuple[str, str], Any]:
        answers: dict[tuple[str, str], Any] = {}
        by_task: dict[int, dict[str, list[tuple[str, int]]]] = {}
        for text, style in dict.fromkeys(texts):
            try:
                task, target = model.place(style)
            except TstmetaError as error:
                answers[text, style] = failed(error)
                continue
            if text.strip():
                by_task.setdefault(task, {}).setdefault(text, []).append((style, target))
            else:
                # nothing of the target style, and the rest shared alike
                count = len(model.about.tasks[task].styles)
                shares = np.full(count, 1 / max(1, count - 1))
                shares[target] = 0
                answers[text, style] = TextStyle(shares, target, "", True)
        for task, every in by_task.items():
            judged = ask(list(every), task)
            for row, cut, (text, styles) in zip(*judged, every.items(), strict=True):
                for style, target in styles:
                    answers[text, style] = TextStyle(row, target, cut, False)
        return answers


def style_score(value: float, *texts: TextStyle) -> Score:
    """A value with the status of the texts that it is made of."""
    if any(text.blank for text in texts):
        return Score(value, Status.EMPTY, "empty text")
    cut = next((text.cut for text in texts if text.cut), "")
    return Score(value, Status.TRUNCATED if cut else Status.OK, cut)
