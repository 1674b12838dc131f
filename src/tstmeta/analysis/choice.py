"""The default metrics, the dimension under which a metric is listed, and the sentinel ``random``,
of which tables show the mean of ten seeds.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import scoring
from ..data import Dataset
from ..metrics import Metric, registry
from ..metrics.base import for_language
from ..schema import TstmetaError, light
from ..scoring import failures, together
from ..stats import STATISTICS
from .agreement import WITHOUT, correlate
from .frame import METRIC, ORACLES, SENTINELS, kind_of, pairs, select_dimension

#: Dimension -> basis -> metrics: one an idea (n-grams, characters, subsequences, matched words,
#: edits, vectors of tokens, of sentences, moved words; classifiers, distances, likelihoods), and
#: what the book recommends.
DEFAULTS: dict[str, dict[str, tuple[str, ...]]] = {
    "content": {
        "source": (
            *("bleu", "chrf", "rougeL", "meteor", "ter", "bertscore", "cosine", "wmd"),
            "tst-content",
        ),
        "reference": ("bleu", "chrf", "bertscore", "cosine"),
    },
    "style": {
        "none": ("style-confidence",),
        "source": ("style-emd:directed", "style-cosine", "likelihood-style"),
    },
    "fluency": {"none": ("perplexity", "slor")},
}
#: Tasks, and words that name them: of styles, and of those who ask.
TASKS = {
    "detoxification": "detoxify detoxified detox toxicity toxic non-toxic",
    "simplification": "simplify simplified simple simpler simplicity",
    **{"sentiment": "positive negative", "formality": "formal informal formalise formalize"},
    **{"politeness": "polite impolite", "persuasion": "persuasive", "catchiness": "catchy"},
}
#: Plain ``random`` is seed 0.
SEEDS = ["random", *(f"random:{seed}" for seed in range(1, 10))]


def score(
    data: Dataset,
    dimensions: Sequence[str],
    metrics: Sequence[str | Metric] | None = None,
    bases: Sequence[str] | None = None,
    there: Collection[str] = (),
    **options: Any,
) -> pd.DataFrame:
    """Scores of metrics, by default :data:`DEFAULTS`, and of sentinels that are not ``there``."""
    sentinels = [name for name in registry.resolve(SENTINELS) if name not in there]
    if metrics is not None:
        return light(scoring.score(data, [*metrics, *sentinels], bases, **options))
    plan = {str(bases[0]) if bases else "source": sentinels}
    for basis, name in (pair for dimension in dimensions for pair in _default(dimension)):
        if (bases is None or basis in bases) and not _lacks(name):
            plan.setdefault(basis, []).append(name)
    tables = (scoring.score(data, names, [basis], **options) for basis, names in plan.items())
    return light(together(*tables))


def check_new(data: Dataset, metrics: Iterable[str], bases: Any, known: pd.DataFrame) -> None:
    """Refuse metrics whose scores are known, by signature: rewrites would have them twice."""
    named = [name for name in metrics if name.partition(":")[0] != scoring.RELEASED]
    for name in {*registry.resolve(named)} & {*known["metric"]} - {*ORACLES}:
        metric = registry.get(name, imports=True)
        variants = (for_language(metric, code) for code in data.items["language"].unique())
        for variant in (variant for variant in variants if not isinstance(variant, str)):
            signatures = {str(variant.signature(str(basis))) for basis in bases or metric.bases}
            if signatures & {*known["signature"]}:
                what = f"{data.name}: the file of scores has {name} already, by its signature"
                raise TstmetaError(f"{what}. Remedy: leave out --metric {name}, or these rows")


def task_of(words: str) -> str:
    """The one task that words name, ``formality transfer`` as ``polite``; else the words."""
    named = set(re.findall(r"[\w-]+", words := words.strip().lower()))
    tasks = [task for task, names in TASKS.items() if named & {task, *names.split()}]
    return tasks[0] if len(tasks) == 1 else words


def left_out(dimension: str) -> list[str]:
    """The default metrics of a dimension that do not run here, and what to do."""
    lacks = {name: _lacks(name) for _, name in _default(dimension)}
    return [f"left out: {name} ({why})" for name, why in lacks.items() if why]


def listed(
    scores: pd.DataFrame, dimension: str, metrics: Sequence[str | Metric] | None = None
) -> pd.DataFrame:
    """The scores in the table of a dimension: metrics that measure it, or that the user names."""
    if metrics is None:
        away = {name for other in DEFAULTS for _, name in _default(other)}
        away -= {name for _, name in _default(dimension)}
    else:
        named = {name for name in metrics if isinstance(name, str)}
        away = {
            name
            for name in set(registry.resolve(sorted(named))) - named
            if dimension in DEFAULTS and dimension not in registry.get(name).dimensions
        }
        if scoring.RELEASED in named:
            scores = select_dimension(scores, dimension)
            others = scores["metric"][scores["dimension"] != dimension]
            away |= set(others[others.str.startswith("released:")]) - named
    return scores[~scores["metric"].isin(away)]


def gaps(data: Dataset, scores: pd.DataFrame, dimension: str) -> list[str]:
    """What a table leaves out: rewrites without ratings or references, scores that failed."""
    size, words = len(data.items), []
    if unrated := int(data.human(dimension).isna().sum()):
        words.append(f"{unrated:,} of {size:,} rewrites have no rating of {dimension}")
    metrics = [
        registry.known(name) for name in scores["metric"].unique() if kind_of(name) == METRIC
    ]
    paired = int((data.items["references"].str.len() > 0).sum())
    if paired < size and any("reference" in metric.bases for metric in metrics if metric):
        values = "reference-based values are over these"
        values = values if paired else "there are no reference-based values"
        words.append(f"{paired:,} of {size:,} rewrites have a reference: {values}")
    return words + failures(scores)


def _default(dimension: str) -> list[tuple[str, str]]:
    """Basis and name of the default metrics; those of content where a dimension has none."""
    defaults = DEFAULTS.get(dimension, DEFAULTS["content"])
    return [(basis, name) for basis, names in defaults.items() for name in names]


def _lacks(name: str) -> str:
    """Why a metric does not run here and the remedy; empty where it runs."""
    try:
        return getattr(registry.get(name), "missing", "")
    except TstmetaError as error:
        return str(error)


def seeded(
    frame: pd.DataFrame,
    data: Iterable[Dataset],
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
    store: Path | None = None,
) -> pd.DataFrame:
    """Results with the mean over ten seeds in the rows of ``random``, and a name that says so.

    ``frame`` is of :func:`correlate`, :func:`bootstrap` or :func:`evaluate`, with these settings;
    ``data`` are its data sets, ``store`` is the folder of their scores.  low and high become the
    mean less and plus two standard deviations of the seeds; without them the name has the largest.
    All other columns stay those of seed 0, as a note says.
    """
    frame, spread, at = frame.copy(), [0.0], frame["metric"] == SEEDS[0]
    for dataset in data:
        if not (rows := at & (frame["dataset"] == dataset.name)).any():
            continue
        values, rewrites = [], scoring.requests(dataset, "source")
        compute = partial(scoring.stored_scores, store=store, progress=False)
        for seed in SEEDS:  # one after the other: ten would be most of what is in memory
            scores = scoring.score_basis(dataset, registry.get(seed), "source", rewrites, compute)
            values += [*correlate(pairs(dataset, scores, dimension), statistic, level)["value"]]
        mean, sd = pd.Series(values).agg(["mean", "std"])
        limits = np.clip([mean - 2 * sd, mean + 2 * sd], *STATISTICS[statistic].bounds)
        known = dict.fromkeys(WITHOUT) | {"value": mean, "low": limits[0], "high": limits[1]}
        known["note"] = "value, low and high are the mean of the seeds and 2 sd; the rest is seed 0"
        for column in frame.columns.intersection([*known]):
            frame.loc[rows, column] = known[column]
        spread.append(sd)
    name = f"random: mean of {len(SEEDS)}" + f", sd {max(spread):.2f}" * ("low" not in frame)
    return frame.assign(metric=frame["metric"].mask(at & (len(spread) > 1), name))
