"""Does pooling over families of data sets give back the truth, and what do its intervals hold?

A world is made of families: each takes its sets and their standard errors from a real family at
random, a truth (normal around the mean, standard deviation tau), and one of its own for each set
(a share of tau).  Sets of one family err half alike.  A new set comes from one more family.  Beside
ours stands the simple rule: t(k - 1), the standard error of Hartung and Knapp as it is, no sampling
variance of the new set (IntHout, Ioannidis, Rovers and Goeman 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import measure
import numpy as np
from scipy.special import stdtrit
from statsmodels.stats.meta_analysis import combine_effects

import tstmeta as tst
from tstmeta import stats

LIBRARIES = ("tstmeta", "numpy", "scipy", "statsmodels")
FAMILIES = (3, 5, 8, 10, 11, 15)
TAUS = (0.0, 0.02, 0.05, 0.1)
#: Standard deviation of the truths of one family's sets, as a share of tau.
WITHIN = (0.0, 0.25, 0.5)
MEAN, ALIKE, LEAST = 0.65, 0.5, 0.92
COUNTED = ("mean", "value", "value_usual", "truth", "value_dl", "simple")
Row = dict[str, Any]


def errors() -> list[np.ndarray]:
    """Standard errors of the pooled sets of each family, each the median of its metrics."""
    rows = tst.evidence("content").query(
        "panel == 'pool' and kind == 'metric' and statistic == 'accuracy' and level != 'system'"
    )
    of_set = rows.groupby(["family", "dataset"])["se"].median()
    return [own.to_numpy() for _, own in of_set.groupby("family")]


def measured(k: int, tau: float, share: float, worlds: int, known: Sequence[np.ndarray]) -> Row:
    """What comes out of many worlds of one kind."""
    rng = np.random.default_rng([measure.SEED, k, round(1000 * tau), round(100 * share)])
    fits, held, widths = [], [], []
    for _ in range(worlds):
        drawn = [known[place] for place in rng.integers(len(known), size=k + 1)]
        of, se = np.repeat(np.arange(k + 1), [len(each) for each in drawn]), np.concatenate(drawn)
        truth = MEAN + tau * rng.normal(size=k + 1)[of] + share * tau * rng.normal(size=len(of))
        noise = math.sqrt(ALIKE) * rng.normal(size=k + 1)[of]
        y = truth + se * (noise + math.sqrt(1 - ALIKE) * rng.normal(size=len(of)))
        old, last = of < k, len(of) - 1  # the new set is the last one of the last family
        own, usual = float(se[last] ** 2), float(np.median(se[old] ** 2))
        given = stats.family_means(y[old], se[old], of[old].tolist())[:2]
        pm, of_usual, of_truth, dl = (
            stats.pool(*given, method=method, new=new)
            for method, new in (("pm", own), ("pm", usual), ("pm", 0.0), ("dl", own))
        )
        limits = [(pm.low, pm.high)]
        limits += [(one.predict_low, one.predict_high) for one in (pm, of_usual, of_truth, dl)]
        limits.append(simple(*given))
        low, high = np.transpose(limits)
        wanted = np.array([MEAN, y[last], y[last], truth[last], y[last], y[last]])
        held.append((low <= wanted) & (wanted <= high))
        widths.append(high - low)
        fits.append((pm.mean - MEAN, pm.tau**2, dl.mean - MEAN, dl.tau**2))
    bias, pm2, bias_dl, dl2 = np.transpose(fits)
    sizes = np.array([len(each) for each in known])
    true = tau**2 * (1 + share**2 * float((1 / sizes).mean()))  # of the means of families
    return {
        "setting": f"{k} families",
        "tau": tau,
        "within": share,
        **dict(zip(COUNTED, map(float, np.mean(held, axis=0)), strict=True)),
        **{f"{COUNTED[i]}_width": float(np.mean(widths, axis=0)[i]) for i in (0, 1, 5)},
        "bias": float(bias.mean()),
        "bias_in_errors": in_errors(bias),
        "bias_dl_in_errors": in_errors(bias_dl),
        "tau_families": math.sqrt(true),
        "tau_pm": math.sqrt(pm2.mean()),
        "tau_dl": math.sqrt(dl2.mean()),
        "tau2_off": float(abs(pm2.mean() - true) / pm2.std()) if pm2.std() else 0.0,
        "worlds": worlds,
        "signature": f"mean:{MEAN}|alike:{ALIKE}|seed:{measure.SEED}",
    }


def in_errors(values: np.ndarray) -> float:
    """A mean in its own standard errors."""
    return float(values.mean() / (values.std() / math.sqrt(len(values))))


def simple(values: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """Limits of the simple rule."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = combine_effects(values, variances, method_re="pm")
    reach = stdtrit(len(values) - 1, 0.975) * math.sqrt(max(fit.tau2, 0.0) + fit.var_hksj_re)
    return fit.mean_effect_re - reach, fit.mean_effect_re + reach


def checks(rows: Sequence[Row]) -> list[Row]:
    """The goals; their names are the same in every run."""
    ten = [row for row in rows if row["setting"] == "10 families"]
    alike = [row for row in ten if row["within"] == 0]
    several = [row for row in rows if row["setting"] != "3 families"]
    biases = [abs(row[name]) for row in rows for name in ("bias_in_errors", "bias_dl_in_errors")]
    spread = [row["tau2_off"] for row in ten if row["tau"] > 0]
    held = [
        measure.check(f"{name}, lowest", min(row[column] for row in some), relation, LEAST)
        for name, column, some, relation in (
            ("10 families: new value held", "value", ten, ">="),
            ("10 families: new value held, sets of a family alike in truth", "value", alike, ">="),
            ("10 families: new value held, noise of the usual set", "value_usual", ten, ">="),
            ("10 families: new value held, DerSimonian-Laird", "value_dl", ten, ">="),
            ("10 families: new value held, simple rule", "simple", ten, "<"),
            ("10 families: truth of a new set held", "truth", ten, ">="),
            ("5 families or more: mean held", "mean", several, ">="),
        )
    ]
    return [
        *held,
        measure.check("bias of the mean in standard errors, largest", max(biases), "<=", 4),
        measure.check("10 families: bias of tau^2 by its spread, largest", max(spread), "<=", 0.25),
    ]


NOTES = (
    "within: differences of the truths of one family's sets, as a share of tau; mean: share of"
    " worlds whose 95 % interval of the mean holds it; value: share whose prediction interval holds"
    " what a new set of a new family shows, its own sampling variance given; value usual: the"
    " variance of the median set given; truth: the truth of the new set, no variance given",
    "value dl: tau^2 by DerSimonian and Laird; simple: t(k - 1) with the Hartung-Knapp error and no"
    " variance of the new set; tau families: of the means of families, which pooling estimates; tau"
    " pm, tau dl: the root of the mean tau^2; tau2 off: its bias by the spread of its estimates",
)


def main() -> None:
    given = measure.arguments(__doc__, size=5000, quick=60, size_help="worlds of each kind")
    load, known = measure.load_average(), errors()
    kinds = [(k, t, w) for k in FAMILIES for t in TAUS for w in (WITHIN if t else WITHIN[:1])]
    rows = [measured(*kind, given.size, known) for kind in kinds]
    error = f"standard error of a share near 0.95: {math.sqrt(0.95 * 0.05 / given.size):.2g}"
    goals = checks(rows)
    measure.finish("pooling", given, LIBRARIES, load, rows, goals, [*NOTES, error], rounds=1)


if __name__ == "__main__":
    main()
