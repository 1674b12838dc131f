"""Who does the work: Dask's workers, of this machine or of a cluster, or this process alone.

Chunks are handed out a few at a time, so that memory stays flat, and what comes back is in no
order.  The chunks of a worker that dies are handed out again.
"""

import asyncio
import logging
import re
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice
from typing import Any

from ..metrics.base import Metric
from ..schema import TstmetaError
from ..secrecy import conceal, excerpt
from .work import Chunk, Job, Result, score_chunk

#: Seconds to wait for the scheduler of a cluster, and for its first worker.
_ANSWER, _PATIENCE = 10, 60
#: On this machine: a chunk at which a third worker dies ends the run, Ctrl-C is for this process
#: alone, and workers do not look every 10 ms at what they do, which took a sixth of the time.
_CONFIG = {
    "distributed.admin.large-graph-warning-threshold": "1 TB",
    "distributed.scheduler.allowed-failures": 2,
    "distributed.worker.profile.enabled": False,
    "distributed.worker.preload": ["import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"],
}
#: Without a limit of memory, at which Dask would pause a worker for ever, and without a web page.
_LOCAL: dict[str, Any] = {
    **{"threads_per_worker": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL},
    **{"dashboard_address": None, "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}},
}
_TURN = threading.Lock()  # a worker of a cluster may have several threads; models have one
#: The metrics of the job that this worker is at, by the job's key.
_LOADED: dict[str, list[tuple[Metric, str]]] = {}


def run(job: Job, chunks: Iterator[Chunk], jobs: int | None, cluster: str) -> Generator[Result]:
    """Results; without a cluster, one chunk or one job is computed in this process."""
    from dask.system import CPU_COUNT

    jobs, head = jobs or CPU_COUNT, list(islice(chunks, 2))
    chunks = chain(head, chunks)
    if not cluster and (jobs == 1 or len(head) < 2):
        metrics = job.load()
        yield from (score_chunk(job, chunk, metrics) for chunk in chunks)
        return
    try:
        yield from _on_dask(job, chunks, jobs, cluster)
    except TstmetaError:
        raise
    except Exception as error:
        who = f"the cluster at {conceal(cluster)}" if cluster else "the workers"
        words = excerpt(conceal(f"{type(error).__name__}: {error}"))
        raise TstmetaError(
            f"{who} gave up ({words}). Remedy: see that a scheduler and workers run and have "
            "memory enough (fewer --jobs), and that a script of yours calls this below "
            "`if __name__ == '__main__':`; the same command goes on"
        ) from error


def _work(job: Job, chunk: Chunk) -> Result:
    """Score a chunk on a worker, which loads a job's metrics once."""
    with _TURN:
        if job.key not in _LOADED:
            metrics = job.load()
            if job.key_of(metrics) != job.key:
                raise TstmetaError(
                    "a worker has other versions of tstmeta or of its libraries: signatures "
                    "differ. Remedy: install the same there"
                )
            _LOADED.clear()
            _LOADED[job.key] = metrics
        return score_chunk(job, chunk, _LOADED[job.key])


def _on_dask(job: Job, chunks: Iterator[Chunk], jobs: int, address: str) -> Iterator[Result]:
    """Results from the workers of a scheduler, or of ``jobs`` processes of this machine."""
    import dask
    from distributed import Client, LocalCluster, as_completed

    with dask.config.set(_CONFIG), ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)  # what matters comes back as an error
        if address:
            client = stack.enter_context(_client(address))
            client.wait_for_workers(1, timeout=_PATIENCE)
        else:
            thread = stack.enter_context(ThreadPoolExecutor(1))  # Ctrl-C waits for all to start
            start = thread.submit(LocalCluster, n_workers=jobs, **_LOCAL)
            stack.callback(lambda: start.exception() or start.result().close())
            client = stack.enter_context(Client(start.result()))
        futures = as_completed()
        while True:
            limit = 2 * max(1, sum(client.nthreads().values()))
            for chunk in islice(chunks, max(0, limit - futures.count())):
                futures.add(client.submit(_work, job, chunk, pure=False))
            if futures.is_empty():
                return
            yield next(futures).result()


def _client(address: str) -> Any:
    """A client of the scheduler at an address; TstmetaError where none answers in time."""
    from distributed import Client
    from distributed.comm import connect
    from distributed.security import Security

    async def greet() -> None:  # the client itself would wait for the scheduler's words for ever
        how = Security().get_connection_args("client")
        (await asyncio.wait_for(connect(address, **how), _ANSWER)).abort()

    scheme, _, place = address.rpartition("://")
    shown = excerpt(conceal(address if scheme else f"//{place}").removeprefix("//"))
    try:
        if not re.fullmatch(r"[^@?#\s]+", place):
            raise ValueError("an address is host:port, or tcp:// and these; it has no password")
        # not in this thread: in a notebook it has a loop already
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, greet()).result()
        return Client(address, timeout=_ANSWER)
    except Exception as error:  # what listens there may answer anything
        words = excerpt(f"{type(error).__name__}: {error}", 150).rstrip(": ")
        raise TstmetaError(
            f"no Dask scheduler answers at {shown} ({words}). Remedy: start one with dask "
            "scheduler, and name the address that it prints"
        ) from error
