"""Sentences in styles, and options with which tests learn from them."""

import pandas as pd
import pytest

from experiments.training.loop import StyleOptions
from tstmeta.models import encoders
from tstmeta.models.classifiers import Task

needs_encoder = pytest.mark.skipif(
    bool(encoders.missing(encoders.MINILM)), reason="no embedded encoder here"
)
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
    """Sentences of each style of each task, of alternating parts; place of the style."""
    rows = []
    for task in tasks or (MOOD,):
        for number in range(count):
            place = number % len(task.styles)
            word = _WORDS[task.styles[place]][number // len(task.styles) % 4]
            text = f"{word} {_THINGS[number % 3]} of street {number}"
            part = ("train", "train", "train", "dev", "test")[number // len(task.styles) % 5]
            rows.append((text, task.name, task.styles[place], place, part))
    return pd.DataFrame(rows, columns=["text", "task", "style", "place", "part"])
