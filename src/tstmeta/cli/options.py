"""The options that several commands share; the model of a server and its costs in words."""

import inspect
import os
import re
from collections.abc import Callable
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from ..console import Format

#: Parameters that name what a command writes.  Any other may name what it reads.
OUTPUTS = ("out", "scores_out", "plot", "report", "cache", "store")


def command_of(model: type, function: Callable[[Any], None]) -> Callable[..., None]:
    """A command whose options are the fields of a dataclass: the function takes an instance."""

    def command(**values: Any) -> None:
        function(model(**values))

    command.__doc__, command.__name__ = function.__doc__, function.__name__
    command.__annotations__ = get_type_hints(model, include_extras=True)
    command.__signature__ = inspect.signature(model)  # type: ignore[attr-defined]
    return command


class Command(TyperCommand):
    def invoke(self, ctx: Any) -> Any:
        import pandas as pd

        check_outputs(ctx)
        # A text that many rows share is in memory once, and frames are cut up faster.
        with pd.option_context("mode.string_storage", "python"):
            return super().invoke(ctx)


def check_outputs(context: Any) -> None:
    """Refuse an output that is an input or another output; inputs are protected until the end."""
    from .. import storage
    from ..data.table_files import beside

    outputs, inputs = [], []
    for parameter in context.command.params:
        value, label = context.params.get(parameter.name), parameter.opts[0]
        label = label if label.startswith("-") else parameter.metavar or label.upper()
        for word in [*value, *context.args] if isinstance(value, list) else [value]:
            if word and parameter.name in OUTPUTS:
                outputs.append((label, word))
            elif isinstance(word, str | Path):
                words = {str(word), *re.split("[:+=,#@]", str(word))}
                words = {w for w in words if isinstance(word, Path) or re.search("[./]", w)}
                for path in map(Path, filter(os.path.exists, words)):  # lai is a name, ./lai a path
                    inputs += [(label, file) for file in (path, *beside(path))]
    storage.apart(outputs, inputs)
    options = " or ".join(label for label, _ in outputs) or "the command's folder"
    before = storage.protected.set((options, inputs))
    context.call_on_close(lambda: storage.protected.reset(before))


def registered(group: str) -> Callable[[], list[str]]:
    """The names that a shell completes; nothing slow is imported for them."""
    return lambda: sorted(entry_points(group=f"tstmeta.{group}").names)


OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="File to write [default: stdout as CSV].")
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How to print; csv and json print nothing else.")
]
OutFolder = Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")]

_DATA: dict[str, Any] = {
    "help": "A data set, a subset such as lai@pauli2025, or your file.",
    "autocompletion": registered("datasets"),
}
Data = Annotated[str, typer.Option("--data", "-d", **_DATA)]
DataSets = Annotated[list[str], typer.Option("--data", "-d", **_DATA)]
Name = Annotated[str, typer.Argument(metavar="NAME", **_DATA)]
Where = Annotated[
    list[str] | None,
    typer.Option(help="Only rewrites with COLUMN=VALUE, such as direction=I2F; repeat for more."),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="A random sample: whole sources, no more rewrites than this."),
]
Seed = Annotated[int, typer.Option(min=0, help="Of all that is random.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        help="A metric, a family or ./file.py:function; repeat for more.",
        autocompletion=registered("metrics"),
    ),
]
Basis = StrEnum("Basis", ["source", "reference", "none"])
Bases = Annotated[
    list[Basis] | None, typer.Option(help="What outputs are compared with; repeat for more.")
]
Store = Annotated[
    Path | None, typer.Option(help="Folder of the score store [default: data/scores].")
]
Exports = Annotated[
    list[Path], typer.Argument(metavar="EXPORT...", help="What Label Studio exported as JSON.")
]

# Of commands that ask a server.

Server = Annotated[
    str, typer.Option(help="Where the interface starts, such as http://localhost:8000/v1.")
]
Model = Annotated[str, typer.Option("--model", "-m", help="What the server calls the model.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Questions under way at once.")]
Timeout = Annotated[float, typer.Option(help="Seconds that an answer may take.")]
Retries = Annotated[int, typer.Option(min=0, help="Of what may pass: 429, 5xx, ...")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and ask nothing.")]
