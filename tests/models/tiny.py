"""Tiny seeded models and tokenizers, built in memory, and the oracle they are held against.

Weights are drawn wide, so that a token seen wrongly, or at a wrong position, changes every number.
"""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import pre_tokenizers
from transformers import PreTrainedTokenizerFast

from experiments.training.lm import byte_pairs
from tstmeta.models.causal import Continuation
from tstmeta.models.engine import Engine

#: Prose of ours from which the tokenizers learn their merges.
PROSE = [
    "the baker opened the shop at six and sold the last loaf before noon",
    "we were told that the train would leave from the other platform",
    "rewrite the sentence so that it sounds kinder: the soup was cold and the waiter rude",
    "Grüße aus Köln! 京都 こんにちは, ça va?",
]
#: Control tokens of each kind of tokenizer: those a tokenizer of this family cannot do without.
MARKS = {
    "llama": [
        *("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
        "<|eot_id|>",
    ],
    "qwen": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    "gpt2": ["<|endoftext|>"],
}
_END = {"llama": "<|eot_id|>", "qwen": "<|im_end|>", "gpt2": "<|endoftext|>"}
#: Chat templates of ours with the habits of each family: Llama 3 prints a date, the pinned one or
#: today's, in a system turn of its own; Qwen puts in a system prompt where there is none.
TEMPLATES = {
    "llama": (
        "{{ '<|begin_of_text|>' }}"
        "{% if date_string is not defined %}"
        "{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
        "{% if messages[0]['role'] == 'system' %}"
        "{% set about = messages[0]['content'] %}{% set turns = messages[1:] %}"
        "{% else %}{% set about = '' %}{% set turns = messages %}{% endif %}"
        "{{ '<|start_header_id|>system<|end_header_id|>\n\nToday: ' + date_string + '\n\n' "
        "+ about | trim + '<|eot_id|>' }}"
        "{% for turn in turns %}"
        "{{ '<|start_header_id|>' + turn['role'] + '<|end_header_id|>\n\n' "
        "+ turn['content'] | trim + '<|eot_id|>' }}{% endfor %}"
        "{% if add_generation_prompt %}"
        "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
    ),
    "qwen": (
        "{% if messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nYou are of help.<|im_end|>\n' }}{% endif %}"
        "{% for turn in messages %}"
        "{{ '<|im_start|>' + turn['role'] + '\n' + turn['content'] + '<|im_end|>\n' }}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "gpt2": None,
}
#: Which tokenizer each architecture comes with.
FAMILY = {
    **dict.fromkeys(("llama", "mistral", "granite", "phi"), "llama"),
    **{"qwen3": "qwen", "gpt2": "gpt2"},
}
#: The architectures that engines are held against the oracle with; phi's output layer has a bias.
KINDS = ("llama", "phi", "qwen3", "gpt2")
WINDOW = 96
VOCABULARY = 320


def bpe(
    texts: list[str], marks: list[str], size: int = VOCABULARY, space: bool = False, **roles: str
) -> PreTrainedTokenizerFast:
    """A byte-level BPE of some texts: any text, no unknown tokens."""
    return byte_pairs(texts, size, pre_tokenizers.ByteLevel(space), marks, **roles)


@cache
def tokenizer(family: str = "llama") -> PreTrainedTokenizerFast:
    """A tokenizer of 320 tokens with the control tokens and the chat template of a family."""
    result = bpe(PROSE, MARKS[family], eos_token=_END[family])
    result.add_special_tokens({"additional_special_tokens": MARKS[family]})
    result.chat_template = TEMPLATES[family]
    return result


def config(kind: str, **changes: object) -> transformers.PretrainedConfig:
    """The configuration of an architecture, tiny: two layers of width 32, 96 positions."""
    common = {
        **{"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64},
        **{"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
        **{"max_position_embeddings": WINDOW, "bos_token_id": 0, "eos_token_id": 1},
        "pad_token_id": None,
    }
    small = {"vocab_size": VOCABULARY, "n_layer": 2, "n_head": 4, "n_embd": 32}
    ends = {"n_positions": WINDOW, "bos_token_id": 0, "eos_token_id": 0}
    of, options = {
        "llama": (transformers.LlamaConfig, {**common, "tie_word_embeddings": True}),
        "qwen3": (transformers.Qwen3Config, {**common, "head_dim": 16}),
        "mistral": (transformers.MistralConfig, {**common, "sliding_window": 6}),
        "granite": (transformers.GraniteConfig, common),
        "phi": (transformers.PhiConfig, {**common, "num_key_value_heads": 4}),
        "gpt2": (transformers.GPT2Config, {**small, **ends}),
    }[kind]
    return of(**{**options, **changes})


def network(
    kind: str = "llama", seed: int = 0, *, dtype: torch.dtype = torch.float32, **changes: object
) -> torch.nn.Module:
    """A model with random weights; the same for the same arguments.

    Biases and norms are drawn too: at their defaults, zeros and ones, forgetting one is no fault.
    """
    model = transformers.AutoModelForCausalLM.from_config(
        config(kind, **changes), attn_implementation="sdpa"
    )
    return drawn(model, seed, width=0.3, of_vectors=0.2).to(dtype)


def drawn(model: torch.nn.Module, seed: int = 0, *, width: float, of_vectors: float) -> Any:
    """A model with other weights, the same for the same seed; those of norms are about 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            is_norm = name.endswith("weight") and ("norm" in name.lower() or "ln_" in name)
            spread = of_vectors if weight.dim() == 1 else width
            weight.copy_(is_norm + spread * torch.randn(weight.shape, generator=generator))
    return model.eval()


def engine(kind: str = "llama", **options: object) -> Engine:
    """An engine; what is no option of Engine goes to :func:`network`."""
    names = {"rounded", "reuse", "budget"} & options.keys()
    engine_options = {name: options.pop(name) for name in names}
    model = network(kind, **options)
    return Engine(model, tokenizer(FAMILY[kind]), f"tiny-{kind}", **engine_options)


def folder(path: Path, kind: str = "llama", seed: int = 0) -> Path:
    """A model and its tokenizer in a folder: config.json, safetensors, tokenizer, template."""
    return save(path, network(kind, seed), tokenizer(FAMILY[kind]))


def save(path: Path, model: Any, tokenizer: Any) -> Path:
    """Write a model and its tokenizer into a folder; the folder."""
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def change_json(file: Path, **facts: object) -> None:
    """Set keys of a JSON file."""
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | facts))


@torch.inference_mode()
def oracle(model: torch.nn.Module, request: Continuation) -> np.ndarray:
    """Log-probabilities by the book: one sequence, no cache, the full softmax, float64."""
    exact = _exact(model)
    ids = torch.tensor([[*request.context, *request.tokens[:-1]]])
    table = exact(ids, use_cache=False).logits[0].double().log_softmax(-1)
    first = len(request.context) - 1
    return np.array(
        [float(table[first + i, token]) for i, token in enumerate(request.tokens)], dtype=float
    )


def _exact(model: torch.nn.Module) -> torch.nn.Module:
    """A copy with all weights in float64 and attention written out; kept with the model."""
    if not hasattr(model, "exact"):
        double = copy.deepcopy(model).double()
        double.set_attn_implementation("eager")
        object.__setattr__(model, "exact", double)
    return model.exact


def answers(model: object, requests: list[Continuation], **options: object) -> list[np.ndarray]:
    """What a backend says to each request, in the order of the requests; each exactly once."""
    values: dict[int, np.ndarray] = {}
    for batch in model.logprobs(requests, **options):
        for place, logs in batch:
            assert place not in values, "a request was answered twice"
            assert logs.dtype == np.float32
            values[place] = logs
    assert sorted(values) == list(range(len(requests)))
    return [values[place] for place in range(len(requests))]


def distance(values: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    """The largest difference of any two numbers; shapes must agree."""
    assert [row.shape for row in values] == [row.shape for row in wanted]
    assert all(np.isfinite(row).all() for row in values)
    return max(float(np.abs(a - b).max(initial=0)) for a, b in zip(values, wanted, strict=True))


def draw(seed: int, count: int = 24, window: int = WINDOW) -> list[Continuation]:
    """Requests with everything that could go wrong with trees, in random order.

    A head that all share, sources with several rewrites, contexts that are prefixes of others,
    contexts of one token, equal requests, one as long as the window.
    """
    rng = np.random.default_rng(seed)

    def drawn_tokens(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(token) for token in rng.integers(8, 40, rng.integers(low, high)))

    head = drawn_tokens(6, 9)
    requests = []
    for _ in range(count // 4):
        source = (*head, *drawn_tokens(1, 12))
        requests += [Continuation(source, drawn_tokens(1, 12)) for _ in range(3)]
        requests.append(Continuation(source[: rng.integers(1, len(source))], drawn_tokens(1, 5)))
    requests += [Continuation(head[:1], drawn_tokens(5, 9)), *requests[:1] * 2]
    longest = tuple(int(token) for token in rng.integers(8, 40, window + 1))
    requests.append(Continuation(longest[: window // 2], longest[window // 2 :]))
    return [requests[place] for place in rng.permutation(len(requests))]
