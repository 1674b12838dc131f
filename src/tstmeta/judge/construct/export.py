"""From rows to a data set like any other: items and labels in a file, its card, its ratings.

``<name>.csv`` is read as a file of one's own (:mod:`tstmeta.data.own`).  By default a source goes
in with all of its four rewrites or not at all, because a design with holes is no 2 x 2.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

import pandas as pd
import yaml

from ...console import to_csv
from ...data import label_studio, own
from ...data.files import read_csv
from ...schema import TstmetaError
from ...secrecy import said
from . import table
from .build import Key, rules
from .plan import Plan, alone, read, write_text
from .verdicts import CELLS, LOOK, Row, Verdict, verdicts

CARD = "CARD.md"
RATINGS = "ratings.csv"


def check(folder: Path, *, partial: bool = False) -> dict[Key, Verdict]:
    """Check the rows as they stand now, mark them anew, and write the data set.

    Args:
        partial: also take sources some of whose rewrites do not pass.

    Raises:
        TstmetaError: no construction here, or ratings of texts that have changed.
        DataError: faults of the table of rows.
    """
    plan = read(folder)
    with alone(folder):
        rows = table.read(folder)
        found = verdicts(rows, rules(plan))
        table.write(folder, rows, found)
        write_set(folder, plan, rows, found, partial=partial)
    return found


def data_file(folder: Path, plan: Plan) -> Path:
    """The file of the data set."""
    return folder / f"{plan.name}.csv"


def write_set(
    folder: Path,
    plan: Plan,
    rows: Iterable[Row],
    found: Mapping[Key, Verdict],
    *,
    partial: bool = False,
) -> int:
    """Write the data set of the rows that count, and its card.

    Returns:
        How many rewrites it has; with none there is no file.

    Raises:
        TstmetaError: people rated a rewrite that is now another or none.
    """
    every = list(rows)
    taken = _taken(every, found, partial)
    path = data_file(folder, plan)
    _check_rated(folder, path, every, taken)
    if taken:
        write_text(path, to_csv(_items(plan, taken, found)))
        write_text(path.with_name(f"{path.name}.toml"), _facts(folder, plan))
    else:
        for old in (path, path.with_name(f"{path.name}.toml")):
            old.unlink(missing_ok=True)
    write_text(folder / CARD, card(plan, every, found, len(taken)))
    return len(taken)


def _taken(rows: list[Row], found: Mapping[Key, Verdict], partial: bool) -> list[Row]:
    counts = [row for row in rows if found[row.source_id, row.cell].counts]
    whole = Counter(row.source_id for row in counts)
    return [row for row in counts if partial or whole[row.source_id] == len(CELLS)]


def _items(plan: Plan, taken: list[Row], found: Mapping[Key, Verdict]) -> pd.DataFrame:
    wrong = {row.item_id: row.cell.endswith("-error") for row in taken}
    return pd.DataFrame(
        {
            "item_id": [row.item_id for row in taken],
            "source_id": [row.source_id for row in taken],
            "system": [row.cell for row in taken],
            "style": plan.setting.style,
            "language": plan.setting.language,
            "source": [row.source for row in taken],
            "output": [row.output for row in taken],
            "task": plan.setting.style,
            "shift": [row.cell.removesuffix("-error") for row in taken],
            "error": [row.kind if wrong[row.item_id] else "none" for row in taken],
            "span": [found[row.source_id, row.cell].span for row in taken],
            "verdict": [found[row.source_id, row.cell].state for row in taken],
        }
    )


def _check_rated(folder: Path, path: Path, every: list[Row], taken: list[Row]) -> None:
    """Ratings hold for the texts that people saw, and for no others."""
    if not (folder / RATINGS).is_file() or not path.is_file():
        return
    rated = set(read_csv(folder / RATINGS, ["item_id"])["item_id"])
    before = read_csv(path, ["item_id", "output"]).set_index("item_id")["output"]
    seen = {item: text for item, text in before.items() if item in rated}
    now = {row.item_id: row.output for row in every}
    changed = [item for item, text in seen.items() if now.get(item) != text]
    lost = sorted(set(seen) - {row.item_id for row in taken})
    if changed or lost:
        one, what = (
            (changed[0], "has another text")
            if changed
            else (lost[0], "or its source does not pass")
        )
        raise TstmetaError(
            f"people rated {one} as it was, and now it {what}. Remedy: undo the change in "
            f"{table.FILE}, or move {RATINGS} away and have the set rated again"
        )


def _facts(folder: Path, plan: Plan) -> str:
    """What stands beside the data file; see :mod:`tstmeta.data.own`."""
    low, high = label_studio.SCALE
    lines = {"title": f"Constructed test set: {plan.setting.style}", "task": plan.setting.style}
    made = [f"{key} = {_quoted(value)}" for key, value in lines.items()]
    if (folder / RATINGS).is_file():
        made.append(f"ratings = {_quoted(RATINGS)}")
    made.append("[scale]")
    made += [f"{name} = [{low}, {high}]" for name in label_studio.QUESTIONS.values()]
    return "\n".join(made) + "\n"


def _quoted(text: str) -> str:
    """A TOML string; JSON's differ from it in nothing that a printable text can hold."""
    return json.dumps(text, ensure_ascii=False)


# ------------------------------------------------------------------------------------- ratings


def write_form(folder: Path, out: Path, *, batches: int | None, seed: int) -> list[Path]:
    """The rating form of the data set, as that of any other.

    Raises:
        TstmetaError: there is no data set, because no source has passed.
    """
    return label_studio.write_form(own.read(_there(folder)), out, batches=batches, seed=seed)


def import_ratings(folder: Path, exports: list[Path]) -> pd.DataFrame:
    """Keep the ratings of people beside the data set, which is a rated one from then on.

    Raises:
        DataError: everything that is wrong with the exports.
    """
    path, plan = _there(folder), read(folder)
    ratings = label_studio.read_export(exports, own.read(path))
    write_text(folder / RATINGS, to_csv(ratings.drop(columns="dataset")))
    write_text(path.with_name(f"{path.name}.toml"), _facts(folder, plan))
    return ratings


def _there(folder: Path) -> Path:
    path = data_file(folder, read(folder))
    if not path.is_file():
        raise TstmetaError(
            f"{folder} has no data set: no source has passed with all four rewrites. Remedy: mend "
            f"or accept rows in {table.FILE} and run: tstmeta construct check {folder}"
        )
    return path


# ---------------------------------------------------------------------------------------- card


def card(plan: Plan, rows: list[Row], found: Mapping[Key, Verdict], taken: int) -> str:
    """The card in Markdown: what it is, how it was made and by whom, and what it cannot tell."""
    setting = plan.setting
    front = {
        "name": plan.name,
        "title": f"Constructed test set: {setting.style}",
        "task": setting.style,
        "rated": "style shift and content error are labels by construction",
        "language": setting.language,
        "rewrites": taken,
        "licence": "not stated: ask whoever owns the sources and the terms of the model",
        "examples": False,
    }
    states = Counter(verdict.state for verdict in found.values())
    errors = Counter(row.kind for row in rows if row.cell == "strong")
    lines = table.counted(found).itertuples(index=False, name=None)
    wait = [f"| {check} | {count} |" for _, check, count in lines if check]
    words = {
        "front": yaml.safe_dump(front, sort_keys=False, allow_unicode=True),
        "style": said(setting.style),
        "errors": ", ".join(f"{kind} {errors[kind]}" for kind in plan.errors),
        "origin": said(plan.origin),
        "model": f"`{said(plan.model)}` at {said(plan.server)}"
        + (f", revision {said(plan.revision)}" if plan.revision else ""),
        "prompt": plan.prompt,
        "seed": setting.seed,
        "temperature": f"{setting.temperature:g}",
        **{state: states[state] for state in ("passed", "accepted", "rejected", LOOK)},
        "rewrites": len(rows),
        "taken": taken,
        "wait": "\n".join(
            ["| check | rows that wait |", "|---|---|", *wait, "", ""] if wait else []
        ),
    }
    text = files(__package__).joinpath("card.md").read_text(encoding="utf-8")
    return Template(text).substitute(words)
