"""What notebook 12 calls: which metrics say the same, and how their values are spread."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from . import heatmaps, html
from .bench import Bench
from .chapters import allowed, present

#: What is shown unless another data set is asked for: ordinary output, and sets built to be hard.
SHOWN = ("mir", "lai@pauli2025", "pauli", "contrast")
_LEGEND = (
    "<p class='tst-legend'><span class='tst-scale'></span> from −1 (opposite) over 0"
    " (no relation) to 1 (the same) · × no value · ↓ less is better</p>"
)


class Alike:
    """The chapter for the parameters of its notebook."""

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        *,
        statistic: str = "spearman",
        profile: str = "embedded",
    ):
        self.bench, self.statistic = bench, statistic
        self.metrics = allowed(metrics, profile)
        self.sets: list[Dataset] = (
            present(bench, SHOWN) if dataset == "auto" else [bench.dataset(dataset)]
        )

    def maps(self) -> html.Html:
        """A heat map of metrics against metrics a data set, and what its colours mean."""
        made = _joined([heatmaps.heat_map(found) for found in self._found()])
        return html.Html(f"{_LEGEND}\n{made.text}") if made.text else made

    def said(self) -> Markdown:
        """Which metrics are most alike on each data set, and which are nearest to people."""
        return Markdown("\n".join(f"- {heatmaps.told(one)}" for one in self._found()))

    def spreads(self) -> html.Html:
        """How the values of each metric are spread, on the first and the last data set."""
        ends = {one.name: one for one in (self.sets[0], self.sets[-1])}
        return _joined([heatmaps.distributions(one, self._scores(one)) for one in ends.values()])

    def _found(self) -> list[heatmaps.Correlations]:
        return [
            heatmaps.correlations(one, self._scores(one), statistic=self.statistic)
            for one in self.sets
        ]

    def _scores(self, data: Dataset) -> pd.DataFrame:
        return self.bench.table(data, self.metrics, ["source", "none"])


def _joined(parts: Sequence[html.Html | Markdown]) -> html.Html:
    return html.Html("\n".join(one.text for one in parts if isinstance(one, html.Html)))
