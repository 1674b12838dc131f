"""What notebook 05 calls: which choices inside the likelihood method matter, and how sure that is.

Three kinds of choice.  Other *instructions* and the *variant* of the released program need passes
of their own.  Other *readings* of the same token log-probabilities (an instruction left out of the
maximum, the end of the turn counted) need none: they are computed from what the cache holds.

Every choice is held against the usual one in the same draws of sources, so that a difference can be
told from chance even where both values are uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import data as datasets
from ..data import Dataset, paths
from ..likelihood import instructions as wordings
from ..likelihood.instructions import TASKS
from ..likelihood.scorer import Judged, Rewrite, Scorer
from ..likelihood.tokens import VARIANTS, Variant, content, explained_by
from ..likelihood.zeroshot import Likelihood
from ..metrics import get
from ..schema import TstmetaError
from . import html
from .bench import USABLE, Bench
from .choices import Asked, Compared, compare
from .published import cells

#: Data sets of the chapter, ours first; those that are here are shown.
DATA = ("contrast", "world", "pauli", "lai@pauli2025-systems", "mir")
PAPER, TABLE = "pauli2025", "11"


def metric(model: str = "embedded", instructions: str = "paper", variant: str = "equation") -> str:
    """Name of the metric ``likelihood`` under these choices; usual ones are left unsaid."""
    usual = (("embedded", model), ("paper", instructions), ("equation", variant))
    words = "+".join(word for default, word in usual if word != default)
    return f"likelihood:{words}" if words else "likelihood"


def metrics(models: Sequence[str], variant: str = "equation") -> list[str]:
    """Names of the metric on several models."""
    return [metric(name, variant=variant) for name in models]


# ----------------------------------------------------------------------------------- readings


class Reading(NamedTuple):
    """How content is read off the token log-probabilities: instructions, columns."""

    about: str
    tasks: tuple[str, ...] = TASKS
    variant: Callable[[Variant], Variant] = lambda one: one


def _without(task: str) -> Reading:
    return Reading(
        f"the maximum over the other two, {task} left out",
        tuple(one for one in TASKS if one != task),
    )


#: Readings by name; the first is the method.
READINGS: dict[str, Reading] = {
    "best of three": Reading("the maximum over all three instructions, Eq. 1"),
    **{f"without {task}": _without(task) for task in TASKS},
    **{f"{task} alone": Reading(f"the instruction {task} and no other", (task,)) for task in TASKS},
    "end of turn": Reading(
        "the other way: the end of the turn counted where it is not, and not where it is",
        variant=lambda one: replace(one, end_of_turn=not one.end_of_turn),
    ),
    "first token": Reading(
        "the other way: the first token left out where it counts, and counted where it does not",
        variant=lambda one: replace(one, skip_first=not one.skip_first),
    ),
}


def read(judged: Sequence[Judged], scorer: Scorer, reading: Reading) -> np.ndarray:
    """Content of each rewrite under a reading [items], NaN where there is no value."""
    variant = reading.variant(scorer.variant)
    found = []
    for one in judged:
        columns = variant.columns(one.logprobs) if one.status.has_value else np.empty((3, 0))
        if one.status.has_value:
            found.append(content(columns, reading.tasks) if columns.size else scorer.blind)
        else:
            found.append(math.nan)
    values = np.array(found, dtype=float)
    return np.where(np.isfinite(values), values, math.nan)


# ------------------------------------------------------------------------------------ chapter


class Ablation:
    """The chapter for the parameters of its notebook.

    Attributes:
        data: data sets shown.
        models: models that are here, by their words; ``absent`` has the others and what to do.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        models: Sequence[str],
        instructions: Sequence[str],
        variant: str = "equation",
        how: Asked | None = None,
    ):
        if variant not in VARIANTS:
            raise TstmetaError(f"variant is {variant!r}; use one of {', '.join(VARIANTS)}")
        if not models or not instructions:
            raise TstmetaError("name one model and one instruction set at least")
        self.bench, self.variant, self.how = bench, variant, how or Asked()
        self.sets = list(dict.fromkeys(instructions))
        for name in self.sets:
            wordings.get(name)  # refuses one that is not there
        if dataset == "auto":
            known = set(datasets.names())
            here = [name for name in DATA if name.partition("@")[0] in known and bench.has(name)]
            self.data = [bench.dataset(name) for name in here]
        else:
            self.data = [bench.dataset(dataset)]
        asked_for = {name: _metric(metric(name)).missing for name in dict.fromkeys(models)}
        self.models = [name for name, missing in asked_for.items() if not missing]
        self.absent = {name: missing for name, missing in asked_for.items() if missing}

    def missing(self) -> Markdown | None:
        """Models that were asked for and are not here; None where all are."""
        if not self.absent:
            return None
        lines = [f"- `{name}` is left out: {reason}" for name, reason in self.absent.items()]
        return Markdown("\n".join(lines))

    # ----------------------------------------------------------------- what needs a pass each

    @cached_property
    def by_set(self) -> list[Compared]:
        """Instruction sets, each held against the first."""
        return self._passes([(name, name, self.variant) for name in self.sets])

    @cached_property
    def by_variant(self) -> list[Compared]:
        """Variants, each held against the one of the parameters."""
        first = self.sets[0]
        order = [self.variant, *(name for name in VARIANTS if name != self.variant)]
        return self._passes([(name, first, name) for name in order])

    def _passes(self, choices: Sequence[tuple[str, str, str]]) -> list[Compared]:
        found = []
        for data in self.data:
            vectors: dict[str, np.ndarray] = {}
            usual: dict[str, str] = {}
            for model in self.models:
                named = [(self._row(model, name), *rest) for name, *rest in choices]
                for row, words, variant in named:
                    vectors[row] = self._scores(data, metric(model, words, variant))
                    usual[row] = named[0][0]
            found += self._compared(data, vectors, usual)
        return found

    def _row(self, model: str, name: str) -> str:
        return name if len(self.models) == 1 else f"{model}, {name}"

    def _scores(self, data: Dataset, name: str) -> np.ndarray:
        table = self.bench.table(data, [name], ["source"]).set_index("item_id")
        values = table["value"].where(table["status"].isin(USABLE))
        return values.reindex(data.items["item_id"]).to_numpy(float)

    def _compared(
        self, data: Dataset, vectors: Mapping[str, np.ndarray], usual: Mapping[str, str]
    ) -> list[Compared]:
        some = bool(vectors) and any(np.isfinite(one).any() for one in vectors.values())
        return [compare(data, vectors, usual, self.how)] if some else []

    # ------------------------------------------------------------------ what needs no new pass

    @cached_property
    def judged(self) -> dict[tuple[str, str], tuple[Scorer, list[Judged]]]:
        """Token log-probabilities by data set and model, from the cache where they are there."""
        found = {}
        for model in self.models:
            chosen = _metric(metric(model, self.sets[0], self.variant))
            chosen.keep_in(self.bench.store or paths.scores(), self.bench.progress)
            scorer = chosen.scorer()
            for data in self.data:
                items = data.items[["source", "output", "style"]]
                rewrites = [Rewrite(*row) for row in items.itertuples(index=False)]
                found[data.name, model] = scorer, scorer.judge(rewrites)
        return found

    @cached_property
    def by_reading(self) -> list[Compared]:
        """Readings of the same log-probabilities, each held against the method's own."""
        found = []
        for data in self.data:
            vectors: dict[str, np.ndarray] = {}
            usual: dict[str, str] = {}
            for model in self.models:
                scorer, judged = self.judged[data.name, model]
                for name, reading in READINGS.items():
                    vectors[self._row(model, name)] = read(judged, scorer, reading)
                    usual[self._row(model, name)] = self._row(model, next(iter(READINGS)))
            found += self._compared(data, vectors, usual)
        return found

    def explained(self) -> html.Html:
        """By which instruction tokens are accounted for best: shares of all tokens."""
        rows = []
        for (name, model), (scorer, judged) in self.judged.items():
            known = [one for one in judged if one.status.has_value]
            best = [
                task for one in known for task in explained_by(scorer.variant.columns(one.logprobs))
            ]
            row = {"data set": name, "model": model, "tokens": len(best)}
            share = {task: f"{best.count(task) / len(best):.0%}" if best else "–" for task in TASKS}
            rows.append(row | share)
        return html.table(pd.DataFrame(rows))


def _metric(name: str) -> Likelihood:
    found = get(name)
    if not isinstance(found, Likelihood):
        raise TstmetaError(f"{name} is no likelihood metric")
    return found


# ------------------------------------------------------------------------------- words shown


def words(sets: Sequence[str]) -> html.Html:
    """The instruction sets with their origin and every word that a model reads."""
    blocks = []
    for one in map(wordings.get, sets):
        told = {
            "system prompt": one.system or "none",
            **{task: getattr(one, task) for task in TASKS},
        }
        lines = [f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in told.items()]
        head = f"<b>{escape(one.name)}</b> ({escape(one.origin)})"
        about = f": {escape(one.about)}" if one.about else ""
        blocks.append(
            f"<div class='tst-example'><p class='tst-target'>{head}{about}</p>"
            f"<dl>{''.join(lines)}</dl></div>"
        )
    return html.Html("".join(blocks))


def readings() -> html.Html:
    """What each reading is."""
    rows = [{"reading": name, "content is": one.about} for name, one in READINGS.items()]
    return html.table(pd.DataFrame(rows))


def printed_spans() -> Markdown:
    """How far the four printed wordings of Table 11 lie apart, by model."""
    rows = pd.DataFrame(
        [
            (one.item.partition("(")[2].rstrip(")"), one.dataset, one.value)
            for one in cells()
            if (one.paper, one.table, one.statistic) == (PAPER, TABLE, "pearson")
        ],
        columns=["model", "data", "value"],
    )
    lines = []
    for model, group in rows.groupby("model", sort=False):
        span = group.groupby("data", sort=False)["value"].agg(lambda one: one.max() - one.min())
        lines.append(
            f"- {model.upper()}: the four printed rows lie {span.median():.2f} apart on the middle"
            f" data set and {span.max():.2f} on `{span.idxmax()}`, where they differ most."
        )
    return Markdown("\n".join(lines))
