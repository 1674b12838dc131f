"""A chat server on loopback that does what a script says, good or bad: real HTTP, none of our code.

    with serving() as server:                               # every answer is {"rating": 3}
        chat = Served(server.url, "tiny")

    def script(asked):                                      # one call a request
        if asked.times == 1:                                # the first time that this body comes
            return error(429, "slow down", retry_after="1")
        return says("4", latency=0.05)                      # None: the default answer

    with serving(script) as server: ...
    server.requests, server.most_at_once    # what it saw


As a program (``python scripted.py --latency 0.05``) it gives one plain answer and prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it; ``times``: how often this body came so far."""

    number: int
    times: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """Words of the last message."""
        return self.body["messages"][-1]["content"]


@dataclass(frozen=True)
class Act:
    """What the server does for one request."""

    status: int = 200
    data: bytes = b""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    latency: float = 0.0
    fault: Literal["", "hang", "reset", "half", "drip", "drip head"] = ""


Script = Callable[[Asked], Act | None]


def says(
    text: str | None = '{"rating": 3}',
    *,
    finish: str = "stop",
    refusal: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    logprobs: list[dict[str, Any]] | None = None,
    model: str = "tiny",
    latency: float = 0.0,
) -> Act:
    """A completion; ``usage``: tokens of prompt and answer, or None where the server is silent."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    completion: dict[str, Any] = {"object": "chat.completion", "model": model, "choices": [choice]}
    if usage is not None:
        completion["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return replace(raw(completion), latency=latency)


def error(status: int, message: str = "no", *, fields: Any = None, **headers: str) -> Act:
    """A status with a message; ``fields`` join it (``param``, ``code``), headers with ``_``."""
    data = json.dumps({"error": {"message": message, **(fields or {})}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Act(status, data, headers=named)


def raw(data: bytes | str | dict[str, Any] | list[Any], *, status: int = 200) -> Act:
    """Any bytes as a body; text as UTF-8, objects as JSON."""
    if isinstance(data, dict | list):
        data = json.dumps(data)
    return Act(status, data.encode() if isinstance(data, str) else data)


PAGE = Act(200, b"<!doctype html><h1>Welcome</h1>", "text/html")
HANG = Act(fault="hang")  # no answer, and the connection stays
RESET = Act(fault="reset")  # the connection is cut (RST) in place of an answer
#: The header promises a whole completion, and the connection ends in its middle.
HALF = Act(data=says().data, fault="half")
#: One byte each 20 ms, for ever: every single read is in time, the whole never is.
DRIP, DRIP_HEAD = Act(fault="drip"), Act(fault="drip head")


class Server:
    """What the server saw; see :func:`serving`."""

    def __init__(self, script: Script | None = None, any_path: bool = False):
        self._script, self._any_path = script or (lambda asked: None), any_path
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""
        #: Completion requests so far, how many are there now, and how many were at the same time.
        self.requests = self.now = self.most_at_once = 0
        #: Values of the Authorization header.
        self.keys: set[str] = set()
        #: How often each body came, by its hash, and the bodies (not kept by the program).
        self.counts: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] | None = []

    async def start(self) -> asyncio.Server:
        """Listen on a free port."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    async def end(self) -> None:
        """Cut what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)  # type: ignore[arg-type]
        try:
            while await self._request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)  # type: ignore[arg-type]
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and what the script makes of it; whether the connection goes on."""
        first, *lines = (
            (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        )
        parts = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in parts}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        self.keys.add(headers.get("authorization", ""))
        _, path, _ = first.split(" ")
        if not (self._any_path or path.endswith("/chat/completions")):
            return await self._act(error(404, "Not Found"), writer)
        digest = hashlib.sha256(data).hexdigest()
        self.requests += 1
        self.counts[digest] += 1
        body = json.loads(data or b"{}")
        if self.bodies is not None:
            self.bodies.append(body)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            asked = Asked(self.requests, self.counts[digest], path, headers, body)
            return await self._act(self._script(asked) or says(), writer)
        finally:
            self.now -= 1

    async def _act(self, act: Act, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(3600 if act.fault == "hang" else act.latency)
        if act.fault == "reset":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        length = 10**6 if act.fault == "drip" else len(act.data)
        lines = [f"HTTP/1.1 {act.status} Said", f"content-type: {act.kind}"]
        lines += [f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in act.headers.items()]
        end = "\r\nx: " if act.fault == "drip head" else "\r\n\r\n"
        writer.write(("\r\n".join(lines) + end).encode("latin-1"))
        while act.fault.startswith("drip"):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)
        writer.write(act.data[: len(act.data) // 2] if act.fault == "half" else act.data)
        await writer.drain()
        return act.fault != "half"


@contextmanager
def serving(script: Script | None = None, any_path: bool = False) -> Iterator[Server]:
    """The server in a thread of its own, for as long as the block lasts.

    ``any_path``: the script sees requests to all paths, not chat completions alone.
    """
    server = Server(script, any_path)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scripted", daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(listening.close)
        asyncio.run_coroutine_threadsafe(server.end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def alone(latency: float) -> None:
    """Serve until standard input ends; then print how many requests came, and at once."""
    plain = says(latency=latency)
    server = Server(lambda asked: plain)
    server.bodies = None
    listening = await server.start()
    print(server.url, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    listening.close()
    await server.end()
    repeated = server.requests - len(server.counts)
    print(json.dumps({"most_at_once": server.most_at_once, "repeated": repeated}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a chat server that gives one plain answer")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    asyncio.run(alone(parser.parse_args().latency))
