"""``tstmeta metrics``, ``score`` and ``explain``; and the part of a data set that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import Format, escaped, note, show_table, write_table
from ..schema import USABLE, TstmetaError, shown
from . import options

if TYPE_CHECKING:
    from ..data import Dataset


def metrics(format: options.FormatOption = Format.table) -> None:
    """List the metrics: what they measure, on what, and whether they run here."""
    from ..metrics.catalogue import rows, summary

    listed = rows()
    show_table(listed, format)
    note(f"{summary(listed)}: see their remedy")


Out = Annotated[
    str | None, typer.Option("--out", "-o", help="File to write [default: stdout as CSV].")
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Processes, each with its own models [default: one a core]."),
]
Cluster = Annotated[
    str,
    typer.Option(help="Address of a Dask scheduler whose workers score [default: --jobs here]."),
]


def score(
    data: options.Data,
    metric: options.Metrics = None,
    basis: options.Bases = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    out: Out = None,
    store: options.Store = None,
    jobs: Jobs = None,
    cluster: Cluster = "",
) -> None:
    """Score a data set.  What was scored before is taken from the store, never computed again.

    Interrupt it or kill it whenever you like: the same command goes on where it stopped.  Exit code
    1 when some scores could not be computed.

    A file of yours, a folder of such files or an address (hf://, s3://) is scored in chunks when
    --out ends in .parquet or names a folder: memory stays flat, all cores work, and the scores are
    the same bytes for any --jobs or --cluster.

    \b
    Examples:
      tstmeta score --data pauli --metric bleu --metric meteor --out scores.csv
      tstmeta score --data mine.csv --metric ./my_file.py:my_function
      tstmeta score --data millions.parquet --metric bleu --metric chrf --out scores.parquet
    """
    from ..data import load
    from ..data.files import is_location

    to_parts = out and Path(out).suffix.lower() in ("", ".parquet")
    if out and to_parts and limit is None and is_location(data):
        from .. import bulk

        counts = bulk.score_file(
            data, metric or bulk.DEFAULT, out, bases=basis, jobs=jobs, cluster=cluster
        )
        scores, failed = int(counts["scores"].sum()), int(counts["failed"].sum())
        failures = [
            f"{row.metric}: {row.failed} of {row.scores} scores failed: {row.reason}"
            for row in counts[counts["failed"] > 0].itertuples()
        ]
    elif jobs or cluster:
        raise TstmetaError(
            "--jobs and --cluster are for a file, folder or address of yours scored into --out "
            "x.parquet or a folder, without --limit"
        )
    else:
        from .. import scoring

        wanted = metric or ["lexical", "sentinel", scoring.HUMAN_STYLE]
        table = scoring.score(sample(load(data), limit, seed), wanted, bases=basis, store=store)
        write_table(table, Path(out) if out else None)
        scores, failed = len(table), int((~table["status"].isin(USABLE)).sum())
        failures = scoring.failures(table)
    note(*failures, f"{scores} scores, {failed} failed" + (f", in {out}" if out else ""))
    if failed:
        raise typer.Exit(1)


def explain(
    source: Annotated[str, typer.Option(help="The text rewritten.")],
    output: Annotated[str, typer.Option(help="The rewrite.")],
    style: Annotated[str, typer.Option(help="The target style, e.g. formal.")],
    model: Annotated[
        str,
        typer.Option(
            help="As behind likelihood: - a model, a variant, instructions, joined by + "
            "[default: smollm2-135m].",
            show_default=False,
        ),
    ] = "",
    format: options.FormatOption = Format.table,
) -> None:
    """Show what each token of a rewrite adds to content (C) and style strength (S).

    C is the mean of log max(p_style, p_paraphrase, p_repeat), S that of p_style - max(p_paraphrase,
    p_repeat): Pauli et al. (2025), Eq. 1 and 2.  Of a whole data set tstmeta.explain gives the same
    in Python.  Exit code 1 when there is no value.

    \b
    Example: tstmeta explain --source "It was bad." --output "It was great." --style positive
    """
    if any("\ud800" <= sign <= "\udfff" for sign in source + output + style):
        raise TstmetaError("a text holds half a character: type or paste it as UTF-8")

    import pandas as pd

    from ..likelihood import tables

    metric = tables.metric_of(model)
    texts = {"source": source, "output": output, "style": style}
    rewrites = tables.rewrites_of(pd.DataFrame([texts]))
    scorer = metric.scorer()
    scores = scorer.judge(list(rewrites))
    tokens = tables.with_parts(tables.tabulate(scorer, rewrites, scores)).drop(columns="item_id")
    value = metric.rated(scorer, scores[0])
    if format is Format.table:
        heads = {"source": source, "style": style}
        if value.status.has_value:
            heads |= {"C": f"{value.value:.4f}", "S": f"{scorer.style(scores[0]):.4f}"}
        heads[str(value.status)] = value.detail
        print(*(f"{head:7} {escaped(text)}" for head, text in heads.items() if text), "", sep="\n")
        tokens = tokens[tokens["counts"] | (tokens["token"] != tables.END)]
    show_table(tokens, format)
    if not value.status.has_value:
        note("no value")
        raise typer.Exit(1)


def chosen(data: Dataset, where: list[str]) -> Dataset:
    """The rewrites with such values: any of those given for a column, in all columns."""
    if not where:
        return data
    names = ["item_id", "source_id", "system", "style", "direction", "language", "is_reference"]
    rows = data.items[names].astype(str).set_index("item_id", drop=False)
    rows = rows.join(data.labels.pivot_table("value", "item_id", "name", aggfunc="first"))
    keep, wanted = rows["item_id"].notna(), [words.partition("=")[::2] for words in where]
    for key in dict(wanted):
        values = {value for other, value in wanted if other == key}
        if key not in rows:
            raise TstmetaError(f"--where: {data.name} has no column {key!r}, but {', '.join(rows)}")
        there = rows[key].dropna().unique()
        if unknown := sorted(values.difference(there)):
            known = ", ".join(map(shown, there[:10]))
            raise TstmetaError(f"--where: no {key} is {unknown[0]!r}; there is {known}")
        keep &= rows[key].isin(values)
    return data.where(keep, f"{data.name}@{','.join(where)}")


def sample(data: Dataset, limit: int | None, seed: int) -> Dataset:
    """Sources drawn at random, each with all its rewrites, up to the first that is too many."""
    if limit is None or limit >= (size := len(data.items)):
        return data
    import numpy as np

    sources = data.items["source_id"].value_counts(sort=False)
    drawn = sources.iloc[np.random.default_rng(seed).permutation(len(sources))].cumsum()
    keep = data.items["source_id"].isin(drawn.index[: max(1, (drawn <= limit).sum())])
    words = f"a random sample of {keep.sum():,} of {size:,} rewrites, seed {seed}"
    note(f"{data.name}: {words}")
    return data.where(keep, f"{data.name}@{words}")
