"""The frame of every analysis: one row a rewrite and metric, its score beside people's."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from ..metrics import CorpusMetric, registry
from ..schema import USABLE, TstmetaError, light
from ..scoring import HUMAN_STYLE, STYLE_LABEL

#: What to score beside any metric: sentinels, and people's rating of style.
SENTINELS = ("sentinel", HUMAN_STYLE)
#: Rows that are no metrics but human values of style.
ORACLES = (HUMAN_STYLE, STYLE_LABEL)
#: What a row of a table is.
METRIC, SENTINEL, ORACLE = "metric", "sentinel", "oracle"
#: Sentinels that may be used either way: a copy may count for good or for bad.
EITHER_WAY = ("copy-rate", "length-ratio", "output-only")
FLIPPED = ":flipped"
#: What tells the scores of one metric from those of another.
SCORED = ["metric", "basis", "signature"]
#: Released scores of which less is better.
DISTANCES = ("released:wmd", "released:gpt2_ppl", "released:source-gpt2_ppl")


def pairs(data: Dataset, scores: pd.DataFrame, dimension: str = "content") -> pd.DataFrame:
    """One row a rewrite and metric: its score beside the human rating of one dimension.

    Args:
        data: a data set.
        scores: its ``scores`` table, see :func:`tstmeta.score`.
        dimension: content, style or fluency.

    Returns:
        A frame with the columns

        - dataset, item_id, source_id, system (empty where unknown), direction, task (the item's
          task, empty without tasks), rater_group (the sources that shared their raters; empty
          where that is not known)
        - metric, basis (source, reference, none), kind (metric, sentinel, oracle)
        - score (NaN where there is none; multiplied by -1 where less is better, so that more is
          always meant to be better), flipped (whether it was)
        - human (mean rating, or the label by construction: 1 or 0), against (which of the two)
        - the other dimensions that were judged, a column each: content, style, fluency; signature
        - statistics (only where there is a corpus metric, whose score is NaN: its additive
          statistics of the item, empty where it has none; NaN in rows of other metrics)

    Raises:
        TstmetaError: an unknown dimension, one that nobody judged, or ratings on several scales.
    """
    check_dimension(data, dimension)
    items = judged(data, dimension)
    parts = [*_paired(data, select_dimension(scores, dimension), items)]
    return pd.concat(parts, ignore_index=True) if parts else items.iloc[:0]


def pairs_both_ways(data: Dataset, scores: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """The same for millions of rewrites: :func:`both_ways`, with texts as categories; ``scores``
    are of :func:`select_dimension`, the dimension of :func:`check_dimension`.
    """
    items = light(judged(data, dimension))
    texts = dict.fromkeys(items.select_dtypes("category"), "category")
    parts = [part.astype(texts) for part in _paired(data, scores, items)]
    parts += [_flipped(part) for part in parts if part["metric"].iloc[0] in EITHER_WAY]
    for name in texts if parts else ():
        known = parts[0][name].cat.categories
        for part in parts[1:]:
            known = known.union(part[name].cat.categories, sort=False)
        parts = [part.assign(**{name: part[name].cat.set_categories(known)}) for part in parts]
    return pd.concat(parts, ignore_index=True) if parts else items.iloc[:0]


def _paired(data: Dataset, scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The items with the scores of one metric after the other."""
    for (name, basis, signature), table in scores.groupby(SCORED, sort=False, observed=True):
        if (twice := table["item_id"].duplicated()).any():
            item = table["item_id"][twice].iloc[0]
            raise TstmetaError(
                f"{data.name}: {name} ({basis}) scores item {item!r} more than once:"
                " drop the repeated rows, or average samples first"
            )
        usable = table[table["status"].isin(USABLE)].astype({"item_id": str}).set_index("item_id")
        # those of a file have no statistics to add up
        corpus = corpus_metric(str(name)) is not None and usable["detail"].ne("").all()
        usable = usable.reindex(data.items["item_id"])
        score = usable["value"].to_numpy(float)
        flipped = lower_is_better(str(name), str(basis))
        columns = {"metric": name, "basis": basis, "kind": kind_of(str(name))}
        columns |= {"score": -score if flipped else score, "flipped": flipped}
        if corpus:
            columns |= {"score": np.nan, "statistics": usable["detail"].fillna("").to_numpy()}
        yield items.assign(**columns, signature=signature)


def both_ways(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs, with sentinels that may be used either way as ``copy-rate:flipped`` as well."""
    rows = pairs[pairs["metric"].isin(EITHER_WAY)]
    return pd.concat([pairs, _flipped(rows)], ignore_index=True)


def _flipped(pairs: pd.DataFrame) -> pd.DataFrame:
    names = {name: pairs[name].astype(str) + FLIPPED for name in ("metric", "signature")}
    names = {name: texts.astype(pairs[name].dtype.name) for name, texts in names.items()}
    return pairs.assign(score=-pairs["score"], **names)


def separated(pairs: pd.DataFrame) -> int:
    """Pairs of rewrites of one source in a data set whose human values differ."""
    items = pairs.drop_duplicates("item_id").dropna(subset="human")
    sizes = items.groupby("source_id", observed=True).size()
    ties = items.groupby(["source_id", "human"], observed=True).size()
    return int(((sizes**2).sum() - (ties**2).sum()) // 2)


def select_dimension(scores: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Without human style ratings beside style, and a judge's scores of other dimensions."""
    itself = scores["metric"].isin(ORACLES) & (dimension == "style")
    several = scores.groupby("metric")["dimension"].transform("nunique") > 1
    return scores[~itself & (~several | (scores["dimension"] == dimension))]


def judged(data: Dataset, dimension: str) -> pd.DataFrame:
    """The columns of :func:`pairs` with a row an item: people alone, without any metric."""
    ids = data.items[["item_id", "source_id", "system", "direction"]].copy()
    ids.insert(0, "dataset", data.name)
    table = ids.assign(
        task=data.label("task").array,
        rater_group=data.label("survey").array,
        **{"metric": "", "basis": "", "kind": "", "score": np.nan, "flipped": False},
        human=data.human(dimension).to_numpy(float),
        against=data.against(dimension),
    )
    for other in data.judged:
        if other != dimension:
            table[other] = data.human(other).to_numpy(float)
    return table.assign(signature="")


def check_dimension(data: Dataset, dimension: str) -> None:
    """Refuse a dimension that is none, that nobody judged, or that was rated on several scales."""
    if dimension not in schema.DIMENSIONS:
        known = ", ".join(schema.DIMENSIONS)
        raise TstmetaError(f"unknown dimension {dimension!r}; known: {known}")
    scales = data.card.facts.get("subset_scales") or {}
    rated = data.ratings.loc[data.ratings["dimension"] == dimension, "item_id"]
    inside = set(data.label("collection")[rated.unique()]) & set(scales)
    if len({tuple(scales[name].get(dimension, ())) for name in inside}) > 1:
        base = data.name.partition("@")[0]
        options = ", ".join(f"{base}@{name}" for name in scales if name in inside)
        raise TstmetaError(
            f"{data.name}: ratings of {dimension} are on several scales; take one of {options}"
        )
    if not data.against(dimension):
        known = ", ".join(data.judged) or "nothing"
        raise TstmetaError(
            f"{data.name}: nobody judged {dimension}; judged: {known}. Choose another dimension, or"
            f" add ratings (columns such as {dimension}.r1)"
        )


def kind_of(metric: str) -> str:
    """metric, sentinel or oracle (human values of another dimension)."""
    if metric in ORACLES:
        return ORACLE
    known = registry.family(SENTINEL)
    return SENTINEL if metric.partition(":")[0] in known else METRIC


def lower_is_better(metric: str, basis: str) -> bool:
    """Whether less is better on a basis: a metric says so itself, or is a released distance."""
    if metric.startswith("released:"):
        return metric in DISTANCES
    return registry.lower_is_better(metric, basis)


def corpus_metric(name: str) -> CorpusMetric | None:
    """The registered metric of that name if it is one of whole sets of outputs."""
    metric = registry.known(name)
    return metric if isinstance(metric, CorpusMetric) else None
