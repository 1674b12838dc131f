"""The training loop of the embedded backbone.

By step count and seed, never by the clock: on one machine with one number of threads the same
arguments give the same bytes, also when the run was killed and goes on from its last checkpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tqdm

from ...schema import TstmetaError
from ..world.draws import Draws
from . import checkpoint
from .batches import Batch, bucketed, drill, encode
from .examples import example
from .network import answer_loss, network
from .options import Prompts, TrainingOptions, named
from .tokenizer import train_tokenizer

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

REPORT = "training.json"
STEPS = 700
SEED = 4
#: Padded tokens in one forward pass: bounds the memory of a step.
_TOKENS = 4096
#: Longest string of the drill, in tokens.
_DRILL = 24
#: Conversations of each side on which the final losses are taken.
_TRIALS = 120


def train(
    out: Path,
    prompts: Sequence[Prompts],
    *,
    steps: int = STEPS,
    seed: int = SEED,
    options: TrainingOptions | None = None,
    progress: bool = True,
    stop: Callable[[int], bool] = lambda step: False,
) -> dict[str, Any]:
    """Train a backbone and write it, with its tokenizer and a report, into a folder.

    A checkpoint in the folder is taken up where it stands; it is removed when the run is complete.

    Args:
        out: the folder; made if missing.
        prompts: instruction sets whose words the model learns to follow; the first counts double.
        steps: number of optimiser steps.
        seed: of the weights and of all examples.
        options: shape of the model and course of the training.
        progress: show a bar with the loss.
        stop: asked after each step whether to leave off, for instance because the user said so;
            what is done is kept in the checkpoint.

    Returns:
        The report: arguments, number of parameters, loss curve (nats per answer token), losses per
        task on training and held-out text, versions.  ``steps_done`` tells whether it is complete.

    Raises:
        TstmetaError: options that cannot be trained, a checkpoint of another run, a full disk.
    """
    import torch

    options = options or TrainingOptions()
    options.check()
    if steps < 1:
        raise TstmetaError(f"cannot train for {steps} steps; give 1 or more")
    run = _run(prompts, steps, seed, options)
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    tokenizer = train_tokenizer(prompts, options.vocabulary)
    model = network(options, tokenizer, seed)
    optimisers = _optimisers(model, options)
    losses = _resumed(out, run, model, optimisers)
    bar = tqdm.tqdm(total=steps, initial=len(losses), disable=not progress, desc="training")
    model.train()
    while len(losses) < steps:
        losses.append(
            _step(
                model, optimisers, _batches(tokenizer, prompts, run, len(losses)), run, len(losses)
            )
        )
        bar.update()
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
        stopped = len(losses) < steps and stop(len(losses))
        if stopped or len(losses) % options.checkpoint == 0:
            checkpoint.save(out, model, optimisers, {"run": run, "losses": losses})
        if stopped:
            bar.close()
            return {**run, "steps_done": len(losses)}
    bar.close()
    report = {**run, "steps_done": steps, **_findings(model, tokenizer, prompts, losses)}
    write(out, model, tokenizer, report)
    (out / checkpoint.FILE).unlink(missing_ok=True)
    return report


def write(
    out: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, report: dict[str, Any]
) -> None:
    """Write a backbone: weights in float16, config, tokenizer, report.

    Half precision halves the file; the config still asks for float32, in which it is to be used.
    """
    import torch
    from safetensors.torch import save as to_bytes

    halves = {
        name: value.detach().to(torch.float16).contiguous()
        for name, value in model.named_parameters()
    }
    checkpoint.write_atomically(out / "model.safetensors", to_bytes(halves, {"format": "pt"}))
    model.config.architectures = [type(model).__name__]
    model.config.dtype = "float32"
    model.config.save_pretrained(out)
    tokenizer.save_pretrained(out)
    write_report(out, report)


def write_report(out: Path, report: dict[str, Any]) -> None:
    """Write ``training.json``."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    checkpoint.write_atomically(out / REPORT, text.encode())


def _run(
    prompts: Sequence[Prompts], steps: int, seed: int, options: TrainingOptions
) -> dict[str, Any]:
    """What makes a run this run: it must not change between a stop and its going on."""
    words = [text for one in prompts for text in (one.system, *one.fill("{source}", "{style}"))]
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
    return {
        "steps": steps,
        "seed": seed,
        "prompts": named(prompts),
        "prompts_hash": digest,
        "options": asdict(options),
    }


def _optimisers(model: LlamaForCausalLM, options: TrainingOptions) -> list[Optimizer]:
    """Muon (Jordan et al., 2024) for the layers' matrices, AdamW for embeddings and gains.

    With updates of AdamW's size (``match_rms_adamw``) both take the same learning rate.
    """
    import torch

    embeddings = {id(model.get_input_embeddings().weight)}
    matrices = [
        value for value in model.parameters() if value.dim() == 2 and id(value) not in embeddings
    ]
    chosen = {id(value) for value in matrices}
    others = [value for value in model.parameters() if id(value) not in chosen]
    return [
        torch.optim.Muon(
            matrices,
            lr=options.rate,
            weight_decay=options.decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(others, lr=options.rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _resumed(
    out: Path, run: dict[str, Any], model: LlamaForCausalLM, optimisers: Sequence[Optimizer]
) -> list[float]:
    """The losses so far, after model and optimiser took up the checkpoint; empty without one."""
    found = checkpoint.about(out)
    if found is None:
        return []
    if found.get("run") != run:
        raise TstmetaError(
            f"{out} holds the checkpoint of a run with other steps, seed, prompts or options; "
            "give the same, or another folder"
        )
    losses = list(found["losses"])
    checkpoint.load(out, model, optimisers)
    return losses


def _batches(
    tokenizer: PreTrainedTokenizerFast, prompts: Sequence[Prompts], run: dict[str, Any], step: int
) -> list[Batch]:
    """What a step is trained on; depends on the seed and the number of the step alone."""
    options, size = run["options"], run["options"]["batch"]
    seeds = [f"{run['seed']}/{step * size + one}" for one in range(size)]
    if step < options["drill"] * run["steps"]:
        encoded = [drill(Draws(seed), tokenizer, _DRILL) for seed in seeds]
    else:
        systems = step >= options["systems"] * run["steps"]
        encoded = encode([example(seed, prompts, systems=systems) for seed in seeds], tokenizer)
    return bucketed(encoded, _TOKENS, tokenizer.pad_token_id)


def _step(
    model: LlamaForCausalLM,
    optimisers: Sequence[Optimizer],
    batches: Sequence[Batch],
    run: dict[str, Any],
    step: int,
) -> float:
    """One optimiser step; the mean loss over its answer tokens in nats."""
    import torch

    options = run["options"]
    count = sum(len(batch.targets) for batch in batches)
    rate = options["rate"] * share_of_rate(
        step, run["steps"], options["warmup"], options["cooling"]
    )
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad(set_to_none=True)
    total = 0.0
    for batch in batches:
        loss = answer_loss(model, batch, options["mixed"])
        (loss / count).backward()
        total += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(model.parameters(), options["clip"])
    for optimiser in optimisers:
        optimiser.step()
    return total / count


def share_of_rate(step: int, steps: int, warmup: int, cooling: float) -> float:
    """Up to 1 over ``warmup`` steps, level, and down towards 0 over the last part ``cooling``."""
    up = (step + 1) / warmup
    down = (steps - step) / (cooling * steps) if cooling else 1.0
    return min(1.0, up, down)


def _findings(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[Prompts],
    losses: list[float],
) -> dict[str, Any]:
    import tokenizers
    import torch
    import transformers

    model.eval()
    held = {
        "training": _task_losses(model, tokenizer, prompts, held_out=False),
        "held_out": _task_losses(model, tokenizer, prompts, held_out=True),
    }
    return {
        "parameters": sum(value.numel() for value in model.parameters()),
        "losses_by_task": held,
        "loss_curve": [round(loss, 4) for loss in losses],
        "versions": {
            "torch": torch.__version__.split("+")[0],
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        },
    }


def _task_losses(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[Prompts],
    held_out: bool,
) -> dict[str, float]:
    """Mean loss in nats per answer token, task by task, on conversations never trained on."""
    import torch

    found: dict[str, list] = {}
    for number in range(_TRIALS):
        one = example(f"trial/{number}", prompts, held_out)
        found.setdefault(one.task, []).append(one)
    means = {}
    with torch.no_grad():
        for task in sorted(found):
            batches = bucketed(encode(found[task], tokenizer), _TOKENS, tokenizer.pad_token_id)
            total = sum(float(answer_loss(model, batch)) for batch in batches)
            means[task] = round(total / sum(len(batch.targets) for batch in batches), 4)
    return means
