"""Training a language model on sentences: from random weights, or from a model that is there.

See :mod:`.loop` for what makes a run repeatable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...schema import TstmetaError
from .. import hub, lm
from ..causal import Backbone
from ..loading import Lazy
from ..template import Template
from . import loop
from .batches import Batch, Encoded, bucketed
from .lm_text import train_tokenizer
from .loop import Course, Stop, refuse_others, rows_of, write_report
from .network import TOKENS, learn, network, versions, write
from .options import FINE_TUNING, LmOptions

SEED = 1
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
    stop: Stop = lambda step: False,
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
        stop: see :class:`.loop.Course`.

    Returns:
        The report: arguments, hash and sizes of the corpus, parameters, loss curve (nats a token,
        the end mark included), perplexity on held-out and on training sentences, versions.
        ``steps_done`` tells whether it is complete.

    Raises:
        MissingModel: the base is not here.
        TstmetaError: options that cannot be trained, no sentences, sentences on both sides, a
            model or checkpoint of another run, a full disk.
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
    refuse_others(out)
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    model, tokenizer = _started(base, texts, options, seed)
    model.to(hub.device_of(device))
    encoded, cut = encode(texts, tokenizer, options.length)

    def batches(step: int) -> list[Batch]:
        rows = rows_of(step, len(encoded), options.batch, seed)
        return bucketed([encoded[row] for row in rows], TOKENS, tokenizer.pad_token_id or 0)

    other = "a run with another corpus, seed, base or options"
    course = Course(out, run, options.steps, options.checkpoint, other, progress, stop)
    losses = learn(course, model, options, batches, scratch=not base)
    report = {**run, "steps_done": len(losses)}
    if len(losses) < options.steps:
        return report
    write(out, model, tokenizer, "float32" if base else "float16")
    lm.write_unigrams(out / lm.UNIGRAMS, lm.count_tokens(texts, tokenizer), tokenizer)
    report |= {
        "cut": cut,
        **_findings(out, model, texts, held_out, seed),
        "loss_curve": [round(float(piece.mean()), 4) for piece in _pieces(losses)],
        "versions": versions(),
    }
    return write_report(out, report)


def finished(
    out: Path,
    texts: Sequence[str],
    held_out: Sequence[str],
    seed: int,
    options: LmOptions,
    base: Backbone | None = None,
) -> dict[str, Any] | None:
    """The report of a complete run with these arguments; None where there is none."""

    def same(report: dict[str, Any]) -> bool:
        steps = report["options"]["steps"]
        return (
            report["corpus"]["sha256"] == _described(texts, held_out)["sha256"]
            and report["base"] == (hub.identity(base) if base else "")
            and report["seed"] == seed
            and report["options"] == {**asdict(options), "steps": steps}
            and options.steps in (0, steps)
        )

    return loop.finished(out, same)


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
    return network(options, tokenizer, seed), tokenizer


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
