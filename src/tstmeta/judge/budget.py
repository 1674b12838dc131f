"""What questions cost: an estimate before, a limit that holds, and a report after.

A limit is kept by reserving, before a request is sent, the most that it can cost; what the server
counted takes its place when the answer is there.  So no request under way can break the limit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..schema import TstmetaError
from .base import Chat, Question, Reply
from .cache import Answers

#: Marks of a chat template around each message, and around the whole, in tokens, at most.
_MARKS, _FRAME = 16, 64
#: Characters a token in English, on average, for an estimate without the model's tokenizer.
_CHARACTERS = 4


class Price(NamedTuple):
    """Money for a million tokens, in any currency."""

    prompt: float
    answer: float

    def of(self, prompt_tokens: float, answer_tokens: float) -> float:
        """Money for so many tokens."""
        return (self.prompt * prompt_tokens + self.answer * answer_tokens) / 1e6


class Estimate(NamedTuple):
    """What a run would cost.

    Attributes:
        requests: questions to be asked; equal ones count once.
        kept: questions whose answers are in the cache.
        prompt_tokens: of all requests, four characters taken for one.
        answer_tokens: at most, for every answer may be as long as it is allowed.
        money: at most, and as true as ``prompt_tokens``; None without a price.
    """

    requests: int
    kept: int
    prompt_tokens: int
    answer_tokens: int
    money: float | None

    def __str__(self) -> str:
        words = (
            f"{self.requests:,} requests ({self.kept:,} answers are kept), about "
            f"{self.prompt_tokens:,} tokens of prompts (characters / {_CHARACTERS}) and at most "
            f"{self.answer_tokens:,} of answers"
        )
        return words + ("" if self.money is None else f", about {self.money:,.4g} of money")


def estimate(
    questions: Sequence[Question],
    chat: Chat,
    *,
    cache: Path,
    price: Price | None = None,
) -> Estimate:
    """What :func:`~.runner.run` would ask; asks nothing and writes nothing.

    Args:
        chat: who would be asked; its ``price``, if it has one, when ``price`` is None.
        cache: the file of answers; it need not be there.

    Raises:
        CacheError: the file is not one of ours.
    """
    price = price or getattr(chat, "price", None)
    todo = {
        question.key(chat.server, chat.model, chat.revision): question for question in questions
    }
    kept = 0
    if Path(cache).exists():
        with Answers(cache) as answers:
            known = [key for key in todo if answers.get(key) is not None]
        kept = len(known)
        for key in known:
            del todo[key]
    lengths = (sum(len(one.content) for one in question.messages) for question in todo.values())
    prompt = sum(math.ceil(length / _CHARACTERS) for length in lengths)
    answer = sum(question.sampling.max_tokens for question in todo.values())
    return Estimate(
        requests=len(todo),
        kept=kept,
        prompt_tokens=prompt,
        answer_tokens=answer,
        money=price.of(prompt, answer) if price else None,
    )


def worst(question: Question) -> tuple[int, int]:
    """Most tokens of the prompt and of the answer.

    No vocabulary that we know makes more tokens than a text has bytes, template marks aside; a
    schema is counted, for some servers put it into the prompt.
    """
    size = sum(len(m.content.encode("utf-8", "replace")) + _MARKS for m in question.messages)
    schema = len(json.dumps(question.schema)) if question.schema else 0
    return size + schema + _FRAME, question.sampling.max_tokens


@dataclass
class Spent:
    """What was asked and what it cost, so far.

    Attributes:
        requests: HTTP requests, those that were tried again included.
        answers: questions that were answered.
        failures: questions that were not.
        prompt_tokens, answer_tokens: as the server counted them; for answers where it said
            nothing (``untold``) at most so many.
        lost: requests that broke off: the server may have charged for them.
        lost_prompt, lost_answer: tokens of these, at most.
    """

    requests: int = 0
    answers: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    untold: int = 0
    lost: int = 0
    lost_prompt: int = 0
    lost_answer: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers, lost ones included."""
        return self.prompt_tokens + self.answer_tokens + self.lost_prompt + self.lost_answer

    def money(self, price: Price) -> float:
        """Money for all of it, lost requests included."""
        return price.of(
            self.prompt_tokens + self.lost_prompt, self.answer_tokens + self.lost_answer
        )


@dataclass
class Budget:
    """Limits that no run breaks, and what was spent.  One run at a time may use it.

    Attributes:
        money, tokens, requests: the limits; None for no limit.
        price: needed for a limit on money; that of the chat if None.
        spent: grows; a budget that is used for several runs holds for all of them together.

    Raises:
        TstmetaError: a limit below zero.
    """

    money: float | None = None
    tokens: int | None = None
    requests: int | None = None
    price: Price | None = None
    spent: Spent = field(default_factory=Spent)

    def __post_init__(self) -> None:
        self.under_way = 0
        self._prompt = self._answer = 0  # reserved tokens
        for name in ("money", "tokens", "requests"):
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                raise TstmetaError(f"a budget of {limit} {name} is none; it must be at least 0")

    def begin(self, price: Price | None) -> None:
        """Check the limits before a run; ``price`` is that of the chat.

        Raises:
            TstmetaError: a limit on money without a price.
        """
        self.price = self.price or price
        if self.money is not None and self.price is None:
            raise TstmetaError(
                "a limit on money needs a price. Remedy: give the price of a million tokens of "
                "prompts and of answers, or limit tokens or requests"
            )

    def open(self, question: Question) -> Account | None:
        """Reserve what a question may cost; None if that does not fit now."""
        prompt, answer = worst(question)
        if self._full(prompt, answer):
            return None
        self._prompt, self._answer = self._prompt + prompt, self._answer + answer
        self.under_way += 1
        self.spent.requests += 1
        return Account(self, prompt, answer)

    def why(self, question: Question) -> str:
        """Which limit a question does not fit into."""
        return self._full(*worst(question))

    def _full(self, prompt: int, answer: int) -> str:
        """The limit that one more request with so many tokens would break; empty if none."""
        reserved_prompt, reserved_answer = self._prompt + prompt, self._answer + answer
        if self.requests is not None and self.spent.requests + 1 > self.requests:
            return f"{self.requests:,} requests"
        tokens = self.spent.tokens + reserved_prompt + reserved_answer
        if self.tokens is not None and tokens > self.tokens:
            return f"{self.tokens:,} tokens"
        if self.money is not None and self.price is not None:
            money = self.spent.money(self.price) + self.price.of(reserved_prompt, reserved_answer)
            if money > self.money:
                return f"{self.money:,.6g} of money"
        return ""


class Account:
    """What one question has reserved; closed once, with its reply or without one."""

    def __init__(self, budget: Budget, prompt: int, answer: int):
        self._budget, self._prompt, self._answer = budget, prompt, answer
        self._broke: bool | None = None  # not known while a request is under way

    @classmethod
    def free_of_limits(cls, question: Question) -> Account:
        """One that forbids nothing, for who asks without a budget."""
        return cls(Budget(), *worst(question))

    def again(self, broke: bool) -> str:
        """Another request for the same question.

        Args:
            broke: the last one broke off, and may have been charged.

        Returns:
            The limit that forbids it; empty if it may be sent.
        """
        if broke:
            self._lose()
        # what is reserved stays so, hence only a lost request needs room for its tokens
        full = self._budget._full(0, 0)
        if not full:
            self._budget.spent.requests += 1
        self._broke = None
        return full

    def sent(self) -> None:
        """A request is under way; so it is taken to be where nobody says."""
        self._broke = None

    def over(self, broke: bool) -> None:
        """No request is under way; ``broke``: the last one may have been charged unheard."""
        self._broke = broke

    def close(self, reply: Reply | None) -> None:
        """Take back what was reserved and count what was spent.

        Args:
            reply: None if there is none.  A request that is under way is lost then.
        """
        spent = self._budget.spent
        if self._broke or (reply is None and self._broke is None):
            self._lose()
        if reply is None or reply.failure:
            spent.failures += 1
        else:
            spent.answers += 1
        if reply is not None:
            self._count(reply)
        self._budget._prompt -= self._prompt
        self._budget._answer -= self._answer
        self._budget.under_way -= 1

    def _count(self, reply: Reply) -> None:
        """Tokens of a reply; an answer that the server did not count costs what it may have."""
        spent = self._budget.spent
        told = reply.prompt_tokens is not None and reply.answer_tokens is not None
        if told or not reply.failure:
            spent.untold += not told
            spent.prompt_tokens += (
                self._prompt if reply.prompt_tokens is None else reply.prompt_tokens
            )
            spent.answer_tokens += (
                self._answer if reply.answer_tokens is None else reply.answer_tokens
            )

    def _lose(self) -> None:
        spent = self._budget.spent
        spent.lost += 1
        spent.lost_prompt += self._prompt
        spent.lost_answer += self._answer
