"""Why a rewrite got its scores: every token with what each instruction said of it.

Content and style strength are means over tokens, so nothing about them is hidden: an
:class:`Explanation` holds each token's part of both means, and the characters that it stands for.
It is pure data; ``tstmeta explain`` and :func:`tstmeta.plot.strip` draw it.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import paths
from ..schema import Status, TstmetaError
from .characters import shown, spans
from .instructions import TASKS
from .scorer import Judged, Rewrite, Scorer
from .tokens import Variant, content, explained_by, style
from .zeroshot import Likelihood

if TYPE_CHECKING:
    from ..data.base import Dataset

#: What has no value although all tokens have one: only a rounded probability can be 0.
_ZERO = "a token's probability was rounded to 0"


class Token(NamedTuple):
    """One token of a rewrite.

    ``text`` is ``output[start:end]``; all texts in a row are the output.  Byte-level tokenizers
    cut some characters into several tokens: the first of them has the character, the others are
    empty.  ``logprobs`` are natural logarithms in the order of TASKS, rounded where the variant
    rounds.  ``counts`` says whether the variant's means include the token.
    """

    id: int
    text: str
    start: int
    end: int
    logprobs: tuple[float, float, float]
    counts: bool = True

    @property
    def best(self) -> str:
        """The instruction that accounts for it best; the first of equals in TASKS."""
        return explained_by(np.array(self.logprobs)[:, None])[0]

    @property
    def content(self) -> float:
        """Its part of content, Pauli et al. (2025), Eq. 1: log max p, <= 0."""
        return content(np.array(self.logprobs)[:, None])

    @property
    def style(self) -> float:
        """Its part of style strength, Eq. 2: p_style - max(p_paraphrase, p_repeat), in [-1, 1]."""
        return style(np.array(self.logprobs)[:, None])


class Piece(NamedTuple):
    """Characters of the output with the tokens that make them up: what a reader can be shown."""

    text: str
    start: int
    end: int
    tokens: tuple[Token, ...]

    @property
    def best(self) -> str:
        """The instruction under which the whole piece is likeliest."""
        return explained_by(np.array([token.logprobs for token in self.tokens]).sum(0)[:, None])[0]

    @property
    def content(self) -> float:
        """Mean of its tokens' parts of content: what a token of it adds to the mean, <= 0."""
        return sum(token.content for token in self.tokens) / len(self.tokens)

    @property
    def counts(self) -> bool:
        """Whether any of its tokens counts."""
        return any(token.counts for token in self.tokens)


@dataclass(frozen=True)
class Explanation:
    """A rewrite, its tokens and what they add up to.

    ``content`` and ``style`` are NaN where the status carries no value.  ``wording`` is the target
    style as the instruction has it, ``asked`` are the three requests in the order of TASKS.
    ``end_of_turn`` is None where the output was cut.  ``demonstration``: the model is the embedded
    one, which shows how the method works and reproduces nothing.
    """

    rewrite: Rewrite
    wording: str
    asked: tuple[str, ...]
    tokens: tuple[Token, ...]
    end_of_turn: Token | None
    content: float
    style: float
    status: Status
    detail: str
    model: str
    instructions: str
    variant: str
    signature: str = ""
    demonstration: bool = False
    name: str = ""

    @property
    def scored(self) -> tuple[Token, ...]:
        """The tokens that count; content and style are the means of their parts."""
        every = (*self.tokens, *([self.end_of_turn] if self.end_of_turn else []))
        return tuple(token for token in every if token.counts)

    @property
    def rest(self) -> str:
        """What was cut off the output and not scored."""
        return self.rewrite.output[self.tokens[-1].end if self.tokens else 0 :]

    @property
    def pieces(self) -> list[Piece]:
        """Tokens, those that share a character together; their texts in a row are the output."""
        groups: list[list[Token]] = []
        for token in self.tokens:
            if groups and token.start == token.end:
                groups[-1].append(token)
            else:
                groups.append([token])
        return [_piece(group) for group in groups]

    @property
    def words(self) -> list[list[Piece]]:
        """Pieces grouped at white space, which stands at the beginning of a word."""
        groups: list[list[Piece]] = []
        for piece in self.pieces:
            begins = piece.text[:1].isspace() and not (groups and groups[-1][-1].text.isspace())
            if groups and not begins:
                groups[-1].append(piece)
            else:
                groups.append([piece])
        return groups

    def table(self) -> pd.DataFrame:
        """One row a token: p under each instruction, the best one, the parts of C and S.

        A token that shares a character is shown as the character with its number, as in
        ``é [2/2]``.  A token that does not count has no parts.
        """
        rows = [
            {
                "token": shown(piece.text) + _number(place, len(piece.tokens)),
                **{f"p_{task}": math.exp(token.logprobs[row]) for row, task in enumerate(TASKS)},
                "best": token.best,
                "C": token.content if token.counts else math.nan,
                "S": token.style if token.counts else math.nan,
            }
            for piece in [*self.pieces, *self._ending()]
            for place, token in enumerate(piece.tokens)
        ]
        names = ["token", *(f"p_{task}" for task in TASKS), "best", "C", "S"]
        return pd.DataFrame(rows, columns=names)

    def _ending(self) -> list[Piece]:
        """The end of the turn as a piece, where it counts."""
        end = self.end_of_turn
        return [_piece([end])._replace(text="⟨end⟩")] if end and end.counts else []

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; a logarithm of 0 and a missing value are None."""
        ends = [self.end_of_turn] if self.end_of_turn else []
        return {
            "name": self.name,
            **self.rewrite._asdict(),
            "wording": self.wording,
            "asked": dict(zip(TASKS, self.asked, strict=True)),
            "C": finite(self.content),
            "S": finite(self.style),
            "status": str(self.status),
            "detail": self.detail,
            "model": self.model,
            "instructions": self.instructions,
            "variant": self.variant,
            "signature": self.signature,
            "demonstration": self.demonstration,
            "tokens": [_token_dict(token) for token in self.tokens],
            "end_of_turn": next(map(_token_dict, ends), None),
        }


def explain(
    scorer: Scorer,
    rewrite: Rewrite,
    judged: Judged,
    *,
    signature: str = "",
    demonstration: bool = False,
    name: str = "",
) -> Explanation:
    """What a scorer's judgement of a rewrite is made of.

    Args:
        judged: what ``scorer.judge([rewrite])`` gave.

    Raises:
        TstmetaError: the tokenizer does not say which characters a token stands for, or the
            judgement is not that of this rewrite.
    """
    places = spans(scorer.model.tokenizer, rewrite.output, judged.tokens)
    logprobs, counts = _valued(scorer.variant, judged.logprobs)
    values, status, detail = values_of(scorer, judged)
    made = [
        Token(
            number,
            rewrite.output[start:end],
            start,
            end,
            tuple(logprobs[:, place].tolist()),
            bool(counts[place]),
        )
        for place, (number, (start, end)) in enumerate(zip(judged.tokens, places, strict=True))
    ]
    whole, last = len(rewrite.output), None
    if logprobs.shape[1] and not np.isnan(logprobs[:, -1]).any():
        at_end = tuple(logprobs[:, -1].tolist())
        last = Token(scorer.template.end_of_turn, "", whole, whole, at_end, bool(counts[-1]))
    wording = scorer.wordings.get(rewrite.style, rewrite.style)
    return Explanation(
        rewrite,
        wording,
        scorer.instructions.fill(rewrite.source, wording),
        tuple(made),
        last,
        *values,
        status,
        detail,
        scorer.model.identity.replace("|", " "),
        scorer.instructions.name,
        scorer.variant.name,
        signature,
        demonstration,
        name,
    )


def explained(
    metric: Likelihood,
    rewrites: Sequence[Rewrite],
    names: Sequence[str] | None = None,
    *,
    progress: bool = False,
) -> list[Explanation]:
    """Explanations of several rewrites by a metric: the numbers that its scores are made of.

    What is in the metric's token cache (:meth:`Likelihood.keep_in`) is not computed again.

    Raises:
        MissingModel: the model is not here and cannot be fetched.
    """
    scorer, signature = metric.scorer(), str(metric.signature("source"))
    found = scorer.judge(rewrites, progress=progress)
    shows = metric.profile == "embedded"
    return [
        explain(scorer, rewrite, judged, signature=signature, demonstration=shows, name=name)
        for rewrite, judged, name in zip(
            rewrites, found, [""] * len(rewrites) if names is None else names, strict=True
        )
    ]


def metric_of(words: str = "", store: Path | None = None) -> Likelihood:
    """The metric ``likelihood:WORDS`` with its token cache in a score store.

    Args:
        words: as in ``likelihood:WORDS``; with that beginning or without it.
        store: the score store (default ``data/scores``).
    """
    metric = Likelihood(words.removeprefix("likelihood").removeprefix(":"))
    metric.keep_in(store or paths.scores(), progress=False)
    return metric


def of_items(
    metric: Likelihood, dataset: Dataset, item_ids: Sequence[str], *, progress: bool = False
) -> list[Explanation]:
    """Explanations of items of a data set, in the order of ``item_ids``.

    Raises:
        TstmetaError: an item that is not there, with the nearest ones.
        MissingModel: the model is not here and cannot be fetched.
    """
    check_items(dataset, item_ids)
    items = dataset.items.set_index("item_id")
    rows = items.loc[list(item_ids), ["source", "output", "style"]]
    rewrites = [Rewrite(*row) for row in rows.itertuples(index=False)]
    return explained(metric, rewrites, item_ids, progress=progress)


def check_items(dataset: Dataset, item_ids: Sequence[str]) -> None:
    """Refuse an item that is not there.

    Raises:
        TstmetaError: names the nearest ones.
    """
    known = set(dataset.items["item_id"])
    for one in item_ids:
        if one not in known:
            near = difflib.get_close_matches(one, known, n=3, cutoff=0.4)
            first = dataset.items["item_id"].iloc[0]
            hint = f"did you mean {' or '.join(near)}?" if near else f"such as {first}"
            raise TstmetaError(f"{dataset.name!r} has no item {one!r}; {hint}")


def values_of(scorer: Scorer, judged: Judged) -> tuple[tuple[float, float], Status, str]:
    """(C, S), status and detail of a judgement; NaN where the status carries no value."""
    if not judged.status.has_value:
        return (math.nan, math.nan), judged.status, judged.detail
    found = scorer.content(judged), scorer.style(judged)
    if not math.isfinite(found[0]):
        return (math.nan, math.nan), Status.INVALID, _ZERO
    return found, judged.status, judged.detail


def _valued(variant: Variant, logprobs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[3, columns] as the variant has them, and [columns] whether each counts."""
    counted = variant.columns(logprobs)
    values, counts = logprobs.astype(float), np.zeros(logprobs.shape[1], dtype=bool)
    first = int(variant.skip_first)
    counts[first : first + counted.shape[1]] = True
    values[:, counts] = counted
    return values, counts


def _piece(group: Sequence[Token]) -> Piece:
    text = "".join(token.text for token in group)
    return Piece(text, group[0].start, group[-1].end, tuple(group))


def _number(place: int, of: int) -> str:
    return f" [{place + 1}/{of}]" if of > 1 else ""


def finite(value: float) -> float | None:
    """A number, or None for what is none."""
    return float(value) if math.isfinite(value) else None


def _token_dict(token: Token) -> dict[str, Any]:
    logs = {task: finite(value) for task, value in zip(TASKS, token.logprobs, strict=True)}
    return {
        "id": token.id,
        "text": token.text,
        "start": token.start,
        "end": token.end,
        **logs,
        "best": token.best,
        "counts": token.counts,
    }


def to_json(explanations: Sequence[Explanation]) -> str:
    """A JSON list of explanations, one a line."""
    lines = [json.dumps(one.to_dict(), ensure_ascii=False, allow_nan=False) for one in explanations]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def to_frame(explanations: Sequence[Explanation]) -> pd.DataFrame:
    """The tables of several explanations below each other, with ``name`` and ``place`` before."""
    tables = []
    for one in explanations:
        table = one.table()
        table.insert(0, "name", one.name)
        table.insert(1, "place", range(1, len(table) + 1))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
