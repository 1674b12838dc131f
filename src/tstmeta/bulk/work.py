"""One chunk's work: rows in, a Parquet part with their scores out; the same bytes everywhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
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
from ..metrics.base import CorpusMetric, Metric
from ..schema import DataError, Problem, Status, TstmetaError
from ..scoring import compute, requests, score_basis

#: Rows that a metric sees at once.
BLOCK = 1000
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
#: What facts and totals are grouped by.
_GROUP = ["system", "metric", "basis", "signature"]


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
    loaded = job.load()
    if not loaded:
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
    blocks = [
        replace(data, items=data.items.iloc[start : start + BLOCK])
        for start in range(0, len(data.items), BLOCK)
    ]
    tables = [
        score_basis(block, metric, basis, requests(block, basis), compute)
        for metric, basis in metrics
        for block in blocks
    ]
    table = schema.together(*tables).assign(dataset=job.name)
    place = pd.Index(data.items["item_id"]).get_indexer(table["item_id"])
    table["system"] = data.items["system"].to_numpy()[place]
    table = table.iloc[np.argsort(place, kind="stable")]
    corpus = {metric.name for metric, _ in metrics if isinstance(metric, CorpusMetric)}
    facts = {"groups": _groups(table, corpus).to_dict("list")}
    return Result(chunk.name, len(data.items), _parquet(table, facts), facts)


def _groups(table: pd.DataFrame, corpus: set[str]) -> pd.DataFrame:
    """Facts of scores, see :func:`add_up`; by system where a metric is in corpus."""
    failed, in_corpus = table["value"].isna(), table["metric"].isin(corpus)
    return add_up(
        table[_GROUP].assign(
            system=table["system"].where(in_corpus, ""),
            scores=1,
            failed=failed.astype(int),
            errors=(table["status"] == str(Status.ERROR)).astype(int),
            reason=table["detail"].where(failed, ""),
            total=table["detail"].where(in_corpus & ~failed, "[]").map(json.loads),
        )
    )


def add_up(facts: pd.DataFrame) -> pd.DataFrame:
    """Facts of scores, or of parts, by system, metric, basis and signature.

    Columns beside these: numbers of scores, of failed ones (no value) and of status ``error``; a
    reason of a failure; exact totals of a corpus metric's statistics, fractions as texts.
    """
    how = {"scores": "sum", "failed": "sum", "errors": "sum", "reason": "max", "total": _total}
    return facts.groupby(_GROUP, sort=False, as_index=False).agg(how)


def _total(vectors: pd.Series) -> list[str]:
    columns = zip(*filter(None, vectors), strict=True)
    return [str(sum(map(Fraction, column))) for column in columns]


def corpus_values(groups: pd.DataFrame, job: Job) -> pd.DataFrame:
    """Values of corpus metrics from exact totals: a row a system, metric and basis."""
    columns = ["dataset", "system", "metric", "basis", "signature", "n", "value"]
    groups = groups[groups["total"].map(len) > 0].sort_values(_GROUP)
    forms: dict[str, Any] = {
        str(form.signature(basis)): form
        for metric, basis in (job.load() if len(groups) else ())
        for form in filter(None, (metric.for_other_languages, metric))
    }
    rows = []
    for group in groups.itertuples():
        total = np.array([float(Fraction(number)) for number in group.total])
        value = float(forms[group.signature].aggregate(total))
        rows.append((job.name, *group[1:5], group.scores - group.failed, value))
    return pd.DataFrame(rows, columns=columns)


def _parquet(table: pd.DataFrame, facts: dict[str, Any]) -> bytes:
    """A Parquet file of scores; its metadata has the facts."""
    types = dict.fromkeys(schema.columns("scores"), pa.string())
    form = pa.schema(types | {"sample": pa.int64(), "value": pa.float64()})
    arrow = pa.Table.from_pandas(table, form, preserve_index=False)
    with BytesIO() as file:
        pq.write_table(arrow.replace_schema_metadata({"tstmeta": json.dumps(facts)}), file)
        return file.getvalue()
