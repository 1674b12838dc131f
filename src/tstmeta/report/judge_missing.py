"""What the treatment of answers that are no rating does to agreement.

The released ratings have no gaps, and it is not told whether any were filled.  So gaps are made
here, in ratings that are complete, and each treatment is held against the agreement without gaps.
Ratings of one's own that have gaps are treated as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from .. import stats
from ..judge.treatments import TREATMENTS, counted, treated
from . import html
from .bench import Bench
from .figures import BLUE, GREEN, ORANGE, Picture, _panels, _styled
from .judge_consistency import NONE_HERE
from .judge_ratings import Given, captioned
from .ledger import ledger
from .published import cells

#: Share of answers without a rating.
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
#: Which answers a judge does not give.
AT_RANDOM, LOW, HIGH = "at random", "where people rate low", "where people rate high"
FAR = "where it is farthest off"
_LOOKS = {"drop": (BLUE, "o"), "mean": (GREEN, "s"), "worst": (ORANGE, "v")}


class _Case(NamedTuple):
    """Ratings without gaps: rows, and people's means in their order."""

    rows: pd.DataFrame
    human: np.ndarray


def _case(one: Given) -> _Case:
    rows = one.rows[one.rows["sample"] == 0].reset_index(drop=True)
    human = rows["item_id"].map(one.human).to_numpy(float)
    kept = np.isfinite(human) & rows["rating"].notna().to_numpy()
    return _Case(rows[kept].reset_index(drop=True), human[kept])


def agreement(rows: pd.DataFrame, human: np.ndarray, how: str) -> float:
    """Pearson's r of treated ratings with people's means ``[rows]``."""
    return stats.pearson(human, treated(rows, how)["value"].to_numpy(float)).value


def made(
    one: Given, shares: Sequence[float] = SHARES, times: int = 20, seed: int = 0
) -> pd.DataFrame:
    """Gaps of each share and kind in the ratings of one judge, and each treatment of them.

    Kinds: at random; where people rate low, or high; where the judge is farthest from the straight
    line on people's ratings.  An item's chance to be left out doubles with each third of the items
    towards that end.

    Returns:
        gaps (which), share, treatment, value (mean of Pearson's r over ``times`` draws), low and
        high (the smallest and largest of them), whole (r without gaps), n.
    """
    case = _case(one)
    n, rng = len(case.human), np.random.default_rng(seed)
    if n < 3:
        return pd.DataFrame()
    whole = agreement(case.rows, case.human, "drop")
    found = []
    for kind, weight in _kinds(case).items():
        for share in shares:
            gone = max(1, round(share * n))
            drawn = np.array([rng.choice(n, gone, False, weight) for _ in range(times)])
            for how, values in _treated(case, drawn).items():
                ends = float(values.min()), float(values.max())
                found.append((kind, share, how, float(values.mean()), *ends, whole, n))
    names = ["gaps", "share", "treatment", "value", "low", "high", "whole", "n"]
    return pd.DataFrame(found, columns=names)


def of_first(judged: Sequence[Given], seed: int = 0) -> pd.DataFrame:
    """:func:`made` of the first judge of content without gaps, people beside; else no rows."""
    one = _complete(judged)
    return pd.DataFrame() if one is None else made(one, seed=seed)


def _complete(judged: Sequence[Given]) -> Given | None:
    """The first judge of content that has no gaps of its own, where people rated, too."""
    for one in judged:
        whole = one.rows["rating"].notna().all() and one.human.notna().any()
        if one.dimension == "content" and whole:
            return one
    return None


def _kinds(case: _Case) -> dict[str, np.ndarray]:
    """Chance of each item ``[n]`` to be left out, by kind of gaps."""
    rating, human = case.rows["rating"].to_numpy(float), case.human
    slope, level = np.polyfit(human, rating, 1) if np.ptp(human) else (0.0, rating.mean())
    off = np.abs(rating - slope * human - level)

    def towards(end: np.ndarray) -> np.ndarray:
        third = np.argsort(np.argsort(end, kind="stable")) * 3 // len(end)
        return 2.0**third / (2.0**third).sum()

    some = np.full(len(human), 1 / len(human))
    return {AT_RANDOM: some, LOW: towards(-human), HIGH: towards(human), FAR: towards(off)}


def _treated(case: _Case, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """Pearson's r ``[times]`` under each treatment, with the items ``[times, gone]`` left out.

    Each draw counts as a judge of its own, so that all are treated at once and alone.
    """
    times, n = len(drawn), len(case.human)
    rating = np.tile(case.rows["rating"].to_numpy(float), (times, 1))
    rating[np.arange(times)[:, None], drawn] = math.nan
    rows = pd.concat([case.rows] * times, ignore_index=True)
    rows = rows.assign(rating=rating.ravel(), revision=np.repeat(np.arange(times), n).astype(str))
    found = {}
    for how in TREATMENTS:
        values = treated(rows, how)["value"].to_numpy(float).reshape(times, n)
        found[how] = np.array([stats.pearson(case.human, one).value for one in values])
    return found


def picture(rows: pd.DataFrame) -> Picture | Markdown:
    """Rows of :func:`made`: agreement against the share of gaps, a panel a kind of gaps."""
    return html.SILENCE if rows.empty else Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(rows["gaps"]))
    figure, axes = _panels(len(names), 3.7, 2.5, most=2, sharex=True, sharey=True)
    for axis, name in zip(axes, names, strict=True):
        axis.axhline(rows["whole"].iloc[0], color="#222222", lw=0.9, label="no gaps")
        for how, (colour, marker) in _LOOKS.items():
            own = rows[(rows["gaps"] == name) & (rows["treatment"] == how)]
            share = 100 * own["share"]
            axis.fill_between(share, own["low"], own["high"], color=colour, alpha=0.13, lw=0)
            axis.plot(share, own["value"], color=colour, marker=marker, ms=4.5, lw=1.3, label=how)
        axis.set_title(f"gaps {name}", fontsize=9)
    for axis in axes[-2:]:
        axis.set_xlabel("answers without a rating, %")
    for axis in axes[::2]:
        axis.set_ylabel("r with people")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def said(rows: pd.DataFrame, share: float = 0.2) -> Markdown:
    """What the treatments give at one share of gaps, and which looks best and worst."""
    if rows.empty:
        return html.SILENCE
    nearest = min(rows["share"].unique(), key=lambda one: abs(one - share))
    lines, best, least = [], [], []
    for kind, own in rows[rows["share"] == nearest].groupby("gaps", sort=False):
        best.append(own.loc[own["value"].idxmax(), "treatment"])
        least.append(own.loc[own["value"].idxmin(), "treatment"])
        values = ", ".join(
            f"*{row.treatment}* {html.signed(row.value, 3)}" for row in own.itertuples()
        )
        lines.append(f"- gaps {kind}: {values}")
    whole = html.signed(rows["whole"].iloc[0], 3)
    return Markdown(
        f"Without gaps r is {whole} (n = {rows['n'].iloc[0]:,}). With {nearest:.0%} gaps it is, on"
        " average over draws:\n\n" + "\n".join(lines) + "\n\n"
        f"r is highest with {_often(best)}, and lowest with {_often(least)}."
    )


def _often(names: Sequence[str]) -> str:
    """Names with how often each stands there, the most frequent first."""
    count = Counter(names)
    return ", ".join(f"*{name}* in {n} of {len(names)} kinds" for name, n in count.most_common())


# ------------------------------------------------------------------- as printed, and one's own


def printed(bench: Bench, judged: Sequence[Given], times: int = 20, seed: int = 0) -> html.Html:
    """Table 8 of pauli2025: unparsed answers as printed, and what treatments do at such shares.

    The counts are another judge's and cannot be recomputed.  The last two columns make as large a
    share of gaps in released ratings that are here, and say how far treatments move r at most.
    """
    found = ledger("pauli2025", "8", bench).set_index("cell")
    wanted = [cell for cell in cells() if (cell.paper, cell.table) == ("pauli2025", "8")]
    content = _complete(judged)
    lines = []
    for name in dict.fromkeys(cell.dataset for cell in wanted):
        own = {cell.item: cell for cell in wanted if cell.dataset == name}
        shown = {
            item: html.status_cell(
                found.loc[cell.cell, "ours"] if found.loc[cell.cell, "n"] else math.nan,
                cell.printed,
                found.loc[cell.cell, "status"],
                f"{found.loc[cell.cell, 'status']}; {found.loc[cell.cell, 'reason']}",
                0,
            )
            for item, cell in own.items()
        }
        share = own["unparsed_content"].value / own["out_of"].value
        line = {
            "data": name,
            "style": shown["unparsed_style"],
            "content": shown["unparsed_content"],
        }
        line |= {"out of": shown["out_of"], "share": f"{share:.2%}"}
        if content is not None:
            line["r moves by at most"] = _moves(content, share, times, seed)
        lines.append(line)
    frame = pd.DataFrame(lines)
    raw = dict.fromkeys(("style", "content", "out of"), str)
    caption = "answers without a rating, Table 8 (published)"
    if content is not None:
        caption += f"; last column: {content.name}, {content.dimension}, {content.data.name}"
    return html.table(frame, raw, caption=caption)


def _moves(one: Given, share: float, times: int, seed: int) -> str:
    """The largest change of r over treatments, kinds of gaps and draws; none without gaps."""
    if not share:
        return "–"
    rows = made(one, [share], times, seed)
    if rows.empty:
        return "–"
    return f"{max((rows['high'] - rows['whole']).max(), (rows['whole'] - rows['low']).max()):.3f}"


def own_gaps(judged: Sequence[Given]) -> html.Html | Markdown:
    """Ratings that have gaps: how many, and agreement under each treatment."""
    if not judged:
        return NONE_HERE
    lines = []
    for one in judged:
        count = counted(one.rows).iloc[0]
        if count["rated"] == count["rows"]:
            continue
        human = one.rows["item_id"].map(one.human).to_numpy(float)
        line = {"data": one.data.name, "judge": one.judge, "prompt": one.prompt}
        line |= {"dimension": one.dimension}
        counts = {"answers": int(count["rows"]), "rated": int(count["rated"])}
        lines.append(line | counts | {how: agreement(one.rows, human, how) for how in TREATMENTS})
    if not lines:
        return Markdown("*None of the ratings on this page has a gap: all treatments are one.*")
    shown, caption = captioned(pd.DataFrame(lines), ("data", "judge"), "Pearson's r with people")
    return html.table(shown, caption=caption)


def treatments() -> html.Html:
    """What each treatment does."""
    return html.table(pd.DataFrame(TREATMENTS.items(), columns=["treatment", "what it does"]))
