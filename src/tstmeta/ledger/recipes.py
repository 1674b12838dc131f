"""How each printed number is recomputed: the functions that ``data/published/recipes.yaml`` names.

A recipe takes a cell, its settings and the :class:`Inputs`, and gives an :class:`Answer` or what it
:class:`Needs`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy.stats import rankdata

from .. import metrics, stats
from ..analysis import correlate
from ..combine.gm import PRINTED, gm
from ..data import Dataset, paths
from ..metrics.base import CorpusMetric, Request
from ..models import hub
from ..models.causal import BACKBONES, Backbone
from ..schema import TstmetaError
from .cells import Cell, cells, names, round_half_up
from .inputs import Inputs


class Answer(NamedTuple):
    """Our value for a cell.

    ``low`` and ``high`` are set when the value was recomputed from printed numbers: the range it
    can take when those are anywhere within their rounding.
    """

    value: float
    n: int
    signature: str
    reason: str = ""
    low: float = math.nan
    high: float = math.nan
    #: Decimals to which the paper seems to have rounded first, before the decimals printed.
    via: int | None = None

    @property
    def from_printed(self) -> bool:
        """Whether the value was recomputed from other printed numbers."""
        return math.isfinite(self.low)


class Needs(NamedTuple):
    """What is missing to compute a cell."""

    what: str
    reason: str = ""


Settings = dict[str, Any]
Recipe = Callable[[Cell, Settings, Inputs], Answer | Needs]
_RECIPES: dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """Let ``recipes.yaml`` name this function."""
    _RECIPES[function.__name__] = function
    return function


def of_data(function: Callable[[Cell, Settings, Dataset], Answer]) -> Recipe:
    """A recipe that needs nothing but the data set of its cell."""

    @recipe
    @wraps(function)
    def computed(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
        name = data_of(cell, inputs, rated=how.get("rated", True))
        return name if isinstance(name, Needs) else function(cell, how, inputs.data(name))

    return computed


@cache
def settings() -> dict[str, list[Settings]]:
    """The recipes of each paper, in order."""
    return yaml.safe_load(paths.own("published", "recipes.yaml").read_text(encoding="utf-8"))


def settings_of(cell: Cell) -> Settings:
    """The first recipe that fits a cell.

    Raises:
        TstmetaError: no recipe does.
    """
    for one in settings()[cell.paper]:
        wanted = {key: v if isinstance(v, list) else [v] for key, v in one.get("where", {}).items()}
        if all(getattr(cell, key) in values for key, values in wanted.items()):
            return one
    raise TstmetaError(f"recipes.yaml has no recipe for {cell.cell}")


def answer(cell: Cell, inputs: Inputs) -> Answer | Needs:
    """Compute one cell, or say what that takes."""
    how = settings_of(cell)
    if "needs" in how:
        return Needs(*(how[key].format(model=model_of(cell)) for key in ("needs", "reason")))
    return _RECIPES[how["recipe"]](cell, how, inputs)


# ----------------------------------------------------------------------- data sets and metrics

#: What is missing where a data set is not on this machine; the others are fetched.
_PRIVATE = {
    "cao": ("cao ratings", "the ratings were given to the paper's authors privately"),
    "ziegen": ("ziegen ratings", "study_abs_results.csv is not on this machine"),
    "alva-m": ("scialom archive", "this subset comes from the archive of Scialom et al. (2021)"),
    "scialom": ("scialom archive", "the archive of Scialom et al. (2021) is not on this machine"),
}
#: Metrics of pauli2025 that run on a model of a hub: ours with the model that the paper names.
LEARNED = {
    "BERTScore": "bertscore:deberta-xlarge-mnli",
    "BLEURT": "bleurt",
    "Cosine(LaBSE)": "cosine:labse",
    "QuestEval": "questeval:released",
}
_JUDGE = "the text names Llama 3 70B, the appendix an 8B model identifier"
_WITHOUT_SYNONYMS = "no WordNet on this machine: METEOR matches no synonyms"


def data_of(cell: Cell, inputs: Inputs, subset: str = "", rated: bool = True) -> str | Needs:
    """Our name of a cell's data set with its subset, or what is missing."""
    name = names(cell.paper, "dataset")[cell.dataset][0]
    if inputs.has(name) and not (rated and inputs.data(name).ratings.empty):
        return name + subset
    base = name.partition("@")[0]
    return Needs(*_PRIVATE.get(cell.dataset, (f"{base} data", f"tstmeta data fetch {base}")))


def metric_of(cell: Cell) -> str | Needs:
    """Our metric of a cell, or the model that it needs and that is not on this machine.

    What runs on a model runs on the printed one where it is here, and on no other; the likelihood
    method as the paper's program computes it, from which its numbers come.
    """
    ours, model = names(cell.paper, "metric")[cell.metric]
    if not model:
        return ours
    if learned := LEARNED.get(cell.metric):
        return Needs(model) if getattr(metrics.get(learned), "missing", "") else learned
    known = backbone_of(model)
    if known is None or not hub.here(known):
        return Needs(model, _JUDGE if cell.metric == "LLaMA3-prompt" else "")
    stem = "likelihood-style" if cell.dimension == "style" else "likelihood"
    return f"{stem}:{known.name}+released"


def model_of(cell: Cell) -> str:
    """The model that a cell's metric runs on; empty where it runs on none."""
    return names(cell.paper, "metric").get(cell.metric, ("", ""))[1]


def backbone_of(model: str) -> Backbone | None:
    """The model of that hub id, if the likelihood method can run on it."""
    return next((one for one in BACKBONES.values() if one.where == model), None)


def _failed(cell: Cell, data: str, metric: str) -> Needs:
    """A model that is here and gives no score is needed still: files are damaged, memory short."""
    how = f"tstmeta score --data {data} --metric {metric}"
    return Needs(model_of(cell), f"the model is here, but gave no score; {how} says why")


def _asked(cell: Cell, how: Settings, inputs: Inputs) -> tuple[str, str] | Needs:
    """Our data set and metric of a cell, or what is missing of both."""
    metric, data = metric_of(cell), data_of(cell, inputs, how.get("subset", ""))
    if isinstance(data, Needs):
        besides = f"; besides {metric.what}" if isinstance(metric, Needs) else ""
        return data._replace(reason=data.reason + besides)
    return metric if isinstance(metric, Needs) else (data, metric)


# ------------------------------------------------------------------------- pauli2025, agreement


@recipe
def agreement(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
    """A metric against the mean human rating of one dimension, or the p-value of it."""
    asked = _asked(cell, how, inputs)
    if isinstance(asked, Needs):
        return asked
    frame = inputs.pairs(*asked, cell.basis, cell.dimension)
    if not frame["score"].notna().any() and model_of(cell):
        return _failed(cell, *asked)
    found = correlate(frame, how["statistic"], how["level"]).iloc[0]
    value = found["p"] if cell.statistic == "pvalue" else found["value"]
    own = frame["signature"].iloc[0]
    signature = f"{own}|{how['statistic']}:{how['level']}|data:{asked[0]}"
    reasons = [found["reason"], _WITHOUT_SYNONYMS if "synonyms:none" in own else ""]
    reason = "; ".join(filter(None, reasons))
    return Answer(float(value), _n(found), signature, reason, via=how.get("via"))


def _n(found: pd.Series) -> int:
    """What a value is over: rewrites, or at levels of groups those."""
    return int(found["n"] if pd.isna(found["groups"]) else found["groups"])


@recipe
def ranking(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
    """Table 9: Kendall's tau-b of the systems' mean score with their mean content rating.

    The means are those of ``numpy.mean`` over a system's items in the order of the files.  Its
    rounding parts two systems of mir whose exact means are equal; the printed values come out so,
    and do not with the tie kept.  The reason names such pairs and gives the value with ties kept.
    """
    exact, asked = agreement(cell, how, inputs), _asked(cell, how, inputs)
    if isinstance(exact, Needs) or isinstance(asked, Needs):
        return exact
    frame = inputs.pairs(*asked, cell.basis, cell.dimension).dropna(subset=["human", "score"])
    systems = frame.groupby("system", sort=False)
    people = systems["human"].agg(lambda values: math.fsum(values) / len(values))
    rounded = systems[["human", "score"]].agg(lambda values: np.mean(values.to_numpy()))
    found = stats.kendall(rounded["human"], rounded["score"])
    parted = ties_broken(people, rounded["human"], rounded["score"])
    kept = f"with the tie kept the value is {exact.value:.3f}" if parted else ""
    reason = "; ".join(text for text in (exact.reason, *parted, kept) if text)
    shown = found.p if cell.statistic == "pvalue" else found.value
    return exact._replace(value=shown, signature=f"{exact.signature}|means:numpy", reason=reason)


def ties_broken(exact: pd.Series, rounded: pd.Series, scores: pd.Series) -> list[str]:
    """A sentence on each pair of systems that people rate alike and rounding ranks."""
    sentences = []
    for a, b in itertools.combinations(exact.index, 2):
        gap = rounded[a] - rounded[b]
        if exact[a] == exact[b] and gap:
            way = (
                "as the metric does" if gap * (scores[a] - scores[b]) > 0 else "against the metric"
            )
            sentences.append(
                f"people rate {a} and {b} exactly alike, but numpy.mean rounds their means"
                f" {abs(gap):.0e} apart, which breaks the tie {way}"
            )
    return sentences


@recipe
def single_item(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
    """A human mean or a score of one item."""
    human = cell.metric == "human mean rating"
    asked = (data_of(cell, inputs), "") if human else _asked(cell, how, inputs)
    if isinstance(asked, Needs) or isinstance(asked[0], Needs):
        return asked if isinstance(asked, Needs) else asked[0]
    item = names(cell.paper, "item")[cell.item][0]
    if human:
        value = float(inputs.data(asked[0]).human(cell.dimension)[item])
        return Answer(value, 1, f"mean {cell.dimension}|item:{item}")
    frame = inputs.pairs(*asked, cell.basis, cell.dimension)
    row = frame[frame["item_id"] == item].iloc[0]
    if math.isnan(row["score"]) and model_of(cell):
        return _failed(cell, *asked)
    return Answer(float(row["score"]), 1, f"{row['signature']}|{item}")


# ------------------------------------------------------------------------ pauli2025, facts of data


@of_data
def dimensions(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Agreement of two human dimensions over items."""
    first, second = cell.dimension.split("-")
    found = stats.STATISTICS[how["statistic"]](data.means[first], data.means[second])
    signature = f"{how['statistic']}|mean {first}|mean {second}|data:{data.name}"
    return Answer(found.value, found.n, signature, found.reason)


@of_data
def alpha(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Krippendorff's alpha (ordinal)."""
    found = stats.alpha(data.raters(cell.dimension or "content"), "ordinal")
    return Answer(found.value, found.n, f"krippendorff alpha|level:ordinal|data:{data.name}")


@of_data
def share_of_items(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Percent of items whose mean rating is at least so much."""
    means = data.means[how["dimension"]].to_numpy()
    share = 100 * float(np.mean(means >= how["least"]))
    what = f"percent|mean {how['dimension']} >= {how['least']}|data:{data.name}"
    return Answer(share, len(means), what)


@of_data
def items(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Number of items."""
    return Answer(len(data.items), len(data.items), f"count of items|data:{data.name}")


@of_data
def systems(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Number of systems."""
    count = data.items["system"].nunique()
    return Answer(count, len(data.items), f"count of systems|data:{data.name}")


@of_data
def ratings_of_an_item(cell: Cell, how: Settings, data: Dataset) -> Answer:
    """Median number of ratings an item and dimension."""
    each = data.ratings.groupby(["item_id", "dimension"], observed=True).size()
    what = f"median ratings an item and dimension|data:{data.name}"
    return Answer(float(each.median()), len(data.items), what)


# ---------------------------------------------------------------------- pauli2025, summary columns


def _columns(cell: Cell, how: Settings) -> list[dict[str, Cell]]:
    """The printed correlations on basis source of a cell's table: a data set's metrics each."""
    grid: dict[str, dict[str, Cell]] = {}
    for one in cells(cell.paper, cell.table):
        if (one.statistic, one.basis) == ("pearson", "source") and one.dataset not in how[
            "without"
        ]:
            grid.setdefault(one.dataset, {})[one.metric] = one
    return list(grid.values())


@recipe
def mean_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean correlation over the data sets of a table, from the printed cells."""
    own = [column[cell.metric] for column in _columns(cell, how)]
    mean = math.fsum(one.value for one in own) / len(own)
    slack = _half(min(own, key=lambda one: one.decimals))
    signature = f"mean of {len(own)} printed correlations|table:{cell.table}"
    return Answer(mean, len(own), signature, "", mean - slack, mean + slack)


@recipe
def mean_rank_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean rank: highest correlation first, ties averaged, on each data set."""
    ranks = []
    for column in _columns(cell, how):
        places = rankdata([-one.value for one in column.values()])
        ranks.append(places[list(column).index(cell.metric)])
    mean = math.fsum(ranks) / len(ranks)
    signature = f"mean of {len(ranks)} ranks of printed correlations"
    return Answer(mean, len(ranks), signature, "", mean, mean)


def _half(cell: Cell) -> float:
    """Half a step of a cell's last printed digit."""
    return 0.5 * 10.0**-cell.decimals


# --------------------------------------------------------------------------------------- lai2023

LAI = "lai@lai2023"


@recipe
def at_level(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
    """A metric, or the second rater, against people at one of the paper's levels; percent."""
    if not inputs.has(LAI):
        return Needs("lai data", "tstmeta data fetch lai")
    if cell.metric == "inter-annotator agreement":
        frame = second_rater(inputs, LAI, cell.dimension)
    else:
        frame = _released(cell, inputs)
    wanted = ["I2F", "F2I"] if cell.direction == "overall" else [cell.direction]
    by_systems = how["level"] == "system"
    values, n = [], 0
    for group in [[one] for one in wanted] if by_systems else [wanted]:
        rows = frame[frame["direction"].isin(group)]
        undefined = how.get("undefined", math.nan)
        found = correlate(rows, how["statistic"], how["level"], undefined=undefined).iloc[0]
        values.append(100 * found["value"])
        n += math.comb(_n(found), 2) if by_systems else _n(found)
    value = values[0] if len(values) == 1 else _mean_of_rounded(values)
    signature = f"{frame['signature'].iloc[0]}|level:{cell.level}|direction:{cell.direction}"
    return Answer(float(value), n, signature)


def _mean_of_rounded(values: list[float]) -> float:
    """The mean of the directions after each was rounded to one decimal, exact halves kept.

    38.9 and 75.0 give 56.95, which is printed 57.0.
    """
    return round_half_up(math.fsum(round_half_up(v, 1) for v in values) / len(values), 2)


def _released(cell: Cell, inputs: Inputs) -> pd.DataFrame:
    name = names(cell.paper, "metric")[cell.metric][0]
    name += "-multi" if cell.item == "multiple" else ""
    return inputs.pairs(
        LAI, name, "source" if cell.dimension == "content" else "none", cell.dimension
    )


def second_rater(inputs: Inputs, data: str, dimension: str) -> pd.DataFrame:
    """Pairs whose score is the second rating of an item, held against the first."""
    raters = inputs.data(data).raters(dimension)
    first, second = sorted(raters.columns)
    frame = inputs.pairs(data, "released:bleu", "source").assign(
        metric="second rater",
        basis="none",
        flipped=False,
        signature=f"second rater against first|{dimension}",
    )
    of_item = frame["item_id"]
    return frame.assign(
        human=raters[first].loc[of_item].to_numpy(), score=raters[second].loc[of_item].to_numpy()
    )


# --------------------------------------------------------------------------------- mukherjee2025


@recipe
def learned_weight(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A learned weight of Table 5: an importance of Table 6 over the sum of the selected ones."""

    def setting(one: Cell) -> tuple[str, str, str]:
        return one.dataset, one.language, one.dimension

    same = [one for one in cells(cell.paper, "5") if one.item == cell.item]
    chosen = [one.metric for one in same if setting(one) == setting(cell)]
    importances = {
        one.metric: one for one in cells(cell.paper, "6") if setting(one) == setting(cell)
    }
    own, half = importances[cell.metric].value, _half(importances[cell.metric])
    rest = sum(importances[name].value for name in chosen if name != cell.metric)
    slack = half * (len(chosen) - 1)
    least, most = max(own - half, 0.0), own + half
    return Answer(
        own / (own + rest),
        len(chosen),
        f"importance of Table 6 renormalised over {len(chosen)} metrics",
        "",
        least / (least + rest + slack),
        most / (most + max(rest - slack, 0.0)),
    )


@recipe
def itself(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """The human score against itself."""
    return Answer(1.0, 1, "a score against itself, by construction", "", 1.0, 1.0)


# -------------------------------------------------------------------------------------- pang2019


def _printed(paper: str, dataset: str, model: str, metric: str) -> Cell:
    of_paper = itertools.chain(cells(paper, "2"), cells(paper, "3"))
    wanted = (dataset, model, metric)
    return next(one for one in of_paper if (one.dataset, one.item, one.metric) == wanted)


@recipe
def geometric_mean(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """GM (Section 3.3) from the printed Acc, Sim and PP."""
    three = [_printed(cell.paper, cell.dataset, cell.item, name) for name in ("Acc", "Sim", "PP")]
    ranges = [(one.value - _half(one), one.value + _half(one)) for one in three]
    corners = [float(gm(*corner)) for corner in itertools.product(*ranges)]
    value = float(gm(*(one.value for one in three)))
    signature = f"GM of printed Acc, Sim, PP|t:{PRINTED}"
    return Answer(value, len(three), signature, "", min(corners), max(corners))


@recipe
def difference(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 4's differences A - B of Sim and PP, from Tables 2 and 3."""
    models, metric = re.findall(r"M\d", cell.item), cell.metric.removeprefix("delta_")
    a, b = (_printed(cell.paper, cell.dataset, model, metric) for model in models)
    value, slack = a.value - b.value, _half(a) + _half(b)
    signature = f"difference of printed {metric}: {' - '.join(models)}"
    return Answer(value, 2, signature, "", value - slack, value + slack)


@recipe
def share_of_text(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 5's GM row: the text gives the counts behind the percentage."""
    hits, total = map(int, re.findall(r"(\d+) of (\d+)", cell.note)[0])
    value = 100 * hits / total
    return Answer(value, total, f"{hits} of {total}, from the running text", "", value, value)


@recipe
def corpus_bleu(cell: Cell, how: Settings, inputs: Inputs) -> Answer | Needs:
    """Table 6: corpus BLEU (multi-bleu) of 1,000 outputs, with two preparations of the references.

    ``raw``: the references of Li et al. (2018), case kept and untokenised.  ``tokenised``: the
    same references lower-cased and tokenised, as Luo et al. (2019) distribute them.  The value
    with the other preparation stands in the reason.
    """
    for name in ("li2018", "dualrl"):
        if not inputs.has(name):
            return Needs(f"{name} data", f"tstmeta data fetch {name}")
    metric = metrics.get("corpus-bleu:multi-bleu")
    if not isinstance(metric, CorpusMetric):
        raise TypeError(f"{metric.name} is no corpus metric")
    table = inputs.data("li2018@yelp").items
    system = names(cell.paper, "system").get(cell.item, ("", ""))[0]
    # all systems have the same 1,000 sources; without one the source is its own output
    table = table[table["system"] == (system or "StyleEmbedding")]
    outputs = table["output"] if system else table["source"]
    tokenised = inputs.data("dualrl").items.drop_duplicates(["style", "source"], keep="last")
    by_source = tokenised.set_index(["style", "source"])["references"]
    references = {
        "raw": table["references"],
        "tokenised": by_source.loc[list(zip(table["style"], table["source"], strict=True))],
    }
    found = {}
    for preparation, lists in references.items():
        texts = zip(outputs, lists, strict=True)
        each = [metric.statistics(Request(output, (list_[0],))) for output, list_ in texts]
        found[preparation] = metric.aggregate(np.sum(each, axis=0))
    used = how["references"]
    [other] = set(found) - {used}
    reason = f"{used} references; {found[other]:.1f} with {other} ones"
    signature = f"{metric.signature('reference')}|references:{used}"
    return Answer(found[used], len(table), signature, reason)
