"""Who does the work: this process, others on this machine, or a Dask cluster.

Chunks are handed out a few at a time, so that memory stays flat, and what comes back is in no
order.  A worker that dies takes nothing along: its chunks are handed out again.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any
from uuid import uuid4

from ..extras import needs
from ..schema import TstmetaError
from ..secrecy import conceal
from .work import READY, THREADS, Chunk, Done, Job, work

#: How often in a row processes may die without a single chunk done.
_DEATHS = 3
#: Seconds to wait for the first worker of a cluster.
_PATIENCE = 60


def run(job: Job, chunks: Iterable[Chunk], jobs: int, cluster: str = "") -> Generator[Done]:
    """What comes of chunks, as it comes; where there is one alone it is worked on here."""
    todo = iter(chunks)
    first = list(islice(todo, 2))
    if cluster:
        yield from _on_cluster(job, _first(first, todo), jobs, cluster)
    elif jobs > 1 and len(first) > 1:
        yield from _in_processes(job, first, todo, jobs)
    else:
        yield from _here(job, _first(first, todo))


def _here(job: Job, chunks: Iterable[Chunk]) -> Iterator[Done]:
    before = {name: os.environ.get(name) for name in THREADS}
    threads = torch.get_num_threads() if (torch := sys.modules.get("torch")) else None
    READY.clear()  # objects of the caller, which may be new ones of the same signature
    try:
        for chunk in chunks:
            yield work(job, chunk)
    finally:
        READY.clear()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        if torch:
            torch.set_num_threads(threads)


def _completed(
    chunks: Iterable[Chunk],
    submit: Callable[[Chunk], Any],
    wait: Callable[..., Any],
    most: Callable[[], int],
    under_way: dict[Any, Chunk],
) -> Iterator[Any]:
    """Futures as they end; those in ``under_way`` were handed out and have not ended."""

    def ended() -> list[Any]:
        done = wait(list(under_way), return_when="FIRST_COMPLETED")[0]
        return [future for future in list(under_way) if future in done]

    for chunk in chunks:
        under_way[submit(chunk)] = chunk
        while len(under_way) >= most():
            yield from ended()
    while under_way:
        yield from ended()


def _in_processes(job: Job, again: list[Chunk], todo: Iterator[Chunk], jobs: int) -> Iterator[Done]:
    _picklable(job)
    deaths = 0
    while True:
        under_way: dict[Future, Chunk] = {}
        pool, now = _Pool(jobs), True
        try:
            rest = _first(again, todo)
            submit = pool.submitting(job)
            for future in _completed(
                rest, submit, concurrent.futures.wait, lambda: 2 * jobs, under_way
            ):
                done = future.result()
                del under_way[future]
                deaths = 0
                yield done
            now = False
            return
        except BrokenProcessPool as error:
            again = [*under_way.values(), *again]
            deaths += 1
            if deaths >= _DEATHS:
                rows = [*again[0].sheet.rows]
                raise TstmetaError(
                    f"processes died {deaths} times in a row, at work on {again[0].sheet.file}, "
                    f"rows {rows[0]:,} to {rows[-1]:,}, among others. Remedy: see that there is "
                    "memory enough (fewer --jobs, a smaller --chunk), and that a script of yours "
                    "calls this below `if __name__ == '__main__':`; the same command goes on"
                ) from error
        finally:
            pool.close(now)


def _first(again: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    """What was taken already, or handed out to a process that died, then the rest."""
    while again:
        yield again.pop(0)
    for chunk in rest:  # noqa: UP028 ("yield from" would close it with this one)
        yield chunk


class _Pool:
    """Processes that start anew, ignore Ctrl-C (their parent sees it) and end with their parent."""

    def __init__(self, jobs: int):
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)

    def submitting(self, job: Job) -> Callable[[Chunk], Future]:
        def submit(chunk: Chunk) -> Future:
            try:
                return self._pool.submit(work, job, chunk)
            except BrokenProcessPool as error:
                future: Future = Future()
                future.set_exception(error)
                return future

        return submit

    def close(self, now: bool) -> None:
        """End the processes, ``now`` or when they are done."""
        for process in list((self._pool._processes or {}).values()) if now else ():
            process.terminate()
        self._pool.shutdown(cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _picklable(job: Job) -> None:
    import pickle

    for metric in job.metrics:
        try:
            pickle.dumps(metric)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            name = getattr(metric, "name", metric)
            raise TstmetaError(
                f"{name} cannot be sent to another process. Remedy: put the function into a file "
                "and name it, ./file.py:function; or compute with jobs=1"
            ) from error


def _on_cluster(job: Job, chunks: Iterable[Chunk], jobs: int, address: str) -> Iterator[Done]:
    needs("distributed", extra="cluster")
    _picklable(job)
    from distributed import Client, LocalCluster, wait

    local = address == "local"
    about = conceal(address)
    cluster = None
    try:
        if local:
            cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
            )
        with Client(cluster or address, timeout=_PATIENCE) as client:
            client.wait_for_workers(1, timeout=_PATIENCE)

            def submit(chunk: Chunk) -> Any:
                key = f"{job.name}-{chunk.place}-{uuid4().hex}"
                return client.submit(work, job, chunk, pure=False, key=key)

            def most() -> int:
                return 2 * max(1, sum(client.nthreads().values()))

            under_way: dict[Any, Chunk] = {}
            for future in _completed(chunks, submit, wait, most, under_way):
                done = future.result()
                del under_way[future]
                yield done
    except (OSError, TimeoutError) as error:
        raise TstmetaError(
            f"the cluster at {about} does not answer ({conceal(str(error)[:200])}). Remedy: see "
            "that its scheduler and a worker run; the same command goes on"
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "distributed":
            raise
        raise TstmetaError(
            f"the cluster at {about} gave up ({conceal(repr(error)[:200])}). "
            "Remedy: see the logs of its workers; the same command goes on"
        ) from error
    finally:
        if cluster:
            cluster.close()
