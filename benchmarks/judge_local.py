"""The judge without a server beside a rewrite at a time in transformers, with the same weights.

The released prompt of Pauli et al. (2025) rates rewrites of the contrast set.  Beside the metric
``judge`` stand one forward pass a rewrite, whose softmax is read at the numbers of the scale, and
an answer that is generated and read, as a server does it.  They take turns in one process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import measure
import numpy as np
import torch

from tstmeta.data import load
from tstmeta.judge.answers import read
from tstmeta.judge.base import Reply
from tstmeta.judge.expected import Judge
from tstmeta.metrics import Request
from tstmeta.models import hub
from tstmeta.schema import Signature

LIBRARIES = ("tstmeta", "torch", "transformers", "numpy")
ROUNDS = 3
OURS, PASS, ANSWER = "judge", "one pass a rewrite", "one answer a rewrite"
#: Generation gets every fourth rewrite, and its time is scaled.
SHARE = 4
LEAST_FASTER, MOST_DIFFERENCE = 5, 1e-3


class Ran(NamedTuple):
    """Seconds for all rewrites, and the values; NaN where there is no rating."""

    seconds: float
    values: np.ndarray


class Asked:
    """The prompt of a metric as tokens, and its model in transformers."""

    def __init__(self, model: str):
        self.metric = Judge(model)
        self.model = hub.loaded(self.metric.model, rounded=False).engine.model
        self.tokenizer = hub.loaded(self.metric.model, rounded=False).tokenizer

    def prompt(self, request: Request) -> str:
        turns = [turn._asdict() for turn in self.metric.prompt.question([request]).messages]
        how: dict[str, Any] = {"tokenize": False, "add_generation_prompt": True}
        return str(self.tokenizer.apply_chat_template(turns, **how))

    def ids(self, text: str) -> torch.Tensor:
        options = {"add_special_tokens": False, "return_tensors": "pt"}
        return self.tokenizer(text, **options)["input_ids"].to(self.model.device)


def with_metric(asked: Asked, requests: Sequence[Request]) -> list[float]:
    return [score.value for score in asked.metric.values(requests)]


@torch.inference_mode()
def with_passes(asked: Asked, requests: Sequence[Request]) -> list[float]:
    """Expected ratings; needs numbers of one token."""
    low, high = (int(end) for end in asked.metric.prompt.scale)
    numbers = np.arange(low, high + 1)
    tokens = [int(asked.ids(str(number))[0, -1]) for number in numbers]
    values = []
    for request in requests:
        ids = asked.ids(asked.prompt(request) + asked.metric.begins)
        shares = asked.model(ids).logits[0, -1].float().softmax(-1)[tokens].cpu().numpy()
        values.append(float(shares @ numbers / shares.sum()))
    return values


@torch.inference_mode()
def with_answers(asked: Asked, requests: Sequence[Request]) -> list[float]:
    """Ratings of greedy answers, at most as long as the prompt says."""
    most, values = asked.metric.prompt.sampling.max_tokens, []
    for request in requests:
        ids = asked.ids(asked.prompt(request))
        how = {"max_new_tokens": most, "do_sample": False, "attention_mask": torch.ones_like(ids)}
        answer = asked.model.generate(ids, **how)[0, ids.shape[1] :]
        finish = "length" if len(answer) == most else "stop"
        reply = Reply(asked.tokenizer.decode(answer, skip_special_tokens=True), finish)
        [row] = read(reply, asked.metric.prompt, 1)
        values.append(row[asked.metric.dimensions[0]].value)
    return values


SIDES: dict[str, Callable[[Asked, Sequence[Request]], list[float]]] = {
    OURS: with_metric,
    PASS: with_passes,
    ANSWER: with_answers,
}


def run(side: str, asked: Asked, requests: Sequence[Request]) -> Ran:
    part = requests[::SHARE] if side == ANSWER else requests
    start = time.perf_counter()
    values = SIDES[side](asked, part)
    return Ran((time.perf_counter() - start) * len(requests) / len(part), np.array(values))


def requests_of(size: int) -> list[Request]:
    """The first rewrites of the contrast set, four of a source."""
    rows = load("contrast").items.head(size).itertuples()
    return [Request(r.output, (r.source,), r.source, r.style, r.language) for r in rows]


def rows_of(runs: dict[str, list[Ran]], size: int, asked: Asked) -> list[dict[str, Any]]:
    """A row a side; ``ratio`` is its time over ours in the same round."""
    ours, rows = [ran.seconds for ran in runs[OURS]], []
    for side, ran in runs.items():
        seconds = median(one.seconds for one in ran)
        gap = float(np.abs(ran[0].values - runs[OURS][0].values).max()) if side == PASS else None
        fields = {"model": asked.metric.fields()["model"], "side": side}
        row = {
            "metric": side,
            "rewrites": size if side != ANSWER else -(-size // SHARE),
            "milliseconds_a_rewrite": seconds / size * 1000,
            **measure.summary(measure.ratios([one.seconds for one in ran], ours)),
            "rated": float(np.isfinite(ran[0].values).mean()),
            "difference": gap,
            "signature": str(Signature.of("judge-local", fields)),
        }
        rows.append(row)
    return rows


def main(given: argparse.Namespace) -> None:
    size = given.size
    load_before, rounds = measure.load_average(), 1 if given.quick else ROUNDS
    asked, requests = Asked(given.model), requests_of(size)
    for side in SIDES:
        run(side, asked, requests[:1])  # what is loaded once counts for no side
    runs: dict[str, list[Ran]] = {side: [] for side in SIDES}
    for turn in range(rounds):
        first = turn % len(SIDES)
        for side in [*SIDES][first:] + [*SIDES][:first]:
            runs[side].append(run(side, asked, requests))
    rows = rows_of(runs, size, asked)
    ratio, gap = {row["metric"]: row["ratio"] for row in rows}, rows[1]["difference"]
    goals = [
        measure.check("times as fast as one answer a rewrite", ratio[ANSWER], ">=", LEAST_FASTER),
        measure.check("times as fast as one pass a rewrite", ratio[PASS], ">=", 1),
        measure.check("largest difference from one pass a rewrite", gap, "<=", MOST_DIFFERENCE),
    ]
    notes = [
        "ratio: time of the side over that of judge, in the same round; above 1, judge is faster",
        f"one answer a rewrite: 1 of {SHARE} rewrites, time scaled to all",
        "rated: share of rewrites with a value; an answer without a rating on the scale has none",
        f"{torch.get_num_threads()} threads, {asked.metric.fields()['model']}",
    ]
    measure.finish("judge_local", given, LIBRARIES, load_before, rows, goals, notes, rounds)
