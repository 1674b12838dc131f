"""Every token of a data set in one table: for analyses of your own."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..schema import TstmetaError
from .characters import spans
from .explain import finite, values_of
from .instructions import TASKS
from .scorer import Judged, Rewrite, Scorer
from .zeroshot import Likelihood

if TYPE_CHECKING:
    import pyarrow as pa

    from ..data.base import Dataset

#: Rewrites whose tokens are held in memory at a time, as many as the metric holds.
_SHARD = 2**16


def ragged(metric: Likelihood, dataset: Dataset, *, progress: bool = False) -> pa.Table:
    """Every token of a data set, one row an item.

    Columns: dataset, item_id, target (style), ``ids`` and ``tokens`` [tokens], ``style``,
    ``paraphrase`` and ``repeat`` [tokens] (natural logarithms, float32, not rounded),
    ``end_of_turn`` [3] in the order of TASKS or null where the output was cut, C and S (null
    without a value), status,
    detail.  The metadata of the table name the signature.

    Raises:
        MissingModel: the model is not here and cannot be fetched.
    """
    import pyarrow as pa

    scorer, items, parts = metric.scorer(), dataset.items, []
    schema = _schema({"metric": metric.name, "signature": str(metric.signature("source"))})
    for start in range(0, len(items), _SHARD):
        shard = items.iloc[start : start + _SHARD]
        rows = shard[["source", "output", "style"]].itertuples(index=False)
        rewrites = [Rewrite(*row) for row in rows]
        found = scorer.judge(rewrites, progress=progress)
        pairs = zip(shard["item_id"], rewrites, found, strict=True)
        records = [_record(scorer, dataset.name, *row) for row in pairs]
        parts.append(pa.Table.from_pylist(records, schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def save(table: pa.Table, out: Path) -> None:
    """Write a table as Parquet, whole or not at all.

    Raises:
        TstmetaError: a file that cannot be written.
    """
    import pyarrow.parquet as pq

    partial = out.with_name(f"{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, partial)
        os.replace(partial, out)
    except OSError as error:
        with suppress(OSError):  # where the folder could not be made, nothing lies in it
            partial.unlink()
        raise TstmetaError(f"cannot write {out}: {error.strerror or error}") from error


def _record(
    scorer: Scorer, dataset: str, item_id: str, rewrite: Rewrite, judged: Judged
) -> dict[str, Any]:
    places = spans(scorer.model.tokenizer, rewrite.output, judged.tokens)
    (c, s), status, detail = values_of(scorer, judged)
    last = judged.logprobs[:, -1] if judged.logprobs.size else np.array([np.nan])
    return {
        "dataset": dataset,
        "item_id": item_id,
        "target": rewrite.style,
        "ids": list(judged.tokens),
        "tokens": [rewrite.output[start:end] for start, end in places],
        **{task: judged.logprobs[row, :-1] for row, task in enumerate(TASKS)},
        "end_of_turn": None if np.isnan(last).any() else last,
        "C": finite(c),
        "S": finite(s),
        "status": str(status),
        "detail": detail,
    }


def _schema(metadata: dict[str, str]) -> pa.Schema:
    import pyarrow as pa

    text, logprobs = pa.string(), pa.list_(pa.float32())
    kinds = {"dataset": text, "item_id": text, "target": text, "ids": pa.list_(pa.int32())}
    kinds |= {"tokens": pa.list_(text), **dict.fromkeys(TASKS, logprobs), "end_of_turn": logprobs}
    kinds |= {"C": pa.float64(), "S": pa.float64(), "status": text, "detail": text}
    return pa.schema(list(kinds.items()), metadata)
