"""``tstmeta evaluate``: which metrics agree with people, on anybody's data; and shared options."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import TableFormat, note

if TYPE_CHECKING:
    import pandas as pd

    from .data import Dataset


class Statistic(StrEnum):
    """How agreement is measured."""

    pearson = "pearson"
    spearman = "spearman"
    kendall = "kendall"
    tau_c = "tau-c"
    pairwise_accuracy = "pairwise-accuracy"
    acc_eq = "acc_eq"
    preference = "preference"
    difference_pearson = "difference-pearson"
    soft_pairwise_accuracy = "soft-pairwise-accuracy"


class Level(StrEnum):
    """Where agreement is looked for."""

    pooled = "pooled"
    source = "source"
    within_system = "within-system"
    system = "system"
    task = "task"
    within_task = "within-task"


class Units(StrEnum):
    """What is resampled."""

    sources = "sources"
    systems = "systems"
    both = "both"


Data = Annotated[
    str,
    typer.Option("--data", "-d", help="A data set, a subset such as lai@pauli2025, or your file."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="A metric, a family or module:function; repeat for more."),
]
Bases = Annotated[
    list[str] | None, typer.Option("--basis", help="source, reference or none; repeat for more.")
]
ScoreFile = Annotated[
    Path | None,
    typer.Option("--scores", help="A file of scores computed elsewhere: item_id, metric, value."),
]
RatingFile = Annotated[
    Path | None,
    typer.Option("--ratings", help="A long file of ratings: item_id, dimension, rater, value."),
]
Combine = Annotated[
    list[str] | None,
    typer.Option(
        "--combine",
        help="A metric made of scores: gm, gm:learned, j:FL, hybrid-simulation, hybrid-learned, "
        "hybrid-equal, overall-existing, overall-ours1, overall-ours2; repeat for more.",
    ),
]
Store = Annotated[
    Path | None, typer.Option("--store", help="Folder of the score store [default: data/scores].")
]


def evaluate(
    data: Data,
    metric: Metrics = None,
    basis: Bases = None,
    combine: Combine = None,
    scores: ScoreFile = None,
    ratings: RatingFile = None,
    dimension: Annotated[
        list[str] | None,
        typer.Option(
            "--dimension", help="content, style, fluency; repeat for more [default: all judged]."
        ),
    ] = None,
    statistic: Annotated[
        Statistic, typer.Option("--statistic", "-s", help="How agreement is measured.")
    ] = Statistic.pearson,
    level: Annotated[
        Level,
        typer.Option(
            "--level",
            "-l",
            help="All rewrites; those of a source, system or task, then averaged; means of "
            "systems; all, standardised within tasks.",
        ),
    ] = Level.pooled,
    micro: Annotated[
        bool, typer.Option("--micro", help="Add groups up instead of averaging their values.")
    ] = False,
    undefined: Annotated[
        float | None,
        typer.Option(
            help="What a group without a value counts, such as a source whose ratings are all "
            "equal [default: it is left out]."
        ),
    ] = None,
    resample: Annotated[
        Units,
        typer.Option(help="What is resampled: what intervals and tests generalise over."),
    ] = Units.sources,
    clustered: Annotated[
        bool,
        typer.Option(
            "--clustered", help="Resample sources in the groups that shared their raters."
        ),
    ] = False,
    draws: Annotated[int, typer.Option(help="Number of bootstrap resamples.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals and sets of ranks.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    tests: Annotated[
        bool | None,
        typer.Option(
            "--tests/--no-tests",
            help="Test every pair of metrics [default: where it takes no more than a minute].",
            show_default=False,
        ),
    ] = None,
    lower: Annotated[
        list[str] | None,
        typer.Option(
            "--lower", help="A metric of your score file for which less is better; repeat for more."
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
            help="Default: as --out is named (.csv .json .tex .md), else table; on stdout csv and "
            "json print nothing else.",
        ),
    ] = None,
    save_draws: Annotated[
        Path | None,
        typer.Option(
            "--save-draws", help="File (.npz) for the value of every metric in each draw."
        ),
    ] = None,
    store: Store = None,
) -> None:
    """Hold metrics against human ratings: values with intervals, ranks, tests, people beside.

    Sentinels, which know nothing of quality, stand below a line in every table, and with them the
    human style rating offered as if it were a metric.  Ranks count them.  A metric of which lower
    is better is flipped.  Without ratings the table describes the scores.  What --combine
    fits on ratings is fitted on other sources than it scores, and a hybrid is of the metrics for
    the dimension at hand.

    \b
    Examples:
      tstmeta evaluate --data mine.csv
      tstmeta evaluate --data pauli --metric lexical --dimension content --level within-task
      tstmeta evaluate --data lai@pauli2025 --scores comet.csv --level system --statistic kendall \\
        --resample systems
      tstmeta evaluate --data mine.csv --ratings ratings.csv --seed 7 --out table.tex
      tstmeta evaluate --data mir --metric bleu --metric chrf --format json > table.json
      tstmeta evaluate --data lai --metric lexical --dimension content --combine hybrid-learned
    """
    from .analysis.evaluation import evaluate as evaluated
    from .analysis.frame import SENTINELS
    from .analysis.render import described, format_of, rendered
    from .analysis.stored import save_draws as write_draws
    from .console import save
    from .schema import DIMENSIONS, TstmetaError
    from .secrecy import conceal

    kind = format_of(out, format)
    names = known_combinations(combine)
    if unknown := [name for name in dimension or [] if name not in DIMENSIONS]:
        known = ", ".join(DIMENSIONS)
        raise TstmetaError(f"unknown dimension {', '.join(unknown)}; known: {known}")
    wanted = [*(metric or ([] if scores else ["lexical"])), *SENTINELS]
    dataset, table = scored(data, wanted, basis, scores, ratings, store)
    dimensions = dimension or dataset.judged
    if save_draws and len(dimensions) != 1:
        raise TstmetaError("draws are saved of one dimension: add --dimension content, or another")
    lower = [conceal(name) for name in lower or []]  # as tables call them
    hybrids = [name for name in names if name.startswith("hybrid-")] if dimensions else []
    whole = [name for name in names if name not in hybrids]
    table = with_combined(dataset, table, whole, seed=seed, lower=lower, store=store)
    tell_failures(table)
    tables = _with_hybrids(dataset, table, hybrids, dimensions, seed, lower, not dimension)
    evaluations = [
        evaluated(
            dataset,
            dimension=one,
            statistic=str(statistic),
            level=level.value,
            unit=resample.value.removesuffix("s"),
            draws=draws,
            seed=seed,
            confidence=confidence,
            clustered=clustered,
            micro=micro,
            undefined=math.nan if undefined is None else undefined,
            tests=tests,
            scores=tables[one],
            lower=lower,
            progress=True,
        )
        for one in dimensions
    ]
    text = rendered(evaluations, kind) if evaluations else described(dataset, table, kind)
    if save_draws:
        write_draws(evaluations[0], save_draws)
        note(f"wrote {draws} draws to {save_draws}")
    if out is None:
        sys.stdout.write(text)
    else:
        save(text, out)
        note(f"wrote {out}")


def tell_scored(table: pd.DataFrame, out: Path | None) -> int:
    """Say on stderr how many scores there are, by status where some have no value, and the first
    such of each metric and status; returns how many those are."""
    failed = table[~table["status"].isin(["ok", "empty", "truncated"])]
    counts = failed["status"].astype(str).value_counts()
    apart = ", ".join(f"{status} {n}" for status, n in sorted(counts.items()))
    note(
        f"{len(table)} scores, {len(failed)} failed"
        + (f" ({apart})" if apart else "")
        + (f", in {out}" if out else "")
    )
    for (name, status), rows in failed.groupby(["metric", "status"], sort=False):
        first = rows.iloc[0]
        about = f"{name}, item {first['item_id']}, basis {first['basis']}"
        note(f"first {status} of {len(rows)}: {about}: {first['detail'] or 'no reason is given'}")
    return len(failed)


def tell_failures(table: pd.DataFrame) -> None:
    """Say on stderr which metrics have rows without a value, and why the first has none."""
    failed = table[~table["status"].isin(["ok", "empty", "truncated"])]
    for name, rows in failed.groupby("metric", sort=False):
        total = int((table["metric"] == name).sum())
        note(f"{name}: {len(rows)} of {total} scores failed: {rows['detail'].iloc[0]}")


def known_combinations(names: list[str] | None) -> list[str]:
    """The combinations asked for, each once; an unknown one is told before anything is scored."""
    if not names:
        return []
    from .combine.by_name import known

    for name in names:
        known(name)
    return list(dict.fromkeys(names))


def _with_hybrids(
    dataset: Dataset,
    table: pd.DataFrame,
    names: list[str],
    dimensions: list[str],
    seed: int,
    lower: list[str],
    some: bool,
) -> dict[str, pd.DataFrame]:
    """The table of each dimension, with its own hybrids.

    With ``some``, a dimension of which no hybrid can be made goes without, and is told, as long as
    there is another.
    """
    if not names:
        return dict.fromkeys(dimensions, table)
    from .combine import CombineError

    found: dict[str, pd.DataFrame] = {}
    refused: list[CombineError] = []
    for name in dimensions:
        try:
            found[name] = with_combined(dataset, table, names, name, seed, lower)
            tell_failures(found[name].iloc[len(table) :])
        except CombineError as reason:
            found[name] = table
            refused.append(reason)
    if refused and not (some and len(refused) < len(dimensions)):
        raise refused[0]
    for one in refused:
        note(f"a dimension goes without a hybrid: {one}")
    return found


def with_combined(
    dataset: Dataset,
    table: pd.DataFrame,
    names: list[str],
    dimension: str | None = None,
    seed: int = 0,
    lower: list[str] | None = None,
    store: Path | None = None,
) -> pd.DataFrame:
    """Scores with those of combinations below them."""
    if not names:
        return table
    import pandas as pd

    from .combine import combined

    made = [
        combined(dataset, table, name, dimension, seed=seed, lower=lower or (), store=store)
        for name in names
    ]
    for name, one in zip(names, made, strict=True):
        if name == "gm" and (one["value"].dropna() == 0).all():
            note(
                "gm: 0 on every text. The printed thresholds belong to the paper's own models; with"
                " preferences, gm:learned finds others"
            )
    return pd.concat([table, *made], ignore_index=True)


def scored(
    data: str,
    wanted: list[str],
    basis: list[str] | None,
    scores: Path | None,
    ratings: Path | None,
    store: Path | None,
):
    """The data set and its scores: computed ones, and those of a file where one is given."""
    import pandas as pd

    from . import scoring
    from .data import load
    from .schema import BASES, TstmetaError

    if unknown := [one for one in basis or [] if one not in BASES]:
        raise TstmetaError(f"unknown basis {', '.join(unknown)}; known: {', '.join(BASES)}")
    dataset = load(data)
    if ratings is not None:
        from .data.own_ratings import rated

        dataset = rated(dataset, ratings)
    tables = [scoring.score(dataset, wanted, bases=basis, store=store)] if wanted else []
    if scores is not None:
        tables.append(scoring.read_scores(scores, dataset))
    return dataset, pd.concat(tables, ignore_index=True)
