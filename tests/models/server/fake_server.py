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

#: What a server answers instead: status, headers, body.  Status 0: the connection breaks.
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
    knows_prompts: bool = True
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
        card: dict[str, Any] = {"id": self.name, "object": "model"}
        if self.window:
            card["max_model_len"] = self.window
        return _json(200, {"data": [card]})

    def complete(self, body: dict) -> Instead:
        self.bodies.append(body)
        if answer := self.instead(len(self.bodies), body):
            return answer
        if body["model"] != self.name:
            return _json(404, {"error": {"message": f"no model {body['model']}"}})
        prompts = body["prompt"]
        if self.window and max(map(len, prompts)) + body["max_tokens"] > self.window:
            return _json(400, {"error": {"message": "maximum context length is too small"}})
        choices = [self.choice(i, ids, body) for i, ids in enumerate(prompts)]
        choices.reverse()  # the order is the index's business
        return _json(200, self.edit({"choices": choices}))

    def choice(self, index: int, ids: list[int], body: dict) -> dict:
        [[(_, logs)]] = self.engine.logprobs([Continuation((ids[0],), tuple(ids[1:]))])
        values = [None, *map(float, logs)]
        words = [self.engine.tokenizer.decode([token]) for token in ids]
        choice: dict[str, Any] = {"index": index, "text": "!", "finish_reason": "length"}
        if body.get("prompt_logprobs") and self.knows_prompts:
            rows = [
                {
                    str((token + 1) % len(self.engine.tokenizer)): {"logprob": -0.5, "rank": 1},
                    str(token): {"logprob": value, "rank": 2, "decoded_token": word},
                }
                for token, value, word in zip(ids, values, words, strict=True)
            ]
            choice["prompt_logprobs"] = [None, *rows[1:]]
        return choice


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
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
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
    server = _Server(("127.0.0.1", 0), _Handler)
    server.fake = fake
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
