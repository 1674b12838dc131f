"""The figures of the book: a frame of ours in, matplotlib axes, a figure or shaded tokens out.

A colour means the same in every figure: :data:`KINDS` of metrics and people have theirs,
:data:`LINES` are for anything else, :data:`DIVERGING` is for correlations, from -1 to 1.
Colours are told apart by colour-blind readers (after Okabe and Ito), and a marker, a stroke, a
label or the position says the same.  Sentinels, which know nothing of quality, stand below a line.
"""

import math
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .analysis.frame import METRIC, ORACLES, kind_of
from .console import escaped  # SVG cannot hold control characters
from .schema import TstmetaError

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#6B6B6B", "#222222"
#: A colour and a marker for each thing that a value can rest on.
KINDS = {
    "lexical": (BLUE, "o"),
    "embedding": (GREEN, "s"),
    "likelihood": ("#8E3FA8", "^"),
    "judge": ("#7A4B00", "P"),
    "classifier": (INK, "v"),
    "sentinel": (GREY, "D"),
    "human": (ORANGE, "X"),
}
#: What the name of a metric begins with; others are lexical.
_NAMES = {
    "embedding": r"bertscore|(masked-)?cosine|s3bert|sim\b|(syn)?wmd|bleurt|(x|wmt22-)?comet"
    "|questeval|smatch",
    "likelihood": "likelihood|.*perplexity|slor|.*_ppl",
    "judge": "judge|chatgpt|gpt-|llama",
    "human": "|".join((*ORACLES, "rater")),
    "classifier": "style-|[cr]-(gyafc|pt16)|cls-",
    "sentinel": "constant|copy-rate|length-ratio|output-only|random|source-only",
}
COLOURS = ["#3D4C9F", "#B07A00", "#4F7F1F", "#C2418A", "#1F8A93", "#8C5A6B", "#5E5E8A"]
_STROKES = ("-", "--", "-.", ":", "-", "--", "-.")
#: Whatever is no kind of metric: a colour, a marker and a stroke each.
LINES = tuple(zip(COLOURS, "os^vPXD", _STROKES, strict=True))
#: Disagrees, nothing, agrees.
DIVERGING = LinearSegmentedColormap.from_list("orange to blue", [ORANGE, "#FFFFFF", BLUE])
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(("figure.dpi", "savefig.dpi"), 150),
    "font.size": 9.5,
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    "grid.color": "#E4E4E4",
    "text.parse_math": False,  # names of data sets and metrics are texts, not TeX
}
#: Inches of the widest figure: a page has 720 pixels.
WIDTH = 7.2
#: Draws in the book's style and leaves the global one alone.
_styled = mpl.rc_context(_STYLE)
plt.draw_if_interactive()  # a notebook's backend sets itself up now, not within the style


def look(metric: str) -> str:
    """The name in :data:`KINDS` of a metric."""
    name = metric.removeprefix("released:")
    return next((kind for kind, names in _NAMES.items() if re.match(names, name)), "lexical")


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the columns ``shown`` (R- for reference-based, an arrow for flipped metrics),
    ``sentinel`` (or human values) and ``look``, renumbered.
    """
    frame = frame.reset_index(drop=True)
    shown = frame["metric"].astype(str).map(escaped)
    frame = frame.assign(look=shown.map({name: look(name) for name in shown.unique()}))
    kind = frame["kind"] if "kind" in frame else shown.map(kind_of)
    if "basis" in frame:
        shown = shown.where(frame["basis"] != "reference", "R-" + shown)
    if "flipped" in frame:
        shown = shown.where(~frame["flipped"].astype(bool), shown + " ↓")
    return frame.assign(shown=shown, sentinel=kind != METRIC)


def _groups(frame: pd.DataFrame, by: str | None) -> list[tuple[str, pd.DataFrame]]:
    """Parts of a frame by a column, in order of appearance; one part without the column."""
    if frame.empty:
        raise TstmetaError("there is nothing to draw: no row has a value")
    if by not in frame:
        return [("", frame)]
    return [(str(name), part) for name, part in frame.groupby(by, sort=False, observed=True)]


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` axes of that height in inches, at most two in a row."""
    across = min(count, 2)
    rows = math.ceil(count / across)
    size = (WIDTH if across > 1 else 0.68 * WIDTH, height * rows + 0.5)
    figure, grid = plt.subplots(rows, across, figsize=size, layout="constrained", squeeze=False)
    for spare in grid.ravel()[count:]:
        spare.set_visible(False)
    return figure, list(grid.ravel()[:count])


def _key(colour: str, marker: str, label: str) -> Line2D:
    return Line2D([], [], color=colour, marker=marker, linestyle="", ms=5, label=label)


def _legend(figure: Any, more: Sequence[Line2D], looks: Sequence[str] = ()) -> None:
    """Keys of the kinds that a figure shows, and more."""
    keys = [_key(*style, kind) for kind, style in KINDS.items() if kind in set(looks)]
    columns = min(4, len(keys) + len(more))
    style = {"loc": "outside lower center", "ncols": columns, "fontsize": 8.5}
    figure.legend(handles=[*keys, *more], **style)


@_styled
def heatmap(frame: pd.DataFrame, columns: str = "dataset", *, label: str = "") -> Axes:
    """Metrics as rows of coloured cells: blue above 0, orange below, a dash without a value.

    Args:
        frame: one row a cell, with metric and value; order of appearance is kept, sentinels go
            below a rule.
        columns: the column of the frame that the columns of the figure are.
        label: of the colour bar.
    """
    rows = _named(frame).sort_values("sentinel", kind="stable")
    grid = rows.pivot_table("value", "shown", columns, dropna=False, sort=False)
    grid = grid.reindex(index=rows["shown"].unique(), columns=frame[columns].unique())
    grid.columns = grid.columns.astype(str).map(escaped)
    texts = grid.map(lambda value: "–" if pd.isna(value) else f"{value:z.2f}".replace("-", "−"))
    tall, wide = grid.shape
    longest = max(map(len, grid.index), default=0)
    size = (min(WIDTH, 1.5 + 0.075 * longest + 0.72 * wide), 1.1 + 0.27 * tall)
    axis = plt.subplots(figsize=size, layout="constrained")[1]
    sns.heatmap(
        grid.fillna(0.0), ax=axis, vmin=-1, vmax=1, cmap=DIVERGING, linewidths=0.6,
        annot=texts, fmt="", annot_kws={"size": 8.5 if wide < 8 else 7},
        cbar=wide > 1, cbar_kws={"label": label, "shrink": 0.8, "pad": 0.02},
    )  # fmt: skip
    above = int((~rows.drop_duplicates("shown")["sentinel"]).sum())
    if 0 < above < tall:
        axis.axhline(above, color=INK, lw=1.4)
    axis.set(xlabel="", ylabel="")
    axis.grid(visible=False)
    axis.tick_params(length=0, labelsize=8.5)
    axis.tick_params(axis="y", rotation=0)
    if max(map(len, grid.columns), default=0) > 9:
        axis.set_xticks(axis.get_xticks(), grid.columns, rotation=30, ha="right")
    return axis


@_styled
def forest(
    intervals: pd.DataFrame, ceiling: pd.DataFrame | None = None, *, label: str = ""
) -> Figure:
    """Values with confidence intervals, best first, one panel a data set; sentinels below a line.

    Args:
        intervals: what ``tst.bootstrap`` returns: metric, value, low, high; dataset, basis, kind.
        ceiling: what ``tst.ceiling`` returns; a line at ``value`` with a shade from low to high.
        label: of the axis, for instance the statistic.
    """
    ordered = _named(intervals).sort_values(["sentinel", "value"], ascending=[True, False])
    parts = _groups(ordered.dropna(subset="value"), "dataset")
    parts.sort(key=lambda part: part[1].index.min())  # panels as data sets came
    figure, panels = _panels(len(parts), 0.8 + 0.2 * max(len(rows) for _, rows in parts))
    people = pd.DataFrame(columns=["dataset", "value"]) if ceiling is None else ceiling
    limit = []
    for axis, (name, rows) in zip(panels, parts, strict=True):
        place = np.arange(len(rows))
        for kind, (colour, marker) in KINDS.items():
            inside = (rows["look"] == kind).to_numpy()
            low, high = rows["low"][inside].astype(float), rows["high"][inside].astype(float)
            axis.hlines(place[inside], low, high, color=colour, lw=1.8, alpha=0.7)
            axis.plot(rows["value"][inside], place[inside], marker, color=colour, ms=4.5, zorder=4)
        axis.set_yticks(place, list(rows["shown"]), fontsize=8.5)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.grid(visible=False, axis="y")
        axis.set_xlabel(label, fontsize=8.5)
        axis.set_title(escaped(name))
        axis.axvline(0, color=GREY, lw=0.8)
        for row in people[(people["dataset"] == name) & people["value"].notna()].itertuples():
            axis.axvspan(row.low, row.high, color=ORANGE, alpha=0.15, lw=0, zorder=0)
            axis.axvline(row.value, color=ORANGE, lw=1.6, zorder=1)
            limit = [Line2D([], [], color=ORANGE, lw=2, label="human ceiling")]
        above = int((~rows["sentinel"]).sum())
        if 0 < above < len(rows):
            axis.axhline(above - 0.5, color=INK, lw=1)
    _legend(figure, limit, ordered["look"])
    return figure


@_styled
def bump(frame: pd.DataFrame) -> Axes:
    """Ranks across data sets, best on top: who wins where.  Sentinels are dashed.

    The lines whose rank changes most stand out.

    Args:
        frame: one row a data set and metric.  Only metrics with a value on all data sets count.
    """
    rows = _named(frame).dropna(subset="value")
    grid = rows.pivot_table("value", "shown", "dataset", sort=False)
    grid = grid.reindex(columns=frame["dataset"].unique()).dropna().round(12)
    _groups(grid, None)
    grid = grid.sort_values(grid.columns[0], ascending=False, kind="stable")
    ranks = grid.rank(ascending=False, method="first")
    known = rows.drop_duplicates("shown").set_index("shown").loc[ranks.index]
    sentinel = known["sentinel"]
    change = ranks[~sentinel].diff(axis=1).abs().sum(axis=1)
    moved = change[change > 0].nlargest(len(LINES)).index
    looks = dict(zip([name for name in ranks.index if name in moved], _STROKES, strict=False))
    longest = max(map(len, ranks.index))
    size = (min(WIDTH, 0.8 + 1.35 * ranks.shape[1] + 0.15 * longest), 0.8 + 0.24 * len(ranks))
    axis = plt.subplots(figsize=size, layout="constrained")[1]
    x = np.arange(ranks.shape[1])
    for name in sorted(ranks.index, key=looks.__contains__):  # pale ones lie below
        bold = name in looks
        colour, marker = KINDS[known.loc[name, "look"]]
        colour = colour if bold or sentinel[name] else "#BDBDBD"
        stroke = "--" if sentinel[name] else looks.get(name, "-")
        y, width = ranks.loc[name].to_numpy(float), 2.4 if bold else 1.4
        axis.plot(x, y, stroke, color=colour, marker=marker, ms=6, lw=width, label=name)
        text: dict[str, Any] = {"color": colour if bold or sentinel[name] else "#4D4D4D"}
        text |= {"weight": "bold" if bold else "normal", "fontsize": 8.5, "va": "center"}
        text["textcoords"] = "offset points"
        for at, shift, side in ((0, -9, "right"), (-1, 9, "left")):
            axis.annotate(name, (x[at], y[at]), (shift, 0), ha=side, annotation_clip=False, **text)
    axis.set_xticks(x, [escaped(str(name)).replace("@", "\n@") for name in ranks.columns])
    axis.set_ylim(len(ranks) + 0.5, 0.5)
    axis.set_yticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.grid(visible=False, axis="y")
    _legend(axis.figure, [], known["look"])
    return axis


@_styled
def scatter(
    pairs: pd.DataFrame,
    x: str = "score",
    y: str = "human",
    hue: str | None = None,
    by: str | None = None,
    *,
    seed: int = 0,
    jitter: float = 0.012,
) -> Figure:
    """One point a rewrite; Pearson's r and n in the title.

    Args:
        pairs: what ``tst.pairs`` returns, or any frame with these columns.
        hue: a column with at most seven values, told apart by colour and marker.
        by: a column; one panel for each of its values, two in a row.
        jitter: points whose value occurs more than once are moved by up to this share of the
            range, so that tied ratings can be told apart.
        seed: of the jitter.
    """
    rng = np.random.default_rng(seed)
    parts = [(name, part.dropna(subset=[x, y])) for name, part in _groups(pairs, by)]
    figure, panels = _panels(len(parts), 2.6)
    looks = list(zip(dict.fromkeys(pairs[hue]) if hue else [None], LINES, strict=False))
    size = 9 if max(len(part) for _, part in parts) > 300 else 16
    for axis, (name, part) in zip(panels, parts, strict=True):
        moved = part.assign(**{name: _jittered(part[name], jitter, rng) for name in (x, y)})
        solid = max(0.15, min(0.7, 300 / max(len(part), 1)))
        for level, (colour, marker, _) in looks:
            points = moved[part[hue] == level] if hue else moved
            axis.scatter(points[x], points[y], s=size, c=colour, marker=marker, alpha=solid, lw=0)
        r = part[x].corr(part[y], min_periods=3)
        shown = "" if math.isnan(r) else f"r = {r:z.2f}, ".replace("-", "−")
        axis.set_title(f"{escaped(name)}\n{shown}n = {len(part):,}".strip(), fontsize=9.5)
        axis.set(xlabel=x, ylabel=y)
    if hue:
        keys = [_key(colour, marker, escaped(str(level))) for level, (colour, marker, _) in looks]
        _legend(figure, keys)
    return figure


def _jittered(values: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    reach = share * (values.max() - values.min())
    return values + rng.uniform(-reach, reach, len(values)) * values.duplicated(keep=False)


#: A token is one step darker below each of these probabilities, and how the steps are called.
STEPS = (0.5, 0.1, 0.01, 0.001)
_SHADES = {
    "#FFFFFF": "1 in 2 or more",
    "#FCE5C0": "to 1 in 10",
    "#F8C382": "to 1 in 100",
    "#EE9A4D": "to 1 in 1,000",
    "#E07B39": "less",
}
#: The letter of each instruction.
LETTERS = {"style": "s", "paraphrase": "p", "repeat": "r"}


def strip(tokens: pd.DataFrame, titles: dict[str, str] | None = None) -> HTML:
    """Rewrites as shaded tokens: the darker, the less the model expected one.

    The shade is the token's probability under the instruction that gives it the highest one, the
    letter is that instruction's.  A table that opens below has the numbers, for readers who see no
    colours.

    Args:
        tokens: what ``tst.explain`` returns: token, style, paraphrase, repeat, best, content;
            item_id where there are several rewrites; marked where tokens are to be outlined.
        titles: item_id -> words above a rewrite; its id by default.
    """
    ids = tokens.get("item_id", pd.Series("", tokens.index))
    titles, parts = titles or {}, tokens.groupby(ids, sort=False, observed=True)
    body = "".join(_rewrite(titles.get(str(id), str(id)), part) for id, part in parts)
    steps = " ".join(_patch(name, shade) for shade, name in _SHADES.items())
    letters = ", ".join(f"{letter} = {name}" for name, letter in LETTERS.items())
    key = f"<p style='font-size:.85em'>Probability of a token: {steps}<br>Letter: {letters}.</p>"
    return HTML(f"<div>{body}{key}</div>")


def _rewrite(title: str, part: pd.DataFrame) -> str:
    blocks = []
    for row in part.itertuples():
        shade = list(_SHADES)[sum(row.content < math.log(limit) for limit in STEPS)]
        outline = "outline:2px solid #123b66;" * bool(getattr(row, "marked", False))
        letter = LETTERS.get(str(row.best), "")
        blocks.append(f"{_patch(str(row.token), shade, outline)}<sub>{letter}</sub>")
    columns = ["token", "best", "content", *LETTERS]
    numbers = part[columns].to_html(index=False, float_format="{:z.2f}".format, border=0)
    symbols = {"content": "C", "lead": "S"}
    means = [f"{symbols[name]} = {part[name].mean():z.3f}" for name in symbols if name in part]
    mean = ", ".join(means).replace("-", "−")
    return (
        f"<p style='margin-bottom:.2em'><b>{escape(title)}</b>: {mean}</p>"
        f"<div style='line-height:2'>{' '.join(blocks)}</div>"
        "<details><summary>Numbers (natural logarithms)</summary>"
        f"<div style='overflow-x:auto'>{numbers}</div></details>"
    )


def _patch(text: str, shade: str, more: str = "") -> str:
    style = "white-space:pre;color:#111;border:1px solid #999;border-radius:3px;padding:0 .35em;"
    return f"<span style='{style}background:{shade};{more}'>{escape(text)}</span>"
