"""``tstmeta evaluate``: which metrics agree with people, on anybody's data; ``tstmeta advise``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..console import Format, TableFormat, note, put, show_table, waiting
from ..schema import TstmetaError, empty
from . import options
from .score import chosen, sample

if TYPE_CHECKING:
    import pandas as pd

    from ..analysis.findings import Evaluation
    from ..data import Dataset

# As in tstmeta.stats, which takes long to import: a test holds them against it.
Statistic = StrEnum("Statistic", "pearson spearman kendall pairwise-accuracy accuracy")
Level = StrEnum("Level", "pooled source same-source within-system system within-task")
Units = Literal["sources", "systems", "both"]
Table = Literal["values", "differences"]
Dimension = StrEnum("Dimension", "content style fluency overall structure overcorrection")


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of ``tstmeta evaluate``, which :func:`options.command_of` hands to Typer."""

    data: options.DataSets
    metric: options.Metrics = None
    basis: options.Bases = None
    combine: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric made of scores: gm, gm:learned, j:FL, hybrid-simulation, "
            "hybrid-learned, hybrid-equal, overall-existing, overall-ours1, overall-ours2."
        ),
    ] = None
    scores: Annotated[
        Path | None, typer.Option(help="Scores computed elsewhere: item_id, metric, value.")
    ] = None
    ratings: Annotated[
        Path | None, typer.Option(help="A long file of ratings: item_id, dimension, rater, value.")
    ] = None
    where: options.Where = None
    limit: options.Limit = None
    dimension: Annotated[
        list[Dimension] | None, typer.Option(help="Repeat for more [default: all judged].")
    ] = None
    statistic: Annotated[
        list[Statistic] | None,
        typer.Option(
            "--statistic", "-s", help="How agreement is measured [see above, or pearson]."
        ),
    ] = None
    level: Annotated[
        list[Level] | None,
        typer.Option(
            "--level",
            "-l",
            help="All rewrites [with --statistic]; those of a source or system, then averaged; "
            "pairs of a source; means of systems; all, standardised within tasks; repeat for more.",
        ),
    ] = None
    resample: Annotated[
        Units, typer.Option(help="What is resampled: what intervals and tests generalise over.")
    ] = "sources"
    draws: Annotated[int, typer.Option(help="Number of bootstrap resamples.")] = 1000
    seed: options.Seed = 0
    tests: Annotated[
        bool, typer.Option(help="Part metrics that differ into clusters, all pairs tested at once.")
    ] = True
    show: Annotated[
        Table, typer.Option("--table", help="A row a metric, or a row a pair of metrics.")
    ] = "values"
    plot: Annotated[
        Path | None,
        typer.Option(help="File for a figure (.pdf .svg .png): values, intervals, ranks."),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder for a page to read and print, with table, figure, values and methods.",
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write [default: stdout].")
    ] = None
    format: Annotated[
        TableFormat | None,
        typer.Option("--format", "-f", help="Default: as --out is named, else table."),
    ] = None
    store: options.Store = None

    @property
    def metrics(self) -> list[str] | None:
        """The metrics to score; None for those that are scored by default."""
        return self.metric or ([] if self.scores else None)


def evaluate(settings: EvaluateOptions) -> None:
    """Hold metrics against human ratings: values with intervals, ranks, tests, people beside.

    Sentinels, which know nothing of quality, stand below a line in every table, and with them the
    human style rating offered as if it were a metric.  Ranks count them.  A metric of which lower
    is better is flipped.  What --combine fits on ratings is fitted on other sources than it scores.
    By default a dozen metrics are scored, one an idea, and tst-content where its models were
    fetched (seconds a rewrite), and measured by their accuracy on pairs of rewrites of a source
    (accuracy, same-source), or Pearson's r where there are none.  Sentences
    below the title (with --out and as CSV on stderr) say which leads and which beat the sentinels.

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
    from ..analysis import render

    kind = render.format_of(settings.out, settings.format)
    check_options(settings)
    selected = list(select(settings))
    if unrated := ", ".join(data.name for data, _ in selected if not data.judged):
        raise TstmetaError(
            f"{unrated}: nobody rated these rewrites. Remedy: columns such as content.r1 in the"
            " file, or --ratings FILE (tstmeta data form makes a form for raters); tstmeta score"
            " gives scores without ratings"
        )
    evaluations = list["Evaluation"]()
    for data, known in selected:
        dimensions = [str(name) for name in settings.dimension or data.judged]
        scores = score_data(settings, data, known, dimensions)
        for name in dimensions:
            evaluations += evaluate_dimension(settings, data, scores, name)
    write_results(settings, kind, evaluations)
    if settings.report is not None:
        from ..analysis.report import report

        with waiting("writing the report"):
            files = report(evaluations, [data for data, _ in selected], settings.report)
        note(f"wrote {files[-1]}")


def check_options(settings: EvaluateOptions) -> None:
    """Refuse what cannot be written or combined before anything is scored."""
    from ..combine import known
    from ..extras import needs

    if settings.plot and settings.plot.suffix.lower() not in (".pdf", ".svg", ".png"):
        raise TstmetaError(f"{settings.plot} cannot be drawn: end its name in .pdf, .svg or .png")
    if settings.plot or settings.report:
        needs("matplotlib", "seaborn", "IPython", "jinja2", extra="book")
    for name in settings.combine or []:
        known(name)


def select(settings: EvaluateOptions) -> Iterator[tuple["Dataset", "pd.DataFrame"]]:
    """Data sets, or the rewrites of them that are evaluated, with their scores from a file."""
    from ..data import load
    from ..data.table_files import rated, read_scores

    if len(settings.data) > 1 and (settings.scores or settings.ratings):
        raise TstmetaError("--scores and --ratings are of one data set: give a single --data")
    sets = [load(name) for name in dict.fromkeys(settings.data)]
    if len({data.name for data in sets}) < len(sets):
        raise TstmetaError("two data sets have the same name: rename a file")
    for data in sets:
        data = rated(data, settings.ratings) if settings.ratings else data
        scores = read_scores(settings.scores, data) if settings.scores else empty("scores")
        data = sample(chosen(data, settings.where or []), settings.limit, settings.seed)
        yield data, scores[scores["item_id"].isin(data.items["item_id"])]


def score_data(
    settings: EvaluateOptions, data: "Dataset", known: "pd.DataFrame", dimensions: Sequence[str]
) -> "pd.DataFrame":
    """The scores of all metrics, those that are known from a file among them."""
    from ..analysis import choice
    from ..scoring import together

    choice.check_new(data, settings.metrics or (), settings.basis, known)
    wanted = dimensions, settings.metrics, settings.basis, set(known["metric"])
    scores = choice.score(data, *wanted, store=settings.store)
    return combine(settings, data, together(scores, known))


def combine(
    settings: EvaluateOptions, data: "Dataset", scores: "pd.DataFrame", dimension: str = ""
) -> "pd.DataFrame":
    """Scores, and what is made of them: hybrids, fitted to ratings of a dimension, or all else."""
    from ..combine import combined
    from ..scoring import together

    tables = (
        combined(data, scores, name, dimension, seed=settings.seed, store=settings.store)
        for name in dict.fromkeys(settings.combine or [])
        if name.startswith("hybrid-") == bool(dimension)
    )
    return together(scores, *tables)


def evaluate_dimension(
    settings: EvaluateOptions, data: "Dataset", scores: "pd.DataFrame", dimension: str
) -> Iterator["Evaluation"]:
    """An evaluation for each statistic and level."""
    from ..analysis import choice
    from ..analysis import evaluate as evaluate_scores

    scores = choice.listed(scores, dimension, settings.metrics)
    scores = combine(settings, data, scores, dimension)
    statistics: list[str | None] = [*dict.fromkeys(map(str, settings.statistic or []))] or [None]
    levels: list[str | None] = [*dict.fromkeys(map(str, settings.level or []))] or [None]
    for statistic, level in product(statistics, levels):
        with waiting(f"{data.name}, {dimension}: {settings.draws:,} draws"):
            result = evaluate_scores(
                data,
                None,
                dimension,
                statistic,
                level,
                unit=settings.resample.removesuffix("s"),
                draws=settings.draws,
                seed=settings.seed,
                clusters=settings.tests,
                scores=scores,
            )
            key = result.key["statistic"], result.key["level"]
            rows = choice.seeded(result.frame, [data], dimension, *key, settings.store)
        remarks = choice.left_out(dimension) if settings.metrics is None else []
        yield replace(result, frame=rows, remarks=(*remarks, *result.remarks))


def write_results(
    settings: EvaluateOptions, kind: TableFormat, evaluations: Sequence["Evaluation"]
) -> None:
    """The table to stdout or a file, the figure to a file, remarks and sentences to stderr."""
    from ..analysis import render
    from ..storage import write

    text = render.rendered(evaluations, kind, settings.show == "differences")
    files: dict[Path, str | bytes] = {settings.out: text} if settings.out else {}
    if settings.plot:  # its errors come before any output
        figure = render.draw(evaluations)
        [files[settings.plot]] = render.images(figure, settings.plot.suffix.lower().strip("."))
    if kind is not TableFormat.table:  # there they stand above the table
        lines = list(dict.fromkeys(remark for result in evaluations for remark in result.remarks))
        for result in evaluations:
            lines += [render.title(result)] * (len(evaluations) > 1) + result.summary
        note(*lines)
    if settings.out is None:
        put(text, drawn=kind is TableFormat.table)
    for path, content in files.items():
        write(path, content)
        note(f"wrote {path}")


def advise(
    data: options.Data = "",
    task: Annotated[str, typer.Option(help="What is transferred, such as formality.")] = "",
    language: Annotated[str, typer.Option(help="A code such as en [default: of the data].")] = "",
    dimension: Annotated[
        list[Dimension] | None,
        typer.Option(help="Repeat for more [default: content, style, fluency]."),
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
    from ..analysis import advice as advices

    dimensions = [str(name) for name in dimension or advices.DIMENSIONS]
    with waiting("advising"):
        advice = advices.advise(data or None, task, language, dimensions)
    if format is Format.table:
        print(advice, end="")
        return
    show_table(advice.frame, format)
    note(*advice.notes)
