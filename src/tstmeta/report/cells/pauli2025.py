"""Pauli et al. (2025), A Meta-Evaluation of Style and Attribute Transfer Metrics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from ... import metrics, stats
from ...models import hub
from ...models.causal import BACKBONES, Backbone
from ..bench import Bench
from ..ledger import Answer, Needs
from ..published import Cell, cells, names

PAPER = "pauli2025"
#: Table 1 prints correlations with three decimals; every two-decimal cell that we can compute is
#: what comes out when three decimals are rounded once more (R-BLEU on lai: .26495, .265, .27).
VIA = 3
#: What is missing where a data set is not on this machine; the others are fetched.
_PRIVATE = {
    "cao": ("cao ratings", "the ratings were given to the paper's authors privately"),
    "ziegen": ("ziegen ratings", "study_abs_results.csv is not on this machine"),
    "alva-m": ("scialom archive", "this subset comes from the archive of Scialom et al. (2021)"),
    "scialom": ("scialom archive", "the archive of Scialom et al. (2021) is not on this machine"),
}
_WITHOUT_SYNONYMS = "no WordNet on this machine: METEOR matches no synonyms"
#: The likelihood method as the paper's program computes it: its numbers come from that program.
_VARIANT = "released"
_JUDGE = "the text names Llama 3 70B, the appendix an 8B model identifier"
#: Printed metrics that run on a model of a hub: our metric with the model that the paper names.
_LEARNED = {
    "BERTScore": "bertscore:deberta-xlarge-mnli",
    "BLEURT": "bleurt",
    "Cosine(LaBSE)": "cosine:labse",
    "QuestEval": "questeval:released",
}


def recipe(cell: Cell, bench: Bench) -> Answer | Needs:
    """Compute one cell, or say what that takes."""
    return _RECIPES[cell.table](cell, bench)


def _dataset(cell: Cell, bench: Bench, part: str = "") -> str | Needs:
    """Our name of a cell's data set (``part`` is appended to named subsets), or what is missing."""
    name = names(PAPER, "dataset")[cell.dataset][0]
    if bench.has(name) and _rated(name, bench):
        return name + part
    base = name.partition("@")[0]
    return Needs(*_PRIVATE.get(cell.dataset, (f"{base} data", f"tstmeta data fetch {base}")))


def _rated(name: str, bench: Bench) -> bool:
    return len(bench.dataset(name).ratings) > 0


def _intercorrelation(cell: Cell, bench: Bench) -> Answer | Needs:
    """Table 1: Pearson of two human dimensions over items."""
    name = _dataset(cell, bench)
    if isinstance(name, Needs):
        return name
    first, second = cell.dimension.split("-")
    found = bench.between(name, first, second)
    return Answer(found.value, found.n, found.signature)


def _test_set(cell: Cell, bench: Bench) -> Answer | Needs:
    """Table 2: size, Krippendorff's alpha (ordinal) of content, share of items with style >= 3."""
    name = _dataset(cell, bench)
    if isinstance(name, Needs):
        return name
    data = bench.dataset(name)
    if cell.item == "support":
        return Answer(len(data.items), len(data.items), f"count|data:{name}")
    if cell.item == "alpha":
        found = stats.alpha(data.raters("content"), "ordinal")
        return Answer(found.value, found.n, f"krippendorff alpha|level:ordinal|data:{name}")
    style = data.means["style"].to_numpy()
    share = 100 * float(np.mean(style >= 3))
    return Answer(share, len(style), f"percent|mean style >= 3|data:{name}")


def _content(cell: Cell, bench: Bench) -> Answer | Needs:
    """Tables 3, 4, 5: Pearson of a metric with the mean content rating, p-values, averages, ranks.

    On lai, Table 3 takes the seven systems (yi is dropped) and Table 4 the rated reference.
    """
    if cell.dataset == "avg":
        return _average(cell)
    part = ""
    if cell.dataset == "lai":
        part = {"3": "-systems", "4": "-references"}[cell.table]
    return _agreement(cell, bench, part)


def _agreement(
    cell: Cell, bench: Bench, part: str = "", statistic: str = "pearson", level: str = "pooled"
) -> Answer | Needs:
    metric = _metric(cell)
    name = _dataset(cell, bench, part)
    if isinstance(name, Needs):
        besides = f"; besides {metric.what}" if isinstance(metric, Needs) else ""
        return name._replace(reason=name.reason + besides)
    if isinstance(metric, Needs):
        return metric
    found = bench.agreement(name, metric, cell.basis, cell.dimension, statistic, level)
    if found.n == 0 and _model(cell):
        return _failed(cell, name, metric)
    value = found.p if cell.statistic == "pvalue" else found.value
    signature = f"{found.signature}|{statistic}:{level}|data:{name}"
    reason = _WITHOUT_SYNONYMS if "synonyms:none" in found.signature else ""
    return Answer(value, found.n, signature, reason, via=VIA)


def _metric(cell: Cell) -> str | Needs:
    """Our metric of a cell, or the model that it needs and that is not on this machine.

    What runs on a model runs on the printed one where it is here, and on no other.
    """
    ours, model = names(PAPER, "metric")[cell.metric]
    if not model:
        return ours
    if learned := _LEARNED.get(cell.metric):
        return Needs(model) if getattr(metrics.get(learned), "missing", "") else learned
    backbone = _backbone(model)
    if backbone is None or not hub.here(backbone):
        return Needs(model, _JUDGE if cell.metric == "LLaMA3-prompt" else "")
    stem = "likelihood-style" if cell.dimension == "style" else "likelihood"
    return f"{stem}:{backbone.name}+{_VARIANT}"


def _model(cell: Cell) -> str:
    """The model that a cell's metric runs on; empty where it runs on none."""
    return names(PAPER, "metric")[cell.metric][1]


def _failed(cell: Cell, data: str, metric: str) -> Needs:
    """A model that is here and gives no score is needed still: files are damaged, memory short."""
    how = f"tstmeta score --data {data} --metric {metric}"
    return Needs(_model(cell), f"the model is here, but gave no score; {how} says why")


def _backbone(model: str) -> Backbone | None:
    """The model of that hub id, if the likelihood method can run on it."""
    return next((one for one in BACKBONES.values() if one.where == model), None)


def _average(cell: Cell) -> Answer | Needs:
    """The summary columns of Tables 3 to 5, recomputed from the printed cells.

    Ranks: the nine source-based metrics are ranked on each data set by signed correlation, highest
    first, ties averaged; Table 5 ranks over the six sub-tasks without ALL.
    """
    grid: dict[str, dict[str, Cell]] = {}
    for one in cells():
        same = one.paper == PAPER and one.table == cell.table and one.statistic == "pearson"
        if same and one.basis == "source" and one.dataset not in ("avg", "constructed:all"):
            grid.setdefault(one.dataset, {})[one.metric] = one
    n = len(grid)
    if cell.statistic == "mean_pearson":
        values = [row[cell.metric].value for row in grid.values()]
        slack = 0.5 * 10.0 ** -min(row[cell.metric].decimals for row in grid.values())
        mean = math.fsum(values) / n
        signature = f"mean of {n} printed correlations|table:{cell.table}"
        return Answer(mean, n, signature, "", mean - slack, mean + slack)
    ranks = []
    for row in grid.values():
        order = list(row)
        ranks.append(rankdata([-row[m].value for m in order])[order.index(cell.metric)])
    mean = math.fsum(ranks) / n
    return Answer(mean, n, f"mean of {n} ranks of printed correlations", "", mean, mean)


def _style(cell: Cell, bench: Bench) -> Answer | Needs:
    """Table 6: style strength."""
    return _agreement(cell, bench)


def _dataset_facts(cell: Cell, bench: Bench) -> Answer | Needs:
    """Tables 7 and 8: numbers of items, ratings an item, systems; Table 8's model answers."""
    if cell.item.startswith("unparsed"):
        return Needs(_model(cell), _JUDGE)
    name = names(PAPER, "dataset")[cell.dataset][0]
    by_items = cell.item != "annotators_per_sample" and bench.has(name)
    checked = name if by_items else _dataset(cell, bench)
    if isinstance(checked, Needs):
        return checked
    data = bench.dataset(name)
    n = len(data.items)
    if cell.item in ("support", "out_of"):
        return Answer(n, n, f"count of items|data:{name}")
    if cell.item == "n_systems":
        return Answer(data.items["system"].nunique(), n, f"count of systems|data:{name}")
    each = data.ratings.groupby(["item_id", "dimension"], observed=True).size()
    return Answer(float(each.median()), n, f"median ratings an item and dimension|data:{name}")


def _ranking(cell: Cell, bench: Bench) -> Answer | Needs:
    """Table 9: Kendall's tau-b of the systems' mean score with their mean content rating.

    The means are those of ``numpy.mean`` over a system's items in the order of the files.  Its
    rounding parts two systems of mir whose exact means are equal; the printed values come out so,
    and do not with the tie kept.  The reason names such pairs and gives the value with ties kept.
    """
    exact = _agreement(cell, bench, "", "kendall", "system")
    if isinstance(exact, Needs):
        return exact
    name, metric = names(PAPER, "dataset")[cell.dataset][0], _metric(cell)
    if isinstance(metric, Needs):
        return metric
    human, value, _ = bench.vectors(name, metric, cell.basis, cell.dimension)
    both = np.isfinite(human) & np.isfinite(value)
    systems = bench.dataset(name).items["system"].to_numpy(str)[both]
    labels, people = _means(human[both], systems, _exact_mean)
    rounded = [_means(side[both], systems, np.mean)[1] for side in (human, value)]
    found = stats.kendall(*rounded)
    shown = found.p if cell.statistic == "pvalue" else found.value
    parted = _parted(labels, people, *rounded)
    kept = f"with the tie kept the value is {exact.value:.3f}" if parted else ""
    reason = "; ".join(text for text in (exact.reason, *parted, kept) if text)
    return exact._replace(
        value=shown, signature=f"{exact.signature}|means:numpy", reason=reason, via=None
    )


def _parted(
    systems: list[str], exact: np.ndarray, rounded: np.ndarray, scores: np.ndarray
) -> list[str]:
    """A sentence on each pair of systems that people rate alike and rounding ranks."""
    found = []
    for i, j in zip(*np.triu_indices(len(systems), k=1), strict=True):
        if exact[i] != exact[j] or rounded[i] == rounded[j]:
            continue
        gap = rounded[i] - rounded[j]
        order = "as" if gap * (scores[i] - scores[j]) > 0 else "against"
        found.append(
            f"people rate {systems[i]} and {systems[j]} exactly alike, but numpy.mean rounds their"
            f" means {abs(gap):.0e} apart, which breaks the tie {order} the metric"
            f"{' does' if order == 'as' else ''}"
        )
    return found


def _means(
    values: np.ndarray, groups: np.ndarray, mean: Callable[[np.ndarray], float]
) -> tuple[list[str], np.ndarray]:
    """Groups in order of first appearance and the mean of each."""
    names = list(dict.fromkeys(groups.tolist()))
    return names, np.array([mean(values[groups == name]) for name in names])


def _exact_mean(values: np.ndarray) -> float:
    """The mean without rounding on the way: equal ratings give equal means in any order."""
    return math.fsum(values) / len(values)


def _variants(cell: Cell, bench: Bench) -> Answer | Needs:
    """Tables 10 and 11: wordings of prompt and instructions; only the first of each is printed."""
    if not cell.item.startswith(("prompt 1", "instruct 1")):
        reason = (
            f"of the four wordings only the first is printed; {_model(cell)} would be needed as"
            " well"
        )
        return Needs("wording", reason)
    return _agreement(cell, bench)


def _figure(cell: Cell, bench: Bench) -> Answer | Needs:
    """Figure 1: two rewrites of one politeness sample.

    The paper does not name the sample.  Only one of the 50 politeness samples has both printed
    pairs of human means and both printed BLEU values; it stands in names.csv.
    """
    name = _dataset(cell, bench)
    if isinstance(name, Needs):
        return name
    item_id = names(PAPER, "item")[cell.item][0]
    if cell.metric == "human mean rating":
        value = float(bench.dataset(name).means[cell.dimension][item_id])
        return Answer(value, 1, f"mean {cell.dimension}|item:{item_id}")
    metric = _metric(cell)
    if isinstance(metric, Needs):
        return metric
    scores = bench.scores(name, metric, cell.basis)
    value = float(scores["value"][item_id])
    if math.isnan(value) and _model(cell):
        return _failed(cell, name, metric)
    return Answer(value, 1, f"{scores['signature'][item_id]}|{item_id}")


_RECIPES: dict[str, Callable[[Cell, Bench], Answer | Needs]] = {
    "1": _intercorrelation,
    "2": _test_set,
    "3": _content,
    "4": _content,
    "5": _content,
    "6": _style,
    "7": _dataset_facts,
    "8": _dataset_facts,
    "9": _ranking,
    "10": _variants,
    "11": _variants,
    "fig1": _figure,
}
