"""The second half of lesson 6: what the choices behind the two equations do on a whole set.

A logarithm in content and none in style strength; the mean over tokens; the variant of the paper's
own program.  Everything follows from the token log-probabilities of the contrast set, so that no
model runs twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...data import Dataset
from ...likelihood.scorer import Judged
from ...likelihood.tokens import VARIANTS, Variant, content, style
from ...stats import pearson
from .. import html
from ..bench import Bench
from ..figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from .likelihoods import CONTENT, STYLE, Pair, scorer, share_cell, shares, tasks, tokens, wins
from .probability import Case

#: Share of the least foreseen tokens that the text speaks of.
WORST = 0.1


class Whole(NamedTuple):
    """A set with the tokens of all its rewrites, once as printed and once as released."""

    data: Dataset
    equation: dict[str, Judged]
    released: dict[str, Judged]


def whole(bench: Bench, model: str = "embedded", name: str = "contrast") -> Whole:
    """All rewrites of a set under both variants, through the cache of tokens."""
    data = bench.dataset(name)
    own, theirs = scorer(bench, model), scorer(bench, model, "released")
    return Whole(data, tokens(own, data), tokens(theirs, data))


def _values(
    judged: Mapping[str, Judged],
    function: Callable[[np.ndarray], float],
    variant: Variant = VARIANTS["equation"],
) -> dict[str, float]:
    """A function of each rewrite's columns; NaN where there is none."""
    found = {}
    for item_id, one in judged.items():
        columns = variant.columns(one.logprobs)
        found[item_id] = function(columns) if columns.size else math.nan
    return found


# ----------------------------------------------------------------------------- logarithms


def _content_plain(logprobs: np.ndarray) -> float:
    return float(np.exp(logprobs.max(0)).mean())


def _style_log(logprobs: np.ndarray) -> float:
    return float((logprobs[0] - logprobs[1:].max(0)).mean())


MEANS: tuple[tuple[str, Callable[[np.ndarray], float], tuple[Pair, ...]], ...] = (
    ("C: mean of ln max p (Eq. 1)", content, CONTENT),
    ("mean of max p, no logarithm", _content_plain, CONTENT),
    ("S: mean of the lead in p (Eq. 2)", style, STYLE),
    ("mean of the lead in ln p", _style_log, STYLE),
)


def logarithms(found: Whole, draws: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Pairs ranked rightly with a logarithm and without one.

    Returns:
        One row a mean and pair: mean, pair, value, low, high, n.
    """
    rows, won = [], []
    for name, function, pairs in MEANS:
        values = _values(found.equation, function)
        for pair in pairs:
            rows.append({"mean": name, "pair": str(pair)})
            won.append(wins(found.data, values, pair))
    return pd.DataFrame(rows).join(shares(won, draws, seed, tasks(found.data)))


def shares_table(rows: pd.DataFrame, by: str = "mean") -> html.Html:
    """Shares as a grid: a row each of ``by``, a column a pair, limits beside the value."""
    shown = rows.assign(cell=[share_cell(row) for row in rows.to_dict("records")])
    grid = html.pivot(shown, [by], "pair", "cell").rename(columns={by: ""})
    return html.table(grid, dict.fromkeys([name for name in grid.columns if name], str))


# ----------------------------------------------------------------- the price of surprises


def costs(found: Whole, systems: tuple[str, ...] = ("light", "strong")) -> dict[str, np.ndarray]:
    """-ln of the largest probability of every token of the kept rewrites, dearest first."""
    items = found.data.items
    made = {}
    for system in systems:
        ids = items.loc[items["system"] == system, "item_id"]
        columns = [VARIANTS["equation"].columns(found.equation[one].logprobs) for one in ids]
        made[system] = -np.sort(np.concatenate([own.max(0) for own in columns if own.size]))
    return made


def of_the_dearest(cost: np.ndarray, share: float = WORST) -> float:
    """What part of all cost the dearest tokens make; ``cost`` is sorted, dearest first."""
    count = max(1, round(share * len(cost)))
    return float(cost[:count].sum() / cost.sum())


def surprises(found: Whole) -> Picture:
    """How much of the whole cost a few tokens make, and how costs are spread."""
    return Picture(_surprises(costs(found)))


@_styled
def _surprises(made: Mapping[str, np.ndarray]) -> Figure:
    figure, (left, right) = _panels(2, 3.6, 2.9)
    looks = dict(zip(made, ((BLUE, "-"), (ORANGE, "--")), strict=False))
    for name, cost in made.items():
        colour, line = looks[name]
        part = np.arange(1, len(cost) + 1) / len(cost)
        total = np.cumsum(cost) / cost.sum()
        left.plot(100 * part, 100 * total, color=colour, linestyle=line, label=name)
        steps = np.linspace(0, max(map(np.max, made.values())), 40)
        above = [(cost > one).mean() * 100 for one in steps]
        right.plot(steps, above, color=colour, linestyle=line, label=name)
    left.axvline(100 * WORST, color=GREY, lw=1, linestyle=":")
    left.set(xlabel="tokens, dearest first, %", ylabel="share of the whole cost, %")
    left.set(xlim=(0, 100), ylim=(0, 102))
    left.set_title("Unforeseen tokens make the mean")
    left.legend()
    right.set(
        xlabel="−ln of the largest probability", ylabel="tokens that cost more, %", ylim=(0, None)
    )
    right.set_title("How dear tokens are")
    return figure


def surprises_said(found: Whole) -> Markdown:
    """The share of the dearest tenth, in words."""
    made = costs(found)
    said = " and ".join(f"{of_the_dearest(cost):.0%} in {name} ones" for name, cost in made.items())
    return Markdown(
        f"The dearest tenth of the tokens makes {said} of all the cost of rewrites that keep the"
        " content."
    )


# ----------------------------------------------------------------------- the other variant

_STEPS = (
    ("as printed (equation)", Variant("", ""), False),
    ("… the first token left out", Variant("", "", skip_first=True), False),
    ("… and the end of the turn scored", Variant("", "", skip_first=True, end_of_turn=True), False),
    ("… and the bare header, bfloat16 (released)", VARIANTS["released"], True),
)


def variants(one: Case, found: Whole) -> html.Html:
    """From the equations to the paper's program, a change at a time, on the two rewrites."""
    rows = []
    for name, variant, theirs in _STEPS:
        judged = found.released if theirs else found.equation
        kept, wrong = (
            variant.columns(judged[each.item_id].logprobs) for each in (one.kept, one.wrong)
        )
        rows.append(
            {
                "what is computed": name,
                f"C {one.kept.cell}": content(kept),
                f"C {one.wrong.cell}": content(wrong),
                "difference": content(kept) - content(wrong),
                f"S {one.kept.cell}": style(kept),
                f"S {one.wrong.cell}": style(wrong),
            }
        )
    return html.table(pd.DataFrame(rows))


def variants_compared(found: Whole) -> pd.DataFrame:
    """How far the two variants agree over the set.

    Returns:
        One row a dimension: dimension, r (over rewrites), moved (mean absolute difference), turned
        (share of pairs whose order is another), n.
    """
    rows = []
    for name, function, pairs in (("content", content, CONTENT), ("style", style, STYLE)):
        ours = _values(found.equation, function)
        theirs = _values(found.released, function, VARIANTS["released"])
        a, b = (np.array([each[one] for one in ours], dtype=float) for each in (ours, theirs))
        there = np.isfinite(a) & np.isfinite(b)
        won = [[wins(found.data, each, pair) for pair in pairs] for each in (ours, theirs)]
        changed = np.array(won[0]) != np.array(won[1])
        rows.append(
            {
                "dimension": name,
                "r": pearson(a[there], b[there]).value,
                "moved": float(np.abs(a - b)[there].mean()),
                "turned": float(changed.mean()),
                "n": int(there.sum()),
            }
        )
    return pd.DataFrame(rows)


def variants_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`variants_compared`."""
    names = {
        "r": "Pearson's r of the two variants",
        "moved": "mean difference, absolute",
        "turned": "pairs in another order",
    }
    shown = rows.rename(columns=names)
    return html.table(shown, {names["turned"]: lambda value: f"{float(value):.1%}"})  # type: ignore[arg-type]


# ----------------------------------------------------------------- kinds of errors, length


def kinds(found: Whole, draws: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Pairs with and without an error, by what the error is.

    Returns:
        One row an error and pair: error, pair, value, low, high, n.
    """
    values, task = _values(found.equation, content), tasks(found.data)
    wrong = found.data.items["system"].eq("light-error").to_numpy()
    error = found.data.label("error").to_numpy(str)[wrong]
    rows, won = [], []
    for kind in ("substitution", "insertion", "deletion"):
        for pair in CONTENT[:2]:
            rows.append({"error": kind, "pair": str(pair)})
            won.append(np.where(error == kind, wins(found.data, values, pair), np.nan))
    return pd.DataFrame(rows).join(shares(won, draws, seed, np.char.add(task, error)))


def lengths(found: Whole, parts: int = 3) -> pd.DataFrame:
    """What a substituted fact costs in short and in long rewrites.

    Sources with a substitution (a sum over tokens would gain from words left out) are cut in
    ``parts`` by the tokens of their light rewrite.

    Returns:
        One row a part: part, sources, and means of tokens, C (of light rewrites), margin (light
        less light-error in C), won (share of these pairs), total (the margin in sums of logarithms,
        not in means).
    """
    data, own = found.data, found.equation
    items = data.items[data.label("error").isin(["none", "substitution"]).to_numpy()]
    rows = []
    for _, group in items.groupby("source_id", sort=False):
        ids = dict(zip(group["system"], group["item_id"], strict=True))
        if "light-error" in ids:
            kept, wrong = (
                VARIANTS["equation"].columns(own[ids[cell]].logprobs).max(0)
                for cell in ("light", "light-error")
            )
            margin = kept.mean() - wrong.mean()
            won, total = (np.sign(margin) + 1) / 2, kept.sum() - wrong.sum()
            rows.append((len(kept), kept.mean(), margin, won, total))
    made = pd.DataFrame(rows, columns=["tokens", "C", "margin", "won", "total"])
    order = np.argsort(np.argsort(made["tokens"].to_numpy(), kind="stable"), kind="stable")
    made["part"] = order * parts // max(len(made), 1)
    means = made.groupby("part").mean()
    means.insert(0, "sources", made.groupby("part").size())
    return means.reset_index()


def lengths_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`lengths`."""
    names = {0: "shortest", len(rows) - 1: "longest"}
    shown = pd.DataFrame(
        {
            "rewrites": [names.get(int(part), "middle") for part in rows["part"]],
            "sources": rows["sources"],
            "tokens": [f"{value:.1f}" for value in rows["tokens"]],
            "C of light": rows["C"],
            "error costs, in the sum": rows["total"],
            "error costs, in C": rows["margin"],
            "ranked rightly": [f"{value:.1%}" for value in rows["won"]],
        }
    )
    return html.table(shown)
