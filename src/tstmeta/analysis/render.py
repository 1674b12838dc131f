"""An evaluation for reading: its title, table and figure, and all of it as CSV, JSON or LaTeX.

Texts of data sets may be hostile: what means something in LaTeX is escaped, a cell is one line.
"""

from __future__ import annotations

import json
import math
import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import console
from ..console import TableFormat
from ..data import Dataset
from ..schema import TstmetaError
from .evaluation import COLUMNS, Evaluation
from .frame import METRIC, scored
from .summary import name_of, number, with_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def rendered(evaluations: Sequence[Evaluation], kind: TableFormat, gaps: bool = False) -> str:
    """Evaluations as text in a format: values, or ``gaps``, the differences; JSON has both."""
    if kind is TableFormat.table:
        return "\n".join(_reading(own, gaps) for own in evaluations)
    if kind is TableFormat.latex:
        valued = with_values(evaluations)
        shared = dict.fromkeys(own.dimension for own in valued)
        groups = [[own for own in valued if own.dimension == name] for name in shared]
        return "\n".join(_latex(group, gaps) for group in groups)
    parts = []
    for own in evaluations:
        if math.isfinite(own.human.value):
            row = own.key | {"kind": "human", "against": own.against}
            parts.append(pd.DataFrame([row | _people(own) | {"note": own.human.note}]))
        parts.append(own.frame)
    rows = pd.concat([part.astype(object) for part in parts], ignore_index=True)[COLUMNS]
    rows = rows.astype(dict.fromkeys(_WHOLE, "Int64"))
    if kind is TableFormat.csv and not gaps:
        return console.to_csv(rows, for_people=True)
    tested = [own.differences for own in evaluations if own.tested or gaps]
    pairs = pd.concat(tested or [pd.DataFrame()])
    if kind is TableFormat.csv:
        return console.to_csv(pairs, for_people=True)
    facts = list(map(_facts, evaluations))
    return _json({"rows": rows, "differences": pairs}, evaluations=facts)


def described(data: Dataset, scores: pd.DataFrame, kind: TableFormat) -> str:
    """Scores that there is nothing to hold against, as text in a format."""
    columns = ["metric", "basis", "mean", "sd", "min", "max", *_WHOLE[-4:], "note", "signature"]
    rows = [
        {"metric": own.name, "basis": own.basis, "signature": own.signature, **own.about}
        for own in scored(data, scores)
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(note="nothing to compare with: no ratings")
    if kind is TableFormat.csv:
        return console.to_csv(frame.reindex(columns=COLUMNS), for_people=True)
    if kind is TableFormat.json:
        facts = {"name": data.name, "items": len(data.items)}
        return _json({"rows": frame.reindex(columns=COLUMNS)}, data=facts)
    head = f"{data.name}: {len(data.items):,} rewrites; scores, nothing to compare with"
    if kind is TableFormat.table:
        return f"{head}\n{console.to_text(frame)}"
    return latex(frame.drop(columns="signature"), head)


def _json(tables: dict[str, pd.DataFrame], **head: Any) -> str:
    """One JSON object: the head, the tables, a row a line, and the versions."""
    versions = {name: version(name) for name in ("tstmeta", "numpy", "scipy", "pandas")}
    versions = {"python": platform.python_version(), **versions}
    lines = [json.dumps(head, ensure_ascii=False, indent=1)[:-2]]
    lines += [f' "{name}": {console.to_json(table).rstrip()}' for name, table in tables.items()]
    return ",\n".join([*lines, f' "versions": {json.dumps(versions)}\n}}\n'])


def with_values(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Those that there is something to show of."""
    valued = [own for own in evaluations if own.frame["value"].notna().any()]
    if not valued:
        why = "".join(f" ({own.frame['note'].iloc[0]})" for own in evaluations[:1])
        raise TstmetaError(f"nothing to show: no metric has a value beside ratings{why}")
    return valued


def varied(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """The parts of the setting in which they do differ, a column each."""
    table = pd.DataFrame([own.key for own in evaluations])
    return table[[name for name in table if len(set(table[name])) > 1]]


def _facts(own: Evaluation) -> dict[str, Any]:
    human = {key: None if pd.isna(value) else value for key, value in own.human._asdict().items()}
    names, plan = ("against", "items", "sources", "systems"), own.analysis.plan
    facts = own.key | {name: getattr(own, name) for name in names} | {"human": human}
    facts |= {"units": plan.units, "draws": plan.n, "estimand": plan.estimand}
    return facts | {"seed": own.analysis.seed, "notes": notes(own), "summary": own.summary}


def _reading(own: Evaluation, gaps: bool) -> str:
    shown, rule = (_gaps(own), 0) if gaps else table(own)
    about = ["as_rater: a metric in the place of one rater, beside the human ceiling"]
    about = [*notes(own, gaps), *about * ("as_rater" in shown), *own.summary]
    return "\n".join([title(own), *about, console.to_text(shown, rule)])


def _latex(evaluations: Sequence[Evaluation], gaps: bool) -> str:
    """One compact table of evaluations of a dimension, and all else as comments; R- in a name says
    that the metric is reference-based.
    """
    heads, comments, blocks = varied(evaluations), [], []
    label = " or ".join(dict.fromkeys(own.label for own in evaluations))
    for own, head in zip(evaluations, heads.to_dict("records"), strict=True):
        comments += [title(own), *notes(own, gaps), *own.summary]
        for row in own.frame.itertuples():
            lacks = f"no value: {row.metric} ({row.basis}): {row.note}"
            comments += [*([lacks] * pd.isna(row.value)), f"signature: {row.signature}"]
        for part in [_gaps(own)] if gaps else _compact(own, label):
            blocks.append(pd.concat([pd.DataFrame([head] * len(part)), part], axis=1))
    caption = title(evaluations[0])
    if len(evaluations) > 1:
        names = [f"{name} {', '.join(dict.fromkeys(heads[name]))}" for name in heads]
        caption = f"{label} of metrics with people on {evaluations[0].dimension}: "
        caption += "; ".join([*names, "95 % bootstrap confidence intervals"])
    tests = list(dict.fromkeys(words for own in evaluations for words in _tests(own, gaps)))
    line = ["Below the line stand sentinels, which know nothing of quality"] * (not gaps)
    caption = ". ".join([caption, "R- is reference-based", *line, *tests * (len(tests) == 1)])
    rules = list(accumulate(map(len, blocks)))[:-1]
    return latex(pd.concat(blocks), caption, list(dict.fromkeys(comments)), rules)


def _compact(own: Evaluation, label: str) -> list[pd.DataFrame]:
    """metric, value with interval, cluster: metrics, what stands below the line, people."""
    rows = own.frame.dropna(subset="value")
    values = rows[["value", "low", "high"]].itertuples(index=False)
    table = pd.DataFrame(
        {
            "metric": list(map(name_of, rows["metric"], rows["basis"])),
            f"{label} [95 % CI]": [with_limits(*each) for each in values],
            "cluster": rows["cluster"].astype(object),
        }
    )
    ceiling = "human ceiling", number(own.human.value), None
    people = pd.DataFrame([ceiling] * math.isfinite(own.human.value), columns=table.columns)
    metric = rows["kind"] == METRIC
    parts = table[metric], table[~metric], people
    return [part.reset_index(drop=True) for part in parts if len(part)]


def _gaps(own: Evaluation) -> pd.DataFrame:
    """The differences for reading."""
    rows = own.differences
    limits = rows[["difference", "low", "high"]].itertuples(index=False)
    table = {name: list(map(name_of, rows[name], rows[f"{name}_basis"])) for name in "ab"}
    table["a less b [95 % CI]"] = [with_limits(*each) for each in limits]
    for name in ("p", "p_adjusted"):
        table[name] = ["<0.001" if p < 0.001 else number(p) for p in rows[name]]
    if len(set(rows["note"])) > 1:  # what is of all rows stands above
        table["note"] = rows["note"]
    return pd.DataFrame(table)


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


def notes(own: Evaluation, gaps: bool = False) -> list[str]:
    """What else a reader must know: the human ceiling, tests, what was flipped or is not there."""
    human = own.human
    if math.isfinite(human.value):
        people = (
            f"Human ceiling: one rater agrees with the mean of the others at"
            f" {number(human.value)} (single raters {number(human.low)} to {number(human.high)};"
            f" {human.n:,} ratings)" + f"; {human.note}" * bool(human.note)
        )
    else:
        people = f"The human ceiling is not known: {human.note}"
    less = own.frame[own.frame["better"] == "lower"]
    flipped = ", ".join(less["metric"] + " (" + less["basis"] + ")")
    words = [f"Flipped, since lower is better: {flipped}"] if flipped else []
    return [people, *_tests(own, gaps), *words, *own.remarks]


def _tests(own: Evaluation, gaps: bool) -> list[str]:
    """What was tested at once, in a line; none where nothing of it is shown."""
    if gaps:
        pairs = f"{math.comb(own.frame['rank'].count(), 2):,} pairs of rows at once, both in the"
        pairs += " same resamples"
        return [f"p is of a pair alone, p_adjusted (max-t) of all {pairs}"]
    words = "Clusters part what differs at 0.05, all pairs at once, in the same resamples"
    return [words] * own.tested


def table(own: Evaluation) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, without empty columns; and the row before the line."""
    rows = own.frame
    ends = rows[["without_low", "without_high", "without"]].itertuples(index=False, name=None)
    less = ["" if pd.isna(low) else f"{low:z.2f} to {top:z.2f} ({name})" for low, top, name in ends]
    columns = {
        **rows[["metric", "basis"]],
        own.label: rows["value"],
        **rows[["low", "high"]],
        LESS: [each.removesuffix(" ()") for each in less],
        "n": rows["n"].astype("Int64"),
        "rank": rows["rank"],
        "ranks": ranks(rows),
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


def ranks(rows: pd.DataFrame) -> list[str]:
    """The ranks that each row could have."""
    sets = zip(rows["rank_low"], rows["rank_high"], strict=True)
    return ["" if pd.isna(low) else f"{low}–{high}" for low, high in sets]


def _people(own: Evaluation) -> dict[str, Any]:
    """The row that people have: one rater against the mean of the others."""
    name = "one rater" if own.human.persons else "one rating slot"
    return {"metric": name, "as_rater": own.human.value, "n": own.human.n, "signature": ""}


def draw(evaluations: Sequence[Evaluation]) -> Figure:
    """Forest plots of evaluations that have values, a panel each, with the ranks at the right."""
    from .. import plot  # needs the extra for drawing

    drawn = with_values(evaluations)
    parts = map(", ".join, varied(drawn).to_numpy())
    named = {name or own.dataset: own for name, own in zip(parts, drawn, strict=True)}
    frame = pd.concat(own.frame.assign(dataset=name) for name, own in named.items())
    people = [{"dataset": name, **own.human._asdict()} for name, own in named.items()]
    labels = ", ".join(dict.fromkeys(own.label for own in drawn))
    figure = plot.forest(
        frame.assign(flipped=frame["better"] == "lower"), pd.DataFrame(people), label=labels
    )
    for axis in figure.axes:
        if own := named.get(axis.get_title("left")):  # a panel may be spare
            rows = own.frame.dropna(subset="value")
            side = axis.secondary_yaxis("right")
            side.set_yticks(range(len(rows)), ranks(rows), fontsize=7.5)
            side.tick_params(length=0)
            side.set_ylabel("ranks it could have", fontsize=7.5)
    return figure


def images(figure: Figure, *kinds: str) -> list[bytes]:
    """A figure as pdf, svg or png: the same bytes for the same figure; then it is closed."""
    from matplotlib import pyplot, rc_context

    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    same: dict[Any, Any] = {"svg.hashsalt": "tstmeta", "pdf.fonttype": 42}
    buffers = [BytesIO() for _ in kinds]
    with rc_context(same):
        for kind, buffer in zip(kinds, buffers, strict=True):
            figure.savefig(buffer, format=kind, metadata=dates.get(kind), dpi=300)
    pyplot.close(figure)
    return [buffer.getvalue() for buffer in buffers]


_WORDS = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: f"${sign}$" for sign in "<>|"}
_LATEX = str.maketrans(_WORDS | _SIGNS)
#: The sign of a number, not a hyphen.
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")


def latex(
    frame: pd.DataFrame, head: str, comments: Sequence[str] = (), rules: Sequence[int] = ()
) -> str:
    """A frame for LaTeX, all texts escaped, with a caption; it needs ``\\usepackage{booktabs}``.

    Comments stand before the table; a line is drawn after so many rows each.
    """
    rows = [list(frame), *frame.astype(object).itertuples(index=False)]
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    lines.insert(1, r"\midrule")
    for place in sorted(rules, reverse=True):
        lines.insert(place + 2, r"\midrule")
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
        value = number(value)
    return _MINUS.sub("$-$", _one_line(str(value)).translate(_LATEX))


def _one_line(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)
