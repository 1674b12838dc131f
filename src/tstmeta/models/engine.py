"""The engine: log-probabilities of given tokens under a causal model of transformers.

It computes the trees of :mod:`~tstmeta.models.forest`, and the output layer only where a token is
to be foreseen, in float32: there is never a tensor [batch, time, vocabulary].
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from ..schema import TstmetaError
from . import forest
from .causal import (
    Answer,
    Answers,
    Continuation,
    Requests,
    check_requests,
    described,
    progress_bar,
    window_of,
)
from .forest import Row

#: Elements of the largest tensor of logits: 8 MB of float32, about what a processor's cache holds.
_LOGITS = 2**21
#: Tokens of the vocabulary in one slice of the output layer.
_SLICE = 2**12
#: What a model raises whose arguments are others than those of most.
_FAULTS = (TypeError, ValueError, AttributeError, IndexError, KeyError, RuntimeError)
_OTHER_HEAD = "this model's logits are scaled or capped, not linear in its states, or no numbers"


class Engine:
    """A loaded model that answers :class:`~tstmeta.models.causal.Continuation` requests.

    Args:
        model: a causal language model of transformers, already on its device.
        identity: what the model is, in which revision; dtype, attention and head are added.
        rounded: logits are rounded to bfloat16, as a model that runs in bfloat16 gives them.
        reuse: share prefixes; turned off for models that trees do not suit (sliding windows).
        budget: tokens of a batch.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        identity: str,
        *,
        rounded: bool = False,
        reuse: bool = True,
        budget: int | None = None,
    ):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.body = model.base_model
        head = model.get_output_embeddings()
        self.weight, self.bias = head.weight, getattr(head, "bias", None)
        self.rounded, self.reuse = rounded, reuse
        self.device = self.weight.device
        self.budget = budget or (512 if self.device.type == "cpu" else 16384)
        self.window = window_of(model.config.get_text_config(decoder=True))
        self.vocabulary = int(self.weight.shape[0])
        dtype = str(model.dtype).removeprefix("torch.")
        self.identity = described(identity, dtype, rounded)
        self.computed = 0  # tokens, padding included
        self._check()

    def logprobs(
        self, requests: Requests, *, known: Collection[int] = (), progress: bool = False
    ) -> Answers:
        check_requests(requests, self.window)
        most = max((max(context + tokens) for context, tokens in requests), default=0)
        if most >= self.vocabulary:
            raise TstmetaError(
                f"token {most} is none of the model's {self.vocabulary}: do the tokenizer and the "
                "weights belong together?"
            )
        known = frozenset(known)
        places: dict[Continuation, list[int]] = {request: [] for request in requests}
        for place, request in enumerate(requests):
            if place not in known:
                places[request].append(place)
        distinct, wanted = list(places), list(places.values())
        rows = forest.plan(distinct, reuse=self.reuse)
        sizes = [row.size for row in rows]
        # batches do not depend on what is known; one in which all is known is left out
        batches = ([rows[at] for at in batch] for batch in forest.batches(sizes, self.budget))
        todo = [b for b in batches if any(wanted[rank] for row in b for rank, _ in row.members)]
        bar = progress_bar(sum(row.size for batch in todo for row in batch), progress)
        with bar, torch.inference_mode():
            for batch in todo:
                try:
                    answers = self._scored(batch, distinct)
                except torch.OutOfMemoryError as error:
                    tokens = sum(row.size for row in batch)
                    raise TstmetaError(
                        f"memory does not suffice for {tokens} tokens at a time. Remedy: a smaller "
                        f"model, or in Python tstmeta.likelihood.load(model, budget={tokens // 2})"
                    ) from error
                yield [(place, values) for rank, values in answers for place in wanted[rank]]
                bar.update(sum(row.size for row in batch))

    def _scored(self, batch: list[Row], requests: list[Continuation]) -> list[Answer]:
        states = self._states(batch)  # [rows, longest row, width]
        longest = states.shape[1]
        at: list[int] = []  # places of the states that foresee a token
        tokens: list[int] = []
        lengths = {}
        for b, row in enumerate(batch):
            for rank, nodes in row.members:
                at += [node + b * longest for node in nodes]
                tokens += requests[rank].tokens
                lengths[rank] = len(nodes)
        values = self._head(states.flatten(0, 1), np.array(at), np.array(tokens))
        starts = np.cumsum([*lengths.values()])[:-1]  # of all but the first
        return list(zip(lengths, np.split(values, starts), strict=True))

    def _states(self, batch: list[Row]) -> torch.Tensor:
        """Hidden states [rows, longest row, width]; padding stands at the right."""
        longest = max(row.size for row in batch)
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        depths, mask = np.zeros_like(ids), np.zeros_like(ids)
        for b, row in enumerate(batch):
            filled = slice(row.size)
            ids[b, filled], depths[b, filled], mask[b, filled] = row.tokens, row.depths, 1
        # without trees each row is one request, and the model's own mask is the right one
        if self.reuse:
            # padding sees itself, for a softmax over nothing is no number
            mask = np.tile(np.eye(longest, dtype=bool), (len(batch), 1, 1, 1))
            for b, row in enumerate(batch):
                mask[b, 0, : row.size, : row.size] = row.sees()
        self.computed += ids.size
        return self.body(
            input_ids=torch.from_numpy(ids).to(self.device),
            position_ids=torch.from_numpy(depths).to(self.device),
            attention_mask=torch.from_numpy(mask).to(self.device),
            use_cache=False,
        ).last_hidden_state

    def _head(self, states: torch.Tensor, at: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Log-probability of each token after the state at its place, float32 [tokens]."""
        # a state that foresees several tokens goes through the output layer once
        nodes, owner = np.unique(at, return_inverse=True)
        order = np.argsort(owner, kind="stable")
        values = np.empty(len(tokens), dtype=np.float32)
        step = max(1, _LOGITS // min(_SLICE, self.vocabulary))
        for a in range(0, len(nodes), step):
            bounds = np.searchsorted(owner[order], [a, a + step])
            mine = order[bounds[0] : bounds[1]]
            chunk = self._chunk(
                states[torch.from_numpy(nodes[a : a + step]).to(self.device)],
                torch.from_numpy(owner[mine] - a).to(self.device),
                torch.from_numpy(tokens[mine]).to(self.device),
            )
            values[mine] = chunk.cpu().numpy()
        return values

    def _chunk(
        self, states: torch.Tensor, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """log softmax at ``tokens`` [n] of states [m, width], a slice of the vocabulary a time."""
        total = torch.full((len(states),), -torch.inf, device=self.device)
        picked = torch.zeros(len(tokens), device=self.device)
        for a in range(0, self.vocabulary, _SLICE):
            logits = self._logits(states, slice(a, a + _SLICE))
            total = torch.logaddexp(total, logits.logsumexp(-1))
            inside = (tokens >= a) & (tokens < a + _SLICE)
            picked[inside] = logits[owner[inside], tokens[inside] - a]
        return picked - total[owner]

    def _logits(self, states: torch.Tensor, part: slice) -> torch.Tensor:
        weight, bias = self.weight[part], None if self.bias is None else self.bias[part]
        if self.rounded:
            return F.linear(states, weight, bias).to(torch.bfloat16).float()
        return F.linear(states.float(), weight.float(), None if bias is None else bias.float())

    def _check(self) -> None:
        """Hold a few tokens against the model's own logits; trees that are wrong are turned off.

        A model with another kind of output layer would give wrong numbers in silence.
        """
        config = self.model.config.get_text_config(decoder=True)
        layers = getattr(config, "layer_types", None)
        windowed = getattr(config, "sliding_window", None) if layers is None else None
        trees = self.reuse and not windowed and set(layers or ()) <= {"full_attention"}
        near = 1e-3 if self.model.dtype in (torch.float32, torch.float64) else 0.5
        # eight contexts with a common head, and the head itself as a context
        draw = np.random.default_rng(0).integers(0, self.vocabulary, (9, 6))
        shared, *tails = (tuple(int(token) for token in line) for line in draw)
        trial = [Continuation((*shared, tail[0]), tail[1:]) for tail in tails]
        trial += [Continuation(shared, tail) for tail in tails[:3]]
        # without rounding, which moves a large logit by more than any tolerance worth having
        rounded, self.rounded, fault = self.rounded, False, _OTHER_HEAD
        for self.reuse in (True, False) if trees else (False,):
            try:
                model_answers = np.concatenate([self._model_answer(request) for request in trial])
                batches = self.logprobs(trial)
                answers = {place: values for batch in batches for place, values in batch}
                ours = np.concatenate([answers[place] for place in range(len(trial))])
                if np.abs(ours - model_answers).max() <= near:  # not NaN
                    break
            except _FAULTS as error:  # it takes no mask of ours
                why = f"{type(error).__name__}: {error}"
                fault = f"this model does not take token ids with positions and a mask ({why})"
        else:
            raise TstmetaError(fault)
        if getattr(config, "final_logit_softcapping", None):
            # by name too: at bfloat16's precision a cap moves the logits of a trial too little
            raise TstmetaError(_OTHER_HEAD)
        self.rounded, self.computed = rounded, 0

    @torch.inference_mode()
    def _model_answer(self, request: Continuation) -> np.ndarray:
        ids = torch.tensor([[*request.context, *request.tokens]], device=self.device)
        table = self.model(ids, use_cache=False).logits[0].float().log_softmax(-1)
        tokens = ids[0, len(request.context) :, None]
        return table[len(request.context) - 1 : -1].gather(1, tokens)[:, 0].cpu().numpy()
