"""What token log-probabilities cost: ours beside one pass a request, lm-eval, minicons, llama.cpp.

Items have the shape of ``lai`` (nine rewrites a source) and of ``pauli`` (two), each scored under
three instructions.  Every method runs in a process of its own, with the same weights (SmolLM2's; in
quick runs those of a smaller random model), the same token ids and as many threads; in each round
they take turns.  ``--gpu`` does the same with a
model of 8 billion parameters in bfloat16 and holds the time against the floor
(:mod:`likelihood_floor`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from typing import Any

import likelihood_items as items
import measure
from likelihood_floor import Work, rate, work
from likelihood_items import SHAPES, Workload
from likelihood_sides import (
    HARNESS,
    LLAMA_CPP,
    MINICONS,
    MODELS,
    ONE,
    OURS,
    REAL,
    Ran,
    Setup,
    Side,
    installed,
)

from tstmeta.models import hub
from tstmeta.models.causal import DEFAULT, Continuation, backbone

LIBRARIES = ("tstmeta", "torch", "transformers", "numpy")
PEERS = {HARNESS: "lm-eval", MINICONS: "minicons", LLAMA_CPP: "llama-cpp-python"}
ROUNDS = 3
#: Batch sizes that lm-eval may choose from, tried on as many requests as the largest has.
BATCHES = {"cpu": (1, 4, 8, 16, 32), "gpu": (1, 4, 8, 16, 32, 64, 128)}
#: The batch size at which memory is compared, and the largest share of it that ours may take.
MEMORY_BATCH, MOST_MEMORY = 16, 0.6
#: One request at a time gets every third rewrite, minicons every sixth; their time is scaled.
SHARES = {ONE: 3, MINICONS: 6}
#: How many times as fast ours is to be, in either shape.
LEAST = {ONE: 5, HARNESS: 4}
#: Largest difference of a request's sum of log-probabilities, by dtype.
MOST_DIFFERENCE = {"float32": 1e-3, "bfloat16": 1.0}
#: On a GPU: time over the floor, the paper's data in rewrites, and the minutes they may take.
MOST_OVER_FLOOR, PAPER, MOST_MINUTES = 2.5, 9000, 10
#: A GPU gets this many times as many rewrites.
ON_GPU = 10
Row = dict[str, Any]


# ---------------------------------------------------------------------------------- measuring


def part(found: Workload, name: str) -> list[Continuation]:
    """The requests that a method gets: all, or those of every third or sixth rewrite."""
    step = SHARES.get(name, 1)
    return [one for place, one in enumerate(found.requests) if place // 3 % step == 0]


def scaled(ran: Ran, found: Workload, name: str) -> float:
    """Seconds for all requests; what goes on request by request grows with its tokens."""
    return ran.seconds * work(found.requests).naive / work(part(found, name)).naive


def best_batch(peer: Side, found: Workload, batches: Sequence[int]) -> int:
    """The batch size at which a peer is fastest on some of the requests."""
    largest = max(batches)
    tried = found.requests[:: max(1, len(found.requests) // largest)][:largest]
    seconds = {batch: peer(tried, batch).seconds for batch in batches}
    return min(batches, key=lambda batch: seconds[batch])


def first_memory(peer: Side, found: Workload) -> float | None:
    """MiB above the model on the longest requests, which is where the peak is."""
    longest = sorted(found.requests, key=lambda one: -len(one.context) - len(one.tokens))
    return peer(longest[: 2 * MEMORY_BATCH], MEMORY_BATCH, peak_from_here=True).above


def compare(found: Workload, sides: dict[str, Side], setup: Setup, operations: float) -> list[Row]:
    """A row a method; in each round another one goes first, minicons has one round."""
    batches = dict.fromkeys(sides, 1)
    memory: dict[str, float | None] = {}
    if HARNESS in sides:
        memory[HARNESS] = first_memory(sides[HARNESS], found)
        choice = BATCHES["cpu" if setup.device == "cpu" else "gpu"]
        batches[HARNESS] = best_batch(sides[HARNESS], found, choice)
    batches[MINICONS] = max(8, batches.get(HARNESS, 8))
    runs: dict[str, list[Ran]] = {name: [] for name in sides}
    for turn in range(ROUNDS):
        names = [name for name in sides if name != MINICONS or turn == 0]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            requests = part(found, name)
            ran = sides[name](requests, batches[name], peak_from_here=turn == 0)
            runs[name].append(ran)
    counted = work(found.requests)
    return [
        row(found, name, runs, batches[name], memory.get(name, runs[name][0].above))
        | floor_of(name, runs[name], counted, setup, operations)
        | {"signature": signature(name, runs, batches[name], setup)}
        for name in sides
    ]


def row(
    found: Workload, name: str, runs: dict[str, list[Ran]], batch: int, above: float | None
) -> Row:
    """Times, their ratios to ours in the same round, tokens, memory and the difference."""
    seconds = [scaled(ran, found, name) for ran in runs[name]]
    ours = [ran.seconds for ran in runs[OURS]][: len(seconds)]
    everything = dict(zip(found.requests, runs[OURS][0].sums, strict=True))
    gaps = [
        abs(total - everything[request])
        for request, total in zip(part(found, name), runs[name][0].sums, strict=True)
    ]
    return {
        **items.describe(found),
        "method": name,
        "batch": None if name == OURS else batch,
        "seconds": median(seconds),
        "milliseconds_a_rewrite": median(seconds) / found.items * 1000,
        "tokens_a_second": work(found.requests).naive / median(seconds),
        **measure.summary(measure.ratios(seconds, ours)),
        "tokens_computed": runs[name][0].facts.get("computed"),
        "above_model_mib": above,
        "difference": max(gaps),
    }


def floor_of(name: str, runs: Sequence[Ran], counted: Work, setup: Setup, rate: float) -> Row:
    """What the floor says of our own row; the others compute other tokens."""
    told: Row = {"tokens_naive": counted.naive, "tokens_distinct": counted.tokens}
    if name != OURS:
        return told | {"over_floor": None, "share_of_peak": None}
    over = median(ran.seconds for ran in runs) * rate / counted.operations(setup.model)
    return told | {"over_floor": over, "share_of_peak": 1 / over}


def signature(name: str, runs: dict[str, list[Ran]], batch: int, setup: Setup) -> str:
    real = hub.identity(backbone(DEFAULT)) if setup.model == REAL else ""
    what = real or f"llama-{setup.model}@random"
    what = runs[OURS][0].facts["identity"] if name == OURS else what
    told = f"{name}|{what}|dtype:{setup.dtype}|device:{setup.device}|seed:{measure.SEED}"
    return told if name == OURS else f"{told}|batch:{batch}"


# -------------------------------------------------------------------------------------- goals


def checks(rows: Sequence[Row], dtype: str, reason: str = "") -> list[Row]:
    """The goals; their names are the same in every run, measured or not."""
    by_name = {(one["metric"], one["method"]): one for one in rows}
    made = []
    for shape in SHAPES:
        label = f"{shape}-shaped"

        def value(name: str, key: str, label: str = label) -> float | None:
            found = by_name.get((label, name))
            return None if found is None else found[key]

        for name, told in ((ONE, "one request at a time"), (HARNESS, "lm-eval at its best batch")):
            missing = reason or f"{PEERS.get(name, name)} is not installed"
            goal = f"{label}: times as fast as {told}"
            made.append(_goal(goal, value(name, "ratio"), ">=", LEAST[name], missing))
        mine, peers = value(OURS, "above_model_mib"), value(HARNESS, "above_model_mib")
        share = mine / peers if mine is not None and peers else None
        missing = reason or "lm-eval is not installed, or this system does not tell its memory"
        goal = f"{label}: peak memory above the model, share of lm-eval's at batch {MEMORY_BATCH}"
        made.append(_goal(goal, share, "<=", MOST_MEMORY, missing))
        # llama.cpp multiplies in quantised numbers
        named = [one for one in rows if one["metric"] == label and one["method"] != LLAMA_CPP]
        gaps = [one["difference"] for one in named]
        goal = f"{label}: largest difference of a sum of log-probabilities"
        made.append(_goal(goal, max(gaps, default=None), "<=", MOST_DIFFERENCE[dtype], reason))
    return made


def gpu_checks(rows: Sequence[Row], reason: str = "") -> list[Row]:
    """Goals that only a GPU run has."""
    made = []
    for shape in SHAPES:
        mine = [
            one["over_floor"]
            for one in rows
            if one["method"] == OURS and one["metric"] == f"{shape}-shaped"
        ]
        goal = f"{shape}-shaped: time over the floor"
        made.append(_goal(goal, mine[0] if mine else None, "<=", MOST_OVER_FLOOR, reason))
    slowest = [one["milliseconds_a_rewrite"] for one in rows if one["method"] == OURS]
    minutes = max(slowest) * PAPER / 60000 if slowest else None
    goal = f"{PAPER:,} rewrites, at the speed of the slower shape: minutes"
    made.append(_goal(goal, minutes, "<=", MOST_MINUTES, reason))
    return made


def _goal(name: str, value: float | None, relation: str, bound: float, missing: str) -> Row:
    return measure.check(name, value, relation, bound, missing if value is None else "")


# ----------------------------------------------------------------------------------- the run


def arguments() -> argparse.Namespace:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--gpu", action="store_true", help="the 8B shape on a GPU")
        parser.add_argument("--device", help="where to run (default cpu, with --gpu cuda)")
        parser.add_argument("--shape", choices=MODELS, help="of the model's weights")
        parser.add_argument(
            "--threads", type=measure.positive, default=0, help="default: torch's own choice"
        )

    about = f"rewrites of each shape; with --gpu {ON_GPU} times as many"
    return measure.arguments(__doc__, 54, 18, about, more)


def setup_of(given: argparse.Namespace) -> Setup:
    """Full runs take SmolLM2, quick ones a smaller model; a GPU the shape of Llama 3.1 8B."""
    device = given.device or ("cuda" if given.gpu else "cpu")
    model = given.shape or ("8b" if given.gpu else "38m" if given.quick else REAL)
    if model == REAL and (words := hub.absent(backbone(DEFAULT))):
        raise SystemExit(words)
    return Setup(model, device, "bfloat16" if given.gpu else "float32", given.threads)


def notes_of(setup: Setup, operations: float, workloads: Sequence[Workload]) -> list[str]:
    import torch

    threads = setup.threads or torch.get_num_threads()
    shares = ", ".join(f"{name} gets 1 of {step} rewrites" for name, step in SHARES.items())
    told = [
        f"{'' if setup.model == REAL else 'a Llama of random weights, shape '}{setup.model}, "
        f"{setup.dtype}, on {setup.device}; "
        f"{threads} threads for each method",
        "ratio: time of the method over ours, in the same round; above 1, ours is faster",
        f"{shares}, and the time is scaled by tokens; minicons runs in one round only",
        "tokens a second: those of one pass a request, however many a method computes",
        "tokens: naive = one pass a request; distinct = shared beginnings once; computed = padding"
        " included",
        f"above model: MiB at the peak beyond the loaded model; lm-eval's at batch {MEMORY_BATCH}",
        f"floor: matrix products of the distinct tokens at {operations / 1e9:,.0f} GFLOP/s, the"
        " fastest product of this shape that was measured here; share of peak = floor over time",
        "llama.cpp multiplies the quantised weights and reuses what a request shares with the one"
        " before; its difference is no goal",
    ]
    for one in workloads:
        lengths = ", ".join(f"{key.replace('_', ' ')} {n:.1f}" for key, n in one.tokens.items())
        told.append(f"{one.name}-shaped: {one.origin}; mean {lengths}")
    return told


def present(device: str) -> bool:
    """Whether a device such as ``cuda`` or ``cuda:1`` is here."""
    import torch

    return device == "cpu" or int(device.partition(":")[2] or 0) < torch.cuda.device_count()


def main() -> None:
    given = arguments()
    setup, load = setup_of(given), measure.load_average()
    name = "likelihood_gpu" if given.gpu else "likelihood"
    libraries = [*LIBRARIES, *(PEERS[one] for one in PEERS if installed(one))]
    if not present(setup.device):
        reason = "not run: no GPU"
        goals = [*checks([], setup.dtype, reason), *gpu_checks([], reason)]
        measure.finish(name, given, libraries, load, [], goals, [reason], rounds=ROUNDS)
        return
    vocabulary = MODELS[setup.model]["vocab_size"]
    size = given.size * (ON_GPU if given.gpu else 1)
    workloads = [items.workload(shape, size, vocabulary) for shape in SHAPES]
    operations = rate(setup)
    names = [OURS, ONE, HARNESS] if given.gpu else [OURS, ONE, HARNESS, MINICONS]
    names += [LLAMA_CPP] * (setup.model == REAL and not given.gpu)
    sides = {one: Side(one, setup) for one in names if installed(one)}
    for side in sides.values():
        side.wait()
    rows = [one for found in workloads for one in compare(found, sides, setup, operations)]
    for side in sides.values():
        side.close()
    notes = notes_of(setup, operations, workloads)
    if given.gpu:
        notes.append("minicons is left out: four models of this size are more than a card holds")
    goals = checks(rows, setup.dtype)
    if given.gpu:
        goals += gpu_checks(rows)
    elif not present("cuda"):
        notes.append("on a GPU: not run: no GPU")
    measure.finish(name, given, libraries, load, rows, goals, notes, rounds=ROUNDS)


if __name__ == "__main__":
    main()
