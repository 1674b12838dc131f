"""Many questions by the Batch API: sent as a file, answered within a day, read from a file.

What is sent, how answers are read and where they are kept is as in :mod:`.runner`: the key of a
question is its ``custom_id``, and what a batch answered is never asked directly, nor the other way
round.  What holds of a run that ends early:

- Questions are written down in the file of answers after their upload and before their batch is
  begun.  The next run takes the batch up; where a kill came between, it looks for a batch of that
  file among the server's 100 newest.  So no question is paid for in two batches.
- While a run waits, its questions are claimed: a direct run waits for it, too.  Once it has ended,
  they are free, and a direct run asks (and pays for) what a batch has not yet answered.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from ..secrecy import excerpt
from . import client as clients
from .base import Question, Reply, Unusable
from .cache import AnswerCache
from .client import Served
from .protocol import answered, body, error
from .runner import Budget, in_a_thread, renewing

#: Requests and bytes of a file, at most: https://platform.openai.com/docs/api-reference/batch/create
MOST_REQUESTS, MOST_BYTES = 50_000, 200 * 10**6
#: Seconds that an upload may take.
UPLOAD = 600.0
#: States that a batch stays in.
ENDED = ("completed", "failed", "expired", "cancelled")
ENDPOINT = "/v1/chat/completions"
_REMEDY = (
    "Remedy: the same command goes on where this one ended; without --batch, what no batch has "
    "answered is asked directly"
)
#: It becomes part of a path, and is written down.
_Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,199}$")]


class Passing(Unusable):
    """What may be better in a minute: a server that is busy, a connection that broke."""


class ServerBatch(BaseModel):
    """A batch as the server describes it; of a file only the id."""

    id: _Id
    status: str = ""
    input_file_id: str = ""
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    errors: Any = None
    request_counts: dict[str, Any] | None = None


class _Listed(BaseModel):
    data: list[ServerBatch]


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
        replies = in_a_thread(_Run(distinct, chat, answers, budget or Budget(), tell).finish(poll))
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
    #: Batch -> its questions; question -> the most that it may cost.
    batches: dict[str, set[str]] = field(default_factory=dict)
    reserved: dict[str, tuple[int, int]] = field(default_factory=dict)

    async def finish(self, poll: float) -> dict[str, Reply]:
        """All replies by key."""
        self.replies |= {key: kept for key in self.questions if (kept := self.answers.get(key))}
        todo = [key for key in self.questions if key not in self.replies]
        claimed = [key for key in todo if self.answers.claim(key)]
        renewal = asyncio.create_task(renewing(self.answers))
        try:
            await self._take_up(todo, set(claimed))
            new = [key for key in claimed if key not in self.reserved]
            while new or self.batches:
                await self._send(new)
                new = await self._wait(poll)
        except Passing as failure:
            raise Unusable(f"{failure}. {_REMEDY}") from None
        finally:
            renewal.cancel()
            for key in claimed:
                self.answers.release(key)
            await self.chat.close()
        elsewhere = Reply(failure="another run asks it; when that has ended, run this again")
        left = [key for key in todo if key not in self.replies]
        return self.replies | {key: self.answers.get(key) or elsewhere for key in left}

    async def _take_up(self, todo: Iterable[str], claimed: set[str]) -> None:
        """Batches of earlier runs; what was to be sent when a kill came is free again."""
        entries, unnamed = self.answers.batched(), dict[str, list[str]]()
        for key in todo:
            file, batch = entries.get(key, ("", ""))
            if batch:
                self.batches.setdefault(batch, set()).add(key)
            elif file and key in claimed:  # else its run may be at it
                unnamed.setdefault(file, []).append(key)
        for file, keys in unnamed.items():
            listed = (await self._call(_Listed, "batches.list", limit=100)).data
            begun = [batch for batch in listed if batch.input_file_id == file]
            self._begun(begun[0], file, keys) if begun else self.answers.forget(keys)
        for batch, old in self.batches.items():
            self.tell(f"batch {batch} of an earlier run is taken up: {len(old):,} questions")
            self.reserved |= {key: self.budget.begin(self.questions[key]) for key in old}

    async def _send(self, keys: Iterable[str]) -> None:
        """Begin batches, each with as many questions as a file may have."""
        part: dict[str, bytes] = {}
        size = 0
        for key in keys:
            if not (line := self._request(key)):
                continue
            if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
                await self._send_file(part)
                part, size = {}, 0
            part[key] = line
            size += len(line)
            self.reserved[key] = self.budget.begin(self.questions[key])
        if part:
            await self._send_file(part)

    def _request(self, key: str) -> bytes:
        """The line of a question; nothing, and the reason as its reply, if it may not be sent."""
        sent = body(self.questions[key], self.chat.model, self.chat.without)
        facts = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": sent}
        why = self.budget.forbids(self.questions[key])
        why = f"budget: {why} are used up" if why else ""
        try:
            json.dumps(sent, ensure_ascii=False).encode()
        except UnicodeError:
            why = clients.HALF
        if why:
            self.replies[key] = Reply(failure=why)
            return b""
        return json.dumps(facts).encode() + b"\n"  # in ASCII: a line is one to every reader

    async def _send_file(self, part: dict[str, bytes]) -> None:
        file = ("questions.jsonl", b"".join(part.values()), "application/jsonl")
        upload = {"file": file, "purpose": "batch", "timeout": UPLOAD}
        name: str = (await self._call(ServerBatch, "files.create", **upload)).id
        self.answers.note_batch(part, name)
        how = {"endpoint": ENDPOINT, "completion_window": "24h"}
        batch = await self._call(ServerBatch, "batches.create", input_file_id=name, **how)
        self._begun(batch, name, part)
        self.tell(f"batch {batch.id} is begun: {len(part):,} questions")

    def _begun(self, batch: ServerBatch, file: str, keys: Iterable[str]) -> None:
        self.answers.note_batch(keys, file, batch.id)
        self.batches[batch.id] = set(keys)

    async def _wait(self, poll: float) -> list[str]:
        """See all batches end; the questions to send again, without fields that were refused."""
        again: dict[str, str] = {}
        seen: dict[str, str] = {}
        silent = 0
        while self.batches:
            for name in list(self.batches):
                try:
                    batch = await self._call(ServerBatch, "batches.retrieve", name)
                    counts = batch.request_counts or {}
                    words = f"batch {name}: {batch.status}, "
                    words += f"{counts.get('completed', 0)}/{counts.get('total', 0)} answered"
                    if seen.get(name) != words:
                        self.tell(excerpt(words))
                        seen[name] = words
                    if batch.status.lower() in ENDED:
                        again |= await self._collect(name, batch)
                    silent = 0
                except Passing as failure:
                    self.tell(f"{failure}; looking again")
                    silent += 1
                    if silent >= clients.DEAD:
                        raise
            if self.batches:
                await asyncio.sleep(poll)
        self.chat.leave_out(frozenset(again.values()))
        return list(again)

    async def _collect(self, name: str, batch: ServerBatch) -> dict[str, str]:
        """Keep what a batch answered; of questions without an answer, fields that were refused."""
        keys, again = self.batches[name], dict[str, str]()
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            async for line in self._lines(file):
                key = line.custom_id
                if key not in keys or key in self.replies or key in again:
                    continue
                if isinstance(answer := self._answer(line), Reply):
                    self._settle(key, answer)
                else:
                    again[key] = answer
        why = f"no answer in batch {name}, which is {excerpt(batch.status, 40)}"
        why += f": {self._words(batch.errors)}" * bool(batch.errors)
        for key in keys - set(self.replies) - set(again):
            self._settle(key, _unpaid(why))
        for key in again:
            self.budget.end(self.reserved.pop(key), _unpaid(""))
            self.budget.sent -= 1
        self.answers.forget(self.batches.pop(name))
        return again

    def _answer(self, line: _Line) -> Reply | str:
        """The reply of a line; or the field that it refuses."""
        if line.response is None:
            return _unpaid(self._words(line.error) or "its line in the batch is empty")
        status, data = line.response.status_code, json.dumps(line.response.body).encode()
        sent = body(self.questions[line.custom_id], self.chat.model, self.chat.without)
        try:
            return answered(status, data, sent, self.chat.mask)
        except Unusable as fault:  # of this line: others have answers
            return _unpaid(str(fault))

    def _settle(self, key: str, answer: Reply) -> None:
        self.replies[key] = self.answers.put(key, self.questions[key], answer)
        self.budget.end(self.reserved.pop(key), answer)

    def _words(self, facts: Any) -> str:
        return excerpt(json.dumps(facts, ensure_ascii=False), 300, self.chat.mask) if facts else ""

    async def _call(self, kind: type[Any], what: str, *names: str, **facts: Any) -> Any:
        """What the server answers to ``files.create`` and the like; no secret of ours is in it."""
        resource, verb = what.split(".")

        def call(client: Any, headers: Any) -> Any:
            if what == "batches.create":  # once: a next run looks whether a broken try was heard
                client = client.with_options(max_retries=0)
            method = getattr(getattr(client, resource).with_raw_response, verb)
            return method(*names, extra_headers=headers, **facts)

        text = (await self._heard(call, what)).content.decode("utf-8", "replace")
        try:
            if self.chat.mask and self.chat.mask.search(text):
                raise ValueError
            return kind.model_validate_json(text)
        except ValueError:
            words = excerpt(text, mask=self.chat.mask)
            raise Unusable(f"no answer to {what} came: {words or 'nothing'}. {_REMEDY}") from None

    async def _heard(self, call: clients.Call, what: str) -> Any:
        response = await self.chat.tried(call)
        if isinstance(response, str):
            raise Passing(f"{what}: {response}")
        if response.status_code == 200:
            return response
        if what == "files.create" and response.status_code in (404, 405, 501):
            where = f"{self.chat.server} (it answers {response.status_code})"
            raise Unusable(f"no Batch API at {where}. Remedy: the same command without --batch")
        answer = error(response.status_code, response.content, self.chat.mask)
        raise Passing(f"{what}: {answer.failure or answer.refusal}")

    async def _lines(self, file: str) -> AsyncIterator[_Line]:
        """The lines of a file that can be read, as they come: it may be larger than memory."""
        import httpx2

        def call(client: Any, headers: Any) -> Any:
            files = client.files.with_streaming_response
            return files.content(file, extra_headers=headers).__aenter__()

        response = await self._heard(call, "files.content")
        rest = b""
        try:
            async for part in response.iter_bytes():
                *lines, rest = (rest + part).split(b"\n")  # a text may hold other ends of lines
                for line in filter(None, map(_line, lines)):
                    yield line
                if len(rest) > clients.LONGEST_BODY:
                    raise Unusable(f"a line of the file {file} has no end. {_REMEDY}")
        except httpx2.HTTPError as failure:
            raise Passing(f"files.content: a download broke ({type(failure).__name__})") from None
        finally:
            await response.close()
        if last := _line(rest):
            yield last


def _line(data: bytes) -> _Line | None:
    try:
        return _Line.model_validate_json(data)
    except ValueError:
        return None


def _unpaid(why: str) -> Reply:
    return Reply(failure=why, prompt_tokens=0, answer_tokens=0)
