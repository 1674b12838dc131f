"""Who does the work: this process, others on this machine, or a Dask cluster.

Chunks are handed out a few at a time, so that memory stays flat, and what comes back is in no
order.  The chunks of a worker of a cluster that dies are handed out again.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Any

from ..extras import needs
from ..schema import TstmetaError
from ..secrecy import conceal, excerpt
from .work import READY, THREADS, Chunk, Done, Job, work

#: Seconds to wait for the scheduler of a cluster, and for its first worker.
_ANSWER, _PATIENCE = 10, 60


def run(job: Job, chunks: Iterable[Chunk], jobs: int, cluster: str = "") -> Generator[Done]:
    """What comes of chunks, as it comes; where there is one alone it is worked on here."""
    todo = iter(chunks)
    first = list(islice(todo, 2))
    todo = chain(first, todo)
    if cluster or (jobs > 1 and len(first) > 1):
        _picklable(job)
        yield from _on_cluster(job, todo, jobs, cluster) if cluster else _pool(job, todo, jobs)
    else:
        yield from _here(job, todo)


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
    executor: Executor, job: Job, chunks: Iterator[Chunk], most: Callable[[], int]
) -> Iterator[Done]:
    """What comes of chunks, of which ``most`` are under way."""
    under_way: set[Future[Done]] = set()
    while True:
        new = islice(chunks, max(0, most() - len(under_way)))
        under_way |= {executor.submit(work, job, chunk) for chunk in new}
        if not under_way:
            return
        ended, under_way = concurrent.futures.wait(under_way, return_when="FIRST_COMPLETED")
        yield from (future.result() for future in ended)


def _pool(job: Job, chunks: Iterator[Chunk], jobs: int) -> Iterator[Done]:
    """Processes start anew, ignore Ctrl-C (their parent sees it) and end with their parent."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    try:
        yield from _completed(pool, job, chunks, lambda: 2 * jobs)
        pool.shutdown()  # what is done needs no end by force
    except BrokenProcessPool as error:
        raise TstmetaError(
            "a process died. Remedy: see that there is memory enough (fewer --jobs, a smaller "
            "--chunk), and that a script of yours calls this below `if __name__ == '__main__':`; "
            "the same command goes on"
        ) from error
    finally:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _picklable(job: Job) -> None:
    for metric in job.metrics:
        try:
            pickle.dumps(metric)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            name = getattr(metric, "name", metric)
            raise TstmetaError(
                f"{name} cannot be sent to another process. Remedy: put the function into a file "
                "and name it, ./file.py:function; or compute with jobs=1"
            ) from error


def _client(address: str) -> Any:
    """A client of the scheduler at an address; TstmetaError where none answers in time."""
    from distributed import Client
    from distributed.comm.registry import backends

    scheme, _, place = address.rpartition("://")
    shown = excerpt(conceal(address if scheme else f"//{place}").removeprefix("//"))
    try:
        if scheme not in ("", *backends) or not re.fullmatch(r"[^@?#\s]+", place):
            raise ValueError("an address is host:port, or tcp:// and these; it has no password")
        # not in this thread: in a notebook it has a loop already
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _greeting(address)).result()
        return Client(address, timeout=_ANSWER)
    except Exception as error:  # what listens there may answer anything
        words = excerpt(f"{type(error).__name__}: {error}", 150).rstrip(": ")
        raise TstmetaError(
            f"no Dask scheduler answers at {shown} ({words}). Remedy: start one with dask "
            "scheduler, and name the address that it prints"
        ) from error


async def _greeting(address: str) -> None:
    """Shake hands with a scheduler: the client itself would wait for its words for ever."""
    from distributed.comm import connect
    from distributed.security import Security

    how = Security().get_connection_args("client")
    (await asyncio.wait_for(connect(address, **how), _ANSWER)).abort()


def _on_cluster(job: Job, chunks: Iterator[Chunk], jobs: int, address: str) -> Iterator[Done]:
    needs("distributed", extra="cluster")
    from distributed import Client, LocalCluster

    cluster = None
    try:
        if address == "local":
            cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
            )
        with Client(cluster) if cluster else _client(address) as client:
            client.wait_for_workers(1, timeout=_PATIENCE)

            def most() -> int:
                return 2 * max(1, sum(client.nthreads().values()))

            yield from _completed(client.get_executor(pure=False), job, chunks, most)
    except Exception as error:
        ours = isinstance(error, OSError | TimeoutError | CancelledError | MemoryError)
        if not ours and type(error).__module__.partition(".")[0] != "distributed":
            raise
        raise TstmetaError(
            f"the cluster at {conceal(address)} gave up ({excerpt(conceal(repr(error)))}). Remedy: "
            "see that its scheduler and a worker run, and the logs of its workers; the same "
            "command goes on"
        ) from error
    finally:
        if cluster:
            cluster.close()
