"""Is a judge as good as a rater?  The alternative annotator test for judges that speak the scale.

A judge gives ratings on a scale that looks like people's.  So it can be tested twice: as it speaks,
and with its ratings mapped to people's as any metric's are (:mod:`tstmeta.stats.alternative`).  The
two can disagree.  As it speaks, a judge that says 100 where people say 100 is exactly as near to
one rater as the other is, and such draws count for both sides; a fitted map hardly ever meets a
rating exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from ..schema import TstmetaError
from ..stats.alternative import AlternativeTest, alternative_annotator_test
from . import html
from .alternative import FAILS, FLAT_LINE, NO_MORE, PASSES, WOULD_PASS, alternative
from .bench import Bench
from .judge_ratings import RELEASED, Given
from .layout import CLUSTERS, Layout
from .material import upright
from .matrices import SLOTS, Cube, cube
from .rated import NOT_IDENTIFIABLE
from .tables import scored

AS_IT_SPEAKS, MAPPED = "as it speaks", "mapped"
_COLUMNS = [
    *("data", "dimension", "name", "scale", "verdict", "omega", "rho", "tested", "n", "ties"),
    "note",
]


def persons(data: Dataset, dimension: str) -> Cube:
    """Single ratings by persons, as far as a release lets persons be told apart.

    Where rating slots were filled by different persons in each survey, but by the same two within
    one (lai2022human), a slot within a survey is taken for a person.  Two persons an item are fewer
    than the three that the test's authors ask for.
    """
    found = cube(data, dimension)
    surveys = data.label(CLUSTERS).to_numpy(str)
    base = data.name.partition("@")[0].partition(" ")[0]
    if found.persons or base not in SLOTS or len(set(surveys)) < 2 or not found.raters:
        return found
    label = Layout.of(data).matrix(pd.factorize(surveys)[0].astype(float))
    names = list(dict.fromkeys(surveys))
    layers, raters = [], []
    for number, survey in enumerate(names):
        for slot, rater in enumerate(found.raters):
            layers.append(np.where(label == number, found.ratings[..., slot], math.nan))
            raters.append(f"{rater} of survey {survey}")
    return Cube(np.stack(layers, axis=-1), raters, True, "")


def as_rater(
    judged: Sequence[Given],
    scores: pd.DataFrame | None = None,
    epsilon: float = 0.1,
    seed: int = 0,
) -> pd.DataFrame:
    """Judges of one dimension of one data set in the place of each rater, metrics beside them.

    Args:
        judged: the judges; at least one, all of the same data and dimension.
        scores: metrics to stand beside them, a ``scores`` table; always mapped.
        epsilon: what a rater costs more, as a margin of probability.

    Returns:
        One row the flat line, two rows a judge, one a metric: data, dimension, name, scale (as it
        speaks, or mapped), verdict, omega (raters beaten, as a share), rho (how often at least as
        near to the others as the rater), tested (raters), n (items over raters), ties (share of
        items on which both are equally near), note.

    Raises:
        TstmetaError: nobody to compare, or several data sets or dimensions.
    """
    if len({(one.data.name, one.dimension) for one in judged}) != 1:
        raise TstmetaError("take judges of one dimension of one data set at a time")
    data, dimension = judged[0].data, judged[0].dimension
    if not 0 <= epsilon < 1:
        raise TstmetaError(f"epsilon {epsilon} is no margin of probability: give 0 to below 1")
    people, layout = persons(data, dimension), Layout.of(data)
    head = {"data": data.name, "dimension": dimension}
    if people.reason:
        row = {"name": "", "verdict": NOT_IDENTIFIABLE, "note": people.reason}
        return pd.DataFrame([head | row], columns=_COLUMNS).fillna({"note": ""})

    def ask(values: np.ndarray, mapping: str) -> AlternativeTest:
        rng = np.random.default_rng(seed)
        return alternative_annotator_test(
            people.ratings,
            values,
            epsilon=epsilon,
            mapping=mapping,  # type: ignore[arg-type]
            rng=rng,
        )

    flat = ask(np.zeros(layout.shape), "isotonic")
    first = _row(flat, flat)
    first |= {"verdict": WOULD_PASS if flat.omega >= 0.5 else FAILS, "note": ""}
    rows = [head | {"name": FLAT_LINE, "scale": ""} | first]
    for one in judged:
        values = one.ratings.to_numpy(float)
        spoken = layout.matrix(_on_peoples_scale(one, values))
        mapped = layout.matrix(values)
        for words, side, mapping in (
            (AS_IT_SPEAKS, spoken, "none"),
            (MAPPED, mapped, "isotonic"),
        ):
            rows.append(head | {"name": one.name, "scale": words} | _row(ask(side, mapping), flat))
    for found in scored(data, upright(scores)) if scores is not None and len(scores) else ():
        test = ask(layout.matrix(found.vector), "isotonic")
        rows.append(head | {"name": found.name, "scale": MAPPED} | _row(test, flat))
    return pd.DataFrame(rows, columns=_COLUMNS).fillna({"note": ""})


def _on_peoples_scale(one: Given, values: np.ndarray) -> np.ndarray:
    """Ratings ``[items]`` as people would give them.

    A scale with other ends is stretched to people's.  Ends that lie within one in fifty of each
    other are the same to whoever rates (0 to 100, and 1 to 100), and are left alone.
    """
    low, high = one.scale
    least, most = one.data.card.scale.get(one.dimension, one.scale)
    near = 0.02 * (most - least)
    if (abs(low - least) <= near and abs(high - most) <= near) or high <= low:
        return values
    return least + (values - low) * (most - least) / (high - low)


def _row(test: AlternativeTest, flat: AlternativeTest) -> dict:
    tested = [row for row in test.raters if not row.reason]
    verdict = PASSES if test.passed else FAILS
    if test.passed and flat.omega >= 0.5:
        verdict = NO_MORE
    # a tie counts for both sides, so the two probabilities add up to one and the share of ties
    ties = float(np.mean([row.metric + row.person - 1 for row in tested])) if tested else math.nan
    return {
        "verdict": verdict if tested else NOT_IDENTIFIABLE,
        **{"omega": test.omega, "rho": test.rho, "tested": len(tested), "n": test.n},
        **{"ties": ties, "note": test.reason},
    }


def in_all(
    judged: Sequence[Given], epsilon: float = 0.1, seed: int = 0, beside: int = 3
) -> pd.DataFrame:
    """:func:`as_rater` for every data set and dimension of the judges.

    Args:
        beside: how many metrics stand beside them, of those whose scores were released for the same
            dimension: the ones that are as close or closer most often.
    """
    parts = []
    for key in dict.fromkeys((one.data.name, one.dimension) for one in judged):
        own = [one for one in judged if (one.data.name, one.dimension) == key]
        found = as_rater(own, _released_metrics(own[0].data, key[1]), epsilon, seed)
        first = found.iloc[: 1 + 2 * len(own)]
        parts += [first, found.iloc[len(first) :].nlargest(beside, "rho")]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)


def _released_metrics(data: Dataset, dimension: str) -> pd.DataFrame:
    """Released scores of a dimension on bases source and none, without judges and sources."""
    table = data.scores
    kept = (table["dimension"] == dimension) & (table["basis"] != "reference")
    kept &= ~table["metric"].str.startswith("released:source-")
    return table[kept & ~table["metric"].isin(RELEASED)]


def stand_ins(
    bench: Bench,
    datasets: Sequence[Dataset],
    metrics: Sequence[str],
    dimension: str = "content",
    epsilon: float = 0.1,
    seed: int = 0,
) -> pd.DataFrame:
    """Automatic metrics in the judge's place, for data whose release has no judge.

    Returns:
        Rows of :func:`tstmeta.report.alternative.alternative` with the columns of
        :func:`as_rater`: of each data set the flat line, whoever passes, and the metric that is as
        close or closer most often.
    """
    parts = []
    for data in datasets:
        if dimension not in data.dimensions:
            continue
        scores = upright(bench.table(data, metrics, ["source", "none"]))
        found = alternative(data, scores, dimension, epsilon, seed=seed)
        best = found.iloc[1:].dropna(subset="rho").nlargest(1, "rho")
        passing = found[found["verdict"].isin([PASSES, NO_MORE])]
        kept = pd.concat([found.iloc[:1], passing, best]).drop_duplicates("metric")
        scale = np.where(kept["metric"] == FLAT_LINE, "", MAPPED)
        kept = kept.assign(data=data.name, dimension=dimension, name=kept["metric"], scale=scale)
        kept.loc[kept["metric"] == FLAT_LINE, "note"] = ""
        parts.append(kept.reindex(columns=_COLUMNS))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)


def table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`as_rater` or :func:`stand_ins`: a table a data set and dimension.

    Data sets with two rows or less share a table.
    """
    if rows.empty:
        return Markdown("*No single ratings by persons are here to put a judge beside.*")
    sizes = rows.groupby(["data", "dimension"])["name"].transform("size")
    shared = sizes.max() <= 2
    by = ["dimension"] if shared else ["data", "dimension"]
    return html.Html("".join(_table(own, shared) for _, own in rows.groupby(by, sort=False)))


def _table(rows: pd.DataFrame, shared: bool) -> str:
    shown = pd.DataFrame(
        {
            "data": rows["data"],
            "in a rater's place": rows["name"],
            "ratings": rows["scale"].fillna(""),
            "verdict": rows["verdict"],
            "raters beaten": [html.signed(value) for value in rows["omega"]],
            "as close or closer": [html.signed(value) for value in rows["rho"]],
            "exactly as close": ["–" if pd.isna(one) else f"{one:.0%}" for one in rows["ties"]],
            "raters": rows["tested"].fillna(0).astype(int),
            "n": rows["n"].fillna(0).astype(int),
            "note": rows["note"],
        }
    )
    first = shown.iloc[0]
    hidden = [] if shared else ["data"]
    hidden += ["exactly as close"] * bool(rows["ties"].isna().all())
    hidden += ["note"] * (not rows["note"].any())
    caption = str(rows["dimension"].iloc[0])
    if not shared:
        caption = f"{first['data']}, {caption}"
        if (shown[["raters", "n"]] == first[["raters", "n"]]).all(axis=None):
            caption += f": {first['raters']} raters, n = {first['n']:,}"
            hidden += ["raters", "n"]
    return html.table(shown.drop(columns=hidden), caption=caption).text


def said(rows: pd.DataFrame) -> Markdown:
    """Who passes, and whether how a judge's ratings are read decides it."""
    lines = []
    for (data, dimension), own in rows.groupby(["data", "dimension"], sort=False):
        if own["verdict"].eq(NOT_IDENTIFIABLE).all():
            lines.append(f"- `{data}`, {dimension}: {NOT_IDENTIFIABLE}, {own['note'].iloc[0]}.")
            continue
        passing = own[own["verdict"].isin([PASSES, NO_MORE])]
        listed = ", ".join(
            f"{escape(str(row.name_))} ({row.scale})"
            for row in passing.rename(columns={"name": "name_"}).itertuples()
        )
        flat = own.iloc[0]
        line = f"- `{data}`, {dimension}: {listed or 'nobody'} passes"
        if pd.notna(flat["omega"]):
            line += f"; a flat line beats {flat['omega']:.0%} of the raters"
        two = own[own["scale"].isin([AS_IT_SPEAKS, MAPPED])].groupby("name")["verdict"].nunique()
        if changed := [name for name, count in two.items() if count > 1]:
            line += f". How its ratings are read decides for {escape(', '.join(map(str, changed)))}"
        lines.append(f"{line}.")
    return Markdown("\n".join(lines)) if lines else html.SILENCE
