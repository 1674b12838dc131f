"""(data set x metric) -> scores, kept in a store that resumes and never computes a score twice.

The store is content-addressed: a score's key is a hash of the metric's signature and of every text
of its unit, so the same pair is scored once whatever data set it stands in.  Each signature has one
Parquet file, sorted by key, and while a run is under way a journal beside it: one line a finished
unit, flushed at once.  A killed run loses nothing that was finished; the next one reads the
journal, computes what is missing and merges both.  Rows with status ``error`` are not kept: they
are tried again once the cause is mended.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from . import metrics as registry
from . import schema
from .data import Dataset, paths
from .data.base import RATING
from .data.own_values import read_scores
from .metrics.base import Metric, Request, Score
from .schema import Signature, Status, TstmetaError
from .secrecy import conceal
from .storage import Journal, locked, whole

__all__ = [
    "HUMAN_STYLE",
    "Plan",
    "human_style",
    "key_of",
    "plans",
    "read_scores",
    "released",
    "score",
]

#: The oracle that any table can show beside real metrics: the mean human STYLE rating.
HUMAN_STYLE = "human-style"
#: The same where the style shift is known by construction: 1 strong, 0 light.
STYLE_LABEL = "style-label"
_COLUMNS = ["key", "value", "status", "detail"]
_Row = tuple[str, float, str, str]
#: What of an item is needed to score it.
_NEEDED = [
    *("source_id", "item_id", "source", "output"),
    *("style", "language", "references", "is_reference"),
]


class Plan(NamedTuple):
    """What one (metric, basis) has to score: units of requests and the item of each request."""

    metric: Metric
    basis: str
    units: list[tuple[Request, ...]]
    item_ids: list[tuple[str, ...]]


def score(
    dataset: Dataset,
    wanted: Sequence[str | Metric],
    *,
    bases: Sequence[str] | None = None,
    store: Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Score a data set with metrics given by name, family or as objects.

    Args:
        wanted: metric names, family names, ``all``, ``human-style`` or metric objects.
        bases: restrict to these bases (default: all that a metric has).
        store: folder of the score store (default ``data/scores``).
        progress: show a bar on standard error (only on a terminal).

    Returns:
        A ``scores`` table, one row an item, metric and basis, in the order of ``wanted``, ``bases``
        and items.  On basis reference, items without a reference have no row, and a reference is
        not compared with itself.

    Raises:
        UnknownMetric: a name that nobody registered.
    """
    store = store or paths.scores()
    tables = []
    for metric in _chosen(wanted):
        if metric is None:
            tables.append(human_style(dataset))
            continue
        for plan in plans(dataset, metric, bases):
            tables.append(_score_one(dataset, plan, store, progress))
    tables = [table for table in tables if len(table)]
    if not tables:
        return schema.empty("scores")
    return schema.validate(pd.concat(tables, ignore_index=True), "scores", dataset.name)


def _chosen(wanted: Sequence[str | Metric]) -> list[Metric | None]:
    """The metrics in order, a name once; None stands for ``human-style``."""
    chosen: dict[str, Metric | None] = {}
    for place, metric in enumerate(wanted):
        if not isinstance(metric, str):
            chosen[f"object {place}"] = metric
            continue
        for name in registry.resolve([metric]):
            if name not in chosen:
                chosen[name] = None if name == HUMAN_STYLE else registry.get(name, imports=True)
    return list(chosen.values())


def plans(dataset: Dataset, metric: Metric, bases: Sequence[str] | None = None) -> Iterator[Plan]:
    """The units that a metric scores on each basis it has (and that is asked for)."""
    for basis in metric.bases:
        if bases is not None and basis not in bases:
            continue
        rows: list[tuple[str, str, Request]] = []
        # whole columns at a time: a dict for each row takes four times as long
        for source_id, item_id, source, output, style, language, references, is_reference in zip(
            *(dataset.items[column].tolist() for column in _NEEDED), strict=True
        ):
            against = _against(basis, source, output, references, is_reference)
            if against is not None:
                request = Request(output, against, source, style, language)
                rows.append((source_id, item_id, request))
        if metric.unit == "source":
            by_source: dict[str, list[tuple[str, str, Request]]] = {}
            for row in rows:
                by_source.setdefault(row[0], []).append(row)
            groups = list(by_source.values())
        else:
            groups = [[row] for row in rows]
        units = [tuple(row[2] for row in group) for group in groups]
        ids = [tuple(row[1] for row in group) for group in groups]
        yield Plan(metric, basis, units, ids)


def _against(
    basis: str, source: str, output: str, references: list[str], is_reference: bool
) -> tuple[str, ...] | None:
    if basis == "source":
        return (source,)
    if basis == "none":
        return ()
    own = output if is_reference else None
    others = tuple(text for text in references if text != own)
    return others or None


def _score_one(dataset: Dataset, plan: Plan, folder: Path, progress: bool) -> pd.DataFrame:
    if keep_in := getattr(plan.metric, "keep_in", None):
        keep_in(folder, progress)
    signature = plan.metric.signature(plan.basis)
    rows = _Store(folder, signature).score(plan, progress)
    ids = [item_id for unit in plan.item_ids for item_id in unit]
    table = rows.assign(
        dataset=dataset.name.partition("@")[0],
        item_id=ids,
        metric=conceal(plan.metric.name),
        dimension=plan.metric.dimensions[0],
        basis=plan.basis,
        signature=str(signature),
        sample=0,
    )[schema.columns("scores")]
    order = pd.Index(dataset.items["item_id"]).get_indexer(table["item_id"])
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


# ------------------------------------------------------------------------------------ store


def key_of(signature: Signature, unit: Sequence[Request]) -> str:
    """SHA-256 (first 32 hexadecimal digits) of the signature and all texts of a unit."""
    digest = _started(signature).copy()
    for request in unit:
        parts: list[bytes] = []
        for text in (*request.against, request.output, request.source, request.style):
            data = text.encode("utf-8", "surrogatepass")
            parts += (len(data).to_bytes(8, "little"), data)
        parts.append(f"/{len(request.against)}/{request.language}".encode())
        digest.update(b"".join(parts))
    return digest.hexdigest()[:32]


@lru_cache(maxsize=16)
def _started(signature: Signature) -> hashlib._Hash:
    """The part of a key's hash that all units share; to be copied, never updated."""
    return hashlib.sha256(str(signature).encode())


class _Store:
    """The scores of one signature on disk."""

    def __init__(self, folder: Path, signature: Signature):
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in signature.name)
        stem = f"{name}-{signature.hash}"
        self.signature = signature
        self.table = folder / f"{stem}.parquet"
        self.journal = Journal(folder / f"{stem}.journal")
        self.lock = folder / f"{stem}.lock"

    def score(self, plan: Plan, progress: bool) -> pd.DataFrame:
        """Values for every request of the plan, in order: key, value, status, detail."""
        keys = [key_of(self.signature, unit) for unit in plan.units]
        wanted = [
            f"{key}/{i}" if len(unit) > 1 else key
            for key, unit in zip(keys, plan.units, strict=True)
            for i in range(len(unit))
        ]
        with locked(self.lock):
            known = self._kept(wanted)
            have = set(known["key"])
            todo = {
                key: unit
                for key, unit in zip(keys, plan.units, strict=True)
                if (f"{key}/0" if len(unit) > 1 else key) not in have
            }
            failed = self._compute(plan, todo, progress) if todo else []
            known = self._kept(wanted) if todo else known
        if failed:
            known = pd.concat([known, _frame(failed)]) if len(known) else _frame(failed)
        return known.set_index("key").reindex(wanted).reset_index()

    def _compute(self, plan: Plan, todo: dict, progress: bool) -> list[_Row]:
        """Score the missing units and journal each; returns those with an error, not journalled."""
        failed: list[_Row] = []
        bar = tqdm(
            total=len(todo),
            desc=f"{self.signature.name} ({plan.basis})",
            unit="unit",
            disable=None if progress else True,
        )
        with self.journal, bar:
            results = _checked(plan.metric, list(todo.values()))
            for key, scores in zip(todo, results, strict=True):
                values = [(score.value, str(score.status), score.detail) for score in scores]
                if any(score.status is Status.ERROR for score in scores):
                    failed += _rows(key, values)
                else:
                    self.journal.add([[key, values]])
                bar.update()
        return failed

    def _kept(self, wanted: list[str]) -> pd.DataFrame:
        """What is known of the wanted keys; what the journal has goes into the table, sorted."""
        table = _frame([])
        if self.table.is_file():
            try:
                table = pd.read_parquet(self.table, columns=_COLUMNS)
            except (pa.ArrowException, KeyError, OSError) as error:
                raise TstmetaError(
                    f"{self.table} cannot be read as a table of scores "
                    f"({str(error).splitlines()[0]}); delete it, and they are computed again"
                ) from error
        if self.journal.path.is_file():
            fresh = _frame(list(_journalled(self.journal)))
            if len(fresh):
                table = pd.concat([table, fresh], ignore_index=True) if len(table) else fresh
                table = table.drop_duplicates("key").sort_values("key", ignore_index=True)
                write_parquet(table, self.table)
            self.journal.path.unlink()
        return table[table["key"].isin(wanted)]


def _checked(metric: Metric, units: list[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
    """The metric's answers; whatever it raises becomes ``error`` rows for the units left."""
    done = 0
    try:
        for scores, unit in zip(metric.score(units), units, strict=False):
            if len(scores) != len(unit):
                raise ValueError(f"{len(scores)} scores for {len(unit)} rewrites")
            sound = tuple(map(_sound, scores))
            done += 1
            yield sound
        reason = "the metric returned too few scores"
    except Exception as error:
        ours = isinstance(error, TstmetaError)  # says by itself what to do
        reason = str(error) if ours else conceal(f"{type(error).__name__}: {error}")
    for unit in units[done:]:
        yield tuple(Score(math.nan, Status.ERROR, reason) for _ in unit)


def _sound(score: Score) -> Score:
    """A score as the protocol wants it: a value that is no number has status ``invalid``."""
    value, status, detail = float(score.value), Status(score.status), str(score.detail)
    if status.has_value and not math.isfinite(value):
        return Score(math.nan, Status.INVALID, detail or f"the metric returned {value}")
    return Score(value if status.has_value else math.nan, status, detail)


def _frame(rows: list[_Row]) -> pd.DataFrame:
    types = {"key": str, "value": float, "status": str, "detail": str}
    return pd.DataFrame(rows, columns=_COLUMNS).astype(types)


def _rows(key: str, values: Sequence[Sequence]) -> list[_Row]:
    """A unit's values as rows; those of a unit of several rewrites are numbered."""
    return [
        (f"{key}/{i}" if len(values) > 1 else key, value, status, detail)
        for i, (value, status, detail) in enumerate(values)
    ]


def _journalled(journal: Journal) -> Iterator[_Row]:
    """The rows of a journal; a damaged line is left out, and scored anew."""
    for entry in journal:
        try:
            key, values = entry
            yield from _rows(str(key), [(float(v), str(Status(s)), str(d)) for v, s, d in values])
        except (ValueError, TypeError):
            continue


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in one step: the file is either the old one or the whole new one."""
    with whole(path) as draft:
        frame.to_parquet(draft, index=False)


# ----------------------------------------------------- scores that come from people or files


def human_style(dataset: Dataset) -> pd.DataFrame:
    """The oracle sentinel: the mean human style rating, offered as if it were a metric.

    It says how much of the agreement with content (or fluency) a metric could get by looking at
    style alone.  Items without a style rating have no row.  Where nobody rated style but the set
    was built with strong and light shifts, that label stands in, under the name ``style-label``.
    """
    against = dataset.against("style")
    if not against:
        return schema.empty("scores")
    rated = against == RATING
    name = HUMAN_STYLE if rated else STYLE_LABEL
    values = dataset.human("style").dropna()
    return pd.DataFrame(
        {
            "dataset": dataset.name.partition("@")[0],
            "item_id": values.index,
            "metric": name,
            "dimension": "style",
            "basis": "none",
            "signature": f"{name}|{'mean of human ratings' if rated else against}",
            "sample": 0,
            "value": values.to_numpy(float),
            "status": str(Status.OK),
            "detail": "",
        }
    )


def released(dataset: Dataset, names: Iterable[str] | None = None) -> pd.DataFrame:
    """Scores that came with the data set, e.g. ``released:bertscore`` on lai."""
    table = dataset.scores
    return table if names is None else table[table["metric"].isin(list(names))]
