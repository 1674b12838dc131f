"""``tstmeta construct``: have a model write a test set for a style; a person has the last word."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import Format, note, show_table
from . import options

if TYPE_CHECKING:
    import pandas as pd

construct_app = typer.Typer(invoke_without_command=True, no_args_is_help=True)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a construction.")]

Style = Annotated[str, typer.Option(help="The target style, such as 'more formal'.")]
Sources = Annotated[Path | None, typer.Option(help="Texts, one a line; or a table with source.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder, and name of the set.")]
Language = Annotated[str, typer.Option(help="Of all texts, as a code: en, de, pt-BR.")]
Seed = Annotated[int, typer.Option(help="Of the kinds of error, and of the answers.")]


@construct_app.callback()
def construct(
    context: typer.Context,
    style: Style = "",
    sources: Sources = None,
    server: options.Server = "",
    model: options.Model = "",
    out: Out = None,
    language: Language = "en",
    seed: Seed = 0,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    retries: options.Retries = 6,
    format: options.FormatOption = Format.table,
) -> None:
    """Have a model write a test set for a style, and check what it writes.

    For each source: a strong rewrite, a light one, one error in the light one, and the same error
    in the strong one.  A text that a check doubts is asked for once more.

    Rows that a check still doubts stand in rows.csv with the reason, for a person to mend or
    accept.  The same command goes on where it stopped, and no answer that came is asked for again.
    Exit code 1 when questions stayed without an answer.

    \b
    Examples:
      tstmeta construct --style "more formal" --sources texts.txt \\
        --server http://localhost:8000/v1 --model my-model --out formal
      tstmeta construct check formal
      tstmeta construct export formal --out form
      tstmeta construct import formal project-1.json project-2.json
      tstmeta evaluate --data formal/formal.csv
    """
    if context.invoked_subcommand:
        return
    options.check_outputs(context)
    if not (style and sources and server and model and out):
        words = "--style, --sources, --server, --model and --out are all needed"
        raise typer.BadParameter(words, context)
    from ..judge.client import Served
    from ..judge.construct import run

    chat = Served(server, model, timeout=timeout, retries=retries)
    facts = {"style": style.strip(), "language": language, "server": chat.server, "model": model}
    plan = run.plan_of(out, sources, **facts, seed=seed)
    note(f"{model} at {chat.server}, {len(plan.sources):,} sources, four texts for each")
    table, unanswered = run.construct(out, plan, chat, concurrency=concurrency)
    note(*chat.notes, chat.bill())
    _show(out, table, format)
    if unanswered:
        note(f"{unanswered} questions stayed without an answer; the same command asks again")
        raise typer.Exit(1)


def _show(folder: Path, table: pd.DataFrame, format: Format) -> int:
    """Counts on stdout, what to do next on stderr; how many rows wait for a person."""
    from ..judge.construct.checks import LOOK, VERDICTS
    from ..judge.construct.run import ROWS

    counts = table["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
    show_table(counts.rename_axis("verdict").reset_index(name="rows"), format)
    if waiting := int((table["verdict"] == LOOK).sum()):
        note(
            f"{waiting} rows wait for a person: in {folder / ROWS} mend output, or write yes or no "
            f"under accept; then run: {shlex.join(['tstmeta', 'construct', 'check', str(folder)])}"
        )
    return waiting


@construct_app.command("check")
def check_command(folder: Folder, format: options.FormatOption = Format.table) -> None:
    """Check the rows again after a person changed them, and write the data set anew.

    In rows.csv you may change output, and write yes or no under accept.  Exit code 1 while rows
    wait for a person.
    """
    from ..judge.construct.run import check

    if _show(folder, check(folder), format):
        raise typer.Exit(1)


@construct_app.command("export")
def export_command(folder: Folder, out: options.OutFolder) -> None:
    """Write the rating form of the data set, for Label Studio, as tstmeta data form does."""
    from ..judge.construct.run import check, data_set
    from ..label_studio import write_form

    check(folder)
    for path in write_form(data_set(folder), out):
        note(f"wrote {path}")


@construct_app.command("import")
def import_command(folder: Folder, exports: options.Exports) -> None:
    """Keep people's ratings beside the data set; from then on it is a rated one."""
    from ..judge.construct.run import import_ratings

    ratings = import_ratings(folder, exports)
    raters = ratings["rater"].nunique()
    note(f"{len(ratings)} ratings by {raters} raters of {ratings['item_id'].nunique()} rewrites")
