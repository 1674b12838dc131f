"""What printed cells alone allow: GM, wins, and thresholds that flatter (pang2019).

The outputs and the annotations of pang2019 are not public.  Three things can still be checked:
whether the printed GM follows from the printed Acc, Sim and PP; whether the printed differences of
two models point where people's printed preferences point; and how far thresholds that are fitted on
pairs flatter themselves on those same pairs, which needs no data of theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy.stats import binomtest

from ..combine.gm import PRINTED, gm, learn
from . import html
from .cells.pang2019 import PAPER
from .ledger import ledger
from .published import Cell, cells

#: The paper marks wins of at least so many points (Table 4, bold).
DECISIVE = 10.0
EQUAL, WITHIN, NO = "equal", "within rounding", "does not follow"
_DATA = {"yelp": "Yelp", "literature": "Literature"}
#: Criterion of Table 4 -> the metric that claims it, and whether more of it is better.
CRITERIA = {
    "transfer quality": ("Acc", True),
    "semantic preservation": ("Sim", True),
    "fluency": ("PP", False),
}


def _printed(*tables: str) -> list[Cell]:
    return [one for one in cells() if one.paper == PAPER and one.table in tables]


# -------------------------------------------------------------------------------------- GM


def recomputed() -> pd.DataFrame:
    """GM of every model from its printed Acc, Sim and PP (Tables 2 and 3).

    Returns:
        One row a model and data set: data, model, acc, sim, pp, printed (GM as printed), gm (ours),
        verdict (:data:`EQUAL` at the decimals printed; :data:`WITHIN`: equal for some inputs within
        their rounding; :data:`NO`), cell.
    """
    rows = []
    for table in ("2", "3"):
        found = ledger(PAPER, table).set_index("cell")
        parts = {(one.dataset, one.item, one.metric): one for one in _printed(table)}
        for one in _printed(table):
            if one.metric != "GM":
                continue
            entry = found.loc[one.cell]
            verdict = NO
            if entry["status"] == "printed-only":
                verdict = WITHIN if entry["reason"] else EQUAL
            three = [parts[(one.dataset, one.item, name)].value for name in ("Acc", "Sim", "PP")]
            head = (_DATA[one.dataset], one.item, *three)
            rows.append((*head, one.printed, float(entry["ours"]), verdict, one.cell))
    columns = ["data", "model", "acc", "sim", "pp", "printed", "gm", "verdict", "cell"]
    return pd.DataFrame(rows, columns=columns)


def recomputed_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`recomputed`."""
    shown = rows.drop(columns=["cell"]).rename(
        columns={"acc": "Acc", "sim": "Sim", "pp": "PP", "printed": "GM, printed", "gm": "GM, ours"}
    )
    shown["PP"] = [html.signed(value, 1) for value in shown["PP"]]
    shown["GM, ours"] = [html.signed(value) for value in shown["GM, ours"]]
    count = rows["verdict"].value_counts()
    told = ", ".join(f"{count[name]} {name}" for name in (EQUAL, WITHIN, NO) if name in count)
    return html.table(shown, caption=f"GM from printed parts, {len(rows)} models: {told}")


def thresholds_said() -> Markdown:
    """GM and its printed thresholds (pang2019unsupervised, Section 3.3) in words."""
    at = [f"{value:g}".replace("-", "−") for value in PRINTED]
    return Markdown(
        f"GM is the cube root of three factors: how far 100 Acc lies above {at[0]}, how far 100 Sim"
        f" lies above {at[1]}, and how far PP lies from both {at[2]} and {at[3]}, the nearer one."
        " A factor below zero counts as zero."
    )


# ------------------------------------------------------------------------------------ wins


def wins() -> pd.DataFrame:
    """Differences of two models (A - B) beside people's preferences (Table 4).

    Returns:
        One row a pair and criterion: data, pair, criterion, metric, printed (the difference in
        Table 4, NaN for Acc, which has none there), difference (from Tables 2 and 3), a, b, tie
        (percent of people's answers), people (a - b), decisive (a win of at least
        :data:`DECISIVE` points), as_printed and agrees (whether the printed and the recomputed
        difference point where people do; None without a difference).
    """
    level = {(one.dataset, one.item, one.metric): one.value for one in _printed("2", "3")}
    table = {(one.dataset, one.item, one.metric): one.value for one in _printed("4")}
    pairs = dict.fromkeys((data, item.partition(":")[0]) for data, item, _ in table)
    rows = []
    for data, pair in pairs:
        first, second = pair.split(" vs ")
        for criterion, (metric, more) in CRITERIA.items():
            a, b, tie = (
                table[(data, f"{pair}: {out}", criterion)] for out in ("A>B", "B>A", "Tie")
            )
            printed = table.get((data, f"{pair}: A-B", f"delta_{metric}"), math.nan)
            difference = level[(data, first, metric)] - level[(data, second, metric)]
            difference = round(difference, 9)  # equal cells differ by nothing
            people, sign = a - b, 1.0 if more else -1.0
            head = (_DATA[data], pair, criterion, metric, printed, difference, a, b, tie, people)
            both = (_same(sign * printed, people), _same(sign * difference, people))
            rows.append((*head, bool(abs(people) >= DECISIVE), *both))
    columns = ["data", "pair", "criterion", "metric", "printed", "difference", "a", "b", "tie"]
    return pd.DataFrame(rows, columns=[*columns, "people", "decisive", "as_printed", "agrees"])


def _same(difference: float, people: float) -> bool | None:
    if math.isnan(difference) or difference == 0 or people == 0:
        return None
    return bool(difference * people > 0)


class Share(NamedTuple):
    """A share of n with its exact (Clopper-Pearson) interval."""

    right: int
    n: int
    share: float
    low: float
    high: float


def exact(right: int, n: int, confidence: float = 0.95) -> Share:
    """A share with the interval of Clopper and Pearson (1934), which holds at any n.

    It takes the n for independent.  Pairs of a handful of models are not: read it as the least
    doubt there is.
    """
    if not n:
        return Share(right, n, math.nan, math.nan, math.nan)
    limits = binomtest(right, n).proportion_ci(confidence, method="exact")
    return Share(right, n, right / n, float(limits.low), float(limits.high))


#: How wins can be counted: words, column, and whether only decisive wins count.
WAYS: tuple[tuple[str, str, bool], ...] = (
    ("difference as printed in Table 4", "as_printed", False),
    ("difference from Tables 2 and 3", "agrees", False),
    ("the same, wins of at least 10 points", "agrees", True),
)


def sign_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """How often the sign of a difference is that of people's preference.

    Returns:
        One row a metric (and ``Sim and PP`` together) and way of :data:`WAYS`: metric, way, right,
        n, share, low, high.
    """
    found = []
    groups = {"Sim": ["Sim"], "PP": ["PP"], "Sim and PP": ["Sim", "PP"], "Acc": ["Acc"]}
    for name, metrics in groups.items():
        own = rows[rows["metric"].isin(metrics)]
        for way, column, decisive in WAYS:
            used = own[own["decisive"]] if decisive else own
            told = [one for one in used[column] if one is not None]
            if len(used) and not told:
                continue  # Table 4 has no difference of Acc
            found.append((name, way, *exact(sum(told), len(told))))
    return pd.DataFrame(found, columns=["metric", "way", *Share._fields])


def wins_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`wins`."""
    shown = pd.DataFrame(
        {
            "models": rows["data"] + ", " + rows["pair"],
            "people asked for": rows["criterion"],
            "A wins, %": [html.signed(value, 1) for value in rows["a"]],
            "B wins, %": [html.signed(value, 1) for value in rows["b"]],
            "tie, %": [html.signed(value, 1) for value in rows["tie"]],
            "metric": rows["metric"],
            "A − B, printed": [
                html.signed(value, 1 if metric == "PP" else 2)
                for value, metric in zip(rows["printed"], rows["metric"], strict=True)
            ],
            "A − B, from Tables 2, 3": [
                html.signed(value, 1 if metric == "PP" else 3)
                for value, metric in zip(rows["difference"], rows["metric"], strict=True)
            ],
            "same way": ["–" if one is None else "yes" if one else "no" for one in rows["agrees"]],
        }
    )
    return html.table(shown, caption="Less perplexity (PP) is better, so its sign counts turned")


def sign_table(found: pd.DataFrame) -> html.Html:
    """Rows of :func:`sign_agreement`."""
    shown = pd.DataFrame(
        {
            "metric": found["metric"],
            "what is counted": found["way"],
            "same sign": [f"{a} of {n}" for a, n in zip(found["right"], found["n"], strict=True)],
            "share": [html.signed(value) for value in found["share"]],
            "exact 95% interval": limits(found),
        }
    )
    return html.table(shown)


def limits(found: pd.DataFrame) -> list[str]:
    """Low and high as text."""
    both = zip(found["low"], found["high"], strict=True)
    return ["–" if math.isnan(a) else f"{html.signed(a)} to {html.signed(b)}" for a, b in both]


# ------------------------------------------------------------------------- fitted thresholds


def gm_preferences() -> Share:
    """The pairs on which GM agrees with people (Section 6.3), with an exact interval.

    Whether thresholds were fitted on these very pairs is not known: the text speaks of as many
    annotated pairs in both places.
    """
    note = next(one.note for one in _printed("5") if one.metric == "GM")
    right, n = map(int, re.findall(r"(\d+) of (\d+)", note)[0])
    return exact(right, n)


def coin_flips(
    pairs: Sequence[int] = (30, 100, 300), replicates: int = 10, seed: int = 0
) -> pd.DataFrame:
    """How well GM agrees with coins when its thresholds are fitted on them.

    Texts get Acc, Sim and PP at random, a coin says which of two is better, and thresholds are
    learned.  On the pairs that they were learned from, agreement is above one half; on as many new
    pairs it is not.

    Returns:
        One row a number of pairs: pairs, fitted, new (mean share of agreement; a tie is half
        right), error (standard error of the larger), replicates.
    """
    rows = []
    for n in pairs:
        rng = np.random.default_rng([seed, n])
        shares = np.empty((replicates, 2))
        for k in range(replicates):
            old, new = (_texts(n, rng) for _ in range(2))
            t = learn(*old, seed=k).thresholds
            shares[k] = [_agreed(old, t), _agreed(new, t)]
        fitted, unseen = shares.mean(axis=0)
        error = float(shares.std(axis=0, ddof=1).max() / math.sqrt(replicates))
        rows.append((n, float(fitted), float(unseen), error, replicates))
    return pd.DataFrame(rows, columns=["pairs", "fitted", "new", "error", "replicates"])


def _texts(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Acc, Sim and PP of n pairs ``[3, n]`` each; which is better is chance."""
    first, second = (
        np.stack([rng.uniform(0.3, 1.0, n), rng.uniform(0.5, 1.0, n), rng.lognormal(3.5, 0.6, n)])
        for _ in range(2)
    )
    return first, second


def _agreed(texts: tuple[np.ndarray, np.ndarray], thresholds) -> float:
    better, worse = (gm(one[0], one[1], one[2], thresholds) for one in texts)
    return float(((np.sign(better - worse) + 1.0) / 2.0).mean())


def coin_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`coin_flips`."""
    shown = pd.DataFrame(
        {
            "pairs": rows["pairs"],
            "on the pairs fitted on": [f"{value:.0%}" for value in rows["fitted"]],
            "on new pairs": [f"{value:.0%}" for value in rows["new"]],
            "standard error": [f"± {value:.0%}" for value in rows["error"]],
        }
    )
    times = int(rows["replicates"].iloc[0])
    caption = f"GM against coins, mean of {times} worlds; the larger error of the two"
    return html.table(shown, caption=caption)
