"""Recipes that compute a printed number, from data or from other printed numbers of its paper."""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, cast

import numpy as np
import pandas as pd

from .. import stats
from ..analysis import correlate
from ..combine.gm import PRINTED, gm
from ..data import Dataset
from ..metrics import registry
from ..metrics.base import CorpusMetric, Request
from ..models import hub
from ..models.causal import BACKBONES
from .cells import Cell, cells, names, round_half_up
from .inputs import Answer, Inputs, Needs, Settings, model_of

#: What is missing where a data set is not on this machine; the others are fetched.
_PRIVATE = {
    "cao": ("cao ratings", "the ratings were given to the paper's authors privately"),
    "ziegen": ("ziegen ratings", "study_abs_results.csv is not on this machine"),
    "alva-m": ("scialom archive", "this subset comes from the archive of Scialom et al. (2021)"),
    "scialom": ("scialom archive", "the archive of Scialom et al. (2021) is not on this machine"),
}


def data_of(cell: Cell, inputs: Inputs, how: Settings) -> str:
    """Our name of a cell's data set with its subset; raises :class:`Needs` without its files."""
    name = names(cell.paper, "dataset")[cell.dataset][0]
    if inputs.has(name) and not (how.get("rated", True) and inputs.data(name).ratings.empty):
        return name + how.get("subset", "")
    base = name.partition("@")[0]
    raise Needs(*_PRIVATE.get(cell.dataset, (f"{base} data", f"tstmeta data fetch {base}")))


def metric_of(cell: Cell) -> str:
    """Our metric of a cell, on the printed model and no other; :class:`Needs` without it."""
    ours, model, listed = names(cell.paper, "metric")[cell.metric]
    if not model:
        return ours
    if listed.startswith("judge:"):
        raise Needs(model, "the text names Llama 3 70B, the appendix an 8B model identifier")
    known = next((known for known in BACKBONES.values() if known.where == model), None)
    learned = listed.partition(" ")[0]
    if known is None and not getattr(registry.get(learned), "missing", ""):
        return learned
    if known is None or not hub.here(known):
        raise Needs(model, "its weights are not on this machine")
    stem = "likelihood-style" if cell.dimension == "style" else "likelihood"
    return f"{stem}:{known.name}+released"  # as in the paper's program: its numbers come from there


def pairs_of(cell: Cell, how: Settings, inputs: Inputs) -> tuple[str, pd.DataFrame]:
    """Our name of a cell's data set, and its pairs there; of Figure 1 those of its item."""
    data, metric = data_of(cell, inputs, how), metric_of(cell)
    frame = inputs.pairs(data, metric, cell.basis, cell.dimension)
    if item := names(cell.paper, "item").get(cell.item, ("", ""))[0]:
        frame = frame[frame["item_id"] == item]
    if model_of(cell) and not frame["score"].notna().any():
        command = f"tstmeta score --data {data} --metric {metric}"
        raise Needs(model_of(cell), f"the model is here, but gave no score; {command} says why")
    return data, frame


# ----------------------------------------------------------------------------------- pauli2025


def agreement(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric against the mean human rating of one dimension, or the p-value of it."""
    data, frame = pairs_of(cell, how, inputs)
    result = correlate(frame, how["statistic"], how["level"]).iloc[0]
    value = result["p"] if cell.statistic == "pvalue" else result["value"]
    metric = frame["signature"].iloc[0]
    signature = f"{metric}|{how['statistic']}:{how['level']}|data:{data}"
    return Answer(float(value), _n(result), signature, result["reason"], via=how.get("via"))


def _n(result: pd.Series) -> int:
    """What a value is over: rewrites, or at levels of groups those."""
    return int(result["n"] if pd.isna(result["groups"]) else result["groups"])


def ranking(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 9: Kendall's tau-b of the systems' mean score with their mean content rating.

    The means are those of ``numpy.mean``, whose rounding may part systems that people rate alike:
    the printed values come out so, and do not with the tie kept.
    """
    exact = agreement(cell, how, inputs)
    frame = pairs_of(cell, how, inputs)[1].dropna(subset=["human", "score"])
    systems = frame.groupby("system", sort=False)[["human", "score"]]
    means = systems.agg(lambda values: np.mean(values.to_numpy()))
    result = stats.kendall(means["human"], means["score"])
    shown = result.p if cell.statistic == "pvalue" else result.value
    tie = how.get("tie", "").format(exact=f"{exact.value:.3f}")
    reason = "; ".join(filter(None, [exact.reason, tie]))
    return exact._replace(value=shown, signature=f"{exact.signature}|means:numpy", reason=reason)


def single_item(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A human mean or a score of one item."""
    item = names(cell.paper, "item")[cell.item][0]
    if cell.metric == "human mean rating":
        value = inputs.data(data_of(cell, inputs, how)).human(cell.dimension)[item]
        return Answer(float(value), 1, f"mean {cell.dimension}|item:{item}")
    [row] = pairs_of(cell, how, inputs)[1].to_dict("records")
    return Answer(float(row["score"]), 1, f"{row['signature']}|{item}")


def dimensions(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Agreement of two human dimensions over items."""
    data, (first, second) = data_of(cell, inputs, how), cell.dimension.split("-")
    means = inputs.data(data).means
    result = stats.STATISTICS[how["statistic"]](means[first], means[second])
    signature = f"{how['statistic']}|mean {first}|mean {second}|data:{data}"
    return Answer(result.value, result.n, signature, result.reason)


def alpha(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Krippendorff's alpha (ordinal)."""
    data = data_of(cell, inputs, how)
    result = stats.alpha(inputs.data(data).raters(cell.dimension or "content"), "ordinal")
    return Answer(result.value, result.n, f"krippendorff alpha|level:ordinal|data:{data}")


#: What is counted of a data set: a percentage of its items, items, systems, ratings of an item.
COUNTS: dict[str, Callable[[Dataset], float]] = {
    "percent|mean style >= 3": lambda data: 100 * float(np.mean(data.means["style"] >= 3)),
    "count of items": lambda data: len(data.items),
    "count of systems": lambda data: data.items["system"].nunique(),
    "median ratings an item and dimension": lambda data: float(
        data.ratings.groupby(["item_id", "dimension"], observed=True).size().median()
    ),
}


def count(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A fact of the data; ``of`` names it in :data:`COUNTS`."""
    name = data_of(cell, inputs, how)
    data = inputs.data(name)
    return Answer(COUNTS[how["of"]](data), len(data.items), f"{how['of']}|data:{name}")


# --------------------------------------------------------------------------------------- lai2023


def at_level(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric, or the second rater, against people at one of the paper's levels; percent.

    At system level the overall value is the mean of the two directions after each was rounded to
    one decimal, exact halves kept: 38.9 and 75.0 give 56.95, which is printed 57.0.
    """
    data = how.get("data", "lai@lai2023")
    if not inputs.has(data):
        raise Needs("lai data", "tstmeta data fetch lai")
    by_systems = how["level"] == "system"
    wanted = ("I2F", "F2I") if cell.direction == "overall" else (cell.direction,)
    if cell.metric == "inter-annotator agreement":
        frame = second_rater(inputs, data, cell.dimension)
    else:
        name = names(cell.paper, "metric")[cell.metric][0] + "-multi" * (cell.item == "multiple")
        basis = "source" if cell.dimension == "content" else "none"
        frame = inputs.pairs(data, name, basis, cell.dimension)
    values, n = [], 0
    for directions in [(name,) for name in wanted] if by_systems else [wanted]:
        part, undefined = frame[frame["direction"].isin(directions)], how.get("undefined", math.nan)
        result = correlate(part, how["statistic"], how["level"], undefined=undefined).iloc[0]
        values.append(100 * float(result["value"]))
        n += math.comb(_n(result), 2) if by_systems else _n(result)
    value = values[0]
    if len(values) > 1:
        value = round_half_up(math.fsum(round_half_up(v, 1) for v in values) / len(values), 2)
    signature = f"{frame['signature'].iloc[0]}|level:{cell.level}|direction:{cell.direction}"
    return Answer(value, n, signature)


def second_rater(inputs: Inputs, data: str, dimension: str) -> pd.DataFrame:
    """Pairs whose score is the second rating of an item, held against the first."""
    raters = inputs.data(data).raters(dimension)
    first, second = sorted(raters.columns)
    frame = inputs.pairs(data, "released:bleu", "source")
    ratings = raters.loc[frame["item_id"]]
    return frame.assign(
        metric="second rater",
        basis="none",
        flipped=False,
        signature=f"second rater against first|{dimension}",
        human=ratings[first].to_numpy(),
        score=ratings[second].to_numpy(),
    )


# --------------------------------------------------------------------------------------- pang2019


def corpus_bleu(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 6: corpus BLEU of 1,000 outputs; the value with other references is in the reason."""
    for name in ("li2018", "dualrl"):
        if not inputs.has(name, texts=True):
            raise Needs(f"{name} data", f"tstmeta data fetch {name}")
    system = names(cell.paper, "system").get(cell.item, ("", ""))[0]
    metric, statistics = inputs.once(yelp_bleu, system)
    values = {name: metric.aggregate(np.sum(rows, axis=0)) for name, rows in statistics.items()}
    value = values.pop(how["references"])
    [(other, without)] = values.items()
    reason = f"{how['references']} references; {without:.1f} with {other} ones"
    signature = f"{metric.signature('reference')}|references:{how['references']}"
    return Answer(value, len(statistics[other]), signature, reason)


def yelp_bleu(inputs: Inputs, system: str) -> tuple[CorpusMetric, dict[str, np.ndarray]]:
    """Corpus BLEU (multi-bleu) and what it adds up of a system, or of the sources: ``[1000, k]``.

    The references are ``raw``, as of Li et al. (2018), or ``tokenised``, as of Luo et al. (2019).
    """
    metric = cast(CorpusMetric, registry.get("corpus-bleu:multi-bleu"))
    table = inputs.data("li2018@yelp").items
    # all systems have the same 1,000 sources; without one the source is its own output
    table = table[table["system"] == (system or "StyleEmbedding")]
    tokenised = inputs.data("dualrl").items.drop_duplicates(["style", "source"], keep="last")
    by_source = tokenised.set_index(["style", "source"])["references"]
    references = {
        "raw": table["references"],
        "tokenised": by_source.loc[list(zip(table["style"], table["source"], strict=True))],
    }
    statistics = {}
    for preparation, lists in references.items():
        texts = zip(table["output"] if system else table["source"], lists, strict=True)
        requests = [Request(output, tuple(listed[:1])) for output, listed in texts]
        statistics[preparation] = np.array([metric.statistics(request) for request in requests])
    return metric, statistics


def preferred(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 4: the percentage of comparisons of two systems with one answer, by plain counts."""
    if not inputs.has(how["data"]):
        raise Needs("mis data", "tstmeta data fetch mis")
    data, (question, _, answer) = inputs.data(how["data"]), cell.item.partition(": ")
    systems, rows = data.items.set_index("item_id")["system"], data.preferences
    a, b = question.lower().split(" vs ")
    rows = rows[rows["item_a"].map(systems).eq(a) & rows["item_b"].map(systems).eq(b)]
    answers = rows.loc[rows["dimension"] == cell.dimension, "value"]
    share = 100 * (answers == {"A>B": "a", "B>A": "b", "Tie": "tie"}[answer]).mean()
    signature = f"share of comparisons|{question}|data:{how['data']}"
    return Answer(float(share), len(answers), signature)


# --------------------------------------------------------------------- from other printed numbers


def from_printed(function: Callable[..., Any], printed: Sequence[Cell], signature: str) -> Answer:
    """A function, monotone in each printed number, and its range within their rounding."""
    halves = [0.5 * 10.0**-cell.decimals for cell in printed]
    ranges = [(cell.value - h, cell.value + h) for cell, h in zip(printed, halves, strict=True)]
    corners = [float(function(*corner)) for corner in itertools.product(*ranges)]
    value = float(function(*(cell.value for cell in printed)))
    return Answer(value, len(printed), signature, "", min(corners), max(corners))


def _correlations(cell: Cell, how: Settings) -> list[Cell]:
    """The printed correlations on basis source of a cell's table."""
    wanted, table = ("pearson", "source"), cells(cell.paper, cell.table)
    shown = (row for row in table if (row.statistic, row.basis) == wanted)
    return [row for row in shown if row.dataset not in how["without"]]


def mean_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean correlation over the data sets of a table, from the printed cells."""
    printed = [row for row in _correlations(cell, how) if row.metric == cell.metric]
    signature = f"mean of {len(printed)} printed correlations|table:{cell.table}"
    return from_printed(lambda *values: fmean(values), printed, signature)


def mean_rank_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean rank: highest correlation first, ties averaged, on each data set."""
    printed = pd.DataFrame(_correlations(cell, how))
    ranks = printed.groupby("dataset")["value"].rank(ascending=False)
    ranks = ranks[printed["metric"] == cell.metric]
    signature = f"mean of {len(ranks)} ranks of printed correlations"
    return Answer(fmean(ranks), len(ranks), signature, "", fmean(ranks), fmean(ranks))


def learned_weight(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A learned weight of Table 5: an importance of Table 6 over the sum of the selected ones."""

    def share(*importances: float) -> float:
        first, *others = (max(importance, 0.0) for importance in importances)
        return first / (first + sum(others))

    about = (cell.dataset, cell.language, cell.dimension)
    rows = [r for r in cells(cell.paper) if (r.dataset, r.language, r.dimension) == about]
    importances = {row.metric: row for row in rows if row.table == "6"}
    weights = [row for row in rows if (row.table, row.item) == ("5", cell.item)]
    chosen = [importances[row.metric] for row in weights]
    chosen.sort(key=lambda row: row.metric != cell.metric)
    signature = f"importance of Table 6 renormalised over {len(chosen)} metrics"
    return from_printed(share, chosen, signature)


def stated(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """What follows from the running text or by construction, which ``of`` names."""
    value = 100 * how["hits"] / how["n"] if "hits" in how else 1.0
    return Answer(value, how["n"], how["of"], "", value, value)


def _printed(cell: Cell, model: str, metric: str) -> Cell:
    """What Tables 2 and 3 print of a model on the data set of a cell."""
    wanted, rows = (cell.dataset, model, metric), (*cells(cell.paper, "2"), *cells(cell.paper, "3"))
    return next(row for row in rows if (row.dataset, row.item, row.metric) == wanted)


def geometric_mean(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """GM (Section 3.3) from the printed Acc, Sim and PP."""
    three = [_printed(cell, cell.item, name) for name in ("Acc", "Sim", "PP")]
    return from_printed(gm, three, f"GM of printed Acc, Sim, PP|t:{PRINTED}")


def difference(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 4's differences A - B of Sim and PP, from Tables 2 and 3."""
    models, metric = re.findall(r"M\d", cell.item), cell.metric.removeprefix("delta_")
    both = [_printed(cell, model, metric) for model in models]
    signature = f"difference of printed {metric}: {' - '.join(models)}"
    return from_printed(lambda a, b: a - b, both, signature)


_ALL = (agreement, ranking, single_item, dimensions, alpha, count, at_level, corpus_bleu, preferred)
_MORE = (mean_of_printed, mean_rank_of_printed, learned_weight, stated, geometric_mean, difference)
#: What ``recipes.yaml`` can name.
RECIPES = {recipe.__name__: recipe for recipe in (*_ALL, *_MORE)}
