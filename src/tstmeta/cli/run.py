"""``tstmeta run``: a notebook with other parameters; ``tstmeta reproduce``: the ledger."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, show_table
from .options import FormatOption, Store


def run(
    context: typer.Context,
    notebook: Annotated[str, typer.Argument(help="A path, or a name in notebooks/.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME VALUE", help="Set a parameter; repeat for more."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write [default: NAME.out.ipynb].")
    ] = None,
) -> None:
    """Run a notebook with other parameters.  A mistyped one is refused before anything runs.

    A list is written a,b,c.  Without -p every parameter has the value that the notebook gives.

    \b
    Examples:
      tstmeta run 02_content_preservation -p dataset lai@pauli2025 -p level system
      tstmeta run 02_content_preservation -p dataset mine.csv --out mine.ipynb
    """
    from .. import notebook as notebooks

    source = notebooks.find(notebook)
    if len(context.args) != len(parameter or []):
        raise typer.BadParameter("a parameter is set by -p NAME VALUE")
    pairs = dict(zip(parameter or [], context.args, strict=True))
    notebooks.run_notebook(source, pairs, out or Path(f"{source.stem}.out.ipynb"))


def reproduce(
    paper: Annotated[
        str | None, typer.Option(help="pauli2025, lai2023, mukherjee2025 or pang2019.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="A table, e.g. 5 or fig1.")] = None,
    format: FormatOption = Format.table,
    store: Store = None,
) -> None:
    """The reproduction ledger: every number in the papers' tables beside ours, with a reason.

    \b
    Examples:
      tstmeta reproduce --paper pauli2025 --table 5
      tstmeta reproduce --format csv > ledger.csv
    """
    from ..ledger import Inputs, counts
    from ..ledger import reproduce as reproduced

    rows = reproduced(paper, table, inputs=Inputs(store, progress=True))
    if format is Format.table:
        print("Cells by status")
        show_table(counts(rows))
        print()
    show_table(rows, format)
