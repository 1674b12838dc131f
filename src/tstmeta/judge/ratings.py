"""Ratings of a data set by a judge: rewrites -> questions -> answers -> rows.

A row is one rewrite, dimension and sample.  An answer that is no rating is a row too, with its
status and what the judge said; nothing is put in its place here (see :mod:`.treatments`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from ..metrics.base import Request
from ..schema import Signature, Status, TstmetaError
from ..secrecy import said
from .answers import read
from .base import Chat, Question, Reply, Sampling
from .budget import Budget
from .cache import Answers
from .prompts import Prompt
from .runner import run
from .treatments import treated

#: Columns of the rows that :func:`ask` returns, in order.
COLUMNS = [
    *("dataset", "item_id", "source_id", "place", "rival", "dimension", "sample"),
    *("rating", "expected", "mass", "logprobs", "status", "detail", "explanation"),
    *("prompt", "prompt_hash", "low", "high"),
    *("server", "model", "revision", "answered_by", "fingerprint", "kept", "asked_how"),
]
#: Where answers are kept, in the folder of the score store.
ANSWERS = Path("judge") / "answers.sqlite"
_NEEDED = ["item_id", "source_id", "source", "output", "style", "language"]


class Job(NamedTuple):
    """One question and the rewrites that it is about.

    Attributes:
        item_ids: in the order in which the question shows them.
        source_id: of all of them.
    """

    question: Question
    item_ids: tuple[str, ...]
    source_id: str


class Manner(NamedTuple):
    """How a data set is put before a judge, beyond the prompt.

    Attributes:
        samples: answers asked for to each question.
        sampling: in place of the prompt's.
        enforce: whether servers are told the JSON schema of the answer.
        shuffle: seed by which the rewrites of a source are put in another order for each source
            and sample; None keeps the order of the data set.
        limit: only the first so many items, or sources where a prompt takes more than one rewrite.
    """

    samples: int = 1
    sampling: Sampling | None = None
    enforce: bool = True
    shuffle: int | None = None
    limit: int | None = None

    def drawn(self, prompt: Prompt) -> Sampling:
        """How answers are drawn."""
        return self.sampling or prompt.sampling

    def shown(self, prompt: Prompt) -> str:
        """All of it that changes an answer, for signatures."""
        drawn = self.drawn(prompt)
        words = [f"temperature {drawn.temperature:g}", f"top_p {drawn.top_p:g}"]
        words += [f"max_tokens {drawn.max_tokens}", f"seed {drawn.seed}"]
        words += [f"logprobs {drawn.top_logprobs}"] * bool(drawn.top_logprobs)
        words += ["no schema"] * (not self.enforce and prompt.answer == "json")
        words += [f"order {self.shuffle}"] * (self.shuffle is not None and prompt.unit == "source")
        return ", ".join(words)

    def check(self) -> None:
        """Refuse numbers that say nothing.

        Raises:
            TstmetaError: fewer than one sample or item, or a seed that is none.
        """
        for name, least in (("samples", 1), ("limit", 1), ("shuffle", 0)):
            number = getattr(self, name)
            if number is not None and number < least:
                raise TstmetaError(f"{name} is {number}; it must be at least {least}")


def jobs(dataset: Dataset, prompt: Prompt, manner: Manner | None = None) -> list[Job]:
    """The questions that rate a data set, sample after sample.

    A prompt of unit ``item`` is asked of every rewrite, one of unit ``source`` of all rewrites of a
    source together, one of unit ``pair`` of every two rewrites of a source in both orders.

    Raises:
        TstmetaError: nothing to ask (a pair needs two rewrites), rewrites that the prompt cannot
            be asked about, or a number that :meth:`Manner.check` refuses.
    """
    manner = manner or Manner()
    manner.check()
    made = []
    for sample in range(manner.samples):
        for unit in _units(dataset, prompt, manner, sample):
            sampling = _seeded(manner.drawn(prompt), sample)
            requests = [request for _, _, request in unit]
            question = question_of(prompt, requests, sample, sampling, manner.enforce)
            made.append(Job(question, tuple(item_id for item_id, _, _ in unit), unit[0][1]))
    if not made:
        raise TstmetaError(
            f"{dataset.name} has nothing for the prompt {prompt.name}: it compares two rewrites of"
            " a source"
        )
    return made


def question_of(
    prompt: Prompt,
    requests: Sequence[Request],
    sample: int = 0,
    sampling: Sampling | None = None,
    enforce: bool = True,
) -> Question:
    """:meth:`.Prompt.question`, for rewrites whose style is known where the prompt names it.

    Raises:
        TstmetaError: no target style, or rewrites that the prompt is not made for.
    """
    if "{style}" in prompt.system + prompt.user and not all(one.style.strip() for one in requests):
        raise TstmetaError(
            f"no target style, and the prompt {prompt.name} asks about one; name it in the column"
            " style"
        )
    return prompt.question(requests, sample=sample, sampling=sampling, enforce=enforce)


_Row = tuple[str, str, Request]


def _units(dataset: Dataset, prompt: Prompt, manner: Manner, sample: int) -> Iterator[list[_Row]]:
    """What goes into a question together: (item_id, source_id, request) of each rewrite."""
    columns = (dataset.items[name].tolist() for name in _NEEDED)
    rows: list[_Row] = [
        (item_id, source_id, Request(output, (source,), source, style, language))
        for item_id, source_id, source, output, style, language in zip(*columns, strict=True)
    ]
    if prompt.unit == "item":
        yield from ([row] for row in rows[: manner.limit])
        return
    grouped: dict[tuple[str, ...], list[_Row]] = {}
    for row in rows:
        one = row[2]
        grouped.setdefault((row[1], one.source, one.style, one.language), []).append(row)
    for number, group in enumerate(list(grouped.values())[: manner.limit]):
        if prompt.unit == "pair":
            yield from (list(pair) for pair in permutations(group, 2))
            continue
        if manner.shuffle is not None:
            drawn = np.random.default_rng([manner.shuffle, number, sample])
            group = [group[place] for place in drawn.permutation(len(group))]
        yield group


def _seeded(sampling: Sampling, sample: int) -> Sampling:
    """Each sample its own seed, or a server that takes seeds would say the same each time."""
    if sampling.seed is None or not sample:
        return sampling
    return replace(sampling, seed=sampling.seed + sample)


def ask(
    dataset: Dataset,
    prompt: Prompt,
    chat: Chat,
    *,
    cache: Path,
    manner: Manner | None = None,
    concurrency: int = 16,
    budget: Budget | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Have a data set rated.

    Args:
        cache: the file of answers; what stands there is not asked again.
        manner: samples, sampling, order and the like; once each, as the prompt says, when None.
        concurrency: questions under way at the same time.
        budget: a limit that holds; it also counts what was spent.

    Returns:
        One row a rewrite, dimension and sample (of a prompt of unit ``pair`` one for each rewrite
        of every pair in both orders), with the columns :data:`COLUMNS`.  ``rating`` is NaN unless
        the judge gave one; ``status`` says why and ``detail`` what it said.  ``place`` is the
        rewrite's number in its question, from 1; ``rival`` the other one's item_id in a pair;
        ``kept`` whether the answer was on file; ``expected`` the mean rating under the judge's own
        probabilities, where they were asked for and came, ``mass`` what all ratings had of them,
        and ``logprobs`` of which kind they are.

    Raises:
        TstmetaError: nothing to ask, or a file that is none of ours.
        Unusable: the server can answer no question; what came before is kept.
    """
    manner = manner or Manner()
    asked = jobs(dataset, prompt, manner)
    questions = [job.question for job in asked]
    kept = on_file(questions, chat, cache)
    found: list[list[dict[str, Any]]] = [[] for _ in asked]
    options: dict[str, Any] = {"concurrency": concurrency, "budget": budget, "progress": progress}
    for place, reply in run(questions, chat, cache=cache, **options):
        found[place] = [{**row, "kept": kept[place]} for row in _rows(asked[place], reply, prompt)]
    rows = pd.DataFrame([row for each in found for row in each])
    return rows.assign(
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


def on_file(questions: Sequence[Question], chat: Chat, cache: Path) -> list[bool]:
    """Whether the answer to each question is kept already."""
    if not Path(cache).exists():
        return [False] * len(questions)
    with Answers(cache) as answers:
        keys = (one.key(chat.server, chat.model, chat.revision) for one in questions)
        return [answers.get(key) is not None for key in keys]


def _rows(job: Job, reply: Reply, prompt: Prompt) -> Iterator[dict[str, Any]]:
    """An answer as rows, one a rewrite and dimension."""
    ratings = read(reply, prompt, len(job.item_ids))
    for place, (item_id, by_dimension) in enumerate(zip(job.item_ids, ratings, strict=True)):
        rival = job.item_ids[1 - place] if prompt.unit == "pair" else ""
        for dimension in prompt.dimensions:
            rating = by_dimension[dimension]
            yield {
                "item_id": item_id,
                "source_id": job.source_id,
                "place": place + 1,
                "rival": rival,
                "dimension": dimension,
                "sample": job.question.sample,
                "rating": rating.value,
                "expected": rating.expected,
                "mass": rating.mass,
                "logprobs": rating.logprobs,
                "status": str(rating.status),
                "detail": rating.detail,
                "explanation": rating.explanation,
                "answered_by": reply.model,
                "fingerprint": reply.fingerprint,
            }


# ------------------------------------------------------------------------------------- scores


def scores(rows: pd.DataFrame, missing: str = "drop", value: str = "rating") -> pd.DataFrame:
    """Ratings as scores of a metric ``judge:MODEL+PROMPT``, one row an item and dimension.

    Where a prompt rates several dimensions, the name ends with ``#`` and the dimension.  The score
    of an item is the mean over its samples (and, for pairs, over its pairs) that have a value.

    Args:
        rows: as :func:`ask` returns them.
        missing: what stands for ratings that are not there, a name of
            :data:`~.treatments.TREATMENTS`; the signature says it.
        value: ``rating`` or ``expected``.

    Returns:
        A ``scores`` table.  An item without any value has the status of its first row and its
        words; one that was cut off before its rating is ``invalid``, for a cut text has a value.
    """
    made = treated(rows, missing, value)
    prompts = made.groupby(["prompt", "prompt_hash"], sort=False)
    several = prompts["dimension"].transform("nunique") > 1
    made = made.assign(several=several, usable=made["value"].notna())
    items = made.groupby(["dataset", "item_id", *_JUDGED], sort=False, as_index=False).agg(
        several=("several", "first"),
        value=("value", "mean"),
        filled=("filled", "sum"),
        rows=("filled", "size"),
        usable=("usable", "sum"),
        status=("status", "first"),
        detail=("detail", "first"),
    )
    samples = int(made["sample"].max()) + 1 if len(made) else 0
    judges = items.groupby(_JUDGED, sort=False).ngroup()
    firsts = items.loc[~judges.duplicated()]
    texts = [str(signature(row, samples, missing, value)) for _, row in firsts.iterrows()]
    names = [
        name_of(row.model, row.prompt, row.dimension if row.several else "")
        for row in firsts.itertuples()
    ]
    ends = [_ending(row) for row in items.itertuples()]
    table = items.assign(
        metric=[names[number] for number in judges],
        basis="source",
        signature=[texts[number] for number in judges],
        sample=0,
        status=[status for status, _ in ends],
        detail=[detail for _, detail in ends],
    )
    return schema.validate(table[schema.columns("scores")], "scores")


#: What a signature is made of: rows that agree in it are of one metric.
_JUDGED = ["dimension", "server", "model", "revision", "prompt", "prompt_hash", "asked_how"]


def _ending(row: Any) -> tuple[str, str]:
    """Status and detail of an item's score."""
    if row.usable:
        parts = f"{row.filled} of {row.rows} filled in" if row.filled else ""
        if row.usable < row.rows:
            parts = f"{row.rows - row.usable} of {row.rows} left out"
        return str(Status.OK), parts
    status, detail = Status(row.status), said(str(row.detail), 300)
    return (str(Status.INVALID), f"{status}: {detail}") if status.has_value else (status, detail)


def name_of(model: str, prompt: str, dimension: str = "") -> str:
    """What tables call a judge: ``judge:MODEL+PROMPT`` or ``judge:MODEL+PROMPT#DIMENSION``."""
    return f"judge:{model}+{prompt}" + (f"#{dimension}" if dimension else "")


def signature(row: Any, samples: int, missing: str = "drop", value: str = "rating") -> Signature:
    """All that changes a score, from a row; never a secret, for a row holds none."""
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
