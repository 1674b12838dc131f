"""``tstmeta evaluate``: which metrics agree with people, on anybody's data; ``tstmeta advise``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..console import Format, TableFormat, mistake, note, put, show_table, waiting
from . import options
from .score import chosen, sample, tell_failures

if TYPE_CHECKING:
    import pandas as pd

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
About = StrEnum("About", ["content", "style", "fluency"])


def evaluate(
    data: options.DataSets,
    metric: options.Metrics = None,
    basis: options.Bases = None,
    combine: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric made of scores: gm, gm:learned, j:FL, hybrid-simulation, "
            "hybrid-learned, hybrid-equal, overall-existing, overall-ours1, overall-ours2."
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores computed elsewhere: item_id, metric, value.")
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="A long file of ratings: item_id, dimension, rater, value.")
    ] = None,
    where: options.Where = None,
    limit: options.Limit = None,
    dimension: Annotated[
        list[Dimension] | None, typer.Option(help="Repeat for more [default: all judged].")
    ] = None,
    statistic: Annotated[
        list[Statistic] | None,
        typer.Option("--statistic", "-s", help="How agreement is measured [pearson]."),
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
        typer.Option("--format", "-f", help="Default: as --out is named, else table."),
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
      tstmeta evaluate --data lai@pauli2025 --scores comet.csv --level system --statistic kendall \\
        --resample systems
      tstmeta evaluate --data mine.csv --ratings ratings.csv --where direction=I2F --level pooled \\
        --level system --table differences --out differences.csv
      tstmeta evaluate --data lai --metric lexical --dimension content --combine hybrid-learned
    """
    from ..analysis import choice, render
    from ..analysis import evaluate as evaluated
    from ..combine import combined, known
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
    names = list(dict.fromkeys(combine or []))
    for name in names:
        known(name)
    hybrids = [name for name in names if name.startswith("hybrid-")]
    lower = [conceal(name) for name in lower or []]  # as tables call them
    wanted = metric or ([] if scores else None)
    evaluations, plain = [], []
    sets = list(selections(data, scores, ratings, where, limit, seed))
    if bare := ", ".join(own.name for own, _ in sets if not own.judged) if report else "":
        raise mistake(
            f"{bare}: a report needs ratings. Remedy: columns such as content.r1 in the file, or"
            " --ratings FILE (tstmeta data form makes a form for raters); --out describes the"
            " scores without"
        )
    for own, given in sets:
        dimensions = [str(name) for name in dimension or own.judged]
        how: dict[str, Any] = {"seed": seed, "lower": lower, "store": store}
        with waiting(f"{own.name}: scoring", bar=True):
            there = set(given["metric"])
            choice.check_new(own, wanted or (), basis, given)
            table = choice.score(own, dimensions or ["content"], wanted, basis, there, store=store)
        table = together(table, given)
        whole = [name for name in names if name not in hybrids or not dimensions]
        table = together(table, *(combined(own, table, name, **how) for name in whole))
        if not dimensions:
            tell_failures(table)
            plain.append((own, table, kind))
        for name in dimensions:
            listed = choice.listed(table, name, wanted)
            # a hybrid is of the metrics for one dimension
            listed = together(
                listed, *(combined(own, listed, each, name, **how) for each in hybrids)
            )
            for setting in itertools.product(
                dict.fromkeys(map(str, statistic or [Statistic("pearson")])),
                dict.fromkeys(map(str, level or [Level("pooled")])),
            ):
                with waiting(f"{own.name}, {name}, {', '.join(setting)}: {draws:,} draws"):
                    result = evaluated(
                        own,
                        None,
                        name,
                        *setting,
                        unit=resample.removesuffix("s"),
                        draws=draws,
                        seed=seed,
                        clusters=tests,
                        scores=listed,
                        lower=lower,
                        remarks=choice.left_out(name) if wanted is None else (),
                    )
                    rows = result.frame.assign(dataset=own.name)
                    rows = choice.seeded(rows, [own], name, *setting, store)
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
        put(text, drawn=kind is TableFormat.table)
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
            files = reported(evaluations, [own for own, _ in sets], report)
        note(f"wrote {files[-1]}")


def selections(
    names: list[str],
    scores: Path | None,
    ratings: Path | None,
    where: list[str] | None,
    limit: int | None,
    seed: int,
) -> Iterator[tuple[Dataset, pd.DataFrame]]:
    """Data sets, or the part of each that is asked for, with their scores from a file."""
    from .. import schema
    from ..data import load
    from ..data.table_files import rated, read_scores

    if len(names) > 1 and (scores or ratings):
        raise mistake("--scores and --ratings are of one data set: give a single --data")
    sets = [load(name) for name in dict.fromkeys(names)]
    if len({own.name for own in sets}) < len(sets):
        raise mistake("two data sets have the same name: rename a file")
    for whole in sets:
        whole = whole if ratings is None else rated(whole, ratings)
        given = schema.empty("scores") if scores is None else read_scores(scores, whole)
        own = sample(chosen(whole, where or []), limit, seed)
        yield own, given[given["item_id"].isin(own.items["item_id"])]


def advise(
    data: options.Data = "",
    task: Annotated[str, typer.Option(help="What is transferred, such as formality.")] = "",
    language: Annotated[str, typer.Option(help="A code such as en [default: of the data].")] = "",
    dimension: Annotated[
        list[About] | None, typer.Option(help="Repeat for more [default: all].")
    ] = None,
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

    with waiting("advising"):
        advice = advised(data or None, task, language, [*map(str, dimension or About)])
    if format is Format.table:
        print(advice, end="")
        return
    show_table(advice.frame, format)
    for line in advice.notes:
        note(line)
