"""``tstmeta train``: models, lexicons and counts for the metrics, from a corpus of yours.

What all its commands share; each has a file of its own.  See :mod:`tstmeta.cli` for how commands
behave.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import Format, mistake, note, show_table

if TYPE_CHECKING:
    import pandas as pd

#: Data sets whose sources are never learned from: those that are drawn from the corpus.
KEPT_OUT = {"yelp": ("mir",)}

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")]
Seed = Annotated[int, typer.Option(min=0, help="Of weights and the order of sentences.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A training option; repeat for more."),
]
KeepOut = Annotated[
    list[str] | None,
    typer.Option(help="Data set whose sources are not learned from; repeat [yelp: mir]."),
]

train_app = typer.Typer(
    help="Train what metrics run on, from a corpus of yours: models, lexicons, counts.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@train_app.callback()
def train() -> None:
    """Train what metrics run on; they take the folder or file that is written.

    A run that was interrupted or killed goes on from its last checkpoint with the same command, and
    the same seed gives the same bytes.
    """


def read_corpus(
    name: str,
    columns: Sequence[str] = ("text", "style"),
    keep_out: Sequence[str] | None = None,
    split: str = "",
) -> pd.DataFrame:
    """Sentences with text, task, style, value (NaN where there is none), split and part.

    Args:
        name: ``yelp``, ``xformal``, or a CSV file.
        columns: which a CSV file needs; none of their cells may be empty.
        keep_out: data sets whose sources are neither trained nor tuned on.
        split: of sentences whose file names none.

    Raises:
        MissingData: the files of the corpus are not here.
        DataError: no such file, a column is missing, a cell is empty or no number.
        TstmetaError: no such corpus.
    """
    from ..data import load, paths, xformal, yelp
    from ..data.files import check, fault, numbers, read_csv
    from ..models.splits import USUAL, YELP, divide

    roles = USUAL
    if name == "yelp":
        table, roles = yelp.corpus(paths.raw("yelp")).assign(task="sentiment"), YELP
    elif name == "xformal":  # formal is what is rated above the middle of the scale
        table = xformal.corpus(paths.raw("xformal")).assign(task="formality")
        table["style"] = (table["value"] > 0).map({True: "formal", False: "informal"})
    elif name.endswith(".csv"):
        path = Path(name).expanduser()
        table = read_csv(path, columns)
        check(
            fault(path, f"no {column}", row, column, "fill the cell in, or take the row out")
            for column in columns
            for row, cell in enumerate(table[column], 1)
            if not cell.strip()
        )
        usual = {"style": "", "task": "style", "split": split}
        table = table.assign(**{column: table.get(column, usual[column]) for column in usual})
        needed = "value" in columns
        table["value"] = numbers(table["value"], path, "value") if needed else math.nan
    else:
        raise mistake(f"no corpus is called {name!r}: use yelp, xformal or a file FILE.csv")
    kept = KEPT_OUT.get(name, ()) if keep_out is None else keep_out
    return divide(table, roles, [text for data in kept for text in load(data).items["source"]])


def show_result(results: Mapping[str, Any], format: Format, out: Path, metric: str) -> None:
    """Print results as rows (what, value), and how a metric takes what was made."""
    import pandas as pd

    show_table(pd.DataFrame(_flat(results), columns=["what", "value"]), format)
    # with a slash, so that a folder is seen to be one
    word = out if "/" in str(out) else f"./{out}"
    note(f"in {out}; use it: tstmeta score --data DATA --metric {metric.replace('OUT', str(word))}")


def _flat(results: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in results.items():
        what = f"{above}{key.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{what}: ")
        else:
            yield what, value
