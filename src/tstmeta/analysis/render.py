"""An evaluation for reading: its title, its table, and all of it as CSV, JSON or LaTeX.

Texts of data sets may be hostile: what means something in LaTeX is escaped, a cell is one line.
"""

from __future__ import annotations

import json
import math
import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import console
from ..console import TableFormat
from ..data import Dataset
from ..schema import TstmetaError
from .frame import METRIC, scored

if TYPE_CHECKING:
    from .evaluation import Evaluation

#: Columns of :attr:`~tstmeta.analysis.evaluation.Evaluation.frame`.
COLUMNS = [
    *("metric", "basis", "dimension", "kind", "better", "value", "low", "high", "method", "n"),
    *("without_low", "without_high", "without"),
    *("rank", "rank_low", "rank_high", "cluster", "partial", "given", "partial_all", "given_all"),
    *("as_rater", "against", "mean", "sd", "min", "max", "scored", "empty", "truncated", "failed"),
    *("note", "signature"),
]
#: The values with any one system left out, and the system that moves it most, for reading.
LESS = "one system less"
#: What a file's name ends in, and what is written to it then.
ENDINGS = {".csv": TableFormat.csv, ".json": TableFormat.json, ".tex": TableFormat.latex}
#: Columns of whole numbers, some of them missing.
_WHOLE = ("n", "rank", "rank_low", "rank_high", "cluster", "scored", "empty", "truncated", "failed")


def format_of(out: Path | None, format: TableFormat | None = None) -> TableFormat:
    """The format given, else what the file's name ends in, else a plain table."""
    if out is None:
        return format or TableFormat.table
    kind = format or ENDINGS.get(out.suffix.lower())
    if kind is None or kind is TableFormat.table:
        raise TstmetaError(
            f"{out} cannot be written as a table for reading: end its name in {', '.join(ENDINGS)}"
        )
    return kind


def rendered(evaluations: Sequence[Evaluation], kind: TableFormat) -> str:
    """Evaluations of one data set, a dimension each, as text in a format."""
    if kind not in (TableFormat.csv, TableFormat.json):
        return "\n".join(_reading(own, kind) for own in evaluations)
    parts = []
    for own in evaluations:
        if math.isfinite(own.human.value):
            row = {"dimension": own.dimension, "kind": "human", "against": own.against}
            parts.append(pd.DataFrame([row | _people(own) | {"note": own.human.note}]))
        parts.append(own.frame)
    rows = pd.concat([part.astype(object) for part in parts], ignore_index=True)[COLUMNS]
    rows = rows.astype(dict.fromkeys(_WHOLE, "Int64"))
    if kind is TableFormat.csv:
        return console.to_csv(rows)
    dimensions = [_dimension(own) for own in evaluations]
    setting, plan = evaluations[0].analysis.setting, evaluations[0].analysis.plan
    computed = {"statistic": setting.function.name, "level": setting.level}
    return _json(
        rows,
        data={"name": evaluations[0].dataset, "dimensions": dimensions},
        setting=computed | {"units": plan.units, "draws": plan.n},
        estimand=plan.estimand,
        seed=evaluations[0].analysis.seed,
    )


def described(data: Dataset, scores: pd.DataFrame, kind: TableFormat) -> str:
    """Scores that there is nothing to hold against, as text in a format."""
    columns = ["metric", "basis", "mean", "sd", "min", "max", *_WHOLE[-4:], "note", "signature"]
    rows = [
        {"metric": own.name, "basis": own.basis, "signature": own.signature, **own.about}
        for own in scored(data, scores)
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(note="nothing to compare with: no ratings")
    if kind is TableFormat.csv:
        return console.to_csv(frame.reindex(columns=COLUMNS))
    if kind is TableFormat.json:
        facts = {"name": data.name, "items": len(data.items)}
        return _json(frame.reindex(columns=COLUMNS), data=facts)
    head = f"{data.name}: {len(data.items):,} rewrites; scores, nothing to compare with"
    if kind is TableFormat.table:
        return f"{head}\n{console.to_text(frame)}"
    return latex(frame.drop(columns="signature"), head)


def _json(frame: pd.DataFrame, **head: Any) -> str:
    """One JSON object: the head, the rows, one a line, and the versions."""
    versions = {name: version(name) for name in ("tstmeta", "numpy", "scipy", "pandas")}
    versions = {"python": platform.python_version(), **versions}
    lines = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    rows = console.to_json(frame).rstrip()
    return f'{lines},\n "rows": {rows},\n "versions": {json.dumps(versions)}\n}}\n'


def _dimension(own: Evaluation) -> dict[str, Any]:
    human = {key: None if pd.isna(value) else value for key, value in own.human._asdict().items()}
    names = ("dimension", "against", "items", "sources", "systems")
    return {name: getattr(own, name) for name in names} | {"human": human}


def _reading(own: Evaluation, kind: TableFormat) -> str:
    shown, rule = table(own)
    if kind is TableFormat.table:
        return "\n".join([title(own), *notes(own), console.to_text(shown, rule)])
    signatures = [f"signature: {signature}" for signature in own.frame["signature"]]
    return latex(shown.drop(columns="signature"), title(own), [*notes(own), *signatures], rule)


def title(own: Evaluation) -> str:
    """What the table holds, in one line: data, setting, estimand, draws and seed."""
    counts = f"{own.items:,} rewrites, {own.sources:,} sources"
    if own.systems:
        counts += f", {own.systems} systems"
    level, plan = own.analysis.setting.level, own.analysis.plan
    return (
        f"{own.dataset}: {counts}; {own.label} with the {own.against} of {own.dimension}, level"
        f" {level}; 95 % bootstrap confidence intervals for {plan.estimand}"
        f" ({plan.n:,} draws, seed {own.analysis.seed})"
    )


def notes(own: Evaluation) -> list[str]:
    """What else a reader must know: the human ceiling, tests, and what was flipped."""
    human = own.human
    if math.isfinite(human.value):
        people = (
            f"Human ceiling: one rater agrees with the mean of the others at {human.value:.3f}"
            f" (single raters {human.low:.3f} to {human.high:.3f}; {human.n:,} ratings);"
            " as_rater is a metric in that rater's place" + f"; {human.note}" * bool(human.note)
        )
    else:
        people = f"The human ceiling is not known: {human.note}"
    clusters = "Clusters part what differs at 0.05, all pairs at once, in the same resamples"
    less = own.frame[own.frame["better"] == "lower"]
    flipped = ", ".join(less["metric"] + " (" + less["basis"] + ")")
    return [people, clusters, *([f"Flipped, since lower is better: {flipped}"] if flipped else [])]


def table(own: Evaluation) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, without empty columns; and the row before the line."""
    rows = own.frame
    sets = zip(rows["rank_low"], rows["rank_high"], strict=True)
    ends = rows[["without_low", "without_high", "without"]].itertuples(index=False, name=None)
    less = ["" if pd.isna(low) else f"{low:.2f} to {top:.2f} ({name})" for low, top, name in ends]
    columns = {
        **rows[["metric", "basis"]],
        own.label: rows["value"],
        **rows[["low", "high"]],
        LESS: [each.removesuffix(" ()") for each in less],
        "n": rows["n"].astype("Int64"),
        "rank": rows["rank"],
        "ranks": ["" if pd.isna(low) else f"{low}–{high}" for low, high in sets],
        "cluster": rows["cluster"],
        f"given {rows['given'].iloc[0]}": rows["partial"],
        f"given {rows['given_all'].iloc[0]}": rows["partial_all"],
        **rows[["as_rater", "note", "signature"]],
    }
    shown = pd.DataFrame(columns)
    shown = shown.loc[:, ~(shown.isna() | (shown == "")).all()]
    rule = int((rows["kind"] == METRIC).sum())
    if "as_rater" in shown:
        blank = {name: "" for name in ("basis", LESS, "ranks", "note") if name in shown}
        people = pd.DataFrame([blank | _people(own)]).reindex(columns=shown.columns)
        shown = pd.concat([people.astype(shown.dtypes), shown], ignore_index=True)
        rule += 1
    return shown, rule if 0 < rule < len(shown) else 0


def _people(own: Evaluation) -> dict[str, Any]:
    """The row that people have: one rater against the mean of the others."""
    name = "one rater" if own.human.persons else "one rating slot"
    return {"metric": name, "as_rater": own.human.value, "n": own.human.n, "signature": ""}


_WORDS = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
_LATEX = str.maketrans({**_WORDS, **{sign: f"\\{sign}" for sign in "&%$#_{}"}})


def latex(frame: pd.DataFrame, head: str, comments: Sequence[str] = (), rule: int = 0) -> str:
    """A frame for LaTeX, all texts escaped, with a caption; it needs ``\\usepackage{booktabs}``.

    Comments stand before the table; a line is drawn after ``rule`` rows.
    """
    rows = [list(frame), *frame.astype(object).itertuples(index=False)]
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    lines.insert(1, r"\midrule")
    if rule:
        lines.insert(rule + 2, r"\midrule")
    sides = "".join("r" if frame[name].dtype.kind in "iuf" else "l" for name in frame)
    before = [f"% {_one_line(comment)}" for comment in comments]
    before += [r"\begin{table}", r"\centering", f"\\caption{{{_cell(head)}}}"]
    before += [f"\\begin{{tabular}}{{{sides}}}", r"\toprule"]
    return "\n".join([*before, *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _cell(value: Any) -> str:
    """A value as text for LaTeX; floats with three decimals."""
    if pd.isna(value):
        return "--"
    if isinstance(value, float):
        return f"{value:z.3f}"
    return _one_line(str(value)).translate(_LATEX)


def _one_line(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)
