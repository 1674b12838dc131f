"""Judges as metrics: language models that are asked for a rating, through a server of yours.

    judge:http://localhost:8000/v1#MODEL+PROMPT            asked as it is scored
    judge:http://localhost:8000/v1#MODEL@REVISION+PROMPT   with the revision that it serves
    judge:http://localhost:8000/v1#MODEL+PROMPT#style      one dimension of a prompt that has more
    judge:gpt-4                                            a judge of a paper: what it would take

PROMPT is one of ``tstmeta judge prompts`` or a file of yours that ends in ``.toml``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ..schema import Signature, TstmetaError
from .base import Request, Score, Unit, failed
from .batched import BatchedMetric

if TYPE_CHECKING:
    from ..judge.base import Question
    from ..judge.client import Served
    from ..judge.prompts import Prompt


class Model(NamedTuple):
    """A model that a paper asked for ratings: its id, the prompt, and where its ratings are."""

    where: str
    prompt: str
    released: str = ""


#: Judges of the four papers.  pauli2025 says 70B in its text and names an 8B model in its appendix;
#: ``+binary`` was asked for yes or no (mukherjee2025, Table 1).
MODELS = {
    "chatgpt": Model("ChatGPT", "lai2023-content", "; its ratings come with lai: released:chatgpt"),
    "gpt-4": Model("GPT-4", "mukherjee2024-sentiment-style"),
    "llama-3.1-8b": Model("meta-llama/Llama-3.1-8B-Instruct", "mukherjee2024-sentiment-style"),
    "llama-3-70b": Model("meta-llama/Meta-Llama-3-70B-Instruct", "pauli2025"),
    "gpt-4+binary": Model("GPT-4", "mukherjee2025-binary"),
    "llama-3.1-8b+binary": Model("meta-llama/Llama-3.1-8B-Instruct", "mukherjee2025-binary"),
}
_SERVER = ("http://", "https://")


class Judge(BatchedMetric):
    """A language model asked for a rating of content, style, fluency or the whole."""

    name = "judge"
    dimensions: tuple[str, ...] = ("content", "style", "fluency", "overall")
    bases: tuple[str, ...] = ("source",)
    profile = "real"
    max_tokens = None
    #: Its answers are kept; an answer that is asked again would else go beside its old score.
    keeps_answers = True
    VARIANTS: ClassVar[tuple[str, ...]] = tuple(MODELS)
    model: Model | None = None
    chat: Served | None = None
    prompt: Prompt | None = None

    def __init__(self, words: str = ""):
        self.binary = words.endswith("+binary")
        if words.startswith(_SERVER):
            self._describe(*_served(words))
        elif words:
            super().__init__(words)
            self.model = MODELS[words]
            self.dimensions = ("style",) if self.binary else self.dimensions

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """The judges of papers, and what begins with the address of a server."""
        return words in MODELS or words.startswith(_SERVER)

    def _describe(self, chat: Served, prompt: Prompt, dimension: str) -> None:
        from ..judge.ratings import name_of

        dimension = dimension or prompt.dimensions[0]
        if prompt.unit == "pair" or dimension not in prompt.dimensions:
            raise TstmetaError(
                f"the prompt {prompt.name} gives no score of {dimension}: it rates "
                f"{', '.join(prompt.dimensions)} of one {prompt.unit}. Remedy: another prompt, or "
                "tstmeta judge run"
            )
        self.chat, self.prompt, self.dimensions = chat, prompt, (dimension,)
        self.unit: Unit = "source" if prompt.unit == "source" else "item"
        self.languages = prompt.languages
        self.name = name_of(chat.model, prompt.name, dimension * (len(prompt.dimensions) > 1))

    @property
    def missing(self) -> str:
        """Which server is needed, if none is named."""
        if self.chat and self.prompt:
            return ""
        if self.model is None:
            return (
                "no server: name one with its model and a prompt, judge:http://HOST/v1#MODEL+PROMPT"
                f"; what a paper's judge takes is told by {', '.join(MODELS)}"
            )
        return (
            f"no server: to ask {self.model.where}, run tstmeta judge run --data DATA --prompt "
            f"{self.model.prompt} --server URL --model {self.model.where} --scores-out FILE, then "
            f"read FILE with --scores{self.model.released}"
        )

    def fields(self) -> dict[str, object]:
        return {
            "model": self.model.where if self.model else "none",
            "answer": "binary" if self.binary else "number",
        }

    def signature(self, basis: str) -> Signature:
        if not (self.chat and self.prompt):
            return super().signature(basis)
        from ..judge.ratings import origin, signature

        about = {**origin(self.prompt, self.chat), "dimension": self.dimensions[0]}
        return signature(about, samples=1)

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """One score a rewrite, in order; answers are kept beside the scores."""
        if not (self.chat and self.prompt):
            yield from ((failed(self.missing),) * len(unit) for unit in units)
            return
        from ..judge import answers, ratings
        from ..judge.runner import run

        questions: list[Question | TstmetaError] = []  # or why the prompt does not take a unit
        for unit in units:
            try:
                questions.append(self.prompt.question(unit))
            except TstmetaError as error:
                questions.append(error)
        todo = [question for question in questions if not isinstance(question, TstmetaError)]
        with TemporaryDirectory() as elsewhere:  # where no store is, answers are not kept
            cache = (self._folder or Path(elsewhere)) / ratings.ANSWERS
            replies = iter(run(todo, self.chat, cache=cache, progress=self._progress))
        for unit, question in zip(units, questions, strict=True):
            if isinstance(question, TstmetaError):
                yield (failed(str(question)),) * len(unit)
                continue
            rows = answers.read(next(replies), self.prompt, len(unit))
            own = [row[self.dimensions[0]] for row in rows]
            yield tuple(
                ratings.without_value(rating.status, rating.detail)
                if math.isnan(rating.value)
                else Score(rating.value)
                for rating in own
            )


def _served(words: str) -> tuple[Served, Prompt, str]:
    """What ``http://HOST/v1#MODEL@REVISION+PROMPT#DIMENSION`` names; asks nothing yet."""
    from ..judge.client import Served
    from ..judge.prompts import load

    where, _, wanted = words.rpartition("+")
    url, _, served = where.partition("#")
    if "?" in served:
        raise TstmetaError("a query stands before the # of a server's address, and is never sent")
    model, _, revision = served.rpartition("@")
    if not model:  # no revision, or an id that begins with @
        model, revision = served, ""
    if not model:
        raise TstmetaError(
            "which model, and which prompt? Write judge:http://HOST/v1#MODEL+PROMPT; prompts are"
            " listed by tstmeta judge prompts"
        )
    name, _, dimension = wanted.partition("#")
    return Served(url, model, revision=revision), load(name), dimension
