"""Ratings of a data set by a judge: rewrites -> questions -> answers -> rows -> scores.

A row is one rewrite, dimension and sample.  An answer that is no rating is a row too, with its
status and what the judge said; nothing is put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset, files
from ..metrics.base import Request
from ..schema import Signature, Status, TstmetaError
from ..secrecy import excerpt
from .answers import read as read_answer
from .base import Question, Reply
from .prompts import Prompt
from .runner import run

if TYPE_CHECKING:
    from .client import Served

#: Columns of the rows that :func:`ask` returns, in order.
COLUMNS = [
    *("dataset", "item_id", "source_id", "place", "rival", "dimension", "sample"),
    *("rating", "status", "detail", "explanation"),
    *("prompt", "prompt_hash", "low", "high"),
    *("server", "model", "revision", "answered_by", "fingerprint", "asked_how"),
]
#: Where answers are kept, in the folder of the score store.
ANSWERS = Path("judge") / "answers.sqlite"
#: What a signature is made of: rows that agree in it are of one judge, in one manner.
_JUDGED = ["dimension", "server", "model", "revision", "prompt", "prompt_hash", "asked_how"]


class JudgeJob(NamedTuple):
    """One question and the rewrites that it is about, in their order."""

    question: Question
    item_ids: tuple[str, ...]
    source_id: str


def jobs(
    dataset: Dataset,
    prompt: Prompt,
    samples: int = 1,
    shuffle: int | None = None,
    limit: int | None = None,
) -> list[JudgeJob]:
    """The questions that rate a data set, sample after sample; of pairs in both orders.

    Args:
        samples: answers asked for to each question.
        shuffle: seed of another order of rewrites for each source and sample; None keeps theirs.
        limit: only the first so many items, or sources where a prompt takes more than one rewrite.
    """
    items = dataset.with_texts("by a judge").reset_index(drop=True)
    shared = ["source_id", "source", "style", "language"]
    groups = [g.index.tolist() for _, g in items.groupby(shared, sort=False, dropna=False)]

    def units(sample: int) -> Iterator[Sequence[int]]:
        if prompt.unit == "item":
            yield from ([place] for place in items.index[:limit])
            return
        for number, group in enumerate(groups[:limit]):
            if prompt.unit == "pair":
                yield from permutations(group, 2)
            elif shuffle is None:
                yield group
            else:
                yield np.random.default_rng([shuffle, number, sample]).permutation(group).tolist()

    rows = list(items.itertuples())
    requests = [Request(r.output, (r.source,), r.source, r.style, r.language) for r in rows]
    questions = [
        JudgeJob(
            prompt.question([requests[place] for place in unit], sample),
            tuple(rows[place].item_id for place in unit),
            rows[unit[0]].source_id,
        )
        for sample in range(samples)
        for unit in units(sample)
    ]
    if not questions:
        raise TstmetaError(
            f"{dataset.name} has nothing for the prompt {prompt.name}: it compares two rewrites of"
            " a source"
        )
    return questions


def ask(
    dataset: Dataset,
    prompt: Prompt,
    chat: Served,
    *,
    samples: int = 1,
    shuffle: int | None = None,
    limit: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Have a data set rated: :func:`jobs`, asked with the ``options`` of :func:`.runner.run`.

    Returns:
        One row a rewrite, dimension and sample (of pairs: of every pair in both orders), with the
        columns :data:`COLUMNS`.  ``rating`` is NaN unless the judge gave one; ``status`` says why
        and ``detail`` what it said.  ``place`` is the rewrite's number in its question, from 1;
        ``rival`` the other one's item_id in a pair; the others are of :class:`~.answers.Rating`.
    """
    todo = jobs(dataset, prompt, samples, shuffle, limit)
    replies = run([job.question for job in todo], chat, **options)
    pairs = zip(todo, replies, strict=True)
    rows = [row for job, reply in pairs for row in _rows(job, reply, prompt)]
    manner = str(prompt.sampling)
    manner += f", order {shuffle}" if shuffle is not None and prompt.unit == "source" else ""
    about = {
        "dataset": dataset.name.partition("@")[0],
        "prompt": prompt.name,
        "prompt_hash": prompt.hash,
        "low": prompt.scale[0],
        "high": prompt.scale[1],
        "server": chat.server,
        "model": chat.model,
        "revision": chat.revision,
        "asked_how": manner,
    }
    return pd.DataFrame(rows).assign(**about)[COLUMNS]


def _rows(job: JudgeJob, reply: Reply, prompt: Prompt) -> Iterator[dict[str, Any]]:
    ratings = read_answer(reply, prompt, len(job.item_ids))
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


def scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Ratings as scores of a metric ``judge:MODEL+PROMPT``, one row an item and dimension.

    Where a prompt rates several dimensions, the name ends with ``#`` and the dimension.  A score is
    the mean over an item's samples (and, for pairs, over its pairs) that have a rating.

    Returns:
        A ``scores`` table.  An item without any rating has the status of its first row and its
        words; one that was cut off before its rating is ``invalid``, for a cut text has a value.
    """
    dimensions = rows.groupby(["prompt", "prompt_hash"], sort=False)["dimension"]
    items = (
        rows.assign(dimensions=dimensions.transform("nunique"), value=rows["rating"].astype(float))
        .groupby(["dataset", "item_id", *_JUDGED], sort=False, as_index=False)
        .agg(
            dimensions=("dimensions", "first"),
            value=("value", "mean"),
            rows=("value", "size"),
            usable=("value", "count"),
            status=("status", "first"),
            detail=("detail", "first"),
        )
    )
    samples = int(rows["sample"].max()) + 1 if len(rows) else 0
    lines = [_score(line, samples) for line in items.to_dict("records")]
    items[["metric", "signature", "status", "detail"]] = lines
    items = items.assign(basis="source", sample=0)
    return schema.validate(items[schema.columns("scores")], "scores")


def _score(item: dict[str, Any], samples: int) -> tuple[str, str, str, str]:
    """Metric, signature, status and detail of an item's score."""
    status, detail = Status.OK, ""
    if not item["usable"]:
        status, detail = Status(item["status"]), excerpt(item["detail"], 300)
        if status.has_value:
            status, detail = Status.INVALID, f"{status}: {detail}"
    elif item["usable"] < item["rows"]:
        detail = f"{item['rows'] - item['usable']} of {item['rows']} left out"
    facts = {
        "basis": "source",
        "server": item["server"],
        "model": item["model"],
        "revision": item["revision"] or "none named",
        "prompt": f"{item['prompt']}@{item['prompt_hash']}",
        "dimension": item["dimension"],
        "asked": item["asked_how"],
        "samples": samples,
        "value": "rating",
        "missing": "drop",
    }
    metric = f"judge:{item['model']}+{item['prompt']}"
    metric += f"#{item['dimension']}" if item["dimensions"] > 1 else ""
    return metric, str(Signature.of("judge", facts)), str(status), detail


def read(path: str | Path) -> pd.DataFrame:
    """Rows that ``tstmeta judge run --out FILE`` wrote: CSV or Parquet."""
    numbers = ("place", "sample", "rating", "low", "high")
    checks = dict.fromkeys(COLUMNS) | dict.fromkeys(numbers, schema.numeric(optional=True))
    return files.read_csv(Path(path), checks)[COLUMNS]
