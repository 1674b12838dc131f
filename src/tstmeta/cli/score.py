"""``tstmeta metrics`` and ``tstmeta score``; and what other commands need of scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import Format, mistake, note, show_table, waiting, write_table
from . import options

if TYPE_CHECKING:
    import pandas as pd

    from ..bulk import FileScores
    from ..data import Dataset


def metrics(format: options.FormatOption = Format.table) -> None:
    """List the metrics: what they measure, on what, and whether they run here."""
    from ..metrics.catalogue import overview, summary

    rows = overview()
    show_table(rows, format)
    note(f"{summary(rows)}: see their remedy")


def score(
    data: options.DataSets,
    metric: options.Metrics = None,
    basis: options.Bases = None,
    combine: options.Combine = None,
    scores: options.ScoreFile = None,
    ratings: options.RatingFile = None,
    where: options.Where = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    out: options.OutFile = None,
    format: options.OutFormat = None,
    store: options.Store = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Processes, each with its own models [default: one a core]."),
    ] = None,
    cluster: Annotated[
        str, typer.Option(help="Address of a Dask scheduler, or local, in place of processes.")
    ] = "",
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Rows of a part [default: 5000].")
    ] = None,
) -> None:
    """Score a data set.  What was scored before is taken from the store, never computed again.

    Interrupt it or kill it whenever you like: the same command goes on where it stopped.  Exit code
    1 when some scores could not be computed.

    A file of yours, a folder of such files or an address (hf://, s3://) is scored in chunks when
    --out ends in .parquet or names a folder: memory stays flat, all cores work, and the scores are
    the same bytes for any --jobs, --chunk or --cluster.

    \b
    Examples:
      tstmeta score --data millions.parquet --metric bleu --metric chrf --out scores.parquet
      tstmeta score --data pauli --metric bleu --metric meteor --out scores.parquet
      tstmeta score --data mine.csv --metric ./my_file.py:my_function
      tstmeta score --data mine.csv --metric style-accuracy --combine gm
    """
    from ..schema import together
    from ..scoring import HUMAN_STYLE, score

    names = known_combinations(combine)
    if in_chunks(data, out, format, whole=bool(names or scores or ratings or where or limit)):
        from .. import bulk

        try:
            with waiting(f"{data[0]}: scoring", bar=True):
                done = bulk.score_file(
                    data[0],
                    metric or bulk.DEFAULT,
                    address_of(out),
                    bases=basis,
                    jobs=jobs,
                    cluster=cluster,
                    chunk=chunk or bulk.CHUNK,
                )
        except KeyboardInterrupt:
            note("stopped: chunks that were scored are kept, and the same command goes on")
            raise
        tell_chunks(done)
        return
    if jobs or cluster or chunk:
        raise mistake(
            "--jobs, --cluster and --chunk are for a file, folder or address of yours scored into "
            "--out x.parquet or a folder, without --combine, --scores, --ratings, --where, --limit"
        )
    wanted = metric or ([] if scores else ["lexical", "sentinel", HUMAN_STYLE])
    tables = []
    for dataset, given in selections(data, scores, ratings, where, limit, seed):
        with waiting(f"{dataset.name}: scoring", bar=True):
            table = together(score(dataset, wanted, bases=basis, store=store), given)
        tables.append(with_combined(dataset, table, names, seed=seed, store=store))
    table = together(*tables)
    write_table(table, out, format)
    failed = tell_failures(table)
    note(f"{len(table)} scores, {failed} failed" + (f", in {out}" if out else ""))
    if failed:
        raise typer.Exit(1)


def in_chunks(data: list[str], out: Path | None, format: str | None, whole: bool) -> bool:
    """Whether a data set can be scored in chunks: nothing asks for all of it at once."""
    from ..data.files import is_location

    if whole or len(data) > 1 or out is None or format not in (None, "parquet"):
        return False
    return is_location(data[0]) and (out.suffix.lower() == ".parquet" or not out.suffix)


def address_of(out: Path | None) -> str:
    """A path as it was written: of ``s3://bucket`` it has kept one slash."""
    return re.sub(r"^([a-z][a-z0-9+.-]+):/(?!/)", r"\1://", str(out))


def tell_chunks(done: FileScores) -> None:
    """Say what came of scoring in chunks."""
    for words in done.failures:
        note(words)
    for row in done.corpus.itertuples():
        note(f"{row.system or 'all'}: {row.metric} ({row.basis}, n {row.n:,}) {row.value:.4f}")
    note(f"{done.scores} scores, {done.failed} failed, in {done.out}")
    if done.failed:
        raise typer.Exit(1)


def tell_failures(table: pd.DataFrame) -> int:
    """Name the metrics that have rows without a value on stderr, and the reason of the first."""
    from ..schema import USABLE, failures

    for words in failures(table):
        note(words)
    return int((~table["status"].isin(USABLE)).sum())


def known_combinations(names: list[str] | None) -> list[str]:
    """Each once; an unknown one is refused before anything is scored."""
    for name in names or []:
        from ..combine import known

        known(name)
    return list(dict.fromkeys(names or []))


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
    from ..combine import combined
    from ..schema import together

    tables = [
        combined(dataset, table, name, dimension, seed=seed, lower=lower or (), store=store)
        for name in names
    ]
    return together(table, *tables)


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
    from ..data.own import rated, read_scores

    if len(names) > 1 and (scores or ratings):
        raise mistake("--scores and --ratings are of one data set: give a single --data")
    sets = [load(name) for name in dict.fromkeys(names)]
    if twice := {own.name for own in sets if [other.name for other in sets].count(own.name) > 1}:
        raise mistake(f"two data sets are called {', '.join(twice)}: rename a file")
    for whole in sets:
        whole = whole if ratings is None else rated(whole, ratings)
        given = schema.empty("scores") if scores is None else read_scores(scores, whole)
        own = sample(chosen(whole, where or []), limit, seed)
        if own is not whole:
            note(f"{own.name}: {len(own.items):,} of {len(whole.items):,} rewrites")
        yield own, given[given["item_id"].isin(own.items["item_id"])]


def chosen(data: Dataset, where: list[str]) -> Dataset:
    """The rewrites with such values: any of those given for a column, in all columns."""
    from ..schema import shown

    names = ["item_id", "source_id", "system", "style", "direction", "language", "is_reference"]
    table = data.items[names].astype(str).set_index("item_id", drop=False)
    table = table.join(data.labels.pivot_table("value", "item_id", "name", aggfunc="first"))
    keep, wanted = table["item_id"].notna(), [words.partition("=")[::2] for words in where]
    for name in dict(wanted):
        values = {value for other, value in wanted if other == name}
        if name not in table:
            raise mistake(f"--where: {data.name} has no column {name!r}, but {', '.join(table)}")
        there = table[name].dropna().unique()
        if unknown := sorted(values.difference(there)):
            some = [*map(shown, there[:10]), *["..."] * (len(there) > 10)]
            raise mistake(f"--where: no {name} is {unknown[0]!r}; there is {', '.join(some)}")
        keep &= table[name].isin(values)
    return data.where(keep, f"{data.name}@{','.join(where)}") if where else data


def sample(data: Dataset, limit: int | None, seed: int) -> Dataset:
    """Sources drawn at random, each with all its rewrites, up to the first that is too many."""
    if limit is None or limit >= (size := len(data.items)):
        return data
    import numpy as np

    sources = data.items["source_id"].value_counts(sort=False)
    drawn = sources.iloc[np.random.default_rng(seed).permutation(len(sources))].cumsum()
    keep = data.items["source_id"].isin(drawn.index[: max(1, (drawn <= limit).sum())])
    words = f"a random sample of {keep.sum():,} of {size:,} rewrites, seed {seed}"
    return data.where(keep, f"{data.name}@{words}")
