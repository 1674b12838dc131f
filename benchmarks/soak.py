"""Half an hour of scoring and judging while things go wrong: rows in = rows out, each once.

Rounds of new pairs are scored with ``--jobs 2`` while worker processes are killed, and now and then
the command itself, which is then run again; once the disk that it writes to is full.  Each round's
pairs are also rated by a judge, whose server answers, fails with errors of many kinds, breaks off
or hangs up.  Then every row is counted, and its value held against the plain loop's.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import measure
import pandas as pd
import psutil
from scale import pairs

from tstmeta.metrics import Request, registry

LIBRARIES = ("tstmeta", "sacrebleu", "openai", "pyarrow")
METRICS = ("bleu", "pinc")
MINUTES, QUICK_MINUTES = 30, 0.6
#: Bytes that a command may write where its disk is to be full.
ROOM = 20_000
PROMPT = "content"


class Faulty(BaseHTTPRequestHandler):
    """A chat server: two answers in three, which follow from the question; else a fault."""

    protocol_version = "HTTP/1.1"
    chance = random.Random(measure.SEED)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = json.loads(body)["messages"][-1]["content"]
        fault = self.chance.random()
        if fault < 0.12:
            self._send(self.chance.choice([429, 500, 502, 503]), b'{"error": {"message": "busy"}}')
        elif fault < 0.2:
            self._send(200, b'{"choices": [')
        elif fault < 0.3:
            self.connection.close()
        else:
            answer = {"role": "assistant", "content": str(rating(text))}
            choice = {"index": 0, "finish_reason": "stop", "message": answer}
            self._send(200, json.dumps({"id": "x", "choices": [choice]}).encode())

    def _send(self, code: int, content: bytes) -> None:
        with suppress(OSError):
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


def rating(text: str) -> int:
    """A rating that follows from the question."""
    return 1 + sum(text.encode()) % 5


@contextmanager
def server() -> Any:
    running = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()
        running.server_close()


def tstmeta(*words: str, room: int | None = None) -> psutil.Popen:
    """The command, perhaps where only so many bytes a file can be written."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}));"
    ignore = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    start = (limit + ignore if room else "") + "from tstmeta.cli import main; main()"
    script = [sys.executable, "-c", start, *words]
    return psutil.Popen(script, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def disturbed(chance: random.Random, counts: dict[str, int], *words: str, room: int = 0) -> None:
    """Run a command until it is done, with kills of its processes and of itself."""
    process = tstmeta(*words, room=room or None)
    if room:
        counts["full disks"] += process.wait() != 0
        process = tstmeta(*words)
    while process.poll() not in (0, 1):
        if process.poll() is not None:
            counts["runs"] += 1
            process = tstmeta(*words)
        time.sleep(chance.uniform(1, 6))
        with suppress(psutil.NoSuchProcess, IndexError):
            if chance.random() < 0.25:
                process.kill()
                counts["commands killed"] += 1
            else:
                chance.choice(process.children(recursive=True)).kill()
                counts["workers killed"] += 1


def one_round(n: int, place: int, folder: Path, url: str, counts: dict[str, int]) -> None:
    """New pairs, scored and rated; what came of them is added to the counts."""
    chance = random.Random(place)
    data, out = folder / f"r{place}.parquet", folder / f"scores-{place}.parquet"
    pairs(n, data)
    table = pd.read_parquet(data)
    table["output"] += f" {place}"
    table.assign(style="formal").to_parquet(data)
    named = [word for name in METRICS for word in ("--metric", name)]
    words = ["score", "--data", str(data), *named, "--basis", "source", "--out", str(out)]
    room = ROOM if place == 1 else 0
    disturbed(chance, counts, *words, "--jobs", "2", room=room)
    compare(pd.read_parquet(out), table, counts)
    few = folder / f"judged-{place}.csv"
    table.assign(style="formal").head(max(20, n // 200)).to_csv(few, index=False)
    ratings = folder / f"ratings-{place}.csv"
    words = ["judge", "run", "--data", str(few), "--prompt", PROMPT, "--server", url]
    words += ["--model", "m", "--cache", str(folder / "answers.sqlite"), "--out", str(ratings)]
    for _ in range(20):
        process = tstmeta(*words)
        if chance.random() < 0.5:
            with suppress(psutil.TimeoutExpired):
                process.wait(chance.uniform(3, 12))
            if process.poll() is None:
                process.kill()
                counts["commands killed"] += 1
        if process.wait() == 0:
            break
    rated = pd.read_csv(ratings)
    counts["ratings in"] += len(pd.read_csv(few))
    counts["ratings out"] += int(rated["rating"].notna().sum())
    counts["ratings twice"] += int(rated["item_id"].duplicated().sum())


def compare(scores: pd.DataFrame, table: pd.DataFrame, counts: dict[str, int]) -> None:
    """Rows in and out, each once, with the values of a plain loop."""
    counts["rows in"] += len(table) * len(METRICS)
    counts["rows out"] += len(scores)
    counts["rows twice"] += int(scores.duplicated(["item_id", "metric", "basis"]).sum())
    sample = table.sample(200, random_state=0)
    for name in METRICS:
        metric = registry.get(name)
        requests = [Request(o, (s,), s) for s, o in zip(sample["source"], sample["output"])]  # noqa: B905
        expected = [score.value for score in metric.score(requests)]
        own = scores[scores["metric"] == name].set_index("item_id")["value"]
        counts["values that differ"] += int((own[sample["item_id"]].to_numpy() != expected).sum())


def main() -> None:
    def more(parser: Any) -> None:
        parser.add_argument("--minutes", type=float, help=f"how long (default {MINUTES})")

    given = measure.arguments(__doc__, 40_000, 3_000, "pairs a round", more)
    minutes = given.minutes or (QUICK_MINUTES if given.quick else MINUTES)
    load_before, start, rounds = measure.load_average(), time.monotonic(), 0
    counts: dict[str, int] = dict.fromkeys(
        ("rows in", "rows out", "rows twice", "values that differ", "ratings in", "ratings out",
         "ratings twice", "workers killed", "commands killed", "full disks", "runs"), 0
    )  # fmt: skip
    os.environ["OPENAI_API_KEY"] = ""
    with tempfile.TemporaryDirectory() as folder, server() as url:
        while not rounds or time.monotonic() - start < 60 * minutes:
            rounds += 1
            one_round(given.size, rounds, Path(folder), url, counts)
    rows = [{"metric": name, "count": count} for name, count in counts.items()]
    rows += [{"metric": "rounds", "count": rounds}]
    lost = counts["rows in"] - counts["rows out"]
    silent = counts["ratings in"] - counts["ratings out"]
    checks = [
        measure.check("rows lost or invented", abs(lost), "==", 0),
        measure.check("rows that come twice", counts["rows twice"], "==", 0),
        measure.check(
            "values that differ from a plain loop", counts["values that differ"], "==", 0
        ),
        measure.check("ratings lost or invented", abs(silent), "==", 0),
        measure.check("ratings that come twice", counts["ratings twice"], "==", 0),
        measure.check("disks that were full", counts["full disks"], ">=", 1),
        measure.check("workers killed", counts["workers killed"], ">=", 1),
    ]
    notes = [f"{minutes:g} minutes; faults are drawn from a seed, their moments are not"]
    measure.finish("soak", given, LIBRARIES, load_before, rows, checks, notes, rounds=1)


if __name__ == "__main__":
    main()
