"""The files of a construction: its plan, the rows that people settle, and the data set of them.

In ``rows.csv`` a person may change two columns: ``output``, the rewrite, and ``accept``: ``yes``
for a row that may go into the set whatever a check says, ``no`` for one that may not, else empty.
``<name>.csv`` is the data set, read as a file of one's own (:mod:`tstmeta.data.own`).  A source
goes in with all of its rewrites or not at all: a design with holes is no 2 x 2.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

import pandas as pd
from pydantic import ValidationError

from ... import storage
from ...console import from_inert, inert, to_csv
from ...data import files as raw
from ...data import label_studio, own
from ...schema import TstmetaError
from ...secrecy import excerpt
from .checks import ACCEPTED, IN_SET, LOOK, PASSED, REJECTED, WRITTEN, judge, listed
from .steps import Blueprint

PLAN, ROWS, RATINGS, CARD = "plan.json", "rows.csv", "ratings.csv", "CARD.md"
#: Columns of the rows that nobody changes.
FIXED = ["source_id", "system", "kind", "source"]
COLUMNS = ["item_id", *FIXED, "output", "verdict", "why", "accept", "span", "note", "written"]
#: What the card says of each design: the rewrites of a source, and how they were asked for.
DESIGNS = {
    "ours": (
        "four: the style shift is strong or light, and the content is kept or carries one error",
        "The steps follow Pauli et al. (2025, Section 4.2 and Appendix B); beyond theirs, the "
        "strong rewrite gets the error of the light one.",
    ),
    "published": (
        "two: a strong style shift that keeps the content, and a light one with one error; so "
        "shift and error say the same",
        "Steps and prompts are those of Pauli et al. (2025, Section 4.2 and Appendix B), printed "
        "for politeness; each rewrite was asked for by itself, and the checks are ours.",
    ),
}


def read_plan(folder: Path) -> Blueprint:
    """The plan of a folder."""
    try:
        return Blueprint.model_validate_json((folder / PLAN).read_bytes())
    except (OSError, ValidationError) as error:
        raise TstmetaError(
            f"{folder} holds no construction: {PLAN} is missing or not as it was written. Remedy: "
            "begin one in another folder with tstmeta construct --style ... --out FOLDER"
        ) from error


def begin(plan: Blueprint, sources: Sequence[str]) -> pd.DataFrame:
    """The rows of a construction before anything is asked, by item_id.

    ``note`` says why there is no output, ``written`` is what the model wrote.
    """
    facts, cells = zip(plan.source_ids(), plan.kinds(), sources, strict=False), WRITTEN[plan.design]
    rows = [(f"{name}-{cell}", name, cell, *both) for name, *both in facts for cell in cells]
    table = pd.DataFrame(rows, columns=["item_id", *FIXED], dtype=object).set_index("item_id")
    return table.assign(output="", accept="", note="", written="")


def write(folder: Path, table: pd.DataFrame) -> None:
    """Write the judged rows."""
    rows = table.assign(why=table["findings"].map(listed)).reset_index()
    storage.write(folder / ROWS, to_csv(rows[COLUMNS], for_people=True))


def read(folder: Path, plan: Blueprint) -> pd.DataFrame:
    """The rows of a folder as a person left them, in any order; faults have their row."""
    path = folder / ROWS
    if not path.is_file():
        raise TstmetaError(f"{folder} has no {ROWS} yet. Remedy: run tstmeta construct to its end")
    table = raw.read_csv(path, COLUMNS).map(from_inert)
    table = table.assign(row=table.index + 1, output=table["output"].str.strip())
    table["accept"] = table["accept"].str.strip().str.lower()
    texts = dict(zip(table["source_id"], table["source"], strict=True))
    known = [name for name in plan.source_ids() if name in texts]
    wanted = begin(plan, plan.sources or [texts[name] for name in known])
    remedy = "put it back; only output may change, and accept, which is yes, no or empty"
    if sorted(table["item_id"]) != sorted(wanted.index):
        items = ", ".join(wanted.index.symmetric_difference(table["item_id"])[:3])
        raw.check([raw.fault(path, f"a row is missing, doubled or new: {items}", remedy=remedy)])
    table = table.set_index("item_id").loc[wanted.index]
    shown = wanted[FIXED].map(lambda text: from_inert(inert(text)))  # no control characters
    is_right = (table[FIXED] == shown).assign(accept=table["accept"].isin(["yes", "no", ""]))
    raw.check(
        raw.fault(path, f"{row[name]!r} may not stand here", row["row"], name, remedy)
        for item, row in table.iterrows()
        for name in is_right
        if not is_right.loc[item, name]
    )
    return table.assign(**wanted[FIXED])[wanted.columns].astype(object)


def settled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that a person has settled, by another text or a word under ``accept``."""
    mended = (table["output"] != table["written"]) & (table["output"] != "")
    return table[mended | (table["accept"] != "")]


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Verdict, check (empty: all of the verdict) and rows; a row with two findings counts twice."""
    names = [PASSED, ACCEPTED, REJECTED, LOOK]
    whole = table["verdict"].value_counts().reindex(names, fill_value=0)
    checks = table.loc[table["verdict"] == LOOK, "findings"].map(list).explode().value_counts()
    lines = [(verdict, "", rows) for verdict, rows in whole.items()]
    lines += [(LOOK, check, rows) for check, rows in checks.sort_index().items()]
    return pd.DataFrame(lines, columns=["verdict", "check", "rows"])


def check(folder: Path) -> pd.DataFrame:
    """Judge the rows as they stand now, mark them anew, and write the data set."""
    plan = read_plan(folder)
    with storage.locked(folder / ".lock", timeout=0):
        table = judge(read(folder, plan), plan)
        write(folder, table)
        write_set(folder, plan, table)
    return table


def write_set(folder: Path, plan: Blueprint, table: pd.DataFrame) -> None:
    """Write the sources whose rewrites all pass or are accepted, and the card."""
    table = table[table["system"].isin(IN_SET[plan.design])]
    fits = table["verdict"].isin([PASSED, ACCEPTED])
    rows = table[fits.groupby(table["source_id"]).transform("all").astype(bool)]
    path = folder / f"{plan.name}.csv"
    if (folder / RATINGS).is_file() and path.is_file():
        before = raw.read_csv(path, ["item_id", "output"]).set_index("item_id")["output"]
        before = before[before.index.isin(raw.read_csv(folder / RATINGS)["item_id"])]
        for item in before.index[before != rows["output"].reindex(before.index)]:
            raise TstmetaError(
                f"people rated {item}, and now it has another text or its source does not pass. "
                f"Remedy: undo the change in {ROWS}, or move {RATINGS} away and rate the set again"
            )
    storage.write(folder / CARD, card(plan, table, len(rows)))
    if rows.empty:
        path.unlink(missing_ok=True)
        return
    cell = rows["system"].str.partition("-")
    facts = {"style": plan.style, "language": plan.language, "task": plan.style, "shift": cell[0]}
    items = rows.assign(**facts, error=rows["kind"].where(cell[2] != "", "none"))
    names = ["source_id", "system", *facts, "error", "span", "verdict", "source", "output"]
    storage.write(path, to_csv(items[names].reset_index()))
    _write_facts(path, plan)


def _write_facts(path: Path, plan: Blueprint) -> None:
    """What stands beside the data file; a JSON string is a TOML string where it is printable."""
    facts = {"title": f"Constructed test set: {plan.style}", "task": plan.style}
    if (path.parent / RATINGS).is_file():
        facts["ratings"] = RATINGS
    lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in facts.items()]
    scale = list(label_studio.SCALE)
    lines += ["[scale]", *(f"{name} = {scale}" for name in label_studio.QUESTIONS.values())]
    storage.write(path.with_name(f"{path.name}.toml"), "\n".join(lines) + "\n")


def data_file(folder: Path) -> Path:
    """The file of the data set, once there is one."""
    path = folder / f"{read_plan(folder).name}.csv"
    if not path.is_file():
        raise TstmetaError(
            f"{folder} has no data set: no source has passed with all four rewrites. Remedy: mend "
            f"or accept rows in {ROWS} and run: tstmeta construct check {folder}"
        )
    return path


def import_ratings(folder: Path, exports: Sequence[Path]) -> pd.DataFrame:
    """Keep the ratings of people beside the data set, which is a rated one from then on."""
    path = data_file(folder)
    ratings = label_studio.read_export(exports, own.read(path))
    storage.write(folder / RATINGS, to_csv(ratings.drop(columns="dataset")))
    _write_facts(path, read_plan(folder))
    return ratings


def card(plan: Blueprint, table: pd.DataFrame, size: int) -> str:
    """The card in Markdown: what it is, how it was made and by whom, and what it cannot tell."""
    counts = counted(table).set_index("verdict")
    waiting = counts[counts["check"] != ""]
    facts = {name: excerpt(str(value)) or "not stated" for name, value in plan}
    facts |= counts.loc[counts["check"] == "", "rows"].to_dict()
    text = files(__package__).joinpath("card.md").read_text(encoding="utf-8")
    return Template(text).substitute(
        facts,
        title=json.dumps(f"Constructed test set: {plan.style}"),
        task=json.dumps(plan.style),
        size=size,
        rewrites=len(table),
        each=DESIGNS[plan.design][0],
        steps=DESIGNS[plan.design][1],
        waiting=", ".join(f"{row.check} {row.rows}" for row in waiting.itertuples()) or "none",
    )
