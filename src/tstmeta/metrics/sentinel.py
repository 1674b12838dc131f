"""Sentinels: metrics that cannot know how good a rewrite is (after Perrella et al., 2024).

Tokens are cut at white space, and empty outputs get a value like any other.
"""

import hashlib
import json
from collections import Counter
from typing import Annotated

from pydantic import Field

from .base import PairMetric, Request
from .settings import MetricSettings


class Constant(PairMetric):
    """Always 0: what a metric without any information is worth."""

    name = "constant"
    dimensions = ("content", "style", "fluency")
    max_tokens = None
    accepts_empty = True
    stored = False
    shard = 2**10

    def value(self, request: Request) -> float:
        return 0.0


class Seed(MetricSettings):
    """The seed of a draw, as in ``random:7``."""

    default_key = "seed"
    seed: Annotated[int, Field(description="N")] = 0


class Random(Constant):
    """A draw from [0, 1): the first 53 bits of a SHA-256 of (seed, output, compared texts)."""

    name = "random"
    Settings = Seed

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.facts = f"seed:{self.settings.seed}"

    def value(self, request: Request) -> float:
        texts = json.dumps([self.settings.seed, request.output, *request.against])
        digest = hashlib.sha256(texts.encode()).digest()
        return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


class LengthRatio(Constant):
    """Output tokens for each token (at least one) of the compared text nearest in length, >= 0."""

    name = "length-ratio"
    counts_words = True
    facts = "refs:nearest-length tok:white-space"

    def value(self, request: Request) -> float:
        length, *others = (len(text.split()) for text in (request.output, *request.against))
        _, nearest = min((abs(other - length), other) for other in others)
        return length / max(1, nearest)


class CopyRate(Constant):
    """Share of the compared text's tokens, as a multiset, that are in the output, in [0, 1]."""

    name = "copy-rate"
    counts_words = True
    facts = "refs:max tok:white-space case:mixed"

    def value(self, request: Request) -> float:
        output, *texts = (Counter(text.split()) for text in (request.output, *request.against))
        return max((words & output).total() / max(1, words.total()) for words in texts)


class SourceOnly(Constant):
    """Number of tokens of the text compared with, the mean of several: ignores the output."""

    name = "source-only"
    counts_words = True
    facts = "refs:mean tok:white-space"

    def value(self, request: Request) -> float:
        return sum(len(text.split()) for text in request.against) / len(request.against)


class OutputOnly(Constant):
    """Number of tokens of the output: knows nothing of the source or the references."""

    name = "output-only"
    counts_words = True
    facts = "tok:white-space"

    def value(self, request: Request) -> float:
        return float(len(request.output.split()))
