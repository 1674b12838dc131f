"""Lesson 7: the likelihood method is as good as its backbone.

One method, one model, two sets of the same design.  The contrast set was written by people in
natural English, of which the embedded model knows little.  The small world was written by the
grammar that the model was trained on, with words and frames held out: there it knows the styles,
which is what the method assumes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...data import Dataset
from ...likelihood.tokens import VARIANTS, style
from ...metrics import families
from .. import html, strips
from ..bench import USABLE, Bench
from ..figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from ..material import upright
from ..published import cells
from .likelihoods import (
    ALL_RIGHT,
    BY_LOT,
    CONTENT,
    STYLE,
    Pair,
    all_right,
    metric_name,
    scorer,
    share_cell,
    shares,
    tasks,
    tokens,
    wins,
)

#: Natural sentences first, then those of the grammar.
SETS = ("contrast", "world")
#: What the method is held against: similarity to the source, and sentinels that know no meaning.
METRICS = ("bleu", "meteor", "chrf", "edit-similarity", "copy-rate", "length-ratio", "random")
#: Those that do not look for likeness.
BLIND = ("constant", "random", "length-ratio")
#: Put before the name of a similarity that is turned round, as a metric of style.
LESS = "less "
#: A token whose largest probability is below was not foreseen.
UNFORESEEN = 0.01
QUESTIONS = {
    "content": (*map(str, CONTENT), ALL_RIGHT),
    "style": tuple(map(str, STYLE)),
}
_LOOKS = ((BLUE, "o"), (ORANGE, "s"))


def compared(
    bench: Bench,
    model: str = "embedded",
    metrics: Sequence[str] = METRICS,
    sets: Sequence[str] = SETS,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Share of pairs that each metric ranks rightly on each set.

    As a metric of style, similarity to the source is turned round: who changes more has more style.

    Returns:
        One row a set, pair and metric: data, pair, metric, value, low, high, n.  The likelihood
        method stands first; limits are at 95 %, sources drawn within tasks.
    """
    tables = []
    for name in sets:
        data, rows, won = bench.dataset(name), [], []
        for question, metric, own in _asked(bench, data, model, metrics):
            rows.append({"data": name, "pair": question, "metric": metric})
            won.append(own)
        tables.append(pd.DataFrame(rows).join(shares(won, draws, seed, tasks(data))))
    return pd.concat(tables, ignore_index=True)


def _asked(
    bench: Bench, data: Dataset, model: str, metrics: Sequence[str]
) -> Iterator[tuple[str, str, np.ndarray]]:
    """(question, metric, won) of every question to every metric."""
    content, style = metric_name(model), metric_name(model, name="likelihood-style")
    scores = upright(bench.table(data, [content, style, *metrics], ["source"]))
    usable = scores[scores["status"].isin(USABLE)]
    values = {
        str(name): dict(zip(rows["item_id"], rows["value"], strict=True))
        for name, rows in usable.groupby("metric", sort=False, observed=True)
    }
    strength = values.pop(style, {})
    for pair in CONTENT:
        yield from ((str(pair), name, wins(data, own, pair)) for name, own in values.items())
    yield from ((ALL_RIGHT, name, all_right(data, own)) for name, own in values.items())
    for pair in STYLE:
        yield str(pair), style, wins(data, strength, pair)
        turned = Pair(pair.worse, pair.better)
        for name, own in values.items():
            if name in BLIND:
                yield str(pair), name, wins(data, own, pair)
            elif name != content:
                yield str(pair), LESS + name, wins(data, own, turned)


def compared_table(rows: pd.DataFrame, data: str, dimension: str = "content") -> html.Html:
    """Rows of one set as a grid: metric by pair, limits beside the value."""
    own = rows[(rows["data"] == data) & rows["pair"].isin(QUESTIONS[dimension])]
    shown = own.assign(cell=[share_cell(row) for row in own.to_dict("records")])
    grid = html.pivot(shown, ["metric"], "pair", "cell")
    return html.table(grid, dict.fromkeys(grid.columns[1:], str), caption=data)


def picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`compared`: a panel a pair, a line a metric, a mark a set."""
    return Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    asked = [(dimension, one) for dimension, each in QUESTIONS.items() for one in each]
    figure, axes = _panels(len(asked), 3.9, 2.9, most=2)
    for axis, (dimension, question) in zip(axes, asked, strict=True):
        own = rows[rows["pair"] == question]
        names = list(dict.fromkeys(own["metric"]))
        for place, data in enumerate(dict.fromkeys(own["data"])):
            colour, marker = _LOOKS[place % len(_LOOKS)]
            part = own[own["data"] == data].set_index("metric").reindex(names)
            y = np.arange(len(names)) + 0.2 * (2 * place - 1)
            ends = [part["value"] - part["low"], part["high"] - part["value"]]
            axis.errorbar(
                part["value"], y, xerr=np.clip(ends, 0, None), fmt=marker, ms=4.5,
                color=colour, lw=1.2, label=data,
            )  # fmt: skip
        lot = BY_LOT if question == ALL_RIGHT else 0.5
        axis.axvline(lot, color=GREY, lw=1, linestyle="--")
        axis.set_yticks(range(len(names)), [_short(name) for name in names])
        axis.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.4, -0.6))
        axis.set_title(f"{dimension}: {question}")
    for axis in axes[-2:]:
        axis.set_xlabel("share of pairs ranked rightly")
    handles, _ = axes[0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _short(name: str) -> str:
    """A metric's name for a figure: of a model's folder or address only the last part."""
    stem, colon, words = name.partition(":")
    return f"{stem}{colon}{words.rpartition('/')[2]}"


def hard_question(rows: pd.DataFrame, model: str = "embedded") -> Markdown:
    """Bold and faithful against timid with an error, in words, set by set."""
    return _in_words(rows, str(CONTENT[-1]), "ranks the bold faithful rewrite first", model)


def whole_order(rows: pd.DataFrame, model: str = "embedded") -> Markdown:
    """Both faithful rewrites above both faulty ones, in words, set by set."""
    return _in_words(rows, ALL_RIGHT, "has both faithful rewrites above both faulty ones", model)


def _in_words(rows: pd.DataFrame, question: str, does: str, model: str) -> Markdown:
    ours, knows_nothing = metric_name(model), set(families().get("sentinel", []))
    lines = []
    for data in dict.fromkeys(rows["data"]):
        own = rows[(rows["data"] == data) & (rows["pair"] == question)].set_index("metric")
        others = own.drop(index=ours)
        sentinel = others.index.isin(knows_nothing)
        best = [part["value"].idxmax() for part in (others[~sentinel], others[sentinel])]
        lines.append(
            f"- On `{data}`, `{ours}` {does} in {_said(own.loc[ours])} of the sources; the best"
            f" similarity, `{best[0]}`, in {_said(own.loc[best[0]])}; the best sentinel,"
            f" `{best[1]}`, in {_said(own.loc[best[1]])}."
        )
    return Markdown("\n".join(lines))


def _said(row: pd.Series) -> str:
    return f"{row['value']:.0%} ({row['low']:.0%} to {row['high']:.0%})"


# ----------------------------------------------------------------------------------- why


def foreseen(bench: Bench, model: str = "embedded", sets: Sequence[str] = SETS) -> pd.DataFrame:
    """What the model foresees in each cell of each set.

    Returns:
        One row a set and cell: data, cell, C and S (means over rewrites), positive (share of
        rewrites with S above zero), unforeseen (share of tokens with a largest probability below
        :data:`UNFORESEEN`), tokens (number).
    """
    rows = []
    for name in sets:
        data = bench.dataset(name)
        found = tokens(scorer(bench, model), data)
        for cell, own in data.items.groupby("system", sort=False):
            every_one = (
                VARIANTS["equation"].columns(found[one].logprobs) for one in own["item_id"]
            )
            columns = [one for one in every_one if one.size]
            best = [one.max(axis=0) for one in columns]
            strength = [style(one) for one in columns]
            every = np.concatenate(best)
            rows.append(
                {
                    "data": name,
                    "cell": cell,
                    "C": float(np.mean([one.mean() for one in best])),
                    "S": float(np.mean(strength)),
                    "positive": float(np.mean(np.array(strength) > 0)),
                    "unforeseen": float((every < math.log(UNFORESEEN)).mean()),
                    "tokens": len(every),
                }
            )
    return pd.DataFrame(rows)


def foreseen_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`foreseen`."""
    names = {"C": "mean C", "unforeseen": f"tokens with p below {UNFORESEEN:g}"}
    return html.table(
        rows.drop(columns=["S", "positive"]).rename(columns=names),
        {names["unforeseen"]: lambda value: f"{float(value):.1%}"},  # type: ignore[arg-type]
    )


def foreseen_said(rows: pd.DataFrame) -> Markdown:
    """Which costs more, boldness or an error, on each set."""
    lines = []
    for data, own in rows.groupby("data", sort=False):
        c = own.set_index("cell")["C"]
        bold, error = c["light"] - c["strong"], c["light"] - c["light-error"]
        more = "more" if bold > error else "less"
        lines.append(
            f"- On `{data}`, being bold costs {html.signed(bold, 2)} in C on average (light less"
            f" strong) and an error {html.signed(error, 2)} (light less light-error): boldness"
            f" costs {more} than the error."
        )
    return Markdown("\n".join(lines))


def style_said(rows: pd.DataFrame) -> Markdown:
    """Where S stands for bold and for timid rewrites that keep the content, set by set."""
    lines = []
    for data, own in rows.groupby("data", sort=False):
        bold, timid = (own[own["cell"] == cell].iloc[0] for cell in ("strong", "light"))
        lines.append(
            f"- On `{data}`, S is above zero for {bold['positive']:.0%} of the bold rewrites (mean"
            f" {html.signed(bold['S'], 3)}) and for {timid['positive']:.0%} of the timid ones (mean"
            f" {html.signed(timid['S'], 3)})."
        )
    return Markdown("\n".join(lines))


def by_task(
    bench: Bench,
    model: str = "embedded",
    sets: Sequence[str] = SETS,
    pair: Pair = CONTENT[-1],
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """The hard question task by task: data, task, value, low, high, n."""
    tables = []
    for name in sets:
        data = bench.dataset(name)
        scores = bench.scores(name, metric_name(model), "source")
        won, label = wins(data, scores["value"].to_dict(), pair), tasks(data)
        for task in dict.fromkeys(label):
            part = shares([won[label == task]], draws, seed)
            tables.append(part.assign(data=name, task=task))
    return pd.concat(tables, ignore_index=True)


def by_task_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`by_task` as a grid: task by set."""
    shown = rows.assign(cell=[share_cell(row) for row in rows.to_dict("records")])
    grid = html.pivot(shown, ["task"], "data", "cell")
    return html.table(grid, dict.fromkeys(grid.columns[1:], str))


def strip(bench: Bench, data: str, source_id: str, model: str = "embedded") -> html.Html:
    """The four rewrites of a source as strips."""
    words = metric_name(model).partition(":")[2]
    return strips.contrast_strips(bench.dataset(data), [source_id], words, bench.store)


# ----------------------------------------------------------------------------- published


def published() -> html.Html:
    """Agreement with content on the published constructed set: Table 5, as printed."""
    rows = [
        {"metric": f"{'S-' * (cell.basis == 'source')}{cell.metric}", "Pearson's r": cell.printed}
        for cell in sorted(cells(), key=lambda cell: cell.value)
        if (cell.paper, cell.table) == ("pauli2025", "5")
        and cell.dataset == "constructed:all"
        and cell.statistic == "pearson"
    ]
    printed = {"Pearson's r": lambda value: f"<i>{value}</i>".replace("-", "−")}
    caption = "published (Pauli et al. 2025, Table 5, all tasks); none of it computed here"
    return html.table(pd.DataFrame(rows), printed, caption=caption)
