"""Millions of pairs: a file, folder or address is scored a chunk at a time, on many processes.

Memory stays flat: a chunk is read, checked, scored by one process, and written as one Parquet part
that is complete or absent.  The same call goes on where it stopped.  What is scored is the same
bytes for any number of processes, any size of chunks, and on a cluster: metrics are asked in blocks
of :data:`~.work.BLOCK` rows, each on one thread, and corpus metrics add up exact statistics.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from .. import storage
from ..data.files import Part, files_of, parts_of
from ..schema import DataError, Problem, TstmetaError
from ..secrecy import conceal
from .parts import PartFolder, facts_of
from .work import BLOCK, Chunk, Job, corpus_values, digest_of, digests, job_of, together
from .workers import run

if TYPE_CHECKING:
    from ..metrics.base import Metric

#: What is scored where no metric is named: what needs no model.
DEFAULT = ("lexical", "sentinel")
#: Rows of a part.
CHUNK = 5 * BLOCK


class FileScores(NamedTuple):
    """What came of :func:`score_file`: where the scores are, and what is known of them.

    ``corpus`` has a row a system, corpus metric and basis: dataset, system, metric, basis,
    signature, n (rewrites), value.  ``failures`` has sentences, one a metric with rows without a
    value.
    """

    out: str
    rows: int
    scores: int
    failed: int
    failures: tuple[str, ...]
    corpus: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """All scores, as :func:`tstmeta.score` gives them, in the order of the rewrites."""
        return pd.read_parquet(self.out)


def score_file(
    data: str | os.PathLike,
    metrics: Sequence[str | Metric] | str = DEFAULT,
    out: str | os.PathLike = "scores.parquet",
    *,
    bases: Sequence[str] | None = None,
    jobs: int | None = None,
    cluster: str = "",
    chunk: int = CHUNK,
    progress: bool = True,
) -> FileScores:
    """Score rewrites that need not fit into memory: what ``tstmeta score --out x.parquet`` does.

    Args:
        data: a CSV, TSV, JSON Lines or Parquet file with a rewrite a row (as for
            :func:`tstmeta.read`), a folder of such files, or an address that fsspec opens
            (``hf://``, ``s3://``).  Where no ``item_id`` is given it is the row's number, in a
            folder after the file's name.
        metrics: names, families or metric objects; not what needs all rewrites of a
            source at once.
        out: a name that ends in ``.parquet`` (the parts are put together there), or a folder or
            address for the parts.
        bases: source, reference, none; default all that a metric has.
        jobs: processes, each with its own copy of a model; default one a core.  A script that
            takes several calls this below ``if __name__ == "__main__":``.
        cluster: address of a Dask scheduler, or ``local`` (extra ``cluster``).
        chunk: rows of a part, taken up to a full thousand.
        progress: show a bar on standard error (only on a terminal).

    Raises:
        DataError: rows that cannot be used, all of them; what was scored before stays.
        TstmetaError: what does not exist, ``out`` that holds something else, or cannot be written.
    """
    location, target = str(data), str(out)
    name = conceal(PurePath(location).stem)
    job = job_of(name, [metrics] if isinstance(metrics, str) else metrics, bases)
    if chunk < 1 or (jobs is not None and jobs < 1):
        raise TstmetaError("chunk and jobs are at least 1")
    reading = Chunks(location, -(-chunk // BLOCK) * BLOCK)
    whole_file = target.lower().endswith(".parquet")
    written = [("--out", target), ("--out", f"{target.removesuffix('.parquet')}.corpus.csv")]
    storage.apart(written, [("--data", file) for file in (location, *reading.files)])
    if whole_file and (known := _finished(target, job, reading)):
        return _scored(target, known, corpus_values(known["totals"], job))
    parts = PartFolder(f"{target}.parts" if whole_file else target, job)
    facts: dict[int, dict[str, Any]] = {}
    problems: list[Problem] = []

    def todo() -> Generator[Chunk]:
        for each in reading:
            if known := parts.facts(each):
                facts[each.place] = known
            else:
                yield each

    chunks = todo()
    ended = run(job, chunks, jobs or _cores(), cluster)
    bar = tqdm(desc=job.name, unit="row", disable=None if progress else True)
    with parts.alone(), closing(chunks), closing(ended), bar:
        for done in ended:
            problems += done.problems
            if not done.problems:
                parts.write(done)
                facts[done.place] = done.facts
                bar.update(done.facts["rows"])
        if not facts and not problems:
            problems.append(Problem(job.name, None, "", "there are no rows", "add at least one"))
        if problems := problems or reading.doubled_ids():
            raise DataError(sorted(problems, key=lambda p: (p.file, p.row or 0)))
        every = [facts[place] for place in sorted(facts)]
        total = {"digest": digest_of(job, (each["hashes"] for each in every)), **together(every)}
        corpus = corpus_values(total["totals"], job)
        values = corpus.to_csv(index=False, lineterminator="\n") if len(corpus) else ""
        parts.finish(values)
        if whole_file:
            parts.merge(target, values, total)
    if whole_file and not total["errors"]:
        parts.remove()
    return _scored(target, total, corpus)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _finished(out: str, job: Job, reading: Chunks) -> dict[str, Any] | None:
    """What a finished file says of itself, if it is of the same rows and metrics."""
    if facts := facts_of(out):
        digest = digest_of(job, (digests(chunk.rows) for chunk in reading))
        return facts if facts.get("digest") == digest else None
    return None


def _scored(out: str, total: dict[str, Any], corpus: pd.DataFrame) -> FileScores:
    failures = tuple(
        f"{name}: {count:,} of {total['scores'][name]:,} scores failed: {reason}"
        for name, (count, reason) in total["failed"].items()
    )
    failed = sum(count for count, _ in total["failed"].values())
    return FileScores(out, total["rows"], sum(total["scores"].values()), failed, failures, corpus)


class Chunks:
    """Chunks of a location, in order, and what their ids show."""

    def __init__(self, location: str, size: int):
        self.location, self.size = location, size
        self.files = [path for _, path in files_of(location)]

    def __iter__(self) -> Iterator[Chunk]:
        self._ids = array("Q")
        for place, part in enumerate(parts_of(self.location, self.size)):
            self._ids.frombytes(_hashes(part).tobytes())
            yield Chunk(place, part, f"{PurePath(part.file).stem}:" if len(self.files) > 1 else "")

    def doubled_ids(self) -> list[Problem]:
        """A problem for each row whose id an earlier row has."""
        hashes = np.frombuffer(self._ids, np.uint64)
        hashes.sort()
        doubled = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        seen: set[int] = set()
        problems = []
        for part in parts_of(self.location, self.size) if doubled else ():
            for row, own_hash in zip(part.table.index, _hashes(part).tolist(), strict=False):
                if own_hash in seen:
                    what, remedy = "the item_id of an earlier row", "give each row its own id"
                    problems.append(Problem(part.file, row, "item_id", what, remedy))
                seen |= {own_hash} & doubled
        return problems


def _hashes(part: Part) -> np.ndarray:
    """Hashes of the ids of a part, shape [rows]; none where it has no ids."""
    ids = [str(cell).strip() for cell in part.table.get("item_id", ())]
    return pd.util.hash_array(np.array(ids, dtype=object), categorize=False)
