"""Advice for rewrites of a user: which metric to take, what to expect of it, what to rate.

With s^2 the variance of an effect times the sources of its set, n sources have the variance s^2 / n
and show a difference with 80 % power at .05 from n = ((z(.975) + z(.8)) s / difference)^2 on.  More
rewrites a source make s^2 smaller: it is the median of the rated sets that are near in that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .. import console, stats
from ..data import Dataset, load, paths
from ..metrics import Metric, registry
from ..metrics.base import code_of, for_language
from ..schema import USABLE
from ..scoring import score
from .choice import task_of
from .frame import judged, separated
from .render import number, with_limits
from .synthesis import ACCURACY, SAME_SOURCE, against, evidence, panels
from .verdicts import (
    CHANCE,
    FAMILIES,
    FORETOLD,
    ORDER,
    UNKNOWN,
    Recommendation,
    beyond,
    fitting,
    recommend,
    spread,
    verdicts,
)

DIMENSIONS = ("content", "style", "fluency")
#: Sources from which ratings say something, and from which a difference counts as one that cannot
#: be shown.
LEAST, MOST = 30, 100_000
#: Columns of :attr:`Advice.frame`, and those that its text has.
COLUMNS = [
    *("dimension", "metric", "basis", "verdict", "reason", "accuracy", *FORETOLD),
    *("best", "sources_best", "sentinel", "sources_sentinel", "families", "alike", "outputs"),
    "fails",
]
_LEGEND = """expected: accuracy on pairs of rewrites of one source, with limits for yours (95 %)
sources_best, _sentinel: rated sources that tell it from the best metric or sentinel (80 % power)"""
WIDTH = 100


@dataclass(frozen=True)
class Advice:
    """What :func:`advise` gives; ``str`` has all of it for reading, the answer first."""

    frame: pd.DataFrame  # a row a metric
    profile: pd.Series  # what the rewrites are like, see :func:`profile`
    sets: pd.DataFrame  # the rated sets of that task and language
    notes: tuple[str, ...]
    answer: tuple[str, ...]  # a line a dimension, what to rate, what a judge or classifier adds

    def __str__(self) -> str:
        rows, facts = self.frame, self.profile.dropna().rename("value").rename_axis("your rewrites")
        limits = rows[FORETOLD].itertuples(index=False)
        shown = rows[["dimension", "metric", "basis", "verdict"]]
        shown = shown.assign(expected=[with_limits(*row) for row in limits])
        shown = shown.join(rows[["sources_best", "sources_sentinel"]].dropna(axis=1, how="all"))
        sets = self.sets[["dataset", "task", "language", "items", "sources"]]
        tables = [facts.astype(str).reset_index()] * (len(facts) > 1) + [sets] * bool(len(sets))
        reasons = [
            f"{', '.join(dict.fromkeys(group['metric']))} ({verdict}): {reason}"
            for (verdict, reason), group in rows.groupby(["verdict", "reason"], sort=False)
            if reason
        ]
        return "\n\n".join(
            [
                *map(_wrapped, [self.answer, self.notes]),
                *(console.to_text(table).rstrip() for table in tables),
                f"{_LEGEND}\n{console.to_text(shown).rstrip()}",
                _wrapped(reasons) + "\n",
            ]
        )


def _wrapped(lines: Iterable[str]) -> str:
    """Lines of a width for reading."""
    lines = map(console.escaped, lines)
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def profile(data: Dataset, task: str = "") -> pd.Series:
    """Facts about rewrites, with texts or without, NaN where not known: task, language, items,
    sources, rewrites a source, copies (share), words (median of the sources), length (mean of
    output over source words), overlap (mean and sd of the share of source tokens in the output),
    pairs of one source that people separate, and the correlation of style with content inside
    sources.
    """
    tasks, text = panels().set_index("dataset")["task"], data.card.facts.get("task", "")
    task = task or tasks.get(data.name) or next((name for name in tasks if name in text), text)
    sources, lengths = data.items["source_id"], data.lengths
    copied = score(data, ["copy-rate"], ["source"], progress=False)
    overlap = copied["value"][copied["status"].isin(USABLE)]
    facts = {
        "task": task,
        "language": " ".join(data.items["language"].value_counts().index),
        "items": len(sources),
        "sources": sources.nunique(),
        "rewrites": len(sources) / sources.nunique(),
        "copies": lengths["copy"].astype(float).mean(),
        "words": lengths["source_words"].median(),
        "length": (lengths["output_words"] / lengths["source_words"]).mean(),
        "overlap": overlap.mean(),
        "overlap_sd": overlap.std(),
    }
    for name in DIMENSIONS:
        facts[f"{name}_pairs"] = separated(judged(data, name)) if data.against(name) else np.nan
    both = pd.concat([data.human("content"), data.human("style")], axis=1, keys=DIMENSIONS[:2])
    both = both.set_axis(sources.to_numpy()).dropna()
    both -= both.groupby(level=0).transform("mean")
    enough = (both.abs() > 1e-9).sum().min() >= LEAST
    facts["style_content"] = both["content"].corr(both["style"]) if enough else np.nan
    return pd.Series(facts, name=data.name)


@cache
def _rated() -> pd.DataFrame:
    """The rated sets with the facts about their rewrites."""
    about = panels()[["dataset", "family", "panel", "task", "language", "outputs", "year"]]
    known = pd.read_csv(paths.project("frozen", "sets.csv"))
    return about.merge(known.drop(columns=["task", "language"]), on="dataset")


def advise(
    data: Dataset | Path | str | None = None,
    task: str = "",
    language: str = "",
    dimensions: Sequence[str] = DIMENSIONS,
) -> Advice:
    """Which metric to take for some rewrites, what to expect of it, and what to rate.

    Args:
        data: a data set, the name of one, or your file; None for a task and language alone.  Of a
            set of the book, its own family is left out of the evidence.
        task, language: what the rewrites are, by default what the data say; part of a name does.
        dimensions: of content, style and fluency.  Metrics that need references are of the frame
            where all rewrites have one.

    Returns:
        ``frame`` has dimension, metric, basis, verdict, reason (see :func:`tstmeta.verdicts`);
        accuracy (on pairs of rewrites of one source, mean over families of all tasks), expected,
        predict_low, predict_high (what yours will show, 95 %: wider for a new task or few sources,
        see :func:`tstmeta.stats.predict`; missing where no source has two rewrites); best,
        sources_best and sentinel, sources_sentinel (how many rated sources tell the metric from the
        best one and from the best sentinel; missing above 100,000);
        families, alike (those of the task and language), outputs (the newest kind), fails (sets it
        orders the other way).

    Raises:
        TstmetaError: a dimension without evidence, or a fault in the data.
    """
    dataset = load(str(data)) if isinstance(data, Path | str) else data
    about = pd.Series({"task": task}) if dataset is None else profile(dataset, task)
    task = about["task"] = task_of(about["task"])
    wanted = {task} - {""} if dataset is None else set(dataset.items["style"])
    language = code_of(language or about.get("language", "").partition(" ")[0])
    references = dataset is not None and bool(dataset.items["references"].str.len().all())
    left_out, (near, size) = _families(dataset), _sources(dataset)
    rated, parts, mute = _rated()[~_rated()["family"].isin(left_out)], [], dict[str, str]()
    answers, more = list[Recommendation](), list[str]()
    for name in dimensions:
        known = evidence(name, differences=True).merge(rated[["dataset", "rewrites"]])
        known = known[(known["statistic"] == ACCURACY) & (known["level"] != "system")]
        more += _more(name, beyond(known, task, language))
        for side in ("source", "reference")[: 1 + references]:
            table = verdicts(known, name, side == "reference", task, language, near, size)
            if side == "source":
                answers.append(recommend(table, known, name, task, language))
            table = table.rename(columns={"mean": "accuracy", "own": "alike"})
            reasons = [_refusal(registry.get(m), language, wanted) for m in table["metric"]]
            refused = np.array(reasons, dtype=object) != ""
            mute |= dict(zip(table["metric"][refused], filter(None, reasons), strict=True))
            if len(table := table[~refused]):
                pool = known[known["panel"] == "pool"]
                parts.append(_numbers(table, pool, side, near).assign(dimension=name))
    frame = _ordered(parts, dimensions)
    notes = [f"Evidence left out, of the same sources: {', '.join(left_out)}."] * bool(left_out)
    notes += _unable(mute, frame["metric"].unique())
    notes += _notes(frame, about, rated, dimensions, " in ".join(filter(None, (task, language))))
    answer = [f"{choice.dimension}: {choice}" for choice in answers]
    answer += [*_plan(frame, answers), *["More is possible. " + "; ".join(more) + "."] * bool(more)]
    sets = rated[fitting(rated, task, language)].reset_index(drop=True)
    return Advice(frame, about, sets, tuple(notes), tuple(answer))


def _ordered(parts: Sequence[pd.DataFrame], dimensions: Sequence[str]) -> pd.DataFrame:
    """All rows, by dimension, verdict and accuracy."""
    frame = pd.concat(parts or [pd.DataFrame()]).reindex(columns=COLUMNS)
    place = [*dimensions, *ORDER].index
    keys = [-frame["accuracy"], frame["verdict"].map(place), frame["dimension"].map(place)]
    frame = frame.iloc[np.lexsort(keys)].reset_index(drop=True)
    return frame.astype(dict.fromkeys(("sources_best", "sources_sentinel"), "Int64"))


def _more(dimension: str, known: pd.DataFrame) -> Iterator[str]:
    """The judge and the classifier that most families know, with their accuracy."""
    words = {"judge": "a large judge", "classifier": "a classifier trained for the style"}
    for row in known[known["kind"].isin(words)].drop_duplicates("kind").itertuples():
        name = str(row.metric).removeprefix("released:")
        count = f"{row.families} {'family' if row.families == 1 else 'families'}"
        yield f"{dimension}, {words[row.kind]} ({name}): {100 * row.mean:.0f} % on {count}"


def _plan(frame: pd.DataFrame, answers: Iterable[Recommendation]) -> Iterator[str]:
    """How many sources to rate to tell a recommended metric from the next one and the sentinel."""
    for choice in answers:
        rows = frame[(frame["dimension"] == choice.dimension) & (frame["families"] >= FAMILIES)]
        row = rows[rows["metric"] == choice.metric].dropna(subset="sources_sentinel")[:1]
        other = rows[rows["metric"] != choice.metric].dropna(subset="sources_best")[:1]
        if len(row):
            plan = f"{max(LEAST, row['sources_sentinel'].iloc[0]):,.0f} sources to tell"
            plan += f" {choice.metric} from {row['sentinel'].iloc[0]}"
            if len(other):
                plan += f", {max(LEAST, other['sources_best'].iloc[0]):,.0f} to tell it from"
                plan += f" {other['metric'].iloc[0]}"
            yield f"Rate {choice.dimension} of {plan}, with two rewrites of each."
            return


def _refusal(metric: Metric, language: str, wanted: set[str]) -> str:
    """Why a metric says nothing of rewrites in a language and in styles, or for a task."""
    if isinstance(for_language(metric, language or "en"), str):
        return f"not made for {language}"
    if metric.styles and wanted - {*metric.styles, *map(task_of, metric.styles)}:
        return "without a list of style words (such as masked-bleu:words.csv)"
    return ""


def _unable(mute: dict[str, str], listed: Iterable[str]) -> Iterator[str]:
    """Why metrics are not listed, and what those need that are, where they do not run."""
    for reason in dict.fromkeys(mute.values()):
        names = ", ".join(name for name, why in mute.items() if why == reason)
        yield f"Not listed, as {reason}: {names}."
    for name in listed:
        if missing := registry.get(name).missing:
            yield f"{name} does not run here yet: {missing}."


def _families(dataset: Dataset | None) -> list[str]:
    """The families of a set of the book, or of the sets that it is a part of."""
    known, name = panels().set_index("dataset")["family"], dataset.name if dataset else ""
    base = known.index.str.replace("@.*", "", regex=True) == name.partition("@")[0]
    return [known[name]] if name in known else known[base].unique().tolist()


def _numbers(table: pd.DataFrame, known: pd.DataFrame, side: str, near: float) -> pd.DataFrame:
    """How many sources, of about so many rewrites, tell each metric from others."""
    best, known = table.iloc[np.argmax(table["families"] >= FAMILIES)], known.dropna(subset="se")
    tables = {"best": against(known, best["metric"], best["basis"])}
    tables["sentinel"] = against(known, best["sentinel"], side)
    rows = []
    for row in table.assign(best=best["metric"]).to_dict("records"):
        for name, rated in tables.items():
            rated = rated[(rated["metric"] == row["metric"]) & (rated["basis"] == row["basis"])]
            families = stats.family_means(rated["value"], rated["se"], rated["family"].tolist())
            pooled = stats.pool(families.values, families.variances)
            row[f"sources_{name}"] = sources_needed(pooled.mean, spread(rated, near))
        rows.append(row)
    return pd.DataFrame(rows)


def _sources(dataset: Dataset | None) -> tuple[float, float]:
    """Rewrites a source, two at least, and how many sources have two; NaN of no data set."""
    if dataset is None:
        return 0.0, np.nan
    rewrites = dataset.items["source_id"].value_counts()
    return max(2.0, rewrites.mean()), float((rewrites > 1).sum())


def sources_needed(difference: float, variance: float) -> float:
    """Sources on which a difference of that :func:`spread` shows; NaN above :data:`MOST`."""
    z = float(ndtri(0.975) + ndtri(0.8))
    n = np.ceil(z**2 * variance / difference**2) if difference else np.inf
    return float(n) if n <= MOST else np.nan


def _notes(
    frame: pd.DataFrame, about: pd.Series, rated: pd.DataFrame, dimensions: Sequence[str], aim: str
) -> Iterator[str]:
    """What to take, what may reverse it, and what to rate first."""
    if about.get("rewrites") == 1:
        yield "Nothing can be foretold for you: no source has two rewrites.  Score two of each."
    r = about.get("style_content", np.nan)
    if "content" in dimensions and not r <= 0:
        copied = evidence().merge(rated["dataset"])
        copied = copied[(copied["metric"] == "copy-rate") & (copied["basis"] == "source")]
        copied = copied[(copied["statistic"] == ACCURACY) & (copied["level"] == SAME_SOURCE)]
        agreement = f", as in your ratings (r = {number(r)})" if r > 0 else ""
        yield (
            f"Similarity looks worse where the stronger style has the better content{agreement}:"
            f" shared words are wrong on {', '.join(copied['dataset'][copied['value'] < CHANCE])}."
        )
    known = set(frame["dimension"][frame["verdict"] != UNKNOWN])
    if lacks := [name for name in dimensions if name not in known]:
        pool = rated[rated["panel"] == "pool"]
        tasks, codes = (", ".join(sorted(set(pool[name]))) for name in ("task", "language"))
        yield (
            f"Nothing is known of {', '.join(lacks)}{f' for {aim}' * bool(aim)}: there are rated"
            f" sets of {tasks}, in {codes}."
        )
        ahead = frame[frame["dimension"].isin(lacks) & (frame["families"] >= FAMILIES)]
        ahead = ahead.drop_duplicates("dimension").dropna(subset="sources_sentinel")
        plan = f"{lacks[0]} of {LEAST} sources"
        for row in ahead.nsmallest(1, "sources_sentinel").itertuples():
            plan = f"{row.dimension} of {max(LEAST, row.sources_sentinel):,.0f} sources, which tell"
            plan += f" {row.metric} from {row.sentinel} if they differ as on other sets"
        yield f"Rate first {plan}; at least two rewrites of each source."
