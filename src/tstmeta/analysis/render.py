"""An evaluation for reading: its title, its table, and all of it as CSV, JSON, LaTeX or Markdown.

Texts of data sets may be hostile: whatever means something in LaTeX or Markdown is escaped, and a
cell stays one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .. import console
from ..console import TableFormat
from ..data import Dataset
from ..schema import TstmetaError
from .evaluation import COLUMNS, Evaluation
from .frame import METRIC, scored
from .stored import about, versions

#: What a file's name ends in, and what is written to it then.
ENDINGS = {
    ".csv": TableFormat.csv,
    ".json": TableFormat.json,
    ".tex": TableFormat.latex,
    ".md": TableFormat.markdown,
}
#: What a level looks at, in words.
LEVELS = {
    "pooled": "all rewrites at once",
    "source": "the rewrites of each source, then averaged",
    "within-system": "the rewrites of each system, then averaged",
    "system": "means of systems",
    "task": "the rewrites of each task, then averaged",
    "within-task": "all rewrites at once, standardised within tasks",
}
#: Kind and names of the row that people have: one rater against the mean of the others.
HUMAN, PERSON, SLOT = "human", "one rater", "one rating slot"
#: Columns of whole numbers, some of them missing.
_WHOLE = ("n", "rank", "rank_low", "rank_high", "cluster", "scored", "empty", "truncated", "failed")
#: What is shown where there is nothing to hold scores against.
_DESCRIPTION = ("metric", "basis", "mean", "sd", "min", "max", *_WHOLE[-4:], "note", "signature")


def format_of(out: Path | None, asked: TableFormat | str | None = None) -> TableFormat:
    """The format asked for, else what the file's name ends in, else a plain table.

    Raises:
        TstmetaError: a file whose name says no format, and none was asked for; a table for reading
            in a file.
    """
    if out is None:
        return TableFormat(asked or TableFormat.table)
    kind = TableFormat(asked) if asked else ENDINGS.get(out.suffix.lower())
    if kind is None:
        endings = ", ".join(ENDINGS)
        raise TstmetaError(
            f"cannot tell the format of {out.name}: end its name in {endings}, or say --format"
        )
    if kind is TableFormat.table:
        raise TstmetaError("a file is csv, json, latex or markdown; a table is for reading")
    return kind


def title(of: Evaluation) -> str:
    """What the table holds, in one line: data, setting, estimand, draws and seed."""
    counts = f"{of.items:,} rewrites, {of.sources:,} sources"
    if of.systems:
        counts += f", {of.systems} systems"
    setting, plan = of.job.setting, of.job.plan
    groups = ", groups added up" if setting.micro else ""
    if not math.isnan(setting.undefined):
        groups += f", groups without a value count {setting.undefined:g}"
    share = f"{100 * of.job.confidence:g}"
    return (
        f"{of.dataset}: {counts}; {of.label} with the {of.against} of {of.dimension}, level"
        f" {setting.level} ({LEVELS[setting.level]}{groups}); {share} % bootstrap confidence"
        f" intervals for {plan.estimand} ({plan.n:,} draws, seed {of.job.seed})"
    )


def notes(of: Evaluation) -> list[str]:
    """What else a reader must know: the human ceiling, tests, and what was flipped."""
    human, lines = of.human, []
    if math.isfinite(human.value):
        alike = human.high - human.low < 5e-4
        each = "" if alike else f"single raters {human.low:.3f} to {human.high:.3f}; "
        lines.append(
            f"Human ceiling: one rater agrees with the mean of the others at {human.value:.3f}"
            f" ({each}{human.n:,} ratings); as_rater is a metric in that rater's place"
            + (f"; {human.note}" if human.note else "")
        )
    else:
        lines.append(f"The human ceiling is not known: {human.note}")
    tests = f"Paired permutation tests: {of.tested}"
    if of.tests is not None:
        tests += f"; clusters part what differs at {1 - of.job.confidence:.2g} after Holm"
        tests += f" (null hypothesis: {of.tests.null})"
    lines.append(tests)
    if flipped := _flipped(of.frame):
        lines.append(f"Flipped, since lower is better: {', '.join(flipped)}")
    return lines


def _flipped(rows: pd.DataFrame) -> list[str]:
    """Metrics that were flipped, with the basis where another one of theirs was not."""
    names = []
    for name, own in rows.groupby("metric", sort=False):
        less = own[own["better"] == "lower"]
        whole = len(less) == len(own)
        names += [str(name)] if whole else [f"{name} ({basis})" for basis in less["basis"]]
    return names


def table(of: Evaluation, signatures: bool = True) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, and after how many of them the line belongs.

    Columns that hold nothing are left out.
    """
    rows = of.frame
    given, given_all = (
        next((one for one in rows[name] if isinstance(one, str) and one), "")
        for name in ("given", "given_all")
    )
    pairs = zip(rows["rank_low"], rows["rank_high"], strict=True)
    columns = {
        "metric": rows["metric"],
        "basis": rows["basis"],
        of.label: rows["value"],
        "low": rows["low"],
        "high": rows["high"],
        "n": rows["n"].astype("Int64"),
        "rank": rows["rank"],
        "ranks": ["" if pd.isna(low) else f"{low}–{high}" for low, high in pairs],
        "cluster": rows["cluster"],
        f"given {given}": rows["partial"],
        f"given {given_all}": rows["partial_all"],
        "as_rater": rows["as_rater"],
        "note": rows["note"],
    }
    if signatures:
        columns["signature"] = rows["signature"]
    shown = pd.DataFrame(columns)
    empty = [name for name in shown if shown[name].isna().all() or (shown[name] == "").all()]
    shown = shown.drop(columns=empty)
    rule = int((rows["kind"] == METRIC).sum())
    if "as_rater" in shown:
        blank = {name: "" for name in ("basis", "ranks", "note") if name in shown}
        people = pd.DataFrame([blank | _people(of)]).reindex(columns=shown.columns)
        shown = pd.concat([people.astype(shown.dtypes), shown], ignore_index=True)
        rule += 1
    return shown, rule if 0 < rule < len(shown) else 0


def _people(of: Evaluation) -> dict[str, Any]:
    name = PERSON if of.human.persons else SLOT
    return {"metric": name, "as_rater": of.human.value, "n": of.human.n, "signature": ""}


def rows(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """All rows of several dimensions, for programs: every column, people's rows among them."""
    parts = []
    for one in evaluations:
        if math.isfinite(one.human.value):
            head = {"dimension": one.dimension, "kind": HUMAN, "against": one.against}
            parts.append(pd.DataFrame([head | _people(one) | {"note": one.human.note}]))
        parts.append(one.frame)
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    whole = pd.concat([part.astype(object) for part in parts], ignore_index=True)[list(COLUMNS)]
    return whole.astype(dict.fromkeys(_WHOLE, "Int64"))


def described(data: Dataset, scores: pd.DataFrame, kind: TableFormat) -> str:
    """Scores that there is nothing to hold against, as text in a format."""
    listed = [
        {"metric": one.name, "basis": one.basis, **one.about}
        | {"note": "nothing to compare with: no ratings", "signature": one.signature}
        for one in scored(data, scores)
    ]
    frame = pd.DataFrame(listed, columns=list(_DESCRIPTION))
    head = f"{data.name}: {len(data.items):,} rewrites; scores, nothing to compare with"
    if kind is TableFormat.csv:
        return console.to_csv(frame.reindex(columns=list(COLUMNS)))
    if kind is TableFormat.json:
        about_data = {"name": data.name, "items": len(data.items)}
        return _document({"data": about_data}, frame.reindex(columns=list(COLUMNS)))
    if kind is TableFormat.latex:
        return latex(frame.drop(columns="signature"), head)
    if kind is TableFormat.markdown:
        return markdown(frame.drop(columns="signature"), head)
    return f"{head}\n{console.to_text(frame)}"


def rendered(evaluations: Sequence[Evaluation], kind: TableFormat) -> str:
    """Evaluations of one data set, a dimension each, as text in a format."""
    if kind is TableFormat.csv:
        return console.to_csv(rows(evaluations))
    if kind is TableFormat.json:
        first = about(evaluations[0])
        names = ("statistic", "level", "micro", "undefined", "units", "clustered", "draws")
        dimensions = [_dimension(one) for one in evaluations]
        return _document(
            {
                "data": {"name": first["data"], "dimensions": dimensions},
                "setting": {name: first[name] for name in (*names, "confidence")},
                "estimand": first["estimand"],
                "seed": first["seed"],
            },
            rows(evaluations),
        )
    write = {TableFormat.latex: to_latex, TableFormat.markdown: to_markdown}.get(kind, _text)
    return "\n".join(write(one) for one in evaluations)


def _dimension(of: Evaluation) -> dict[str, Any]:
    facts = about(of)
    human = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in of.human._asdict().items()
    }
    names = ("dimension", "against", "items", "sources", "systems")
    return {name: facts[name] for name in names} | {"human": human, "tests": of.tested}


def _document(head: dict[str, Any], frame: pd.DataFrame) -> str:
    """One JSON object: the head, the rows, one a line, and the versions."""
    lines = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    tail = json.dumps(versions(), ensure_ascii=False)
    return f'{lines},\n "rows": {console.to_json(frame).rstrip()},\n "versions": {tail}\n}}\n'


def _text(of: Evaluation) -> str:
    shown, rule = table(of)
    return "\n".join([title(of), *notes(of), console.to_text(shown, rule)])


def to_latex(of: Evaluation) -> str:
    """The table for LaTeX; it needs ``\\usepackage{booktabs}``.  Notes stand above as comments."""
    shown, rule = table(of, signatures=False)
    comments = [*notes(of), *(f"signature: {one}" for one in of.frame["signature"])]
    label = re.sub(r"[^A-Za-z0-9:._-]", "-", f"tab:{of.dataset}-{of.dimension}")
    return latex(shown, title(of), label, comments, rule)


def latex(
    frame: pd.DataFrame,
    caption: str,
    label: str | None = None,
    comments: Sequence[str] = (),
    rule: int = 0,
) -> str:
    """A frame for LaTeX by :meth:`pandas.io.formats.style.Styler.to_latex`, all texts escaped.

    Args:
        comments: lines that go before the table: how to get these numbers again.
        rule: a line is drawn after so many rows; 0 for none.
    """
    plain = frame.map(lambda cell: one_line(cell) if isinstance(cell, str) else cell)
    styler = plain.style.hide(axis="index").format(escape="latex", precision=3, na_rep="--")
    styler = styler.format_index(escape="latex", axis=1)
    columns = "".join("r" if frame[name].dtype.kind in "iuf" else "l" for name in frame)
    escaped = pd.DataFrame([one_line(caption)]).style.format(escape="latex")
    words = escaped.hide(axis="index").hide(axis="columns").to_latex().splitlines()[1]
    text = styler.to_latex(
        column_format=columns,
        position_float="centering",
        hrules=True,
        caption=words.removesuffix(r" \\"),
        label=label,
    )
    if rule:
        lines = text.splitlines(keepends=True)
        head = next(i for i, line in enumerate(lines) if r"\midrule" in line)
        text = "".join([*lines[: head + 1 + rule], "\\midrule\n", *lines[head + 1 + rule :]])
    return "".join(f"% {one_line(line)}\n" for line in comments) + text


def to_markdown(of: Evaluation) -> str:
    """The table for Markdown, with its title above and its notes below."""
    shown, rule = table(of, signatures=False)
    return markdown(shown, title(of), notes(of), rule)


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~$#])")


def markdown(frame: pd.DataFrame, head: str, below: Sequence[str] = (), rule: int = 0) -> str:
    """A frame for Markdown (pipes, as GitHub and MyST read it), all texts escaped.

    Args:
        rule: a row of dashes stands after so many rows, as Markdown has no line; 0 for none.
    """

    def cell(value: Any) -> str:
        if pd.isna(value):
            return "-"
        text = f"{value:z.3f}" if isinstance(value, float) else one_line(str(value))
        return _MARKDOWN.sub(r"\\\1", text.replace("&", "&amp;"))

    ends = ["---:" if frame[name].dtype.kind in "iuf" else "---" for name in frame]
    body = [[cell(value) for value in row] for row in frame.astype(object).itertuples(index=False)]
    if rule:
        body.insert(rule, ["—"] * len(ends))
    lines = [[cell(name) for name in frame.columns], ends, *body]
    table = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"**{cell(head)}**", "", *table, *([""] if below else []),
                      *(f"- {cell(line)}" for line in below)]) + "\n"  # fmt: skip


def one_line(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)
