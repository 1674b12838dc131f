"""A metric as an ``evaluate.Metric``; see :mod:`.adapters`.

Batches stay in memory, so that references, sources, styles and languages may be given or not.
"""

import math
from typing import Any

import evaluate
from datasets import Features, Sequence, Value

from ..metrics import Metric
from ..schema import TstmetaError
from . import adapters


class EvaluateMetric(evaluate.Metric):
    """Made by :func:`tstmeta.adapter`."""

    def __init__(self, metric: Metric, basis: str):
        self.metric, self.basis, self.given = metric, basis, dict[str, list]()
        super().__init__()
        self.info.module_name = metric.name  # what evaluate.combine calls it

    def _info(self) -> evaluate.MetricInfo:
        # The columns that add and add_batch of evaluate.combine() pass on, and no other
        needs = {"predictions", adapters.NEEDS[self.basis or "reference"]}
        kinds = {"references": Sequence(Value("string"))}
        return evaluate.MetricInfo(
            description=f"{self.metric.name}, made for {', '.join(self.metric.dimensions)}",
            citation="",
            features=Features({name: kinds.get(name, Value("string")) for name in sorted(needs)}),
        )

    def _build_data_dir(self) -> str:
        return ""  # nothing is kept on disk

    def add(self, *, prediction: Any = None, reference: Any = None, **others: Any) -> None:
        """Add an item; see :meth:`add_batch`."""
        item = {"predictions": prediction, "references": reference, **others}
        self.add_batch(**{name: [value] for name, value in item.items() if value is not None})

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Add items: predictions, and references, sources, styles, languages; all a value each."""
        if predictions is None or not others.keys() <= {"sources", "styles", "languages"}:
            known = "predictions, references, sources, styles, languages"
            raise TstmetaError(f"{self.name} takes {known}; predictions must be given")
        batch = adapters.columns(predictions, references=references, **others)
        if self.given and batch.keys() != self.given.keys():
            raise TstmetaError(
                f"this batch has {', '.join(batch)}; before: {', '.join(self.given)}"
            )
        for name, values in batch.items():
            self.given.setdefault(name, []).extend(values)

    def compute(self, *, predictions: Any = None, references: Any = None, **others: Any) -> dict:
        """The value of what is given here and was added before; then it starts anew."""
        if predictions is not None or not self.given:
            self.add_batch(predictions=predictions, references=references, **others)
        given, self.given = self.given, {}
        basis = adapters.chosen(self.metric, self.basis, given)
        scores, signature = adapters.scored(self.metric, basis, given)
        usable = [score for score in scores if score.status.has_value]
        total = adapters.parts(self.metric, usable)
        return {
            self.metric.name: adapters.value(self.metric, total, len(usable), scores),
            "items": [float(s.value) if s.status.has_value else math.nan for s in scores],
            "statuses": [str(score.status) for score in scores],
            "n": len(usable),
            "n_failed": len(scores) - len(usable),
            "signature": signature,
        }
