"""A metric as a ``torchmetrics.Metric``; its states are sums, see :mod:`.adapters`."""

from typing import Any

import torch
import torchmetrics
from torch import Tensor, tensor

from ..metrics import Metric
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
        others = {"references": target, "sources": sources, "styles": styles}
        table, self.basis = adapters.scored(  # the basis holds from the first batch on
            self.metric, self.basis, preds, **others, languages=languages
        )
        usable = adapters.usable(table)
        self.n = self.n + len(usable)
        self.n_failed = self.n_failed + len(table) - len(usable)
        if len(usable):
            more = torch.as_tensor(adapters.parts(self.metric, usable)).to(self.total)
            self.size = torch.clamp(self.size, min=len(more))
            self.total[: len(more)] += more

    def compute(self) -> Tensor:
        """The value over all batches; NaN where no item has one."""
        total = self.total[: self.size].cpu().numpy()
        return self.total.new_tensor(adapters.value(self.metric, total, int(self.n)))
