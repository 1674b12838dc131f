"""A metric as an ``evaluate.Metric``; see :mod:`.adapters`."""

from typing import Any

import evaluate
from datasets import Features, Value

from ..metrics import Metric
from ..schema import TstmetaError
from . import adapters


class EvaluateMetric(evaluate.Metric):
    """Made by :func:`tstmeta.adapter`."""

    def __init__(self, metric: Metric, basis: str):
        self.metric, self.basis = metric, basis
        super().__init__()
        self.info.module_name = metric.name  # what evaluate.combine calls it

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=f"{self.metric.name}, made for {', '.join(self.metric.dimensions)}",
            citation="",
            features=Features({"predictions": Value("string")}),
        )

    def _build_data_dir(self) -> str:
        return ""  # nothing is kept on disk

    def add_batch(self, **_: Any) -> None:
        """Refused: the library would keep the predictions alone, in a file."""
        raise TstmetaError(f"{self.metric.name} takes all items at once: give them to compute")

    add = add_batch

    def compute(self, *, predictions: Any = None, references: Any = None, **others: Any) -> dict:
        """The value of predictions with references, sources, styles or languages."""
        if predictions is None or not others.keys() <= {"sources", "styles", "languages"}:
            known = "predictions, references, sources, styles, languages"
            raise TstmetaError(f"{self.name} takes {known}; predictions must be given")
        given = {"references": references, **others}
        table, _ = adapters.scored(self.metric, self.basis, predictions, **given)
        usable = adapters.usable(table)
        if usable.empty:
            why = (
                "there is no item" if table.empty else ", ".join(table.loc[0, ["status", "detail"]])
            )
            raise TstmetaError(f"{self.metric.name}: no item has a value: {why}")
        total = adapters.parts(self.metric, usable)
        return {
            self.metric.name: adapters.value(self.metric, total, len(usable)),
            "items": usable["value"].reindex(table.index).tolist(),
            "statuses": table["status"].tolist(),
            "n": len(usable),
            "n_failed": len(table) - len(usable),
            "signature": " + ".join(table["signature"].unique()),
        }
