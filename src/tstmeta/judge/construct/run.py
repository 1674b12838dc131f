"""The construction itself: step after step, from kept answers where there are any.

The plan, the kept answers and what people settled decide what comes out, and nothing else does: a
run that was killed is made again from the start, and only what nobody answered yet is asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ... import storage
from ...data.checks import FILLED, check, fault
from ...data.contrast import span_of
from ...data.files import read_csv, read_text
from ...schema import TstmetaError
from ..base import Question, Reply
from ..prompts import CODE
from ..runner import Estimate, Price, estimate, run
from . import steps
from . import table as tables
from .checks import judge, plain
from .steps import BATCH, Blueprint

if TYPE_CHECKING:
    from ..client import Served

ANSWERS = "answers.sqlite"
#: Rewrites that are asked for together.
WAVES = (("strong", "light"), ("light-error",), ("strong-error",))
#: Rounds without a new source after which the model is asked for no more.
BARREN = 3
#: How often a text is asked for while a check finds a fault; the last text counts.
TRIES = 2
#: Languages that are written without spaces, between which the checks compare words.
_UNSPACED = ("zh", "ja", "th", "lo", "km", "my", "bo")

#: Answers to questions, in order.
Ask = Callable[[Sequence[Question]], list[Reply]]


def plan_of(folder: Path, sources: Path | None, generate: int | None, **facts: Any) -> Blueprint:
    """A plan from what a user asks for; ``facts`` are other fields of :class:`.Blueprint`."""
    if (sources is None) == (generate is None):
        raise TstmetaError(
            "sources come from a file (--sources FILE) or from the model (--generate N): say one"
        )
    texts, origin = read_sources(sources) if sources else (), f"asked of the model, {generate}"
    if sources:
        digest = hashlib.sha256(sources.read_bytes()).hexdigest()
        origin = f"the file {sources.name}, {len(texts)} texts, sha256 {digest}"
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "set"
    name += "-set" if name in ("rows", "ratings") else ""
    facts |= {"name": name, "sources": texts, "generate": generate or 0, "origin": origin}
    plan = Blueprint(**facts, prompt=steps.prompt_hash(facts.get("design", "ours")))
    names = plan.style + plan.style_now  # they go into the words, where texts stand in fences
    why = ""
    if len(names) > 200 or not names.isprintable() or not CODE.fullmatch(plan.language):
        why = "name the styles on one line, in 200 characters; the language is a code: en or pt-BR"
    elif plan.language.partition("-")[0] in _UNSPACED:
        why = f"{plan.language} is written without spaces, and checks compare words between them"
    elif plan.design == "published" and plan.language != "en":
        why = "the published prompts are about English. Remedy: take the design ours"
    elif plan.design == "published" and plan.generate and not plan.style_now:
        why = "the published prompts ask for sources by their style: name it (--style-now)"
    if why:
        raise TstmetaError(why)
    if not (folder / tables.PLAN).exists():
        return plan
    before = tables.read_plan(folder)
    if plan.generate:  # the model may have written them since
        plan = plan.model_copy(update={"sources": before.sources})
    differ = [name for name, value in plan if getattr(before, name) != value and name != "origin"]
    if differ:
        raise TstmetaError(
            f"{folder} holds a construction that differs in {', '.join(differ)}. Remedy: ask for "
            "the same as before, or name another folder"
        )
    return before


def read_sources(path: Path) -> tuple[str, ...]:
    """Texts of a file, each once: lines of a .txt, or the column source of a table."""
    if path.suffix.lower() == ".txt":
        texts = [line.strip() for line in read_text(path).split("\n") if line.strip()]
        check([] if texts else [fault(path, "there are no texts", remedy="write one text a line")])
        return tuple(dict.fromkeys(texts))
    return tuple(dict.fromkeys(read_csv(path, {"source": FILLED})["source"].str.strip()))


def construct(
    folder: Path, plan: Blueprint, chat: Served, **options: Any
) -> tuple[pd.DataFrame, int]:
    """Make a test set in a folder, or go on with the one that is there.

    What a person changed in the table of rows stays; what depends on it is made anew.

    Args:
        options: of :func:`.runner.run`, such as budget and concurrency.

    Returns:
        The rows as :func:`.checks.judge` gives them, and how many questions nobody answered.
    """
    failures: list[str] = []

    def ask(questions: Sequence[Question]) -> list[Reply]:
        replies = run(questions, chat, cache=folder / ANSWERS, **options)
        failures.extend(reply.failure for reply in replies if reply.failure)
        return replies

    with storage.locked(folder / ".lock", timeout=0):
        table = _rows(folder, plan, ())
        sources = plan.sources or write_sources(plan, ask)
        if len(sources) == plan.size:
            plan = plan.model_copy(update={"sources": sources})
        storage.write(folder / tables.PLAN, plan.model_dump_json(indent=1) + "\n")
        table = rewrite(plan, sources, tables.settled(table), ask)
        tables.write(folder, table)
        tables.write_set(folder, plan, table)
    return table, len(failures)


def _rows(folder: Path, plan: Blueprint, sources: Sequence[str]) -> pd.DataFrame:
    """The rows as a person left them, or those of the sources where nothing was written yet."""
    is_begun = (folder / tables.ROWS).is_file()
    return tables.read(folder, plan) if is_begun else tables.begin(plan, sources)


def write_sources(plan: Blueprint, ask: Ask) -> tuple[str, ...]:
    """Texts that the model writes; only repeated ones are left out here."""
    texts: dict[str, str] = {}
    barren = 0
    while len(texts) < plan.generate and barren < BARREN:
        count = min(BATCH, plan.generate - len(texts))
        [reply] = ask([steps.ask_sources(plan, count, list(texts.values()), barren)])
        if reply.failure:
            break
        before = len(texts)
        for text in filter(None, steps.read(reply, steps.FIELDS[plan.design][1])[0]):
            texts.setdefault(plain(text), text)
        barren = 0 if len(texts) > before else barren + 1
    return tuple(texts.values())[: plan.generate]


def rewrite(
    plan: Blueprint, sources: Sequence[str], settled: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """The judged rows, asking for every rewrite that no person has settled."""
    table = tables.begin(plan, sources)
    if not table["source"].reindex(settled.index).equals(settled["source"]):
        raise TstmetaError(
            f"{tables.ROWS} is about other sources than this run has, so what a person changed "
            f"there would be lost. Remedy: put {ANSWERS} back, or move {tables.ROWS} away"
        )
    table.loc[settled.index, ["output", "accept", "written"]] = settled
    for cells in WAVES:
        for attempt in range(TRIES):
            table = judge(table, plan)
            rows = table[table["system"].isin(cells)].drop(settled.index, errors="ignore")
            todo = [item for item, row in rows.iterrows() if _is_open(row)]
            replies = ask([question(plan, table, item, attempt) for item in todo])
            for item, reply in zip(todo, replies, strict=True):
                texts, problem = steps.read(reply, steps.FIELDS[plan.design][0], most=1)
                if texts:
                    table.loc[item, ["output", "written", "note"]] = [texts[0], texts[0], ""]
                elif not table.loc[item, "output"]:
                    table.loc[item, "note"] = problem
    return judge(table, plan)


def _is_open(row: pd.Series) -> bool:
    """Whether to ask for a row: there is no text yet, or one with a fault of its own."""
    is_held = {"source", "base"} & set(row["findings"]) or row["note"].startswith("no answer")
    return bool(row["findings"]) and not is_held


def question(plan: Blueprint, table: pd.DataFrame, item: str, attempt: int) -> Question:
    """What is asked for one row."""
    row = table.loc[item]
    step, shown = row["system"], {"text": row["source"]}
    strong, light, wrong = (
        table.loc[f"{row['source_id']}-{cell}", "output"]
        for cell in ("strong", "light", "light-error")
    )
    if step == "light-error":
        step, shown = row["kind"], {"text A": light, "text B": strong}
    elif step == "strong-error":
        change = span_of(light, wrong)
        step, shown = "same", {"text": strong, "taken out": change.removed, "put in": change.added}
    return steps.ask(plan, step, shown, attempt)


def foretell(folder: Path, plan: Blueprint, chat: Served, price: Price | None = None) -> Estimate:
    """What a run would ask at most if every first try came out well; asks and writes nothing.

    A source stands for a text that is not known yet, and 20 words for an unknown source.
    """
    questions, sources = [], plan.sources
    if not sources:
        sources = tuple(" ".join([f"word{number}"] * 20) for number in range(plan.size))
        rounds = range(0, plan.size, BATCH)
        questions += [steps.ask_sources(plan, BATCH, sources[:at], 0) for at in rounds]
    table = _rows(folder, plan, sources)
    todo = table.index.difference(tables.settled(table).index, sort=False)
    table["output"] = table["output"].where(table["output"] != "", table["source"])
    questions += [question(plan, table, item, 0) for item in todo]
    return estimate(questions, chat, cache=folder / ANSWERS, price=price)
