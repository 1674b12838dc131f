"""A judge without a server: ``judge:MODEL``, the rating that a local model expects.

The prompt goes through the model's chat template, with the beginning of the answer that it asks
for.  The score is the mean of the scale's numbers, each weighted by its probability as what comes
next: one forward pass, and no text is generated.
"""

import json
import math
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ..metrics.base import Request, Score, installed
from ..metrics.batched import ModelMetric
from ..metrics.settings import ModelSettings
from ..models import hub
from ..models.causal import BACKBONES, DEFAULT, Continuation, LanguageModel, described
from ..models.template import DATE, ControlMark, Template
from ..models.tokencache import Cached
from ..schema import Status, TstmetaError
from . import prompts
from .prompts import Prompt

#: The least probability of all numbers of the scale together; below it the answer is ``invalid``.
LEAST_MASS = 0.1


class JudgeSettings(ModelSettings):
    """A model, a prompt, and which of the prompt's dimensions is rated."""

    dimension: Literal["", "content", "style", "fluency", "overall"] = ""
    prompt: Annotated[str, Field(description="NAME|FILE.toml")] = "pauli2025"


class Judge(ModelMetric):
    """Expected rating on the prompt's scale; higher is better.

    With p(n) the probability that the answer's number is n, the score is sum n p(n) / sum p(n).
    ``detail`` has ``argmax``, the likeliest number, and ``mass``, sum p(n); a mass below
    :data:`LEAST_MASS` is ``invalid``.  A prompt about several outputs is asked about each alone.
    """

    name = "judge"
    bases: tuple[str, ...] = ("source",)
    accepts_empty = True
    models, default = BACKBONES, DEFAULT
    VARIANTS: ClassVar[tuple[str, ...]] = ("style", "qwen2.5-coder-1.5b", "3b", "8b")
    Settings: ClassVar[type[ModelSettings]] = JudgeSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.profile = "real"  # at 135M parameters a rating is hardly more than a guess
        self.prompt = prompts.load(self.settings.prompt)
        dimension = self.settings.dimension or self.prompt.dimensions[0]
        if dimension not in self.prompt.dimensions:
            known = ", ".join(self.prompt.dimensions)
            raise TstmetaError(f"prompt {self.prompt.name} asks for {known}, not {dimension}")
        self.dimensions = (dimension,)
        self.answer = beginning(self.prompt, dimension)
        low, high = self.prompt.scale
        self.numbers = np.arange(low, high + 1)

    @property
    def missing(self) -> str:
        return hub.absent(self.model)

    def fields(self) -> dict[str, object]:
        model = described(hub.identity(self.model), hub.dtype_of(self.model))
        return {
            "model": model.replace("|", " "),
            "prompt": f"{self.prompt.name}@{self.prompt.hash}",
            "rates": self.dimensions[0],
            "value": "expected",
            "least_mass": LEAST_MASS,
            "date": DATE,
            "transformers": installed("transformers"),
        }

    @cached_property
    def _language_model(self) -> LanguageModel:
        return Cached(hub.Lazy(self.model), self._folder)

    @cached_property
    def _template(self) -> Template:
        return Template(self._language_model.tokenizer)

    @cached_property
    def _tokens(self) -> list[tuple[int, ...]]:
        """The tokens of each number of the scale."""
        return [self._template.tokens(f"{number:.0f}") for number in self.numbers]

    def values(self, requests: Sequence[Request]) -> list[Score]:
        contexts = [self._context(request) for request in requests]
        distinct = [c for c in dict.fromkeys(contexts) if not isinstance(c, Score)]
        wanted = [Continuation(context, tokens) for context in distinct for tokens in self._tokens]
        batches = self._language_model.logprobs(wanted, progress=self._progress)
        answers = dict(chain.from_iterable(batches))
        sums = np.array([np.sum(answers[n], dtype=float) for n in range(len(wanted))])
        rows = np.exp(sums).reshape(len(distinct), len(self.numbers))
        known = {context: self._rated(row) for context, row in zip(distinct, rows, strict=True)}
        return [c if isinstance(c, Score) else known[c] for c in contexts]

    def _context(self, request: Request) -> tuple[int, ...] | Score:
        """The tokens before the number, or why there are none."""
        try:
            turns = {turn.role: turn.content for turn in self.prompt.question([request]).messages}
            context = self._template.context(turns.get("system", ""), turns["user"])
            context += self._template.tokens(self.answer)
        except ControlMark as error:
            return Score(math.nan, Status.INVALID, str(error))
        except TstmetaError as error:  # a style or a language that the prompt does not know
            return Score(math.nan, Status.REFUSED, str(error))
        room = self._language_model.window - max(map(len, self._tokens))
        if len(context) > room:
            detail = f"the prompt takes {len(context)} tokens and the window leaves {room}"
            return Score(math.nan, Status.INVALID, detail)
        return context

    def _rated(self, begins: np.ndarray) -> Score:
        """The score from the probabilities that the answer begins with each number [n]."""
        shares = begins.copy()
        for n, tokens in enumerate(self._tokens):  # 10 and 100 begin with 1, which is then not 1
            longer = [m for m, other in enumerate(self._tokens) if other[:-1] == tokens]
            shares[n] = max(0.0, shares[n] - begins[longer].sum())
        mass = float(shares.sum())
        argmax = float(self.numbers[shares.argmax()])
        detail = json.dumps({"argmax": argmax, "mass": round(mass, 4)})
        if not mass >= LEAST_MASS:
            return Score(math.nan, Status.INVALID, f"no number of the scale is likely: {detail}")
        return Score(float(self.numbers @ shares / mass), Status.OK, detail)


def beginning(prompt: Prompt, dimension: str) -> str:
    """How the answer begins that a prompt asks for, up to the number that rates a dimension."""
    key = prompt.keys.get(dimension, "")
    if prompt.unit == "pair" or prompt.answer not in ("number", "json", "labels"):
        raise TstmetaError(f"prompt {prompt.name} does not ask for a number")
    if prompt.answer == "labels":
        return f"Output 1\n{key}: "
    if prompt.answer == "json" and prompt.explain:
        raise TstmetaError(f"prompt {prompt.name} asks for an explanation before the number")
    opened = '{"ratings": [{"number": 1, ' if prompt.unit == "source" else "{"
    return f'{opened}"{key}": ' if prompt.answer == "json" else ""
