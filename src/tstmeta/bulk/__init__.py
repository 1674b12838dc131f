"""Millions of pairs: a file, folder or address is scored a chunk at a time, by workers of Dask.

Memory stays flat: a chunk is read, checked, scored by one worker, and written as one Parquet part
that is complete or absent.  The same call goes on where it stopped.  What is scored is the same
bytes for any number of processes, and on a cluster.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from .. import storage
from ..data.files import files_of, parts_of
from ..metrics.base import Metric
from ..schema import DataError, Problem
from ..secrecy import conceal
from .parts import PartFolder, facts_in
from .work import BLOCK, Chunk, Job, add_up, hash_of, job_of
from .workers import run

#: What is scored where no metric is named: what needs no model.
DEFAULT = ("lexical", "sentinel")
#: Rows of a part.
CHUNK = 5 * BLOCK


def score_file(
    data: str | os.PathLike,
    metrics: Sequence[str | Metric] | str = DEFAULT,
    out: str | os.PathLike = "scores.parquet",
    *,
    bases: Sequence[str] | None = None,
    jobs: int | None = None,
    cluster: str = "",
) -> pd.DataFrame:
    """Score rewrites that need not fit into memory: what ``tstmeta score --out x.parquet`` does.

    Args:
        data: a CSV, TSV, JSON Lines or Parquet file with a rewrite a row (as for
            :func:`tstmeta.read`), a folder of such files, or an address that fsspec opens
            (``hf://``, ``s3://``).  Where no ``item_id`` is given it is the row's number, in a
            folder after the file's name.
        metrics: names, families or metric objects.
        out: a name that ends in ``.parquet`` (the parts are put together there), or a folder for
            the parts.
        bases: source, reference, none; default all that a metric has.
        jobs: worker processes of Dask, each with its copy of a model; default one a core.  A
            script that takes several calls this below ``if __name__ == "__main__":``.
        cluster: address of a Dask scheduler whose workers are taken.

    Returns:
        One row a metric: metric; numbers of scores, of failed ones (no value) and of errors (status
        ``error``); a reason of a failure.

    Raises:
        DataError: rows that cannot be used, all of them; what was scored before stays.
        TstmetaError: what does not exist, ``out`` that holds something else, or cannot be written.
    """
    location, target = str(data), str(out)
    wanted = [metrics] if isinstance(metrics, str) else metrics
    job = job_of(conceal(Path(location).stem), wanted, bases)
    files = [location, *(path for _, path in files_of(location))]
    storage.apart([("--out", target)], [("--data", file) for file in files])
    parts = PartFolder(target, job.key)
    facts = facts_in(Path(target))  # of the parts that were put together before
    if facts and facts["digest"] == hash_of([c.name for c in chunks_of(location, job.key, [])]):
        return add_up(pd.DataFrame(facts["groups"]))
    bar = tqdm(desc=job.name, unit="row", disable=None)  # only on a terminal
    with storage.locked(parts.folder / ".lock", timeout=5), bar:
        by_part = _score(job, location, parts, jobs, cluster, bar)
        counts = add_up(pd.concat([pd.DataFrame(part["groups"]) for part in by_part.values()]))
        facts = {"digest": hash_of([*by_part]), "groups": counts.to_dict("list")}
        parts.finish([*by_part], facts)
    return counts


def _score(
    job: Job, location: str, parts: PartFolder, jobs: int | None, cluster: str, bar: tqdm
) -> dict[str, dict[str, Any]]:
    """Write the parts that are not there; the facts of all by the part's name, in order."""
    facts, problems, ids = dict[str, dict[str, Any]](), list[Problem](), list[pd.Series]()

    def missing() -> Iterator[Chunk]:
        for chunk in chunks_of(location, job.key, ids):
            if known := facts_in(parts.folder / chunk.name):
                facts[chunk.name] = known
            else:
                yield chunk

    with closing(run(job, missing(), jobs, cluster)) as results:
        for result in results:
            problems += result.problems
            if not result.problems:
                storage.write(parts.folder / result.name, result.part)
                facts[result.name] = result.facts
                bar.update(result.rows)
    if not facts and not problems:
        problems.append(Problem(job.name, "there are no rows", remedy="add at least one"))
    if problems := problems or _doubled(ids):
        raise DataError(sorted(problems, key=lambda p: (p.file, p.row or 0)))
    return dict(sorted(facts.items()))


def chunks_of(location: str, key: str, ids: list[pd.Series]) -> Iterator[Chunk]:
    """Chunks of a location, whose parts are named by the job's key, their place and their rows.

    A hash of 8 bytes for each item id is added to ``ids``, by row and with the file's name.
    """
    are_many = len(files_of(location)) > 1
    for place, part in enumerate(parts_of(location, CHUNK)):
        rows = part.table
        if "item_id" not in rows:
            prefix = f"{Path(part.file).stem}:" if are_many else ""
            rows["item_id"] = prefix + rows.index.astype(str)
        texts = rows["item_id"].astype(str).str.strip()
        ids.append(pd.util.hash_pandas_object(texts, False, categorize=False).rename(part.file))
        cells = {"index": [*rows.index], "columns": [*rows], "data": rows.to_numpy().tolist()}
        yield Chunk(f"part-{key}-{place:07d}-{hash_of(cells)}.parquet", part)


def _doubled(ids: list[pd.Series]) -> list[Problem]:
    """A problem for each row whose id an earlier row has."""
    hashes = pd.concat(ids, keys=range(len(ids)))
    what, remedy = "the item_id of an earlier row", "give each row its own id"
    places = hashes.index[hashes.duplicated()]
    return [Problem(str(ids[place].name), what, row, "item_id", remedy) for place, row in places]
