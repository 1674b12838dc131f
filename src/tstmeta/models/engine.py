"""The engine: log-probabilities of given tokens under a causal model of transformers.

It computes the trees that :mod:`~tstmeta.models.forest` lays out.  Rows of a batch share the
trunk's keys and values; hidden states are gathered where a token is to be foreseen, and only there
the output layer is computed, in chunks of positions and slices of the vocabulary, in float32.  So
there is never a tensor [batch, time, vocabulary].
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

from ..schema import TstmetaError
from . import forest, selfcheck
from .causal import Answer, Continuation, check_requests, described, empty_answers, progress_bar
from .forest import Branches, Trie
from .loading import window_of

#: Elements of the largest tensor of logits: 8 MB of float32, about what a processor's cache holds
#: (on two cores a third less time than with 64 MB).
_LOGITS = 2**21
#: Tokens of the vocabulary in one slice of the output layer: 512 states a time, for a product of
#: matrices that are both small is slow.
_SLICE = 2**12


class _TrunkLayer(DynamicLayer):
    """The trunk's keys and values [1, heads, nodes, width], put before those of each row."""

    def __init__(self, layer: Any):
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self.keys, self.values = self.trunk = layer.keys, layer.values

    def update(self, key_states, value_states, *args, **kwargs):
        keys, values = (part.expand(len(key_states), -1, -1, -1) for part in self.trunk)
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)


class _Trunk(NamedTuple):
    """A computed trunk: its hidden states [nodes, width], cache, and what its nodes see."""

    hidden: torch.Tensor
    cache: Cache | None
    sees: np.ndarray


class Engine:
    """A loaded model that answers :class:`~tstmeta.models.causal.Continuation` requests.

    Args:
        model: a causal language model of transformers, already on its device.
        tokenizer: its tokenizer.
        identity: what the model is, in which revision; dtype, attention and head are added.
        rounded: logits are rounded to bfloat16, as a model that runs in bfloat16 gives them.
        reuse: share prefixes; off = one full pass a request.  Turned off, and said so in
            ``notes``, for models that trees do not suit (sliding windows, ALiBi).
        budget: tokens of a batch; halved when memory runs out.
        row_tokens: see :func:`~tstmeta.models.forest.plan`.

    Attributes:
        notes: what the user should know, for instance that prefixes are not shared.
        computed, naive: tokens computed so far, padding included, and tokens that one pass a
            request would compute.

    Raises:
        TstmetaError: a model that cannot be computed here, see :mod:`~tstmeta.models.selfcheck`.
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
        row_tokens: int = 128,
    ):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.body = model.base_model
        head = model.get_output_embeddings()
        self.weight, self.bias = head.weight, getattr(head, "bias", None)
        self.rounded, self.reuse, self.row_tokens = rounded, reuse, row_tokens
        self.device = self.weight.device
        self.budget = budget or (512 if self.device.type == "cpu" else 16384)
        config = model.config.get_text_config(decoder=True)
        self.attention = config._attn_implementation or "eager"
        self.window = window_of(config)
        self.vocabulary = int(self.weight.shape[0])
        dtype = str(model.dtype).removeprefix("torch.")
        self.identity = described(identity, dtype, self.attention, rounded)
        self.notes: list[str] = []
        self.computed = self.naive = 0
        selfcheck.check(self)

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`.

        Raises:
            TstmetaError: a token beyond the vocabulary, or too little memory for a row.
        """
        check_requests(requests, self.window)
        self._check_tokens(requests)
        known = frozenset(known)
        if empty := empty_answers(requests, known):
            yield empty
        places: dict[Continuation, list[int]] = {}
        for place, request in enumerate(requests):
            if request.tokens:
                places.setdefault(request, []).append(place)
        distinct = list(places)
        wanted = [[place for place in places[request] if place not in known] for request in places]
        plan = forest.plan(distinct, reuse=self.reuse, row_tokens=self.row_tokens)
        self.naive += plan.naive
        # batches do not depend on what is known; one in which all is known is left out
        todo = [
            batch
            for batch in forest.batches(plan.rows, self.budget)
            if any(wanted[rank] for row in batch for rank, _ in row.members)
        ]
        if not todo:
            return
        bar = progress_bar(sum(row.size for batch in todo for row in batch), progress)
        with bar, torch.inference_mode():
            trunk = self._computed_trunk(plan.trunk)
            # batched again: the same batch, or parts of it once the budget fell
            for part in (part for batch in todo for part in forest.batches(batch, self.budget)):
                for answers in self._answers(trunk, part, distinct):
                    yield [(place, values) for rank, values in answers for place in wanted[rank]]
                bar.update(sum(row.size for row in part))

    def _check_tokens(self, requests: Sequence[Continuation]) -> None:
        tokens = {token for request in requests for ids in request for token in ids}
        if strange := [token for token in tokens if not 0 <= token < self.vocabulary]:
            raise TstmetaError(
                f"token {strange[0]} is none of the model's {self.vocabulary}: do the tokenizer "
                "and the weights belong together?"
            )

    def _answers(
        self, trunk: _Trunk, batch: list[Branches], requests: list[Continuation]
    ) -> Iterator[list[Answer]]:
        """A batch's answers; without enough memory, those of its halves."""
        try:
            answers = self._scored(trunk, batch, requests)
        except (MemoryError, RuntimeError) as error:
            if not _is_memory(error):
                raise
            answers = None
        # not above: as long as the error lives it holds the tensors of the failed pass
        if answers is not None:
            yield answers
            return
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        longest, half = max(row.size for row in batch), len(batch) // 2
        if not half:
            raise TstmetaError(
                f"memory does not suffice for {longest} tokens; use a smaller model or another "
                "device"
            )
        self.budget = max(1, min(self.budget, len(batch) * longest // 2))
        for part in (batch[:half], batch[half:]):
            yield from self._answers(trunk, part, requests)

    def _scored(
        self, trunk: _Trunk, batch: list[Branches], requests: list[Continuation]
    ) -> list[Answer]:
        hidden = self._row_states(trunk, batch)
        width, offset = hidden.shape[1], len(trunk.hidden)
        states = torch.cat([trunk.hidden, hidden.flatten(0, 1)])
        at: list[int] = []  # places of the states that foresee a token
        tokens: list[int] = []
        lengths = {}
        for b, row in enumerate(batch):
            for rank, nodes in row.members:
                at += [node if node < offset else node + b * width for node in nodes]
                tokens += requests[rank].tokens
                lengths[rank] = len(nodes)
        values = self._head(states, np.array(at), np.array(tokens))
        ends = np.cumsum([0, *lengths.values()])
        return [(rank, values[a:b]) for rank, (a, b) in zip(lengths, pairwise(ends), strict=True)]

    def _computed_trunk(self, trie: Trie) -> _Trunk:
        sees = trie.sees()
        if not trie.own:
            empty = torch.zeros(0, self.weight.shape[1], dtype=self.model.dtype, device=self.device)
            return _Trunk(empty, None, sees)
        cache = DynamicCache(config=self.model.config)
        ids, depths = np.array([trie.tokens]), np.array([trie.depths])
        hidden = self._forward(ids, depths, self._mask(sees[None, None]), cache, True)
        layers: list[Any] = [_TrunkLayer(layer) for layer in cache.layers]
        return _Trunk(hidden[0], Cache(layers=layers), sees)

    def _row_states(self, trunk: _Trunk, batch: list[Branches]) -> torch.Tensor:
        """Hidden states [rows, longest row, width]; padding stands at the right."""
        # rows of requests whose context the trunk holds, with a single token, are empty
        width, offset = max(1, *(row.size for row in batch)), len(trunk.hidden)
        ids = np.zeros((len(batch), width), dtype=np.int64)
        depths, real = np.zeros_like(ids), np.zeros_like(ids)
        sees = np.zeros((len(batch), 1, width, offset + width), dtype=bool)
        # padding sees itself, for a softmax over nothing is no number
        sees[:, 0, np.arange(width), offset + np.arange(width)] = True
        for b, row in enumerate(batch):
            own = row.size
            ids[b, :own], depths[b, :own], real[b, :own] = row.trie.tokens, row.trie.depths, 1
            if self.reuse:
                sees[b, 0, :own, : offset + own] = row.trie.sees(trunk.sees)
        # without trees each row is one request, and the model's own mask is the right one
        mask = self._mask(sees) if self.reuse else torch.from_numpy(real).to(self.device)
        return self._forward(ids, depths, mask, trunk.cache, False)

    def _forward(
        self, ids: np.ndarray, depths: np.ndarray, mask: torch.Tensor, cache: Any, keep: bool
    ) -> torch.Tensor:
        self.computed += ids.size
        return self.body(
            input_ids=torch.from_numpy(ids).to(self.device),
            position_ids=torch.from_numpy(depths).to(self.device),
            attention_mask=mask,
            past_key_values=cache,
            use_cache=keep,
        ).last_hidden_state

    def _mask(self, sees: np.ndarray) -> torch.Tensor:
        """A boolean mask for sdpa, an additive one for attention that is written out."""
        mask = torch.from_numpy(sees).to(self.device)
        if self.attention == "sdpa":
            return mask
        least = torch.finfo(self.model.dtype).min
        zeros = torch.zeros(mask.shape, dtype=self.model.dtype, device=self.device)
        return zeros.masked_fill(~mask, least)

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
        weight = self.weight[part]
        bias = None if self.bias is None else self.bias[part]
        if self.rounded:
            return F.linear(states, weight, bias).to(torch.bfloat16).float()
        return F.linear(states.float(), weight.float(), None if bias is None else bias.float())


def _is_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; on a CPU torch raises a plain RuntimeError."""
    signs = ("not enough memory", "can't allocate memory", "out of memory", "ALLOC_FAILED")
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(
        sign in str(error) for sign in signs
    )
