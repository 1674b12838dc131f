"""Metrics that were trained on human judgements: BLEURT and COMET."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from ..extras import lacking
from ..models import classifiers, hub
from ..models.causal import ENGLISH, Backbone, MissingModel
from .base import Score, cut_note, scored
from .batched import BatchedMetric, ModelMetric, Pair

#: The model of Pauli et al. (2025), converted to PyTorch.
BLEURT = Backbone(
    "bleurt-large-512",
    "Elron/bleurt-large-512",
    "00397b0917e464c5ca1a45db156d0b836cd65e97",
    languages=ENGLISH,
)


class Bleurt(ModelMetric):
    """BLEURT (Sellam et al., 2020): what raters would say of a text beside a reference.

    About 0 to 1 and not bounded by either.  Both texts, the output second, fill one window.
    """

    name = "bleurt"
    models: ClassVar = {BLEURT.name: BLEURT}
    default = BLEURT.name
    facts = "refs:max dtype:float32 transformers"

    @property
    def missing(self) -> str:
        return absent(self.model, "bleurt:FOLDER", BLEURT)

    def fields(self) -> dict[str, object]:
        return {"model": hub.identity(self.model), **super().fields()}

    def pairs(self, pairs_: Sequence[Pair]) -> list[Score]:
        model: Any = classifiers.load(self.model)
        if (labels := len(model.about.tasks[0].styles)) != 1:
            raise MissingModel(
                f"{self.model.where} gives {labels} numbers a pair and BLEURT one; name a regressor"
            )
        logits, tokens = model.judge(*zip(*pairs_, strict=True))
        return [
            scored(float(value), cut_note(length, model.window))
            for value, length in zip(logits[:, 0], tokens, strict=True)
        ]


class Elsewhere(BatchedMetric):
    """A metric that is never computed here; scores that a file brings have a place."""

    profile = "real"
    #: Why, and what to do instead.
    how: str = ""

    @property
    def missing(self) -> str:
        return (
            f"{self.name} is not computed here, for {self.how} and bring the file with tstmeta "
            "evaluate --scores FILE.csv (columns item_id, metric, value)"
        )


class Comet(Elsewhere):
    """COMET (Rei et al., 2020), of which scores were released with the data set lai."""

    def __init__(self, name: str, model: str):
        self.name, self.facts = name, f"model:{model}"
        self.how = (
            f"its package needs older libraries (of the data set lai released:{name} is there): "
            f"run {model} with unbabel-comet in an environment of its own"
        )


#: COMET as submitted to WMT 2020 (estimator trained on direct assessments), and to WMT 2022.
comet_20 = partial(Comet, "comet-20", "Unbabel/wmt20-comet-da")
comet_22 = partial(Comet, "comet-22", "Unbabel/wmt22-comet-da")


def absent(model: Backbone, example: str, *pickled: Backbone) -> str:
    """What to do when a model is not here; of ``pickled`` ones upstream offers pickles only."""
    if packages := lacking("torch", "transformers"):
        return packages
    if hub.here(model):
        return ""
    if model not in pickled:
        return hub.absent(model)
    return (
        f"{model.where} is not here, and upstream's weights are pickles, which are never read: "
        "convert them to safetensors elsewhere, once (from_pretrained, then save_pretrained, of "
        f"model and tokenizer), then name the folder: {example}"
    )
