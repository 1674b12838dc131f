"""``tstmeta construct``: have a model write a test set for a style; a person has the last word.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import Format, note, show_table
from .options import (
    Concurrency,
    DryRun,
    FormatOption,
    KeyVariable,
    MaxMoney,
    MaxRequests,
    PriceIn,
    PriceOut,
    Retries,
    Revision,
    Timeout,
)
from .server import USUAL_KEY, bill, key_of, price_of

if TYPE_CHECKING:
    import pandas as pd

    from ..judge.budget import Budget
    from ..judge.client import Served
    from ..judge.construct.build import Built
    from ..judge.construct.plan import Plan

construct_app = typer.Typer(
    name="construct",
    rich_markup_mode=None,
    invoke_without_command=True,
    no_args_is_help=True,
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a construction.")]

Partial = Annotated[
    bool,
    typer.Option("--partial", help="Take rewrites that pass from sources where others do not."),
]


@construct_app.callback()
def construct(
    context: typer.Context,
    style: Annotated[
        str | None, typer.Option(help="The target style in words, such as 'more formal'.")
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(help="Texts to rewrite: a .txt with one a line, or a table with source."),
    ] = None,
    generate: Annotated[
        int | None, typer.Option(min=1, help="Have the model write so many sources instead.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Where the interface starts: http://localhost:8000/v1.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="What the server calls the model.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder; the data set is called after it.")
    ] = None,
    style_now: Annotated[
        str, typer.Option(help="The style of the sources, if it has a name.")
    ] = "",
    language: Annotated[str, typer.Option(help="Of all texts, as a code: en, de, pt-BR.")] = "en",
    errors: Annotated[
        str, typer.Option(help="Kinds of error, dealt evenly to the sources.")
    ] = "substitution,deletion,insertion",
    seed: Annotated[int, typer.Option(help="Of the dealing, and of the model's answers.")] = 0,
    temperature: Annotated[float, typer.Option(help="How freely answers are drawn.")] = 0.7,
    tries: Annotated[
        int, typer.Option(min=1, help="How often to ask for a text while a check finds a fault.")
    ] = 2,
    revision: Revision = "",
    concurrency: Concurrency = 16,
    timeout: Timeout = 120.0,
    retries: Retries = 6,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_money: MaxMoney = None,
    max_requests: MaxRequests = None,
    key_variable: KeyVariable = USUAL_KEY,
    dry_run: DryRun = False,
    format: FormatOption = Format.table,
) -> None:
    """Have a model write a test set for a style, and check what it writes.

    For each source: a strong rewrite, a light one, one error in the light one, and the same error
    in the strong one.  Rows in which a check finds a fault are kept with the reason, in rows.csv,
    for a person to mend or accept; then run construct check.  Kill it whenever you like: the same
    command goes on where it stopped; no answer that came is asked for again.  Exit code 1 when
    questions stayed without an answer.

    \b
    Examples:
      tstmeta construct --style "more formal" --sources texts.txt --dry-run \\
        --server http://localhost:8000/v1 --model my-model --out formal
      tstmeta construct --style "more formal" --style-now informal --generate 60 \\
        --server http://localhost:8000/v1 --model my-model --out formal
      tstmeta construct check formal
      tstmeta construct export formal --out form
      tstmeta construct import formal project-1.json project-2.json
      tstmeta evaluate --data formal/formal.csv
    """
    if context.invoked_subcommand:
        return
    given = {"--style": style, "--server": server, "--model": model, "--out": out}
    if lacking := [name for name, value in given.items() if value is None]:
        raise typer.BadParameter(f"missing {', '.join(lacking)}", context)
    from ..judge.budget import Budget
    from ..judge.client import connect
    from ..judge.construct.plan import planned
    from ..judge.construct.steps import Setting

    price = price_of(price_in, price_out)
    chat = connect(
        server or "",
        model or "",
        revision=revision,
        key=key_of(key_variable),
        timeout=timeout,
        retries=retries,
        price=price,
    )
    folder = out or Path()
    plan = planned(
        folder,
        Setting((style or "").strip(), style_now.strip(), language, seed, temperature),
        sources=sources,
        generate=generate,
        errors=[kind.strip() for kind in errors.split(",") if kind.strip()],
        server=chat.server,
        model=chat.model,
        revision=revision,
    )
    budget = Budget(money=max_money, requests=max_requests, price=price)
    built = _made(folder, plan, chat, budget, concurrency, tries, dry_run)
    if built is None:
        return
    for said in chat.notes:
        note(said)
    _show(built, folder, format)
    note(bill(budget))
    if built.missing:
        note(f"the model gave {built.missing} sources fewer than it was asked for")
    if built.unanswered:
        note(f"{built.unanswered} questions stayed without an answer; the same command asks again")
        raise typer.Exit(1)


def _made(
    folder: Path,
    plan: Plan,
    chat: Served,
    budget: Budget,
    concurrency: int,
    tries: int,
    dry_run: bool,
) -> Built | None:
    """Run the construction; None for a dry run."""
    from ..judge.construct import run

    note(f"{chat.model} at {chat.server}, {plan.size} sources, prompt {plan.prompt}")
    note(str(run.foretold(folder, plan, chat)))
    if dry_run:
        return None
    try:
        return run.construct(
            folder, plan, chat, budget=budget, concurrency=concurrency, tries=tries, progress=True
        )
    except KeyboardInterrupt:
        note(f"answers so far are kept in {folder}; the same command goes on from there")
        raise


def _show(built: Built, folder: Path, format: Format) -> None:
    """Counts on stdout; what to do next on stderr."""
    from ..judge.construct.table import FILE, counted

    counts = counted(built.found)
    show_table(counts, format)
    if wait := _waiting(counts):
        note(
            f"{wait} rows wait for a person: in {folder / FILE} mend output, or write yes or no "
            f"under accept; then run: {shlex.join(['tstmeta', 'construct', 'check', str(folder)])}"
        )
    _tell_set(folder)


def _waiting(counts: pd.DataFrame) -> int:
    """Rows that wait for a person."""
    whole = (counts["verdict"] == "look") & (counts["check"] == "")
    return int(counts.loc[whole, "rows"].sum())


def _tell_set(folder: Path) -> None:
    from ..judge.construct.export import data_file
    from ..judge.construct.plan import read

    path = data_file(folder, read(folder))
    if path.is_file():
        note(f"the data set: {shlex.join(['tstmeta', 'data', 'show', str(path)])}")
    else:
        note("no source has passed with all four rewrites yet, so there is no data set")


@construct_app.command("check")
def check_command(
    folder: Folder,
    partial: Partial = False,
    format: FormatOption = Format.table,
) -> None:
    """Check the rows again after a person changed them, and write the data set anew.

    In rows.csv you may change output, and write yes or no under accept.  Exit code 1 while rows
    wait for a person.

    \b
    Examples:
      tstmeta construct check formal
      tstmeta construct check formal --partial
    """
    from ..judge.construct.export import check
    from ..judge.construct.table import counted

    counts = counted(check(folder, partial=partial))
    show_table(counts, format)
    _tell_set(folder)
    if _waiting(counts):
        raise typer.Exit(1)


@construct_app.command("export")
def export_command(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the form to.")],
    partial: Partial = False,
    batches: Annotated[
        int | None,
        typer.Option(help="As in tstmeta data form [default: one for each rewrite of a source]."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order and of the batches.")] = 0,
) -> None:
    """Write the rating form of the data set, for Label Studio, as tstmeta data form does.

    \b
    Examples:
      tstmeta construct export formal --out form
    """
    from ..judge.construct.export import check, write_form

    check(folder, partial=partial)
    for path in write_form(folder, out, batches=batches, seed=seed):
        note(f"wrote {path}")


@construct_app.command("import")
def import_command(
    folder: Folder,
    exports: Annotated[
        list[Path], typer.Argument(metavar="EXPORT...", help="What Label Studio exported.")
    ],
) -> None:
    """Keep people's ratings beside the data set; from then on it is a rated one.

    \b
    Examples:
      tstmeta construct import formal project-1.json project-2.json
      tstmeta evaluate --data formal/formal.csv
    """
    from ..judge.construct.export import import_ratings

    ratings = import_ratings(folder, exports)
    raters = ratings["rater"].nunique()
    note(f"{len(ratings)} ratings by {raters} raters of {ratings['item_id'].nunique()} rewrites")
    _tell_set(folder)
