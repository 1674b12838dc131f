"""An evaluation for reading: in words, as a table and a figure, and as CSV, JSON or LaTeX.

A sentence says no more than its test: two metrics that cannot be told apart are not called equal.
Texts of data sets may be hostile: what means something in LaTeX is escaped, a cell is one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import console
from ..console import TableFormat
from ..data import Dataset
from ..schema import USABLE, TstmetaError
from . import comparison
from .evaluation import COLUMNS, Evaluation
from .frame import METRIC, SCORED, corpus_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The values with any one system left out, and the system that moves it most, for reading.
LESS = "one system less"
PEOPLE = "human ceiling"
AS_RATER = "as_rater: a metric in the place of one rater, beside the human ceiling"
#: What a file's name ends in, and what is written to it then.
ENDINGS = {".csv": TableFormat.csv, ".json": TableFormat.json, ".tex": TableFormat.latex}
#: Columns of whole numbers, some of them missing.
_WHOLE = ("n", "rank", "rank_low", "rank_high", "cluster")
#: Names of a list before the rest is counted.
_LISTED = 6


# -------------------------------------------------------------------------------------- in words


def number(value: float) -> str:
    """With three decimals, or as many as a small one needs not to read 0; never -0."""
    if not math.isfinite(value):
        return "-"
    text = f"{value:z.3f}"
    if float(text) or abs(value) < 1e-9:  # what is left of rounding is no difference
        return text if float(text) else "0"
    return np.format_float_positional(value, 1, fractional=False, trim="-")


def with_limits(value: float, low: float, high: float) -> str:
    """A value with its interval where it has one."""
    return number(value) + f" [{number(low)}, {number(high)}]" * math.isfinite(low)


def name_of(metric: str, basis: str) -> str:
    """A metric in a line of text: R- is reference-based."""
    return f"R-{metric}" if basis == "reference" else metric


def sentences(own: Evaluation) -> list[str]:
    """Which metric leads, which stay below the best sentinel, which difference could be shown."""
    (metrics, sentinels), value, rank = own.places, own.frame["value"], own.frame["rank"]
    if not metrics:
        return [f"No metric has a value for {own.dimension} that could be compared."]
    differ = own.p <= comparison.ALPHA
    first = [place for place in metrics if rank[place] == rank[metrics[0]]]
    below = [place for place in metrics[len(first) :] if differ[first, place].all()]
    alike = [place for place in metrics[len(first) :] if place not in below]
    alone = len(first) == 1
    agree, it, are = ("agrees", "it", "it is") if alone else ("agree", "them", "they are")
    parts = [f"{_label(own, first)} {agree} best with the {own.against} of {own.dimension}"]
    chance = own.analysis.setting.function.chance
    if (own.frame["low"][first] <= chance).all():
        intervals = "its interval does" if alone else "their intervals do"
        parts += [f"{intervals} not lie above {chance:g}, which is chance"]
    parts += [f"{_names(own, alike)} cannot be told from {it}"] * bool(alike)
    parts += [f"{are} above {_names(own, below)}"] * bool(below)
    words = [f"{'; '.join(parts)} (at 0.05 for all {_pairs(own):,} pairs of rows)."]
    for best in sentinels:
        alike = [place for place in metrics if not differ[place, best]]
        below = [place for place in metrics if differ[place, best] and value[place] < value[best]]
        above = len(metrics) - len(alike) - len(below)
        parts = [f"below it: {_names(own, below) or 'no metric'}"]
        parts += [f"{_names(own, alike)} cannot be told from it"] * bool(alike)
        parts += [f"above it: {above} of {len(metrics)} metrics"]
        words.append(f"The best sentinel is {_label(own, [best])}; {'; '.join(parts)}.")
        words[-1] += " No metric can be recommended." * (len(below) == len(metrics))
    return words + _power(own, metrics)


def _power(own: Evaluation, metrics: Sequence[int]) -> list[str]:
    """Of the pair that leads: the difference is a fact about a pair of metrics."""
    gap = own.frame["value"][metrics[0]] - own.frame["value"]
    for other in [place for place in metrics if gap[place] > 1e-12][:1]:
        least = comparison.detectable(own.analysis, metrics[0], other)
        pair = f"{_names(own, [other])} is worse than {_names(own, metrics[:1])}"
        if math.isinf(least):
            return [f"These data would show at no difference, with 80 % power, that {pair}."]
        if math.isfinite(least):
            words = f"With 80 % power these data would show that {pair} if the difference were"
            words += f" {number(least)} (this pair alone at 0.05, by simulation)"
            return [f"{words}; it is {number(gap[other])}."]
    return []


def _label(own: Evaluation, some: Sequence[int]) -> str:
    """Rows of one value, with it, and how many rewrites it is over where these are not all."""
    if len(some) > 1:
        return f"{_names(own, some)} ({own.label} {number(own.frame['value'][some[0]])} each)"
    value, sides = with_limits(*own.frame.loc[some[0], ["value", "low", "high"]]), own.analysis[0]
    n = int(np.isfinite(sides.human + sides.metrics[some[0]]).sum())
    over = f", over {n:,} of {own.items:,} rewrites" * (0 < n < own.items)
    return f"{_names(own, some)} ({own.label} {value}{over})"


def _names(own: Evaluation, some: Sequence[int]) -> str:
    """Rows by name, as a list in a sentence; after some the rest is counted."""
    shown = [name_of(*own.frame.loc[place, ["metric", "basis"]]) for place in some]
    if len(shown) > _LISTED:
        shown[_LISTED - 1 :] = [f"{len(shown) - _LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _pairs(own: Evaluation) -> int:
    return math.comb(own.frame["rank"].count(), 2)


def title(own: Evaluation) -> str:
    """What the table holds, in one line: data, setting, estimand, draws and seed."""
    systems = f", {own.systems} systems" * bool(own.systems)
    plan = own.analysis.plan
    return (
        f"{own.dataset}: {own.items:,} rewrites, {own.sources:,} sources{systems}; {own.label} with"
        f" the {own.against} of {own.dimension}, level {own.analysis.setting.level}; 95 % bootstrap"
        f" confidence intervals for {plan.estimand} ({plan.n:,} draws, seed {own.analysis.seed})"
    )


def notes(own: Evaluation, gaps: bool = False) -> list[str]:
    """What else a reader must know: the human ceiling, tests, what was flipped or is not there."""
    human = own.human
    words = [f"The human ceiling is not known: {human.note}"]
    if math.isfinite(human.value):
        words = [
            f"Human ceiling: one rater agrees with the mean of the others at"
            f" {number(human.value)} (single raters {number(human.low)} to {number(human.high)};"
            f" {human.n:,} ratings)" + f"; {human.note}" * bool(human.note),
            *[AS_RATER] * (not gaps),
        ]
    if gaps:
        words += [
            f"p is of a pair alone, p_adjusted (max-t) of all {_pairs(own):,} pairs of rows at"
            " once, both in the same resamples"
        ]
    elif own.tested:
        words += ["Clusters part what differs at 0.05, all pairs at once, in the same resamples"]
    less = own.frame[own.frame["better"] == "lower"]
    flipped = ", ".join(less["metric"] + " (" + less["basis"] + ")")
    return [*words, *[f"Flipped, since lower is better: {flipped}"] * bool(flipped), *own.remarks]


def remarks(own: Evaluation) -> list[str]:
    """What is to be known of single rows, or why they have no value."""
    rows = own.frame[own.frame["note"] != ""].groupby("note", sort=False)
    parts = {note: list(map(name_of, each["metric"], each["basis"])) for note, each in rows}
    return [f"{', '.join(names)}: {note}" for note, names in parts.items()]


# -------------------------------------------------------------------------------------- as tables


def table(own: Evaluation) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, without empty columns; and the row before the line.

    R- in a name is reference-based; as_rater has a metric in the place of one rater.
    """
    rows = own.frame
    ends = rows[["without_low", "without_high", "without"]].itertuples(index=False, name=None)
    less = ["" if pd.isna(low) else f"{low:z.2f} to {top:z.2f} ({name})" for low, top, name in ends]
    values = rows[["value", "low", "high"]].itertuples(index=False)
    columns = {
        "metric": list(map(name_of, rows["metric"], rows["basis"])),
        f"{own.label} [95 % CI]": [with_limits(*each) for each in values],
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
        blank: dict[str, Any] = dict.fromkeys(shown.select_dtypes(["object", "str"]), "")
        people = blank | {"metric": PEOPLE, "as_rater": own.human.value, "n": own.human.n}
        people = pd.DataFrame([people]).reindex(columns=shown.columns).astype(shown.dtypes)
        shown, rule = pd.concat([people, shown], ignore_index=True), rule + 1
    return shown, rule if 0 < rule < len(shown) else 0


def ranks(rows: pd.DataFrame) -> list[str]:
    """The ranks that each row could have."""
    sets = zip(rows["rank_low"], rows["rank_high"], strict=True)
    return ["" if pd.isna(low) else f"{low}–{high}" for low, high in sets]


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
        texts = list[str]()
        for own in evaluations:
            shown, rule = (_gaps(own), 0) if gaps else table(own)
            texts += map(console.escaped, [title(own), *notes(own, gaps), *own.summary])
            texts += [console.to_text(shown, rule)]
        return "\n".join(texts)
    if kind is TableFormat.latex:
        return "\n".join(_latex(own, gaps) for own in with_values(evaluations))
    parts = []
    for own in evaluations:
        if math.isfinite(own.human.value):
            row = own.key | {"metric": PEOPLE, "kind": "human", "against": own.against}
            row |= {"as_rater": own.human.value, "n": own.human.n, "note": own.human.note}
            parts.append(pd.DataFrame([row | {"signature": ""}]))
        parts.append(own.frame)
    rows = pd.concat([part.astype(object) for part in parts], ignore_index=True)[COLUMNS]
    rows = rows.astype(dict.fromkeys(_WHOLE, "Int64"))
    tested = [own.differences for own in evaluations if own.tested or gaps]
    pairs = pd.concat(tested or [pd.DataFrame()])
    if kind is TableFormat.csv:
        return console.to_csv(pairs if gaps else rows, for_people=True)
    return _json({"rows": rows, "differences": pairs}, evaluations=list(map(_facts, evaluations)))


def described(data: Dataset, scores: pd.DataFrame, kind: TableFormat) -> str:
    """Scores that there is nothing to hold against, as text in a format."""
    rows = []
    for key, own in scores.groupby(SCORED, sort=False, observed=True):
        usable, status = own[own["status"].isin(USABLE)], own["status"].value_counts()
        facts = usable["value"].agg(["mean", "std", "min", "max"]).to_dict()
        if len(usable) and (corpus := corpus_of(str(key[0]), usable)):
            facts["mean"] = corpus.combine(list(usable["detail"]))
        counts = {name: int(status.get(name, 0)) for name in ("empty", "truncated")}
        counts |= {"scored": len(usable), "failed": len(own) - len(usable)}
        rows.append(dict(zip(SCORED, key, strict=True)) | facts | counts)
    columns = ["metric", "basis", "mean", "std", "min", "max", "scored", "empty", "truncated"]
    frame = pd.DataFrame(rows, columns=[*columns, "failed", "signature"])
    name = console.escaped(data.name)
    head = f"{name}: {len(data.items):,} rewrites; scores, nothing to compare with"
    if kind is TableFormat.csv:
        return console.to_csv(frame, for_people=True)
    if kind is TableFormat.json:
        return _json({"rows": frame}, title=head)
    return latex(frame, head) if kind is TableFormat.latex else f"{head}\n{console.to_text(frame)}"


def _json(tables: dict[str, pd.DataFrame], **head: Any) -> str:
    """One JSON object: the head, then the tables, a row a line."""
    lines = [json.dumps(head, ensure_ascii=False, indent=1)[:-2]]
    lines += [f' "{name}": {console.to_json(table).rstrip()}' for name, table in tables.items()]
    return ",\n".join(lines) + "\n}\n"


def _facts(own: Evaluation) -> dict[str, Any]:
    plan, facts = own.analysis.plan, own.key | {"title": title(own), "seed": own.analysis.seed}
    facts |= {"units": plan.units, "draws": plan.n, "estimand": plan.estimand}
    return facts | {"notes": notes(own), "summary": own.summary}


def with_values(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Those that there is something to show of."""
    valued = [own for own in evaluations if own.frame["value"].notna().any()]
    if not valued:
        why = "".join(f" ({own.frame['note'].iloc[0]})" for own in evaluations[:1])
        raise TstmetaError(f"nothing to show: no metric has a value beside ratings{why}")
    return valued


def _latex(own: Evaluation, gaps: bool) -> str:
    """A compact table, and all else as comments."""
    shown, rule = (_gaps(own), 0) if gaps else table(own)
    known = [name for name in ("cluster", "as_rater") if name in shown]
    compact = shown if gaps else shown[[*shown.columns[:2], *known]]
    needs = r"needs \usepackage{booktabs} in the preamble"
    comments = [needs, *notes(own, gaps), *remarks(own), *own.summary]
    comments += [f"signature: {text}" for text in own.frame["signature"]]
    caption = f"{title(own)}. R- is reference-based"
    caption += ". Below the line stand sentinels, which know nothing of quality" * bool(rule)
    caption += f". {AS_RATER}" * ("as_rater" in compact)
    return latex(compact, caption, comments, rule)


_WORDS = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: f"${sign}$" for sign in "<>|"}
_LATEX = str.maketrans(_WORDS | _SIGNS)
#: The sign of a number, not a hyphen.
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")


def latex(frame: pd.DataFrame, head: str, comments: Sequence[str] = (), rule: int = 0) -> str:
    """A frame for LaTeX, all texts escaped, with a caption; it needs ``\\usepackage{booktabs}``.

    Comments stand before the table; a line is drawn after ``rule`` rows.
    """
    rows = [list(frame), *frame.astype(object).itertuples(index=False)]
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    for place in [rule + 1] * bool(rule) + [1]:
        lines.insert(place, r"\midrule")
    sides = "".join("r" if frame[name].dtype.kind in "iuf" else "l" for name in frame)
    before = [f"% {_one_line(comment)}" for comment in comments]
    before += [r"\begin{table}", r"\centering", f"\\caption{{{_cell(head)}}}"]
    before += [f"\\begin{{tabular}}{{{sides}}}", r"\toprule"]
    return "\n".join([*before, *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _cell(value: Any) -> str:
    """A value as text for LaTeX; floats with three decimals."""
    if pd.isna(value):
        return "--"
    text = number(value) if isinstance(value, float) else _one_line(str(value))
    return _MINUS.sub("$-$", text.translate(_LATEX))


def _one_line(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)


# ------------------------------------------------------------------------------------- as figures


def draw(evaluations: Sequence[Evaluation]) -> Figure:
    """Forest plots of evaluations that have values, a panel each, with the ranks at the right."""
    from .. import plot  # needs the extra for drawing

    drawn = with_values(evaluations)
    keys = pd.DataFrame([own.key for own in drawn]).map(console.escaped)
    differ = [name for name in keys if len(set(keys[name])) > 1]
    parts = map(", ".join, keys[differ].to_numpy())
    named = {name or keys["dataset"][0]: own for name, own in zip(parts, drawn, strict=True)}
    frame = pd.concat(own.frame.assign(dataset=name) for name, own in named.items())
    people = pd.DataFrame({"dataset": n, **own.human._asdict()} for n, own in named.items())
    labels = ", ".join(dict.fromkeys(own.label for own in drawn))
    figure = plot.forest(frame.assign(flipped=frame["better"] == "lower"), people, label=labels)
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
