"""``tstmeta advise``: which metric fits rewrites of yours, how sure that is, what to rate first."""

from enum import StrEnum
from typing import Annotated

import typer

from ..console import Format, note, show_table, waiting
from . import options
from .score import sample

About = StrEnum("About", ["content", "style", "fluency"])


def advise(
    data: options.Data = "",
    task: Annotated[str, typer.Option(help="What is transferred, such as formality.")] = "",
    language: Annotated[str, typer.Option(help="A code such as en [default: of the data].")] = "",
    dimension: Annotated[
        list[About] | None, typer.Option(help="Repeat for more [default: all].")
    ] = None,
    references: Annotated[
        bool | None,
        typer.Option(help="Metrics that need references too [default: where all rewrites have]."),
    ] = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    format: options.FormatOption = Format.table,
) -> None:
    """Say which metric to take for your rewrites, what to expect of it, and what to rate.

    From all rated data sets: a verdict on each metric, its accuracy on pairs of rewrites of one
    source with limits for a new set, sets that it fails on, and how many rated sources tell it from
    others.

    \b
    Examples:
      tstmeta advise --task formality --language en --dimension content
      tstmeta advise --data mine.csv --task detoxification
    """
    from ..analysis.advice import advise as advised
    from ..data import load

    own = sample(load(data), limit, seed) if data else None
    with waiting("advising"):
        advice = advised(own, task, language, [*map(str, dimension or About)], references)
    if format is Format.table:
        print(advice, end="")
        return
    show_table(advice.frame, format)
    for line in advice.notes:
        note(line)
