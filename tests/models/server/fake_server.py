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

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tstmeta.models.causal import Continuation
from tstmeta.models.engine import Engine

TEXTS = [
    "On Monday the ships came into the old harbour and we bought lemons.",
    "Please be so kind as to send me the 12 papers before Friday.",
    "gimme the stuff now, we watched and walked all day long!",
]

#: What a server answers instead: status, headers, body.
Instead = tuple[int, dict[str, str], bytes]


def tiny_tokenizer(texts: list[str], size: int = 400) -> PreTrainedTokenizerFast:
    """A byte-level BPE of some texts, with a chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts * 4, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


def tiny_engine(tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> Engine:
    """A random Llama of two layers that knows the tokenizer's vocabulary."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=128,
        pad_token_id=None,
    )
    return Engine(LlamaForCausalLM(config), tokenizer, "tiny")


@dataclass
class Fake:
    """The server's state.

    ``instead`` sees the number of a completion request (from 1) and what was asked; it returns an
    answer of its own or None.  ``edit`` may change a good answer before it is sent.
    """

    engine: Engine
    name: str = "tiny"
    window: int | None = 128
    ways: tuple[str, ...] = ("prompt_logprobs", "echo")
    strict: bool = False
    models_page: bool = True
    key: str = ""
    instead: Callable[[int, dict], Instead | None] = lambda number, asked: None
    edit: Callable[[dict], Any] = lambda answer: answer
    asked: list[dict] = field(default_factory=list)
    seen_keys: set[str] = field(default_factory=set)
    url: str = ""
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _engine_lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[tuple[int, ...]]:
        """All prompts that it was sent, the client's trial among them."""
        return [tuple(one) for asked in self.asked for one in _lists(asked["prompt"])]

    def cards(self) -> dict:
        card: dict[str, Any] = {"id": self.name, "object": "model"}
        if self.window:
            card["max_model_len"] = self.window
        return {"object": "list", "data": [card]}

    def complete(self, asked: dict) -> Instead:
        with self._lock:
            self.asked.append(asked)
            number = len(self.asked)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            if answer := self.instead(number, asked):
                return answer
            if asked["model"] != self.name:
                return _json(404, {"error": {"message": f"no model {asked['model']}"}})
            if self.strict and "prompt_logprobs" in asked:
                return _json(400, {"error": {"message": "unknown field prompt_logprobs"}})
            if self.window and any(
                len(one) + asked["max_tokens"] > self.window for one in _lists(asked["prompt"])
            ):
                return _json(400, {"error": {"message": "maximum context length is too small"}})
            return _json(200, self.edit(self.answer(asked)))
        finally:
            with self._lock:
                self._now -= 1

    def answer(self, asked: dict) -> dict:
        prompts = _lists(asked["prompt"])
        choices = [self.choice(i, ids, asked) for i, ids in enumerate(prompts)]
        choices.reverse()  # the order is the index's business
        return {"choices": choices, "usage": {"prompt_tokens": sum(map(len, prompts))}}

    def choice(self, index: int, ids: list[int], asked: dict) -> dict:
        with self._engine_lock:
            [[(_, found)]] = self.engine.logprobs([Continuation((ids[0],), tuple(ids[1:]))])
        values = [None, *map(float, found)]
        words = [self.engine.tokenizer.decode([one]) for one in ids]
        choice: dict[str, Any] = {"index": index, "text": "!", "finish_reason": "length"}
        if "prompt_logprobs" in asked and "prompt_logprobs" in self.ways:
            choice["prompt_logprobs"] = [
                None
                if value is None
                else {
                    str((one + 1) % len(self.engine.tokenizer)): {"logprob": -0.5, "rank": 1},
                    str(one): {"logprob": value, "rank": 2, "decoded_token": word},
                }
                for one, value, word in zip(ids, values, words, strict=True)
            ]
        if asked.get("echo") and "echo" in self.ways:
            choice["logprobs"] = {"token_logprobs": [*values, -1.25], "tokens": [*words, "!"]}
        elif "logprobs" in asked:
            choice["logprobs"] = {"token_logprobs": [-1.25], "tokens": ["!"]}
        return choice


def _lists(prompt: list) -> list[list[int]]:
    return prompt if isinstance(prompt[0], list) else [prompt]


def _json(status: int, body: Any) -> Instead:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if not self._may():
                return
            if self.path == "/v1/models" and fake.models_page:
                self._send(_json(200, fake.cards()))
            else:
                self._send(_json(404, {"detail": "Not Found"}))

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self._may():
                return
            if self.path == "/v1/completions":
                self._send(fake.complete(asked))
            else:
                self._send(_json(404, {"detail": "Not Found"}))

        def _may(self) -> bool:
            given = self.headers.get("Authorization", "")
            fake.seen_keys.add(given)
            if fake.key and given != f"Bearer {fake.key}":
                self._send(_json(401, {"error": {"message": f"wrong key: {given}"}}))
                return False
            return True

        def _send(self, answer: Instead):
            status, headers, body = answer
            if status == 0:  # the connection breaks
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no fault of the server


@contextmanager
def serving(fake: Fake):
    """Serve ``fake`` on a free port; its ``url`` is set."""
    server = _Server(("127.0.0.1", 0), _handler(fake))
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
