"""A completion server in a thread: real HTTP, real log-probabilities of a tiny model, and faults.

It speaks the interface from outside, with none of the client's code.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.judge import scripted
from tests.judge.scripted import Act, Asked, error, raw
from tests.likelihood import small
from tstmeta.models.causal import Continuation
from tstmeta.models.engine import Engine


@dataclass
class Fake:
    """The server's state.

    ``instead`` sees the number of a completion request (from 1) and its body; it returns another
    answer or None.  ``edit`` may change the choices of a good answer before they are sent.
    """

    engine: Engine = field(default_factory=small.engine)
    name: str = "tiny"
    window: int | str | None = 128  # what it says; a number above 0 is kept to
    models_page: bool = True
    key: str = ""
    instead: Callable[[int, dict], Act | None] = lambda number, body: None
    edit: Callable[[list[dict]], Any] = lambda choices: None
    bodies: list[dict] = field(default_factory=list)
    seen_keys: set[str] = field(default_factory=set)
    url: str = ""

    def script(self, asked: Asked) -> Act:
        key = asked.headers.get("authorization", "")
        if self.key and key != f"Bearer {self.key}":
            return error(401, f"wrong key: {key}")
        if asked.path == "/v1/models":
            return self.models()
        return self.complete(asked.body) if asked.path == "/v1/completions" else raw({}, status=404)

    def models(self) -> Act:
        if not self.models_page:
            return raw({"detail": "Not Found"}, status=404)
        return raw({"data": [{"id": self.name, "max_model_len": self.window}]})

    def complete(self, body: dict) -> Act:
        self.bodies.append(body)
        if answer := self.instead(len(self.bodies), body):
            return answer
        if body["model"] != self.name:
            return error(404, f"no model {body['model']}")
        prompts = body["prompt"]
        limit = self.window if isinstance(self.window, int) and self.window > 0 else 2**20
        if max(map(len, prompts)) + body["max_tokens"] > limit:
            return error(400, "maximum context length is too small")
        choices = [self.choice(i, ids) for i, ids in enumerate(prompts)][::-1]
        self.edit(choices)
        return raw({"choices": choices})  # the order is the index's

    def choice(self, index: int, ids: list[int]) -> dict:
        [[(_, logs)]] = self.engine.logprobs([Continuation((ids[0],), tuple(ids[1:]))])
        words = map(self.engine.tokenizer.decode, ids[1:])
        rows = [
            {
                str((token + 1) % len(self.engine.tokenizer)): {"logprob": -0.5},
                str(token): {"logprob": float(log), "decoded_token": word},
            }
            for token, log, word in zip(ids[1:], logs, words, strict=True)
        ]
        return {"index": index, "text": "!", "prompt_logprobs": [None, *rows]}


@contextmanager
def serving(fake: Fake):
    """Serve ``fake`` on a free port; its ``url`` and ``seen_keys`` are set."""
    with scripted.serving(fake.script, any_path=True) as server:
        fake.url, fake.seen_keys = server.url, server.keys
        yield fake
