"""Ratings of a data set by a judge: rewrites -> questions -> answers -> rows -> scores.

A row is one rewrite, dimension and sample.  An answer that is no rating is a row too, with its
status and what the judge said; something is put in its place only by name (:func:`treated`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from ..metrics.base import Request
from ..schema import Signature, Status, TstmetaError
from ..secrecy import excerpt
from . import answers
from .base import Chat, Question, Reply, Sampling
from .prompts import Prompt
from .runner import run

#: Columns of the rows that :func:`ask` returns, in order.
COLUMNS = [
    *("dataset", "item_id", "source_id", "place", "rival", "dimension", "sample"),
    *("rating", "expected", "mass", "logprobs", "status", "detail", "explanation"),
    *("prompt", "prompt_hash", "low", "high"),
    *("server", "model", "revision", "answered_by", "fingerprint", "asked_how"),
]
#: Where answers are kept, in the folder of the score store.
ANSWERS = Path("judge") / "answers.sqlite"
#: What a signature is made of: rows that agree in it are of one judge, in one manner.
_JUDGED = ["dimension", "server", "model", "revision", "prompt", "prompt_hash", "asked_how"]
_NEEDED = ["item_id", "source_id", "source", "output", "style", "language"]


class JudgeJob(NamedTuple):
    """One question and the rewrites that it is about, in their order."""

    question: Question
    item_ids: tuple[str, ...]
    source_id: str


class Manner(NamedTuple):
    """How a data set is put before a judge, beyond the prompt.

    Attributes:
        samples: answers asked for to each question.
        sampling: in place of the prompt's.
        shuffle: seed of another order of rewrites for each source and sample; None keeps theirs.
        limit: only the first so many items, or sources where a prompt takes more than one rewrite.
    """

    samples: int = 1
    sampling: Sampling | None = None
    shuffle: int | None = None
    limit: int | None = None

    def shown(self, prompt: Prompt) -> str:
        """All of it that changes an answer, for signatures."""
        drawn = self.sampling or prompt.sampling
        words = [f"temperature {drawn.temperature:g}", f"top_p {drawn.top_p:g}"]
        words += [f"max_tokens {drawn.max_tokens}", f"seed {drawn.seed}"]
        words += [f"logprobs {drawn.top_logprobs}"] * bool(drawn.top_logprobs)
        words += [f"order {self.shuffle}"] * (self.shuffle is not None and prompt.unit == "source")
        return ", ".join(words)


def jobs(dataset: Dataset, prompt: Prompt, manner: Manner | None = None) -> list[JudgeJob]:
    """The questions that rate a data set, sample after sample.

    A prompt of unit ``item`` is asked of every rewrite, one of unit ``source`` of all rewrites of a
    source together, one of unit ``pair`` of every two rewrites of a source in both orders.
    """
    manner = manner or Manner()
    questions = []
    for sample in range(manner.samples):
        sampling = manner.sampling or prompt.sampling
        if sampling.seed is not None:  # else a server that takes seeds would say the same each time
            sampling = replace(sampling, seed=sampling.seed + sample)
        for unit in _units(dataset, prompt, manner, sample):
            item_ids, source_ids, requests = zip(*unit, strict=True)
            question = prompt.question(requests, sample=sample, sampling=sampling)
            questions.append(JudgeJob(question, item_ids, source_ids[0]))
    if not questions:
        raise TstmetaError(
            f"{dataset.name} has nothing for the prompt {prompt.name}: it compares two rewrites of"
            " a source"
        )
    return questions


_Row = tuple[str, str, Request]


def _units(dataset: Dataset, prompt: Prompt, manner: Manner, sample: int) -> Iterator[list[_Row]]:
    """What goes into a question together."""
    columns = (dataset.items[name].tolist() for name in _NEEDED)
    rows: list[_Row] = []
    grouped: dict[tuple[str, ...], list[_Row]] = {}
    for item_id, source_id, source, output, style, language in zip(*columns, strict=True):
        row = (item_id, source_id, Request(output, (source,), source, style, language))
        rows.append(row)
        grouped.setdefault((source_id, source, style, language), []).append(row)
    if prompt.unit == "item":
        yield from ([row] for row in rows[: manner.limit])
        return
    for number, group in enumerate(list(grouped.values())[: manner.limit]):
        if prompt.unit == "pair":
            yield from (list(pair) for pair in permutations(group, 2))
            continue
        if manner.shuffle is not None:
            drawn = np.random.default_rng([manner.shuffle, number, sample])
            group = [group[place] for place in drawn.permutation(len(group))]
        yield group


def ask(
    dataset: Dataset, prompt: Prompt, chat: Chat, *, manner: Manner | None = None, **options: Any
) -> pd.DataFrame:
    """Have a data set rated; ``options`` are those of :func:`~.runner.run`.

    Returns:
        One row a rewrite, dimension and sample (of a prompt of unit ``pair`` one for each rewrite
        of every pair in both orders), with the columns :data:`COLUMNS`.  ``rating`` is NaN unless
        the judge gave one; ``status`` says why and ``detail`` what it said.  ``place`` is the
        rewrite's number in its question, from 1; ``rival`` the other one's item_id in a pair;
        ``expected``, ``mass`` and ``logprobs`` are those of :class:`~.expected.Expected`.

    """
    manner = manner or Manner()
    todo = jobs(dataset, prompt, manner)
    replies = run([job.question for job in todo], chat, **options)
    pairs = zip(todo, replies, strict=True)
    rows = [row for job, reply in pairs for row in _rows(job, reply, prompt)]
    return pd.DataFrame(rows).assign(
        dataset=dataset.name.partition("@")[0],
        prompt=prompt.name,
        prompt_hash=prompt.hash,
        low=prompt.low,
        high=prompt.high,
        server=chat.server,
        model=chat.model,
        revision=chat.revision,
        asked_how=manner.shown(prompt),
    )[COLUMNS]


def _rows(job: JudgeJob, reply: Reply, prompt: Prompt) -> Iterator[dict[str, Any]]:
    ratings = answers.read(reply, prompt, len(job.item_ids))
    for place, (item_id, row) in enumerate(zip(job.item_ids, ratings, strict=True)):
        for dimension, rating in row.items():
            yield {
                "item_id": item_id,
                "source_id": job.source_id,
                "place": place + 1,
                "rival": job.item_ids[1 - place] if prompt.unit == "pair" else "",
                "dimension": dimension,
                "sample": job.question.sample,
                "rating": rating.value,
                **rating._asdict(),
                "status": str(rating.status),
                "answered_by": reply.model,
                "fingerprint": reply.fingerprint,
            }


def treated(rows: pd.DataFrame, how: str, value: str = "rating") -> pd.DataFrame:
    """Rows with ``value``, and ``filled`` where that is no rating of the judge's."""
    given = rows[value].astype(float)
    full = given
    if how == "mean":
        keys = [rows[name] for name in ("dataset", *_JUDGED)]
        full = given.fillna(given.groupby(keys, sort=False, dropna=False).transform("mean"))
    elif how == "worst":
        full = given.fillna(rows["low"].astype(float))
    return rows.assign(value=full, filled=given.isna() & full.notna())


def scores(rows: pd.DataFrame, missing: str = "drop", value: str = "rating") -> pd.DataFrame:
    """Ratings as scores of a metric ``judge:MODEL+PROMPT``, one row an item and dimension.

    Where a prompt rates several dimensions, the name ends with ``#`` and the dimension.  A score is
    the mean over an item's samples (and, for pairs, over its pairs) that have a value.

    Args:
        rows: as :func:`ask` returns them.
        missing: ``drop`` leaves missing ratings out; ``mean`` fills in the mean of the same judge's
            ratings of that data set and dimension, in the same manner (Pauli et al., 2025);
            ``worst`` fills in the lowest rating of the prompt's scale.
        value: ``rating``, or ``expected`` where log-probabilities came.

    Returns:
        A ``scores`` table.  An item without any value has the status of its first row and its
        words; one that was cut off before its rating is ``invalid``, for a cut text has a value.
    """
    table = treated(rows, missing, value)
    several = table.groupby(["prompt", "prompt_hash"], sort=False)["dimension"].transform("nunique")
    samples = int(table["sample"].max()) + 1 if len(table) else 0
    items = (
        table.assign(several=several > 1, usable=table["value"].notna())
        .groupby(["dataset", "item_id", *_JUDGED], sort=False, as_index=False)
        .agg(
            several=("several", "first"),
            value=("value", "mean"),
            filled=("filled", "sum"),
            rows=("filled", "size"),
            usable=("usable", "sum"),
            status=("status", "first"),
            detail=("detail", "first"),
        )
    )
    ends = []
    for line in items.to_dict("records"):
        several = line["dimension"] if line["several"] else ""
        name = name_of(line["model"], line["prompt"], several)
        ends.append((name, str(signature(line, samples, missing, value)), *_ending(line)))
    items[["metric", "signature", "status", "detail"]] = ends
    items = items.assign(basis="source", sample=0, status=items["status"].astype(str))
    return schema.validate(items[schema.columns("scores")], "scores")


def _ending(line: dict[str, Any]) -> tuple[Status, str]:
    rows, usable, filled = line["rows"], line["usable"], line["filled"]
    if not usable:
        return without_value(Status(line["status"]), str(line["detail"]))
    if usable < rows:
        return Status.OK, f"{rows - usable} of {rows} left out"
    return Status.OK, f"{filled} of {rows} filled in" if filled else ""


def without_value(status: Status, detail: str) -> tuple[Status, str]:
    """Status and detail of a score without a value; a status that promises one is ``invalid``."""
    words = excerpt(detail, 300)
    return (Status.INVALID, f"{status}: {words}") if status.has_value else (status, words)


def name_of(model: str, prompt: str, dimension: str = "") -> str:
    """What tables call a judge: ``judge:MODEL+PROMPT`` or ``judge:MODEL+PROMPT#DIMENSION``."""
    return f"judge:{model}+{prompt}" + (f"#{dimension}" if dimension else "")


def signature(
    row: Mapping[str, Any], samples: int, missing: str = "drop", value: str = "rating"
) -> Signature:
    """All that changes a score, from a row."""
    return Signature.of(
        "judge",
        {
            "basis": "source",
            "server": row["server"],
            "model": row["model"],
            "revision": row["revision"] or "none named",
            "prompt": f"{row['prompt']}@{row['prompt_hash']}",
            "dimension": row["dimension"],
            "asked": row["asked_how"],
            "samples": samples,
            "value": value,
            "missing": missing,
        },
    )


_TEXTS = [*_JUDGED, "dataset", "item_id", "source_id", "status", "rival", "detail"]
_READERS = {
    ".csv": partial(pd.read_csv, dtype=str, keep_default_na=False),
    ".json": partial(pd.read_json, dtype=False),  # an id "007" stays one
    ".parquet": pd.read_parquet,
}


def read(path: str | Path) -> pd.DataFrame:
    """Rows that ``tstmeta judge run --out FILE`` wrote: CSV, JSON or Parquet."""
    path = Path(path)
    remedy = "Remedy: write it with tstmeta judge run --out FILE"
    try:
        rows = _READERS[path.suffix.lower()](path)
    except (OSError, ValueError, KeyError) as error:
        raise TstmetaError(f"{path} cannot be read ({type(error).__name__}). {remedy}") from error
    if missing := sorted(set(COLUMNS) - set(rows)):
        raise TstmetaError(f"{path} has no column {', '.join(missing)}. {remedy}")
    texts = {name: rows[name].fillna("").astype(str) for name in _TEXTS}
    numbers = ("rating", "expected", "place", "low", "high", "sample")
    numeric = {name: pd.to_numeric(rows[name], errors="coerce") for name in numbers}
    return rows.assign(**texts, **numeric)[COLUMNS]
