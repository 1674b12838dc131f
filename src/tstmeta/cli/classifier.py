"""``tstmeta train classifier``: models of style, from a corpus of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..console import Format, mistake
from .options import FormatOption
from .train import KeepOut, Out, Seed, Settings, read_corpus, show_result


def classifier(
    corpus: Annotated[
        str, typer.Option(help="yelp, xformal, or a CSV file with the columns text and style.")
    ],
    kind: Annotated[
        Literal["linear", "textcnn", "transformer"], typer.Option(help="What to train.")
    ] = "linear",
    out: Out = Path("classifier"),
    seed: Seed = 1,
    base: Annotated[
        str, typer.Option(help="What transformer begins with: a hub id or a folder.")
    ] = "",
    regress: Annotated[
        bool, typer.Option("--regress", help="Learn the column value, not the style.")
    ] = False,
    styles: Annotated[
        str, typer.Option(help="What low and high values of a CSV mean: LOW,HIGH.")
    ] = "",
    keep_out: KeepOut = None,
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a model of style: a classifier, or with --regress a regressor.

    A sentence is in one of three parts: it is trained on, its probabilities are calibrated on, or
    it is tested on.  A CSV may say which in a column split (train, dev, test); it may also have a
    column task, where styles are of several kinds.

    \b
    Examples:
      tstmeta train classifier --corpus yelp --kind textcnn --out sentiment
      tstmeta train classifier --corpus mine.csv --out mine
      tstmeta train classifier --corpus xformal --regress --kind transformer \
        --base google-bert/bert-base-uncased
      tstmeta score --data mir --metric style-accuracy:./sentiment
    """
    from ..data import xformal
    from ..models.causal import backbone
    from ..models.classifiers import Task
    from ..models.training.classifier import train
    from ..models.training.options import STYLE, configure

    low, _, high = (word.strip() for word in styles.partition(","))
    if bool(low and high) != (regress and corpus.endswith(".csv")):
        raise mistake("with --regress, say what the values of a CSV mean: --styles LOW,HIGH")
    table = read_corpus(corpus, ("text", "value" if regress else "style"), keep_out)
    values = table["value"]
    if regress and values.isna().any():
        raise mistake(f"{corpus} has styles, no values: leave --regress out")
    if corpus == "xformal":
        tasks = [Task("formality", ("informal", "formal"), values=xformal.SCALE)]
    elif regress:
        table = table.assign(task="style")
        tasks = [Task("style", (low, high), values=(float(values.min()), float(values.max())))]
    else:
        named = table.groupby("task")["style"]
        tasks = [Task(str(name), tuple(sorted(set(rows)))) for name, rows in named]
    if single := [task.name for task in tasks if len(task.styles) < 2]:
        raise mistake(f"{corpus}: the task {single[0]!r} has one style only, two are needed")
    report = train(
        out,
        table,
        kind,
        tasks=tasks,
        seed=seed,
        options=configure(STYLE[kind], settings or ()),
        regression=regress,
        base=backbone(base) if base else None,
    )
    facts = {"sentences": report["sizes"], "seed": seed, "corpus": report["corpus"]}
    metric = "style-regressor:OUT" if regress else "style-accuracy:OUT"
    show_result({**facts, **report["results"]}, format, out, metric)
