"""Whether the engine may be trusted with a model: a few tokens in three ways, when it is loaded.

The engine takes hidden states and computes the output layer itself, and it lays requests out as
trees.  A model with another kind of output layer, or whose layers do not see the whole text, would
give wrong numbers in silence.  The check costs milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..schema import TstmetaError
from .causal import Continuation

if TYPE_CHECKING:
    from .engine import Engine

#: Contexts of the trial: enough that what they share is a trunk (see :func:`forest.plan`).
_CONTEXTS = 8
#: What a model raises whose arguments are others than those of most.
_FAULTS = (TypeError, ValueError, AttributeError, IndexError, KeyError, RuntimeError)
_OTHER_HEAD = (
    "this model computes its logits in a way that is not supported (scaled or capped, or an output "
    "layer that is not linear), or they are no numbers"
)


def check(engine: Engine) -> None:
    """Hold an engine against its model's own logits; turns ``reuse`` off where trees are wrong.

    Raises:
        TstmetaError: a model that the engine cannot compute, trees or not.
    """
    config = engine.model.config.get_text_config(decoder=True)
    if getattr(config, "final_logit_softcapping", None):
        # by name too: at bfloat16's precision a cap moves the logits of a trial too little
        raise TstmetaError(_OTHER_HEAD)
    trees = engine.reuse and not _windowed(config)
    if engine.reuse and not trees:
        engine.notes.append("prefixes are not shared: some layers do not see the whole text")
    requests = _trial(engine.vocabulary)
    near = 1e-3 if engine.model.dtype in (torch.float32, torch.float64) else 0.5
    # without rounding, which moves a large logit by more than any tolerance worth having
    rounded, engine.reuse, engine.rounded = engine.rounded, False, False
    try:
        plain = _answers(engine, requests)
    except _FAULTS as error:
        raise TstmetaError(
            "this model does not take token ids with positions and a mask, as the engine gives "
            f"them ({type(error).__name__}: {error})"
        ) from error
    if not _distance(plain, [_model_answer(engine, request) for request in requests]) <= near:
        raise TstmetaError(_OTHER_HEAD)
    if trees:
        engine.reuse = True
        try:
            engine.reuse = bool(_distance(plain, _answers(engine, requests)) <= near)
        except _FAULTS:  # it takes no mask of ours, or no cache
            engine.reuse = False
        if not engine.reuse:
            engine.notes.append(
                "prefixes are not shared: this model's positions do not allow trees"
            )
    engine.rounded, engine.computed, engine.naive = rounded, 0, 0


def _windowed(config: Any) -> bool:
    kinds = getattr(config, "layer_types", None)
    if kinds is not None:
        return any(kind != "full_attention" for kind in kinds)
    return bool(getattr(config, "sliding_window", None))


def _trial(vocabulary: int) -> list[Continuation]:
    """Contexts with a common head, and the head itself as a context of several."""
    draw = np.random.default_rng(0).integers(0, vocabulary, (1 + _CONTEXTS, 6))
    shared, *tails = (tuple(int(token) for token in line) for line in draw)
    requests = [Continuation((*shared, tail[0]), tail[1:]) for tail in tails]
    return requests + [Continuation(shared, tail) for tail in tails[:3]]


def _model_answer(engine: Engine, request: Continuation) -> np.ndarray:
    """The model's own log-probabilities, from the logits that it gives itself."""
    with torch.inference_mode():
        ids = torch.tensor([[*request.context, *request.tokens]], device=engine.device)
        table = engine.model(ids, use_cache=False).logits[0].float().log_softmax(-1)
        tokens = ids[0, len(request.context) :, None]
        return table[len(request.context) - 1 : -1].gather(1, tokens)[:, 0].cpu().numpy()


def _answers(engine: Engine, requests: list[Continuation]) -> list[np.ndarray]:
    answers = {place: values for batch in engine.logprobs(requests) for place, values in batch}
    return [answers[place] for place in range(len(requests))]


def _distance(left: list[np.ndarray], right: list[np.ndarray]) -> float:
    """The largest difference; NaN where a value is no number."""
    return float(np.abs(np.concatenate(left) - np.concatenate(right)).max())
