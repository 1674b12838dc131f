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
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import table_files
from ..data.files import Part
from ..metrics import registry
from ..metrics.base import CorpusMetric, Metric, Score
from ..schema import DataError, Problem, Status, TstmetaError
from ..scoring import HUMAN_STYLE, RELEASED, answers, by_language, requests_of
from ..secrecy import conceal

#: Rows that a metric sees at once: batches are the same however many rows a chunk has.
BLOCK = 1000
#: What decides on how many threads models compute; each process has one.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_TEXTS = ("dataset", "item_id", "metric", "dimension", "basis", "signature")
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
        chosen += registry.resolve([each]) if isinstance(each, str) else [registry.check(each)]
    job = Job(name, tuple(chosen), None if bases is None else tuple(bases), "")
    loaded = _loaded(job)
    for metric, _ in loaded:
        if metric.unit == "source":
            raise TstmetaError(
                f"{metric.name} cannot be computed in chunks. Remedy: leave it out here, and score "
                "it in memory with --out x.csv"
            )
    if not loaded:
        raise TstmetaError("no metric is left to compute on this basis")
    names = [str(metric.signature(basis)) for metric, basis in loaded]
    facts = "\n".join([job.name, *names]).encode(errors="surrogatepass")
    return job._replace(key=sha256(facts).hexdigest()[:16])


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
        if job_of(job.name, job.metrics, job.bases).key != job.key:
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
    return sha256("".join([job.key, *map("".join, hashes)]).encode()).hexdigest()


def work(job: Job, chunk: Chunk) -> Done:
    """Check and score a chunk, on one thread; faults of the rows are in what comes back."""
    with _ALONE:
        metrics = ready(job)
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        hashes = digests(chunk.rows)
        key = key_of(job, chunk.rows, hashes)
        try:
            items = table_files.items(chunk.rows, job.name)
        except DataError as error:
            return Done(chunk.place, key, b"", {}, tuple(error.problems))
        if "item_id" not in chunk.rows.table:
            items["item_id"] = chunk.prefix + items["item_id"].astype(str)
        tables = [of_metric(metric, basis, items) for metric, basis in metrics]
        table = pd.concat([table for table in tables if len(table)] or tables[:1])
        table = table.sort_values("place", kind="stable").assign(dataset=job.name, sample=0)
        table["item_id"] = items["item_id"].to_numpy()[table["place"]]
        facts = _facts(table, {metric.name: metric for metric, _ in metrics})
        facts |= {"rows": len(items), "hashes": hashes}
        return Done(chunk.place, key, _part(table, facts), facts)


def of_metric(metric: Metric, basis: str, items: pd.DataFrame) -> pd.DataFrame:
    """The scores of a metric on a basis, with the place of the item and its system."""
    rows: list[tuple[int, str, Score]] = []
    scores: list[tuple[Score, ...]]
    for start in range(0, len(items), BLOCK):
        requests = enumerate(requests_of(items.iloc[start : start + BLOCK], basis), start)
        units = [(place, (request,)) for place, request in requests if request]
        for own_metric, some in by_language(metric, units):
            if isinstance(own_metric, str):
                refusal = Score(math.nan, Status.REFUSED, conceal(own_metric))
                scores, signature = [(refusal,)] * len(some), str(metric.signature(basis))
            else:
                scores = list(answers(own_metric, [[unit for _, unit in some]]))
                signature = str(own_metric.signature(basis))
            rows += [(p, signature, s) for (p, _), (s,) in zip(some, scores, strict=True)]
    names = ["place", "signature", "value", "status", "detail"]
    given = [(place, signature, *score) for place, signature, score in rows]
    table = pd.DataFrame(given, columns=names).astype({"place": int, "value": float})
    return table.assign(
        status=table["status"].map(str),
        metric=conceal(metric.name),
        dimension=metric.dimensions[0],
        basis=basis,
        system=items["system"].to_numpy()[table["place"]],
    )


def _facts(table: pd.DataFrame, metrics: dict[str, Metric]) -> dict[str, Any]:
    """What is known of a part: counts, failures, errors to be tried again, exact totals."""
    failed = table[table["value"].isna()].groupby("metric", sort=False)["detail"]
    totals = []
    for keys, some in table.groupby(["system", "metric", "basis", "signature"], sort=False):
        if isinstance(metrics[keys[1]], CorpusMetric):
            details = some["detail"][some["value"].notna()]
            vectors = zip(*map(json.loads, details), strict=True)
            sums = [str(sum(map(Fraction, column), Fraction())) for column in vectors]
            totals.append([*keys, len(details), sums])
    return {
        "scores": table["metric"].value_counts(sort=False).to_dict(),
        "failed": {name: [len(some), some.iloc[0]] for name, some in failed},
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
            failed.setdefault(name, [0, reason])[0] += count
        for *keys, n, vector in each["totals"]:
            key, new = tuple(keys), [Fraction(number) for number in vector]
            if new:
                old = sums.get(key) or [Fraction()] * len(new)
                sums[key] = [a + b for a, b in zip(old, new, strict=True)]
                numbers[key] += n
    totals = [[*key, numbers[key], [*map(str, sums[key])]] for key in sorted(sums)]
    rows, errors = (sum(each[name] for each in facts) for name in ("rows", "errors"))
    whole = {"rows": rows, "scores": counts, "failed": failed, "errors": errors}
    return {**whole, "totals": totals}


def corpus_values(totals: Sequence[list], job: Job) -> pd.DataFrame:
    """Values of corpus metrics from exact totals: a row a system, metric and basis."""
    columns = ["dataset", "system", "metric", "basis", "signature", "n", "value"]
    metrics = {metric.name: metric for metric, _ in _loaded(job)} if totals else {}
    rows = []
    for system, name, basis, signature, n, vector in totals:
        metric: Any = metrics[name]
        if str(metric.signature(basis)) != signature:  # the one for other languages
            metric = metric.for_other_languages or metric
        value = metric.aggregate(np.array([float(Fraction(number)) for number in vector]))
        rows.append((job.name, system, name, basis, signature, n, float(value)))
    return pd.DataFrame(rows, columns=columns)


def _part(table: pd.DataFrame, facts: dict) -> bytes:
    """A Parquet file of scores, in the order of the items; its metadata has the facts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = dict.fromkeys(_TEXTS, pa.string()) | {"sample": pa.int64(), "value": pa.float64()}
    form = pa.schema(types | dict.fromkeys(("status", "detail"), pa.string()))
    arrow = pa.Table.from_pandas(table, form, preserve_index=False)
    with BytesIO() as file:
        pq.write_table(arrow.replace_schema_metadata({"tstmeta": json.dumps(facts)}), file)
        return file.getvalue()
