"""Judges as metrics: language models that are asked for a rating, through a server of yours.

    judge:http://localhost:8000/v1#MODEL+PROMPT            asked as it is scored
    judge:http://localhost:8000/v1#MODEL@REVISION+PROMPT   with the revision that it serves
    judge:http://localhost:8000/v1#MODEL+PROMPT#style      one dimension of a prompt that has more

PROMPT is one of ``tstmeta judge prompts`` or a file of yours that ends in ``.toml``.  The judges of
the papers are open forms, see :mod:`.catalogue`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..schema import Signature, TstmetaError
from .base import Request, Score, Unit, failed
from .batched import BatchedMetric

if TYPE_CHECKING:
    from ..judge.base import Question
    from ..judge.client import Served
    from ..judge.prompts import Prompt


class Judge(BatchedMetric):
    """A language model asked for a rating of content, style, fluency or the whole."""

    name = "judge"
    dimensions: tuple[str, ...] = ("content", "style", "fluency", "overall")
    bases: tuple[str, ...] = ("source",)
    profile = "real"
    stored = False
    #: Its answers are kept; an answer that is asked again would else go beside its old score.
    keeps_answers = True
    chat: Served | None = None
    prompt: Prompt | None = None

    def __init__(self, words: str = ""):
        if words:
            self._describe(*_served(words))

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """What begins with the address of a server."""
        return words.startswith(("http://", "https://"))

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
        return (
            "no server: name one with its model and a prompt, judge:http://HOST/v1#MODEL+PROMPT; "
            "tstmeta metrics lists what a paper's judge takes"
        )

    def fields(self) -> dict[str, object]:
        return {"model": "none", "answer": "number"}

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
