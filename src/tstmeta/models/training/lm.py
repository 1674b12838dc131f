"""Training a language model on sentences: from random weights, or from a model that is there.

By step count and seed, never by the clock.  What a step sees depends on the seed and its number
alone, so on one machine with one number of threads the same arguments give the same bytes, also
when the run was killed and goes on from its last checkpoint.  On a GPU sums come in another order:
the same course, other bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tqdm

from ...schema import TstmetaError
from .. import hub, lm
from ..causal import Backbone
from ..loading import Lazy
from ..template import Template
from . import checkpoint
from .batches import Batch, Encoded, bucketed
from .lm_options import FINE_TUNING, LmOptions
from .lm_text import train_tokenizer
from .loop import REPORT, share_of_rate, write_report
from .network import network
from .options import TrainingOptions

if TYPE_CHECKING:
    import torch
    from torch.optim import Optimizer

SEED = 1
#: Padded tokens in one forward pass: bounds the memory of a step.
_TOKENS = 4096
#: Sentences of each side on which the result is measured, at most.
HELD_OUT = 2000
#: Points of the report's loss curve.
_POINTS = 100


def train(
    out: Path,
    texts: Sequence[str],
    held_out: Sequence[str],
    *,
    base: Backbone | None = None,
    seed: int = SEED,
    options: LmOptions | None = None,
    about: dict[str, Any] | None = None,
    device: str = "cpu",
    progress: bool = True,
    stop: Callable[[int], bool] = lambda step: False,
) -> dict[str, Any]:
    """Train a model and write it, its tokenizer, token frequencies and a report into a folder.

    A checkpoint in the folder is taken up where it stands; it is removed when the run is complete.

    Args:
        out: the folder; made if missing.
        texts: sentences to train on, one or more; blank ones are left out.
        held_out: sentences to measure the result on; none of them may be trained on.
        base: a model to fine-tune; random weights by default.
        seed: of the weights, the order of sentences, dropout, and which sentences are measured.
        options: shape and course; by default as shipped, for fine-tuning as printed.
        about: what the report says of the corpus, for instance its name.
        device: see :func:`tstmeta.models.hub.device_of`.
        progress: show a bar with the loss.
        stop: asked after each step whether to leave off; what is done is kept in the checkpoint.

    Returns:
        The report: arguments, hash and sizes of the corpus, parameters, loss curve (nats a token,
        the end mark included), perplexity on held-out and on training sentences, versions.
        ``steps_done`` tells whether it is complete.

    Raises:
        MissingModel: the base is not here.
        TstmetaError: options that cannot be trained, no sentences, sentences on both sides, a
            checkpoint of another run, a full disk.
    """
    import torch

    options = options or (FINE_TUNING if base else LmOptions())
    options.check()
    texts, held_out = _checked(texts), _checked(held_out)
    if both := set(texts) & set(held_out):
        raise TstmetaError(
            f"{len(both)} sentences are to be trained on and measured on, one of them "
            f"{min(both)!r}; take them out of one side"
        )
    steps = -(-len(texts) // options.batch) * options.epochs
    options = replace(options, steps=min(steps, options.steps or steps))
    run = {
        "seed": seed,
        "options": asdict(options),
        "base": hub.identity(base) if base else "",
        "corpus": {**(about or {}), **_described(texts, held_out)},
    }
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    model, tokenizer = _started(base, texts, options, seed)
    model.to(hub.device_of(device))
    encoded, cut = encode(texts, tokenizer, options.length)
    losses = _course(out, run, model, encoded, tokenizer.pad_token_id or 0, progress, stop)
    if len(losses) < options.steps:
        return {**run, "steps_done": len(losses)}
    _write(out, model, tokenizer, "float32" if base else "float16")
    lm.write_unigrams(out / lm.UNIGRAMS, lm.count_tokens(texts, tokenizer), tokenizer)
    report = {
        **run,
        "steps_done": len(losses),
        "cut": cut,
        **_findings(out, model, texts, held_out, seed),
        "loss_curve": [round(float(one.mean()), 4) for one in _pieces(losses)],
        "versions": _versions(),
    }
    write_report(out, report)
    (out / checkpoint.FILE).unlink(missing_ok=True)
    return report


def finished(
    out: Path,
    texts: Sequence[str],
    held_out: Sequence[str],
    seed: int,
    options: LmOptions,
    base: Backbone | None = None,
) -> dict[str, Any] | None:
    """The report of a complete run with these arguments; None where there is none."""
    try:
        found = json.loads((out / REPORT).read_text(encoding="utf-8"))
        same = found["corpus"]["sha256"] == _described(texts, held_out)["sha256"]
        course = {**asdict(options), "steps": found["options"]["steps"]}
        wanted = options.steps in (0, found["options"]["steps"])
        base_there = found["base"] == (hub.identity(base) if base else "")
        whole = found["seed"] == seed and found["options"] == course and wanted
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if same and whole and base_there else None


def encode(texts: Sequence[str], tokenizer: Any, length: int) -> tuple[list[Encoded], int]:
    """Token ids between marks, at most ``length`` of them, and how many sentences were cut.

    The first mark is the context that :class:`~tstmeta.models.lm.Reader` gives; the last is the end
    mark, where the tokenizer has one, so that the model learns where sentences stop.
    """
    template, end = Template(tokenizer), tokenizer.eos_token_id
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else end
    made, cut = [], 0
    for text in texts:
        ids = [*([] if start is None else [start]), *template.tokens(text)]
        ids += [] if end is None else [end]
        cut += len(ids) > length
        made.append(Encoded(ids[:length], 1))
    return made, cut


def loss_of(model: Any, batch: Batch, mixed: bool = False) -> torch.Tensor:
    """Sum over a batch's tokens but the first of each row of -log p, in nats."""
    import torch

    device = next(model.parameters()).device
    ids, rows, places, targets = (one.to(device) for one in batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.get_output_embeddings()(states[rows, places])  # [N, V], never [B, T, V]
    return torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")


def _checked(texts: Sequence[str]) -> list[str]:
    found = [text for text in texts if text.strip()]
    if not found:
        raise TstmetaError("no sentences to train on or to measure on; give one or more for each")
    return found


def _described(texts: Sequence[str], held_out: Sequence[str]) -> dict[str, Any]:
    """Hash and sizes of a corpus; blank sentences apart."""
    sides = [[text for text in side if text.strip()] for side in (texts, held_out)]
    digest = hashlib.sha256(json.dumps(sides).encode()).hexdigest()[:16]
    return {"sha256": digest, "train": len(sides[0]), "held_out": len(sides[1])}


def _started(
    base: Backbone | None, texts: Sequence[str], options: LmOptions, seed: int
) -> tuple[Any, Any]:
    """The model before its first step, in float32, and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM

    if base:
        tokenizer = hub.tokenizer(base)
        return hub.weights(base, AutoModelForCausalLM, dtype=torch.float32), tokenizer
    tokenizer = train_tokenizer(texts, options.vocabulary)
    shape = TrainingOptions(
        width=options.width,
        layers=options.layers,
        heads=options.heads,
        inner=options.inner,
        positions=options.length,
    )
    return network(shape, tokenizer, seed), tokenizer


def _course(
    out: Path,
    run: dict[str, Any],
    model: Any,
    encoded: Sequence[Encoded],
    pad: int,
    progress: bool,
    stop: Callable[[int], bool],
) -> list[float]:
    """Steps until the last, or until ``stop``; the loss of each, those of the checkpoint first."""
    options = run["options"]
    optimisers = _optimisers(model, options, scratch=not run["base"])
    losses = _resumed(out, run, model, optimisers)
    bar = tqdm.tqdm(
        total=options["steps"], initial=len(losses), disable=not progress, desc="training"
    )
    model.train()
    with bar:
        while len(losses) < options["steps"]:
            step = len(losses)
            losses.append(_step(model, optimisers, _sentences(encoded, run, step), run, step, pad))
            bar.update()
            bar.set_postfix(loss=f"{losses[-1]:.3f}")
            stopped = len(losses) < options["steps"] and stop(len(losses))
            if stopped or len(losses) % options["checkpoint"] == 0:
                checkpoint.save(out, model, optimisers, {"run": run, "losses": losses})
            if stopped:
                break
    return losses


def _optimisers(model: Any, options: dict[str, Any], scratch: bool) -> list[Optimizer]:
    """AdamW; in new models the layers' matrices have Muon (Jordan et al., 2024) instead.

    Matrices decay, vectors (norms, biases) do not.
    """
    import torch

    rate, decay = options["rate"], options["decay"]
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


def _resumed(
    out: Path, run: dict[str, Any], model: Any, optimisers: Sequence[Optimizer]
) -> list[float]:
    """The losses so far, after model and optimiser took up the checkpoint; empty without one."""
    found = checkpoint.about(out)
    if found is None:
        return []
    if found.get("run") != run:
        raise TstmetaError(
            f"{out} holds the checkpoint of a run with another corpus, seed, base or options; "
            "give the same, or another folder"
        )
    checkpoint.load(out, model, optimisers)
    for optimiser in optimisers:  # moments come from the file on the CPU; step counts stay there
        for value, state in optimiser.state.items():
            state |= {k: v.to(value.device) for k, v in state.items() if v.dim()}
    return list(found["losses"])


def _sentences(encoded: Sequence[Encoded], run: dict[str, Any], step: int) -> list[Encoded]:
    """What a step is trained on: its part of the epoch's own order."""
    size = run["options"]["batch"]
    epoch, place = divmod(step, -(-len(encoded) // size))
    order = np.random.default_rng([run["seed"], epoch]).permutation(len(encoded))
    return [encoded[at] for at in order[place * size : (place + 1) * size]]


def _step(
    model: Any,
    optimisers: Sequence[Optimizer],
    sentences: Sequence[Encoded],
    run: dict[str, Any],
    step: int,
    pad: int,
) -> float:
    """One optimiser step; the mean loss over its tokens in nats."""
    import torch

    options = run["options"]
    batches = bucketed(sentences, _TOKENS, pad)
    count = sum(len(batch.targets) for batch in batches)
    rate = options["rate"] * share_of_rate(
        step, options["steps"], options["warmup"], options["cooling"]
    )
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad(set_to_none=True)
    total = 0.0
    with torch.random.fork_rng():
        # dropout of a step is its own, so that a run that goes on draws what it would have drawn
        torch.manual_seed((run["seed"] << 32) + step)
        for batch in batches:
            loss = loss_of(model, batch, options["mixed"])
            (loss / count).backward()
            total += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(model.parameters(), options["clip"])
    for optimiser in optimisers:
        optimiser.step()
    return total / count


def _write(out: Path, model: Any, tokenizer: Any, dtype: str) -> None:
    """Weights, config, tokenizer.  A model of ours is kept in half precision, a tuned one whole:
    its changes may be smaller than a half's spacing.  Either is to be used in float32."""
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


def _findings(
    out: Path, model: Any, texts: Sequence[str], held_out: Sequence[str], seed: int
) -> dict[str, Any]:
    """Size, and perplexities of the model as it was written, on sentences drawn by the seed."""
    reader = lm.Reader(Lazy(Backbone(out.name, str(out)), "cpu", "float32", reuse=False))
    unigrams = lm.read_unigrams(out / lm.UNIGRAMS, reader.model.vocabulary)
    sides = {"held_out": held_out, "training": texts}
    return {
        "parameters": sum(value.numel() for value in model.parameters()),
        "perplexity": {
            side: measure(reader, unigrams, _drawn(sentences, seed))
            for side, sentences in sides.items()
        },
    }


def _drawn(texts: Sequence[str], seed: int) -> list[str]:
    """At most :data:`HELD_OUT` sentences, in their order."""
    if len(texts) <= HELD_OUT:
        return list(texts)
    places = np.random.default_rng([seed, len(texts)]).permutation(len(texts))[:HELD_OUT]
    return [texts[at] for at in sorted(places)]


def measure(reader: lm.Reader, unigrams: lm.Unigrams, texts: Sequence[str]) -> dict[str, float]:
    """Corpus perplexity a token and a word, and that of the token frequencies alone."""
    found = [one for one in reader.read(texts) if isinstance(one, lm.Reading)]
    loss = -sum(one.logprob for one in found)
    plain = -sum(unigrams.logprob(one.tokens) for one in found)
    tokens = sum(len(one.tokens) for one in found)
    words = sum(one.words for one in found)
    return {
        "sentences": len(found),
        "tokens": tokens,
        "words": words,
        "per_token": round(float(np.exp(loss / tokens)), 3),
        "per_word": round(float(np.exp(loss / words)), 3),
        "unigrams_per_token": round(float(np.exp(plain / tokens)), 3),
    }


def _pieces(losses: Sequence[float]) -> list[np.ndarray]:
    """The losses in at most :data:`_POINTS` stretches of equal length."""
    return list(np.array_split(np.array(losses), min(len(losses), _POINTS)))


def _versions() -> dict[str, str]:
    import tokenizers
    import torch
    import transformers

    return {
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
    }
