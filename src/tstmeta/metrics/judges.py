"""Judges as metrics: language models that are asked for a rating, through a server of yours.

    judge:http://localhost:8000/v1#MODEL+PROMPT            asked as it is scored
    judge:http://localhost:8000/v1#MODEL@REVISION+PROMPT   with the revision that it serves
    judge:http://localhost:8000/v1#MODEL+PROMPT#style      one dimension of a prompt that has more
    judge:gpt-4                                            a judge of a paper: what it would take

PROMPT is one of ``tstmeta judge prompts`` or a file of yours that ends in ``.toml``.  The judges of
the papers are listed so that nobody wonders where they are; without a server each of their scores
is a row with status ``error`` and the remedy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ..schema import Signature, Status, TstmetaError
from ..secrecy import said
from .base import PairMetric, Request, Score, Unit
from .text import chosen

if TYPE_CHECKING:
    from ..judge.answers import Rating
    from ..judge.base import Chat, Question, Reply
    from ..judge.prompts import Prompt


class Model(NamedTuple):
    """A model that papers asked for ratings.

    Attributes:
        where: its id where it is served.
        prompt: the shipped prompt that the paper asked it with.
        released: where ratings that it gave were published; empty if they were not.
    """

    where: str
    prompt: str
    released: str = ""


#: Judges of the four papers.  pauli2025 says 70B in its text and names an 8B model in its appendix.
MODELS = {
    "chatgpt": Model(
        "ChatGPT",
        "lai2023-content",
        "its ratings come with the data set lai, as released:chatgpt",
    ),
    "gpt-4": Model("GPT-4", "mukherjee2024-sentiment-style"),
    "llama-3.1-8b": Model("meta-llama/Llama-3.1-8B-Instruct", "mukherjee2024-sentiment-style"),
    "llama-3-70b": Model("meta-llama/Meta-Llama-3-70B-Instruct", "pauli2025"),
}
#: Judges that were asked for yes or no as well as for a number (mukherjee2025, Table 1).
_BINARY = ("gpt-4", "llama-3.1-8b")
_BINARY_PROMPT = "mukherjee2025-binary"
#: Characters of an answer that a score tells.
_SHOWN = 300
_SERVER = ("http://", "https://")


class Judge(PairMetric):
    """A language model asked for a rating of content, style, fluency or the whole.

    ``judge:gpt-4`` is asked for a number, ``judge:gpt-4+binary`` whether the style was changed,
    yes or no (mukherjee2025, Table 1); both only say what it takes.  A form that names a server
    is asked; so is one made of ``chat`` and ``prompt``.

    Args:
        words: what stands after ``judge:``.
        chat, prompt: the same as objects; they win over words.
        dimension: of the prompt; its first by default.
        concurrency: questions under way at the same time.

    Raises:
        TstmetaError: a server without model or prompt, or no such prompt or dimension.
    """

    name = "judge"
    dimensions: tuple[str, ...] = ("content", "style", "fluency", "overall")
    bases: tuple[str, ...] = ("source",)
    profile = "real"
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = (*MODELS, *(f"{name}+binary" for name in _BINARY))

    def __init__(
        self,
        words: str = "",
        *,
        chat: Chat | None = None,
        prompt: Prompt | None = None,
        dimension: str = "",
        concurrency: int = 16,
    ):
        self.model: Model | None = None
        self.binary = False
        self.chat, self.prompt, self.concurrency = chat, prompt, concurrency
        self._folder: Path | None = None
        self._progress = False
        if words.startswith(_SERVER):
            self.chat, self.prompt, dimension = _understood(words)
        elif words:
            name, _, binary = chosen(self, words).partition("+")
            self.model, self.binary = MODELS[name], bool(binary)
            self.dimensions = ("style",) if binary else self.dimensions
        if self.chat and self.prompt:
            self._named(self.chat, self.prompt, dimension)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """The judges of the papers, and whatever begins with the address of a server."""
        return words in Judge.VARIANTS or words.startswith(_SERVER)

    def _named(self, chat: Chat, prompt: Prompt, dimension: str) -> None:
        """Take name, unit, dimension and languages from model and prompt."""
        from ..judge.ratings import name_of

        if prompt.unit == "pair":
            raise TstmetaError(
                f"the prompt {prompt.name} compares two rewrites and gives no score of one; use"
                " tstmeta judge run"
            )
        self.dimensions = (_dimension(prompt, dimension),)
        self.unit: Unit = "source" if prompt.unit == "source" else "item"
        self.languages = prompt.languages
        several = self.dimensions[0] if len(prompt.dimensions) > 1 else ""
        self.name = name_of(chat.model, prompt.name, several)

    @property
    def missing(self) -> str:
        """Which server is needed; empty where one is named."""
        if self.chat and self.prompt:
            return ""
        if self.model is None:
            known = ", ".join(f"{self.name}:{name}" for name in MODELS)
            return (
                f"no server: name one with its model and a prompt, "
                f"{self.name}:http://HOST/v1#MODEL+PROMPT; what a paper's judge takes is told by "
                f"{known}"
            )
        prompt = _BINARY_PROMPT if self.binary else self.model.prompt
        run = (
            f"tstmeta judge run --data DATA --prompt {prompt} --server URL --model "
            f"{self.model.where} --scores-out FILE, then read FILE with --scores"
        )
        return f"no server: to ask {self.model.where}, run {run}" + (
            f"; {self.model.released}" if self.model.released else ""
        )

    def fields(self) -> dict[str, object]:
        return {
            "model": self.model.where if self.model else "none",
            "answer": "binary" if self.binary else "number",
        }

    def signature(self, basis: str) -> Signature:
        """Server, model, revision, prompt with its hash, sampling; never a key."""
        if not (self.chat and self.prompt):
            return super().signature(basis)
        from ..judge.ratings import Manner, signature

        row = {
            "server": self.chat.server,
            "model": self.chat.model,
            "revision": self.chat.revision,
            "prompt": self.prompt.name,
            "prompt_hash": self.prompt.hash,
            "dimension": self.dimensions[0],
            "asked_how": Manner().shown(self.prompt),
        }
        return signature(row, samples=1)

    def keep_in(self, folder: Path, progress: bool) -> None:
        """Scoring says where the store is and whether bars are wanted."""
        self._folder, self._progress = folder, progress

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """One score a rewrite, in order; answers are kept beside the scores, and asked once."""
        if self.missing or not (self.chat and self.prompt):
            yield from (tuple(_failed(self.missing) for _ in unit) for unit in units)
            return
        from ..judge.ratings import ANSWERS

        with TemporaryDirectory() as elsewhere:  # where no store is, answers are not kept
            cache = (self._folder or Path(elsewhere)) / ANSWERS
            yield from self._answered(units, self.chat, self.prompt, cache)

    def _answered(
        self, units: Sequence[tuple[Request, ...]], chat: Chat, prompt: Prompt, cache: Path
    ) -> Iterator[tuple[Score, ...]]:
        from ..judge.answers import read
        from ..judge.ratings import question_of
        from ..judge.runner import run

        questions: list[Question] = []
        asked: list[int | str] = []  # the place of a unit's question, or why there is none
        for unit in units:
            try:
                questions.append(question_of(prompt, unit))
                asked.append(len(questions) - 1)
            except TstmetaError as error:  # a style or language that the prompt is not made for
                asked.append(str(error))
        replies = run(
            questions, chat, cache=cache, concurrency=self.concurrency, progress=self._progress
        )
        found: dict[int, Reply] = {}
        for unit, place in zip(units, asked, strict=True):
            if isinstance(place, str):
                yield tuple(_failed(place) for _ in unit)
                continue
            while place not in found:
                found.update([next(replies)])
            ratings = read(found.pop(place), prompt, len(unit))
            yield tuple(_score(one[self.dimensions[0]]) for one in ratings)


def _understood(words: str) -> tuple[Chat, Prompt, str]:
    """What ``http://HOST/v1#MODEL@REVISION+PROMPT#DIMENSION`` names; asks nothing yet.

    Raises:
        TstmetaError: a part is missing or names nothing.
    """
    from ..judge.client import connect
    from ..judge.prompts import load

    where, _, asked = words.rpartition("+")
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
    name, _, dimension = asked.partition("#")
    return connect(url, model, revision=revision), load(name), dimension


def _dimension(prompt: Prompt, dimension: str) -> str:
    """The dimension named, or the prompt's first.

    Raises:
        TstmetaError: the prompt does not rate it.
    """
    if dimension and dimension not in prompt.dimensions:
        raise TstmetaError(
            f"the prompt {prompt.name} does not rate {dimension!r}; it rates "
            f"{', '.join(prompt.dimensions)}"
        )
    return dimension or prompt.dimensions[0]


def _score(rating: Rating) -> Score:
    """A rating as a score; an answer that broke off before its rating is invalid."""
    if math.isfinite(rating.value):
        return Score(rating.value, rating.status, "")
    status, detail = rating.status, said(rating.detail, _SHOWN)
    if status.has_value:
        status, detail = Status.INVALID, f"{status}: {detail}"
    return Score(math.nan, status, detail)


def _failed(reason: str) -> Score:
    return Score(math.nan, Status.ERROR, reason)
