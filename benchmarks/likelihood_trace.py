"""Where the time of the likelihood method goes: the engine under torch's profiler, on a processor.

Products are matrix products of the model's weights, attention is torch's own.  The rest moves
memory: norms, activations, the softmax over the vocabulary.  Tokens that several rows begin with
are computed in each of them.  The share of the peak is the floor (:mod:`likelihood_floor`) over the
time without the profiler.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import likelihood_items as items
import measure
from likelihood_floor import rate, work
from likelihood_sides import MODELS, REAL, Setup, loaded

from tstmeta.models import hub
from tstmeta.models.causal import DEFAULT, backbone

LIBRARIES = ("tstmeta", "torch", "transformers", "numpy")
ROUNDS = 3
#: Of the fastest matrix product that is measured here, what the engine is to reach.
LEAST = 0.5
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm")


def score(engine: Any, requests: Any) -> float:
    """Seconds of one pass over all requests."""
    engine.computed, start = 0, time.perf_counter()
    for _ in engine.logprobs(requests):
        pass
    return time.perf_counter() - start


def shares(engine: Any, requests: Any) -> dict[str, float]:
    """Shares of the processor's time, by what the operators of torch do."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as seen:
        score(engine, requests)
    spent = dict.fromkeys(("products", "attention", "rest"), 0.0)
    for event in seen.key_averages():
        kind = "attention" if "scaled_dot_product" in event.key else "rest"
        spent["products" if event.key in PRODUCTS else kind] += event.self_cpu_time_total
    return {kind: took / sum(spent.values()) for kind, took in spent.items()}


def main() -> None:
    options = measure.arguments(__doc__, 54, 6, "rewrites of each shape")
    load_before, setup = measure.load_average(), Setup("38m" if options.quick else REAL)
    if setup.model == REAL and (words := hub.absent(backbone(DEFAULT))):
        raise SystemExit(words)
    from tstmeta.models.engine import Engine

    peak = rate(setup)
    real = hub.identity(backbone(DEFAULT)) if setup.model == REAL else ""
    engine = Engine(*loaded(setup), real or f"llama-{setup.model}@random")
    rows: list[dict[str, Any]] = []
    for shape in items.SHAPES:
        part = items.workload(shape, options.size, MODELS[setup.model]["vocab_size"])
        counted = work(part.requests)
        score(engine, part.requests)  # what is loaded at first use does not count
        seconds = median(score(engine, part.requests) for _ in range(ROUNDS))
        again = engine.computed / counted.tokens - 1
        reached = counted.operations(setup.model) / peak / seconds
        facts = {"seconds": seconds, "share_of_peak": reached, "tokens_again": again}
        facts |= shares(engine, part.requests)
        rows.append(items.describe(part) | facts | {"signature": engine.identity})
    checks = [
        measure.check(f"{row['metric']}: share of the peak", row["share_of_peak"], ">=", LEAST)
        for row in rows
    ]
    notes = [
        f"peak: {peak / 1e9:,.0f} GFLOP/s, the fastest matrix product of this shape that was "
        "measured here; share of peak: products of the distinct tokens at that rate, over the time",
        "tokens again: padding, and beginnings that several rows share, beside the distinct tokens",
        "products, attention, rest: shares of the time, by torch's profiler",
    ]
    measure.finish(
        "likelihood_trace", options, LIBRARIES, load_before, rows, checks, notes, rounds=ROUNDS
    )


if __name__ == "__main__":
    main()
