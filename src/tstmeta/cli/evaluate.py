"""``tstmeta evaluate``: which metrics agree with people, on anybody's data."""

import itertools
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..console import TableFormat, mistake, note, waiting
from . import options
from .score import known_combinations, selections, tell_failures, with_combined

if TYPE_CHECKING:
    from ..data import Dataset

# As in tstmeta.stats, which takes long to import: a test holds them against it.
Statistic = StrEnum(
    "Statistic",
    "pearson spearman kendall tau-c pairwise-accuracy acc_eq preference soft-pairwise-accuracy",
)
Level = StrEnum(
    "Level",
    ["pooled", "source", "same-source", "within-system", "system", "task", "within-task"],
)
Units = Literal["sources", "systems", "both"]
Table = Literal["values", "differences"]
Dimension = StrEnum(
    "Dimension", ["content", "style", "fluency", "overall", "structure", "overcorrection"]
)


def evaluate(
    data: options.DataSets,
    metric: options.Metrics = None,
    basis: options.Bases = None,
    combine: options.Combine = None,
    scores: options.ScoreFile = None,
    ratings: options.RatingFile = None,
    where: options.Where = None,
    limit: options.Limit = None,
    dimension: Annotated[
        list[Dimension] | None, typer.Option(help="Repeat for more [default: all judged].")
    ] = None,
    statistic: Annotated[
        list[Statistic] | None,
        typer.Option(
            "--statistic", "-s", help="How agreement is measured; repeat for more [pearson]."
        ),
    ] = None,
    level: Annotated[
        list[Level] | None,
        typer.Option(
            "--level",
            "-l",
            help="All rewrites [default]; those of a source, system or task, then averaged; means "
            "of systems; all, standardised within tasks; repeat for more.",
        ),
    ] = None,
    resample: Annotated[
        Units, typer.Option(help="What is resampled: what intervals and tests generalise over.")
    ] = "sources",
    draws: Annotated[int, typer.Option(help="Number of bootstrap resamples.")] = 1000,
    seed: options.Seed = 0,
    tests: Annotated[
        bool, typer.Option(help="Part metrics that differ into clusters, all pairs tested at once.")
    ] = True,
    lower: Annotated[
        list[str] | None,
        typer.Option(help="A metric of your score file for which less is better; repeat for more."),
    ] = None,
    show: Annotated[
        Table, typer.Option("--table", help="A row a metric, or a row a pair of metrics.")
    ] = "values",
    plot: Annotated[
        Path | None,
        typer.Option(help="File for a figure (.pdf .svg .png): values, intervals, ranks."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder for a page to read and print, with table, figure, values and methods.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write [default: stdout].")
    ] = None,
    format: Annotated[
        TableFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="Default: as --out is named (.csv .json .tex), else table; on stdout csv and "
            "json print nothing else.",
        ),
    ] = None,
    store: options.Store = None,
) -> None:
    """Hold metrics against human ratings: values with intervals, ranks, tests, people beside.

    Sentinels, which know nothing of quality, stand below a line in every table, and with them the
    human style rating offered as if it were a metric.  Ranks count them.  A metric of which lower
    is better is flipped.  Without ratings the table describes the scores.  What --combine
    fits on ratings is fitted on other sources than it scores.  By default a dozen metrics are
    scored, one an idea.  Sentences below the title (with --out and as CSV on stderr) say which
    metric leads, which stay below the sentinels and what difference the data could show.

    \b
    Examples:
      tstmeta evaluate --data mine.csv --out table.tex --plot figure.pdf
      tstmeta evaluate --data mine.csv --report report
      tstmeta evaluate --data pauli --metric lexical --dimension content --level within-task
      tstmeta evaluate --data lai@pauli2025 --scores comet.csv --level system --statistic kendall \\
        --resample systems
      tstmeta evaluate --data mine.csv --ratings ratings.csv --where direction=I2F --level pooled \\
        --level system --table differences --out differences.csv
      tstmeta evaluate --data lai --metric lexical --dimension content --combine hybrid-learned
    """
    from ..analysis import choice, render
    from ..analysis import evaluate as evaluated
    from ..combine import CombineError
    from ..extras import needs
    from ..schema import together
    from ..secrecy import conceal
    from ..storage import write

    kind = render.format_of(out, format)
    if plot is not None:
        if plot.suffix.lower() not in (".pdf", ".svg", ".png"):
            raise mistake(f"{plot} cannot be drawn: end its name in .pdf, .svg or .png")
        needs("matplotlib", "seaborn", "IPython", extra="book")
    if report is not None:
        needs("matplotlib", "seaborn", "IPython", "jinja2", extra="book")
    names = known_combinations(combine)
    hybrids = [name for name in names if name.startswith("hybrid-")]
    lower = [conceal(name) for name in lower or []]  # as tables call them
    wanted = metric or ([] if scores else None)
    evaluations, plain = [], []
    chosen = list(selections(data, scores, ratings, where, limit, seed))
    if report is not None:
        refuse_unrated([dataset for dataset, _ in chosen])
    for dataset, given in chosen:
        dimensions = [str(name) for name in dimension or dataset.judged]
        known = dimensions or ["content"]
        with waiting(f"{dataset.name}: scoring", bar=True):
            there = set(given["metric"])
            table = choice.score(dataset, known, wanted, basis, there, store=store)
        table = together(table, given)
        own = [name for name in names if name not in hybrids or not dimensions]
        table = with_combined(dataset, table, own, seed=seed, lower=lower, store=store)
        if not dimensions:
            tell_failures(table)
            plain.append((dataset, table, kind))
            if len(data) > 1:
                note(f"{dataset.name}: no ratings, nothing to compare with")
        refusals = []
        for name in dimensions:
            listed = choice.listed(table, name, wanted)
            try:  # a hybrid is of the metrics for one dimension
                listed = with_combined(dataset, listed, hybrids, name, seed, lower)
            except CombineError as refusal:
                refusals.append(refusal)
                if dimension or len(refusals) == len(dimensions):
                    raise refusals[0] from None
                note(f"a dimension goes without a hybrid: {refusal}")
            for own_statistic, own_level in itertools.product(
                dict.fromkeys(statistic or [Statistic("pearson")]),
                dict.fromkeys(level or [Level("pooled")]),
            ):
                how = str(own_statistic), str(own_level)
                with waiting(f"{dataset.name}, {name}, {', '.join(how)}: {draws:,} draws"):
                    result = evaluated(
                        dataset,
                        None,
                        name,
                        *how,
                        unit=resample.removesuffix("s"),
                        draws=draws,
                        seed=seed,
                        clusters=tests,
                        scores=listed,
                        lower=lower,
                        remarks=choice.left_out(name) if wanted is None else (),
                    )
                    rows = result.frame.assign(dataset=dataset.name)
                    rows = choice.seeded(rows, [dataset], name, *how, store)
                evaluations.append(replace(result, frame=rows[result.frame.columns]))
    figure = render.draw(evaluations) if plot else None  # what cannot be drawn is said first
    if evaluations:
        text = render.rendered(evaluations, kind, show == "differences")
    else:
        text = "\n".join(render.described(*each) for each in plain)
    if kind is not TableFormat.table:  # there they stand above the table
        words = list(dict.fromkeys(remark for each in evaluations for remark in each.remarks))
        for each in evaluations:
            words += [render.title(each)] * (len(evaluations) > 1) + each.summary
        for line in words:
            note(line)
    if out is None:
        sys.stdout.write(text)
    else:
        write(out, text)
        note(f"wrote {out}")
    if figure and plot:
        [image] = render.images(figure, plot.suffix.lower().removeprefix("."))
        write(plot, image)
        note(f"wrote {plot}")
    if report is not None:
        from ..analysis.report import report as reported

        with waiting("writing the report"):
            files = reported(evaluations, [dataset for dataset, _ in chosen], report)
        note(f"wrote {files[-1]}")


def refuse_unrated(sets: "list[Dataset]") -> None:
    """A report is about people's judgement: without any there is nothing to say which metric."""
    if bare := ", ".join(data.name for data in sets if not data.judged):
        raise mistake(
            f"{bare}: a report needs ratings. Remedy: columns such as content.r1 in the file, or"
            " --ratings FILE (tstmeta data form makes a form for raters); --out describes the"
            " scores without"
        )
