"""The scorer: rewrites in, token log-probabilities under the three instructions out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..models.causal import Continuation, LanguageModel, refuse
from ..models.template import ControlMark, Template
from ..schema import Status, TstmetaError
from . import instructions, styles
from .instructions import TASKS, Instructions
from .tokens import Variant, chosen, content, style


class Rewrite(NamedTuple):
    """What is judged: an output that is meant to say what the source says, in a style."""

    source: str
    output: str
    style: str


class Judged(NamedTuple):
    """A rewrite's tokens with their log-probabilities.

    ``logprobs`` is float32 [3, tokens + 1], rows as in TASKS; the last column is the end of the
    turn, NaN where the output was cut.  Without a value (status ``invalid``) it has no columns.
    """

    tokens: tuple[int, ...]
    logprobs: np.ndarray
    status: Status = Status.OK
    detail: str = ""


class Scorer:
    """The zero-shot likelihood method of Pauli et al. (2025), Section 3.3, on a backend.

    >>> scorer = Scorer(load("embedded"))                             # doctest: +SKIP
    >>> judged, = scorer.judge([Rewrite("It was bad.", "It was great.", "positive")])
    >>> scorer.content(judged), scorer.style(judged)

    Args:
        model: anything that gives token log-probabilities.
        instructions: a set, or the name of a shipped one.
        variant: ``equation`` or ``released``, or a :class:`Variant` of your own.
        wordings: style -> words in the instruction (default: the shipped table).
    """

    def __init__(
        self,
        model: LanguageModel,
        instructions: Instructions | str = "paper",
        variant: Variant | str = "equation",
        wordings: Mapping[str, str] | None = None,
    ):
        self.model = model
        self.instructions = named(instructions)
        self.variant = chosen(variant)
        self.wordings = styles.shipped() if wordings is None else wordings
        self.template = Template(model.tokenizer, bare=self.variant.bare)
        # many rewrites share a source, and so its three contexts
        self._contexts = lru_cache(maxsize=2**16)(self._written)

    def judge(self, rewrites: Sequence[Rewrite], *, progress: bool = False) -> list[Judged]:
        """Token log-probabilities of each rewrite.

        An output that is longer than the model's window leaves room for is cut: status
        ``truncated``.  A source that leaves no room for any output, and a rewrite without a target
        style: ``invalid``.  A blank output: ``empty``, as for every metric, with the end of the
        turn alone.
        A token to which the model gives no number: ``invalid``.

        Raises:
            TstmetaError: the backend leaves a request out, answers one with another number of
                values, or gives log-probabilities above 0.
        """
        asked: list[Continuation] = []
        found: list[Judged] = []
        for rewrite in rewrites:
            judged, requests = self._requests(rewrite)
            found.append(judged)
            asked += requests
        answers: dict[int, np.ndarray] = {}
        for batch in self.model.logprobs(asked, progress=progress):
            for place, values in batch:
                refuse(values, asked[place], self.model.identity)
                answers[place] = values
        if len(answers) < len(asked):
            missing = len(asked) - len(answers)
            raise TstmetaError(f"{self.model.identity} left {missing} of {len(asked)} requests out")
        place = 0
        for rank, judged in enumerate(found):
            if judged.status is Status.INVALID:
                continue
            for row in range(len(TASKS)):
                values = answers[place]
                judged.logprobs[row, : len(values)] = values
                place += 1
                if np.isnan(values).any():
                    found[rank] = _invalid("the model's answer for a token is no number")
        return found

    def content(self, judged: Judged) -> float:
        """Eq. 1 under the variant; of an output without tokens :attr:`blind`; NaN when invalid."""
        if not judged.status.has_value:
            return math.nan
        columns = self.variant.columns(judged.logprobs)
        return content(columns) if columns.size else self.blind

    def style(self, judged: Judged) -> float:
        """Eq. 2 under the variant; 0 of an output without tokens; NaN when invalid."""
        if not judged.status.has_value:
            return math.nan
        columns = self.variant.columns(judged.logprobs)
        return style(columns) if columns.size else 0.0

    @property
    def blind(self) -> float:
        """log(1 / vocabulary): what content would be if every token came from a blind draw."""
        return -math.log(self.model.vocabulary)

    def texts(self, judged: Judged) -> list[str]:
        """The tokens as they are written; bytes that are no text by themselves as ``\\ufffd``."""
        return [self.model.tokenizer.decode([token]) for token in judged.tokens]

    def _requests(self, rewrite: Rewrite) -> tuple[Judged, list[Continuation]]:
        if not rewrite.style.strip():
            return _invalid("no target style; name it in the column style"), []
        try:
            contexts = self._contexts(rewrite.source, rewrite.style)
            tokens = self.template.tokens(rewrite.output) if rewrite.output.strip() else ()
        except ControlMark as error:
            return _invalid(str(error)), []
        longest, window = max(map(len, contexts)), self.model.window
        room = window - longest
        if room < min(1, len(tokens)):
            detail = (
                f"instruction and source take {longest} of the {window} tokens of the model's "
                "window and leave no room for an output; use a model with a longer one"
            )
            return _invalid(detail), []
        kept, end = tokens[:room], [self.template.end_of_turn]
        status = Status.OK if tokens else Status.EMPTY
        detail = "" if tokens else "empty output"
        if len(kept) < len(tokens):
            status, end = Status.TRUNCATED, []
            detail = f"{len(tokens)} tokens, first {len(kept)} fit into the model's window"
        logprobs = np.full((len(TASKS), len(kept) + 1), np.nan, dtype=np.float32)
        requests = [Continuation(context, (*kept, *end)) for context in contexts]
        return Judged(kept, logprobs, status, detail), requests

    def _written(self, source: str, wanted: str) -> tuple[tuple[int, ...], ...]:
        """Token ids of the three contexts of a source."""
        wording = self.wordings.get(wanted, wanted)
        users = self.instructions.fill(source, wording)
        return tuple(self.template.context(self.instructions.system, user) for user in users)


def _invalid(detail: str) -> Judged:
    return Judged((), np.empty((len(TASKS), 0), dtype=np.float32), Status.INVALID, detail)


def named(given: Instructions | str) -> Instructions:
    """An instruction set, by name where a name is given."""
    return instructions.get(given) if isinstance(given, str) else given
