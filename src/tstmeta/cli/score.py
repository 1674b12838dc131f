"""``tstmeta metrics`` and ``tstmeta score``; and what other commands need of scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..console import Format, note, show_table, write_table
from . import options

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Dataset


def metrics(format: options.FormatOption = Format.table) -> None:
    """List the metrics: what they measure, on what, and whether they run here."""
    from ..metrics.catalogue import overview, summary

    rows = overview()
    show_table(rows, format)
    note(f"{summary(rows)}: see their remedy")


def score(
    data: options.Data,
    metric: options.Metrics = None,
    basis: options.Bases = None,
    combine: options.Combine = None,
    scores: options.ScoreFile = None,
    ratings: options.RatingFile = None,
    out: options.OutFile = None,
    format: options.OutFormat = None,
    store: options.Store = None,
) -> None:
    """Score a data set.  What was scored before is taken from the store, never computed again.

    Interrupt it or kill it whenever you like: the same command goes on where it stopped.  Exit code
    1 when some scores could not be computed.

    \b
    Examples:
      tstmeta score --data pauli --metric bleu --metric meteor --out scores.parquet
      tstmeta score --data mine.csv --metric my_package.my_module:my_function
      tstmeta score --data mine.csv --metric style-accuracy --combine gm
    """
    from ..scoring import HUMAN_STYLE

    names = known_combinations(combine)
    wanted = metric or ([] if scores else ["lexical", "sentinel", HUMAN_STYLE])
    dataset, table = scored(data, wanted, basis, scores, ratings, store)
    table = with_combined(dataset, table, names, store=store)
    write_table(table, out, format)
    failed = tell_failures(table)
    note(f"{len(table)} scores, {failed} failed" + (f", in {out}" if out else ""))
    if failed:
        raise typer.Exit(1)


def tell_failures(table: pd.DataFrame) -> int:
    """Name the metrics that have rows without a value on stderr, and the reason of the first."""
    failed = table[~table["status"].isin(["ok", "empty", "truncated"])]
    for name, rows in failed.groupby("metric", sort=False):
        total = int((table["metric"] == name).sum())
        note(f"{name}: {len(rows)} of {total} scores failed: {rows['detail'].iloc[0]}")
    return len(failed)


def known_combinations(names: list[str] | None) -> list[str]:
    """Each once; an unknown one is refused before anything is scored."""
    for name in names or []:
        from ..combine.by_name import known

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
    import pandas as pd

    from ..combine import combined

    tables = [
        combined(dataset, table, name, dimension, seed=seed, lower=lower or (), store=store)
        for name in names
    ]
    return pd.concat([table, *tables], ignore_index=True)


def scored(
    data: str,
    wanted: list[str],
    basis: Sequence[str] | None,
    scores: Path | None,
    ratings: Path | None,
    store: Path | None,
):
    """The data set and its scores: computed ones, and those of a file where one is given."""
    import pandas as pd

    from .. import scoring
    from ..data import load
    from ..data.own import rated

    dataset = load(data)
    if ratings is not None:
        dataset = rated(dataset, ratings)
    tables = [scoring.score(dataset, wanted, bases=basis, store=store)] if wanted else []
    if scores is not None:
        tables.append(scoring.read_scores(scores, dataset))
    return dataset, pd.concat(tables, ignore_index=True)
