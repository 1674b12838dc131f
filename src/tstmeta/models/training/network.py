"""The backbone's network: Llama's architecture with random weights, and its loss on answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .batches import Batch
from .options import TrainingOptions

if TYPE_CHECKING:
    import torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast


def network(
    options: TrainingOptions, tokenizer: PreTrainedTokenizerFast, seed: int
) -> LlamaForCausalLM:
    """A model whose random weights depend on ``seed``; input and output share embeddings."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=options.width,
        intermediate_size=options.inner,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.heads,
        max_position_embeddings=options.positions,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def answer_loss(model: LlamaForCausalLM, batch: Batch, mixed: bool = False) -> torch.Tensor:
    """Sum over all answer tokens of the negative log-probability, in nats."""
    import torch

    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        states = model.model(input_ids=batch.ids, use_cache=False).last_hidden_state
        logits = model.lm_head(states[batch.rows, batch.places])  # [N, V], never [B, T, V]
    return torch.nn.functional.cross_entropy(logits.float(), batch.targets, reduction="sum")
