"""The command line: ``tstmeta data | metrics | score | judge | construct | evaluate | explain |
train | reproduce | run``.

Commands parse, call one function and print; what they do lives elsewhere and is imported inside the
command, so that ``tstmeta --help`` starts at once.  Results go to stdout, notes and progress to
stderr.  Exit codes: 0 done, 1 a check found faults, 2 a mistake in what was asked, 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import Annotated

import typer

from .cli_classifier import classifier
from .cli_construct import construct_app
from .cli_data import FormatOption, OutFile, OutFormat, data_app
from .cli_evaluate import (
    Bases,
    Combine,
    Data,
    Metrics,
    RatingFile,
    ScoreFile,
    Store,
    evaluate,
    known_combinations,
    scored,
    tell_scored,
    with_combined,
)
from .cli_explain import explain
from .cli_idf import idf
from .cli_judge import judge_app
from .cli_lexicon import lexicon
from .cli_lm import lm
from .cli_run import run
from .cli_train import train_app
from .console import Format, note, show_table

app = typer.Typer(
    name="tstmeta",
    help="Which automatic metrics of text style transfer can be trusted?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(data_app, name="data")
app.add_typer(train_app, name="train")
app.add_typer(construct_app, name="construct")
app.add_typer(judge_app, name="judge")
train_app.command("lexicon")(lexicon)
train_app.command("idf")(idf)
train_app.command("lm")(lm)
train_app.command("classifier")(classifier)
app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(run)


def main() -> None:
    """Run the command line; a mistake of the user becomes a message and exit code 2."""
    try:
        with warnings.catch_warnings():
            said = cache(note)  # a warning is said once, however many metrics have it
            warnings.showwarning = lambda message, *_: said(f"warning: {message}")
            app()
    except KeyboardInterrupt:
        note("interrupted")
        sys.exit(130)
    except Exception as error:
        from .schema import TstmetaError  # slow to import, so only when something went wrong

        if not isinstance(error, TstmetaError | OSError):
            raise
        note(f"error: {error}")
        sys.exit(2)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from . import __version__

        print(__version__)
        raise typer.Exit


# ------------------------------------------------------------------------------ metrics, scores


@app.command("metrics")
def metrics_list(format: FormatOption = Format.table) -> None:
    """List the metrics: what they measure, on what, and whether they run here.

    \b
    Examples:
      tstmeta metrics
      tstmeta metrics --format csv > metrics.csv
    """
    from .metrics.catalogue import overview

    show_table(overview(), format)


@app.command("score")
def score_command(
    data: Data,
    metric: Metrics = None,
    basis: Bases = None,
    combine: Combine = None,
    scores: ScoreFile = None,
    ratings: RatingFile = None,
    out: OutFile = None,
    format: OutFormat = None,
    store: Store = None,
) -> None:
    """Score a data set.  What was scored before is taken from the store, never computed again.

    Interrupt it or kill it whenever you like: the same command goes on where it stopped.  Exit code
    1 when some scores could not be computed.

    \b
    Examples:
      tstmeta score --data pauli --metric bleu --metric meteor --out scores.parquet
      tstmeta score --data mine.csv --metric lexical
      tstmeta score --data mine.csv --metric my_package.my_module:my_function
      tstmeta score --data mine.csv --metric style-accuracy --combine gm
    """
    from .console import write_table
    from .scoring import HUMAN_STYLE

    names = known_combinations(combine)
    wanted = metric or ([] if scores else ["lexical", "sentinel", HUMAN_STYLE])
    dataset, table = scored(data, wanted, basis, scores, ratings, store)
    table = with_combined(dataset, table, names, store=store)
    write_table(table, out, format)
    failed = tell_scored(table, out)
    if failed:
        raise typer.Exit(1)


app.command("evaluate")(evaluate)
app.command("explain")(explain)


# --------------------------------------------------------------------------- reproduction, book


@app.command("reproduce")
def reproduce_command(
    paper: Annotated[
        str | None, typer.Option("--paper", help="pauli2025, lai2023, mukherjee2025 or pang2019.")
    ] = None,
    table: Annotated[str | None, typer.Option("--table", help="A table, e.g. 5 or fig1.")] = None,
    format: FormatOption = Format.table,
    store: Store = None,
) -> None:
    """The reproduction ledger: every printed number beside ours, with a status and a reason.

    \b
    Examples:
      tstmeta reproduce --paper pauli2025 --table 5
      tstmeta reproduce --format csv > ledger.csv
    """
    from .ledger import Inputs, counts, reproduce

    rows = reproduce(paper, table, inputs=Inputs(store, progress=True))
    if format is Format.table:
        show_table(counts(rows), title="Cells by status")
        print()
    show_table(rows, format)


if __name__ == "__main__":
    main()
