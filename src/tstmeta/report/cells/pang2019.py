"""Pang and Gimpel (2019): GM and differences from printed cells, BLEU from real outputs."""

from __future__ import annotations

import itertools
import re
from functools import cache

import numpy as np

from ... import metrics
from ...metrics.base import CorpusMetric, Request
from ..bench import Bench
from ..ledger import Answer, Needs
from ..published import Cell, cells, names

PAPER = "pang2019"
#: Thresholds of GM (Section 3.3): t1, t2 for 100 Acc and 100 Sim, t3, t4 for PP.
THRESHOLDS = (63.0, 71.0, 97.0, -37.0)
#: Any system of Li et al. (2018): all have the same 1,000 sources.
_ANY = "StyleEmbedding"
_OUTPUTS = Needs("outputs of the paper's models", "the outputs were not released")
_RATINGS = Needs("ratings of the paper", "only aggregate numbers were printed")


def recipe(cell: Cell, bench: Bench) -> Answer | Needs:
    """Recompute a cell from printed cells or from public outputs, or say what it needs."""
    if cell.metric == "GM" and cell.table in ("2", "3"):
        return _geometric_mean(cell)
    if cell.metric.startswith("delta_"):
        return _difference(cell)
    if cell.metric == "GM":
        return _share(cell)
    if cell.table == "6" and cell.metric == "BLEU":
        return _bleu(cell, bench)
    return _RATINGS if cell.table in ("4", "5") else _OUTPUTS


def gm(acc: float, sim: float, pp: float) -> float:
    """GM of Section 3.3: acc and sim in [0, 1], pp a perplexity; never negative."""
    t1, t2, t3, t4 = THRESHOLDS
    fluent = min(max(t3 - pp, 0.0), max(pp - t4, 0.0))
    return (max(100 * acc - t1, 0.0) * max(100 * sim - t2, 0.0) * fluent) ** (1 / 3)


@cache
def _printed(dataset: str, model: str, metric: str) -> Cell:
    return next(
        one
        for one in cells()
        if one.paper == PAPER
        and one.table in ("2", "3")
        and (one.dataset, one.item, one.metric) == (dataset, model, metric)
    )


def _geometric_mean(cell: Cell) -> Answer:
    inputs = [_printed(cell.dataset, cell.item, metric) for metric in ("Acc", "Sim", "PP")]
    ranges = [
        (one.value - 0.5 * 10.0**-one.decimals, one.value + 0.5 * 10.0**-one.decimals)
        for one in inputs
    ]
    corners = [gm(*corner) for corner in itertools.product(*ranges)]
    value = gm(*(one.value for one in inputs))
    signature = "GM of printed Acc, Sim, PP|t:" + ",".join(f"{t:g}" for t in THRESHOLDS)
    return Answer(value, len(inputs), signature, "", min(corners), max(corners))


def _difference(cell: Cell) -> Answer:
    """Table 4's differences A - B of Sim and PP, from Tables 2 and 3."""
    first, second = re.match(r"(M\d) vs (M\d)", cell.item).groups()  # type: ignore[union-attr]
    metric = cell.metric.removeprefix("delta_")
    a, b = (_printed(cell.dataset, model, metric) for model in (first, second))
    slack = 0.5 * 10.0**-a.decimals + 0.5 * 10.0**-b.decimals
    value = a.value - b.value
    signature = f"difference of printed {metric}: {first} - {second}"
    return Answer(value, 2, signature, "", value - slack, value + slack)


def _share(cell: Cell) -> Answer | Needs:
    """Table 5's GM row: the text gives the counts behind the percentage."""
    counts = re.search(r"(\d+) of (\d+)", cell.note)
    if not counts:
        return _RATINGS
    hits, total = map(int, counts.groups())
    value = 100 * hits / total
    return Answer(value, total, f"{hits} of {total}, from the running text", "", value, value)


def _bleu(cell: Cell, bench: Bench) -> Answer | Needs:
    """Table 6: corpus BLEU (multi-bleu) of 1,000 outputs, with two preparations of the references.

    ``raw``: the references of Li et al. (2018), case kept and untokenised.  ``tokenised``: the
    same references lower-cased and tokenised, as Luo et al. (2019) distribute them.  The
    untransferred row takes ``tokenised``, the systems of Li et al. take ``raw``; the value with the
    other preparation stands in the reason.
    """
    system = names(PAPER, "system").get(cell.item, ("", ""))[0]
    if not system and cell.item != "Untransferred":
        return _OUTPUTS
    missing = [name for name in ("li2018", "dualrl") if not bench.has(name)]
    if missing:
        return Needs(f"{missing[0]} data", f"tstmeta data fetch {missing[0]}")
    metric = metrics.get("corpus-bleu:multi-bleu")
    found = {}
    for preparation in ("raw", "tokenised"):
        pairs = _pairs(bench, system, preparation)
        found[preparation] = _corpus(metric, pairs)
    used = "raw" if system else "tokenised"
    other = "tokenised" if system else "raw"
    reason = f"{used} references; {found[other]:.1f} with {other} ones"
    signature = f"{metric.signature('reference')}|references:{used}"
    return Answer(found[used], len(pairs), signature, reason)


def _pairs(bench: Bench, system: str, preparation: str) -> list[tuple[str, str]]:
    """(output, reference) of the 1,000 test sentences; without a system the source is output."""
    outputs = bench.dataset("li2018@yelp").items
    outputs = outputs[outputs["system"] == (system or _ANY)]
    texts = outputs["output"] if system else outputs["source"]
    if preparation == "raw":
        references = [found[0] for found in outputs["references"]]
    else:
        tokenised = bench.dataset("dualrl").items
        by_source = {
            (row["style"], row["source"]): row["references"][0]
            for row in tokenised.to_dict("records")
        }
        keys = zip(outputs["style"], outputs["source"], strict=True)
        references = [by_source[key] for key in keys]
    return list(zip(texts, references, strict=True))


def _corpus(metric: metrics.Metric, pairs: list[tuple[str, str]]) -> float:
    if not isinstance(metric, CorpusMetric):
        raise TypeError(f"{metric.name} is no corpus metric")
    each = [metric.statistics(Request(output, (reference,))) for output, reference in pairs]
    return metric.aggregate(np.sum(each, axis=0))
