"""The construction itself, step after step, and its files: plan, rows that people settle, data set.

The plan, the kept answers and what people settled decide what comes out, and nothing else does: a
run that was killed is made again from the start, and only what nobody answered yet is asked.

In ``rows.csv`` a person may change two columns: ``output``, the rewrite, and ``accept``: ``yes``
for a row that may go into the set whatever a check says, ``no`` for one that may not, else empty.
``<name>.csv`` is the data set (see :mod:`tstmeta.data.table_files`).  A source
goes in with all of its rewrites or not at all: a design with holes is no 2 x 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import ValidationError

from ... import label_studio, storage
from ...console import from_inert, inert, to_csv
from ...data import Dataset, files, paths, table_files
from ...schema import FILLED, Problem, TstmetaError
from ..base import Question, Reply
from ..prompts import CODE
from ..runner import run
from . import steps
from .checks import ACCEPTED, CELLS, PASSED, judge, span_of
from .steps import Blueprint

if TYPE_CHECKING:
    from ..client import Served

ANSWERS = "answers.sqlite"
#: Rewrites that are asked for together.
WAVES = (("strong", "light"), ("light-error",), ("strong-error",))
#: How often a text is asked for while a check finds a fault; the last text counts.
TRIES = 2

PLAN, ROWS, RATINGS = "plan.json", "rows.csv", "ratings.csv"
#: Columns of the rows that nobody changes.
FIXED = ["source_id", "system", "kind", "source"]
COLUMNS = ["item_id", *FIXED, "output", "verdict", "why", "accept", "span", "note", "written"]


def plan_of(folder: Path, sources: Path, **facts: Any) -> Blueprint:
    """A plan from what a user asks for; ``facts`` are other fields of :class:`.Blueprint`."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "set"
    name += "-set" if name in ("rows", "ratings") else ""
    written = [("--out", folder / file) for file in (ROWS, f"{name}.csv")]
    storage.apart(written, [("--sources", sources)])
    plan = Blueprint(name=name, sources=read_sources(sources), **facts)
    # style and language go into the words, where texts stand in fences
    if len(plan.style) > 200 or not plan.style.isprintable() or not CODE.fullmatch(plan.language):
        why = "name the style on one line, in 200 characters; the language is a code: en or pt-BR"
        raise TstmetaError(why)
    before = read_plan(folder) if (folder / PLAN).exists() else plan
    if differ := [name for name, value in plan if getattr(before, name) != value]:
        raise TstmetaError(
            f"{folder} holds a construction that differs in {', '.join(differ)}. Remedy: ask for "
            "the same as before, or name another folder"
        )
    return plan


def read_sources(path: Path) -> tuple[str, ...]:
    """Texts of a file, each once: lines of a .txt, or the column source of a table."""
    if path.suffix.lower() != ".txt":
        return tuple(dict.fromkeys(files.read_csv(path, {"source": FILLED})["source"].str.strip()))
    lines = [line.strip() for line in paths.read_text(path).split("\n")]
    texts = tuple(dict.fromkeys(filter(None, lines)))
    none = Problem(str(path), "there are no texts", remedy="write one text a line")
    files.check([] if texts else [none])
    return texts


def construct(
    folder: Path, plan: Blueprint, chat: Served, **options: Any
) -> tuple[pd.DataFrame, int]:
    """Make a test set in a folder, or go on with the one that is there.

    What a person changed in the table of rows stays; what depends on it is made anew.
    ``options`` are those of :func:`.runner.run`, such as concurrency.

    Returns:
        The rows as :func:`.checks.judge` gives them, and how many questions nobody answered.
    """
    ask = partial(run, chat=chat, cache=folder / ANSWERS, **options)
    with storage.locked(folder / ".lock", timeout=0):
        table = read_rows(folder, plan) if (folder / ROWS).is_file() else begin(plan)
        storage.write(folder / PLAN, plan.model_dump_json(indent=1) + "\n")
        table = rewrite(plan, settled(table), ask)
        write(folder, plan, table)
    return table, int(table["note"].str.startswith("no answer").sum())


def rewrite(
    plan: Blueprint, settled: pd.DataFrame, ask: Callable[[Sequence[Question]], list[Reply]]
) -> pd.DataFrame:
    """The judged rows, asking for every rewrite that no person has settled."""
    table = begin(plan)
    table.loc[settled.index, ["output", "accept", "written"]] = settled
    for cells in WAVES:
        for attempt in range(TRIES):
            table = judge(table)
            rows = table[table["system"].isin(cells)].drop(settled.index, errors="ignore")
            todo = [item for item, row in rows.iterrows() if _is_open(row)]
            replies = ask([question(plan, table, item, attempt) for item in todo])
            for item, reply in zip(todo, replies, strict=True):
                text, problem = steps.read(reply)
                table.loc[item, "note"] = problem
                if text:
                    table.loc[item, ["output", "written"]] = text
    return judge(table)


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


def read_plan(folder: Path) -> Blueprint:
    """The plan of a folder."""
    try:
        return Blueprint.model_validate_json((folder / PLAN).read_bytes())
    except (OSError, ValidationError) as error:
        raise TstmetaError(
            f"{folder} holds no construction: {PLAN} is missing or not as it was written. Remedy: "
            "begin one in another folder with tstmeta construct --style ... --out FOLDER"
        ) from error


def begin(plan: Blueprint) -> pd.DataFrame:
    """The rows before anything is asked, by item_id; ``note``: why a question gave no text."""
    facts = zip(plan.source_ids(), plan.kinds(), plan.sources, strict=True)
    rows = [(f"{name}-{cell}", name, cell, *both) for name, *both in facts for cell in CELLS]
    table = pd.DataFrame(rows, columns=["item_id", *FIXED], dtype=object).set_index("item_id")
    return table.assign(output="", accept="", note="", written="")


def read_rows(folder: Path, plan: Blueprint) -> pd.DataFrame:
    """The rows of a folder as a person left them, in any order; faults have their row."""
    path = folder / ROWS
    if not path.is_file():
        raise TstmetaError(f"{folder} has no {ROWS} yet. Remedy: run tstmeta construct to its end")
    table = files.read_csv(path, COLUMNS).map(from_inert)
    table = table.assign(row=table.index + 1, output=table["output"].str.strip())
    table["accept"] = table["accept"].str.strip().str.lower()
    wanted = begin(plan)
    remedy = "put it back; only output may change, and accept, which is yes, no or empty"
    if sorted(table["item_id"]) != sorted(wanted.index):
        others = wanted.index.symmetric_difference(table["item_id"])[:3]
        what = f"a row is missing, doubled or new: {', '.join(others)}"
        files.check([Problem(str(path), what, remedy=remedy)])
    table = table.set_index("item_id").loc[wanted.index]
    shown = wanted[FIXED].map(lambda text: from_inert(inert(text)))  # no control characters
    is_right = (table[FIXED] == shown).assign(accept=table["accept"].isin(["yes", "no", ""]))
    files.check(
        Problem(str(path), f"{row[name]!r} may not stand here", row["row"], name, remedy)
        for item, row in table.iterrows()
        for name in is_right
        if not is_right.loc[item, name]
    )
    return table.assign(**wanted[FIXED])[wanted.columns].astype(object)


def settled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that a person has settled, by another text or a word under ``accept``."""
    mended = (table["output"] != table["written"]) & (table["output"] != "")
    return table[mended | (table["accept"] != "")]


def check(folder: Path) -> pd.DataFrame:
    """Judge the rows as they stand now, mark them anew, and write the data set."""
    plan = read_plan(folder)
    with storage.locked(folder / ".lock", timeout=0):
        table = judge(read_rows(folder, plan))
        write(folder, plan, table)
    return table


def write(folder: Path, plan: Blueprint, table: pd.DataFrame) -> None:
    """Write the judged rows, and the data set: sources whose rewrites all pass or are accepted."""
    why = ["; ".join(map(": ".join, row.items())) for row in table["findings"]]
    marked = table.assign(why=why).reset_index()
    storage.write(folder / ROWS, to_csv(marked[COLUMNS], for_people=True))
    fits = table["verdict"].isin([PASSED, ACCEPTED])
    rows = table[fits.groupby(table["source_id"]).transform("all").astype(bool)]
    path = folder / f"{plan.name}.csv"
    if (folder / RATINGS).is_file() and path.is_file():
        before = files.read_csv(path, ["item_id", "output"]).set_index("item_id")["output"]
        before = before[before.index.isin(files.read_csv(folder / RATINGS)["item_id"])]
        for item in before.index[before != rows["output"].reindex(before.index)]:
            raise TstmetaError(
                f"people rated {item}, and now it has another text or its source does not pass. "
                f"Remedy: undo the change in {ROWS}, or move {RATINGS} away and rate the set again"
            )
    if rows.empty:
        path.unlink(missing_ok=True)
        return
    cell = rows["system"].str.partition("-")
    facts = {"style": plan.style, "language": plan.language, "task": plan.style, "shift": cell[0]}
    items = rows.assign(**facts, error=rows["kind"].where(cell[2] != "", "none"))
    names = ["source_id", "system", *facts, "error", "span", "verdict", "source", "output"]
    storage.write(path, to_csv(items[names].reset_index()))
    about = {"title": f"Constructed test set: {plan.style}", "task": plan.style}
    about |= {"ratings": RATINGS} if (folder / RATINGS).is_file() else {}
    # a JSON string is a TOML string where it is printable
    lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in about.items()]
    scale = list(label_studio.SCALE)
    lines += ["[scale]", *(f"{name} = {scale}" for name in label_studio.RATING.questions.values())]
    storage.write(path.with_name(f"{path.name}.toml"), "\n".join(lines) + "\n")


def data_set(folder: Path) -> Dataset:
    """The data set, which is there once a source has passed with all rewrites."""
    return table_files.read(folder / f"{read_plan(folder).name}.csv")


def import_ratings(folder: Path, exports: Sequence[Path]) -> pd.DataFrame:
    """Keep the ratings of people beside the data set, which is a rated one from then on."""
    ratings = label_studio.read_export(exports, data_set(folder))
    storage.write(folder / RATINGS, to_csv(ratings.drop(columns="dataset")))
    check(folder)
    return ratings
