"""Millions of pairs: a file, folder or address is scored a chunk at a time, by workers of Dask.

Memory stays flat: a chunk is read, checked, scored by one worker, and written as one Parquet part
that is complete or absent.  The same call goes on where it stopped.  What is scored is the same
bytes for any number of processes, any size of chunks, and on a cluster: metrics are asked in blocks
of :data:`~.work.BLOCK` rows, each on one thread, and corpus metrics add up exact statistics.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from itertools import chain
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
from .work import BLOCK, Chunk, Job, add_up, corpus_values, first_text, job_of, row_hashes
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
        jobs: worker processes of Dask, each with its copy of a model; default one a core.  A
            script that takes several calls this below ``if __name__ == "__main__":``.
        cluster: address of a Dask scheduler whose workers are taken; ``local`` or none: ``jobs``.
        chunk: rows of a part, taken up to a full thousand.
        progress: show a bar on standard error (only on a terminal).

    Raises:
        DataError: rows that cannot be used, all of them; what was scored before stays.
        TstmetaError: what does not exist, ``out`` that holds something else, or cannot be written.
    """
    location, target = str(data), str(out)
    if chunk < 1 or (jobs is not None and jobs < 1):
        raise TstmetaError("chunk and jobs are at least 1")
    name, wanted = conceal(PurePath(location).stem), metrics
    job = job_of(name, [wanted] if isinstance(wanted, str) else wanted, bases)
    reader = ChunkReader(location, -(-chunk // BLOCK) * BLOCK)
    to_file = target.lower().endswith(".parquet")
    outputs = [("--out", target), ("--out", f"{target.removesuffix('.parquet')}.corpus.csv")]
    storage.apart(outputs, [("--data", file) for file in (location, *reader.files)])
    facts = facts_of(target) if to_file else None
    if facts and facts.get("digest") == _digest(job, (chunk.hashes for chunk in reader)):
        return _result(target, facts, corpus_values(pd.DataFrame(facts["groups"]), job))
    parts = PartFolder(f"{target}.parts" if to_file else target, job.key)
    bar = tqdm(desc=job.name, unit="row", disable=None if progress else True)
    with parts.locked(), bar:
        facts = _score(job, reader, parts, jobs or _cores(), cluster, bar)
        corpus = corpus_values(pd.DataFrame(facts["groups"]), job)
        text = corpus.to_csv(index=False, lineterminator="\n") if len(corpus) else ""
        parts.finish(text)
        if to_file:
            parts.merge(target, text, facts)
    if to_file and not any(facts["groups"]["errors"]):
        parts.remove()
    return _result(target, facts, corpus)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _score(
    job: Job, reader: ChunkReader, parts: PartFolder, jobs: int, cluster: str, bar: tqdm
) -> dict[str, Any]:
    """Write the parts that are not there, and add up the facts of all."""
    facts, problems = dict[int, dict[str, Any]](), list[Problem]()

    def missing() -> Generator[Chunk]:
        for chunk in reader:
            if known := parts.facts(chunk):
                facts[chunk.place] = known
            else:
                yield chunk

    with closing(missing()) as chunks, closing(run(job, chunks, jobs, cluster)) as results:
        for result in results:
            problems += result.problems
            if not result.problems:
                parts.write(result)
                facts[result.chunk] = result.facts
                bar.update(result.facts["rows"])
    if not facts and not problems:
        problems.append(Problem(job.name, None, "", "there are no rows", "add at least one"))
    if problems := problems or reader.doubled_ids():
        raise DataError(sorted(problems, key=lambda p: (p.file, p.row or 0)))
    in_order = [facts[place] for place in sorted(facts)]
    groups = add_up(pd.concat([pd.DataFrame(part["groups"]) for part in in_order]))
    return {
        "digest": _digest(job, (part["hashes"] for part in in_order)),
        "rows": sum(part["rows"] for part in in_order),
        "groups": groups.to_dict("list"),
    }


def _digest(job: Job, hashes: Iterable[list[str]]) -> str:
    """A hash of a job and of the rows of all its chunks."""
    return sha256("".join([job.key, *chain.from_iterable(hashes)]).encode()).hexdigest()


def _result(out: str, facts: dict[str, Any], corpus: pd.DataFrame) -> FileScores:
    how = {"scores": "sum", "failed": "sum", "reason": first_text}
    metrics = pd.DataFrame(facts["groups"]).groupby("metric", sort=False).agg(how)
    failures = tuple(
        f"{row.Index}: {row.failed:,} of {row.scores:,} scores failed: {row.reason}"
        for row in metrics[metrics["failed"] > 0].itertuples()
    )
    scores, failed = map(int, metrics[["scores", "failed"]].sum())
    return FileScores(out, facts["rows"], scores, failed, failures, corpus)


class ChunkReader:
    """Chunks of a location, in order, and the rows whose id an earlier row has."""

    def __init__(self, location: str, size: int):
        self.location, self.size = location, size
        self.files = [path for _, path in files_of(location)]

    def __iter__(self) -> Iterator[Chunk]:
        self._hashes = array("Q")
        for place, part in enumerate(parts_of(self.location, self.size)):
            self._hashes.frombytes(_ids(part).index.to_numpy().tobytes())
            prefix = f"{PurePath(part.file).stem}:" if len(self.files) > 1 else ""
            yield Chunk(place, part, prefix, row_hashes(part, prefix))

    def doubled_ids(self) -> list[Problem]:
        """A problem for each row whose id an earlier row has; if any has, rows are read anew."""
        hashes = np.frombuffer(self._hashes, np.uint64)
        hashes.sort()  # in place, so that an id takes 8 bytes
        doubled = hashes[1:][hashes[1:] == hashes[:-1]]
        fault = ("item_id", "the item_id of an earlier row", "give each row its own id")
        seen, problems = set[str](), list[Problem]()
        for part in parts_of(self.location, self.size) if len(doubled) else ():
            ids = _ids(part)
            for place in np.flatnonzero(ids.index.isin(doubled)):
                if ids.iloc[place] in seen:
                    problems.append(Problem(part.file, part.table.index[place], *fault))
                seen.add(ids.iloc[place])
        return problems


def _ids(part: Part) -> pd.Series:
    """Ids of a part's rows by their hashes; none where it has no such column."""
    column = part.table.get("item_id", pd.Series(dtype=object))
    ids = column.astype(str).str.strip().to_numpy(object)
    return pd.Series(ids, pd.util.hash_array(ids, categorize=False))
