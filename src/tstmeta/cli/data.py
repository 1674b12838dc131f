"""``tstmeta data``: what data there is, getting it, checking it, writing its tables."""

from typing import Annotated, Literal

import typer

from ..console import Format, escaped, note, put, show_table, write_table
from ..schema import TstmetaError
from . import options
from .options import FormatOption, Name

data_app = typer.Typer(help="Data sets with human judgement.", no_args_is_help=True)

Table = Literal["items", "ratings", "labels", "preferences", "scores"]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", show_default=False, autocompletion=options.registered("datasets")
    ),
]
FormData = Annotated[str, typer.Option("--data", "-d", help="What the form was made from.")]


@data_app.command("list")
def data_list(format: FormatOption = Format.table) -> None:
    """List the data sets and whether they are here."""
    from ..data.catalogue import rows

    show_table(rows(), format)


@data_app.command("show")
def data_show(name: Name, format: FormatOption = Format.table) -> None:
    """Show a data set: its card, its counts, its ratings and how far raters agree."""
    import pandas as pd

    from ..analysis.people import agreement_facts
    from ..data import load
    from ..data.catalogue import describe

    about = describe(name)
    facts = about.facts
    if about.note:
        note(about.note)
    else:
        facts = pd.concat([facts, agreement_facts(load(name))])
        facts = pd.concat([rows for _, rows in facts.groupby("part", sort=False)])
    if format is Format.table:
        print(escaped(about.title))
    show_table(facts, format)
    if format is Format.table and about.body:
        put(f"\n{about.body}\n")


@data_app.command("fetch")
def data_fetch(
    names: Names = None,
    everything: Annotated[bool, typer.Option("--all", help="All public data sets.")] = False,
) -> None:
    """Download raw files from their pinned addresses; repeat it after an interruption.

    \b
    Example: tstmeta data fetch pauli lai
    """
    from ..data.fetch import fetch
    from ..data.manifest import chosen

    fetch(chosen(names or [], everything))


@data_app.command("check")
def data_check(names: Names = None, format: FormatOption = Format.table) -> None:
    """Check the hash of raw files, without names of all that are here; exit code 1 if one fails."""
    from ..data import manifest

    checked = manifest.check(manifest.chosen(names) if names else None)
    show_table(checked, format)
    bad = sum(row["state"] != "ok" for row in checked)
    note(f"{len(checked)} files, {bad} missing or wrong")
    raise typer.Exit(bool(bad))


@data_app.command("export")
def data_export(
    name: Name,
    table: Annotated[Table, typer.Option("--table", "-t", help="Which table.")] = "items",
    to: Annotated[
        Literal["huggingface"] | None,
        typer.Option(help="All of it in a format of others, to the folder --out."),
    ] = None,
    metric: options.Metrics = None,
    out: options.OutFile = None,
) -> None:
    """Write one of the five tables of a data set, or a folder for the Hugging Face hub.

    \b
    Examples:
      tstmeta data export pauli --table ratings > ratings.csv
      tstmeta data export pauli --to huggingface --metric bleu --out pauli-hub
    """
    from ..data import load

    data = load(name)
    if to is None:
        frame = getattr(data, table)
        write_table(frame, out)
        if out is not None:
            note(f"wrote {len(frame)} rows to {out}")
        return
    if out is None or (out.exists() and any(out.iterdir())):
        raise TstmetaError(f"--to {to} writes a folder: name one that is new or empty with --out")
    from ..huggingface import write_huggingface
    from ..scoring import score

    scores = score(data, metric) if metric else None
    note(write_huggingface(data, out, scores))
    note(f"wrote {data.name} to {out}")


@data_app.command("form")
def data_form(
    name: Name,
    out: options.OutFolder,
    pairwise: Annotated[
        bool, typer.Option("--pairwise", help="Ask which of two systems is better: A, B or tie.")
    ] = False,
    where: options.Where = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
) -> None:
    """Write a rating form for Label Studio: the form, its tasks, a key; a pairwise one as CSV, too.

    \b
    Example: tstmeta data form ends.csv --pairwise --where system=M0-0 --where system=M7-0 -o form
    """
    from ..data import load
    from ..label_studio import PAIRWISE, RATING, write_form
    from .score import chosen, sample

    data = sample(chosen(load(name), where or []), limit, seed)
    for path in write_form(data, out, seed, PAIRWISE if pairwise else RATING):
        note(f"wrote {path}")


@data_app.command("import-ratings")
def data_import_ratings(
    exports: options.Exports, data: FormData, out: options.OutFile = None
) -> None:
    """Turn exports of a rating form into a table of ratings.  Raters become r1, r2, ...

    \b
    Example: tstmeta data import-ratings project-*.json --data contrast --out ratings.csv
    """
    from ..data import load
    from ..label_studio import read_export

    ratings = read_export(exports, load(data))
    write_table(ratings, out)
    raters = ratings["rater"].nunique()
    note(f"{len(ratings)} ratings by {raters} raters of {ratings['item_id'].nunique()} rewrites")


@data_app.command("import-preferences")
def data_import_preferences(
    exports: options.Exports, data: FormData, out: options.OutFile = None
) -> None:
    """Turn exports or sheets (.csv, with a column rater if of several) into preferences.

    \b
    Example: tstmeta data import-preferences ann.csv project.json --data ends.csv -o preferences.csv
    """
    from ..data import load
    from ..label_studio import PAIRWISE, read_export

    table = read_export(exports, load(data), PAIRWISE)
    write_table(table, out)
    note(f"{len(table)} preferences by {table['rater'].nunique()} raters")
