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

from ..data import Card, Dataset, table_files
from ..data.files import Part
from ..metrics import registry
from ..metrics.base import CorpusMetric, Metric
from ..schema import DataError, Problem, Status, TstmetaError
from ..scoring import HUMAN_STYLE, RELEASED, compute, requests, score_basis

#: Rows that a metric sees at once: batches are the same however many rows a chunk has.
BLOCK = 1000
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_TEXTS = ("dataset", "item_id", "metric", "dimension", "basis", "signature")
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
        return _hash(self.name, [str(metric.signature(basis)) for metric, basis in metrics])[:16]


class Chunk(NamedTuple):
    """Rows to be scored: ``prefix`` stands before a row's number where that is the id."""

    place: int
    rows: Part
    prefix: str
    hashes: list[str]

    @property
    def part(self) -> str:
        """What the name of its part ends in."""
        return f"{self.place:07d}-{_hash(self.hashes)[:16]}.parquet"


class Result(NamedTuple):
    """A chunk's part and the facts about it, or what is wrong with the rows."""

    chunk: int
    name: str
    part: bytes
    facts: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def job_of(name: str, wanted: Sequence[str | Metric], bases: Sequence[str] | None) -> Job:
    """A job, whose metrics can be had here.

    Raises:
        TstmetaError: an unknown metric, or one that has to see more than one rewrite.
    """
    metrics: list[str | Metric] = []
    for metric in wanted:
        if isinstance(metric, str) and metric.partition(":")[0] in (HUMAN_STYLE, RELEASED):
            raise TstmetaError(f"{metric} is no metric that can be computed of a file's rows")
        metrics += (
            registry.resolve([metric]) if isinstance(metric, str) else [registry.check(metric)]
        )
    job = Job(name, tuple(metrics), None if bases is None else tuple(bases))
    loaded = job.load()
    for metric, _ in loaded:
        if metric.unit == "source":
            raise TstmetaError(
                f"{metric.name} cannot be computed in chunks. Remedy: leave it out here, and score "
                "it in memory with --out x.csv"
            )
    if not loaded:
        raise TstmetaError("no metric is left to compute on this basis")
    return job._replace(key=job.key_of(loaded))


def row_hashes(part: Part, prefix: str) -> list[str]:
    """Hashes of the rows of a part, one a block, so the same for any size of chunks."""
    rows = [
        # JSON Lines may leave a key out, and have keys in any order
        (number, sorted((name, cell) for name, cell in row.items() if cell is not None))
        for number, row in zip(part.table.index, part.table.to_dict("records"), strict=True)
    ]
    return [_hash(prefix, rows[start : start + BLOCK]) for start in range(0, len(rows), BLOCK)]


def _hash(*facts: Any) -> str:
    return sha256(repr(facts).encode()).hexdigest()


@contextmanager
def single_thread() -> Iterator[None]:
    """Models compute on one thread: on several, sums differ in the last bits by their number."""
    before = {name: os.environ.get(name) for name in _THREADS}
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    try:
        os.environ |= dict.fromkeys(_THREADS, "1")  # for what is yet to be imported
        if torch:
            torch.set_num_threads(1)
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ |= {} if value is None else {name: value}
        if torch:
            torch.set_num_threads(threads)


def score_chunk(job: Job, chunk: Chunk, metrics: Sequence[tuple[Metric, str]]) -> Result:
    """Check and score a chunk on one thread."""
    try:
        items = table_files.items(chunk.rows, job.name)
        if "item_id" not in chunk.rows.table:
            items["item_id"] = chunk.prefix + items["item_id"].astype(str)
        data = Dataset.of(job.name, items, Card(job.name))
    except DataError as error:
        return Result(chunk.place, "", b"", {}, tuple(error.problems))
    blocks = [
        replace(data, items=data.items.iloc[start : start + BLOCK])
        for start in range(0, len(items), BLOCK)
    ]
    with single_thread():
        tables = [
            score_basis(block, metric, basis, requests(block, basis), compute)
            for metric, basis in metrics
            for block in blocks
        ]
    table = pd.concat([table for table in tables if len(table)] or tables[:1])
    table["place"] = pd.Index(data.items["item_id"]).get_indexer(table["item_id"])
    table = table.sort_values("place", kind="stable").assign(dataset=job.name)
    table["system"] = data.items["system"].to_numpy()[table["place"]]
    corpus = {metric.name for metric, _ in metrics if isinstance(metric, CorpusMetric)}
    groups = add_up(_facts(table, corpus))
    facts = {"rows": len(items), "hashes": chunk.hashes, "groups": groups.to_dict("list")}
    return Result(chunk.place, chunk.part, _parquet(table, facts), facts)


def _facts(table: pd.DataFrame, corpus: set[str]) -> pd.DataFrame:
    """A row a score: what :func:`add_up` adds up; the system only where a metric is in corpus."""
    failed, in_corpus = table["value"].isna(), table["metric"].isin(corpus)
    return table[_GROUP].assign(
        system=table["system"].where(in_corpus, ""),
        scores=1,
        failed=failed.astype(int),
        errors=(table["status"] == str(Status.ERROR)).astype(int),
        reason=table["detail"].where(failed, ""),
        total=table["detail"].where(in_corpus & ~failed, "[]").map(json.loads),
    )


def add_up(facts: pd.DataFrame) -> pd.DataFrame:
    """Facts of scores, or of parts, by system, metric, basis and signature.

    Columns beside these: numbers of scores, of failed ones (no value) and of status ``error``; the
    reason of the first failure; exact totals of a corpus metric's statistics, fractions as texts.
    """
    how = {"scores": "sum", "failed": "sum", "errors": "sum", "reason": first_text, "total": _total}
    return facts.groupby(_GROUP, sort=False, as_index=False).agg(how)


def first_text(texts: pd.Series) -> str:
    return next(filter(None, texts), "")


def _total(vectors: pd.Series) -> list[str]:
    columns = zip(*filter(None, vectors), strict=True)
    return [str(sum(map(Fraction, column))) for column in columns]


def corpus_values(groups: pd.DataFrame, job: Job) -> pd.DataFrame:
    """Values of corpus metrics from exact totals: a row a system, metric and basis."""
    columns = ["dataset", "system", "metric", "basis", "signature", "n", "value"]
    groups = groups[groups["total"].map(len) > 0].sort_values(_GROUP)
    metrics = {metric.name: metric for metric, _ in job.load()} if len(groups) else {}
    rows = []
    for group in groups.itertuples():
        metric: Any = metrics[group.metric]
        if str(metric.signature(group.basis)) != group.signature:  # the one for other languages
            metric = metric.for_other_languages or metric
        value = metric.aggregate(np.array([float(Fraction(number)) for number in group.total]))
        n = group.scores - group.failed
        rows.append((job.name, *group[1:5], n, float(value)))
    return pd.DataFrame(rows, columns=columns)


def _parquet(table: pd.DataFrame, facts: dict[str, Any]) -> bytes:
    """A Parquet file of scores, in the order of the items; its metadata has the facts."""
    types = dict.fromkeys(_TEXTS, pa.string()) | {"sample": pa.int64(), "value": pa.float64()}
    form = pa.schema(types | dict.fromkeys(("status", "detail"), pa.string()))
    arrow = pa.Table.from_pandas(table, form, preserve_index=False)
    with BytesIO() as file:
        pq.write_table(arrow.replace_schema_metadata({"tstmeta": json.dumps(facts)}), file)
        return file.getvalue()
