"""What a model of style says of texts: the part that all metrics of style share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..models import classifiers
from ..models.causal import Backbone, MissingModel
from ..schema import Status, TstmetaError
from .base import Score
from .variants import parse

#: What data sets call the styles of models that others made.
_CALLED = {
    "s-nlp/roberta_toxicity_classifier": {
        **dict.fromkeys(("non-toxic", "detoxified", "neutral"), "neutral"),
    }
}


class Seen(NamedTuple):
    """A text's distribution over the styles of a task, the place of the target, what was cut."""

    styles: np.ndarray
    target: int
    cut: str
    blank: bool


class Judge:
    """The model that words name, and its answers about texts."""

    def __init__(
        self, words: str, options: Mapping[str, tuple[str, ...]], default: str, device: str
    ):
        parts = words.split("+") if words else []
        renamed = [word.split("=", 1) for word in parts if "=" in word]
        if not all(map(all, renamed)):
            raise TstmetaError(f"{words!r}: give both styles, the model's first: LABEL_1=positive")
        rest = "+".join(word for word in parts if "=" not in word)
        model, self.chosen = parse(rest, options, classifiers.MODELS)
        self.model = model or classifiers.MODELS[default]
        called = {theirs: own for own, theirs in renamed}
        if wrong := _other_kind(self.model, default == "embedded-strength"):
            raise TstmetaError(f"{self.model.name}: {wrong}")
        self.wordings = {**_CALLED.get(self.model.where, {}), **called}
        self._device = device

    @property
    def missing(self) -> str:
        return classifiers.missing(self.model)

    def fields(self) -> dict[str, object]:
        try:
            name = classifiers.identity(self.model)
        except MissingModel:  # a folder without weights: scoring tells it, row by row
            name = f"{Path(self.model.where).name}@missing"
        called = {f"called:{theirs}": own for theirs, own in sorted(self.wordings.items())}
        libraries = {package: version(package) for package in classifiers.packages(self.model)}
        return {"model": name, **self.chosen, **called, **libraries}

    def loaded(self) -> classifiers.StyleModel:
        return classifiers.StyleModel(classifiers.load(self.model, self._device), self.wordings)

    def see(self, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Seen | Score]:
        """Of each (text, target style) the distribution; an error where the style is unknown."""
        model = self.loaded()
        return self._answers(asked, model, model.probabilities)

    def strengths(self, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Score]:
        """Of each (text, target style) a regressor's value, higher towards the target."""
        model = self.loaded()
        found = {}
        for key, seen in self._answers(asked, model, model.strengths).items():
            if isinstance(seen, Seen):
                task = model.about.tasks[model.place(key[1])[0]]
                low, high = task.values
                value = low if seen.blank else float(seen.styles)
                if not seen.blank and seen.target < len(task.styles) - 1:
                    value = low + high - value
                seen = scored(value, seen)
            found[key] = seen
        return found

    def _answers(
        self,
        asked: Sequence[tuple[str, str]],
        model: classifiers.StyleModel,
        ask: Callable[[Sequence[str], int], classifiers.Estimates],
    ) -> dict[tuple[str, str], Any]:
        found: dict[tuple[str, str], Any] = {}
        by_task: dict[int, dict[str, list[tuple[str, int]]]] = {}
        for text, style in dict.fromkeys(asked):
            try:
                task, target = model.place(style)
            except TstmetaError as error:
                found[text, style] = Score(math.nan, Status.ERROR, str(error))
                continue
            if text.strip():
                by_task.setdefault(task, {}).setdefault(text, []).append((style, target))
            else:
                count = len(model.about.tasks[task].styles)
                found[text, style] = Seen(_nothing(target, count), target, "", True)
        for task, texts in by_task.items():
            judged = ask(list(texts), task)
            for row, cut, (text, styles) in zip(*judged, texts.items(), strict=True):
                for style, target in styles:
                    found[text, style] = Seen(row, target, cut, False)
        return found


def _other_kind(model: Backbone, regression: bool) -> str:
    """What is said of a model of ours that is of the other kind; of others it shows when loaded."""
    path = classifiers.ours(model)
    if path is None or classifiers.missing(model):
        return ""
    found = classifiers.read_about(path).regression
    told = classifiers.REGRESSOR if found else classifiers.CLASSIFIER
    return "" if found == regression else told


def _nothing(target: int, count: int) -> np.ndarray:
    """The distribution of a text that shows nothing of the target style."""
    shared = np.full(count, 1 / max(1, count - 1))
    shared[target] = 0
    return shared


def scored(value: float, *seen: Seen) -> Score:
    """A value with the status of the texts that it is made of."""
    if any(one.blank for one in seen):
        return Score(value, Status.EMPTY, "empty text")
    cut = next((one.cut for one in seen if one.cut), "")
    return Score(value, Status.TRUNCATED if cut else Status.OK, cut)
