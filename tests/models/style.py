"""Tiny models of style that tests build: sentences, and transformers to begin with."""

from pathlib import Path

import pandas as pd
import torch
import transformers

from tests.models import tiny
from tstmeta.models.classifiers import Task
from tstmeta.models.training.options import StyleOptions

MOOD = Task("mood", ("bad", "good"), {"fine": "good"})
MANNER = Task("manner", ("curt", "kind", "odd"))
SMALL = {
    "linear": StyleOptions(epochs=4, rate=1.0, bits=8),
    "textcnn": StyleOptions(epochs=2, rate=1e-2, batch=8, vector=8, maps=4, checkpoint=1),
    "transformer": StyleOptions(epochs=1, rate=1e-3, batch=8, checkpoint=1),
}
_WORDS = {
    "bad": ["awful", "cold", "rude", "late"],
    "good": ["lovely", "warm", "nice", "early"],
    "curt": ["now", "go", "give", "take"],
    "kind": ["please", "could", "would", "thanks"],
    "odd": ["moon", "fish", "seven", "purple"],
}
_THINGS = ("house", "cat", "soup")


def corpus(*tasks: Task, count: int = 60) -> pd.DataFrame:
    """Sentences of each style of each task, of alternating parts; value 0 or 1, 2."""
    rows = []
    for task in tasks or (MOOD,):
        for number in range(count):
            place = number % len(task.styles)
            word = _WORDS[task.styles[place]][number // len(task.styles) % 4]
            text = f"{word} {_THINGS[number % 3]} of street {number}"
            part = ("train", "train", "train", "dev", "test")[number // len(task.styles) % 5]
            rows.append((text, task.name, task.styles[place], float(place), part))
    return pd.DataFrame(rows, columns=["text", "task", "style", "value", "part"])


def transformer(path: Path, labels: int = 0, kind: str = "bert", **changes: object) -> Path:
    """A folder with a tiny encoder: a classifier with ``labels``, or without a head."""
    config_of = {"bert": transformers.BertConfig, "xlm-roberta": transformers.XLMRobertaConfig}
    options = {
        **{"vocab_size": len(tiny.tokenizer("gpt2")), "max_position_embeddings": 48},
        **{"hidden_size": 16, "intermediate_size": 24},
        **{"num_hidden_layers": 2, "num_attention_heads": 2},
        **({"num_labels": labels} if labels else {}),
        **({"pad_token_id": 1} if kind == "xlm-roberta" else {}),
        **changes,
    }
    auto = transformers.AutoModelForSequenceClassification if labels else transformers.AutoModel
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = auto.from_config(config_of[kind](**options))
        for name, weight in model.named_parameters():
            middle = float("LayerNorm.weight" in name)  # at 0 it would pass nothing on
            torch.nn.init.normal_(weight, middle, 0.1)
    model.save_pretrained(path)
    tiny.tokenizer("gpt2").save_pretrained(path)
    return path
