"""The command ``tstmeta run``; see :mod:`tstmeta.cli` for how commands behave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    profile: Annotated[
        str | None, typer.Option("--profile", help="Short for: -p profile VALUE.")
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
    pairs = _pairs(parameter or [], context.args)
    if profile is not None:
        pairs["profile"] = profile
    values = notebooks.check(source, pairs, text=True)
    notebooks.run_notebook(source, values, out or Path(f"{source.stem}.out.ipynb"))


def _pairs(names: list[str], values: list[str]) -> dict[str, str]:
    """``-p name value`` (the value arrives among the remaining arguments) and ``-p name=value``."""
    rest = iter(values)
    pairs = {}
    for name in names:
        stem, equals, value = name.partition("=")
        if not equals:
            try:
                value = next(rest)
            except StopIteration:
                raise typer.BadParameter(f"{name} needs a value: -p {name} VALUE") from None
        pairs[stem] = value
    if strangers := list(rest):
        raise typer.BadParameter(f"{' '.join(strangers)}: a parameter is set by -p NAME VALUE")
    return pairs
