"""A real server of chat models, ``transformers serve``, with a tiny model; and a gate before it.

    folder = tiny_chat(path / "tiny-chat")     a model and a tokenizer, built here
    with serving(folder) as url:               a process of its own, on loopback
        with Gate(url) as gate:                passes requests on, counts them, can be shut

The model is random: what it answers is rubbish, and no test may take it for a rating.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

#: What a prompt of ours takes, cut into the few tokens that a tiny tokenizer has.
WINDOW = 8192
#: Seconds until a server that imports torch on a busy machine must listen.
_PATIENCE = 180.0


def tiny_chat(folder: Path, seed: int = 0) -> Path:
    """A Llama of one layer that reads whole prompts, with a chat template, in a folder."""
    from tests.models import tiny

    network = tiny.network("llama", seed, max_position_embeddings=WINDOW, num_hidden_layers=1)
    network.save_pretrained(folder)
    tiny.tokenizer("llama").save_pretrained(folder)
    return folder


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server of one model, whose name is that of the folder."""
    port = _free_port()
    home = folder.parent / "hub-home"
    (home / "hub").mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    environment |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()"]
    command += ["serve", folder.name, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--device", "cpu"]
    with (folder.parent / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder.parent, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(process, port, folder.parent / "server.log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen, port: int, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        assert time.monotonic() < deadline, "the server does not listen"
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as line:
                line.request("GET", "/health")
                if line.getresponse().status == 200:
                    return
        except OSError:
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Gate:
    """Passes requests on to a server and counts them; a context manager.

    Attributes:
        asked: how often each body came, by its SHA-256.
        answered: how often each was passed on and its answer sent back.
        room: so many requests are passed on; the next ones wait, unanswered, until the gate is
            opened or ends.
    """

    def __init__(self, upstream: str, room: int | None = None):
        self.upstream = upstream.removeprefix("http://").partition("/")[0]
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.room = room
        self._state = threading.Condition()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                gate._pass(self)

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Gate:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def open(self) -> None:
        """Pass on all that comes; those that wait were given up, and are dropped."""
        with self._state:
            self.room = None
            self._state.notify_all()

    def wait_for(self, answers: int, timeout: float = 120.0) -> None:
        """Until so many answers were sent back."""
        with self._state:
            assert self._state.wait_for(lambda: self.answered.total() >= answers, timeout)

    def _pass(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        name = hashlib.sha256(body).hexdigest()
        with self._state:
            self.asked[name] += 1
            if self.room is not None and self.asked.total() > self.room:
                self._state.wait_for(lambda: self.room is None)
                request.close_connection = True
                return
        with closing(http.client.HTTPConnection(self.upstream, timeout=120)) as line:
            line.request("POST", request.path, body, {"Content-Type": "application/json"})
            answer = line.getresponse()
            said = answer.read()
        request.send_response(answer.status)
        request.send_header("Content-Type", answer.headers["Content-Type"])
        request.send_header("Content-Length", str(len(said)))
        request.end_headers()
        request.wfile.write(said)
        with self._state:
            self.answered[name] += 1
            self._state.notify_all()
