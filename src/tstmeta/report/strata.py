"""Does a metric's agreement hold in every part of the data, and which errors does it see?

Tables of one data set, from its scores, in the form that :mod:`tstmeta.report.confounds` describes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..data import Dataset
from ..schema import TstmetaError
from ..stats import confounds
from ..stats.matrices import Level
from .layout import known
from .material import Material, bounds, ends_of, material, ordered
from .matrices import Matrices, cube
from .tables import judged

#: The stratum of all items.
ALL = "all"
#: Any error, whatever its type.
ANY = "any"

# -------------------------------------------------------------------------------------- strata


def by_style_shift(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    *,
    statistic: str = "pearson",
    level: Level = "pooled",
    parts: int = 3,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement among items whose style was changed little and among those changed much.

    Strata are the label ``shift`` where a set has one, otherwise thirds of the mean style rating.
    An item on an edge belongs to the lower stratum, so strata differ in size where ratings tie.

    Returns:
        One row a metric and stratum, all items first: metric, basis, better, stratum, value, low,
        high, n, spread (of people's values in the stratum: where it is small, so is agreement),
        signature.

    Raises:
        TstmetaError: style was neither rated nor made by construction, nobody judged the dimension,
            or an unknown statistic or level.
    """
    known(statistic, level)
    ready = material(dataset, scores, dimension, draws, seed, level)
    labels = dataset.label("shift").to_numpy(str)
    if len(set(labels)) > 1:
        by, names = _labels(ready.found, labels), {one: f"{one} shift" for one in set(labels)}
        return _strata(ready, by, names, statistic, level)
    if "style" not in ready.dimensions:
        raise TstmetaError(
            f"{dataset.name}: nobody judged style, so there are no strata of style shift. Choose a"
            " data set with style ratings or with a label shift"
        )
    return _cut(ready, ready.dimensions["style"], "style", statistic, level, parts)


def by_disagreement(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    *,
    statistic: str = "pearson",
    level: Level = "pooled",
    parts: int = 3,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement among items on which raters agree and among those on which they do not.

    Strata are thirds of the standard deviation of an item's single ratings; see
    :func:`by_style_shift` for edges and columns.  Raters disagree most in the middle of a scale, so
    these strata differ in their spread too.

    Raises:
        TstmetaError: no item has two single ratings, or an unknown statistic or level.
    """
    known(statistic, level)
    ready = material(dataset, scores, dimension, draws, seed, level)
    single = cube(dataset, dimension, level).ratings
    given = np.isfinite(single)
    count = given.sum(axis=-1)
    if not (count > 1).any():
        raise TstmetaError(
            f"{dataset.name}: no item has two single ratings of {dimension}, so disagreement is not"
            " identifiable. Choose a data set with ratings by single raters"
        )
    filled = np.where(given, single, 0.0)
    mean = filled.sum(axis=-1) / np.maximum(count, 1)
    squares = np.where(given, (single - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    spread = np.sqrt(squares / np.maximum(count - 1, 1))
    spread = np.where(count > 1, np.round(spread, 9), np.nan)  # equal but for rounding is equal
    return _cut(ready, spread, "sd", statistic, level, parts)


def _labels(found: Matrices, labels: np.ndarray) -> np.ndarray:
    """Labels of items as a matrix of texts ``[S, K]``, empty where there is no item."""
    kinds = sorted(set(labels) - {""})
    numbers = np.array([kinds.index(one) if one else -1 for one in labels], dtype=float)
    placed = found.layout.matrix(numbers)
    return np.array([*kinds, ""])[np.where(placed >= 0, placed, len(kinds)).astype(int)]


def _cut(ready: Material, values: np.ndarray, what: str, statistic: str, level: Level, parts: int):
    judged_too = np.where(np.isfinite(ready.found.human), values, np.nan)
    if parts < 2 or not np.isfinite(judged_too).any():
        raise TstmetaError(
            f"no strata of {what}: two parts or more are needed, and items that were judged as well"
        )
    made = confounds.cut(judged_too, parts)
    names: dict = {
        number: f"{what} {low:.3g} to {high:.3g}" if low < high else f"{what} {low:.3g}"
        for number, (low, high) in enumerate(made.ranges)
    }
    return _strata(ready, made.stratum, names, statistic, level)


def _strata(ready: Material, by: np.ndarray, names: dict, statistic: str, level: Level):
    found = ready.found
    setting = found.setting(statistic, level)
    inside = np.where(by >= 0, "0", "") if by.dtype.kind == "i" else np.where(by != "", "0", "")
    tables = []
    for labels, named in ((inside, {"0": ALL}), (by, names)):
        made = confounds.strata(found.human, found.metrics, labels, setting, ready.draws)
        for column, name in enumerate(made.names):
            ends = ends_of(setting)
            low, high = bounds(made.drawn[:, column], made.value[:, column], ready.units, ends)
            columns = {
                "stratum": named[name],
                "value": made.value[:, column],
                "low": low,
                "high": high,
                "n": made.n[:, column],
                "spread": made.spread[column],
            }
            tables.append(pd.DataFrame(ready.rows).assign(**columns))
    return ordered(pd.concat(tables, ignore_index=True), len(ready.rows))


# --------------------------------------------------------------------------------------- errors


def by_error_type(
    dataset: Dataset, scores: pd.DataFrame, *, draws: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Does a metric put rewrites that keep the content above those with an error of each type?

    Compared within sources, separately for each pair of style shifts that kept and wrong rewrites
    have: on the contrast set all four, on pauli only strong and kept against light and wrong, where
    a metric that dislikes change loses whatever it makes of errors.

    Returns:
        One row a metric, error and pair of shifts: metric, basis, better, error, kept_shift,
        wrong_shift, gap (mean of kept less mean of wrong, in standard deviations), gap_low,
        gap_high, preference (share of sources in which the kept one scores better, ties half),
        preference_low, preference_high, n (sources, or items where no source has both), paired,
        signature.

    Raises:
        TstmetaError: the items have no label ``error`` with kept and wrong ones.
    """
    error, shift = (dataset.label(name).to_numpy(str) for name in ("error", "shift"))
    kinds = [one for one in dict.fromkeys(error.tolist()) if one not in ("", "none")]
    if not kinds or "none" not in error:
        raise TstmetaError(
            f"{dataset.name}: no rewrites with and without an error are labelled. Choose pauli or"
            " contrast, or give items a label error (none, or the type of error)"
        )
    dimension = (judged(dataset) or ["content"])[0]
    ready = material(dataset, scores, dimension, draws, seed)
    errors, shifts = (_labels(ready.found, one) for one in (error, shift))
    there = ready.found.layout.matrix(np.zeros(len(error))) == 0
    tables = []
    for kind in [ANY, *kinds]:
        wrong = np.isin(errors, kinds) if kind == ANY else errors == kind
        for kept_shift, wrong_shift in _pairs_of_shifts(errors, shifts, kinds, there):
            kept = (errors == "none") & (shifts == kept_shift) & there
            worse = wrong & (shifts == wrong_shift) & there
            if kept.any() and worse.any():
                columns = {"error": kind, "kept_shift": kept_shift, "wrong_shift": wrong_shift}
                tables.append(_one_error(ready, kept, worse, columns))
    return ordered(pd.concat(tables, ignore_index=True), len(ready.rows))


def _pairs_of_shifts(
    errors: np.ndarray, shifts: np.ndarray, kinds: Sequence[str], there: np.ndarray
) -> list[tuple[str, str]]:
    """Every shift of kept rewrites with every shift of wrong ones; like with like first."""
    kept = sorted(set(shifts[there & (errors == "none")].tolist()))
    wrong = sorted(set(shifts[there & np.isin(errors, kinds)].tolist()))
    return sorted(((a, b) for a in kept for b in wrong), key=lambda pair: pair[0] != pair[1])


def _one_error(
    ready: Material, kept: np.ndarray, wrong: np.ndarray, columns: dict[str, str]
) -> pd.DataFrame:
    made = confounds.sensitivity(ready.found.metrics, kept, wrong, draws=ready.draws)
    endless = (-np.inf, np.inf)
    gap_low, gap_high = bounds(made.gaps, made.gap, made.n, endless)
    low, high = bounds(made.preferences, made.preference, made.n, (0.0, 1.0))
    values = {
        "gap": made.gap,
        "gap_low": gap_low,
        "gap_high": gap_high,
        "preference": made.preference,
        "preference_low": low,
        "preference_high": high,
        "n": made.n,
        "paired": made.paired,
    }
    return pd.DataFrame(ready.rows).assign(**columns, **values)
