"""What notebook 07 calls: each function makes one table, figure or sentence of three levels.

Tables 1 to 4 of lai2023 stand printed beside ours; all else works on any data set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..stats.intervals import Interval
from . import figures_levels, html
from .bench import Bench
from .cells import lai2023
from .chapters import allowed
from .figures import Picture
from .layout import CLUSTERS
from .ledger import ledger
from .levels import ORDER, Levels, prefixed, rulers, scores_of
from .printed import grid as printed_grid
from .published import Cell, cells

PAPER = lai2023.PAPER
_NO_LAI = Markdown("*This section needs the scores and ratings of lai: `tstmeta data fetch lai`.*")


# ------------------------------------------------------------------------- printed beside ours


def printed(bench: Bench, table: str) -> html.Html:
    """Table 1, 2, 3 or 4 of lai2023 with ours: one row a metric, one column a level and direction.

    Values are percent (system level) or Kendall's tau-b times 100, as the paper prints them.
    """
    return printed_grid(bench, _cells(table), _row, _column)


def _cells(table: str) -> list[Cell]:
    """The cells of a table, columns in the order of levels."""
    own = [cell for cell in cells() if (cell.paper, cell.table) == (PAPER, table)]
    return sorted(own, key=lambda cell: ORDER.index(cell.level))


def _row(cell: Cell) -> str:
    if cell.item:
        asked = "asked for it alone" if cell.item == "single" else "asked for all at once"
        return f"{cell.dimension}, {asked}"
    return (
        f"S-{cell.metric}"
        if (cell.dimension, cell.basis) == ("content", "source")
        else (cell.metric)
    )


def _column(cell: Cell) -> str:
    """Table 4 gives the overall values only."""
    return cell.level if cell.table == "4" else f"{cell.level}\n{cell.direction}"


def deviations(bench: Bench, table: str) -> Markdown:
    """What does not match in a table, with both values and the evidence, one line a reason."""
    found = ledger(PAPER, table, bench).set_index("cell")
    if found["ours"].isna().all():
        return _NO_LAI
    groups: dict[tuple[str, str, str], list[str]] = {}
    matching = 0
    for cell in _cells(table):
        entry = found.loc[cell.cell]
        if entry["status"] == "match":
            matching += 1
            continue
        ours = html.signed(entry["ours"], cell.decimals)
        place = f"{cell.level} {cell.direction}: {_minus(cell.printed)}, ours {ours}"
        groups.setdefault((_row(cell), entry["status"], entry["reason"]), []).append(place)
    head = f"{matching} of {len(found)} cells match."
    lines = [
        f"- {row} ({status}): {'; '.join(places)}. *{reason[0].upper()}{reason[1:]}.*"
        for (row, status, reason), places in groups.items()
    ]
    return Markdown("\n".join([head, "", *lines]))


def consistency(bench: Bench) -> Markdown:
    """Whether the rows of Table 2 that differ are at least consistent in themselves.

    At sample level the overall value is the mean over both directions, which are of equal size: it
    must be the mean of the two printed values, within their rounding.
    """
    found = ledger(PAPER, "2", bench).set_index("cell")
    rows: dict[str, dict[str, Cell]] = {}
    for cell in _cells("2"):
        if cell.level == "sample":
            rows.setdefault(cell.metric, {})[cell.direction] = cell
    lines = []
    for metric, row in rows.items():
        if not any(found.loc[cell.cell, "status"] == "differs" for cell in row.values()):
            continue
        mean = (row["I2F"].value + row["F2I"].value) / 2
        fits = abs(mean - row["overall"].value) <= 0.1 + 1e-9  # three numbers, half a digit each
        sign = "follows" if fits else "does not follow"
        lines.append(
            f"- {metric}: the printed overall value {sign} from the printed directions, whose mean"
            f" is {html.signed(mean)}."
        )
    return Markdown("\n".join(lines)) if lines else _NO_LAI


def _minus(text: str) -> str:
    return text.replace("-", "−")


# --------------------------------------------------------------------------- any set of systems


def levels(
    bench: Bench,
    dataset: str = "auto",
    metrics: Sequence[str] = (),
    profile: str = "embedded",
    draws: int = 500,
    seed: int = 0,
) -> Levels:
    """Content metrics of a data set at three levels.

    Args:
        dataset: a data set by name, or ``auto``: lai where it is here, else the contrast set.
        metrics: metrics or families; a set with released scores shows those instead.
        draws: resamples of the sources.
    """
    if dataset == "auto":
        dataset = lai2023.DATA if bench.has("lai") else "contrast"
    data = bench.dataset(dataset)
    return Levels(data, scores_of(bench, data, allowed(metrics, profile)), "content", draws, seed)


def said(part: Levels) -> Markdown:
    """What each level compares on these data."""
    if not part.against:
        return Markdown(f"*`{part.data.name}` has no ratings of content.*")
    found = part.matrices["system"]
    pairs = "pairs of one good and one bad" if part.labelled else "pairs"
    share = f"share of {pairs} in the right order"
    apart = f", within each of {len(part.groups)} directions" if len(part.groups) > 1 else ""
    system = f"{share} among the means of {found.shape[1]} systems{apart}"
    if not found.layout.named:
        system = "not possible, no item names its system"
    what = share if part.labelled else "Kendall's tau-b"
    sources = part.sources("sample")
    sample = f"{what} among the rewrites of one source, mean over {sources:,} sources"
    if not sources:
        sample = "not possible, no source has two rated rewrites"
    scores = "released with the data" if part.released else "computed here"
    return Markdown(
        f"Here (`{part.data.name}`, {part.against}, scores {scores}), all values times 100:\n\n"
        f"- **system**: {system};\n"
        f"- **sample**: {sample};\n"
        f"- **dataset**: {what} over {len(part.data.items):,} rewrites."
    )


def table(part: Levels) -> html.Html:
    """Every metric at every level with a 95 % interval over sources."""
    lines = []
    for i, (metric, basis) in enumerate(part.names):
        for level in ORDER:
            row = {"metric": escape(metric), "basis": escape(basis), "level": level}
            lines.append(row | {"cell": _cell(part, level, i)})
    grid = html.pivot(pd.DataFrame(lines), ["metric", "basis"], "level", "cell")
    return html.table(grid, dict.fromkeys(grid.columns, str))


def ordered(part: Levels) -> Markdown:
    """Which metric leads at each level, and how alike the levels order the metrics."""
    keep = [i for i, name in enumerate(part.names) if name[0] not in rulers()]
    lines = []
    for level in ORDER:
        values = part.estimates[level][keep]
        if not np.isfinite(values).any():
            lines.append(f"- {level}: no value.")
            continue
        top = float(np.nanmax(values))
        best = [prefixed(part.names[keep[i]]) for i in np.flatnonzero(values > top - 1e-9)]
        lead = f"`{best[0]}` leads" if len(best) == 1 else f"{len(best)} metrics share the lead"
        lines.append(f"- {level}: {lead} with {html.signed(top, 1)}.")
    for first, second in itertools.pairwise(ORDER):
        found = stats.kendall(part.estimates[first][keep], part.estimates[second][keep])
        if math.isfinite(found.value):
            lines.append(
                f"- {first} and {second} level order the {found.n} metrics alike at Kendall's"
                f" tau-b {html.signed(found.value)}."
            )
    return Markdown("\n".join(lines))


def ranks_figure(part: Levels) -> Picture | Markdown:
    """The metrics' ranks from level to level, see :func:`figures_levels.ranks`."""
    rows = [
        (prefixed(name), level, part.estimates[level][i], name[0] in rulers())
        for i, name in enumerate(part.names)
        for level in ORDER
        if name[1] != "reference" and math.isfinite(part.estimates[level][i])
    ]
    if not rows:
        return Markdown("*Nothing to draw: no metric has a value at any level.*")
    frame = pd.DataFrame(rows, columns=["metric", "level", "value", "ruler"])
    return Picture(figures_levels.ranks(frame))


# ---------------------------------------------------------------------- against a reference


def _both(part: Levels) -> list[tuple[str, int, int]]:
    """Metrics that have both bases, with the place of each."""
    place = {name: i for i, name in enumerate(part.names)}
    return [
        (metric, i, place[metric, "reference"])
        for (metric, basis), i in place.items()
        if basis == "source" and (metric, "reference") in place
    ]


def against_reference(part: Levels) -> html.Html | Markdown:
    """R- minus S- for each metric and level, in the same draws, with a 95 % interval."""
    lines = []
    for metric, s, r in _both(part):
        for level in ORDER:
            cell = _cell(part, level, r, less=s)
            lines.append({"metric": escape(metric), "level": level, "cell": cell})
    if not lines:
        return Markdown("*No rewrite of this data set has a reference: only S- can be had.*")
    grid = html.pivot(pd.DataFrame(lines), ["metric"], "level", "cell")
    grid = grid.rename(columns={"metric": "R- minus S-"})
    return html.table(grid, dict.fromkeys(grid.columns, str))


def left_out(part: Levels) -> Markdown:
    """Say that rated references are no systems here, where there are some."""
    whole, rest = len(part.data.items), len(part.of_systems().data.items)
    if whole == rest:
        return html.SILENCE
    return Markdown(
        f"Of the {whole:,} rewrites {whole - rest:,} are the references themselves. Against the"
        f" reference they score best by being compared with themselves, so the figure and the table"
        f" below rest on the other {rest:,}."
    )


def reference_figure(part: Levels) -> Picture | Markdown:
    """S- beside R- at three levels, see :func:`figures_levels.pairs`."""
    rows = [
        (metric, f"{level} level", kind, part.estimates[level][i], *_limits(part, level, i))
        for metric, s, r in _both(part)
        for level in ORDER
        for kind, i in (("against the source", s), ("against the reference", r))
    ]
    if not rows:
        return html.SILENCE
    columns = ["metric", "panel", "kind", "value", "low", "high"]
    labels = {f"{level} level": f"{part.settings[level].function.label} × 100" for level in ORDER}
    return Picture(figures_levels.pairs(pd.DataFrame(rows, columns=columns), labels))


# -------------------------------------------------------------------- which units are drawn


def clusters(part: Levels) -> html.Html | Markdown:
    """Intervals at dataset level with sources drawn alone and with whole groups of them drawn."""
    groups = part.matrices["dataset"].clusters
    if groups is None:
        return Markdown(f"*The sources of `{part.data.name}` are not grouped by raters.*")
    lines = []
    shown = [i for i, (name, basis) in enumerate(part.names) if basis == "source"]
    shown = [i for i in shown if part.names[i][0] not in rulers()]
    for i, together in zip(shown, part.by_cluster("dataset", shown), strict=True):
        value = part.estimates["dataset"][i]
        alone = part.interval("dataset", part.drawn["dataset"][i], value, part.sources("dataset"))
        whole = part.interval("dataset", together, value, len(set(groups.tolist())))
        width = alone.high - alone.low
        ratio = (whole.high - whole.low) / width if width > 0 else math.nan
        lines.append(
            {
                "metric": prefixed(part.names[i]),
                "dataset": html.signed(value, 1),
                "sources drawn": _span(alone),
                f"{CLUSTERS}s drawn": _span(whole),
                "times as wide": html.signed(ratio),
            }
        )
    return html.table(pd.DataFrame(lines))


def clusters_said(part: Levels) -> Markdown:
    """How few different samples a handful of clusters gives."""
    found = part.matrices["dataset"].clusters
    if found is None:
        return html.SILENCE
    k = len(set(found.tolist()))
    return Markdown(
        f"There are {k} groups. Drawn with replacement they give only {math.comb(2 * k - 1, k)}"
        f" different samples, and how much groups differ is hardly known from {k} of them. The"
        " last columns are there to say that the question is open, not to answer it."
    )


def _limits(part: Levels, level: str, i: int) -> tuple[float, float]:
    """The ends of a metric's interval."""
    found = part.interval(
        level, part.drawn[level][i], part.estimates[level][i], part.sources(level)
    )
    return found.low, found.high


def _span(found: Interval) -> str:
    if not math.isfinite(found.low):
        return "–"
    return f"{html.signed(found.low, 1)} to {html.signed(found.high, 1)}"


def _cell(part: Levels, level: str, i: int, less: int | None = None) -> str:
    """A value, or how much it is above another metric's, with its interval; more on pointing."""
    value, drawn = part.estimates[level][i], part.drawn[level][i]
    about = part.signatures[i]
    if less is not None:
        about = f"{value:.1f} less {part.estimates[level][less]:.1f}; {about}"
        value, drawn = value - part.estimates[level][less], drawn - part.drawn[level][less]
    found = part.interval(level, drawn, value, part.sources(level), of_gap=less is not None)
    ends = f" <small>[{html.signed(found.low, 1)}, {html.signed(found.high, 1)}]</small>"
    shown = html.signed(value, 1) + (ends if math.isfinite(found.low) else "")
    about = f"{found.draws} draws of sources; {found.reason} {about}"
    return f"<span title='{escape(about, quote=True)}'>{shown}</span>"


# --------------------------------------------------------------------- one question or three


def prompts(bench: Bench, draws: int = 500, seed: int = 0) -> html.Html | Markdown:
    """Table 4 with intervals: asked for all dimensions at once minus asked for one alone."""
    if not bench.has("lai"):
        return _NO_LAI
    data, lines = bench.dataset(lai2023.DATA), []
    for dimension in ("style", "content", "fluency"):
        asked = data.scores["metric"].isin(["released:chatgpt", "released:chatgpt-multi"])
        same = asked & (data.scores["dimension"] == dimension)
        part = Levels(
            data, data.scores[same & (data.scores["basis"] != "reference")], dimension, draws, seed
        )
        one, all_ = (
            [metric for metric, _ in part.names].index(f"released:{name}")
            for name in ("chatgpt", "chatgpt-multi")
        )
        for level in ORDER:
            cell = _cell(part, level, all_, less=one)
            lines.append({"at once minus alone": dimension, "level": level, "cell": cell})
    grid = html.pivot(pd.DataFrame(lines), ["at once minus alone"], "level", "cell")
    return html.table(grid, dict.fromkeys(grid.columns, str))
