"""Many questions by the Batch API: sent as a file, answered within a day, read from a file.

What is sent, how answers are read and where they are kept is as in :mod:`.runner`: the key of a
question is its ``custom_id``, and what a batch answered is never asked directly, nor the other way
round.  Questions are written down in the file of answers after their upload and before their batch
is begun.  The next run takes the batch up; where a kill came between, it looks for a batch of that
file among the server's 100 newest.  So no question is paid for in two batches.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from ..secrecy import excerpt
from . import client as clients
from .base import Question, Reply, Unusable, answered, body, error
from .cache import AnswerCache, asking
from .runner import Budget

if TYPE_CHECKING:
    from .client import Served

#: Requests and bytes of a file, at most.  A server takes more (50,000, in
#: https://platform.openai.com/docs/api-reference/batch/create), but answers are read in one piece.
MOST_REQUESTS, MOST_BYTES = 10_000, 200 * 10**6
ENDPOINT = "/v1/chat/completions"
#: Seconds that a file may take on its way.
TRANSFER = 600.0
#: States that a batch stays in.
ENDED = ("completed", "failed", "expired", "cancelled")
_REMEDY = (
    "Remedy: the same command goes on where this one ended; without --batch, what no batch has "
    "answered is asked directly"
)
#: It becomes part of a path, and is written down.
_Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,199}$")]


class _Passing(Unusable):
    """What may be better in a minute: a server that is busy, a connection that broke."""


class _Batch(BaseModel):
    """A batch as the server describes it; of a file only the id."""

    id: _Id
    status: str = ""
    input_file_id: str = ""
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    errors: Any = None
    request_counts: dict[str, Any] | None = None


class _Listed(BaseModel):
    data: list[_Batch]


class _Response(BaseModel):
    status_code: int
    body: Any = None


class _Line(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: Any = None


def run(
    questions: Sequence[Question],
    chat: Served,
    *,
    cache: Path,
    budget: Budget | None = None,
    poll: float = 30.0,
    tell: Callable[[str], None] = lambda words: None,
) -> list[Reply]:
    """What :func:`.runner.run` gives, asked in batches; no more are sent than the budget allows.

    A batch of an earlier run that has some of the questions is taken up, and counts for the budget.
    A question without an answer in its batch has the reason in its reply, and is asked again in a
    next run.

    Args:
        poll: seconds between two looks at the batches.
        tell: is given a line of words whenever a batch has come further.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        distinct = dict(zip(keys, questions, strict=True))
        replies = asyncio.run(_Run(distinct, chat, answers, budget or Budget(), tell).finish(poll))
    return [replies[key] for key in keys]


@dataclass
class _Run:
    """Questions on their way: in the end each has its reply."""

    questions: dict[str, Question]
    chat: Served
    answers: AnswerCache
    budget: Budget
    tell: Callable[[str], None]
    replies: dict[str, Reply] = field(default_factory=dict)
    #: Batch -> its questions that have no reply yet.
    batches: dict[str, set[str]] = field(default_factory=dict)
    #: Fields that the server would not take.
    refused: set[str] = field(default_factory=set)

    async def finish(self, poll: float) -> dict[str, Reply]:
        """All replies by key."""
        try:
            while len(self.replies) < len(self.questions):
                with asking(self.answers.path, self.chat.server, self.chat.model):
                    await self._take_up()
                    await self._send()
                await self._wait(poll)
                self.chat.leave_out(frozenset(self.refused))
        except _Passing as failure:
            raise Unusable(f"{failure}. {_REMEDY}") from None
        finally:
            await self.chat.close()
        return self.replies

    async def _take_up(self) -> None:
        """Find what is kept, and batches of earlier runs, perhaps killed before they had a name."""
        kept = ((key, self.answers.get(key)) for key in self.questions if key not in self.replies)
        self.replies |= {key: reply for key, reply in kept if reply}
        waiting = self.answers.batched()
        todo = [key for key in self.questions if key in waiting]
        begun: dict[str, str] = {}
        if any(not waiting[key][1] for key in todo):
            listed = await self._call(_Listed, "get", "/batches?limit=100")
            begun = {batch.input_file_id: batch.id for batch in listed.data}
        for key in todo:
            file, batch = waiting[key]
            if name := batch or begun.get(file):
                self.batches.setdefault(name, set()).add(key)
                self.budget.begin(self.questions[key])
        for batch, keys in self.batches.items():
            self.tell(f"batch {batch} of an earlier run is taken up: {len(keys):,} questions")

    async def _send(self) -> None:
        """Begin batches of what has no reply and is in none, as many in each as a file may have."""
        under_way = set().union(*self.batches.values())
        part: dict[str, bytes] = {}
        size = 0
        for key in self.questions:
            if key in self.replies or key in under_way or not (line := self._line(key)):
                continue
            size += len(line)
            if part and (len(part) == MOST_REQUESTS or size > MOST_BYTES):
                await self._begin(part)
                part, size = {}, len(line)
            part[key] = line
            self.budget.begin(self.questions[key])
        if part:
            await self._begin(part)

    def _line(self, key: str) -> bytes:
        """The line of a question; nothing, and the reason as its reply, if it may not be sent."""
        question = self.questions[key]
        sent = body(question, self.chat.model, self.chat.without)
        facts = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": sent}
        limit = self.budget.forbids(question)
        why = f"budget: {limit} are used up" if limit else ""
        if any("\ud800" <= sign <= "\udfff" for m in question.messages for sign in m.content):
            why = clients.HALF
        if why:
            self.replies[key] = Reply(failure=why)
            return b""
        return json.dumps(facts).encode() + b"\n"  # in ASCII: a line is one to every reader

    async def _begin(self, part: dict[str, bytes]) -> None:
        lines = ("questions.jsonl", b"".join(part.values()), "application/jsonl")
        form: dict[str, Any] = {"body": {"purpose": "batch"}, "files": [("file", lines)]}
        form["headers"] = {"Content-Type": "multipart/form-data"}
        file = (await self._call(_Batch, "post", "/files", timeout=TRANSFER, **form)).id
        self.answers.note_batch(part, file)
        facts = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
        # once: a next run looks whether a broken try was heard
        batch = (await self._call(_Batch, "post", "/batches", retries=0, body=facts)).id
        self.answers.note_batch(part, file, batch)
        self.batches[batch] = set(part)
        self.tell(f"batch {batch} is begun: {len(part):,} questions")

    async def _wait(self, poll: float) -> None:
        """See all batches end, and keep what they answered."""
        seen: dict[str, str] = {}
        failures = 0
        while self.batches:
            for name in list(self.batches):
                try:
                    batch = await self._call(_Batch, "get", f"/batches/{name}")
                    counts = batch.request_counts or {}
                    words = f"batch {name}: {batch.status}, "
                    words += f"{counts.get('completed', 0)}/{counts.get('total', 0)} answered"
                    if seen.get(name) != words:
                        self.tell(excerpt(words, mask=self.chat.mask))
                        seen[name] = words
                    if batch.status.lower() in ENDED:
                        await self._collect(name, batch)
                    failures = 0
                except _Passing as failure:
                    self.tell(f"{failure}; looking again")
                    failures += 1
                    if failures >= clients.DEAD:
                        raise
            if self.batches:
                await asyncio.sleep(poll)

    async def _collect(self, name: str, batch: _Batch) -> None:
        keys = self.batches[name]
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            data = await self._answer("get", f"/files/{file}/content", timeout=TRANSFER)
            for text in data.split(b"\n"):  # a text may hold other ends of lines
                try:
                    line = _Line.model_validate_json(text)
                except ValueError:
                    continue
                if line.custom_id in keys:
                    keys.remove(line.custom_id)
                    self._settle(line.custom_id, self._reply(line))
        why = f"no answer in batch {name}, which is {excerpt(batch.status, 40, self.chat.mask)}"
        why += f": {self._words(batch.errors)}" if batch.errors else ""
        for key in keys:
            self._settle(key, _unpaid(why))
        del self.batches[name]

    def _settle(self, key: str, answer: Reply | str) -> None:
        """Keep a reply; what refuses a field is sent again without it."""
        if isinstance(answer, str):
            self.refused.add(answer)
            self.budget.sent -= 1
            answer = _unpaid("")
        else:
            self.replies[key] = self.answers.put(key, self.questions[key], answer)
        self.budget.end(self.questions[key], answer)
        self.answers.forget([key])

    def _reply(self, line: _Line) -> Reply | str:
        """The reply of a line; or the field that it refuses."""
        if line.response is None:
            return _unpaid(self._words(line.error) or "its line in the batch is empty")
        status, data = line.response.status_code, json.dumps(line.response.body).encode()
        sent = body(self.questions[line.custom_id], self.chat.model, self.chat.without)
        try:
            return answered(status, data, sent, self.chat.mask)
        except Unusable as fault:  # of this line: others have answers
            return _unpaid(str(fault))

    def _words(self, facts: Any) -> str:
        return excerpt(json.dumps(facts, ensure_ascii=False), 300, self.chat.mask) if facts else ""

    async def _call(self, kind: type[Any], verb: str, path: str, **facts: Any) -> Any:
        """What the server answers, as an object; no secret of ours is in it."""
        text = (await self._answer(verb, path, **facts)).decode("utf-8", "replace")
        try:
            if self.chat.mask and self.chat.mask.search(text):
                raise ValueError
            return kind.model_validate_json(text)
        except ValueError:
            words = excerpt(text, mask=self.chat.mask) or "nothing"
            raise Unusable(f"{verb} {path}: no answer to use came: {words}. {_REMEDY}") from None

    async def _answer(self, verb: str, path: str, **facts: Any) -> bytes:
        response = await self.chat.send(verb, path, **facts)
        if isinstance(response, str):
            raise _Passing(f"{verb} {path}: {response}")
        if response.status_code == 200:
            return response.content
        if path == "/files" and response.status_code in (404, 405, 501):
            where = f"{self.chat.server} (it answers {response.status_code})"
            raise Unusable(f"no Batch API at {where}. Remedy: the same command without --batch")
        answer = error(response.status_code, response.content, self.chat.mask)
        raise _Passing(f"{verb} {path}: {answer.failure or answer.refusal}")


def _unpaid(why: str) -> Reply:
    return Reply(failure=why, prompt_tokens=0, answer_tokens=0)
