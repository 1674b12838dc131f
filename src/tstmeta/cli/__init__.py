"""The command line: ``tstmeta data | models | metrics | score | judge | construct | evaluate |
advise | explain | train | reproduce | run``.

Commands parse, call one function and print; what they do lives elsewhere and is imported inside the
command, so that ``tstmeta --help`` starts at once.  Results go to stdout, notes and progress to
stderr.  Exit codes: 0 done, 1 a check found faults, 2 a mistake of the user, 130 interrupted.
"""

import sys
import warnings
from collections.abc import Callable
from errno import EDQUOT, EFBIG, ENOSPC
from functools import cache
from typing import Annotated

import typer

from ..console import note
from ..extras import remedy
from ..schema import TstmetaError
from . import construct, data, evaluate, judge, models, options, run, score

app = typer.Typer(
    name="tstmeta",
    help="Which automatic metrics of text style transfer can be trusted?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands inherit it
)
app.add_typer(data.data_app, name="data")
app.add_typer(models.models_app, name="models")
app.command("metrics")(score.metrics)
app.command("score")(score.score)
app.command("evaluate")(options.command_of(evaluate.EvaluateOptions, evaluate.evaluate))
app.command("advise")(evaluate.advise)
app.command("explain")(score.explain)
app.command("reproduce")(run.reproduce)
app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    run.run
)
app.add_typer(judge.judge_app, name="judge")
app.add_typer(construct.construct_app, name="construct")
app.add_typer(models.train_app, name="train")
LISTS = (data.data_list, data.data_check, score.metrics)  # they need no pandas
for group in (app, *(info.typer_instance or app for info in app.registered_groups)):
    for command in group.registered_commands:
        if command.callback not in LISTS:
            command.cls = options.Command


def main(command: Callable[[], object] = app) -> None:
    """Run a command line; a mistake of the user becomes a message and exit code 2."""
    try:
        with warnings.catch_warnings():
            warn = cache(note)  # a warning is shown once, however many metrics have it
            warnings.showwarning = lambda message, *_: warn(f"warning: {message}")
            command()
    except Exception as error:
        words = remedy(error)
        if not words and not isinstance(error, TstmetaError | OSError):
            raise
        if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG):
            words = f"{error}. Remedy: make room; the same command goes on from what is kept"
        note(f"error: {words or error}")
        sys.exit(2)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from .. import __version__

        print(__version__)
        raise typer.Exit
