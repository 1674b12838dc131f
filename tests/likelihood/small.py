"""Tiny seeded models with large weights, so that probabilities differ a lot; a counter of requests.

Three kinds of tokenizer: one with the marks of Llama 3, one like Qwen's, one without a template.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from tstmeta.models.engine import Engine

LLAMA = (
    "{{ '<|begin_of_text|>' }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + "
    "'<|end_header_id|>\n\n' + (m['content'] | trim) + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}"
    "{% endif %}"
)
QWEN = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
#: kind -> (control tokens, the one that ends a turn, chat template)
KINDS = {
    "llama": (
        ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        "<|eot_id|>",
        LLAMA,
    ),
    "qwen": (("<|im_start|>", "<|im_end|>"), "<|im_end|>", QWEN),
    "plain": (("<|endoftext|>",), "<|endoftext|>", None),
}


def tokenizer(kind: str) -> Any:
    """Bytes as tokens, after the control tokens of a kind and a few merges that span letters."""
    marks, end, template = KINDS[kind]
    merges = [("t", "h"), ("th", "e"), ("Ġ", "t"), ("i", "n"), ("a", "n")]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*marks, *alphabet, *dict.fromkeys(a + b for a, b in merges)]
    inner = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=end,
        additional_special_tokens=[mark for mark in marks if mark != end],
    )
    fast.chat_template = template
    return fast


def network(kind: str, size: int, window: int = 2048) -> torch.nn.Module:
    """A random model: the same numbers each time."""
    torch.manual_seed(0)
    shared = {"vocab_size": size, "initializer_range": 0.3}
    if kind == "plain":
        config = GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=window, **shared)
        return GPT2LMHeadModel(config).eval()
    shared |= {
        **{"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2},
        **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": window},
    }
    if kind == "qwen":
        return Qwen2ForCausalLM(Qwen2Config(**shared)).eval()
    return LlamaForCausalLM(LlamaConfig(**shared)).eval()


@cache
def engine(kind: str = "llama", window: int = 2048, rounded: bool = False) -> Engine:
    """A model of a kind, ready to answer."""
    words = tokenizer(kind)
    return Engine(network(kind, len(words), window), words, f"tiny-{kind}", rounded=rounded)


def saved(folder: Path, kind: str = "llama", window: int = 2048) -> Path:
    """The same model as a folder that can be named in a metric."""
    words = tokenizer(kind)
    words.save_pretrained(folder)
    network(kind, len(words), window).save_pretrained(folder)
    return folder


class Counted:
    """A backend that remembers its requests."""

    def __init__(self, model: Engine):
        self.model = model
        self.requests: list = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def logprobs(self, requests, *, known=(), progress: bool = False) -> Iterator[list]:
        self.requests += [r for place, r in enumerate(requests) if place not in set(known)]
        return self.model.logprobs(requests, known=known, progress=progress)
