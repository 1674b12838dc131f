"""Sequence classifiers and regressors of transformers: reading them, and how fine-tuning begins.

Lai et al. (2023) fine-tune BERT on ratings of formality, as a classifier and as a regressor;
Mukherjee et al. (2025) XLM-R.  A model of ours says its task and temperature in ``config.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import hub
from .causal import Backbone
from .classifiers import About, Estimates, StyleModel, Task, by_length
from .pairs import longest

#: Where ``config.json`` keeps what we know of a model.
KEY = "tstmeta_task"
_BATCH = 64


class Transformer(StyleModel):
    """A sequence classifier of transformers, ready to answer in single precision."""

    def __init__(self, about: About, model: Any, tokenizer: Any):
        self.about, self.model, self.tokenizer = about, model.eval(), tokenizer
        self.window = longest(model.config, tokenizer)

    @classmethod
    def read(cls, model: Backbone, device: str = "auto") -> Transformer:
        """The model of a hub or a folder."""
        import torch
        from transformers import AutoModelForSequenceClassification

        network = hub.weights(model, AutoModelForSequenceClassification, dtype=torch.float32)
        config = network.config
        if kept := getattr(config, KEY, None):  # what we wrote, else the labels as they are called
            task = Task.of(kept)
        else:
            task = Task(
                model.where, tuple(str(name) for _, name in sorted(config.id2label.items()))
            )
        about = About("transformer", (task,), config.num_labels == 1)
        return cls(about, network.to(hub.device_of(device)), hub.tokenizer(model))

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        rows, cut = encode(self.tokenizer, texts, self.window)

        def answer(batch: list[list[int]]) -> Any:
            return self.model(**batched(self.tokenizer, batch, self.model.device)).logits

        return Estimates(by_length(rows, self.model.config.num_labels, _BATCH, answer), cut)

    def write(self, folder: Path) -> None:
        task, config = self.about.tasks[0], self.model.config
        setattr(config, KEY, json.loads(json.dumps(asdict(task))))
        if not self.about.regression:
            config.id2label = dict(enumerate(task.styles))
            config.label2id = {style: number for number, style in config.id2label.items()}
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def encode(tokenizer: Any, texts: Sequence[str], window: int) -> tuple[list[list[int]], list[str]]:
    """Token ids of each text, cut to the window, and what was cut off (empty: nothing)."""
    if not texts:
        return [], []
    rows = tokenizer(list(texts), verbose=False)["input_ids"]
    cut = [""] * len(rows)
    for place, row in enumerate(rows):
        if len(row) > window:
            cut[place] = f"{len(row)} tokens, first {window} used"
            rows[place] = tokenizer(texts[place], truncation=True, max_length=window)["input_ids"]
    return rows, cut


def batched(tokenizer: Any, rows: Sequence[list[int]], device: Any = "cpu") -> dict[str, Any]:
    """Token ids [B, T], padded on the right, and the mask [B, T] that hides the padding."""
    import torch

    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad(tensors, batch_first=True, padding_value=tokenizer.pad_token_id or 0)
    mask = pad([torch.ones_like(row) for row in tensors], batch_first=True)
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def beginning(base: Backbone, labels: int, seed: int) -> tuple[Any, Any]:
    """A pretrained model with a new head, random by ``seed``, and its tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, report = hub.read(
            base,
            AutoModelForSequenceClassification,
            use_safetensors=True,
            output_loading_info=True,
            num_labels=labels,
            ignore_mismatched_sizes=True,
            dtype=torch.float32,
        )
    body = getattr(model, "base_model_prefix", "") + "."
    # a pooler stands between body and head: language models come without one
    absent = [k for k in report["missing_keys"] if k.startswith(body) and ".pooler." not in k]
    if absent:
        raise hub.missing(base, f"missing weights: {', '.join(absent[:3])}")
    return model, hub.tokenizer(base)
