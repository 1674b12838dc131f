"""What each metric costs: time for a thousand rewrites, memory, parameters, beside word BLEU.

Every metric that runs here without a hub scores the same rewrites in a process of its own.  A few
rewrites are scored first, so that loading a model does not count; then the metric and ``bleu`` take
turns, and ``ratio`` is the metric's time over that of ``bleu``.  Each round has rewrites of its
own, so that no metric profits from texts that it remembers.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

import measure

from tstmeta.data import load
from tstmeta.metrics import Metric, Request, registry

LIBRARIES = ("tstmeta", "torch", "transformers", "sentence-transformers", "scikit-learn", "nltk")
#: The measure of all: what everybody knows the cost of.
YARDSTICK = "bleu"
#: Rewrites that are scored before the clock runs.
WARM = 8
#: Metrics whose values are no work: they would only fill the table.
IDLE = "sentinel"
Row = dict[str, Any]


def requests(n: int, basis: str) -> list[Request]:
    """The first ``n`` rewrites of the contrast set; each has its source as a reference, too."""
    items = load("contrast").items.head(n)
    texts = zip(items["source"], items["output"], items["style"], strict=True)
    return [
        Request(output, () if basis == "none" else (source,), source, style)
        for source, output, style in texts
    ]


def wanted(quick: bool) -> list[str]:
    """Metrics that run here as they are called, without variants, the yardstick first.

    A quick run takes one of each family.
    """
    found = {
        family: [name for name in members if ":" not in name and runs(name)]
        for family, members in registry.families().items()
        if family != IDLE
    }
    if quick:
        found = {family: members[:1] for family, members in found.items()}
    names = [name for members in found.values() for name in members if name != YARDSTICK]
    return [YARDSTICK, *names]


def runs(name: str) -> bool:
    """Whether a metric needs no model of a hub and all that it needs is here."""
    metric = registry.get(name)
    return metric.profile == "embedded" and not metric.missing


def seconds(name: str, given: Sequence[Request]) -> tuple[float, int]:
    """Wall-clock seconds of one pass, and how many rewrites got a value."""
    metric = registry.get(name)
    start = time.perf_counter()
    scores = list(metric.score(given))
    taken = time.perf_counter() - start
    return taken, sum(math.isfinite(one.value) for one in scores)


def parameters() -> int:
    """Parameters of all networks that this process holds."""
    try:
        import torch
    except ImportError:
        return 0
    known = {
        id(one): one.numel() for one in gc.get_objects() if isinstance(one, torch.nn.Parameter)
    }
    return sum(known.values())


def cost(name: str, n: int) -> Row:
    """One metric's row."""
    warnings.simplefilter("ignore")
    metric: Metric = registry.get(name)
    given, plain = requests(n + WARM, metric.bases[0]), requests(n + WARM, "source")
    gc.collect()
    known = measure.high_water(reset=True)
    seconds(name, given[:WARM])
    seconds(YARDSTICK, plain[:WARM])
    times, yard, scored, size = [], [], 0, n // measure.ROUNDS
    for turn in range(measure.ROUNDS):
        part = slice(WARM + turn * size, WARM + (turn + 1) * size)
        if turn % 2:
            yard.append(seconds(YARDSTICK, plain[part])[0])
        taken, valued = seconds(name, given[part])
        times.append(taken)
        scored += valued
        if not turn % 2:
            yard.append(seconds(YARDSTICK, plain[part])[0])
    highest = measure.high_water()
    above = None if known is None or highest is None else (highest - known) / 1024
    return {
        "metric": name,
        "basis": metric.bases[0],
        "rewrites": size * measure.ROUNDS,
        "scored": scored,
        "seconds_a_thousand": median(times) / size * 1000,
        **measure.summary(measure.ratios(times, yard)),
        "above_start_mib": above,
        "parameters": parameters(),
        "signature": str(metric.signature(metric.bases[0])),
    }


def main() -> None:
    given = measure.arguments(__doc__, 940, 20, "rewrites of the contrast set")
    load_before = measure.load_average()
    context = multiprocessing.get_context("spawn")
    rows = []
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for name in wanted(given.quick):
            rows.append(pool.submit(cost, name, given.size).result())
            print(f"{name}: {rows[-1]['seconds_a_thousand']:.3g} s", flush=True)
    slowest = max(row["seconds_a_thousand"] for row in rows)
    unscored = [row["metric"] for row in rows if not row["scored"]]
    checks = [
        measure.check("seconds a thousand rewrites, slowest metric", slowest, "<=", 600),
        measure.check("metrics without a single value", len(unscored), "==", 0),
    ]
    notes = [
        f"ratio: time over that of {YARDSTICK} in the same round; wall-clock time",
        "above start: MiB at the peak beyond what the process held before the metric was made",
        "models of a hub are not timed; sentinels are left out",
    ]
    notes += [f"no value at all: {name}" for name in unscored]
    measure.finish("cost", given, LIBRARIES, load_before, rows, checks, notes)


if __name__ == "__main__":
    main()
