"""One chunk's work: rows in, a Parquet part with their scores out; the same bytes everywhere."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .. import schema
from ..data import Card, Dataset, table_files
from ..data.files import Part
from ..metrics import registry
from ..metrics.base import Metric
from ..schema import DataError, Problem, Status, TstmetaError
from ..scoring import compute, requests, score_basis, together

#: Rows that a metric sees at once.
BLOCK = 1000
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Job(NamedTuple):
    """What is computed of every chunk; ``key`` hashes all that changes a score but the rows."""

    name: str
    metrics: tuple[str | Metric, ...]
    bases: tuple[str, ...] | None
    key: str = ""

    def load(self) -> list[tuple[Metric, str]]:
        """Each metric with each of its bases."""
        metrics = [registry.get(m, imports=True) if isinstance(m, str) else m for m in self.metrics]
        return [
            (m, basis) for m in metrics for basis in m.bases if basis in (self.bases or m.bases)
        ]

    def key_of(self, metrics: Sequence[tuple[Metric, str]]) -> str:
        """A hash of the name and of all signatures."""
        return hash_of(self.name, [str(metric.signature(basis)) for metric, basis in metrics])


class Chunk(NamedTuple):
    """Rows to be scored, and the name of their part, which changes with the job and the rows."""

    name: str
    rows: Part


class Result(NamedTuple):
    """A chunk's part and the facts about it, or what is wrong with the rows."""

    name: str
    rows: int
    part: bytes
    facts: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def hash_of(*facts: Any) -> str:
    """First 16 hexadecimal digits of a SHA-256."""
    return sha256(repr(facts).encode()).hexdigest()[:16]


def job_of(name: str, wanted: Sequence[str | Metric], bases: Sequence[str] | None) -> Job:
    """A job, whose metrics can be had here.

    Raises:
        TstmetaError: an unknown metric.
    """
    metrics: list[str | Metric] = []
    for metric in wanted:
        if isinstance(metric, str):
            metrics += registry.resolve([metric])
        else:
            metrics.append(registry.check(metric))
    job = Job(name, tuple(metrics), tuple(bases) if bases else None)
    if not (loaded := job.load()):
        raise TstmetaError("no metric is left to compute on this basis")
    return job._replace(key=job.key_of(loaded))


@contextmanager
def _single_thread() -> Iterator[None]:
    """Models compute on one thread: on several, sums differ in the last bits by their number."""
    before = {name: os.environ.get(name) for name in _THREADS}
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    os.environ |= dict.fromkeys(_THREADS, "1")  # for what is yet to be imported
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            os.environ |= {name: value} if value else {}
        if torch:
            torch.set_num_threads(threads)


@_single_thread()
def score_chunk(job: Job, chunk: Chunk, metrics: Sequence[tuple[Metric, str]]) -> Result:
    """Check and score a chunk."""
    try:
        data = Dataset.of(job.name, table_files.items(chunk.rows, job.name), Card(job.name))
    except DataError as error:
        return Result(chunk.name, 0, b"", {}, tuple(error.problems))
    tables = []
    for start in range(0, len(data.items), BLOCK):
        block = replace(data, items=data.items.iloc[start : start + BLOCK])
        rewrites = cache(partial(requests, block))  # metrics share those of a basis
        tables += [score_basis(block, m, basis, rewrites(basis), compute) for m, basis in metrics]
    table = together(*tables).assign(dataset=job.name)
    place = pd.Index(data.items["item_id"]).get_indexer(table["item_id"])
    table = table.iloc[np.argsort(place, kind="stable")]
    facts = {"groups": _counted(table).to_dict("list")}
    return Result(chunk.name, len(data.items), _parquet(table, facts), facts)


def _counted(table: pd.DataFrame) -> pd.DataFrame:
    """By metric: numbers of scores, of failed ones (no value) and of status ``error``; a reason."""
    failed = table["value"].isna()
    return add_up(
        table[["metric"]].assign(
            scores=1,
            failed=failed.astype(int),
            errors=(table["status"] == str(Status.ERROR)).astype(int),
            reason=table["detail"].where(failed, ""),
        )
    )


def add_up(counts: pd.DataFrame) -> pd.DataFrame:
    """Counts of scores, or of parts, by metric."""
    how = {"scores": "sum", "failed": "sum", "errors": "sum", "reason": "max"}
    return counts.groupby("metric", sort=False, as_index=False).agg(how)


def _parquet(table: pd.DataFrame, facts: dict[str, Any]) -> bytes:
    """A Parquet file of scores; its metadata has the facts."""
    types = dict.fromkeys(schema.columns("scores"), pa.string())
    form = pa.schema(types | {"sample": pa.int64(), "value": pa.float64()})
    arrow = pa.Table.from_pandas(table, form, preserve_index=False)
    with BytesIO() as file:
        pq.write_table(arrow.replace_schema_metadata({"tstmeta": json.dumps(facts)}), file)
        return file.getvalue()
