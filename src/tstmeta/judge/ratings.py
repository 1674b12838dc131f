"""Ratings of a data set by a judge: rewrites -> questions -> answers -> rows -> scores.

A row is one rewrite, dimension and sample.  An answer that is no rating is a row too, with its
status and what the judge said; something is put in its place only by name (:func:`scores`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from ..data.paths import regular
from ..metrics.base import Request
from ..schema import Signature, Status, TstmetaError
from ..secrecy import excerpt
from . import answers
from .base import Question, Reply
from .cache import AnswerCache
from .prompts import Prompt
from .runner import run

if TYPE_CHECKING:
    from .client import Served

#: Columns of the rows that :func:`ask` returns, in order.
COLUMNS = [
    *("dataset", "item_id", "source_id", "place", "rival", "dimension", "sample"),
    *("rating", "expected", "mass", "logprobs", "status", "detail", "explanation"),
    *("prompt", "prompt_hash", "low", "high"),
    *("server", "model", "revision", "answered_by", "fingerprint", "asked_how"),
]
#: Those that hold numbers.
_NUMBERS = ("place", "sample", "rating", "expected", "mass", "low", "high")
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
    """The questions that rate a data set, sample after sample.

    A prompt of unit ``item`` is asked of every rewrite, one of unit ``source`` of all rewrites of a
    source together, one of unit ``pair`` of every two rewrites of a source in both orders.

    Args:
        samples: answers asked for to each question.
        shuffle: seed of another order of rewrites for each source and sample; None keeps theirs.
        limit: only the first so many items, or sources where a prompt takes more than one rewrite.
    """
    items = dataset.with_texts("by a judge")
    requests: list[Request] = []
    groups: dict[tuple[str, ...], list[int]] = {}
    needed = ("source_id", "source", "output", "style", "language")
    for place, facts in enumerate(zip(*(items[name].tolist() for name in needed), strict=True)):
        source_id, source, output, style, language = facts
        requests.append(Request(output, (source,), source, style, language))
        groups.setdefault((source_id, source, style, language), []).append(place)
    item_ids, source_ids = items["item_id"].tolist(), items["source_id"].tolist()

    def units(sample: int) -> Iterator[Sequence[int]]:
        if prompt.unit == "item":
            yield from ([place] for place in range(len(items))[:limit])
            return
        for number, group in enumerate(list(groups.values())[:limit]):
            if prompt.unit == "pair":
                yield from permutations(group, 2)
            elif shuffle is None:
                yield group
            else:
                yield np.random.default_rng([shuffle, number, sample]).permutation(group).tolist()

    questions = [
        JudgeJob(
            prompt.question([requests[place] for place in unit], sample),
            tuple(item_ids[place] for place in unit),
            source_ids[unit[0]],
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
        One row a rewrite, dimension and sample (of a prompt of unit ``pair`` one for each rewrite
        of every pair in both orders), with the columns :data:`COLUMNS`.  ``rating`` is NaN unless
        the judge gave one; ``status`` says why and ``detail`` what it said.  ``place`` is the
        rewrite's number in its question, from 1; ``rival`` the other one's item_id in a pair;
        ``expected``, ``mass`` and ``logprobs`` are those of :class:`~.answers.Rating`.
    """
    todo = jobs(dataset, prompt, samples, shuffle, limit)
    replies = run([job.question for job in todo], chat, **options)
    pairs = zip(todo, replies, strict=True)
    rows = [row for job, reply in pairs for row in _rows(job, reply, prompt)]
    how = prompt.sampling
    asked_how = f"temperature {how.temperature:g}, top_p {how.top_p:g}, max_tokens {how.max_tokens}"
    asked_how += f", seed {how.seed}"
    asked_how += f", logprobs {how.top_logprobs}" if how.top_logprobs else ""
    asked_how += f", order {shuffle}" if shuffle is not None and prompt.unit == "source" else ""
    about: dict[str, Any] = {"dataset": dataset.name.partition("@")[0], "asked_how": asked_how}
    about |= {"prompt": prompt.name, "prompt_hash": prompt.hash, "low": prompt.low}
    about |= {"high": prompt.high, "server": chat.server, "model": chat.model}
    return pd.DataFrame(rows).assign(revision=chat.revision, **about)[COLUMNS]


def kept_as(
    statuses: Collection[str], todo: Sequence[JudgeJob], prompt: Prompt, chat: Served, cache: Path
) -> set[str]:
    """Keys of the kept answers with a rating of one of these statuses."""
    if not statuses or not cache.exists():
        return set()
    jobs = {job.question.key(chat.server, chat.model, chat.revision): job for job in todo}
    with AnswerCache(cache) as kept:
        rows = ((key, _rows(jobs[key], reply, prompt)) for key in jobs if (reply := kept.get(key)))
        return {key for key, each in rows if any(row["status"] in statuses for row in each)}


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


def scores(rows: pd.DataFrame, missing: str = "drop") -> pd.DataFrame:
    """Ratings as scores of a metric ``judge:MODEL+PROMPT``, one row an item and dimension.

    Where a prompt rates several dimensions, the name ends with ``#`` and the dimension.  A score is
    the mean over an item's samples (and, for pairs, over its pairs) that have a value.

    Args:
        rows: as :func:`ask` returns them.
        missing: ``drop`` leaves missing ratings out; ``mean`` fills in the mean of the same judge's
            ratings of that data set and dimension, in the same manner (Pauli et al., 2025);
            ``worst`` fills in the lowest rating of the prompt's scale.

    Returns:
        A ``scores`` table.  An item without any value has the status of its first row and its
        words; one that was cut off before its rating is ``invalid``, for a cut text has a value.
    """
    given = rows["rating"].astype(float)
    full = given
    if missing == "mean":
        keys = [rows[name] for name in ("dataset", *_JUDGED)]
        full = given.fillna(given.groupby(keys, sort=False, dropna=False).transform("mean"))
    elif missing == "worst":
        full = given.fillna(rows["low"].astype(float))
    several = rows.groupby(["prompt", "prompt_hash"], sort=False)["dimension"].transform("nunique")
    samples = int(rows["sample"].max()) + 1 if len(rows) else 0
    items = (
        rows.assign(value=full, filled=given.isna() & full.notna())
        .assign(several=several > 1, usable=full.notna())
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
        status, detail = Status.OK, ""
        if not line["usable"]:
            status, detail = Status(line["status"]), excerpt(line["detail"], 300)
            if status.has_value:
                status, detail = Status.INVALID, f"{status}: {detail}"
        elif line["usable"] < line["rows"]:
            detail = f"{line['rows'] - line['usable']} of {line['rows']} left out"
        elif line["filled"]:
            detail = f"{line['filled']} of {line['rows']} filled in"
        name = f"judge:{line['model']}+{line['prompt']}"
        name += f"#{line['dimension']}" if line["several"] else ""
        facts = {
            "basis": "source",
            "server": line["server"],
            "model": line["model"],
            "revision": line["revision"] or "none named",
            "prompt": f"{line['prompt']}@{line['prompt_hash']}",
            "dimension": line["dimension"],
            "asked": line["asked_how"],
            "samples": samples,
            "value": "rating",
            "missing": missing,
        }
        ends.append((name, str(Signature.of("judge", facts)), str(status), detail))
    items[["metric", "signature", "status", "detail"]] = ends
    items = items.assign(basis="source", sample=0)
    return schema.validate(items[schema.columns("scores")], "scores")


_READERS = {
    ".csv": partial(pd.read_csv, dtype=str, keep_default_na=False),
    ".json": partial(pd.read_json, dtype=False),  # an id "007" stays one
    ".parquet": pd.read_parquet,
}


def read(path: str | Path) -> pd.DataFrame:
    """Rows that ``tstmeta judge run --out FILE`` wrote: CSV, JSON or Parquet."""
    path = regular(Path(path))
    try:
        rows = _READERS[path.suffix.lower()](path)[COLUMNS]
    except (OSError, ValueError, KeyError) as error:
        raise TstmetaError(
            f"{path} holds no rows of a judge: {excerpt(str(error))}. Remedy: write it with"
            " tstmeta judge run --out FILE"
        ) from error
    texts = rows.drop(columns=list(_NUMBERS)).fillna("").astype(str)
    numbers = rows[list(_NUMBERS)].apply(pd.to_numeric, errors="coerce")
    return pd.concat([texts, numbers], axis=1)[COLUMNS]
