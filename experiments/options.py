"""Options that the commands of several experiments share."""

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")]
Seed = Annotated[int, typer.Option(min=0, help="Of weights and the order of sentences.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A training option; repeat for more."),
]
