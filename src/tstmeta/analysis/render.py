"""An evaluation for reading: its notes, a table, a figure, and CSV, JSON or LaTeX.

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
from ..schema import TstmetaError
from .frame import METRIC, ORACLE, separated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .findings import Evaluation

PEOPLE = "human ceiling"
AS_RATER = "as_rater: a metric in the place of one rater, beside the human ceiling"
#: The ending of a file's name, and the format that it stands for.
ENDINGS = {".csv": TableFormat.csv, ".json": TableFormat.json, ".tex": TableFormat.latex}
#: Columns of :attr:`Evaluation.frame`.
COLUMNS = [
    *("dataset", "statistic", "level", "metric", "basis", "dimension", "kind", "better"),
    *("value", "low", "high", "r", "n", "pairs", "without_low", "without_high", "without"),
    *("rank", "rank_low", "rank_high", "cluster", "partial", "given", "partial_all", "given_all"),
    *("as_rater", "against", "note", "signature"),
]
#: Columns of whole numbers, some of them missing.
_COUNTS = ("n", "pairs", "rank", "rank_low", "rank_high", "cluster")


def number(value: float) -> str:
    """Three decimals, or as many as show the first digit of a small number; never -0."""
    if not math.isfinite(value):
        return "-"
    text = f"{value:z.3f}"
    if float(text) or abs(value) < 1e-9:  # an error of rounding is shown as 0
        return text if float(text) else "0"
    return np.format_float_positional(value, 1, fractional=False, trim="-")


def with_limits(value: float, low: float, high: float) -> str:
    """A value with its interval where it has one."""
    return number(value) + f" [{number(low)}, {number(high)}]" * math.isfinite(low)


def name_of(metric: str, basis: str) -> str:
    """A metric in a line of text: R- is reference-based."""
    return f"R-{metric}" if basis == "reference" else metric


def title(result: Evaluation) -> str:
    """The content of the table in one line: data, setting, estimand, draws and seed."""
    counts = f"{result.items:,} rewrites, {result.sources:,} sources"
    counts += f", {result.systems} systems" * bool(result.systems)
    paired = result.analysis.setting.level == "same-source"
    counts += f", {separated(result.pairs):,} pairs that people separate" * paired
    human, plan = f"{result.against} of {result.dimension}", result.analysis.plan
    return (
        f"{result.dataset}: {counts}; {result.label} with the {human}, level"
        f" {result.analysis.setting.level}; 95 % bootstrap confidence intervals for"
        f" {plan.estimand} ({plan.n:,} draws, seed {result.analysis.seed})"
    )


def notes(result: Evaluation, gaps: bool = False) -> list[str]:
    """The human ceiling, the tests, flipped metrics, and what the table leaves out."""
    human = result.human
    words = [f"The human ceiling is not known: {human.note}"]
    if math.isfinite(human.value):
        words = [
            f"Human ceiling: one rater agrees with the mean of the others at"
            f" {number(human.value)} (single raters {number(human.low)} to {number(human.high)};"
            f" {human.n:,} ratings)" + f"; {human.note}" * bool(human.note),
            *[AS_RATER] * (not gaps),
        ]
    if gaps:
        pairs = f"all {result.comparisons:,} pairs of rows at once, both in the same resamples"
        words += [f"p is of a pair alone, p_adjusted (max-t) of {pairs}"]
    elif ends := chain(result):
        words += [f"Ranks {ends} chain into one cluster: they cannot be told apart as a group"]
    elif result.tested:
        words += ["Clusters part what differs at 0.05, all pairs at once, in the same resamples"]
    if result.apart and math.isfinite(human.value):
        words += ["The figure has no line of the human ceiling, which is over fewer rewrites"]
    less = result.frame[result.frame["better"] == "lower"]
    if flipped := ", ".join(less["metric"] + " (" + less["basis"] + ")"):
        words.append(f"Flipped, since lower is better: {flipped}")
    return [*words, *result.remarks]


def chain(result: Evaluation) -> str:
    """Ranks of the one cluster that has all metrics, ``1 to 9``; empty where a line parts them."""
    metrics = set(result.frame["cluster"][result.frame["kind"] == METRIC].dropna())
    rank = result.frame["rank"][result.frame["cluster"].isin(metrics)]
    return f"{rank.min()} to {rank.max()}" if len(metrics) == 1 < len(rank) else ""


def below(result: Evaluation) -> str:
    """What stands below the line of a table."""
    oracles = result.frame["metric"][result.frame["kind"] == ORACLE]
    people = f", and human values of style ({', '.join(oracles)})" * bool(len(oracles))
    return f"Below the line stand sentinels, which know nothing of quality{people}"


def remarks(result: Evaluation) -> list[str]:
    """Notes about single rows, or why they have no value."""
    rows = result.frame[result.frame["note"] != ""].groupby("note", sort=False)
    parts = {note: list(map(name_of, group["metric"], group["basis"])) for note, group in rows}
    return [f"{', '.join(names)}: {note}" for note, names in parts.items()]


def table(result: Evaluation) -> tuple[pd.DataFrame, int]:
    """The rows for reading, people first, without empty columns; and the row before the line."""
    rows = result.frame
    ends = rows[["without_low", "without_high", "without"]].itertuples(index=False, name=None)
    less = ["" if pd.isna(low) else f"{low:z.2f} to {top:z.2f} ({name})" for low, top, name in ends]
    values = rows[["value", "low", "high"]].itertuples(index=False)
    columns = {
        "metric": list(map(name_of, rows["metric"], rows["basis"])),
        f"{result.label} [95 % CI]": [with_limits(*row) for row in values],
        "one system less": [text.removesuffix(" ()") for text in less],
        "r": rows["r"],
        "n": rows["n"].astype("Int64"),
        "rank": rows["rank"],
        "ranks": ranks(rows),
        "cluster": pd.NA if chain(result) else rows["cluster"],
        f"given {rows['given'].iloc[0]}": rows["partial"],
        f"given {rows['given_all'].iloc[0]}": rows["partial_all"],
        **rows[["as_rater", "note", "signature"]],
    }
    shown = pd.DataFrame(columns)
    shown = shown.loc[:, ~(shown.isna() | (shown == "")).all()]
    rule = int((rows["kind"] == METRIC).sum())
    if "as_rater" in shown:
        blank: dict[str, Any] = dict.fromkeys(shown.select_dtypes(["object", "str"]), "")
        people = blank | {"metric": PEOPLE, "as_rater": result.human.value, "n": result.human.n}
        people = pd.DataFrame([people]).reindex(columns=shown.columns).astype(shown.dtypes)
        shown, rule = pd.concat([people, shown], ignore_index=True), rule + 1
    return shown, rule if 0 < rule < len(shown) else 0


def ranks(rows: pd.DataFrame) -> list[str]:
    """The ranks that each row could have."""
    sets = zip(rows["rank_low"], rows["rank_high"], strict=True)
    return ["" if pd.isna(low) else f"{low}–{high}" for low, high in sets]


def _gaps(result: Evaluation) -> pd.DataFrame:
    """The differences for reading."""
    rows = result.differences
    limits = rows[["difference", "low", "high"]].itertuples(index=False)
    table = {name: list(map(name_of, rows[name], rows[f"{name}_basis"])) for name in "ab"}
    table["a less b [95 % CI]"] = [with_limits(*row) for row in limits]
    for name in ("p", "p_adjusted"):
        table[name] = ["<0.001" if p < 0.001 else number(p) for p in rows[name]]
    if len(set(rows["note"])) > 1:  # a note on all rows stands above
        table["note"] = rows["note"]
    return pd.DataFrame(table)


def format_of(out: Path | None, format: TableFormat | None = None) -> TableFormat:
    """The format given, else what the file's name ends in, else a plain table."""
    kind = format or (ENDINGS.get(out.suffix.lower()) if out else None) or TableFormat.table
    if out and kind is TableFormat.table:
        raise TstmetaError(
            f"{out} cannot be written as a table for reading: end its name in {', '.join(ENDINGS)}"
        )
    return kind


def rendered(evaluations: Sequence[Evaluation], kind: TableFormat, gaps: bool = False) -> str:
    """Results as text in a format: values, or ``gaps``, the differences; JSON has both."""
    if kind is TableFormat.table:
        texts = list[str]()
        for result in evaluations:
            shown, rule = (_gaps(result), 0) if gaps else table(result)
            lines, drawn = [*notes(result, gaps), *result.summary], console.to_text(shown, rule)
            if result.frame["value"].isna().all():  # a sentence says more than rows without a value
                lines, drawn = [*(result.summary or remarks(result)), *result.remarks], ""
            texts += [*map(console.escaped, [title(result), *lines]), drawn]
        return "\n".join(texts)
    if kind is TableFormat.latex:
        return "\n".join(_latex(result, gaps) for result in with_values(evaluations))
    parts = []
    for result in evaluations:
        if math.isfinite(result.human.value):
            row = result.key | {"metric": PEOPLE, "kind": "human", "against": result.against}
            row |= {"as_rater": result.human.value, "n": result.human.n, "note": result.human.note}
            parts.append(pd.DataFrame([row | {"signature": ""}]))
        parts.append(result.frame)
    rows = pd.concat([part.astype(object) for part in parts], ignore_index=True)[COLUMNS]
    rows = rows.astype(dict.fromkeys(_COUNTS, "Int64"))
    tested = [result.differences for result in evaluations if result.tested or gaps]
    pairs = pd.concat(tested or [pd.DataFrame()])
    if kind is TableFormat.csv:
        return console.to_csv(pairs if gaps else rows, for_people=True)
    head = {"evaluations": list(map(_facts, evaluations))}
    lines = [json.dumps(head, ensure_ascii=False, indent=1)[:-2]]  # then a row a line
    lines += [f' "rows": {console.to_json(rows).rstrip()}']
    lines += [f' "differences": {console.to_json(pairs).rstrip()}']
    return ",\n".join(lines) + "\n}\n"


def _facts(result: Evaluation) -> dict[str, Any]:
    """What an evaluation is of, and its notes and sentences."""
    plan, seed = result.analysis.plan, result.analysis.seed
    facts = {"title": title(result), "seed": seed, "units": plan.units, "draws": plan.n}
    facts |= {"estimand": plan.estimand, "notes": notes(result), "summary": result.summary}
    return result.key | facts


def with_values(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """The evaluations that have a value."""
    valued = [result for result in evaluations if result.frame["value"].notna().any()]
    if not valued:
        why = "".join(f" ({result.frame['note'].iloc[0]})" for result in evaluations[:1])
        raise TstmetaError(f"nothing to show: no metric has a value beside ratings{why}")
    return valued


def _latex(result: Evaluation, gaps: bool) -> str:
    """A compact table, all texts escaped, with a line below the metrics; the rest as comments."""
    shown, rule = (_gaps(result), 0) if gaps else table(result)
    known = ("r", "n", "rank", "ranks", "cluster", "as_rater")
    compact = shown if gaps else shown[[*shown.columns[:2], *(k for k in known if k in shown)]]
    needs = r"needs \usepackage{booktabs} in the preamble"
    comments = [needs, *notes(result, gaps), *remarks(result), *result.summary]
    comments += [f"signature: {text}" for text in result.frame["signature"]]
    caption = f"{title(result)}. R- is reference-based"
    caption += f". {below(result)}" * bool(rule)
    caption += f". {AS_RATER}" * ("as_rater" in compact)
    rows = [list(compact), *compact.astype(object).itertuples(index=False)]
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    for place in [rule + 1] * bool(rule) + [1]:
        lines.insert(place, r"\midrule")
    sides = "".join("r" if compact[name].dtype.kind in "iuf" else "l" for name in compact)
    before = [f"% {_flat(comment)}" for comment in comments]
    before += [r"\begin{table}", r"\centering", f"\\caption{{{_cell(caption)}}}"]
    before += [f"\\begin{{tabular}}{{{sides}}}", r"\toprule"]
    return "\n".join([*before, *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


_WORDS = {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: f"${sign}$" for sign in "<>|"}
_LATEX = str.maketrans(_WORDS | _SIGNS)
#: The sign of a number, not a hyphen.
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")


def _cell(value: Any) -> str:
    """A value as text for LaTeX; floats with three decimals."""
    if pd.isna(value):
        return "--"
    text = number(value) if isinstance(value, float) else _flat(str(value))
    return _MINUS.sub("$-$", text.translate(_LATEX))


def _flat(text: str) -> str:
    """White space as single spaces; other control characters and direction marks are dropped."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)


def draw(evaluations: Sequence[Evaluation]) -> Figure:
    """Forest plots of evaluations that have values, a panel each, with the ranks at the right."""
    from .. import plot  # needs the extra for drawing

    drawn = with_values(evaluations)
    keys = pd.DataFrame([result.key for result in drawn]).map(console.escaped)
    differ = [name for name in keys if len(set(keys[name])) > 1]
    parts = map(", ".join, keys[differ].to_numpy())
    named = {name or keys["dataset"][0]: result for name, result in zip(parts, drawn, strict=True)}
    frame = pd.concat(result.frame.assign(dataset=name) for name, result in named.items())
    rows = [{"dataset": n, **r.human._asdict()} for n, r in named.items() if not r.apart]
    people = pd.DataFrame(rows) if rows else None
    labels = ", ".join(dict.fromkeys(result.label for result in drawn))
    figure = plot.forest(frame.assign(flipped=frame["better"] == "lower"), people, label=labels)
    for axis in figure.axes:
        if result := named.get(axis.get_title("left")):  # a panel may be spare
            rows = result.frame.dropna(subset="value")
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
    drawn = []
    with rc_context(same):
        for kind in kinds:
            figure.savefig(buffer := BytesIO(), format=kind, metadata=dates.get(kind), dpi=300)
            drawn.append(buffer.getvalue())
    pyplot.close(figure)
    return drawn
