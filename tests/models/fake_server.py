"""A completion server in a thread: real HTTP, real log-probabilities of a tiny model, and faults.

It speaks the interface from outside, with none of the client's code.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from transformers import PreTrainedTokenizerFast

from tests.models import tiny
from tstmeta.models.causal import Continuation
from tstmeta.models.engine import Engine

TEXTS = [
    "On Monday the ships came into the old harbour and we bought lemons.",
    "Please be so kind as to send me the 12 papers before Friday.",
    "gimme the stuff now, we watched and walked all day long!",
]

#: What a server answers instead: status (0: the connection breaks), headers, body.
Instead = tuple[int, dict[str, str], bytes]


def tiny_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """A byte-level BPE of some texts."""
    return tiny.bpe(texts * 4, ["<s>", "</s>"], 400, bos_token="<s>", eos_token="</s>")


def tiny_engine(tokenizer: PreTrainedTokenizerFast) -> Engine:
    """A random Llama that knows the tokenizer's vocabulary."""
    network = tiny.network("llama", vocab_size=len(tokenizer), max_position_embeddings=128)
    return Engine(network, tokenizer, "tiny")


@dataclass
class Fake:
    """The server's state.

    ``instead`` sees the number of a completion request (from 1) and its body; it returns an answer
    of its own or None.  ``edit`` may change a good answer before it is sent.
    """

    engine: Engine
    name: str = "tiny"
    window: int | None = 128
    models_page: bool = True
    key: str = ""
    instead: Callable[[int, dict], Instead | None] = lambda number, body: None
    edit: Callable[[dict], Any] = lambda answer: answer
    bodies: list[dict] = field(default_factory=list)
    seen_keys: set[str] = field(default_factory=set)
    url: str = ""

    @property
    def prompts(self) -> list[tuple[int, ...]]:
        """All prompts that it was sent, the client's trial among them."""
        return [tuple(ids) for body in self.bodies for ids in body["prompt"]]

    def models(self) -> Instead:
        if not self.models_page:
            return _json(404, {"detail": "Not Found"})
        return _json(200, {"data": [{"id": self.name, "max_model_len": self.window}]})

    def complete(self, body: dict) -> Instead:
        self.bodies.append(body)
        if answer := self.instead(len(self.bodies), body):
            return answer
        if body["model"] != self.name:
            return _json(404, {"error": {"message": f"no model {body['model']}"}})
        prompts = body["prompt"]
        if self.window and max(map(len, prompts)) + body["max_tokens"] > self.window:
            return _json(400, {"error": {"message": "maximum context length is too small"}})
        choices = [self.choice(i, ids) for i, ids in enumerate(prompts)]
        return _json(200, self.edit({"choices": choices[::-1]}))  # the order is the index's

    def choice(self, index: int, ids: list[int]) -> dict:
        [[(_, logs)]] = self.engine.logprobs([Continuation((ids[0],), tuple(ids[1:]))])
        rows = [
            {
                str((token + 1) % len(self.engine.tokenizer)): {"logprob": -0.5},
                str(token): {"logprob": float(log), "decoded_token": word},
            }
            for token, log, word in zip(
                ids[1:], logs, map(self.engine.tokenizer.decode, ids[1:]), strict=True
            )
        ]
        return {"index": index, "text": "!", "prompt_logprobs": [None, *rows]}


def _json(status: int, body: Any) -> Instead:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._send(self.server.fake.models())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.path == "/v1/completions"
        self._send(self.server.fake.complete(body) if known else _json(404, {}))

    def _send(self, answer: Instead):
        key = self.headers.get("Authorization", "")
        self.server.fake.seen_keys.add(key)
        if self.server.fake.key and key != f"Bearer {self.server.fake.key}":
            answer = _json(401, {"error": {"message": f"wrong key: {key}"}})
        status, headers, content = answer
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: Fake

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no fault of the server


@contextmanager
def serving(fake: Fake):
    """Serve ``fake`` on a free port; its ``url`` is set."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.fake = fake
        fake.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        try:
            yield fake
        finally:
            server.shutdown()
