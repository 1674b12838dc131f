"""Training the embedded backbone on conversations that a grammar writes; see :mod:`.loop`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema import TstmetaError
from ..world.draws import Draws
from .batches import Batch, bucketed, drill, encode
from .examples import example
from .loop import Course, Stop, refuse_others, write_report
from .network import TOKENS, answer_loss, learn, network, versions, write
from .options import Prompts, TrainingOptions
from .tokenizer import train_tokenizer

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

STEPS = 700
SEED = 4
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
    stop: Stop = lambda step: False,
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
        stop: see :class:`.loop.Course`.

    Returns:
        The report: arguments, number of parameters, loss curve (nats per answer token), losses per
        task on training and held-out text, versions.  ``steps_done`` tells whether it is complete.

    Raises:
        TstmetaError: options that cannot be trained, a model or checkpoint of another run, or a
            full disk.
    """
    import torch

    options = options or TrainingOptions()
    options.check()
    if steps < 1:
        raise TstmetaError(f"cannot train for {steps} steps; give 1 or more")
    run = _run(prompts, steps, seed, options)
    refuse_others(out)
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    tokenizer = train_tokenizer(prompts, options.vocabulary)
    model = network(options, tokenizer, seed)
    other = "a run with other steps, seed, prompts or options"
    course = Course(out, run, steps, options.checkpoint, other, progress, stop)
    losses = learn(course, model, options, lambda step: _batches(tokenizer, prompts, run, step))
    report = {**run, "steps_done": len(losses)}
    if len(losses) < steps:
        return report
    model.eval()
    report |= {
        "parameters": sum(value.numel() for value in model.parameters()),
        "losses_by_task": {
            side: _task_losses(model, tokenizer, prompts, held_out=side == "held_out")
            for side in ("training", "held_out")
        },
        "loss_curve": [round(loss, 4) for loss in losses],
        "versions": versions(),
    }
    write(out, model, tokenizer, "float16")
    return write_report(out, report)


def _run(
    prompts: Sequence[Prompts], steps: int, seed: int, options: TrainingOptions
) -> dict[str, Any]:
    if not prompts:
        raise TstmetaError("no instruction set to train with; give at least one")
    words = [text for one in prompts for text in (one.system, *one.fill("{source}", "{style}"))]
    return {
        "steps": steps,
        "seed": seed,
        "prompts": [prompt.name for prompt in prompts],
        "prompts_hash": hashlib.sha256("\0".join(words).encode()).hexdigest()[:16],
        "options": asdict(options),
    }


def _batches(
    tokenizer: PreTrainedTokenizerFast, prompts: Sequence[Prompts], run: dict[str, Any], step: int
) -> list[Batch]:
    """What a step is trained on; depends on the seed and the number of the step alone."""
    options, size = run["options"], run["options"]["batch"]
    seeds = [f"{run['seed']}/{step * size + place}" for place in range(size)]
    if step < options["drill"] * run["steps"]:
        encoded = [drill(Draws(seed), tokenizer, _DRILL) for seed in seeds]
    else:
        systems = step >= options["systems"] * run["steps"]
        encoded = encode([example(seed, prompts, systems=systems) for seed in seeds], tokenizer)
    return bucketed(encoded, TOKENS, tokenizer.pad_token_id)


def _task_losses(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[Prompts],
    held_out: bool,
) -> dict[str, float]:
    """Mean loss in nats per answer token, task by task, on conversations never trained on."""
    import torch

    trials: dict[str, list] = {}
    for number in range(_TRIALS):
        trial = example(f"trial/{number}", prompts, held_out)
        trials.setdefault(trial.task, []).append(trial)
    means = {}
    with torch.no_grad():
        for task in sorted(trials):
            batches = bucketed(encode(trials[task], tokenizer), TOKENS, tokenizer.pad_token_id)
            total = sum(float(answer_loss(model, batch)) for batch in batches)
            means[task] = round(total / sum(len(batch.targets) for batch in batches), 4)
    return means
