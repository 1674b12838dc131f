"""``tstmeta evaluate``: which metrics agree with people, on anybody's data."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..console import TableFormat, note
from .options import Bases, Combine, Data, Metrics, RatingFile, ScoreFile, Store
from .score import known_combinations, scored, tell_failures, with_combined

# As in tstmeta.stats, which takes long to import: a test holds them against it.
Statistic = Literal[
    "pearson",
    "spearman",
    "kendall",
    "tau-c",
    "pairwise-accuracy",
    "acc_eq",
    "preference",
    "soft-pairwise-accuracy",
]
Level = Literal["pooled", "source", "within-system", "system", "task", "within-task"]
Units = Literal["sources", "systems", "both"]
Dimension = StrEnum("Dimension", ["content", "style", "fluency", "overall", "structure"])


def evaluate(
    data: Data,
    metric: Metrics = None,
    basis: Bases = None,
    combine: Combine = None,
    scores: ScoreFile = None,
    ratings: RatingFile = None,
    dimension: Annotated[
        list[Dimension] | None, typer.Option(help="Repeat for more [default: all judged].")
    ] = None,
    statistic: Annotated[
        Statistic, typer.Option("--statistic", "-s", help="How agreement is measured.")
    ] = "pearson",
    level: Annotated[
        Level,
        typer.Option(
            "--level",
            "-l",
            help="All rewrites; those of a source, system or task, then averaged; means of "
            "systems; all, standardised within tasks.",
        ),
    ] = "pooled",
    resample: Annotated[
        Units, typer.Option(help="What is resampled: what intervals and tests generalise over.")
    ] = "sources",
    draws: Annotated[int, typer.Option(help="Number of bootstrap resamples.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    tests: Annotated[
        bool, typer.Option(help="Part metrics that differ into clusters, all pairs tested at once.")
    ] = True,
    lower: Annotated[
        list[str] | None,
        typer.Option(help="A metric of your score file for which less is better; repeat for more."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write [default: stdout].")
    ] = None,
    format: Annotated[
        TableFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="Default: as --out is named (.csv .json .tex .md), else table; on stdout csv and "
            "json print nothing else.",
        ),
    ] = None,
    store: Store = None,
) -> None:
    """Hold metrics against human ratings: values with intervals, ranks, tests, people beside.

    Sentinels, which know nothing of quality, stand below a line in every table, and with them the
    human style rating offered as if it were a metric.  Ranks count them.  A metric of which lower
    is better is flipped.  Without ratings the table describes the scores.  What --combine
    fits on ratings is fitted on other sources than it scores.

    \b
    Examples:
      tstmeta evaluate --data mine.csv
      tstmeta evaluate --data pauli --metric lexical --dimension content --level within-task
      tstmeta evaluate --data lai@pauli2025 --scores comet.csv --level system --statistic kendall \\
        --resample systems
      tstmeta evaluate --data mine.csv --ratings ratings.csv --seed 7 --out table.tex
      tstmeta evaluate --data lai --metric lexical --dimension content --combine hybrid-learned
    """
    from ..analysis import evaluate as evaluated
    from ..analysis.frame import SENTINELS
    from ..analysis.render import described, format_of, rendered
    from ..combine import CombineError
    from ..secrecy import conceal
    from ..storage import write

    kind = format_of(out, format)
    names = known_combinations(combine)
    wanted = [*(metric or ([] if scores else ["lexical"])), *SENTINELS]
    dataset, table = scored(data, wanted, basis, scores, ratings, store)
    dimensions = [str(name) for name in dimension or dataset.judged]
    lower = [conceal(name) for name in lower or []]  # as tables call them
    hybrids = [name for name in names if name.startswith("hybrid-")] if dimensions else []
    whole = [name for name in names if name not in hybrids]
    table = with_combined(dataset, table, whole, seed=seed, lower=lower, store=store)
    tell_failures(table)
    evaluations, refusals = [], []
    for name in dimensions:
        own = table
        try:  # a hybrid is of the metrics for one dimension
            own = with_combined(dataset, table, hybrids, name, seed, lower)
            tell_failures(own.iloc[len(table) :])
        except CombineError as refusal:
            refusals.append(refusal)
            if dimension or len(refusals) == len(dimensions):
                raise refusals[0] from None
            note(f"a dimension goes without a hybrid: {refusal}")
        evaluations.append(
            evaluated(
                dataset,
                dimension=name,
                statistic=statistic,
                level=level,
                unit=resample.removesuffix("s"),
                draws=draws,
                seed=seed,
                clusters=tests,
                scores=own,
                lower=lower,
            )
        )
    text = rendered(evaluations, kind) if evaluations else described(dataset, table, kind)
    if out is None:
        sys.stdout.write(text)
    else:
        write(out, text)
        note(f"wrote {out}")
