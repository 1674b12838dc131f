"""Language models in training: tokenizers, batches, losses, optimisers, what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import storage
from .loop import Learner, follow
from .options import LmOptions

if TYPE_CHECKING:
    import torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

#: Padded tokens in one forward pass: bounds the memory of a step.
TOKENS = 4096


def byte_pairs(
    texts: Iterable[str], vocabulary: int, cut: Any, special: list[str], **roles: Any
) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of at most ``vocabulary`` entries: any text, no unknown tokens.

    ``cut`` is the pre-tokenizer, ``roles`` say which of the ``special`` tokens begins a text, ends
    it, and so on.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = cut
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        **roles,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def network(options: LmOptions, tokenizer: PreTrainedTokenizerFast, seed: int) -> LlamaForCausalLM:
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
        max_position_embeddings=options.length,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


class Encoded(NamedTuple):
    """Token ids of a text; what is to be foreseen begins at ``start``."""

    ids: list[int]
    start: int


class Batch(NamedTuple):
    """Texts of similar length [B, T], padded on the right, and the N tokens to be foreseen.

    ``rows`` and ``places`` (both [N]) are the positions that foresee the ``targets`` [N].
    """

    ids: torch.Tensor
    rows: torch.Tensor
    places: torch.Tensor
    targets: torch.Tensor


def bucketed(encoded: Sequence[Encoded], tokens: int, pad: int) -> list[Batch]:
    """Batches of at most ``tokens`` padded tokens (one text at least), short ones first.

    The order depends on the texts only, so that sums over batches do, too.
    """
    groups: list[list[Encoded]] = []
    for item in sorted(encoded, key=lambda item: (len(item.ids), item.ids)):
        if not groups or (len(groups[-1]) + 1) * len(item.ids) > tokens:
            groups.append([])
        groups[-1].append(item)
    return [_padded(group, pad) for group in groups]


def _padded(group: Sequence[Encoded], pad: int) -> Batch:
    import torch

    # no attention mask is needed: padding stands on the right, and attention looks to the left
    ids = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(item.ids) for item in group], batch_first=True, padding_value=pad
    )
    spots = [
        (row, place)
        for row, item in enumerate(group)
        for place in range(item.start - 1, len(item.ids) - 1)
    ]
    rows, places = torch.tensor(spots).T
    return Batch(ids, rows, places, ids[rows, places + 1])


def answer_loss(model: Any, batch: Batch, mixed: bool = False) -> torch.Tensor:
    """Sum over all targets of a batch of the negative log-probability, in nats."""
    import torch

    device = next(model.parameters()).device
    ids, rows, places, targets = (tensor.to(device) for tensor in batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.get_output_embeddings()(states[rows, places])  # [N, V], never [B, T, V]
    return torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")


def share_of_rate(step: int, steps: int, warmup: int, cooling: float) -> float:
    """Up to 1 over ``warmup`` steps, level, and down towards 0 over the last part ``cooling``."""
    up = (step + 1) / warmup
    down = (steps - step) / (cooling * steps) if cooling else 1.0
    return min(1.0, up, down)


def learn(
    out: Path,
    run: Mapping[str, Any],
    model: Any,
    options: LmOptions,
    batches: Callable[[int], Sequence[Batch]],
    *,
    scratch: bool = True,
) -> list[float]:
    """Train a language model in place; the loss of each step in nats a token.

    Args:
        out, run: see :func:`.loop.follow`; ``run`` has the ``seed``.
        options: ``steps`` counts all steps.
        batches: what a step of that number is trained on.
        scratch: whether its weights are random.
    """
    learner = Learner(model, _optimisers(model, options, scratch), run["seed"])

    def step(number: int) -> float:
        parts = batches(number)
        count = sum(len(batch.targets) for batch in parts)
        share = share_of_rate(number, options.steps, options.warmup, options.cooling)
        losses = (answer_loss(model, batch, options.mixed) for batch in parts)
        return learner.step(number, losses, count, options.rate * share)

    model.train()
    return follow(out, run, learner, step, options.steps, options.checkpoint)


def _optimisers(model: Any, options: LmOptions, scratch: bool) -> list[torch.optim.Optimizer]:
    """AdamW; in new models the layers' matrices have Muon (Jordan et al., 2024) instead.

    Matrices decay, vectors (norms, biases) do not.  With updates of AdamW's size
    (``match_rms_adamw``) Muon takes the same learning rate.
    """
    import torch

    rate, decay = options.rate, options.decay
    matrices = [value for value in model.parameters() if value.dim() >= 2]
    vectors = [value for value in model.parameters() if value.dim() < 2]
    if not scratch:
        groups: list[Any] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
        return [torch.optim.AdamW(groups, lr=rate, weight_decay=decay)]
    embeddings = model.get_input_embeddings().weight
    layers = [value for value in matrices if value is not embeddings]
    rest = [embeddings, *vectors]
    return [
        torch.optim.Muon(layers, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def write(out: Path, model: Any, tokenizer: Any, dtype: str) -> None:
    """Write weights, config and tokenizer; the config asks for float32 in use.

    A model of ours is kept in half precision, a tuned one whole: its changes may be smaller than a
    half's spacing.
    """
    import torch
    from safetensors.torch import save

    weights = {
        name: value.detach().to("cpu", getattr(torch, dtype)).contiguous()
        for name, value in model.named_parameters()
    }
    storage.write(out / "model.safetensors", save(weights, {"format": "pt"}))
    model.config.architectures = [type(model).__name__]
    model.config.dtype = "float32"
    model.config.save_pretrained(out)
    tokenizer.save_pretrained(out)
