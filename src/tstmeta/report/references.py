"""How many references does it take?  Agreement with people as references are added.

Three rated sets have several references a source: ASSET with ten, the formality ratings of lai with
four, and Yelp, where the ratings of li2018 meet the four references of dualrl.  Of K references k
are drawn for each source, all its rewrites sharing them, and the metric is asked again.  Draws are
nested: the k + 1 references of a draw are its k and one more.  So two spreads stay apart: what
would change with other references (over draws), and with other sources (intervals).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import metrics as registry
from .. import stats
from ..data import Dataset
from ..data.derive import with_references
from ..metrics.base import CorpusMetric, Metric, PairMetric, Request
from ..metrics.batched import BatchedMetric
from ..schema import TstmetaError
from ..stats import Plan, Setting
from ..stats.intervals import Resample
from ..stats.limits import Interval
from .bench import USABLE, Bench
from .layout import OF_TASKS, Layout, known
from .tables import truth

#: Rated sets with several references a source.
ASSET, LAI, YELP = "alva@asset", "lai@references4", "li2018@yelp-rated"
#: The Yelp ratings with the references of the data set of that name.
DUALRL = "dualrl"
COLUMNS = (
    *("data", "metric", "k", "draws", "value", "sd", "least", "most", "low", "high"),
    *("gain", "gain_low", "gain_high", "n", "sources", "better", "signature"),
)
_BOTH = 2


class Curves(NamedTuple):
    """Agreement by number of references.

    Attributes:
        rows: one row a data set, metric and k, see :func:`curves`.
        label: the statistic as shown; ``dimension`` and ``level`` beside it.
        left_out: data set or metric -> why it has no rows.
    """

    rows: pd.DataFrame
    label: str
    dimension: str
    level: str
    left_out: dict[str, str]


class Asked(NamedTuple):
    """A data set whose items all have K references: those that can be asked.

    Attributes:
        dataset: items with human values, K references each, none a reference itself.
        human: ``[items]``.
        most: K.
        source: number of each item's source, ``[items]``.
    """

    dataset: Dataset
    human: np.ndarray
    most: int
    source: np.ndarray


# ------------------------------------------------------------------------------------- the sets


def sets(bench: Bench) -> tuple[list[Dataset], dict[str, str]]:
    """The rated sets with several references that are on this machine; why others are not."""
    found, left_out = [], {}
    for name in (ASSET, LAI, YELP):
        files = [name.partition("@")[0], *([DUALRL] if name == YELP else [])]
        if lacking := [one for one in files if not bench.has(one)]:
            fetch = f"tstmeta data fetch {' '.join(lacking)}"
            left_out[name] = f"its files are not on this machine; get them with: `{fetch}`"
        elif name == YELP:
            found.append(with_dualrl(bench.dataset(name), bench.dataset(DUALRL)))
        else:
            found.append(bench.dataset(name))
    return found, left_out


def on_all(bench: Bench, names: Sequence[str], **options: Any) -> Curves:
    """The curves of metrics on all these sets; ``options`` as for :func:`curves`."""
    found, left_out = sets(bench)
    made = curves(found, names, **options)
    return made._replace(left_out=left_out | made.left_out)


def with_dualrl(rated: Dataset, references: Dataset) -> Dataset:
    """The rated Yelp outputs of li2018 with the four references of dualrl.

    Both sets have the same 1,000 sources in the same order.  A source whose words differ (dualrl
    writes ``<unk>`` for some) keeps no reference: it would be somebody else's.
    """
    first = references.items.drop_duplicates("source_id")
    texts = dict(zip(first["source_id"], first["source"], strict=True))
    known = dict(zip(first["source_id"], first["references"], strict=True))
    lists = []
    for source_id, source in zip(rated.items["source_id"], rated.items["source"], strict=True):
        name = source_id.removeprefix("yelp-")
        same = texts.get(name, "").lower().split() == source.lower().split()
        lists.append(list(known[name]) if same else [])
    return with_references(rated, lists, f"{rated.name}+{references.name}")


def asked(dataset: Dataset, dimension: str = "content") -> Asked:
    """The items that can be asked: judged, with all K references, and no reference themselves.

    K is the largest number of references that an item has; an item with a blank one is left out.

    Raises:
        TstmetaError: fewer than two references, or nothing was judged.
    """
    human, _ = truth(dataset, dimension)
    lists = dataset.items["references"]
    counts = np.array([sum(bool(text.strip()) for text in texts) for texts in lists], dtype=int)
    whole = counts == lists.str.len().to_numpy(int)
    own = dataset.items["is_reference"].to_numpy(bool)
    can = np.isfinite(human) & ~own & whole
    if not can.any():
        raise TstmetaError(f"{dataset.name}: nobody judged {dimension} of outputs of systems")
    most = int(counts[can].max())
    if most < _BOTH:
        raise TstmetaError(
            f"{dataset.name} has {most} reference a source; adding references needs two at least"
        )
    keep = can & (counts == most)
    chosen = dataset.where(pd.Series(keep), dataset.name)
    source = pd.factorize(chosen.items["source_id"])[0]
    return Asked(chosen, human[keep], most, source)


# -------------------------------------------------------------------------------------- scores


def orders(sources: int, most: int, draws: int, seed: int) -> np.ndarray:
    """An order of references for each draw and source, ``[draws, sources, most]``.

    The first k of an order are the references that a draw has at k.
    """
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(most), (draws, sources, 1)), axis=-1)


def values(metric: Metric, of: Asked, order: np.ndarray) -> np.ndarray:
    """The metric on basis reference in every draw at every k, ``[most, draws, items]``.

    Each set of references is scored once, whatever number of draws it comes in.  A metric that
    takes the best over references is asked about single ones, which gives the same values.
    """
    items = np.arange(len(of.source))
    if best := _best_of(metric):
        single = [(place,) for place in range(of.most)]
        table = _scored(metric, of, [(int(i), one) for i in items for one in single])
        alone = np.array([[table[int(i), one] for one in single] for i in items])  # [items, most]
        given = alone[items[None, :, None], order[:, of.source]]  # [draws, items, most]
        running = best(given, axis=-1)
        return np.moveaxis(running, -1, 0)
    taken = [np.sort(order[:, of.source, : k + 1], axis=-1) for k in range(of.most)]
    keys = [[[(int(i), tuple(row[i].tolist())) for i in items] for row in at_k] for at_k in taken]
    table = _scored(metric, of, [key for at_k in keys for row in at_k for key in row])
    return np.array([[[table[key] for key in row] for row in at_k] for at_k in keys])


def _best_of(metric: Metric) -> Callable[..., np.ndarray] | None:
    """The running best, of a metric whose value is the best over its references."""
    told = metric.fields().get("refs") if isinstance(metric, PairMetric) else None
    owner = next((one for one in type(metric).__mro__ if "values" in vars(one)), None)
    plain = owner is BatchedMetric
    if told == "max" or (plain and metric.higher_is_better):
        return np.fmax.accumulate
    if told == "min" or plain:
        return np.fmin.accumulate
    return None


def _scored(
    metric: Metric, of: Asked, keys: Sequence[tuple[int, tuple[int, ...]]]
) -> dict[tuple[int, tuple[int, ...]], float]:
    """The value of each (item, references); NaN where a score has none."""
    wanted = list(dict.fromkeys(keys))
    columns = ("output", "references", "source", "style", "language")
    texts = list(zip(*(of.dataset.items[name].tolist() for name in columns), strict=True))
    units = []
    for item, chosen in wanted:
        output, references, source, style, language = texts[item]
        against = tuple(references[place] for place in chosen)
        units.append((Request(output, against, source, style, language),))
    scores = [one for unit in metric.score(units) for one in unit]
    return {
        key: score.value if score.status in USABLE else math.nan
        for key, score in zip(wanted, scores, strict=True)
    }


# --------------------------------------------------------------------------------------- curves


def curves(
    datasets: Sequence[Dataset],
    names: Sequence[str],
    *,
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
    subsets: int = 20,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Curves:
    """Agreement of each metric with people for 1 to K references.

    Args:
        names: metrics; those that run here on basis reference, item by item, get rows.
        statistic, level: as everywhere, but not the levels of tasks.
        subsets: draws of references; at K there is only one.
        draws: of sources, for the intervals.

    Returns:
        ``rows`` has data, metric, k, draws (of references), value (mean over them), sd, least and
        most (over them, NaN at K), low and high (interval over sources of the mean), gain over one
        reference with gain_low and gain_high (from the same draws of sources), n (items), sources,
        better (a metric for which less is better is turned round) and signature.

    Raises:
        TstmetaError: an unknown metric, statistic or level, or fewer than one subset.
    """
    known(statistic, level)
    if level in OF_TASKS:
        raise TstmetaError(f"level {level} has no curve here; use pooled, source or system")
    if subsets < 1 or draws < 1:
        raise TstmetaError("subsets and draws are 1 or more")
    setting = Setting(statistic, level)  # type: ignore[arg-type]
    rows: list[dict] = []
    left_out: dict[str, str] = {}
    chosen = {name: registry.get(name, imports=True) for name in names}
    usable = {name: one for name, one in chosen.items() if not _why_not(one)}
    left_out |= {name: _why_not(one) for name, one in chosen.items() if name not in usable}
    for dataset in datasets:
        try:
            of = asked(dataset, dimension)
        except TstmetaError as reason:
            left_out[dataset.name] = str(reason)
            continue
        order = orders(int(of.source.max()) + 1, of.most, subsets, seed)
        for name, metric in usable.items():
            more = registry.more_is_better(metric, "reference")
            made = values(metric, of, order) * (1 if more else -1)
            if not np.isfinite(made).any():
                left_out[f"{name} on {dataset.name}"] = "no score has a value"
                continue
            head = {"data": dataset.name, "metric": name, "n": len(of.human)}
            head["better"] = "higher" if more else "lower"
            head["signature"] = str(metric.signature("reference"))
            found = _curve(of, made, setting, draws, confidence, seed)
            rows += [{**head, **one} for one in found]
    label = setting.function.label
    return Curves(pd.DataFrame(rows, columns=list(COLUMNS)), label, dimension, level, left_out)


def _why_not(metric: Metric) -> str:
    """Why a metric has no curve; empty if it has."""
    if "reference" not in metric.bases:
        return "it is not compared with references"
    if metric.unit != "item" or isinstance(metric, CorpusMetric):
        return "it has no value for a single rewrite"
    return getattr(metric, "missing", "")


def _curve(
    of: Asked, made: np.ndarray, setting: Setting, draws: int, confidence: float, seed: int
) -> list[dict]:
    """Rows of one metric; ``made`` is [most, draws of references, items]."""
    most, subsets, _ = made.shape
    layout = Layout.of(of.dataset, setting.level)
    flat = np.concatenate([made[:-1].reshape(-1, made.shape[-1]), made[-1:, 0]])
    rng = np.random.default_rng(seed)
    people, scores = layout.matrix(of.human), layout.matrix(flat)
    drawn = stats.resample(people, scores, setting, Plan("sources", draws), rng)
    # the last has all references, so that its draws would be one another's copies
    parts = [slice(k * subsets, (k + 1) * subsets) for k in range(most - 1)]
    parts.append(slice((most - 1) * subsets, None))
    estimates = np.array([drawn.estimates[part].mean() for part in parts])
    again = drawn._asdict()["values"]
    means = np.array([again[part].mean(axis=0) for part in parts])
    limits = _limits(drawn, means, estimates, confidence)
    gains = _limits(drawn, means - means[0], estimates - estimates[0], confidence, wide=True)
    rows = []
    for k, part in enumerate(parts):
        single = drawn.estimates[part]
        alone = len(single) < _BOTH
        rows.append(
            {
                "k": k + 1,
                "draws": len(single),
                "value": float(estimates[k]),
                "sd": math.nan if alone else float(single.std(ddof=1)),
                "least": math.nan if alone else float(single.min()),
                "most": math.nan if alone else float(single.max()),
                "low": limits[k].low,
                "high": limits[k].high,
                "gain": float(estimates[k] - estimates[0]) if k else math.nan,
                "gain_low": gains[k].low if k else math.nan,
                "gain_high": gains[k].high if k else math.nan,
                "sources": len(set(layout.sources)),
            }
        )
    return rows


def _limits(
    drawn: Resample, means: np.ndarray, estimates: np.ndarray, confidence: float, wide: bool = False
) -> list[Interval]:
    """Intervals of means over draws of references, as :mod:`tstmeta.stats.intervals` makes them."""
    terms = drawn.terms(confidence, "auto")
    low, high = terms.bounds
    return stats.of_values(
        means,
        estimates,
        confidence=confidence,
        units=drawn.fewest,
        widening=terms.widening,
        bounds=(low - high, high - low) if wide else (low, high),
    )
