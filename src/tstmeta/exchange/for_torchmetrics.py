"""A metric as a ``torchmetrics.Metric``; its states are sums, see :mod:`.adapters`."""

from typing import Any

import torch
import torchmetrics
from torch import Tensor, tensor

from ..metrics import Metric, Score
from ..metrics.base import more_is_better
from . import adapters

#: Most additive statistics of a metric; a process without a batch has to know the shape, too.
MOST = 64


class TorchMetric(torchmetrics.Metric):
    """Made by :func:`tstmeta.adapter`."""

    is_differentiable = False
    full_state_update = False
    total: Tensor
    size: Tensor
    n: Tensor
    n_failed: Tensor

    def __init__(self, metric: Metric, basis: str):
        super().__init__()
        self.metric, self.basis = metric, basis
        self.failed: list[Score] = []
        self.in_step = False
        for name in ("n", "n_failed"):
            self.add_state(name, tensor(0), dist_reduce_fx="sum")
        self.add_state("total", torch.zeros(MOST, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("size", tensor(0), dist_reduce_fx="max")
        # A collection updates metrics whose states are equal as one: these tell them apart.
        own = bytes.fromhex(metric.signature(basis or metric.bases[0]).hash)
        self.add_state("identity", tensor([*own, len(basis)]), dist_reduce_fx="max")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        return more_is_better(self.metric, self.basis or self.metric.bases[0])

    def update(
        self,
        preds: Any,
        target: Any = None,
        sources: Any = None,
        styles: Any = None,
        languages: Any = None,
    ) -> None:
        """Add a batch: predictions, references as ``target``, and what else the metric needs."""
        others = {"sources": sources, "styles": styles, "languages": languages}
        given = adapters.columns(preds, references=target, **others)
        self.basis = adapters.chosen(self.metric, self.basis, given)  # from then on
        scores, _ = adapters.scored(self.metric, self.basis, given)
        usable = [score for score in scores if score.status.has_value]
        self.n = self.n + len(usable)
        self.n_failed = self.n_failed + len(scores) - len(usable)
        if usable:
            more = torch.as_tensor(adapters.parts(self.metric, usable)).to(self.total)
            self.size = torch.clamp(self.size, min=len(more))
            self.total[: len(more)] += more
        else:
            self.failed = scores

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch and give its own value: NaN where no item of it has one, so a run goes on."""
        self.in_step = True
        try:
            return super().forward(*args, **kwargs)
        finally:
            self.in_step = False

    def compute(self) -> Tensor:
        """The value over all batches."""
        if self.in_step and not self.n:
            return self.total[0] * torch.nan
        total = self.total[: self.size].cpu().numpy()
        value = adapters.value(self.metric, total, int(self.n), self.failed)
        return self.total.new_tensor(value)
