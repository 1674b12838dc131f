"""What the chapter of confounds calls: one table, figure or sentence each.

A section that a data set cannot fill (no second dimension, no labelled errors) says so in a
sentence, so that the notebook runs on anybody's data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from html import escape

import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from ..schema import TstmetaError
from ..scoring import HUMAN_STYLE
from . import confounds, html
from .bench import Bench
from .chapters import allowed, present
from .figures import Picture
from .figures_confounds import (
    discriminant_heatmap,
    error_dots,
    games_heatmap,
    named,
    raw_and_partial,
    strata_dots,
)
from .figures_simpson import simpson
from .games import table_of_games

#: Sets with ratings of style beside content, in the order shown.
RATED = ("pauli", "lai@pauli2025", "mir")
Shown = html.Html | Picture | Markdown


def _or_says_why(make: Callable[..., Shown]) -> Callable[..., Shown]:
    """What a data set cannot give becomes a sentence; without a data set nothing is shown."""

    @wraps(make)
    def made(self, data: Dataset | None, *args, **options) -> Shown:
        try:
            return make(self, data, *args, **options) if data else html.SILENCE
        except TstmetaError as reason:
            return Markdown(f"*{reason}.*")

    return made


class Confounds:
    """The data of the chapter for the parameters of its notebook.

    ``all`` are the data sets shown, ``built`` those with labelled errors (last the contrast set),
    ``first`` the one that single figures are about, ``second`` another one or None.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        seed: int = 0,
        profile: str = "embedded",
    ):
        self.bench, self.seed = bench, seed
        self.metrics = [*allowed(metrics, profile), "sentinel", HUMAN_STYLE]
        contrast = bench.dataset("contrast")
        if dataset == "auto":
            self.all = present(bench, RATED) or [contrast]
            self.built = [*present(bench, ("pauli",)), contrast]
        else:
            self.all = [bench.dataset(dataset)]
            self.built = [*self.all, *([] if dataset == "contrast" else [contrast])]
        self.first = self.all[0]
        self.second = self.all[1] if len(self.all) > 1 else None

    def scores(self, data: Dataset) -> pd.DataFrame:
        """Scores on bases source and none."""
        return self.bench.table(data, self.metrics, ["source", "none"])

    @_or_says_why
    def on(self, data: Dataset) -> Shown:
        """Which data set the next figure is about."""
        return Markdown(f"On `{data.name}`, {len(data.items):,} rewrites:")

    @_or_says_why
    def partials(self, data: Dataset) -> Shown:
        """Raw correlation with content, and what is left given style (and fluency)."""
        rows = confounds.partials(data, self.scores(data), seed=self.seed)
        shown = rows.assign(
            metric=named(rows),
            cell=[_limits(row) for row in rows.to_dict("records")],
            given=rows["given"].map(lambda given: f"given {given}" if given else "raw"),
        )
        n = int(rows["n"].max())
        about = f"{data.name}: Pearson's r with content, n = {n:,}; 95% intervals, sources drawn"
        return _grid(shown, "given", about)

    @_or_says_why
    def partial_picture(self, data: Dataset) -> Shown:
        """The same as arrows."""
        return Picture(raw_and_partial(confounds.partials(data, self.scores(data), seed=self.seed)))

    @_or_says_why
    def discriminant_picture(self, data: Dataset) -> Shown:
        """Every metric against every human dimension."""
        rows = confounds.discriminants(data, self.scores(data), seed=self.seed)
        return Picture(discriminant_heatmap(rows))

    @_or_says_why
    def simpson_picture(self, data: Dataset, metric: str, by: str = "") -> Shown:
        """Pooled line against the lines within groups."""
        return Picture(simpson(data, self.scores(data), metric, by=by, seed=self.seed))

    @_or_says_why
    def shift_picture(self, data: Dataset) -> Shown:
        """Agreement among rewrites of equal style shift."""
        return self._strata(confounds.by_style_shift, data)

    @_or_says_why
    def disagreement_picture(self, data: Dataset) -> Shown:
        """Agreement where raters agreed and where they did not."""
        return self._strata(confounds.by_disagreement, data)

    def _strata(self, split: Callable[..., pd.DataFrame], data: Dataset) -> Picture:
        return Picture(strata_dots(split(data, self.scores(data), seed=self.seed)))

    @_or_says_why
    def error_picture(self, data: Dataset) -> Shown:
        """How often each metric sees each type of error."""
        rows = confounds.by_error_type(data, self.scores(data), seed=self.seed)
        return Picture(error_dots(rows))

    @_or_says_why
    def games_picture(self, data: Dataset) -> Shown:
        """How often each game beats an honest rewrite."""
        metrics = [name for name in self.metrics if name != HUMAN_STYLE]
        return Picture(games_heatmap(table_of_games(self.bench, data, metrics, seed=self.seed)))


def each(draw: Callable[[Dataset], Shown], datasets: Sequence[Dataset]) -> html.Html:
    """The same table for several data sets, one below the other."""
    parts = []
    for data in datasets:
        made = draw(data)
        text = made.text if isinstance(made, html.Html) else f"<p>{escape(_words(made))}</p>"
        parts.append(text)
    return html.Html("\n".join(parts))


def _words(made: Shown) -> str:
    return str(getattr(made, "data", ""))


def _limits(row: dict) -> str:
    """A value with its interval below."""
    if pd.isna(row["value"]):
        return f"<span title='{escape(str(row['reason']), quote=True)}'>–</span>"
    limits = f"{html.signed(row['low'])} to {html.signed(row['high'])}"
    return f"{html.signed(row['value'])}<br><small>{limits}</small>"


def _grid(rows: pd.DataFrame, columns: str, caption: str) -> html.Html:
    grid = html.pivot(rows, ["metric"], columns, "cell")
    return html.table(grid, dict.fromkeys(grid.columns[1:], str), caption)
