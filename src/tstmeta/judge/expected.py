"""A judge without a server: ``judge:MODEL``, the rating that a local model expects.

The prompt goes through the model's chat template, with the beginning of the answer that it asks
for.  The score is the mean of the scale's numbers, each weighted by its probability as what comes
next (Liu et al., 2023, Section 2, "Scoring Function"; liu2023geval), from one forward pass: no text
is generated.
"""

import json
import math
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, takewhile
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ..metrics.base import Request, Score, code_of, installed
from ..metrics.batched import ModelMetric
from ..metrics.settings import ModelSettings, Short
from ..models import hub
from ..models.causal import BACKBONES, DEFAULT, Continuation, LanguageModel, described
from ..models.template import DATE, ControlMark, Template
from ..models.tokencache import Cached
from ..schema import DIMENSIONS, Status, TstmetaError
from . import prompts
from .prompts import Prompt

#: The least probability of all numbers of the scale together; below it the answer is ``invalid``.
LEAST_MASS = 0.1
_DIMENSION = "|".join(DIMENSIONS)


class JudgeSettings(ModelSettings):
    """A model, a prompt, which dimension is rated (by default its first), the type of numbers.

    In bfloat16 a processor that has it computes some three times as fast, and ratings from 1 to 5
    move by up to 0.04.
    """

    dimension: Annotated[str, Short(_DIMENSION), Field(description=_DIMENSION)] = ""
    prompt: Annotated[str, Field(description="NAME|FILE.toml")] = "pauli2025"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"


class Judge(ModelMetric):
    """Expected rating on the prompt's scale; higher is better.

    With p(n) the probability that the answer goes on with the number n, and with no longer one of
    the scale that begins like it, the score is sum n p(n) / sum p(n).  ``detail`` has ``argmax``,
    the likeliest number, and ``mass``, sum p(n), from 0 to 1; with a mass below :data:`LEAST_MASS`
    the score is ``invalid``.  An answer in JSON begins with the key of the rated dimension.  A
    prompt about all outputs of a source is asked about each output alone, as number 1 of 1; a
    server that is shown all of them gives other ratings (signature: ``outputs:one at a time``).

    Raises:
        TstmetaError: the prompt rates no such dimension, asks for no whole number, or is made for
            other languages than the model.
    """

    name = "judge"
    bases: tuple[str, ...] = ("source",)
    accepts_empty = True
    models, default = BACKBONES, DEFAULT
    #: Of 101 numbers each needs a request: more rewrites at a time would take much memory.
    shard = 2**8
    VARIANTS: ClassVar[tuple[str, ...]] = ("style", "qwen2.5-coder-1.5b", "3b", "8b")
    Settings: ClassVar[type[ModelSettings]] = JudgeSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.profile = "real"  # at 135M parameters a rating is hardly more than a guess
        self.prompt = prompts.load(self.settings.prompt)
        name, known = self.prompt.name, self.prompt.dimensions
        dimension = self.settings.dimension or known[0]
        if dimension not in known:
            words = f"prompt {name} rates {', '.join(known)}; it does not rate {dimension}"
            raise TstmetaError(words)
        self.dimensions = (dimension,)
        self.limits = self.prompt.scale if dimension in ("style", "fluency") else None
        self.begins = beginning(self.prompt, dimension)
        low, high = self.prompt.scale
        if not (low.is_integer() and high.is_integer()) or high - low > 1000:
            words = f"prompt {name} has the scale {low:g} to {high:g}; judge needs one of whole"
            raise TstmetaError(f"{words} numbers, at most 1,001")
        self.ratings = {str(n): float(n) for n in range(int(low), int(high) + 1)}
        self.languages = self._languages()

    def _languages(self) -> tuple[str, ...]:
        """Codes of the languages that both the model and the prompt are made for."""
        model_codes = self.model.languages
        prompt_codes = tuple(map(code_of, self.prompt.languages))
        shared = tuple(code for code in prompt_codes if code in model_codes)
        if model_codes and prompt_codes and not shared:
            raise TstmetaError(
                f"{self.model.name} is made for {', '.join(model_codes)}, prompt "
                f"{self.prompt.name} for {', '.join(prompt_codes)}: name another model or prompt"
            )
        return shared or prompt_codes or model_codes

    def fields(self) -> dict[str, object]:
        dtype = self._options.get("dtype") or hub.dtype_of(self.model)
        model = described(hub.identity(self.model), dtype)
        return {
            "model": model.replace("|", " "),
            "prompt": f"{self.prompt.name}@{self.prompt.hash}",
            "rates": self.dimensions[0],
            "begins": self.begins or "with the number",
            "outputs": "one at a time",
            "value": "expected",
            "least_mass": LEAST_MASS,
            "date": DATE,
            "transformers": installed("transformers"),
        }

    @property
    def _language_model(self) -> LanguageModel:
        return hub.loaded(self.model, **self._options, rounded=False)

    @property
    def _options(self) -> dict[str, str]:
        """The type of numbers where one is named: without, other metrics share the loaded model."""
        return {} if self.settings.dtype == "auto" else {"dtype": self.settings.dtype}

    @cached_property
    def _template(self) -> Template:
        return Template(self._language_model.tokenizer)

    @cached_property
    def _tokens(self) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
        """The tokens of the answer's beginning, and those of each number after it.

        They are split together, for a tokenizer may join a space and a number.
        """
        answers = [self._template.tokens(self.begins + number) for number in self.ratings]
        columns = zip(self._template.tokens(self.begins), *answers, strict=False)
        shared = len([*takewhile(lambda column: len({*column}) == 1, columns)])
        return answers[0][:shared], [answer[shared:] for answer in answers]

    @cached_property
    def _longer(self) -> np.ndarray:
        """Which number [n] goes on as which other [m]: 10 begins with 1, which is then not 1."""
        tokens = self._tokens[1]
        return np.array([[other[:-1] == number for other in tokens] for number in tokens])

    def values(self, requests: Sequence[Request]) -> list[Score]:
        contexts = [self._context(request) for request in requests]
        distinct = [c for c in dict.fromkeys(contexts) if not isinstance(c, Score)]
        numbers = self._tokens[1]
        wanted = [Continuation(context, tokens) for context in distinct for tokens in numbers]
        model = Cached(self._language_model, self._folder)
        answers = dict(chain.from_iterable(model.logprobs(wanted, progress=self._progress)))
        sums = np.array([np.sum(answers[n], dtype=float) for n in range(len(wanted))])
        rows = np.exp(sums).reshape(len(distinct), len(numbers))
        known = {context: self._rated(row) for context, row in zip(distinct, rows, strict=True)}
        scores = []
        for request, context in zip(requests, contexts, strict=True):
            score = context if isinstance(context, Score) else known[context]
            is_empty = score.status.has_value and not request.output.strip()
            scores.append(score._replace(status=Status.EMPTY) if is_empty else score)
        return scores

    def _context(self, request: Request) -> tuple[int, ...] | Score:
        """The tokens before the number, or why there are none."""
        try:
            question = self.prompt.question([request])
        except TstmetaError as error:  # a style or a language that the prompt does not know
            return Score(math.nan, Status.REFUSED, str(error))
        turns = {turn.role: turn.content for turn in question.messages}
        begins, numbers = self._tokens
        try:
            context = self._template.context(turns.get("system", ""), turns["user"]) + begins
        except ControlMark as error:
            return Score(math.nan, Status.INVALID, str(error))
        room = self._language_model.window - max(map(len, numbers)) + 1
        if len(context) > room:
            detail = f"the prompt takes {len(context)} tokens, and the model has room for {room}"
            return Score(math.nan, Status.INVALID, detail)
        return context

    def _rated(self, begins: np.ndarray) -> Score:
        """The score from the probabilities that the answer goes on with each number [n]."""
        numbers = [*self.ratings.values()]
        shares = np.maximum(begins - self._longer @ begins, 0.0)
        mass = float(shares.sum())
        detail = json.dumps({"argmax": numbers[shares.argmax()], "mass": round(mass, 4)})
        if not mass >= LEAST_MASS:
            return Score(math.nan, Status.INVALID, f"no number of the scale is likely: {detail}")
        return Score(float(shares @ numbers / mass), Status.OK, detail)


def beginning(prompt: Prompt, dimension: str) -> str:
    """How the answer to a prompt begins, up to the number that rates a dimension.

    TstmetaError where the answer has no number, or something else first.
    """
    key = prompt.keys.get(dimension, "")
    if prompt.answer not in ("number", "json", "labels"):
        raise TstmetaError(f"prompt {prompt.name} asks for a word, and judge needs a number")
    if prompt.answer == "labels":
        return f"Output 1\n{key}: "
    if prompt.answer == "json" and prompt.explain:
        raise TstmetaError(
            f"prompt {prompt.name} asks for an explanation before the number: to have it written, "
            "ask a server by tstmeta judge run"
        )
    opened = '{"ratings": [{"number": 1, ' if prompt.unit == "source" else "{"
    return f'{opened}"{key}": ' if prompt.answer == "json" else ""
