"""The engine: log-probabilities of given tokens under a causal model of transformers.

It computes the trees that :mod:`~tstmeta.models.forest` lays out.  Rows of a batch share the
trunk's keys and values; hidden states are gathered where a token is to be foreseen, and only there
the output layer is computed, in chunks of positions and slices of the vocabulary, in float32.  So
there is never a tensor [batch, time, vocabulary].
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from tqdm import tqdm
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

from ..schema import TstmetaError
from . import forest, selfcheck
from .causal import Answer, Continuation, described
from .forest import Plan, Row, Trie
from .loading import window_of

#: Elements of the largest tensor of logits: 8 MB of float32, about what a processor's cache holds
#: (on two cores a third less time than with 64 MB).
_LOGITS = 2**21
#: Tokens of the vocabulary in one slice of the output layer: 512 states a time, for a product of
#: matrices that are both small is slow.
_SLICE = 2**12


class _Trunk(DynamicLayer):
    """The trunk's keys and values [1, heads, nodes, width], put before a row's, which go again."""

    def __init__(self, layer: Any):
        super().__init__()
        self.lazy_initialization(layer.keys, layer.values)
        self.keys, self.values = self.trunk = layer.keys, layer.values

    def update(self, key_states, value_states, *args, **kwargs):
        keys, values = (one.expand(len(key_states), -1, -1, -1) for one in self.trunk)
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)


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
        padding: ``right`` or ``left``; changes nothing but the layout.
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
        split_tokens: int = 2048,
        padding: str = "right",
    ):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.body = model.base_model
        head = model.get_output_embeddings()
        self.weight, self.bias = head.weight, getattr(head, "bias", None)
        self.rounded, self.padding = rounded, padding
        self.device = self.weight.device
        self.budget = budget or (512 if self.device.type == "cpu" else 16384)
        self.row_tokens, self.split_tokens = row_tokens, split_tokens
        config = model.config.get_text_config(decoder=True)
        self.attention = config._attn_implementation or "eager"
        self.window = window_of(config)
        self.vocabulary = int(self.weight.shape[0])
        dtype = str(model.dtype).removeprefix("torch.")
        self.identity = described(identity, dtype, self.attention, rounded)
        #: What the user should know, for instance that prefixes are not shared.
        self.notes: list[str] = []
        self.reuse = reuse
        #: Tokens computed, padding included, and tokens that one pass a request would compute.
        self.computed = self.naive = 0
        selfcheck.check(self)

    # ------------------------------------------------------------------------------- answers

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`.

        Raises:
            TstmetaError: a request that is longer than the window, has no context or has a token
                beyond the vocabulary, or memory that does not suffice for a single request.
        """
        self._refuse(requests)
        known = frozenset(known)
        first, same = _distinct(requests)
        yield from _nothing(requests, known)
        plan = forest.plan(
            [requests[place] for place in first],
            reuse=self.reuse,
            row_tokens=self.row_tokens,
            split_tokens=self.split_tokens,
        )
        self.naive += plan.naive
        wanted = [any(place not in known for place in places) for places in same]
        todo = [
            batch
            for batch in forest.batches(plan.rows, self.budget)
            if any(wanted[member.place] for row in batch for member in row.members)
        ]
        if not todo:
            return
        bar = tqdm(
            total=sum(row.size for batch in todo for row in batch),
            desc="tokens",
            unit="tok",
            unit_scale=True,
            leave=False,
            disable=None if progress else True,
        )
        with bar, torch.inference_mode():
            trunk = self._grown(plan.trunk)
            # batches anew: all of one as long as the budget is what it was, parts once it fell
            parts = (part for batch in todo for part in forest.batches(batch, self.budget))
            for part in parts:
                for found in self._answers(plan, trunk, part, requests, first):
                    yield [
                        (place, values)
                        for rank, values in found
                        for place in same[rank]
                        if place not in known
                    ]
                bar.update(sum(row.size for row in part))

    def _refuse(self, requests: Sequence[Continuation]) -> None:
        for request in requests:
            if not request.context:
                raise TstmetaError("a request needs a context of at least one token")
            if len(request.context) + len(request.tokens) - 1 > self.window:
                raise TstmetaError(
                    f"{len(request.context)} tokens of context and {len(request.tokens)} to score "
                    f"do not fit into the model's window of {self.window}; cut the text before"
                )
            ids = (*request.context, *request.tokens)
            if min(ids) < 0 or max(ids) >= self.vocabulary:
                worst = min(ids) if min(ids) < 0 else max(ids)
                raise TstmetaError(
                    f"token {worst} is none of the model's {self.vocabulary}: do the tokenizer and "
                    "the weights belong together?"
                )

    def _answers(
        self, plan: Plan, trunk: _Grown, batch: list[Row], requests, first: list[int]
    ) -> Iterator[list[Answer]]:
        """A batch's answers; without enough memory, those of its halves."""
        answers = self._tried(trunk, batch, requests, first)
        if answers is not None:
            yield answers
            return
        area = len(batch) * max(row.size for row in batch)
        self.budget = max(1, min(self.budget, area // 2))
        for half in _halves(plan.trunk, batch, requests, first):
            yield from self._answers(plan, trunk, half, requests, first)

    def _tried(self, trunk: _Grown, batch: list[Row], requests, first) -> list[Answer] | None:
        """A batch's answers, or None without enough memory."""
        try:
            return self._scored(trunk, batch, requests, first)
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if not _is_memory(error):
                raise
        # here and not above: as long as the error lives it holds the tensors of the failed pass
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _scored(self, trunk: _Grown, batch: list[Row], requests, first) -> list[Answer]:
        if not self.reuse:
            hidden, start = self._padded(batch)
        else:
            hidden, start = self._row_states(trunk, batch)
        width, offset = hidden.shape[1], len(trunk.trie)
        states = torch.cat([trunk.hidden, hidden.flatten(0, 1)])
        pairs = []  # (place of the foreseeing state, token, request, its token's number)
        for b, row in enumerate(batch):
            shift = offset + b * width + start[b] - row.trie.offset
            for rank, nodes in row.members:
                tokens = requests[first[rank]].tokens
                for i, (node, token) in enumerate(zip(nodes, tokens, strict=True)):
                    at = node if node < row.trie.offset else node + shift
                    pairs.append((at, token, rank, i))
        table = np.array(pairs, dtype=np.int64)
        found = self._head(states, table[:, 0], table[:, 1])
        lengths = {rank: len(nodes) for row in batch for rank, nodes in row.members}
        ends = np.cumsum([0, *lengths.values()])
        return [(rank, found[a:b]) for rank, (a, b) in zip(lengths, pairwise(ends), strict=True)]

    # ----------------------------------------------------------------------------- the model

    def _grown(self, trie: Trie) -> _Grown:
        """The trunk's hidden states, keys and values."""
        width = self.weight.shape[1]
        if not trie.own:
            empty = torch.zeros(0, width, dtype=self.model.dtype, device=self.device)
            return _Grown(trie, empty, None, np.zeros((0, 0), dtype=bool))
        sees = trie.sees()
        ids = torch.tensor([trie.tokens], device=self.device)
        kept = DynamicCache(config=self.model.config)
        out = self.body(
            input_ids=ids,
            position_ids=torch.tensor([trie.depths], device=self.device),
            attention_mask=self._mask(sees[None, None]),
            past_key_values=kept,
            use_cache=True,
        )
        self.computed += trie.own
        layers: list[Any] = [_Trunk(layer) for layer in kept.layers]
        return _Grown(trie, out.last_hidden_state[0], Cache(layers=layers), sees)

    def _row_states(self, trunk: _Grown, batch: list[Row]) -> tuple[torch.Tensor, list[int]]:
        """Hidden states [rows, longest row, width] and where each row starts."""
        width, offset = max(row.size for row in batch), len(trunk.trie)
        start = [width - row.size if self.padding == "left" else 0 for row in batch]
        ids = np.zeros((len(batch), width), dtype=np.int64)
        depths = np.zeros_like(ids)
        sees = np.zeros((len(batch), 1, width, offset + width), dtype=bool)
        # padding sees itself, for a softmax over nothing is no number
        sees[:, 0, np.arange(width), offset + np.arange(width)] = True
        for b, row in enumerate(batch):
            own = slice(start[b], start[b] + row.size)
            ids[b, own], depths[b, own] = row.trie.tokens, row.trie.depths
            mask = row.trie.sees(trunk.sees)
            sees[b, 0, own, :offset] = mask[:, :offset]
            sees[b, 0, own, offset + own.start : offset + own.stop] = mask[:, offset:]
        out = self.body(
            input_ids=torch.from_numpy(ids).to(self.device),
            position_ids=torch.from_numpy(depths).to(self.device),
            attention_mask=self._mask(sees),
            past_key_values=trunk.kept,
            use_cache=False,
        )
        self.computed += ids.size
        return out.last_hidden_state, start

    def _padded(self, batch: list[Row]) -> tuple[torch.Tensor, list[int]]:
        """The same without trees: each row is one request and sees what came before."""
        width = max(row.size for row in batch)
        start = [width - row.size if self.padding == "left" else 0 for row in batch]
        ids = np.zeros((len(batch), width), dtype=np.int64)
        real, depths = np.zeros_like(ids), np.zeros_like(ids)
        for b, row in enumerate(batch):
            own = slice(start[b], start[b] + row.size)
            ids[b, own], depths[b, own], real[b, own] = row.trie.tokens, row.trie.depths, 1
        out = self.body(
            input_ids=torch.from_numpy(ids).to(self.device),
            attention_mask=torch.from_numpy(real).to(self.device),
            position_ids=torch.from_numpy(depths).to(self.device),
            use_cache=False,
        )
        self.computed += ids.size
        return out.last_hidden_state, start

    def _mask(self, sees: np.ndarray) -> torch.Tensor:
        """A boolean mask for sdpa, an additive one for attention that is written out."""
        mask = torch.from_numpy(sees).to(self.device)
        if self.attention == "sdpa":
            return mask
        least = torch.finfo(self.model.dtype).min
        return torch.zeros(mask.shape, dtype=self.model.dtype, device=self.device).masked_fill(
            ~mask, least
        )

    def _head(self, states: torch.Tensor, at: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Log-probability of each token after the state at its place, float32 [tokens].

        A state that foresees several tokens goes through the output layer once.
        """
        nodes, owner = np.unique(at, return_inverse=True)
        order = np.argsort(owner, kind="stable")
        found = np.empty(len(tokens), dtype=np.float32)
        step = max(1, _LOGITS // min(_SLICE, self.vocabulary))
        for a in range(0, len(nodes), step):
            places = torch.from_numpy(nodes[a : a + step]).to(self.device)
            bounds = np.searchsorted(owner[order], [a, a + step])
            mine = order[bounds[0] : bounds[1]]
            values = self._chunk(
                states[places],
                torch.from_numpy(owner[mine] - a).to(self.device),
                torch.from_numpy(tokens[mine]).to(self.device),
            )
            found[mine] = values.cpu().numpy()
        return found

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


class _Grown:
    """A computed trunk: its tree, hidden states [nodes, width], cache and mask."""

    def __init__(self, trie: Trie, hidden: torch.Tensor, kept: Cache | None, sees: np.ndarray):
        self.trie, self.hidden, self.kept, self.sees = trie, hidden, kept, sees


def _distinct(requests: Sequence[Continuation]) -> tuple[list[int], list[list[int]]]:
    """The places where each different request stands first, and all its places."""
    places: dict[Continuation, list[int]] = {}
    for place, request in enumerate(requests):
        if request.tokens:
            places.setdefault(request, []).append(place)
    return [those[0] for those in places.values()], list(places.values())


def _nothing(requests: Sequence[Continuation], known: Collection[int]) -> Iterator[list[Answer]]:
    """Requests without tokens are answered without a model."""
    empty = [place for place, one in enumerate(requests) if not one.tokens and place not in known]
    if empty:
        yield [(place, np.empty(0, dtype=np.float32)) for place in empty]


def _is_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; on a CPU torch raises a plain RuntimeError."""
    signs = ("not enough memory", "can't allocate memory", "out of memory", "ALLOC_FAILED")
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(
        sign in str(error) for sign in signs
    )


def _halves(trunk: Trie, batch: list[Row], requests, first) -> list[list[Row]]:
    """A batch in two: its rows, or the requests of its only row."""
    if len(batch) > 1:
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    members = batch[0].members
    if len(members) == 1:
        request = requests[first[members[0].place]]
        raise TstmetaError(
            f"memory does not suffice for one text of {len(request.context)} + "
            f"{len(request.tokens)} tokens; use a smaller model or another device"
        )
    half = len(members) // 2
    return [
        [forest.row(trunk, [(one.place, requests[first[one.place]]) for one in part])]
        for part in (members[:half], members[half:])
    ]
