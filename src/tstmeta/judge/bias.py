"""What else moves a judge's ratings: the place in the request, the length, whose output it is.

Each check says by how much, and how surely, by exchanging what ought not to matter: places within a
source, the sides of a source.  None of them knows why a judge does what it does.  A judge that
prefers long outputs is only biased if people do not, so human ratings are held fixed where they are
there.

Tables here have one row a rating; :func:`tstmeta.judge.ratings.ask` and a data set's items give
their columns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..schema import TstmetaError

#: Exchanges behind a p-value; the smallest p is then one in this number and one.
EXCHANGES = 1999
#: Sums that differ by less than this share of their size are equal but for rounding.
_ROUNDING = 1e-9
#: Numbers held at once.
_ROOM = 2**21
ONE_PLACE = (
    "every system always has the same place, so that order and system cannot be told apart;"
    " compare outputs that are the same text, or ask in shuffled order"
)


class Shift(NamedTuple):
    """By how many rating points something shifts a judge.

    Attributes:
        value: the shift, see each function for its unit; NaN where there is none.
        p: two-sided, from exchanges: (b + 1) / (m + 1), never 0.
        n: ratings that count.
        groups: groups within which was exchanged.
        reason: why there is no value, or what speaks against it.
    """

    value: float
    p: float
    n: int
    groups: int
    reason: str = ""


def _needed(table: pd.DataFrame, names: Sequence[str]) -> None:
    if missing := [name for name in names if name not in table]:
        raise TstmetaError(
            f"the table has no column {', '.join(missing)}; it has {', '.join(table.columns)}"
        )


# ----------------------------------------------------------------------------------- order


def of_order(
    table: pd.DataFrame,
    within: Sequence[str] = ("source_id",),
    *,
    exchanges: int = EXCHANGES,
    rng: np.random.Generator,
) -> Shift:
    """Does a rating depend on the place of the output in the request?

    The value is the slope of the rating on the place within groups, in points a place.  Under the
    null hypothesis places may be exchanged within a group: by source where requests were shuffled;
    where systems always have the same place, only among outputs that are the same text
    (``within=("source_id", "text")``), since better systems get better ratings wherever they stand.

    Args:
        table: rating, place (from 0), the columns of ``within``; where they are there, system
            and human (held fixed by a slope of its own within groups).

    Raises:
        TstmetaError: a column is missing.
    """
    _needed(table, ["rating", "place", *within])
    known = table.dropna(subset=[name for name in ("rating", "place", "human") if name in table])
    known = known[known.groupby(list(within))["rating"].transform("size") > 1]
    group = known.groupby(list(within), sort=False).ngroup().to_numpy()
    n, groups = len(known), len(set(group.tolist()))
    rating, place = (_centred(known[name].to_numpy(float), group) for name in ("rating", "place"))
    if not n or not place.any():
        return Shift(math.nan, math.nan, n, groups, "no two outputs of a group with two places")
    if "system" in known and "text" not in within and _always(known):
        return Shift(math.nan, math.nan, n, groups, ONE_PLACE)
    people = known["human"].to_numpy(float) if "human" in known else np.zeros(n)
    human = _centred(people, group)
    return _slope(place, rating, human, group, exchanges, rng)


def _slope(
    x: np.ndarray,
    rating: np.ndarray,
    human: np.ndarray,
    group: np.ndarray,
    exchanges: int,
    rng: np.random.Generator,
) -> Shift:
    """Least-squares slope of the rating on x beside people's ratings, all centred within groups.

    What people's ratings leave of the judge's is exchanged within groups, and held against what
    they leave of x (Freedman and Lane 1983, A Nonstochastic Interpretation of Reported Significance
    Levels, Journal of Business & Economic Statistics 1).
    """
    n, groups = len(x), len(set(group.tolist()))
    alone, rest = _left(x, human), _left(rating, human)
    size = float(alone @ alone)
    if size <= _ROUNDING * float(x @ x):
        return Shift(math.nan, math.nan, n, groups, "it follows from people's ratings")
    own = float(alone @ rest)
    return Shift(own / size, _p(own, _exchanged(alone, rest, group, exchanges, rng)), n, groups)


def _always(table: pd.DataFrame) -> bool:
    """Whether each system has one place throughout, over more sources than one."""
    of_system = table.groupby("system")["place"]
    fixed = (of_system.min() == of_system.max()).all()
    return bool(fixed and len(of_system) > 1 and len(pd.unique(table["source_id"])) > 1)


def _centred(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Values ``[n]`` less the mean of their group; what is left of rounding is 0."""
    if not len(values):
        return values
    mean = np.bincount(group, values) / np.maximum(np.bincount(group), 1)
    left = values - mean[group]
    return np.where(np.abs(left) <= _ROUNDING * np.abs(values).max(), 0.0, left)


def _left(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    """What a straight line through the origin leaves of centred values ``[n]``."""
    size = float(by @ by)
    return values - (float(by @ values) / size) * by if size > 0 else values


def _exchanged(
    x: np.ndarray, rating: np.ndarray, group: np.ndarray, m: int, rng: np.random.Generator
) -> np.ndarray:
    """Sums of x times rating ``[m]``, exchanged within groups."""
    order = np.argsort(group, kind="stable")
    x, rating, group = x[order], rating[order], group[order].astype(float)
    found = []
    step = max(1, _ROOM // len(x))
    for start in range(0, m, step):
        keys = group + rng.random((min(step, m - start), len(x)))
        found.append(rating[np.argsort(keys, axis=1)] @ x)
    return np.concatenate(found)


def _p(own: float, others: np.ndarray) -> float:
    """Two-sided p: how many exchanges reach as far from 0, rounding apart."""
    reached = np.abs(others) >= abs(own) * (1 - _ROUNDING)
    return float((reached.sum() + 1) / (len(others) + 1))


def later(pairs: pd.DataFrame) -> tuple[int, int]:
    """Of pairs of the same text with different ratings: how often the later is higher, and lower.

    Args:
        pairs: as :func:`tstmeta.judge.consistency.pairs` makes them, items in the order asked.
    """
    return int((pairs["gap"] > 0).sum()), int((pairs["gap"] < 0).sum())


# ---------------------------------------------------------------------------------- length


def lengths(items: pd.DataFrame) -> pd.DataFrame:
    """Length of each output: item_id, words (between white space), ratio (to the source's words).

    The ratio is NaN where the source is empty.
    """
    words, source = (
        items[name].str.split().str.len().astype(float) for name in ("output", "source")
    )
    ratio = words / source.where(source > 0)
    return pd.DataFrame({"item_id": items["item_id"], "words": words, "ratio": ratio})


# ------------------------------------------------------------------------------- two orders


class Flips(NamedTuple):
    """Pairs that a judge was asked about in both orders.

    Attributes:
        pairs: pairs with an answer in both orders.
        kept: pairs with the same answer in both, a tie included.
        first: pairs whose first place was chosen both times, so that the winner changed.
        second: the same of the second place.
        half: pairs with a tie in one order only.
        share: share of pairs with another answer in the other order, in [0, 1].
        p: two-sided sign test of ``first`` against ``second``; NaN where there are neither.
        lost: pairs left out, as an order or an answer is missing.
    """

    pairs: int
    kept: int
    first: int
    second: int
    half: int
    share: float
    p: float
    lost: int


def of_both_orders(table: pd.DataFrame) -> Flips:
    """How often the order of two outputs decides which one is better.

    Args:
        table: one row an answer: item_first, item_second (as shown) and value: 1 where the first
            is better, 0 where the second is, 0.5 for a tie, NaN without an answer.

    Raises:
        TstmetaError: a column is missing, a value is none of these, or a pair was asked twice in
            the same order.
    """
    names = ["item_first", "item_second", "value"]
    _needed(table, names)
    known = table[names].dropna(subset="value")
    if wrong := sorted(set(known["value"]) - {0.0, 0.5, 1.0}):
        raise TstmetaError(f"an answer about two outputs is 1, 0.5 or 0, not {wrong[0]:g}")
    if known.duplicated(names[:2]).any():
        raise TstmetaError("a pair has two answers in the same order; keep one sample")
    turned = known.rename(columns={"item_first": "item_second", "item_second": "item_first"})
    both = known.merge(turned, on=names[:2], suffixes=("", "_turned"))
    both = both[both["item_first"].astype(str) < both["item_second"].astype(str)]
    asked = {frozenset(pair) for pair in table[names[:2]].itertuples(index=False)}
    one, other = both["value"].to_numpy(float), 1 - both["value_turned"].to_numpy(float)
    tied = (one == 0.5) != (other == 0.5)
    changed = (one != other) & ~tied
    first = int((changed & (one == 1)).sum())
    second = int((changed & (one == 0)).sum())
    n, kept = len(both), int((one == other).sum())
    return Flips(
        n, kept, first, second, int(tied.sum()), 1 - kept / n if n else math.nan,
        _signs(first, second), len(asked) - n,
    )  # fmt: skip


def _signs(first: int, second: int) -> float:
    from scipy.stats import binomtest

    return float(binomtest(first, first + second).pvalue) if first + second else math.nan


def both_orders(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of a prompt of unit ``pair`` as the table of :func:`of_both_orders`, first sample.

    Args:
        rows: as :func:`tstmeta.judge.ratings.ask` returns them.
    """
    _needed(rows, ["item_id", "rival", "place", "sample", "rating"])
    shown = rows[(rows["place"] == 1) & (rows["rival"] != "") & (rows["sample"] == 0)]
    columns = {"item_id": "item_first", "rival": "item_second", "rating": "value"}
    return shown[list(columns)].rename(columns=columns).reset_index(drop=True)


# ------------------------------------------------------------------------- its own outputs


def of_own_outputs(
    table: pd.DataFrame,
    own: Collection[str],
    *,
    exchanges: int = EXCHANGES,
    rng: np.random.Generator,
) -> Shift:
    """Does a judge rate its own outputs higher than people do?

    The value is what being its own adds to a rating, in points, beside a straight line on people's
    ratings: least squares within sources.  Under the null hypothesis what people leave unexplained
    may be exchanged within a source.  A judge may also like a manner that its own outputs share
    with others: that cannot be told from liking itself, unless a second judge is asked as well.
    Noise in people's ratings makes the line too flat, and a judge seems fond of itself where its
    outputs are better than others; rely on means of several raters.

    Args:
        table: source_id, system, rating, human.
        own: systems that are the judge itself.

    Raises:
        TstmetaError: a column is missing, or no system is among its own.
    """
    _needed(table, ["source_id", "system", "rating", "human"])
    known = table.dropna(subset=["rating", "human"])
    mine = known["system"].isin(set(own))
    if not mine.any():
        listed = ", ".join(sorted(set(known["system"].astype(str)))) or "none"
        raise TstmetaError(
            f"no output is by {', '.join(sorted(own)) or 'nobody'}; systems: {listed}"
        )
    known = known[mine.groupby(known["source_id"]).transform("nunique") == 2]
    if known.empty:
        return Shift(math.nan, math.nan, 0, 0, "no source has outputs of both kinds")
    group = pd.factorize(known["source_id"])[0]
    kind, rating, human = (
        _centred(side.to_numpy(float), group)
        for side in (mine[known.index], known["rating"], known["human"])
    )
    return _slope(kind, rating, human, group, exchanges, rng)
