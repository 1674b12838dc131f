"""Options that the commands of several experiments share."""

from pathlib import Path
from typing import Annotated, Any

import typer

#: Help as tstmeta gives it.
APP: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")]
Seed = Annotated[int, typer.Option(min=0, help="Of weights and the order of sentences.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A training option; repeat for more."),
]
