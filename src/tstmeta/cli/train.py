"""``tstmeta train``: models of style from texts of yours."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, note, show_table
from ..schema import TstmetaError
from .options import FormatOption, OutFolder

train_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


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
