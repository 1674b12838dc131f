"""What metrics with an encoder share: notes of what was cut, files among words, languages."""

from __future__ import annotations

import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..models.causal import Backbone
from ..models.encoders import ENCODERS
from ..schema import Signature, Status, TstmetaError
from .base import Score
from .batched import Answer, BatchedMetric

#: Encoders by name that read English only.
_ENGLISH = ("all-minilm-l6-v2", "deberta-xlarge-mnli", "roberta-large")


def signed(metric: BatchedMetric, basis: str) -> Signature:
    """A signature under the bare name: the words after the colon may be a path, which says less
    than what the fields tell of the file."""
    limit = {} if metric.max_tokens is None else {"max_tokens": metric.max_tokens}
    stem = metric.name.partition(":")[0]
    return Signature.of(stem, {"basis": basis, **metric.fields(), **limit})


def noted(value: float, note: str) -> Answer:
    """A value, with status ``truncated`` where there is a note."""
    return Score(value, Status.TRUNCATED, note) if note and math.isfinite(value) else value


def cut_note(length: int, window: int) -> str:
    """What is said of a text of ``length`` tokens; empty when it fits."""
    return f"{length} tokens, first {window} used" if length > window else ""


def installed(package: str) -> str:
    """Its version, or ``none``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def languages(model: Backbone) -> tuple[str, ...]:
    """What a model is made for; empty = any, or not known."""
    return ("en",) if ENCODERS.get(model.name) is model and model.name in _ENGLISH else ()


def without_file(words: str, prefix: str) -> tuple[str, Path | None]:
    """Words without the one that begins with ``prefix``, and the file that it names.

    Raises:
        TstmetaError: two such words, or no such file.
    """
    every = words.split("+")
    named = [word.removeprefix(prefix) for word in every if word.startswith(prefix)]
    if not named:
        return words, None
    path = Path(named[0]).expanduser()
    if len(named) > 1 or not path.is_file():
        said = "two files" if len(named) > 1 else f"{named[0]!r}, which is no file"
        raise TstmetaError(f"{words!r} names {said}; use {prefix}FILE once")
    return "+".join(word for word in every if not word.startswith(prefix)), path
