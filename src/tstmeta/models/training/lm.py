"""Training a language model on sentences: from random weights, or from a model that is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...schema import TstmetaError
from .. import hub, lm
from ..causal import Backbone
from ..template import Template
from .loop import CHECKPOINT, finished, rows_of, versions, write_report
from .network import TOKENS, Batch, Encoded, bucketed, byte_pairs, learn, network, write
from .options import FINE_TUNING, LmOptions

#: Sentences of each side on which the result is measured, at most.
MEASURED = 2000
#: Points of the report's loss curve.
_POINTS = 100
#: Begins a text and ends it, as in GPT-2.
MARK = "<|endoftext|>"


def train(
    out: Path,
    texts: Sequence[str],
    held_out: Sequence[str],
    *,
    base: Backbone | None = None,
    seed: int = 1,
    options: LmOptions | None = None,
    name: str = "",
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a model; write it, token frequencies and a report into a folder, new or empty.

    A checkpoint in the folder is taken up; a folder with the result of this very run is left as it
    is.

    Args:
        texts, held_out: sentences to train on, and to measure the result on.
        base: a model to fine-tune; random weights by default.
        options: shape and course; by default as shipped, for fine-tuning as printed.
        name: what the report calls the corpus.
        device: see :func:`tstmeta.models.hub.device_of`.

    Returns:
        The report: arguments, hash and sizes of the corpus, sentences that were cut, parameters,
        loss curve (nats a token, the end mark included), perplexities on both sides, versions.

    Raises:
        TstmetaError: no sentences, the base is not here, a folder of another run, a full disk.
    """
    import torch
    from transformers import AutoModelForCausalLM

    if not texts or not held_out:
        raise TstmetaError("a model needs sentences to train on, and others to measure it on")
    options = options or (FINE_TUNING if base else LmOptions())
    steps = -(-len(texts) // options.batch) * options.epochs
    options = options.model_copy(update={"steps": min(steps, options.steps or steps)})
    run = {
        "seed": seed,
        "options": options.model_dump(),
        "base": hub.identity(base) if base else "",
        "corpus": {
            "name": name,
            "sha256": hashlib.sha256(json.dumps([texts, held_out]).encode()).hexdigest()[:16],
            "train": len(texts),
            "held_out": len(held_out),
        },
        "versions": versions("torch", "transformers", "tokenizers"),
    }
    if report := finished(out, run):
        return report
    torch.set_num_threads(options.threads)
    if base:
        tokenizer = hub.tokenizer(base)
        model = hub.weights(base, AutoModelForCausalLM, dtype=torch.float32)
    else:
        tokenizer = _tokenizer(texts, options.vocabulary)
        model = network(options, tokenizer, seed)
    model.to(hub.device_of(device))
    encoded, cut = encode(texts, tokenizer, options.length)

    def batches(step: int) -> list[Batch]:
        rows = rows_of(step, len(encoded), options.batch, seed)
        return bucketed([encoded[row] for row in rows], TOKENS, tokenizer.pad_token_id or 0)

    losses = learn(out, run, model, options, batches, scratch=not base)
    write(out, model, tokenizer, "float32" if base else "float16")
    lm.write_unigrams(out / lm.UNIGRAMS, lm.count_tokens(texts, tokenizer), tokenizer)
    curve = np.array_split(np.array(losses), min(len(losses), _POINTS))
    report = {
        **run,
        "cut": cut,
        "parameters": sum(value.numel() for value in model.parameters()),
        "perplexity": _perplexities(out, {"held_out": held_out, "training": texts}, seed),
        "loss_curve": [round(float(piece.mean()), 4) for piece in curve],
    }
    write_report(out, report)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return report


def encode(texts: Sequence[str], tokenizer: Any, length: int) -> tuple[list[Encoded], int]:
    """Token ids between marks, at most ``length`` of them, and how many sentences were cut.

    The first mark is the context that :class:`~tstmeta.models.lm.Reader` gives; the last is the end
    mark, where the tokenizer has one, so that the model learns where sentences stop.
    """
    template, end = Template(tokenizer), tokenizer.eos_token_id
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else end
    before, after = ([] if mark is None else [mark] for mark in (start, end))
    rows = [[*before, *template.tokens(text), *after] for text in texts]
    return [Encoded(ids[:length], 1) for ids in rows], sum(len(ids) > length for ids in rows)


def _tokenizer(texts: Sequence[str], vocabulary: int) -> Any:
    """A tokenizer in GPT-2's manner, with one mark."""
    from tokenizers import pre_tokenizers

    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    marks = dict.fromkeys(("bos_token", "eos_token", "pad_token"), MARK)
    return byte_pairs(texts, vocabulary, cut, [MARK], **marks)


def _perplexities(out: Path, sides: dict[str, Sequence[str]], seed: int) -> dict[str, Any]:
    """Corpus perplexity a token and a word of the written model, and of the unigrams alone."""
    reader = lm.Reader(hub.Lazy(Backbone(out.name, str(out)), "cpu", "float32", reuse=False))
    unigrams = lm.read_unigrams(out / lm.UNIGRAMS, reader.model.vocabulary)
    results = {}
    for side, texts in sides.items():
        places = np.random.default_rng([seed, len(texts)]).permutation(len(texts))[:MEASURED]
        answers = reader.read([texts[place] for place in sorted(places)])
        readings = [answer for answer in answers if isinstance(answer, lm.Reading)]
        tokens = sum(len(reading.tokens) for reading in readings)
        words = sum(reading.words for reading in readings)
        loss = -sum(reading.logprob for reading in readings)
        plain = -sum(unigrams.logprob(reading.tokens) for reading in readings)
        means = {
            "per_token": loss / tokens,
            "per_word": loss / words,
            "unigrams_per_token": plain / tokens,
        }
        results[side] = {
            "sentences": len(readings),
            "tokens": tokens,
            "words": words,
            **{name: round(float(np.exp(mean)), 3) for name, mean in means.items()},
        }
    return results
