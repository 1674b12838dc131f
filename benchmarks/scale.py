"""Millions of pairs: cores, memory, kills, peers, a cluster and ratings, with commands as people
run them.

The pairs are made from the contrast set by repetition and noise.  What is compared takes turns, and
a ratio is the median of those inside a round.  ``--only`` runs some parts.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from statistics import median
from typing import Any

import measure
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from commands import Run, in_turn, peak, ratio, watched

from tstmeta.data import load

LIBRARIES = ("tstmeta", "sacrebleu", "bert-score", "torch", "pyarrow", "distributed")
METRICS = ("bleu", "chrf", "pinc")
PARTS = ("cores", "memory", "kills", "peers", "cluster", "ratings")
ROUNDS = 3
#: Of the pairs of the first part, how many the others take.
KILLED, PEERS, CLUSTERED, EMBEDDED = 20, 5, 5, 100
#: What must hold.
MOST_OF_ONE, MOST_MEMORY, MOST_GROWTH, MOST_OVERHEAD = 0.55, 1024, 1.1, 1.25
#: ``evaluate`` of all rated rows, MiB; and a row's time beside that of a row of a quarter of them.
MOST_RATED, MOST_BENT = 4096, 1.15
#: What is asked of a cluster on paper.
PAIRS, WORKERS = 10**9, 1000


def pairs(n: int, path: Path) -> Path:
    """A Parquet file of ``n`` pairs: outputs of the contrast set, each with words of noise."""
    items, rng = load("contrast").items, np.random.default_rng(measure.SEED)
    writer = None
    for start in range(0, n, 100_000):
        rows = range(start, min(n, start + 100_000))
        drawn = rng.integers(0, len(items), len(rows))
        noise = rng.integers(0, 1000, len(rows))
        outputs = items["output"].to_numpy()[drawn]
        table = pa.table(
            {
                "item_id": [f"i{row}" for row in rows],
                "source": pa.array(items["source"].to_numpy()[drawn], pa.string()),
                "output": [f"{text} {word}" for text, word in zip(outputs, noise, strict=True)],
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()
    return path


# ----------------------------------------------------------------------------------- running


def command(data: Path, out: Path, *words: str, metrics: tuple[str, ...] = METRICS) -> list[str]:
    named = [word for name in metrics for word in ("--metric", name)]
    start = [sys.executable, "-m", "tstmeta", "score", "--data", str(data), "--basis", "source"]
    return [*start, *named, "--out", str(out), *words]


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def row(part: str, what: str, n: int, runs: list[Run]) -> dict[str, Any]:
    """A row of the report: the median of the rounds, with the shortest and the longest."""
    times = [seconds for seconds, _ in runs]
    seconds = median(times)
    return {
        **{"metric": what, "part": part, "pairs": n, "seconds": seconds},
        **{"shortest": min(times), "longest": max(times)},
        **{"pairs_a_second": n / seconds if seconds else None, "peak_mib": peak(runs)},
    }


Report = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def scored(data: Path, out: Path, *words: str, metrics: tuple[str, ...] = METRICS) -> Run:
    """Scores of a file, computed anew."""
    out.unlink(missing_ok=True)
    return watched(command(data, out, *words, metrics=metrics))


def halves(files: list[Path]) -> Run:
    """Two runs side by side, each of half the pairs: what the machine's cores can do."""
    outs = [path.with_name(f"of-{path.name}") for path in files]
    for out in outs:
        out.unlink(missing_ok=True)
    start = time.perf_counter()
    words = [command(path, out, "--jobs", "1") for path, out in zip(files, outs, strict=True)]
    running = [subprocess.Popen(line, stderr=subprocess.DEVNULL) for line in words]
    codes = [process.wait() for process in running]
    if any(codes):
        raise RuntimeError("a half ended with an error")
    return time.perf_counter() - start, None


def ours(data: Path, *metrics: str) -> dict[str, Callable[[], Run]]:
    """The command with one process and with two."""
    one, two = (data.with_name(f"{jobs}-{data.name}") for jobs in "12")
    return {
        "--jobs 1": lambda: scored(data, one, "--jobs", "1", metrics=metrics),
        "--jobs 2": lambda: scored(data, two, "--jobs", "2", metrics=metrics),
    }


def cores(n: int, folder: Path, rounds: int) -> Report:
    """One process and two: time, memory, bytes; and two that know nothing of each other."""
    data = pairs(n, folder / "pairs.parquet")
    half = [pairs(n // 2, folder / f"half-{place}.parquet") for place in (1, 2)]
    one, two, apart = "--jobs 1", "--jobs 2", "two commands, each --jobs 1 on half"
    runs = in_turn(ours(data, *METRICS) | {apart: lambda: halves(half)}, rounds)
    times, share = (ratio(runs, two, name) for name in (apart, one))
    files = {digest(folder / f"{jobs}-pairs.parquet") for jobs in "12"}
    rows = [row("cores", f"{' '.join(METRICS)}, {name}", n, runs[name]) for name in (one, two)]
    return [*rows, row("cores", apart, n, runs[apart])], [
        measure.check("--jobs 2: times as long as two separate halves", times, "<=", 1.1),
        measure.check("--jobs 2: share of the time with 1", share, "<=", MOST_OF_ONE),
        measure.check("peak MiB with --jobs 2", peak(runs[two]), "<", MOST_MEMORY),
        measure.check("files that differ", len(files) - 1, "==", 0),
    ]


def memory(n: int, folder: Path) -> Report:
    """Twice the pairs, by a quick metric: memory stays what it was."""
    rows, peaks = [], []
    for times in (1, 2):
        data = pairs(times * n, folder / f"pairs-{times}.parquet")
        out = folder / f"quick-{times}.parquet"
        run = scored(data, out, "--jobs", "2", metrics=("length-ratio",))
        rows.append(row("memory", "length-ratio, --jobs 2", times * n, [run]))
        peaks.append(run[1])
    growth = measure.check("twice the pairs: memory, times", peaks[1] / peaks[0], "<=", MOST_GROWTH)
    return rows, [growth, measure.check("peak MiB, twice the pairs", peaks[1], "<", MOST_MEMORY)]


def kills(n: int, folder: Path, times: int) -> Report:
    """Killed at random moments, then run to the end: the same bytes."""
    data, whole, killed = (
        folder / name for name in ("k.parquet", "whole.parquet", "killed.parquet")
    )
    pairs(n, data)
    seconds, _ = watched(command(data, whole, "--jobs", "2"))
    words, moments = command(data, killed, "--jobs", "2"), random.Random(0)
    died = 0
    for _ in range(times):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 0.2 * seconds))
        if process.poll() is None:
            process.kill()
            died += 1
        process.wait()
    last = watched(words)
    return [row("kills", f"whole, then after {died} kills", n, [last])], [
        measure.check("kills that were tried", died, ">=", 1),
        measure.check(
            "bytes that differ after kills", int(digest(whole) != digest(killed)), "==", 0
        ),
    ]


# ------------------------------------------------------------------------------------- peers


def peers(n: int, folder: Path, rounds: int, embedded: int) -> Report:
    """sacreBLEU's own loop on the same pairs, bert-score's on fewer; ours as a command."""
    many, few = pairs(n, folder / "peers.parquet"), pairs(embedded, folder / "few.parquet")
    loop, bert = "sacreBLEU's loop", "bert-score"
    lexical = in_turn({loop: sacrebleu_loop(many)} | ours(many, "bleu", "chrf"), rounds)
    neural = {bert: bert_score(few)} | ours(few, "bertscore")
    if rounds == 1:  # no goal is of this one, which loads the model once more
        del neural["--jobs 1"]
    neural = in_turn(neural, rounds)
    rows = [row("peers", f"bleu chrf, {name}", n, runs) for name, runs in lexical.items()]
    rows += [row("peers", f"bertscore, {name}", embedded, runs) for name, runs in neural.items()]
    return rows, [
        measure.check(f"times as fast as {peer}, {jobs}", ratio(runs, peer, jobs), ">=", bound)
        for runs, peer, jobs, bound in (
            (lexical, loop, "--jobs 1", 0.95),
            (lexical, loop, "--jobs 2", 1.7),
            (neural, bert, "--jobs 2", 0.95),
        )
    ]


def sacrebleu_loop(data: Path) -> Callable[[], Run]:
    """BLEU and chrF of a pair at a time; reading the pairs does not count."""
    from sacrebleu.metrics import BLEU, CHRF

    table = pd.read_parquet(data)
    texts = list(zip(table["source"], table["output"], strict=True))

    def loop() -> Run:
        start = time.perf_counter()
        bleu, chrf = BLEU(effective_order=True), CHRF()
        for source, output in texts:
            bleu.sentence_score(output, [source])
            chrf.sentence_score(output, [source])
        return time.perf_counter() - start, None

    return loop


def bert_score(data: Path) -> Callable[[], Run]:
    """A process that loads the model and scores the pairs."""
    script = (
        "import sys, pandas as pd\n"
        "from metrics import bert_score_f1\n"
        "from texts import Pair\n"
        "table = pd.read_parquet(sys.argv[1])\n"
        "bert_score_f1()([Pair(*pair) for pair in zip(table['source'], table['output'])])\n"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return lambda: watched([sys.executable, "-c", script, str(data)], here)


# ----------------------------------------------------------------------------------- cluster


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, Callable[[], psutil.Popen]]]:
    """The address of a scheduler of its own, and what starts another worker; all are processes."""
    file, started = folder / "scheduler.json", []

    def start(*words: str) -> psutil.Popen:
        script = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        where = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": str(folder)}
        started.append(psutil.Popen(script, **where))
        return started[-1]

    def worker() -> psutil.Popen:
        address = pd.read_json(file, typ="series")["address"]
        return start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")

    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    while not file.exists():
        time.sleep(0.1)
    try:
        yield pd.read_json(file, typ="series")["address"], worker
    finally:
        for process in reversed(started):
            with suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()


def cluster(n: int, folder: Path, rounds: int) -> Report:
    """A scheduler and workers as processes: overhead beside --jobs, a death, and a calculation."""
    data = pairs(n, folder / "clustered.parquet")
    plain, dask, hurt = (folder / f"{name}.parquet" for name in ("plain", "dask", "hurt"))
    with scheduler(folder) as (address, worker):
        first, _ = worker(), worker()
        runs = in_turn(
            {
                "--jobs 2": lambda: scored(data, plain, "--jobs", "2"),
                "scheduler and 2 workers": lambda: scored(data, dask, "--cluster", address),
            },
            rounds,
        )
        seconds = median(taken for taken, _ in runs["--jobs 2"])
        running = psutil.Popen(command(data, hurt, "--cluster", address), stderr=subprocess.DEVNULL)
        time.sleep(seconds / 2)
        was_running = running.poll() is None
        first.kill()
        worker()
        if running.wait():
            raise RuntimeError("the run ended with an error")
    over = ratio(runs, "scheduler and 2 workers", "--jobs 2")
    files = {digest(path) for path in (plain, dask, hurt)}
    rows = [
        *(row("cluster", name, n, runs[name]) for name in runs),
        *on_paper(data, n, seconds, folder),
    ]
    return rows, [
        measure.check("cluster: times as long as --jobs", over, "<", MOST_OVERHEAD),
        measure.check("a worker was killed while it worked", int(was_running), "==", 1),
        measure.check("files that differ from those without a cluster", len(files) - 1, "==", 0),
    ]


def on_paper(data: Path, n: int, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """What a billion pairs would take a thousand workers, and the one that reads and writes."""
    from tstmeta.bulk import chunks_of

    reading = chunks_of(str(data), "", [])
    start = time.perf_counter()
    for _ in reading:
        pass
    client = (time.perf_counter() - start) / n
    written = (folder / "plain.parquet").stat().st_size / n
    return [
        row(
            "paper", f"{WORKERS} workers alone", PAIRS, [(PAIRS * seconds * 2 / n / WORKERS, None)]
        ),
        row("paper", "reading by the one that hands out", PAIRS, [(PAIRS * client, None)]),
        row("paper", "scores to it at 1 GB/s", PAIRS, [(PAIRS * written / 1e9, None)]),
        row("paper", "ids to compare, GB of its memory", PAIRS, [(PAIRS * 8 / 1e9, None)]),
    ]


# ----------------------------------------------------------------------------------- ratings


def ratings(n: int, folder: Path, rounds: int) -> Report:
    """``evaluate`` on a quarter of the rated rewrites and on all: memory, and time of a row."""
    rng = np.random.default_rng(measure.SEED)
    table = pd.read_parquet(pairs(n, folder / "rated.parquet"))
    table["source_id"], table["system"] = np.arange(n) // 5, [f"m{row % 5}" for row in range(n)]
    table["source"] = table.groupby("source_id")["source"].transform("first")
    for rater in ("content.r1", "content.r2"):
        table[rater] = rng.integers(1, 6, n)
    sizes = {"a quarter": n // 4, "all": n}
    files = {name: folder / f"rated-{size}.parquet" for name, size in sizes.items()}
    for name, path in files.items():
        table.head(sizes[name]).astype({"source_id": str}).to_parquet(path, index=False)
    runs = in_turn({name: partial(evaluated, path) for name, path in files.items()}, rounds)
    most, bent = peak(runs["all"]), ratio(runs, "all", "a quarter") * sizes["a quarter"] / n
    return [
        row("ratings", "evaluate, edit-similarity", sizes[name], runs[name]) for name in runs
    ], [
        measure.check("evaluate: peak MiB of all rated rows", most, "<", MOST_RATED),
        measure.check("evaluate: time of a row, times that of a quarter", bent, "<=", MOST_BENT),
    ]


def evaluated(data: Path) -> Run:
    """``evaluate`` of a file, with nothing in the store."""
    out, store = data.with_suffix(".csv"), data.with_suffix(".store")
    out.unlink(missing_ok=True)
    rmtree(store, ignore_errors=True)
    words = [sys.executable, "-m", "tstmeta", "evaluate", "--metric", "edit-similarity"]
    return watched([*words, "--data", str(data), "--out", str(out), "--store", str(store)])


def main() -> None:
    def more(parser: Any) -> None:
        parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)

    options = measure.arguments(__doc__, 1_000_000, 6_000, "pairs of the first part", more)
    load_before, n = measure.load_average(), options.size
    rounds = 1 if options.quick else ROUNDS
    sizes: dict[str, Callable[[Path], Report]] = {
        "cores": lambda folder: cores(n, folder, rounds),
        "memory": lambda folder: memory(n, folder),
        "kills": lambda folder: kills(max(8000, n // KILLED), folder, 3 if options.quick else 10),
        "peers": lambda folder: peers(
            max(2000, n // PEERS), folder, rounds, max(60, n // EMBEDDED)
        ),
        "cluster": lambda folder: cluster(max(10_000, n // CLUSTERED), folder, rounds),
        "ratings": lambda folder: ratings(n, folder, rounds),
    }
    rows, checks = [], []
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            part, goals = sizes[name](Path(folder))
        rows += part
        checks += goals
    notes = [
        "memory and kills are of one round each; peak_mib is the largest of all rounds",
        "seconds are of whole commands; peak_mib of all their processes together",
        "paper: multiplied from the rates above, for what limits a cluster first; the last row's "
        "seconds are gigabytes",
    ]
    measure.finish("scale", options, LIBRARIES, load_before, rows, checks, notes, rounds)


if __name__ == "__main__":
    main()
