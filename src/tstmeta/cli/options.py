"""The options that several commands share, each written once; what they say of a server."""

import os
import re
from collections.abc import Callable
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from ..console import FileFormat, Format, mistake


def registered(group: str) -> Callable[[], list[str]]:
    """What a shell completes: nothing slow is imported for it."""
    return lambda: sorted(entry_points(group=f"tstmeta.{group}").names)


OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="File to write [default: stdout as CSV].")
]
OutFormat = Annotated[
    FileFormat | None,
    typer.Option("--format", "-f", help="File format [default: as --out is named, else csv]."),
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How to print; csv and json print nothing else.")
]

Data = Annotated[
    str,
    typer.Option(
        "--data",
        "-d",
        help="A data set, a subset such as lai@pauli2025, or your file.",
        autocompletion=registered("datasets"),
    ),
]
DataSets = Annotated[
    list[str],
    typer.Option(
        "--data",
        "-d",
        help="A data set, a subset such as lai@pauli2025, or your file; repeat for more.",
        autocompletion=registered("datasets"),
    ),
]
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
        help="A metric, a family, module:function or ./file.py:function; repeat for more.",
        autocompletion=registered("metrics"),
    ),
]
Basis = StrEnum("Basis", ["source", "reference", "none"])
Bases = Annotated[
    list[Basis] | None, typer.Option(help="What outputs are compared with; repeat for more.")
]
ScoreFile = Annotated[
    Path | None, typer.Option(help="A file of scores computed elsewhere: item_id, metric, value.")
]
RatingFile = Annotated[
    Path | None, typer.Option(help="A long file of ratings: item_id, dimension, rater, value.")
]
Combine = Annotated[
    list[str] | None,
    typer.Option(
        help="A metric made of scores: gm, gm:learned, j:FL, hybrid-simulation, hybrid-learned, "
        "hybrid-equal, overall-existing, overall-ours1, overall-ours2; repeat for more."
    ),
]
Store = Annotated[
    Path | None, typer.Option(help="Folder of the score store [default: data/scores].")
]

# Of commands that ask a server.

Server = Annotated[
    str, typer.Option(help="Where the interface starts, such as http://localhost:8000/v1.")
]
Model = Annotated[str, typer.Option("--model", "-m", help="What the server calls the model.")]
Revision = Annotated[
    str, typer.Option(help="Which weights the server runs, if you know; kept with what comes out.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Questions under way at once.")]
Timeout = Annotated[float, typer.Option(help="Seconds that an answer may take.")]
Retries = Annotated[int, typer.Option(min=0, help="Of what may pass: 429, 5xx, ...")]
PriceIn = Annotated[
    float | None, typer.Option(min=0, help="Money for a million tokens of prompts.")
]
PriceOut = Annotated[
    float | None, typer.Option(min=0, help="Money for a million tokens of answers.")
]
MaxMoney = Annotated[
    float | None, typer.Option(min=0, help="Ask nothing that could cost more in all.")
]
MaxRequests = Annotated[int | None, typer.Option(min=0, help="Ask no more questions than this.")]
KeyVariable = Annotated[str, typer.Option(help="The environment variable that holds the API key.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and ask nothing.")]

#: Where the API key is looked for; a server of one's own needs none.
USUAL_KEY = "OPENAI_API_KEY"


def price_of(prompt: float | None, answer: float | None) -> Any:
    """The Price of a million tokens of prompts and of answers; None where none is given."""
    from ..judge.runner import Price

    if prompt is None and answer is None:
        return None
    if prompt is None or answer is None:
        raise mistake("a price has two parts: give --price-in and --price-out")
    return Price(prompt, answer)


def key_of(variable: str) -> str:
    """The API key; empty where the usual variable is not set, as servers of one's own need none."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):  # perhaps the key itself: never shown
        raise mistake(
            "--key-variable takes the name of an environment variable, in capitals, never a key;"
            " set the variable and name it"
        )
    if variable != USUAL_KEY and not os.environ.get(variable):
        raise mistake(f"the environment variable {variable} is not set; set it to the API key")
    return os.environ.get(variable, "")


def bill(budget: Any) -> str:
    """What was spent, in words."""
    words = f"{budget.sent:,} requests, {budget.prompt_tokens + budget.answer_tokens:,} tokens"
    if budget.uncounted:
        words += " at most (the server did not count all)"
    if budget.price:
        money = budget.price.of(budget.prompt_tokens, budget.answer_tokens)
        words += f", {money:,.4g} of money"
    return words
