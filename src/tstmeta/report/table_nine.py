"""Table 9 of pauli2025 beside ours, and the exact tie in it.

The table ranks systems by mean content rating.  Two systems of mir are rated exactly alike, and
which one comes first is up to the order in which a program adds the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from . import html
from .bench import Bench
from .ledger import ledger
from .printed import grid
from .published import Cell, cells, names

DATA = "mir"
_NO_MIR = Markdown("*This section needs the ratings of mir: `tstmeta data fetch mir`.*")


def _nine(statistic: str) -> list[Cell]:
    return [
        cell
        for cell in cells()
        if (cell.paper, cell.table, cell.statistic) == ("pauli2025", "9", statistic)
    ]


def printed(bench: Bench) -> html.Html:
    """Table 9 of pauli2025: Kendall's tau-b over the means of systems."""
    return grid(bench, _nine("kendall"), lambda cell: f"S-{cell.metric}", lambda cell: cell.dataset)


def printed_p(bench: Bench) -> html.Html:
    """The p-values of Table 9."""
    return grid(bench, _nine("pvalue"), lambda cell: f"S-{cell.metric}", lambda cell: cell.dataset)


# ------------------------------------------------------------------------------------ the tie


def _fraction(values: np.ndarray) -> Fraction:
    """The exact mean: ratings are means of two or three people, so six times a rating is whole."""
    return Fraction(int(np.round(6 * values).sum()), 6 * len(values))


def _running(values: np.ndarray) -> float:
    """One after another, as a loop adds them."""
    return float(np.add.accumulate(values)[-1]) / len(values)


#: How a program may take a mean.
WAYS: dict[str, Callable[[np.ndarray], float]] = {
    "as fractions": lambda values: float(_fraction(values)),
    "without rounding on the way (math.fsum)": lambda values: math.fsum(values) / len(values),
    "numpy.mean": lambda values: float(np.mean(values)),
    "one after another": _running,
}


def _ratings(bench: Bench) -> dict[str, np.ndarray]:
    """Content ratings of each system, in the order of the files."""
    data = bench.dataset(DATA)
    human = data.means["content"].to_numpy(float)
    systems = data.items["system"].to_numpy(str)
    return {name: human[systems == name] for name in dict.fromkeys(systems.tolist())}


def _tied(rated: dict[str, np.ndarray]) -> tuple[str, str]:
    """The first two systems with the same exact mean."""
    seen: dict[Fraction, str] = {}
    for name, values in rated.items():
        mean = _fraction(values)
        if mean in seen:
            return seen[mean], name
        seen[mean] = name
    raise ValueError("no two systems are rated alike")


def tie(bench: Bench) -> html.Html | Markdown:
    """Both means to full precision by each way of taking them, and the tau-b that comes out."""
    if not bench.has(DATA):
        return _NO_MIR
    rated = _ratings(bench)
    first, second = _tied(rated)
    shown = [one for one in _nine("kendall") if one.dataset == DATA]
    metrics = {one.metric: names("pauli2025", "metric")[one.metric][0] for one in shown}
    scores = {name: _scores(bench, ours) for name, ours in metrics.items() if ours}
    rows = []
    for way, mean in WAYS.items():
        people = np.array([mean(values) for values in rated.values()])
        place = list(rated)
        gap = people[place.index(first)] - people[place.index(second)]
        row = {
            "mean taken": way,
            first: repr(float(people[place.index(first)])),
            second: repr(float(people[place.index(second)])),
            "difference": f"{gap:.1e}".replace("-", "−") if gap else "0",
        }
        rows.append(row | {f"S-{name}": _tau(people, values) for name, values in scores.items()})
    exact = np.array([float(_fraction(values)) for values in rated.values()])
    for words, sign in (("tie broken as the metric has it", 1), ("tie broken against it", -1)):
        row = {"mean taken": words, first: "–", second: "–", "difference": "–"}
        broken = {}
        for name, values in scores.items():
            i, j = list(rated).index(first), list(rated).index(second)
            people = exact.copy()
            people[i] += sign * 1e-9 * np.sign(values[i] - values[j])
            broken[f"S-{name}"] = _tau(people, values)
        rows.append(row | broken)
    printed = {f"S-{one.metric}": one.printed for one in shown if one.metric in scores}
    rows.append({"mean taken": "printed", first: "–", second: "–", "difference": "–"} | printed)
    return html.table(pd.DataFrame(rows))


def _scores(bench: Bench, metric: str) -> np.ndarray:
    """A metric's mean for each system."""
    value = bench.vectors(DATA, metric, "source", "content")[1]
    systems = bench.dataset(DATA).items["system"].to_numpy(str)
    return np.array([np.mean(value[systems == name]) for name in dict.fromkeys(systems.tolist())])


def _tau(people: np.ndarray, scores: np.ndarray) -> str:
    return html.signed(stats.kendall(people, scores).value, 3)


def explained(bench: Bench) -> Markdown:
    """What the ledger says of the tie, in its own words."""
    if not bench.has(DATA):
        return html.SILENCE
    rows = ledger("pauli2025", "9", bench)
    said = rows[rows["cell"].isin([f"pauli2025.t9.s-{m}.mir" for m in ("bleu", "meteor")])]
    lines = [
        f"- `{row['cell']}`, printed {row['printed']}, {row['status']}: {row['reason']}."
        for row in said.to_dict("records")
    ]
    return Markdown("\n".join(lines))


def orders(bench: Bench, n: int = 1000, seed: int = 0) -> Markdown:
    """How often each system comes out first when the same ratings are added in other orders."""
    if not bench.has(DATA):
        return html.SILENCE
    rated = _ratings(bench)
    first, second = _tied(rated)
    rng = np.random.default_rng(seed)
    gaps = np.empty(n)
    for draw in range(n):
        order = rng.permutation(len(rated[first]))
        gaps[draw] = np.mean(rated[first][order]) - np.mean(rated[second][order])
    return Markdown(
        f"Shuffle the sources and add the same ratings again: in {n:,} random orders `numpy.mean`"
        f" puts `{first}` first {(gaps > 0).sum():,} times, `{second}` first {(gaps < 0).sum():,}"
        f" times, and keeps the tie {(gaps == 0).sum():,} times. Nothing about the systems has"
        " changed."
    )
