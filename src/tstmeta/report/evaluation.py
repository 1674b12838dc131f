"""An analysis for reading: its title, its table, and all of it as CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .. import console
from ..data import Dataset
from .analysis import COLUMNS, Analysis
from .asked import METRIC
from .output import TableFormat, to_latex, to_markdown
from .raters import PERSON, SLOT
from .stored import about, versions

#: What a level looks at, in words.
LEVELS = {
    "pooled": "all rewrites at once",
    "source": "the rewrites of each source, then averaged",
    "within-system": "the rewrites of each system, then averaged",
    "system": "means of systems",
    "task": "the rewrites of each task, then averaged",
    "within-task": "all rewrites at once, standardised within tasks",
}
#: Kind of the row that people have.
HUMAN = "human"
#: Columns of whole numbers, some of them missing.
_WHOLE = ("n", "rank", "rank_low", "rank_high", "cluster", "scored", "empty", "truncated", "failed")
#: What is shown where there is nothing to hold scores against.
_DESCRIPTION = (
    *("metric", "basis", "mean", "sd", "min", "max"),
    *("scored", "empty", "truncated", "failed", "note", "signature"),
)


def title(analysis: Analysis) -> str:
    """What the table holds, in one line: data, setting, estimand, draws and seed."""
    counts = f"{analysis.items:,} rewrites, {analysis.sources:,} sources"
    if analysis.systems:
        counts += f", {analysis.systems} systems"
    level = analysis.setting.level
    groups = ", groups added up" if analysis.setting.micro else ""
    if not math.isnan(undefined := analysis.setting.undefined):
        groups += f", groups without a value count {undefined:g}"
    share = f"{100 * analysis.confidence:g}"
    return (
        f"{analysis.dataset}: {counts}; {analysis.label} with the {analysis.against} of"
        f" {analysis.dimension}, level {level} ({LEVELS[level]}{groups}); {share} % intervals for"
        f" {analysis.estimand} ({analysis.plan.n:,} draws, seed {analysis.seed})"
    )


def notes(analysis: Analysis) -> list[str]:
    """What else a reader must know: people's own agreement, tests, and what was turned round."""
    human, found = analysis.human, []
    if math.isfinite(human.value):
        alike = human.high - human.low < 5e-4
        each = "" if alike else f"single raters {human.low:.3f} to {human.high:.3f}; "
        found.append(
            f"People: a rater held out agrees with the mean of the others at {human.value:.3f}"
            f" ({each}{human.n:,} ratings); as_rater is a metric in that rater's place"
            + (f"; {human.note}" if human.note else "")
        )
    else:
        found.append(f"People's own agreement is not known: {human.note}")
    tests = f"Tests: {analysis.tested}"
    if analysis.tests is not None:
        tests += f"; clusters part what differs at {1 - analysis.confidence:.2g} after Holm"
        tests += f" (null hypothesis: {analysis.tests.null})"
    found.append(tests)
    if turned := _turned(analysis.rows):
        found.append(f"Less is better, so turned round: {', '.join(turned)}")
    return found


def _turned(rows: pd.DataFrame) -> list[str]:
    """Metrics that were turned round, with the basis where another one of theirs was not."""
    found = []
    for name, own in rows.groupby("metric", sort=False):
        less = own[own["better"] == "lower"]
        whole = len(less) == len(own)
        found += [str(name)] if whole else [f"{name} ({basis})" for basis in less["basis"]]
    return found


def table(analysis: Analysis, signatures: bool = True) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, and after how many of them the line belongs.

    Columns that hold nothing are left out.
    """
    rows = analysis.rows
    given, given_all = (
        next((one for one in rows[name] if isinstance(one, str) and one), "")
        for name in ("given", "given_all")
    )
    columns = {
        "metric": rows["metric"],
        "basis": rows["basis"],
        analysis.label: rows["value"],
        "low": rows["low"],
        "high": rows["high"],
        "n": rows["n"].astype("Int64"),
        "rank": rows["rank"],
        "ranks": _ranges(rows),
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
        people = pd.DataFrame([blank | _people(analysis)]).reindex(columns=shown.columns)
        shown = pd.concat([people.astype(shown.dtypes), shown], ignore_index=True)
        rule += 1
    return shown, rule if 0 < rule < len(shown) else 0


def _ranges(rows: pd.DataFrame) -> list[str]:
    pairs = zip(rows["rank_low"], rows["rank_high"], strict=True)
    return ["" if pd.isna(low) else f"{low}–{high}" for low, high in pairs]


def _people(analysis: Analysis) -> dict[str, Any]:
    human = analysis.human
    name = PERSON if human.persons else SLOT
    return {"metric": name, "as_rater": human.value, "n": human.n, "signature": ""}


def rows(analyses: Sequence[Analysis]) -> pd.DataFrame:
    """All rows of several dimensions, for programs: every column, people's rows among them."""
    parts = []
    for one in analyses:
        if math.isfinite(one.human.value):
            head = {"dimension": one.dimension, "kind": HUMAN, "against": one.against}
            parts.append(pd.DataFrame([head | _people(one) | {"note": one.human.note}]))
        parts.append(one.rows)
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    found = pd.concat([part.astype(object) for part in parts], ignore_index=True)[list(COLUMNS)]
    return found.astype(dict.fromkeys(_WHOLE, "Int64"))


def described(dataset: Dataset, found: pd.DataFrame, format: TableFormat) -> str:
    """Scores that there is nothing to hold against, as text in a format."""
    head = f"{dataset.name}: {len(dataset.items):,} rewrites; scores, nothing to compare with"
    plain = found[list(_DESCRIPTION)]
    if format is TableFormat.csv:
        return console.to_csv(found.reindex(columns=list(COLUMNS)))
    if format is TableFormat.json:
        data = {"name": dataset.name, "items": len(dataset.items)}
        return _document({"data": data}, found.reindex(columns=list(COLUMNS)))
    if format is TableFormat.latex:
        return to_latex(plain.drop(columns="signature"), caption=head)
    if format is TableFormat.markdown:
        return to_markdown(plain.drop(columns="signature"), title=head)
    return f"{head}\n{console.to_text(plain)}"


def rendered(analyses: Sequence[Analysis], format: TableFormat) -> str:
    """Analyses of one data set, a dimension each, as text in a format."""
    if format is TableFormat.csv:
        return console.to_csv(rows(analyses))
    if format is TableFormat.json:
        first = about(analyses[0])
        names = ("statistic", "level", "micro", "undefined", "units", "clustered", "draws")
        return _document(
            {
                "data": {"name": first["data"], "dimensions": [_dimension(a) for a in analyses]},
                "setting": {name: first[name] for name in (*names, "confidence")},
                "estimand": first["estimand"],
                "seed": first["seed"],
            },
            rows(analyses),
        )
    write = {TableFormat.latex: _latex, TableFormat.markdown: _markdown}.get(format, _text)
    return "\n".join(write(one) for one in analyses)


def _dimension(analysis: Analysis) -> dict[str, Any]:
    names = ("dimension", "against", "items", "sources", "systems")
    told = about(analysis)
    human = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in analysis.human._asdict().items()
    }
    return {name: told[name] for name in names} | {"human": human, "tests": analysis.tested}


def _document(head: dict[str, Any], found: pd.DataFrame) -> str:
    """One JSON object: the head, the rows, one a line, and the versions."""
    lines = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    tail = json.dumps(versions(), ensure_ascii=False)
    return f'{lines},\n "rows": {console.to_json(found).rstrip()},\n "versions": {tail}\n}}\n'


def _text(analysis: Analysis) -> str:
    shown, rule = table(analysis)
    return "\n".join([title(analysis), *notes(analysis), console.to_text(shown, rule)])


def _latex(analysis: Analysis) -> str:
    shown, rule = table(analysis, signatures=False)
    signatures = [f"signature: {one}" for one in analysis.rows["signature"]]
    return to_latex(
        shown,
        caption=title(analysis),
        label=f"tab:{analysis.dataset}-{analysis.dimension}",
        notes=[*notes(analysis), *signatures],
        rule=rule,
    )


def _markdown(analysis: Analysis) -> str:
    shown, rule = table(analysis, signatures=False)
    return to_markdown(shown, title=title(analysis), notes=notes(analysis), rule=rule)
