"""``tstmeta reproduce``: the ledger of printed numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from ..console import Format, show_table
from .options import FormatOption, Store


def reproduce(
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
    from ..ledger import Inputs, counts
    from ..ledger import reproduce as reproduced

    rows = reproduced(paper, table, inputs=Inputs(store, progress=True))
    if format is Format.table:
        show_table(counts(rows), title="Cells by status")
        print()
    show_table(rows, format)
