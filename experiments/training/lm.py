"""Training language models: from random weights, or from a model that is there."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from tstmeta import storage
from tstmeta.models import hub, lm
from tstmeta.models.causal import Backbone
from tstmeta.models.template import Template
from tstmeta.schema import TstmetaError

from . import loop
from .loop import Learner, LmOptions

if TYPE_CHECKING:
    import torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

#: Padded tokens in one forward pass: bounds the memory of a step.
TOKENS = 4096
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

    A checkpoint in it is taken up; the result of this very run is left as it is.

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
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM

    storage.apart([("--out", out)], [("--base", base.folder)] if base else ())
    if not texts or not held_out:
        raise TstmetaError("a model needs sentences to train on, and others to measure it on")
    options = options or (loop.FINE_TUNING if base else LmOptions())
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
        "versions": loop.versions("torch", "transformers", "tokenizers"),
    }
    if report := loop.finished(out, run):
        return report
    torch.set_num_threads(options.threads)
    if base:
        tokenizer = hub.tokenizer(base)
        model = hub.weights(base, AutoModelForCausalLM, dtype=torch.float32)
    else:
        # in GPT-2's manner
        cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
        marks = dict.fromkeys(("bos_token", "eos_token", "pad_token"), MARK)
        tokenizer = byte_pairs(texts, options.vocabulary, cut, [MARK], **marks)
        model = network(options, tokenizer, seed)
    model.to(hub.device_of(device))
    encoded, shortened = encode(texts, tokenizer, options.length)

    def batches(step: int) -> list[Batch]:
        rows = loop.rows_of(step, len(encoded), options.batch, seed)
        return bucketed([encoded[row] for row in rows], TOKENS, tokenizer.pad_token_id or 0)

    losses = learn(out, run, model, options, batches, scratch=not base)
    write(out, model, tokenizer, "float32" if base else "float16")
    write_unigrams(out / lm.UNIGRAMS, texts, tokenizer)
    curve = np.array_split(np.array(losses), min(len(losses), _POINTS))
    report = {
        **run,
        "cut": shortened,
        "parameters": sum(value.numel() for value in model.parameters()),
        "perplexity": _perplexities(out, {"held_out": held_out, "training": texts}, seed),
        "loss_curve": [round(float(piece.mean()), 4) for piece in curve],
    }
    loop.write_report(out, report)
    (out / loop.CHECKPOINT).unlink(missing_ok=True)
    return report


def encode(texts: Sequence[str], tokenizer: Any, length: int) -> tuple[list[Encoded], int]:
    """Token ids between marks, at most ``length`` of them, and how many sentences were cut.

    The first mark is the context that :class:`~tstmeta.models.lm.Reader` gives; the last one, where
    the tokenizer has it, teaches the model where sentences stop.
    """
    template, end = Template(tokenizer), tokenizer.eos_token_id
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else end
    before, after = ([] if mark is None else [mark] for mark in (start, end))
    rows = [[*before, *template.tokens(text), *after] for text in texts]
    return [Encoded(ids[:length], 1) for ids in rows], sum(len(ids) > length for ids in rows)


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
        plain = -sum(unigrams[list(reading.tokens)].sum() for reading in readings)
        results[side] = {
            "sentences": len(readings),
            "tokens": tokens,
            "words": words,
            "per_token": round(float(np.exp(loss / tokens)), 3),
            "per_word": round(float(np.exp(loss / words)), 3),
            "unigrams_per_token": round(float(np.exp(plain / tokens)), 3),
        }
    return results


def byte_pairs(
    texts: Iterable[str], vocabulary: int, cut: Any, special: list[str], **roles: Any
) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of at most ``vocabulary`` entries: any text, no unknown tokens.

    ``cut`` is the pre-tokenizer, ``roles`` say which ``special`` token begins a text, ends it, ...
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
    """Texts of similar length, padded on the right; ``foreseen``: their targets (both [B, T])."""

    ids: torch.Tensor
    foreseen: torch.Tensor

    @property
    def targets(self) -> torch.Tensor:
        """The N tokens to be foreseen."""
        return self.ids[self.foreseen]


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
    starts, ends = torch.tensor([(item.start, len(item.ids)) for item in group]).T[:, :, None]
    places = torch.arange(ids.shape[1])
    return Batch(ids, (starts <= places) & (places < ends))


def answer_loss(model: Any, batch: Batch, mixed: bool = False) -> torch.Tensor:
    """Sum over all targets of a batch of the negative log-probability, in nats."""
    import torch

    ids, foreseen = batch = Batch(*(tensor.to(model.device) for tensor in batch))
    with torch.autocast(model.device.type, torch.bfloat16, enabled=mixed):
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.get_output_embeddings()(states[:, :-1][foreseen[:, 1:]])  # never [B, T, V]
    return torch.nn.functional.cross_entropy(logits.float(), batch.targets, reduction="sum")


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
    return loop.follow(out, run, learner, step, options.steps, options.checkpoint)


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


def write_unigrams(path: Path, texts: Iterable[str], tokenizer: Any) -> None:
    """Count the tokens of texts, marks of beginning and end apart, and write the frequencies.

    CSV with the columns id, count and token, which is for people.
    """
    template = Template(tokenizer)
    counts = Counter(token for text in texts for token in template.tokens(text))
    rows = [(i, counts[i], tokenizer.convert_ids_to_tokens(i)) for i in sorted(counts)]
    frame = pd.DataFrame(rows, columns=["id", "count", "token"])
    storage.write(path, frame.to_csv(index=False, lineterminator="\n"))


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
