"""One chunk's work: rows in, a Parquet part with their scores out; the same bytes everywhere."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import metrics as registry
from ..data import own
from ..data.files import Part
from ..metrics.base import CorpusMetric, Metric, Request, Score, spoken
from ..schema import DataError, Problem, Status, TstmetaError
from ..scoring import HUMAN_STYLE, RELEASED, answers, requests_of
from ..secrecy import conceal

#: Rows that a metric sees at once: batches are the same however many rows a chunk has.
BLOCK = 1000
#: What decides on how many threads models compute; each process has one.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_ALONE = threading.Lock()  # a worker of a cluster may have several threads; models have one


class Job(NamedTuple):
    """What is computed of every chunk; ``key`` hashes all that changes a score but the rows."""

    name: str
    metrics: tuple[str | Metric, ...]
    bases: tuple[str, ...] | None
    key: str


class Chunk(NamedTuple):
    """Rows to be scored; ``prefix`` stands before a row's number where that is the id."""

    place: int
    rows: Part
    prefix: str


class Done(NamedTuple):
    """What came of a chunk: a part and what is known of it, or what is wrong with the rows."""

    place: int
    key: str
    part: bytes
    facts: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def job_of(name: str, wanted: Sequence[str | Metric], bases: Sequence[str] | None) -> Job:
    """A job, whose metrics can be had here.

    Raises:
        TstmetaError: an unknown metric, or one that has to see more than one rewrite.
    """
    chosen: list[str | Metric] = []
    for each in wanted:
        if isinstance(each, str) and each.partition(":")[0] in (HUMAN_STYLE, RELEASED):
            raise TstmetaError(f"{each} is no metric that can be computed of a file's rows")
        chosen += registry.resolve([each]) if isinstance(each, str) else [registry.whole(each)]
    job = Job(name, tuple(chosen), None if bases is None else tuple(bases), "")
    loaded = _loaded(job)
    for metric in dict.fromkeys(metric for metric, _ in loaded):
        if metric.unit == "source" or getattr(metric, "keeps_answers", False):
            raise TstmetaError(
                f"{metric.name} cannot be computed in chunks. Remedy: leave it out here; ask a "
                "judge with: tstmeta judge run, score the rest of a file in memory with --out x.csv"
            )
    if not loaded:
        raise TstmetaError("no metric is left to compute on this basis")
    names = [str(metric.signature(basis)) for metric, basis in loaded]
    return job._replace(key=sha256("\n".join([job.name, *names]).encode()).hexdigest()[:16])


def _loaded(job: Job) -> list[tuple[Metric, str]]:
    """Each metric with each of its bases."""
    loaded = [registry.get(m, imports=True) if isinstance(m, str) else m for m in job.metrics]
    return [(m, basis) for m in loaded for basis in m.bases if not job.bases or basis in job.bases]


#: The metrics of the job that this process is at.
READY: dict[str, list[tuple[Metric, str]]] = {}


def ready(job: Job) -> list[tuple[Metric, str]]:
    """The metrics of a job, loaded once a process.

    Raises:
        TstmetaError: here they would give other values, as other versions are installed.
    """
    if job.key not in READY:
        for variable in THREADS:  # for what is yet to be imported
            os.environ[variable] = "1"
        own_job = job_of(job.name, job.metrics, job.bases)
        if own_job.key != job.key:
            raise TstmetaError(
                "a worker has other versions of tstmeta or of its libraries: signatures differ. "
                "Remedy: install the same there"
            )
        READY.clear()
        READY[job.key] = _loaded(job)
    return READY[job.key]


def digests(part: Part) -> list[str]:
    """Hashes of the rows of a part, one a block, so the same for any size of chunks.

    A key that JSON Lines leave out is not part of a row.
    """
    names, ragged = [*part.table], part.file.lower().endswith(".jsonl")
    rows = list(zip(part.table.index.tolist(), part.table.to_numpy(object).tolist(), strict=True))
    hashes = []
    for start in range(0, len(rows), BLOCK):
        block: list[Any] = rows[start : start + BLOCK]
        if ragged:
            named = [sorted(zip(names, map(repr, cells), strict=True)) for _, cells in block]
            block = [[pair for pair in row if pair[1] != "None"] for row in named]
        spelt = "".join(map(repr, block)).encode("utf-8", "surrogatepass")
        hashes.append(sha256(spelt).hexdigest())
    return hashes


def key_of(job: Job, part: Part, hashes: Sequence[str]) -> str:
    """What a chunk's part is known by: the metrics, the file and all rows."""
    return sha256(repr((job.key, part.file, [*part.table], hashes)).encode()).hexdigest()[:16]


def digest_of(job: Job, hashes: Iterable[Sequence[str]]) -> str:
    """Hash of a job and of the rows of all its chunks."""
    every = sha256(job.key.encode())
    for some in hashes:
        every.update("".join(some).encode())
    return every.hexdigest()


def work(job: Job, chunk: Chunk) -> Done:
    """Check and score a chunk, on one thread; faults of the rows are in what comes back."""
    with _ALONE:
        metrics = ready(job)
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        hashes = digests(chunk.rows)
        key = key_of(job, chunk.rows, hashes)
        try:
            items = own.items(chunk.rows, job.name)
        except DataError as error:
            return Done(chunk.place, key, b"", {}, tuple(error.problems))
        if "item_id" not in chunk.rows.table:
            items["item_id"] = chunk.prefix + items["item_id"].astype(str)
        tables = [_of_metric(metric, basis, items) for metric, basis in metrics]
        table = pd.concat([table for table in tables if len(table)] or tables[:1])
        table = table.sort_values("place", kind="stable")
        facts = _facts(table, len(items), {metric.name: metric for metric, _ in metrics})
        facts["hashes"] = hashes
        return Done(chunk.place, key, _part(table, items, job, facts), facts)


def _of_metric(metric: Metric, basis: str, items: pd.DataFrame) -> pd.DataFrame:
    """The scores of a metric on a basis: place of the item, value, status, detail, signature."""
    languages = cache(lambda code: spoken(metric, code))
    rows: list[tuple[int, Score, str]] = []
    for start in range(0, len(items), BLOCK):
        groups: dict[int, tuple[Metric, list[int], list[tuple[Request, ...]]]] = {}
        block = items.iloc[start : start + BLOCK]
        for place, request in enumerate(requests_of(block, basis), start):
            if request is None:
                continue
            own_metric = languages(request.language)
            if isinstance(own_metric, str):
                refusal = Score(math.nan, Status.REFUSED, conceal(own_metric))
                rows.append((place, refusal, str(metric.signature(basis))))
                continue
            group = groups.setdefault(id(own_metric), (own_metric, [], []))
            group[1].append(place)
            group[2].append((request,))
        for own_metric, places, units in groups.values():
            signature = str(own_metric.signature(basis))
            scores = answers(own_metric, units)
            rows += [(p, s[0], signature) for p, s in zip(places, scores, strict=True)]
    return pd.DataFrame(
        {
            "place": np.array([place for place, _, _ in rows], dtype=np.int64),
            "metric": conceal(metric.name),
            "dimension": metric.dimensions[0],
            "basis": basis,
            "signature": [signature for _, _, signature in rows],
            "value": np.array([score.value for _, score, _ in rows], dtype=float),
            "status": [str(score.status) for _, score, _ in rows],
            "detail": [score.detail for _, score, _ in rows],
            "system": items["system"].to_numpy()[[place for place, _, _ in rows]],
        }
    )


def _facts(table: pd.DataFrame, rows: int, metrics: dict[str, Metric]) -> dict[str, Any]:
    """What is known of a part: counts, failures, errors to be tried again, exact totals."""
    failed = table[table["value"].isna()]
    totals = []
    for keys, some in table.groupby(["system", "metric", "basis", "signature"], sort=False):
        if isinstance(metrics[keys[1]], CorpusMetric):
            details = some["detail"][some["value"].notna()]
            vectors = zip(*map(json.loads, details), strict=True)
            sums = [str(sum(map(Fraction, column), Fraction())) for column in vectors]
            totals.append([*keys, len(details), sums])
    return {
        "rows": rows,
        "scores": table["metric"].value_counts(sort=False).to_dict(),
        "failed": {
            name: [len(some), some["detail"].iloc[0]]
            for name, some in failed.groupby("metric", sort=False)
        },
        "errors": int((table["status"] == str(Status.ERROR)).sum()),
        "totals": totals,
    }


def together(facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The facts of all parts as those of one."""
    counts: Counter[str] = Counter()
    numbers: Counter[tuple] = Counter()
    failed: dict[str, list] = {}
    sums: dict[tuple, list[Fraction]] = {}
    for each in facts:
        counts.update(each["scores"])
        for name, (count, reason) in each["failed"].items():
            before = failed.setdefault(name, [0, reason])
            before[0] += count
        for *keys, n, vector in each["totals"]:
            key, new = tuple(keys), [Fraction(number) for number in vector]
            if new:
                old = sums.get(key) or [Fraction()] * len(new)
                sums[key] = [a + b for a, b in zip(old, new, strict=True)]
                numbers[key] += n
    totals = [[*key, numbers[key], [*map(str, sums[key])]] for key in sorted(sums)]
    return {
        "rows": sum(each["rows"] for each in facts),
        "scores": counts,
        "failed": failed,
        "errors": sum(each["errors"] for each in facts),
        "totals": totals,
    }


def corpus_values(totals: Sequence[list], job: Job) -> pd.DataFrame:
    """Values of corpus metrics from exact totals: a row a system, metric and basis."""
    columns = ["dataset", "system", "metric", "basis", "signature", "n", "value"]
    metrics = {metric.name: metric for metric, _ in _loaded(job)} if totals else {}
    rows = []
    for system, name, basis, signature, n, vector in totals:
        metric: Any = metrics[name]
        if str(metric.signature(basis)) != signature:  # the one that stands for it abroad
            metric = metric.abroad or metric
        value = metric.aggregate(np.array([float(Fraction(number)) for number in vector]))
        rows.append((job.name, system, name, basis, signature, n, float(value)))
    return pd.DataFrame(rows, columns=columns)


def _part(table: pd.DataFrame, items: pd.DataFrame, job: Job, facts: dict) -> bytes:
    """A Parquet file of scores, in the order of the items; its metadata has the facts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = len(table)
    columns = {
        "dataset": pa.array([job.name] * n, pa.string()),
        "item_id": pa.array(items["item_id"].to_numpy()[table["place"]], pa.string()),
        **{
            c: pa.array(table[c], pa.string())
            for c in ("metric", "dimension", "basis", "signature")
        },
        "sample": pa.array(np.zeros(n, np.int64)),
        "value": pa.array(table["value"], pa.float64(), from_pandas=True),
        **{c: pa.array(table[c], pa.string()) for c in ("status", "detail")},
    }
    arrow = pa.table(columns).replace_schema_metadata({"tstmeta": json.dumps(facts)})
    with BytesIO() as file:
        pq.write_table(arrow, file)
        return file.getvalue()
