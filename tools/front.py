"""What the front page answers: which metric for which task, and how sure that is.

All of it comes from the frozen effects (``tst.evidence``) and the rule (``tst.verdicts``), so that
it is the same page with raw data and without.
"""

import base64
import io
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

import tstmeta as tst
from tools.metric_cards import TASKS, card
from tstmeta.analysis.frame import FLIPPED
from tstmeta.analysis.synthesis import ACCURACY, SAME_SOURCE, panels
from tstmeta.analysis.verdicts import CHANCE, FAMILIES, FORETOLD, beyond
from tstmeta.metrics.base import LANGUAGES

Context = dict[str, Any]
DIMENSIONS = ("content", "style", "fluency")
#: The last row: there is no evidence on it, and the rule says what follows.
OTHER = "any other task or language"
#: What does not run here, and people: kinds of evidence.
MORE = {
    "judge": "a large language model, asked for a rating",
    "classifier": "a classifier trained for the style",
    "people": "one rater against the others",
}
#: Inches of a figure, of which three stand side by side.
WIDTH, ROW = 2.6, 0.22


def context() -> Context:
    """The context of the template ``front``: answers, figures, needs, and what they rest on."""
    evidence = {name: tst.evidence(name, differences=True) for name in DIMENSIONS}
    at = f"statistic == {ACCURACY!r} and level != 'system'"  # the headline statistic
    evidence = {name: rows.query(at) for name, rows in evidence.items()}
    pool = panels().query("panel == 'pool'")
    tasks = {task: (task, "en") for task in TASKS}
    known = pool.loc[pool["language"] != "en", ["task", "language"]].drop_duplicates()
    tasks |= {f"{task} in {LANGUAGES[code]}": (task, code) for task, code in known.to_numpy()}
    tasks[OTHER] = (OTHER, "")
    answers = {
        label: {name: answer(name, False, *wanted) for name in evidence}
        for label, wanted in tasks.items()
    }
    sides = [(name, references) for name in DIMENSIONS for references in (False, True)]
    needs = [need(name, references) for name, references in sides]
    return {
        "answers": answers,
        "needs": needs,
        "kinds": MORE,
        "more": [row for name, rows in evidence.items() for row in more(rows, name)],
        "figures": {name: figure(rows, name) for name, rows in evidence.items()},
        "fewest": FAMILIES,
        "families": pool["family"].nunique(),
        "sets": len(pool),
    }


def answer(dimension: str, references: bool, *wanted: str) -> Context:
    """A verdict as the page shows it, and that on the metrics that run on any machine."""
    choice = tst.verdict(dimension, *wanted, references=references)
    context = _context(choice)
    if choice.anywhere:
        context["anywhere"] = _context(choice.anywhere)
    return context


def _context(choice: Any) -> Context:
    facts: Context = {"verdict": choice.verdict, "reason": choice.reason}
    if choice.metric:
        stem = choice.metric.partition(":")[0]
        facts |= choice.row | {"name": shown(choice.metric), "stem": stem}
        facts |= {"expected": choice.expected, "here": percent(choice.here)}
        facts["card"] = card(stem).facts.get("fails", "")
    return facts


def more(effects: pd.DataFrame, dimension: str) -> list[Context]:
    """By task, of judges, of classifiers and of people what :func:`beyond` has first."""
    rows = []
    for task in TASKS:
        cells = {}
        for row in beyond(effects, task, "en").drop_duplicates("kind").to_dict("records"):
            name = str(row["metric"]).removeprefix("released:")
            count = f"{row['families']} {'family' if row['families'] == 1 else 'families'}"
            words = count if row["kind"] == "people" else f"{name}, {count}"
            cells[row["kind"]] = f"{percent(row['mean'])} ({words})"
        if {*cells} - {"people"}:
            rows.append({"dimension": dimension, "task": task, **cells})
    return rows


def need(dimension: str, references: bool) -> Context:
    """A row of the second table, whatever the task."""
    row = answer(dimension, references)
    if "metric" in row:
        limits = (signed(row[name]) for name in ("difference_low", "difference_high"))
        row["gap"] = f"{signed(row['difference'])} ({' to '.join(limits)})"
        row["sentinel"] = shown(row["sentinel"])
        row["spoken"] = ", ".join(LANGUAGES.get(code, code) for code in row["languages"].split())
    return {"dimension": dimension, "references": references, **row}


def shown(metric: str) -> str:
    """A name that fits into a figure and a table."""
    short = metric.replace("qwen2.5-coder-1.5b", "qwen-1.5b").removesuffix("+bfloat16")
    return short.replace(FLIPPED, " ↓")


def percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def signed(share: float) -> str:
    """A difference of shares in percentage points."""
    return f"{100 * share:+z.0f}".replace("-", "−")


def families(values: pd.DataFrame, pooled: pd.DataFrame) -> Axes:
    """The ten best metrics by mean, the best sentinel and people, as in the chapter on synthesis.

    Dots are families (the mean of their sets), crosses sets of the stress panel; the thick line is
    the interval of the mean, the thin one the prediction interval, the dashed one chance.  The
    large mark of people is a median.
    """
    ranked, key = pooled.sort_values("mean", ascending=False), ["metric", "basis"]
    best = {"metric": 10, "sentinel": 1, "people": 1}
    rows = pd.concat(ranked[ranked["kind"] == kind].head(n) for kind, n in best.items())
    rows = rows.set_index(key)
    pool = values[values["panel"] == "pool"].groupby([*key, "family"])["value"].mean()
    pool, stress = pool.reset_index("family"), values[values["panel"] == "stress"].set_index(key)
    medians = pool.groupby(key)["value"].median()
    rows["value"] = rows["mean"].where(rows["kind"] != "people", medians)
    rows = rows.dropna(subset="value").assign(dataset="", below=rows["kind"] != "metric")
    rows = rows.sort_values(["below", "value"], ascending=[True, False])
    axis = tst.plot.forest(rows.reset_index()).axes[0]
    axis.axvline(CHANCE, color=tst.plot.INK, lw=1, ls="--", zorder=1)
    for y, row in enumerate(rows.itertuples()):
        colour, _ = tst.plot.KINDS[tst.plot.look(row.Index[0])]
        axis.hlines(y, row.predict_low, row.predict_high, color=colour, lw=1)
        axis.hlines(y, row.low, row.high, color=colour, lw=4, alpha=0.6)
        for part, shift, mark in ((pool, -0.25, "o"), (stress, 0.25, "x")):
            marks = part.loc[part.index == row.Index, "value"]
            axis.plot(marks, [y + shift] * len(marks), mark, color=colour, ms=3)
    names = [label.get_text() for label in axis.get_yticklabels()]
    names = ["people" if name == "rater" else shown(name) for name in names]
    axis.set_yticks(range(len(names)), names)
    axis.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    return axis


def figure(effects: pd.DataFrame, dimension: str) -> Context:
    """The figure of a dimension as PNG in base64, and what stands in it in words."""
    values = effects[(effects["against"] == "") & (effects["basis"] != "reference")]
    pooled = tst.pool(values.assign(level=SAME_SOURCE)).set_index(["metric", "basis"])
    limits = tst.verdicts(None, dimension).set_index(["metric", "basis"])[FORETOLD[1:]]
    pooled.update(limits)  # what is foretold for a set of any task, as in the tables
    pooled = pooled.reset_index()
    axis = families(values, pooled)
    drawing = axis.get_figure()
    assert isinstance(drawing, Figure)
    drawing.legends[0].remove()
    drawing.set_size_inches(WIDTH, 0.4 + ROW * len(axis.get_yticks()))
    axis.set(xlabel="", xlim=(0, 1), xticks=(0.25, 0.5, 0.75))
    for line in axis.lines:
        line.set_markersize(0.75 * line.get_markersize())
    file = io.BytesIO()
    drawing.savefig(file, dpi=280)
    names = ", ".join(label.get_text() for label in axis.get_yticklabels())
    alt = f"Metrics of {dimension}, best mean first, then the best sentinel and people: {names}; "
    alt += "of each the families of data sets as dots, the mean with its interval, the prediction "
    alt += "interval, and sets of the stress panel as crosses"
    return {"png": base64.b64encode(file.getvalue()).decode(), "alt": alt}
