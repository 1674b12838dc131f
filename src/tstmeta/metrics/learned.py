"""Metrics that were trained on human judgements: BLEURT and COMET.

BLEURT (Sellam et al., 2020) runs here through transformers.  COMET (Rei et al., 2020) does not: its
package asks for older libraries than ours, so its scores come from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from ..models import hub, pairs
from ..models.causal import Backbone, MissingModel
from ..schema import Signature, Status
from .base import Score
from .batched import BatchedMetric, Pair
from .variants import parse

_ABOUT = "Sellam et al. (2020), converted to PyTorch"
#: BLEURT's models; the first is that of Pauli et al. (2025).
MODELS = {
    one.name: one
    for one in (
        Backbone(
            "bleurt-large-512",
            "Elron/bleurt-large-512",
            "00397b0917e464c5ca1a45db156d0b836cd65e97",
            parameters=335,
            about=_ABOUT,
        ),
        Backbone("bleurt-base-512", "Elron/bleurt-base-512", parameters=109, about=_ABOUT),
        Backbone("bleurt-base-128", "Elron/bleurt-base-128", parameters=109, about=_ABOUT),
        Backbone("bleurt-tiny-512", "Elron/bleurt-tiny-512", about=_ABOUT),
    )
}


class Bleurt(BatchedMetric):
    """BLEURT (Sellam et al., 2020): what raters would say of a text beside a reference.

    About 0 to 1 and not bounded by either.  The text compared with comes first, the output second,
    and together they fill one window.

    Args:
        words: ``bleurt-base-128`` or another of :data:`MODELS`, a model of a hub, or a folder.
        model: the model as an object; it wins over words.
        device: ``auto``, ``cpu``, ``cuda``, ...

    Raises:
        TstmetaError: words that name nothing.
    """

    name = "bleurt"
    languages = ("en",)
    profile = "real"
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = tuple(MODELS)[1:]

    def __init__(self, words: str = "", *, model: Backbone | None = None, device: str = "auto"):
        named, _ = parse(words, {}, MODELS)
        self.model = model or named or next(iter(MODELS.values()))
        self.name = f"bleurt:{words}" if words else "bleurt"
        self._device = device

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        return absent(self.model, "bleurt:FOLDER", "AutoModelForSequenceClassification", MODELS)

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        return {
            "model": called(self.model),
            "refs": "max",
            "dtype": "float32",
            "transformers": release("transformers"),
        }

    def pairs(self, pairs_: Sequence[Pair]) -> list[Score]:
        """One score a pair of (text compared with, output).

        Raises:
            MissingModel: the model is not here, or gives more than one number a pair, as no BLEURT
                does.
        """
        model = pairs.load(self.model, device=self._device)
        if model.labels != 1:
            raise MissingModel(
                f"{self.model.where} gives {model.labels} numbers a pair and BLEURT one; name a "
                "model that was trained as a regressor"
            )
        judged = model.judge(pairs_, progress=self._progress)
        return [
            cut(Score(float(value)), int(tokens), model.window)
            for value, tokens in zip(judged.logits[:, 0], judged.tokens, strict=True)
        ]


class Comet(BatchedMetric):
    """COMET (Rei et al., 2020): never computed here, known so that its scores have a place.

    The package unbabel-comet needs transformers 4 and numpy 1, which cannot stand beside ours.
    """

    languages = ()
    profile = "real"
    max_tokens = None

    def __init__(self, name: str, model: str):
        self.name, self.model = name, model

    @property
    def missing(self) -> str:
        return (
            f"{self.name} is not computed here, for its package needs older libraries: run "
            f"{self.model} with unbabel-comet in an environment of its own and bring the file with "
            f"tstmeta evaluate --scores comet.csv (columns item_id, metric, value); of the data "
            f"set lai the released scores are there as released:{self.name}"
        )

    def fields(self) -> dict[str, object]:
        return {"model": self.model}

    def pairs(self, pairs_: Sequence[Pair]) -> list[Score]:
        """Never answers.

        Raises:
            MissingModel: always; says how to bring scores.
        """
        raise MissingModel(self.missing)


def comet_20() -> Comet:
    """COMET as submitted to WMT 2020, estimator trained on direct assessments."""
    return Comet("comet-20", "Unbabel/wmt20-comet-da")


def comet_22() -> Comet:
    """COMET as submitted to WMT 2022."""
    return Comet("comet-22", "Unbabel/wmt22-comet-da")


# ------------------------------------------------------------- what metrics with a model share


def absent(model: Backbone, example: str, kind: str, pickled: dict[str, Backbone]) -> str:
    """What to do when a model is not here; empty when it is.

    Args:
        example: how the metric is asked for with a folder.
        kind: the class of transformers that reads the model.
        pickled: models whose upstream offers weights as pickles only, which are never read.
    """
    if lacking := hub.lacking("torch", "transformers"):
        return lacking
    if hub.here(model):
        return ""
    if model not in pickled.values():
        return f"{model.where} is not here: {hub.remedy(model)}"
    return (
        f"{model.where} is not here, and upstream's weights are pickles, which are never read: "
        f"convert them to safetensors elsewhere, once ({kind}.from_pretrained(...)"
        f".save_pretrained(FOLDER), and AutoTokenizer likewise, which writes tokenizer.json), then "
        f"name the folder: {example}"
    )


def called(model: Backbone) -> str:
    """What a model is, for a signature; a folder without weights is ``missing``."""
    try:
        return hub.identity(model)
    except MissingModel:  # scoring tells it, row by row
        return f"{Path(model.where).name}@missing"


def signed(metric: BatchedMetric, basis: str) -> Signature:
    """A signature under the bare name: words may be a path, which says less than a hash."""
    limit = {} if metric.max_tokens is None else {"max_tokens": metric.max_tokens}
    stem = metric.name.partition(":")[0]
    return Signature.of(stem, {"basis": basis, **metric.fields(), **limit})


def release(package: str) -> str:
    """The version of a package; ``none`` where it is not installed."""
    return version(package) if find_spec(package) else "none"


def cut(score: Score, tokens: int, window: int) -> Score:
    """A score that says so when its text was longer than the model's window."""
    if tokens <= window or score.status is not Status.OK:
        return score
    said = f"{tokens} tokens, first {window} used"
    detail = f"{said}; {score.detail}" if score.detail else said
    return score._replace(status=Status.TRUNCATED, detail=detail)
