"""The construction itself: step after step, from kept answers where there are any.

Nothing but the plan, the kept answers and a person's edits decides what comes out.  So a run that
was killed is made again from the start, and only what nobody answered yet is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...data.contrast import span_of
from ...schema import TstmetaError
from ..base import Chat, Question, Reply
from ..budget import Budget, Estimate, estimate
from ..cache import Answers
from ..runner import run
from . import steps
from .checks import duplicates
from .journal import Entry, entry
from .plan import Plan
from .steps import BATCH
from .table import FILE, Edit
from .verdicts import CELLS, ELSEWHERE, REJECTED, Row, Rules, Verdict, digest, verdicts

ANSWERS = "answers.sqlite"
#: Rewrites that are asked for together; each step needs the one before.
WAVES = (("strong", "light"), ("light-error",), ("strong-error",))
#: Rounds without a new source after which the model is asked for no more.
_BARREN = 3
_UNKNOWN = "it is not asked yet"

#: Answers to questions, in order.
Ask = Callable[[Sequence[Question]], list[Reply]]
Key = tuple[str, str]


class Built(NamedTuple):
    """What came out.

    Attributes:
        rows: four a source, in order.
        found: their verdicts.
        unanswered: questions of this run that nobody answered.
        missing: sources that the model was asked for and did not give.
    """

    rows: list[Row]
    found: dict[Key, Verdict]
    unanswered: int
    missing: int


def rules(plan: Plan) -> Rules:
    """What the checks need to know of a plan."""
    return Rules(plan.setting.language, steps.told(plan.setting), bool(plan.generate))


def build(
    plan: Plan,
    chat: Chat,
    ask: Ask,
    *,
    tries: int = 2,
    edits: Mapping[Key, Edit] | None = None,
    keep: Callable[[list[Entry]], None] = lambda entries: None,
) -> Built:
    """Ask for every rewrite that no person has settled.

    Args:
        ask: gives the answers, kept or new.
        tries: how often a step is asked for while a check finds a fault that another answer may
            not have; the last text counts.
        edits: rows that a person has settled; they are taken as they are.
        keep: takes journal entries as soon as they are known.
    """
    asker = _Asker(chat, ask, keep)
    sources = plan.sources or _sources(plan, asker)
    rows = _begun(plan, sources, edits or {})
    for cells in WAVES:
        for attempt in range(tries):
            found = verdicts(list(rows.values()), rules(plan))
            todo = _todo(rows, found, cells, attempt, edits or {})
            questions = [question(plan, rows, key, attempt) for key in todo]
            for key, read in zip(todo, asker(todo, questions), strict=True):
                row = rows[key]
                if read.texts:
                    rows[key] = row.by_model(read.texts[0])
                elif not row.output:
                    rows[key] = replace(row, note=read.problem)
    found = verdicts(list(rows.values()), rules(plan))
    for key, row in rows.items():
        if not row.output and not row.note:
            rows[key] = replace(row, note=_lacks(rows, key, found) or "nothing was asked")
    made = list(rows.values())
    found = verdicts(made, rules(plan))
    return Built(made, found, asker.unanswered, plan.size - len(sources))


class _Asker:
    """Asks, reads and keeps the journal; counts what stayed without answer."""

    def __init__(self, chat: Chat, ask: Ask, keep: Callable[[list[Entry]], None]):
        self._chat, self._ask, self._keep = chat, ask, keep
        self.unanswered = 0

    def __call__(
        self, keys: Sequence[Key], questions: Sequence[Question], field: str = "text"
    ) -> list[steps.Read]:
        if not questions:
            return []
        replies = self._ask(questions)
        reads = [steps.read(reply, field) for reply in replies]
        self.unanswered += sum(bool(reply.failure) for reply in replies)
        self._keep(
            [
                entry(source_id, step, question, reply, read, self._chat)
                for (source_id, step), question, reply, read in zip(
                    keys, questions, replies, reads, strict=True
                )
            ]
        )
        return reads


def _sources(plan: Plan, asker: _Asker) -> tuple[str, ...]:
    """Texts that the model writes, as many as are wanted or as it has.

    Only a repeated text is left out here, as no fault of a source but a lack of one; other faults
    become rows for a person.
    """
    texts: list[str] = []
    barren = attempt = 0
    while len(texts) < plan.generate and barren < _BARREN:
        count = min(BATCH, plan.generate - len(texts))
        asked = steps.ask_sources(plan.setting, count, texts, attempt)
        before = asker.unanswered
        [read] = asker([("", "source")], [asked], "texts")
        if asker.unanswered > before:
            break
        found = [*texts, *filter(None, read.texts)]
        again = duplicates((f"{place}", text) for place, text in enumerate(found))
        fresh = [text for place, text in enumerate(found) if f"{place}" not in again]
        fresh = fresh[len(texts) : plan.generate]
        texts += fresh
        barren = 0 if fresh else barren + 1
        attempt += 1
    return tuple(texts)


def _begun(plan: Plan, sources: Sequence[str], edits: Mapping[Key, Edit]) -> dict[Key, Row]:
    """All rows, with what a person has settled.

    Raises:
        TstmetaError: that was about other sources.
    """
    rows: dict[Key, Row] = {}
    for number, (source, kind) in enumerate(zip(sources, plan.kinds(), strict=False)):
        source_id = plan.source_id(number)
        for cell in CELLS:
            rows[source_id, cell] = Row(source_id, cell, kind, source, made=f"{digest(source)}-")
    for key, edit in edits.items():
        row = rows.get(key)
        if row is None or not edit.made.startswith(row.made):
            raise TstmetaError(
                f"{FILE} is about another source {key[0]} than this run has, so what a person "
                f"changed there would be lost. Remedy: put {ANSWERS} back, or move {FILE} away"
            )
        rows[key] = replace(row, **edit._asdict())
    return rows


def _todo(
    rows: Mapping[Key, Row],
    found: Mapping[Key, Verdict],
    cells: Sequence[str],
    attempt: int,
    edits: Mapping[Key, Edit],
) -> list[Key]:
    """Rows of a step to ask for: those without a text, then those with a fault of their own."""
    return [
        key
        for key, row in rows.items()
        if row.cell in cells
        and key not in edits
        and not _lacks(rows, key, found)
        and not row.note.startswith("no answer")
        and (attempt == 0 or any(one.check not in ELSEWHERE for one in found[key].findings))
    ]


def _lacks(rows: Mapping[Key, Row], key: Key, found: Mapping[Key, Verdict]) -> str:
    """What a row needs before it can be asked for; empty if nothing."""
    source_id, cell = key
    if any(finding.check == "source" for finding in found[key].findings):
        return "not asked: the source has a fault"
    if not cell.endswith("-error"):
        return ""
    for base in ("strong", "light"):
        if not rows[source_id, base].output:
            return f"not asked: there is no {base} rewrite"
        if found[source_id, base].state == REJECTED:
            return f"not asked: the {base} rewrite is rejected"
    if cell == "light-error":
        return ""
    error, verdict = rows[source_id, "light-error"], found[source_id, "light-error"]
    faults = {finding.check for finding in verdict.findings} - {*ELSEWHERE, "duplicate"}
    if not error.output or verdict.state == REJECTED or (faults and not error.accept):
        return "not asked: the light rewrite has no error to repeat"
    return ""


def question(plan: Plan, rows: Mapping[Key, Row], key: Key, attempt: int) -> Question:
    """What is asked for one row."""
    source_id, cell = key
    row = rows[key]
    if cell in ("strong", "light"):
        return steps.ask_rewrite(plan.setting, cell, row.source, attempt)
    strong, light = rows[source_id, "strong"].output, rows[source_id, "light"].output
    if cell == "light-error":
        return steps.ask_error(plan.setting, row.kind, light, strong, attempt)
    change = span_of(light, rows[source_id, "light-error"].output)
    return steps.ask_same(plan.setting, strong, change, attempt)


# ---------------------------------------------------------------------------------- who answers


def asking(
    chat: Chat, folder: Path, *, concurrency: int, budget: Budget | None, progress: bool
) -> Ask:
    """Answers from the file of the folder, and from the server."""

    def ask(questions: Sequence[Question]) -> list[Reply]:
        replies = [Reply()] * len(questions)
        for place, reply in run(
            questions,
            chat,
            cache=folder / ANSWERS,
            concurrency=concurrency,
            budget=budget,
            progress=progress,
        ):
            replies[place] = reply
        return replies

    return ask


def foretold(plan: Plan, chat: Chat, folder: Path, edits: Mapping[Key, Edit]) -> Estimate:
    """What a run would ask if every step came out well at once; asks and writes nothing.

    Where a text is not known yet its source stands for it, and 20 words for an unknown source.
    """
    path = folder / ANSWERS
    asked: list[Question] = []
    answers = Answers(path) if path.exists() else None

    def ask(questions: Sequence[Question]) -> list[Reply]:
        asked.extend(questions)
        keys = [one.key(chat.server, chat.model, chat.revision) for one in questions]
        kept = [answers.get(key) if answers else None for key in keys]
        return [reply or Reply(failure=_UNKNOWN) for reply in kept]

    try:
        built = build(plan, chat, ask, tries=1, edits=edits)
    finally:
        if answers:
            answers.close()
    asked += _later(plan, built)
    return estimate(asked, chat, cache=path)


def _later(plan: Plan, built: Built) -> list[Question]:
    """Questions that wait for answers to others."""
    new = [" ".join([f"word{number}"] * 20) for number in range(built.missing)]
    rounds = range(BATCH, built.missing, BATCH)  # the first round was asked for
    asked = [steps.ask_sources(plan.setting, BATCH, new[:at], at) for at in rounds]
    rows = built.rows + [Row(text, cell, plan.errors[0], text) for text in new for cell in CELLS]
    filled = {
        (row.source_id, row.cell): replace(row, output=row.output or row.source) for row in rows
    }
    waiting = [row for row in rows if not row.output and not row.accept]
    first = [row for row in waiting if row.source in new or _UNKNOWN in row.note]
    open_ = {row.source_id for row in first}
    later = [
        (row.source_id, row.cell)
        for row in waiting
        if row.source_id in open_ and _UNKNOWN not in row.note
    ]
    return asked + [question(plan, filled, key, 0) for key in later]
