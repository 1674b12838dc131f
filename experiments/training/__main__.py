"""``python -m experiments.training``: models of style and of language for the metrics."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from experiments.options import APP, Out, Seed, Settings
from tstmeta.cli import main
from tstmeta.cli.options import Command, FormatOption
from tstmeta.console import Format, note, show_table
from tstmeta.extras import needs
from tstmeta.schema import TstmetaError

training_app = typer.Typer(**APP)
StyleCorpus = Annotated[
    str, typer.Option(help="yelp, xformal, or a CSV file with the columns text and style.")
]
KeepOut = Annotated[
    list[str] | None,
    typer.Option(
        help="Data set of which no sentence is trained or tuned on; repeat for more "
        "[yelp: the rated sets of its sentences, where they are here]."
    ),
]


def show_result(results: Mapping[str, Any], format: Format, out: Path, metric: str) -> None:
    """Print results as rows (what, value), and how a metric takes the folder."""
    import pandas as pd

    rows = pd.json_normalize(dict(results), sep=": ").T.reset_index()
    rows = rows.set_axis(["what", "value"], axis="columns")
    show_table(rows.assign(what=rows["what"].str.replace("_", " ")), format)
    word = out if "/" in str(out) else f"./{out}"  # with a slash, so that it is seen to be a folder
    note(f"in {out}; use it: tstmeta score --data DATA --metric {metric}:{word}")


@training_app.callback()
def training() -> None:
    """Train what metrics run on, from a corpus of yours; they take the folder written.

    A run that was interrupted or killed goes on from its last checkpoint with the same command, and
    the same seed gives the same bytes.
    """


@training_app.command(cls=Command)
def lm(
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file with the column text.")],
    style: Annotated[
        str, typer.Option(help="Only sentences of this style, e.g. positive [default: all].")
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help="Fine-tune this model: gpt2, mgpt, owner/name of a hub or a folder "
            "[default: random weights]."
        ),
    ] = "",
    out: Out = Path("lm"),
    seed: Seed = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a language model on sentences, for perplexity and SLOR.

    It is measured on sentences that it never saw; a CSV may say which in a column split (train,
    test).  With --base the course is that of Mukherjee et al. (2025, Appendix C).  --set changes
    its shape (vocabulary, width, layers, heads, inner) or the course (epochs, batch, rate, ...).

    \b
    Examples:
      python -m experiments.training lm --corpus yelp --style positive --out positive
      python -m experiments.training lm --corpus mine.csv --base gpt2 --out tuned --device cuda
    """
    needs("torch", "transformers")
    from tstmeta.models.causal import backbone
    from tstmeta.models.lm import MODELS
    from tstmeta.storage import locked

    from .lm import train
    from .loop import FINE_TUNING, LmOptions, configure
    from .splits import read_corpus

    model = MODELS.get(base) or (backbone(base) if base else None)
    options = configure(FINE_TUNING if model else LmOptions(), settings or ())
    table = read_corpus(corpus, ("text", "style") if style else ("text",))
    if style and style not in set(table["style"]):
        known = ", ".join(sorted(set(table["style"])))
        raise TstmetaError(f"no sentence of {corpus} has the style {style!r}; it has: {known}")
    if style:
        table = table[table["style"] == style]
    texts, held_out = (
        list(dict.fromkeys(table.loc[table["part"] == part, "text"])) for part in ("train", "test")
    )
    name = " ".join(filter(None, (Path(corpus).name, style)))
    with locked(out / ".lock", timeout=0):  # two runs would write over each other's checkpoints
        report = train(
            out, texts, held_out, base=model, seed=seed, options=options, name=name, device=device
        )
    keys = ("corpus", "cut", "base", "parameters", "seed", "perplexity")
    show_result({key: report[key] for key in keys}, format, out, "perplexity")


@training_app.command(cls=Command)
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
    keep_out: KeepOut = None,
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a classifier of style.

    A sentence is in one of three parts: it is trained on, its probabilities are calibrated on, or
    it is tested on.  A CSV may say which in a column split (train, dev, test); it may also have a
    column task, where styles are of several kinds.

    \b
    Examples:
      python -m experiments.training classifier --corpus yelp --kind textcnn --out sentiment
      python -m experiments.training classifier --corpus xformal --kind transformer \
        --base google-bert/bert-base-uncased
    """
    from tstmeta.models.causal import backbone
    from tstmeta.models.classifiers import Task
    from tstmeta.storage import locked

    from .classifier import train
    from .loop import STYLE, configure
    from .splits import read_corpus

    table = read_corpus(corpus, keep_out=keep_out)
    named = table.groupby("task")["style"]
    tasks = [Task(str(name), tuple(sorted(set(rows)))) for name, rows in named]
    if single := [task.name for task in tasks if len(task.styles) < 2]:
        raise TstmetaError(f"{corpus}: the task {single[0]!r} has one style only, two are needed")
    options = configure(STYLE[kind], settings or ())
    model = backbone(base) if base else None
    with locked(out / ".lock", timeout=0):
        report = train(
            out,
            table,
            kind,
            tasks=tasks,
            seed=seed,
            options=options,
            base=model,
        )
    facts = {"sentences": report["sizes"], "seed": seed, "corpus": report["corpus"]}
    show_result({**facts, **report["results"]}, format, out, "style-accuracy")


if __name__ == "__main__":
    main(training_app)
