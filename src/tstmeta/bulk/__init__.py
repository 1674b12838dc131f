"""Millions of pairs: a file, folder or address is scored a chunk at a time, by workers of Dask.

Memory stays flat: a chunk is read, checked, scored by one worker, and written as one Parquet part
that is complete or absent.  The same call goes on where it stopped.  What is scored is the same
bytes for any number of processes, and on a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from tqdm import tqdm

from .. import storage
from ..data.files import files_of, parts_of
from ..schema import DataError, Problem
from ..secrecy import conceal
from .parts import PartFolder
from .work import BLOCK, Chunk, Job, add_up, corpus_values, hash_of, job_of
from .workers import run

if TYPE_CHECKING:
    from ..metrics.base import Metric

#: What is scored where no metric is named: what needs no model.
DEFAULT = ("lexical", "sentinel")
#: Rows of a part.
CHUNK = 5 * BLOCK


class FileScores(NamedTuple):
    """Where the scores of :func:`score_file` are, in the order of the rewrites, and what is known.

    ``corpus`` has a row a system, corpus metric and basis: dataset, system, metric, basis,
    signature, n (rewrites), value.  ``failures`` has sentences, one a metric with rows without a
    value.
    """

    out: str
    scores: int
    failed: int
    failures: tuple[str, ...]
    corpus: pd.DataFrame


def score_file(
    data: str | os.PathLike,
    metrics: Sequence[str | Metric] | str = DEFAULT,
    out: str | os.PathLike = "scores.parquet",
    *,
    bases: Sequence[str] | None = None,
    jobs: int | None = None,
    cluster: str = "",
    progress: bool = True,
) -> FileScores:
    """Score rewrites that need not fit into memory: what ``tstmeta score --out x.parquet`` does.

    Args:
        data: a CSV, TSV, JSON Lines or Parquet file with a rewrite a row (as for
            :func:`tstmeta.read`), a folder of such files, or an address that fsspec opens
            (``hf://``, ``s3://``).  Where no ``item_id`` is given it is the row's number, in a
            folder after the file's name.
        metrics: names, families or metric objects.
        out: a name that ends in ``.parquet`` (the parts are put together there), or a folder or
            address for the parts.
        bases: source, reference, none; default all that a metric has.
        jobs: worker processes of Dask, each with its copy of a model; default one a core.  A
            script that takes several calls this below ``if __name__ == "__main__":``.
        cluster: address of a Dask scheduler whose workers are taken.
        progress: show a bar on standard error (only on a terminal).

    Raises:
        DataError: rows that cannot be used, all of them; what was scored before stays.
        TstmetaError: what does not exist, ``out`` that holds something else, or cannot be written.
    """
    location, target = str(data), str(out)
    wanted = [metrics] if isinstance(metrics, str) else metrics
    job = job_of(conceal(PurePath(location).stem), wanted, bases)
    outputs = [("--out", target), ("--out", f"{target.removesuffix('.parquet')}.corpus.csv")]
    files = [location, *(path for _, path in files_of(location))]
    storage.apart(outputs, [("--data", file) for file in files])
    parts, reader = PartFolder(target, job.key), ChunkReader(location, job.key)
    facts = parts.finished()
    if facts and facts["digest"] == hash_of([chunk.name for chunk in reader]):
        return _result(target, facts, job)
    bar = tqdm(desc=job.name, unit="row", disable=None if progress else True)
    with parts.locked(), bar:
        by_part = _score(job, reader, parts, jobs, cluster, bar)
        groups = add_up(pd.concat([pd.DataFrame(part["groups"]) for part in by_part.values()]))
        facts = {"digest": hash_of([*by_part]), "groups": groups.to_dict("list")}
        result = _result(target, facts, job)
        parts.finish([*by_part], result.corpus, facts)
    return result


def _score(
    job: Job, reader: ChunkReader, parts: PartFolder, jobs: int | None, cluster: str, bar: tqdm
) -> dict[str, dict[str, Any]]:
    """Write the parts that are not there; the facts of all by the part's name, in order."""
    facts, problems = dict[str, dict[str, Any]](), list[Problem]()

    def missing() -> Generator[Chunk]:
        for chunk in reader:
            if known := parts.facts(chunk.name):
                facts[chunk.name] = known
            else:
                yield chunk

    with closing(missing()) as chunks, closing(run(job, chunks, jobs, cluster)) as results:
        for result in results:
            problems += result.problems
            if not result.problems:
                parts.write(result.name, result.part)
                facts[result.name] = result.facts
                bar.update(result.rows)
    if not facts and not problems:
        problems.append(Problem(job.name, None, "", "there are no rows", "add at least one"))
    if problems := problems or reader.doubled_ids():
        raise DataError(sorted(problems, key=lambda p: (p.file, p.row or 0)))
    return dict(sorted(facts.items()))


def _result(out: str, facts: dict[str, Any], job: Job) -> FileScores:
    groups = pd.DataFrame(facts["groups"])
    how = {"scores": "sum", "failed": "sum", "reason": "max"}
    metrics = groups.groupby("metric", sort=False).agg(how)
    failures = tuple(
        f"{row.Index}: {row.failed:,} of {row.scores:,} scores failed: {row.reason}"
        for row in metrics[metrics["failed"] > 0].itertuples()
    )
    scores, failed = map(int, metrics[["scores", "failed"]].sum())
    return FileScores(out, scores, failed, failures, corpus_values(groups, job))


class ChunkReader:
    """Chunks of a location, in order, and the rows whose id an earlier row has."""

    def __init__(self, location: str, key: str):
        self.location, self.key = location, key

    def __iter__(self) -> Iterator[Chunk]:
        """Chunks, whose parts are named by the job's key, their place and a hash of the rows."""
        self._files, self._ids = list[str](), list[pd.Series]()
        are_many = len(files_of(self.location)) > 1
        for place, part in enumerate(parts_of(self.location, CHUNK)):
            rows = part.table
            if "item_id" not in rows:
                prefix = f"{PurePath(part.file).stem}:" if are_many else ""
                rows["item_id"] = prefix + rows.index.astype(str)
            ids = rows["item_id"].astype(str).str.strip().to_numpy(object)
            hashes = pd.util.hash_array(ids, categorize=False)  # 8 bytes each
            self._ids.append(pd.Series(hashes, rows.index))
            self._files.append(part.file)
            name = f"part-{self.key}-{place:07d}-{hash_of(rows.to_dict('split'))}.parquet"
            yield Chunk(name, part)

    def doubled_ids(self) -> list[Problem]:
        """A problem for each row whose id an earlier row has."""
        ids = pd.concat(self._ids, keys=range(len(self._ids)))
        fault = ("item_id", "the item_id of an earlier row", "give each row its own id")
        return [
            Problem(self._files[place], row, *fault) for place, row in ids.index[ids.duplicated()]
        ]
