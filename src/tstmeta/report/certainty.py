"""How sure a table of agreement is: intervals, ranks, clusters, what style leaves, and people."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from ..schema import TstmetaError
from ..stats.matrices import Level
from . import html
from .analysis import Analysis, analyse
from .bench import Bench
from .figures import Picture
from .figures_ranks import bump, forest, names, rank_sets
from .tables import judged

_NOTHING = Markdown("*Nothing to compare: no data of this kind is on the machine.*")


class Analyses(list[Analysis]):
    """Analyses of data sets; ``left_out`` has the reason for each that could not be asked."""

    def __init__(self, found: Sequence[Analysis] = ()):
        super().__init__(found)
        self.left_out: dict[str, str] = {}


def analyses(
    bench: Bench,
    datasets: Sequence[Dataset],
    metrics: Sequence[str],
    *,
    statistic: str = "pearson",
    level: Level = "pooled",
    draws: int = 1000,
    seed: int = 0,
) -> Analyses:
    """Every metric against content on each data set where that can be asked.

    A data set where content was not judged, that the level does not fit (no system names, no tasks)
    or on which no metric has a value is left out, with the reason.
    """
    found = Analyses()
    for data in datasets:
        if "content" not in judged(data):
            found.left_out[data.name] = "nobody judged content"
            continue
        scores = bench.table(data, metrics, ["source", "none"])
        try:
            one = analyse(data, scores, statistic=statistic, level=level, draws=draws, seed=seed)
        except TstmetaError as reason:
            found.left_out[data.name] = str(reason)
            continue
        if one.rows["value"].notna().any():
            found.append(one)
        else:
            found.left_out[data.name] = "no metric has a value"
    return found


def forests(found: Sequence[Analysis]) -> Picture | Markdown:
    """See :func:`figures_ranks.forest`."""
    return Picture(forest(found)) if found else _NOTHING


def ranks(found: Sequence[Analysis]) -> Picture | Markdown:
    """See :func:`figures_ranks.rank_sets`."""
    return Picture(rank_sets(found)) if found else _NOTHING


def bumps(found: Sequence[Analysis]) -> Picture | Markdown:
    """See :func:`figures_ranks.bump`; two data sets at least."""
    if len(found) < 2:
        return Markdown("*One data set alone has no ranks to compare.*")
    return Picture(bump(found))


def tables(found: Analyses) -> html.Html | Markdown:
    """One table a data set: value, interval, ranks, cluster, partial values, and people.

    Data sets that were left out stand below, with the reasons.
    """
    if not found and not found.left_out:
        return _NOTHING
    parts = [_table(one).text for one in found]
    for name, reason in found.left_out.items():
        parts.append(f"<p><code>{escape(name)}</code> is left out: {escape(reason)}.</p>")
    return html.Html("\n".join(parts))


def _table(one: Analysis) -> html.Html:
    rows = one.rows
    shown = pd.DataFrame(
        {
            "metric": names(rows),
            one.label: [html.signed(value) for value in rows["value"]],
            f"{one.confidence:.0%} interval": _limits(rows),
            "rank": [_rank(row) for row in rows.to_dict("records")],
            "cluster": [_whole(value) for value in rows["cluster"]],
        }
    )
    for value, given in (("partial", "given"), ("partial_all", "given_all")):
        held = [text for text in rows[given].dropna().unique() if text]
        if held and rows[value].notna().any():
            shown[f"given {held[0]}"] = [html.signed(value) for value in rows[value]]
    people = _partial_said(one) if any(name.startswith("given ") for name in shown) else ""
    if rows["as_rater"].notna().any():
        shown["as a rater"] = [html.signed(value) for value in rows["as_rater"]]
        who = "person" if one.human.persons else "rating slot"
        people += f"; a held-out {who}: {html.signed(one.human.value)}"
    shown["n"] = [f"{int(n):,}" for n in rows["n"]]
    caption = f"{one.dataset}: {one.estimand}{people}"
    return html.table(shown, caption=caption)


def _partial_said(one: Analysis) -> str:
    """What partial values are, where they are not what the other column holds."""
    name, level = one.setting.function.name, one.setting.level
    if name in ("pearson", "spearman") and level == "pooled":
        return ""
    what = "Pearson's r" if name == "pearson" else "Spearman's rho"
    within = ", within tasks" if "task" in level else ""
    return f"; partial values are {what} over all items{within}"


def _limits(rows: pd.DataFrame) -> list[str]:
    both = zip(rows["low"], rows["high"], strict=True)
    return ["–" if pd.isna(a) else f"{html.signed(a)} to {html.signed(b)}" for a, b in both]


def _rank(row: dict) -> str:
    if pd.isna(row["rank"]):
        return "–"
    low, high = int(row["rank_low"]), int(row["rank_high"])
    return f"{int(row['rank'])} ({low}–{high})" if low < high else f"{int(row['rank'])}"


def _whole(value: object) -> str:
    return "–" if pd.isna(value) else str(int(value))  # type: ignore[call-overload]
