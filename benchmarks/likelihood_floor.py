"""The floor: how long a device must multiply for the distinct tokens, at its own measured rate.

Every distinct token goes through all layers once, and every state that foresees something goes
through the output layer once.  A matrix product costs two operations an entry of the weights and
token; attention itself, norms and whatever moves memory are left out.  Nothing that computes these
tokens with this model is faster, unless the device multiplies faster than was measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from likelihood_sides import MODELS, Setup

from tstmeta.models import forest
from tstmeta.models.causal import Continuation


class Work(NamedTuple):
    """What must be computed.

    Attributes:
        tokens: distinct tokens, those that several requests share counted once.
        states: of these, those that foresee a token.
        naive: tokens that one pass a request computes, equal requests too.
    """

    tokens: int
    states: int
    naive: int

    def operations(self, model: str) -> float:
        """Floating-point operations of the matrix products."""
        shape = MODELS[model]
        width, inner = shape["hidden_size"], shape["intermediate_size"]
        kept = width * shape["num_key_value_heads"] // shape["num_attention_heads"]
        # queries and what comes out; keys and values; gate, up and down
        layer = 2 * width * width + 2 * width * kept + 3 * width * inner
        body = shape["num_hidden_layers"] * layer * self.tokens
        return 2.0 * (body + width * shape["vocab_size"] * self.states)


def work(requests: Sequence[Continuation]) -> Work:
    """Counted on the set of prefixes, whatever an engine makes of them."""
    [row] = forest.plan(requests, row_tokens=10**9)
    states = {node for _, nodes in row.members for node in nodes}
    naive = sum(len(context) + len(tokens) - 1 for context, tokens in requests)
    return Work(row.size, len(states), naive)


def rate(setup: Setup, tries: int = 5) -> float:
    """Operations a second of the fastest product of states and a large matrix of the model."""
    import torch

    if setup.threads:
        torch.set_num_threads(setup.threads)
    shape = MODELS[setup.model]
    inner, vocabulary = shape["intermediate_size"], shape["vocab_size"]
    sizes = ((512, inner), (2048, inner), (512, vocabulary))
    return max(_rate(setup, *size) for size in sizes for _ in range(tries))


def _rate(setup: Setup, rows: int, outputs: int) -> float:
    """The same of one product, done as often as it takes to time it."""
    import torch

    width = MODELS[setup.model]["hidden_size"]
    kind: dict[str, Any] = {"device": setup.device, "dtype": getattr(torch, setup.dtype)}
    states = torch.randn(rows, width, **kind)
    weight = torch.randn(outputs, width, **kind)
    operations, done = 2.0 * rows * weight.numel(), 0
    _finish(states @ weight.T)  # what is loaded at first use does not count
    start = time.perf_counter()
    while (taken := time.perf_counter() - start) < 0.05:
        for _ in range(1 if setup.device == "cpu" else 20):
            logits = states @ weight.T
            done += 1
        _finish(logits)
    return operations * done / taken


def _finish(logits: Any) -> None:
    """Wait until a device has computed it."""
    if logits.device.type != "cpu":
        import torch

        torch.cuda.synchronize()
