"""Metrics made of metrics: a data set and a ``scores`` table in, a ``scores`` table out.

What is fitted is fitted on other sources than it scores.  By name: ``gm`` has the printed
thresholds, ``gm:learned`` learns them from preferences; ``j:FL`` is style accuracy x Sim x FL, a
metric of fluency in [0, 1]; ``hybrid-...`` takes the metrics of a dimension, ``overall-...`` all.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from .. import scoring
from ..data import Dataset
from ..metrics import registry
from .gm import PARTS, PRINTED, gm_scores, j, learned_gm
from .hybrids import HYBRID, KINDS, Settings, hybrid, overall_scores
from .parts import CombineError

NAMES = (
    *("gm", "gm:learned", "j:FL"),
    *(f"hybrid-{kind}" for kind in KINDS),
    *(f"overall-{which}" for which in HYBRID),
)


def known(name: str) -> None:
    """Refuse a name that is no combination."""
    if name not in NAMES and not (name.startswith("j:") and name != "j:"):
        raise CombineError(f"no combination is called {name!r}; known: {', '.join(NAMES)}")


def combined(
    dataset: Dataset,
    scores: pd.DataFrame,
    name: str,
    dimension: str = "content",
    *,
    seed: int = 0,
    store: Path | None = None,
) -> pd.DataFrame:
    """A ``scores`` table of one of :data:`NAMES`, with a metric in the place of FL.

    Parts of GM and J are scored where they are not given; sentinels, the human oracle and other
    combinations are never parts.  ``dimension`` is that of a hybrid.
    """
    known(name)
    # without what stands beside metrics in a table and must not be combined
    beside = {*registry.family("sentinel"), scoring.HUMAN_STYLE}
    beside |= {name.partition(":")[0] for name in NAMES}
    scores = scores[~scores["metric"].astype(str).str.partition(":")[0].isin(beside)]
    stem, _, word = name.partition(":")
    if stem == "gm":
        three = _with(dataset, scores, PARTS, store)
        return learned_gm(dataset, three, seed=seed).scores if word else gm_scores(dataset, three)
    if stem == "j":
        return j(dataset, _with(dataset, scores, [*PARTS[:2], word], store), fl=word)
    settings = Settings(seed=seed)
    family, _, kind = name.partition("-")
    if family == "overall":
        return overall_scores(dataset, scores, kind, settings).scores
    return hybrid(dataset, scores, dimension, kind, settings).scores


def _with(
    dataset: Dataset, scores: pd.DataFrame, names: Sequence[str], store: Path | None
) -> pd.DataFrame:
    """The scores of each name on one basis (source before none); computed where they lack."""
    tables = []
    for name in names:
        rows = scores[scores["metric"] == name]
        if rows.empty:
            rows = scoring.score(dataset, [name], bases=["source", "none"], store=store)
        bases = list(dict.fromkeys(rows["basis"]))
        basis = next((known for known in ("source", "none", *bases) if known in bases), "")
        tables.append(rows[rows["basis"] == basis])
    return pd.concat(tables, ignore_index=True)
