"""Millions of pairs: cores, memory, kills, peers, a cluster and ratings, with commands as people
run them.

The pairs are made from the contrast set by repetition and noise.  Times are wall-clock times of
whole commands, start and end included; memory is the largest sum of the resident sizes of all
processes of a command, looked at ten times a second.  ``--only`` runs some parts.
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
from hashlib import sha256
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from tstmeta.data import load

LIBRARIES = ("tstmeta", "sacrebleu", "bert-score", "torch", "pyarrow", "distributed")
METRICS = ("bleu", "chrf", "pinc")
PARTS = ("cores", "memory", "kills", "peers", "cluster", "ratings")
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


def watched(words: list[str]) -> tuple[float, float]:
    """Seconds of a command and its largest memory, MiB."""
    start = time.perf_counter()
    process = psutil.Popen(words, stderr=subprocess.DEVNULL)
    highest = 0
    while process.poll() is None:
        size = 0
        with suppress(psutil.NoSuchProcess):
            for each in [process, *process.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    size += each.memory_info().rss
        highest = max(highest, size)
        time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}")
    return time.perf_counter() - start, highest / 2**20


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def row(part: str, what: str, n: int, seconds: float, memory: float | None = None) -> dict:
    rate = n / seconds if seconds else None
    return {
        **{"metric": what, "part": part, "pairs": n, "seconds": seconds},
        **{"pairs_a_second": rate, "peak_mib": memory},
    }


Report = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def halves(n: int, folder: Path) -> float:
    """Seconds of two runs side by side, each of half the pairs: what the machine's cores can do."""
    files = [pairs(n // 2, folder / f"half-{place}.parquet") for place in (1, 2)]
    start = time.perf_counter()
    words = [command(path, folder / f"of-{path.name}", "--jobs", "1") for path in files]
    running = [subprocess.Popen(each, stderr=subprocess.DEVNULL) for each in words]
    for process in running:
        process.wait()
    return time.perf_counter() - start


def cores(n: int, folder: Path) -> Report:
    """One process and two: time, memory, bytes; and two that know nothing of each other."""
    data, rows, files = pairs(n, folder / "pairs.parquet"), [], []
    for jobs in (1, 2):
        files.append(folder / f"jobs-{jobs}.parquet")
        seconds, memory = watched(command(data, files[-1], "--jobs", str(jobs)))
        rows.append(row("cores", f"{' '.join(METRICS)}, --jobs {jobs}", n, seconds, memory))
    rows.append(row("cores", "two commands, each --jobs 1 on half", n, halves(n, folder)))
    share, best = (rows[place]["seconds"] / rows[0]["seconds"] for place in (1, 2))
    return rows, [
        measure.check("--jobs 2: times as long as two separate halves", share / best, "<=", 1.1),
        measure.check("--jobs 2: share of the time with 1", share, "<=", MOST_OF_ONE),
        measure.check("peak MiB with --jobs 2", rows[1]["peak_mib"], "<", MOST_MEMORY),
        measure.check("files that differ", int(digest(files[0]) != digest(files[1])), "==", 0),
    ]


def memory(n: int, folder: Path) -> Report:
    """Twice the pairs, by a quick metric: memory stays what it was."""
    rows, peaks = [], []
    for times in (1, 2):
        data = pairs(times * n, folder / f"pairs-{times}.parquet")
        out = folder / f"quick-{times}.parquet"
        seconds, peak = watched(command(data, out, "--jobs", "2", metrics=("length-ratio",)))
        rows.append(row("memory", "length-ratio, --jobs 2", times * n, seconds, peak))
        peaks.append(peak)
    growth = measure.check("twice the pairs: memory, times", peaks[1] / peaks[0], "<=", MOST_GROWTH)
    return rows, [growth, measure.check("peak MiB, twice the pairs", peaks[1], "<", MOST_MEMORY)]


def kills(n: int, folder: Path) -> Report:
    """Killed at ten random moments, parents and children, then run to the end."""
    data, whole, killed = (
        folder / name for name in ("k.parquet", "whole.parquet", "killed.parquet")
    )
    pairs(n, data)
    seconds, _ = watched(command(data, whole, "--jobs", "2"))
    words, moments = command(data, killed, "--jobs", "2"), random.Random(0)
    died = 0
    for _ in range(10):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 0.2 * seconds))
        if process.poll() is None:
            process.kill()
            died += 1
        process.wait()
    last, _ = watched(words)
    return [row("kills", f"whole, then after {died} kills", n, last)], [
        measure.check("kills that were tried", died, ">=", 1),
        measure.check(
            "bytes that differ after kills", int(digest(whole) != digest(killed)), "==", 0
        ),
    ]


# ------------------------------------------------------------------------------------- peers


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def peers(n: int, folder: Path, embedded: int) -> Report:
    """sacreBLEU's own loop on the same pairs, bert-score's on fewer; ours as a command."""
    from sacrebleu.metrics import BLEU, CHRF

    data = pairs(n, folder / "peers.parquet")
    table = pd.read_parquet(data)
    texts = list(zip(table["source"], table["output"], strict=True))

    def loop() -> None:
        bleu, chrf = BLEU(effective_order=True), CHRF()
        for source, output in texts:
            bleu.sentence_score(output, [source])
            chrf.sentence_score(output, [source])

    rows = [row("peers", "bleu chrf, sacreBLEU's loop", n, timed(loop))]
    for jobs in ("1", "2"):
        words = command(data, folder / f"p{jobs}.parquet", "--jobs", jobs, metrics=("bleu", "chrf"))
        rows.append(row("peers", f"bleu chrf, --jobs {jobs}", n, watched(words)[0]))
    few = pairs(embedded, folder / "few.parquet")
    rows += [row("peers", name, embedded, taken) for name, taken in bertscores(few, folder)]
    one, two, bert = (
        *(rows[0]["seconds"] / rows[place]["seconds"] for place in (1, 2)),
        rows[3]["seconds"] / rows[5]["seconds"],
    )
    return rows, [
        measure.check("times as fast as sacreBLEU's loop, --jobs 1", one, ">=", 0.95),
        measure.check("times as fast as sacreBLEU's loop, --jobs 2", two, ">=", 1.7),
        measure.check("times as fast as bert-score, --jobs 2", bert, ">=", 0.95),
    ]


def bertscores(data: Path, folder: Path) -> Iterator[tuple[str, float]]:
    """Seconds of bert-score and of ours, model loading included on either side."""
    script = (
        "import sys, pandas as pd\n"
        "from metrics import bert_score_f1\n"
        "from texts import Pair\n"
        "table = pd.read_parquet(sys.argv[1])\n"
        "bert_score_f1()([Pair(*pair) for pair in zip(table['source'], table['output'])])\n"
    )
    words = [sys.executable, "-c", script, str(data)]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    run = lambda: subprocess.run(words, check=True, env=here, stderr=subprocess.DEVNULL)  # noqa: E731
    yield "bertscore, bert-score", timed(run)
    for jobs in ("1", "2"):
        own = command(data, folder / f"b{jobs}.parquet", "--jobs", jobs, metrics=("bertscore",))
        yield f"bertscore, --jobs {jobs}", watched(own)[0]


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


def cluster(n: int, folder: Path) -> Report:
    """A scheduler and workers as processes: overhead beside --jobs, a death, and a calculation."""
    data = pairs(n, folder / "clustered.parquet")
    plain, dask, hurt = (folder / f"{name}.parquet" for name in ("plain", "dask", "hurt"))
    seconds, _ = watched(command(data, plain, "--jobs", "2"))
    with scheduler(folder) as (address, worker):
        for _ in range(2):
            worker()
        over, _ = watched(command(data, dask, "--cluster", address))
    with scheduler(folder / "again") as (address, worker):
        first, *_ = [worker() for _ in range(3)]
        running = psutil.Popen(command(data, hurt, "--cluster", address), stderr=subprocess.DEVNULL)
        time.sleep(min(10, seconds / 4) + 4)
        was_running = running.poll() is None
        first.kill()
        worker()
        if running.wait():
            raise RuntimeError("the run ended with an error")
    files = {digest(path) for path in (plain, dask, hurt)}
    rows = [
        row("cluster", "--jobs 2", n, seconds),
        row("cluster", "scheduler and 2 workers", n, over),
        *on_paper(data, n, seconds, folder),
    ]
    return rows, [
        measure.check("cluster: times as long as --jobs", over / seconds, "<", MOST_OVERHEAD),
        measure.check("a worker was killed while it worked", int(was_running), "==", 1),
        measure.check("files that differ from those without a cluster", len(files) - 1, "==", 0),
    ]


def on_paper(data: Path, n: int, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """What a billion pairs would take a thousand workers, and the one that reads and writes."""
    from tstmeta.bulk import chunks_of

    reading = chunks_of(str(data), "", [])
    client = timed(lambda: sum(1 for _ in reading)) / n
    written = (folder / "plain.parquet").stat().st_size / n
    return [
        row("paper", f"{WORKERS} workers alone", PAIRS, PAIRS * seconds * 2 / n / WORKERS),
        row("paper", "reading by the one that hands out", PAIRS, PAIRS * client),
        row("paper", "scores to it at 1 GB/s", PAIRS, PAIRS * written / 1e9),
        row("paper", "ids to compare, GB of its memory", PAIRS, PAIRS * 8 / 1e9),
    ]


# ----------------------------------------------------------------------------------- ratings


def ratings(n: int, folder: Path) -> Report:
    """``evaluate`` on a quarter of the rated rewrites and on all: memory, and time of a row."""
    rng, rows = np.random.default_rng(measure.SEED), []
    table = pd.read_parquet(pairs(n, folder / "rated.parquet"))
    table["source_id"], table["system"] = np.arange(n) // 5, [f"m{row % 5}" for row in range(n)]
    table["source"] = table.groupby("source_id")["source"].transform("first")
    for rater in ("content.r1", "content.r2"):
        table[rater] = rng.integers(1, 6, n)
    for size in (n // 4, n):
        data, out = folder / f"rated-{size}.parquet", folder / f"values-{size}.csv"
        table.head(size).astype({"source_id": str}).to_parquet(data, index=False)
        words = [sys.executable, "-m", "tstmeta", "evaluate", "--metric", "edit-similarity"]
        words += ["--data", str(data), "--out", str(out), "--store", str(folder / f"store-{size}")]
        rows.append(row("ratings", "evaluate, edit-similarity", size, *watched(words)))
    quarter, full = rows
    bent = quarter["pairs_a_second"] / full["pairs_a_second"]
    return rows, [
        measure.check("evaluate: peak MiB of all rated rows", full["peak_mib"], "<", MOST_RATED),
        measure.check("evaluate: time of a row, times that of a quarter", bent, "<=", MOST_BENT),
    ]


def main() -> None:
    def more(parser: Any) -> None:
        parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)

    given = measure.arguments(__doc__, 1_000_000, 6_000, "pairs of the first part", more)
    load_before, n = measure.load_average(), given.size
    sizes: dict[str, Callable[[Path], Report]] = {
        "cores": lambda folder: cores(n, folder),
        "memory": lambda folder: memory(n, folder),
        "kills": lambda folder: kills(max(20_000, n // KILLED), folder),
        "peers": lambda folder: peers(max(2000, n // PEERS), folder, max(60, n // EMBEDDED)),
        "cluster": lambda folder: cluster(max(20_000, n // CLUSTERED), folder),
        "ratings": lambda folder: ratings(n, folder),
    }
    rows, checks = [], []
    for name in given.only:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "again").mkdir()
            some = sizes[name](Path(folder))
        rows += some[0]
        checks += some[1]
    notes = [
        "seconds are of whole commands; peak_mib of all their processes together",
        "paper: multiplied from the rates above, for what limits a cluster first; the last row's "
        "seconds are gigabytes",
    ]
    measure.finish("scale", given, LIBRARIES, load_before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
