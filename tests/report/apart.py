"""A metric of two directions: far from the source is good, and so is near a reference."""

from __future__ import annotations

from tstmeta.metrics import PairMetric, Request

NAME = "tests.report.apart:Apart"


class Apart(PairMetric):
    """Difference of the lengths in characters, of the nearest text."""

    name = NAME
    turned = ("reference",)

    def value(self, request: Request) -> float:
        return float(min(abs(len(request.output) - len(text)) for text in request.against))
