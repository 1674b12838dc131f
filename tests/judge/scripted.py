"""A chat server on loopback that does what a script says, good or bad: real HTTP, none of our code.

    with serving(lambda asked: error(500) if asked.times == 1 else None) as server: ...

None is the default answer; ``server.requests`` and others say what it saw.  As a program
(``python scripted.py --latency 0.05``) it gives one plain answer and prints its URL.
"""

import argparse
import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
    fault: Literal["", "hang", "reset", "half", "drip", "drip head", "no length"] = ""


Script = Callable[[Asked], Act | None]


def says(
    text: str | None = '{"rating": 3}',
    *,
    finish: str = "stop",
    refusal: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    model: str = "tiny",
    latency: float = 0.0,
) -> Act:
    """A completion; ``usage``: tokens of prompt and answer, or None where the server is silent."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
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


HANG = Act(fault="hang")  # no answer, and the connection stays
RESET = Act(fault="reset")  # the connection is cut (RST) in place of an answer
#: The header promises a whole completion, and the connection ends in its middle.
HALF = Act(data=says().data, fault="half")
#: One byte each 20 ms, for ever: every single read is in time, the whole never is.
DRIP, DRIP_HEAD = Act(fault="drip"), Act(fault="drip head")


class Server(ThreadingHTTPServer):
    """What the server saw; see :func:`serving`."""

    daemon_threads, block_on_close, request_queue_size = True, False, 512

    def __init__(self, script: Script | None, any_path: bool):
        super().__init__(("127.0.0.1", 0), Connection)
        self.script, self.any_path = script or (lambda asked: None), any_path
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        #: Completion requests so far, how many are there now, and how many were at the same time.
        self.requests = self.now = self.most_at_once = 0
        #: Values of the Authorization header.
        self.keys: set[str] = set()
        #: How often each body came, by its hash, and the bodies (not kept by the program).
        self.counts: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] | None = []
        self.lock, self.ended = threading.Lock(), threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that left
            super().handle_error(request, client_address)


class Connection(BaseHTTPRequestHandler):
    """Answers request after request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        server, path = self.server, self.path
        headers = {name.lower(): value for name, value in self.headers.items()}
        data = self.rfile.read(int(headers.get("content-length", 0)))
        server.keys.add(headers.get("authorization", ""))
        if not (server.any_path or path.endswith("/chat/completions")):
            return self.act(error(404, "Not Found"))
        digest, body = hashlib.sha256(data).hexdigest(), json.loads(data or b"{}")
        with server.lock:
            server.requests += 1
            server.counts[digest] += 1
            server.now += 1
            server.most_at_once = max(server.most_at_once, server.now)
            asked = Asked(server.requests, server.counts[digest], path, headers, body)
            if server.bodies is not None:
                server.bodies.append(body)
        act = server.script(asked) or says()
        server.ended.wait(3600 if act.fault == "hang" else act.latency)
        with server.lock:  # before the answer, which may bring the next request
            server.now -= 1
        return self.act(act)

    do_GET = do_POST

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def act(self, act: Act) -> None:
        self.close_connection |= act.fault != ""
        if act.fault == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        if act.fault in ("reset", "hang"):
            return
        length = str(10**6 if act.fault == "drip" else len(act.data))
        headers = {"content-type": act.kind, "content-length": length, **act.headers}
        if act.fault == "no length":
            del headers["content-length"]
        lines = [f"HTTP/1.1 {act.status} Said", *map(": ".join, headers.items())]
        end = "\r\nx: " if act.fault == "drip head" else "\r\n\r\n"
        data = act.data[: len(act.data) // 2] if act.fault == "half" else act.data
        self.wfile.write(("\r\n".join(lines) + end).encode("latin-1") + data)
        while act.fault.startswith("drip"):
            self.wfile.write(b" ")
            time.sleep(0.02)


@contextmanager
def serving(script: Script | None = None, any_path: bool = False) -> Iterator[Server]:
    """The server in threads of its own, for as long as the block lasts.

    ``any_path``: the script sees requests to all paths, not chat completions alone.
    """
    with Server(script, any_path) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()


def alone(latency: float) -> None:
    """Serve until standard input ends; then print how many requests came, and at once."""
    plain = says(latency=latency)
    with serving(lambda asked: plain) as server:
        server.bodies = None
        print(server.url, flush=True)
        sys.stdin.read()
    repeated = server.requests - len(server.counts)
    print(json.dumps({"most_at_once": server.most_at_once, "repeated": repeated}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a chat server that gives one plain answer")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    alone(parser.parse_args().latency)
