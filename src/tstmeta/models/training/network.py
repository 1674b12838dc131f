"""Networks in training: Llama's architecture with random weights, losses, optimisers, a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema import TstmetaError
from . import checkpoint
from .batches import Batch
from .loop import Course, share_of_rate
from .options import LmOptions, TrainingOptions

if TYPE_CHECKING:
    import torch
    from torch.optim import Optimizer
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

#: Padded tokens in one forward pass: bounds the memory of a step.
TOKENS = 4096


def network(
    options: TrainingOptions | LmOptions, tokenizer: PreTrainedTokenizerFast, seed: int
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


def answer_loss(model: Any, batch: Batch, mixed: bool = False) -> torch.Tensor:
    """Sum over all targets of a batch of the negative log-probability, in nats."""
    import torch

    device = next(model.parameters()).device
    ids, rows, places, targets = (tensor.to(device) for tensor in batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.get_output_embeddings()(states[rows, places])  # [N, V], never [B, T, V]
    return torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")


@dataclass(frozen=True)
class Learner:
    """A torch module in training: what a course keeps and takes up."""

    model: Any
    optimisers: Sequence[Optimizer]
    seed: int

    def step(
        self, number: int, losses: Iterable[torch.Tensor], count: int, rate: float, clip: float
    ) -> float:
        """One step down the mean of ``losses`` (sums, made when asked for) over ``count``."""
        import torch

        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.zero_grad(set_to_none=True)
        total = 0.0
        cuda = next(self.model.parameters()).is_cuda
        with torch.random.fork_rng(None if cuda else []):
            # dropout of a step is its own: a run that goes on draws what it would have drawn
            torch.manual_seed(((self.seed << 32) + number) % 2**63)
            for loss in losses:
                (loss / count).backward()
                total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        for optimiser in self.optimisers:
            optimiser.step()
        return total / count

    def tensors(self) -> dict[str, np.ndarray]:
        """Weights and the optimisers' moments."""
        found = {}
        for name, value in self.model.named_parameters():
            found[f"weight/{name}"] = value
            for optimiser in self.optimisers:
                # each parameter has one optimiser; get() makes no entry in the other's state
                state = optimiser.state.get(value, {})
                found |= {f"{moment}/{name}": tensor for moment, tensor in state.items()}
        return {name: tensor.detach().cpu().numpy() for name, tensor in found.items()}

    def take_up(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from the state of a checkpoint.

        Raises:
            TstmetaError: the tensors are not those of the model.
        """
        import torch

        moments = sorted({name.partition("/")[0] for name in tensors} - {"weight"})
        owners = {
            value: optimiser
            for optimiser in self.optimisers
            for group in optimiser.param_groups
            for value in group["params"]
        }
        for name, value in self.model.named_parameters():
            weight = tensors.get(f"weight/{name}")
            if weight is None or weight.shape != value.shape:
                raise TstmetaError(
                    f"{checkpoint.FILE} has no {name} of shape {tuple(value.shape)}; "
                    "it belongs to another model: delete it to begin anew"
                )
            with torch.no_grad():
                value.copy_(torch.tensor(weight))
            owners[value].state[value] = {
                # step counts stay on the CPU
                moment: torch.tensor(kept, device=value.device if kept.ndim else "cpu")
                for moment in moments
                if (kept := tensors.get(f"{moment}/{name}")) is not None
            }


def learn(
    course: Course,
    model: Any,
    options: TrainingOptions | LmOptions,
    batches: Callable[[int], Sequence[Batch]],
    *,
    scratch: bool = True,
) -> list[float]:
    """Train a language model in place; the loss of each step in nats a token.

    Args:
        batches: what a step of that number is trained on.
        scratch: whether its weights are random.
    """
    learner = Learner(model, _optimisers(model, options, scratch), course.run["seed"])

    def step(number: int) -> float:
        parts = batches(number)
        count = sum(len(batch.targets) for batch in parts)
        share = share_of_rate(number, course.steps, options.warmup, options.cooling)
        losses = (answer_loss(model, batch, options.mixed) for batch in parts)
        return learner.step(number, losses, count, options.rate * share, options.clip)

    model.train()
    return course.follow(learner, step)


def _optimisers(model: Any, options: TrainingOptions | LmOptions, scratch: bool) -> list[Optimizer]:
    """AdamW; in new models the layers' matrices have Muon (Jordan et al., 2024) instead.

    Matrices decay, vectors (norms, biases) do not.  With updates of AdamW's size
    (``match_rms_adamw``) Muon takes the same learning rate.
    """
    import torch

    rate, decay = options.rate, options.decay
    embeddings = {id(model.get_input_embeddings().weight)}
    matrices = [value for value in model.parameters() if value.dim() >= 2]
    vectors = [value for value in model.parameters() if value.dim() < 2]
    if not scratch:
        groups = [{"params": matrices, "weight_decay": decay}]
        groups += [{"params": vectors, "weight_decay": 0.0}]
        return [torch.optim.AdamW(groups, lr=rate)]
    layers = [value for value in matrices if id(value) not in embeddings]
    others = [value for value in matrices if id(value) in embeddings] + vectors
    return [
        torch.optim.Muon(layers, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def write(out: Path, model: Any, tokenizer: Any, dtype: str) -> None:
    """Write weights, config and tokenizer.

    A model of ours is kept in half precision, a tuned one whole: its changes may be smaller than a
    half's spacing.  Either is to be used in float32, for which the config asks.
    """
    import torch
    from safetensors.torch import save as to_bytes

    kept = {
        name: value.detach().to("cpu", getattr(torch, dtype)).contiguous()
        for name, value in model.named_parameters()
    }
    checkpoint.write_atomically(out / "model.safetensors", to_bytes(kept, {"format": "pt"}))
    model.config.architectures = [type(model).__name__]
    model.config.dtype = "float32"
    model.config.save_pretrained(out)
    tokenizer.save_pretrained(out)


def versions() -> dict[str, str]:
    """What a report says of the libraries."""
    from importlib.metadata import version

    return {name: version(name).split("+")[0] for name in ("torch", "transformers", "tokenizers")}
