"""The scorer: rewrites in, token log-probabilities under the three instructions out."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..models.causal import Continuation, LanguageModel
from ..models.template import ControlMark, Template
from ..models.tokencache import Cached
from ..schema import Status, TstmetaError
from . import instructions as sets
from . import tokens
from .instructions import TASKS, Instructions


class Rewrite(NamedTuple):
    """A rewrite to score: the output should say what the source says, in the target style."""

    source: str
    output: str
    style: str


class TokenScores(NamedTuple):
    """A rewrite's tokens and their log-probabilities: float32 [3, tokens + 1], rows as in TASKS.

    The last column is the end of the turn, NaN where the output was cut; ``invalid`` has no column.
    """

    tokens: tuple[int, ...]
    logprobs: np.ndarray
    status: Status = Status.OK
    detail: str = ""


class Scorer:
    """The zero-shot likelihood method of Pauli et al. (2025), Section 3.3, on a backend.

    Args:
        instructions: a set, or the name of a shipped one.
        variant: ``equation`` or ``released``, see :data:`~.tokens.VARIANTS`.
        store: folder of the score store, which keeps token log-probabilities; none by default.
    """

    def __init__(
        self,
        model: LanguageModel,
        instructions: Instructions | str = "paper",
        variant: str = "equation",
        store: Path | None = None,
    ):
        if variant not in tokens.VARIANTS:
            raise TstmetaError(f"no variant is called {variant!r}; use equation or released")
        self.model = Cached(model, store)
        self.instructions = sets.get(instructions)
        self.released = variant == "released"
        self.template = Template(model.tokenizer, bare=self.released)
        # many rewrites share a source, and so its three contexts
        self._contexts = lru_cache(maxsize=2**16)(self._written)

    def judge(self, rewrites: Sequence[Rewrite], *, progress: bool = False) -> list[TokenScores]:
        """Token log-probabilities of each rewrite.

        An output that is longer than the model's window leaves room for is cut (``truncated``), a
        blank one has the end of the turn alone (``empty``).  ``invalid`` are a source that leaves
        no room, a rewrite without a target style, and a token to which the model gives no number.
        """
        prepared = [self._prepare(rewrite) for rewrite in rewrites]
        requests = [request for _, wanted in prepared for request in wanted]
        answers = dict(chain.from_iterable(self.model.logprobs(requests, progress=progress)))
        in_order = (answers[place] for place in range(len(requests)))
        return [_filled(scores, [next(in_order) for _ in wanted]) for scores, wanted in prepared]

    def content(self, scores: TokenScores) -> float:
        """Eq. 1 under the variant; NaN when invalid.

        Of an output without tokens log(1 / vocabulary), as if every token came from a blind draw.
        """
        if not scores.status.has_value:
            return math.nan
        columns = tokens.columns(scores.logprobs, self.released)
        return tokens.content(columns) if columns.size else -math.log(self.model.vocabulary)

    def style(self, scores: TokenScores) -> float:
        """Eq. 2 under the variant; 0 of an output without tokens; NaN when invalid."""
        if not scores.status.has_value:
            return math.nan
        columns = tokens.columns(scores.logprobs, self.released)
        return tokens.style(columns) if columns.size else 0.0

    def requests(self, source: str, style: str) -> tuple[str, str, str]:
        """What the user asks for under each task, the style in its wording."""
        return self.instructions.fill(source, sets.wordings().get(style, style))

    def _written(self, source: str, style: str) -> tuple[tuple[int, ...], ...]:
        system = self.instructions.system
        return tuple(self.template.context(system, user) for user in self.requests(source, style))

    def _prepare(self, rewrite: Rewrite) -> tuple[TokenScores, list[Continuation]]:
        """A rewrite's tokens, their log-probabilities still NaN, and what to ask the model."""
        if not rewrite.style.strip():
            return _invalid("no target style; name it in the column style"), []
        try:
            contexts = self._contexts(rewrite.source, rewrite.style)
            ids = self.template.tokens(rewrite.output) if rewrite.output.strip() else ()
        except ControlMark as error:
            return _invalid(str(error)), []
        longest, window = max(map(len, contexts)), self.model.window
        room = window - longest
        if room < min(1, len(ids)):
            detail = (
                f"instruction and source take {longest} of the {window} tokens of the model's "
                "window and leave no room for an output; use a model with a longer one"
            )
            return _invalid(detail), []
        scored, end = ids[:room], [self.template.end_of_turn]
        status, detail = (Status.OK, "") if ids else (Status.EMPTY, "empty output")
        if len(scored) < len(ids):
            status, end = Status.TRUNCATED, []
            detail = f"{len(ids)} tokens, first {len(scored)} fit into the model's window"
        logprobs = np.full((len(TASKS), len(scored) + 1), np.nan, dtype=np.float32)
        requests = [Continuation(context, (*scored, *end)) for context in contexts]
        return TokenScores(scored, logprobs, status, detail), requests


def _filled(scores: TokenScores, answers: Sequence[np.ndarray]) -> TokenScores:
    for row, values in enumerate(answers):
        scores.logprobs[row, : len(values)] = values
    if any(np.isnan(values).any() for values in answers):
        return _invalid("the model's answer for a token is no number")
    return scores


def _invalid(detail: str) -> TokenScores:
    return TokenScores((), np.empty((len(TASKS), 0), dtype=np.float32), Status.INVALID, detail)
