"""Agreement by number of references, as a table and as a picture; see :mod:`.references`."""

from __future__ import annotations

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from . import html
from .figures import _panels, _styled
from .figures_ranks import _LINES
from .heatmaps import described
from .references import Curves


def table(found: Curves) -> html.Html | Markdown:
    """One reference against all: a row a data set and metric; the steps between are folded away."""
    if found.rows.empty:
        return _nothing(found)
    lines = []
    for (name, metric), rows in found.rows.groupby(["data", "metric"], sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        arrow = " ↓" if first["better"] == "lower" else ""
        lines.append(
            {
                "data": name,
                "metric": f"{metric}{arrow}",
                "references": str(last["k"]),
                "with one": html.signed(first["value"]),
                "other references": "–" if pd.isna(first["sd"]) else f"± {first['sd']:.3f}",
                "with all": html.signed(last["value"]),
                "gain": html.signed(last["gain"]),
                "95% interval": _ends(rows.iloc[[-1]], "gain_low", "gain_high", 2)[0],
                "n": f"{last['n']:,}",
            }
        )
    caption = f"{found.label} with {found.dimension}, level {found.level}; one reference and all"
    made = html.table(pd.DataFrame(lines), caption=caption).text
    return html.Html(made + html.folded("Every step", _steps(found)) + _reasons(found))


def _steps(found: Curves) -> str:
    """One row a data set, metric and k."""
    rows = found.rows
    shown = pd.DataFrame(
        {
            "data": rows["data"],
            "metric": rows["metric"] + rows["better"].map({"lower": " ↓"}).fillna(""),
            "references": rows["k"],
            found.label: rows["value"],
            "95% interval": _ends(rows, "low", "high"),
            "other references (sd)": rows["sd"],
            "gain over one": rows["gain"],
            "its 95% interval": _ends(rows, "gain_low", "gain_high"),
            "n": rows["n"],
        }
    )
    return html.table(shown).text


def _ends(rows: pd.DataFrame, low: str, high: str, decimals: int = 3) -> list[str]:
    both = zip(rows[low], rows[high], strict=True)
    return [
        "–" if pd.isna(a) else f"{html.signed(a, decimals)} to {html.signed(b, decimals)}"
        for a, b in both
    ]


def _reasons(found: Curves) -> str:
    return "".join(
        f"<p>{html.code(f'`{name}` is left out: {reason}')}</p>"
        for name, reason in found.left_out.items()
    )


def _nothing(found: Curves) -> html.Html | Markdown:
    if not found.left_out:
        return Markdown("*Nothing to compare: no data set and no metric were named.*")
    return html.Html("<p>There is no curve to show.</p>" + _reasons(found))


def picture(found: Curves) -> html.Html | Markdown:
    """Curves with intervals over sources, one panel a data set, one line a metric."""
    if found.rows.empty:
        return _nothing(found)
    words = [f"{found.label} with {found.dimension} by number of references."]
    for (name, metric), rows in found.rows.groupby(["data", "metric"], sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        words.append(
            f"{name}, {metric}: {html.signed(first['value'])} with one,"
            f" {html.signed(last['value'])} with {last['k']}."
        )
    return described(picture_figure(found), " ".join(words))


@_styled
def picture_figure(found: Curves) -> Figure:
    """Bars are intervals over sources; the pale band goes from the least to the most over draws."""
    panels = list(found.rows.groupby("data", sort=False))
    lines = list(dict.fromkeys(found.rows["metric"]))
    figure, axes = _panels(len(panels), 3.6, 2.9, most=2)
    for axis, (name, rows) in zip(axes, panels, strict=True):
        for metric, part in rows.groupby("metric", sort=False):
            at = lines.index(metric)
            colour, marker, stroke, _ = _LINES[at % len(_LINES)]
            arrow = " ↓" if part["better"].iloc[0] == "lower" else ""
            # side by side, so that bars do not hide one another
            x = part["k"].to_numpy(float) + 0.08 * (at - (len(lines) - 1) / 2)
            axis.vlines(x, part["low"], part["high"], color=colour, lw=1, alpha=0.7)
            axis.fill_between(x, part["least"], part["most"], color=colour, alpha=0.15, lw=0)
            axis.plot(x, part["value"], stroke, color=colour, marker=marker, ms=4, lw=1.4)
            axis.plot([], [], stroke, color=colour, marker=marker, label=f"{metric}{arrow}")
        axis.set_title(f"{name}\nn = {rows['n'].max():,}", fontsize=9)
        axis.set_xlabel("references")
        axis.set_xticks(sorted(set(rows["k"])))
    for axis in axes[::2]:
        axis.set_ylabel(f"{found.label} with {found.dimension}")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
