"""``tstmeta train classifier``: models of style, from a corpus of sentences.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..console import Format, mistake
from .options import FormatOption
from .train import Given, Out, show_result, trained, with_set

if TYPE_CHECKING:
    import pandas as pd

    from ..models.classifiers import Task

#: Data sets whose sources are never trained on: those that are drawn from the corpus.
KEPT_OUT = {"yelp": ("mir",)}


class Kind(StrEnum):
    """What is trained."""

    linear = "linear"
    textcnn = "textcnn"
    transformer = "transformer"


class _Corpus(NamedTuple):
    """Sentences with task, style, value and, in the end, part; and the tasks."""

    table: pd.DataFrame
    tasks: list[Task]


def classifier(
    corpus: Annotated[
        str,
        typer.Option("--corpus", help="yelp, xformal, grammar, or a CSV file (text, style)."),
    ],
    kind: Annotated[Kind, typer.Option("--kind", help="What to train.")] = Kind.linear,
    out: Out = Path("classifier"),
    seed: Annotated[int, typer.Option(min=0, help="Of weights and the order of sentences.")] = 1,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="How often each sentence is seen [default: by kind].")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", help="What transformer begins with: a hub id or a folder."),
    ] = None,
    regress: Annotated[
        bool, typer.Option("--regress", help="Learn the column value, not the style.")
    ] = False,
    styles: Annotated[
        str | None,
        typer.Option("--styles", help="What low and high values of a CSV mean: LOW,HIGH."),
    ] = None,
    keep_out: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-out", help="Data set whose sources are not trained on; repeat [yelp: mir]."
        ),
    ] = None,
    given: Given = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a model of style: a classifier, or with --regress a regressor.

    A sentence is in one of three parts: it is trained on, its probabilities are calibrated on, or
    it is tested on.  A CSV may say which in a column split (train, dev, test); it may also have the
    columns task, where styles are of several kinds, and value.  Interrupt it or kill it whenever
    you like: the same command goes on from its last checkpoint, and the same seed gives the same
    bytes.

    \b
    Examples:
      tstmeta train classifier --corpus yelp --kind textcnn --out sentiment
      tstmeta train classifier --corpus mine.csv --out mine
      tstmeta train classifier --corpus xformal --regress --kind transformer \
        --base google-bert/bert-base-uncased
      tstmeta score --data mir --metric style-accuracy:./sentiment
    """
    from ..models.causal import backbone
    from ..models.training import classifier as training

    found = _corpus(corpus, regress, styles, keep_out)
    report = trained(
        out,
        training.train,
        found.table,
        kind.value,
        tasks=found.tasks,
        seed=seed,
        options=with_set(training.DEFAULTS[kind.value], given, epochs=epochs),
        regression=regress,
        base=backbone(base) if base else None,
    )
    metric = "style-regressor" if regress else "style-accuracy"
    show_result(_summary(report), format, out, "DATA", metric)


# -------------------------------------------------------------------------------- the corpora


def _corpus(name: str, regress: bool, styles: str | None, keep_out: list[str] | None) -> _Corpus:
    from ..data import load, paths, xformal, yelp
    from ..models.classifiers import Task
    from ..models.splits import USUAL, YELP, divide
    from ..models.training import classifier_grammar as grammar

    if styles and not (regress and name.endswith(".csv")):
        raise mistake("--styles says what values of a CSV mean; use it with --regress and a CSV")
    roles = USUAL
    if name == "yelp":
        if regress:
            raise mistake("yelp has styles, no values: leave --regress out")
        table, roles = yelp.corpus(paths.raw("yelp")).assign(task="sentiment"), YELP
        tasks = [Task("sentiment", yelp.STYLES)]
    elif name == "xformal":  # formal is what is rated above the middle of the scale
        table = xformal.corpus(paths.raw("xformal")).assign(task="formality")
        table["style"] = (table["value"] > 0).map({True: "formal", False: "informal"})
        tasks = [Task("formality", ("informal", "formal"), values=xformal.SCALE)]
    elif name == "grammar":
        table, tasks = grammar.corpus(strengths=regress), grammar.tasks()
    elif name.endswith(".csv"):
        table, tasks = _own(Path(name), regress, styles)
    else:
        raise mistake(
            f"no corpus is called {name!r}: use yelp, xformal, grammar, or a file FILE.csv"
        )
    kept = KEPT_OUT.get(name, ()) if keep_out is None else keep_out
    never = [text for data in kept for text in load(data).items["source"]]
    return _Corpus(divide(table, roles, never), tasks)


def _own(path: Path, regress: bool, styles: str | None) -> _Corpus:
    """A CSV file: text, style or value, and perhaps split and task.

    Raises:
        DataError: no such file, a column is missing, a cell is empty or no number.
    """
    import math

    from ..data.files import check, fault, numbers, read_csv
    from ..models.classifiers import Task

    needed = ("text", "value" if regress else "style")
    table = read_csv(path, needed)
    check(
        fault(path, f"no {column}", row, column, "fill the cell in, or take the row out")
        for column in needed
        for row, cell in enumerate(table[column], 1)
        if not cell.strip()
    )
    table = table.assign(
        value=numbers(table["value"], path, "value") if regress else math.nan,
        style="" if regress else table["style"],
        split=table.get("split", ""),
        task=table["task"] if "task" in table and not regress else "style",
    )
    if regress:
        low, comma, high = (styles or "").partition(",")
        if not (low and comma and high) or "," in high:
            raise mistake("say what low and high values mean, for instance --styles cold,warm")
        ends = float(table["value"].min()), float(table["value"].max())
        return _Corpus(table, [Task("style", (low.strip(), high.strip()), values=ends)])
    names = {task: tuple(sorted(set(rows["style"]))) for task, rows in table.groupby("task")}
    if lonely := [task for task, some in names.items() if len(some) < 2]:
        raise mistake(f"{path}: the task {lonely[0]!r} has one style only; two or more are needed")
    return _Corpus(table, [Task(task, some) for task, some in names.items()])


# ------------------------------------------------------------------------------------- output


def _summary(report: dict[str, Any]) -> list[tuple[str, str]]:
    sizes = report["sizes"]
    rows = [(f"sentences: {part}", f"{n:,}") for part, n in sizes.items()]
    rows += [("seed", f"{report['seed']}"), ("corpus", report["corpus"])]
    for task, found in report["found"].items():
        if report["regression"]:
            rows.append((f"{task}: Pearson", f"{found['pearson']:.4f}"))
            rows.append((f"{task}: mean absolute error", f"{found['mean_absolute_error']:.4f}"))
            continue
        interval = f"{found['accuracy']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
        rows.append((f"{task}: accuracy [95 % interval]", interval))
        rows.append((f"{task}: calibration error", f"{found['calibration_error']:.4f}"))
        for right, row in found["confusion"].items():
            given = ", ".join(f"{count:,} {style}" for style, count in row.items())
            rows.append((f"{task}: {right} taken for", given))
    return rows
