"""Training a transfer model: steps of discriminators and generator in turn (Section 4.6).

What a step sees depends on the seed and its number alone (see :mod:`..models.training.loop`), so a
run that was killed ends with the same weights.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from .. import storage
from ..models import hub
from ..models.textcnn import numbered, vocabulary
from ..models.training import loop
from ..models.training.loop import Learner
from . import losses
from .configuration import Configuration, TransferOptions
from .corpus import TransferCorpus
from .network import MARKS, LanguageGru, Sentences, TransferModel, sentences

WEIGHTS = "model.safetensors"
#: Folder with what was written at each point, one CSV file a point; and that of language models.
OUTPUTS, LANGUAGE = "outputs", "language"
#: Sentences that are transferred at a time.
_BATCH = 250


def train(
    out: Path,
    name: str,
    corpus: TransferCorpus,
    configuration: Configuration,
    seed: int = 0,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a model; write it, its outputs at each point and a report into a folder.

    A checkpoint in it is taken up; the result of this very run is left as it is.

    Args:
        name: of a model of the configuration.
        device: see :func:`tstmeta.models.hub.device_of`.

    Returns:
        The report: what makes it this run, ``points`` and the loss at each.

    Raises:
        TstmetaError: no such model, nothing to learn, a folder of another run.
    """
    options, weights = configuration.options, configuration.weights_of(name)
    epoch = -(-int(corpus.train["number"].value_counts().max()) // options.batch)
    steps = options.steps or epoch * options.epochs
    run = {
        "model": name,
        "seed": seed,
        "steps": steps,
        "weights": weights,
        "options": options.model_dump(),
        "corpus": corpus.identity(),
        "versions": loop.versions("torch", "numpy"),
    }
    if report := loop.finished(out, run):
        return report
    torch.set_num_threads(options.threads)
    known = [*MARKS, *vocabulary(corpus.train["text"], 2, options.vocabulary, str.split)]
    device = hub.device_of(device)
    lesson = _Lesson(corpus, known, options, seed, device)
    readers = _language_models(out / LANGUAGE, run, lesson) if "language" in weights else []
    model = _seeded(seed, partial(TransferModel, len(known) + 2, list(weights), options)).to(device)
    course = _Course(model, weights, lesson, readers)
    points = [steps * (k + 1) // options.points for k in range(options.points)]

    def step(number: int) -> float:
        if number in points:
            _write_outputs(out, number, corpus, lesson, model)
        return course.step(number)

    values = loop.follow(out, run, course.whole, step, steps, options.checkpoint)
    _write_outputs(out, steps, corpus, lesson, model)
    ends = [places.mean() for places in np.split(np.array(values), points[:-1]) if len(places)]
    report = {
        **run,
        "vocabulary": len(known),
        "points": points,
        "losses": np.round(ends, 4).tolist(),
    }
    loop.write_report(out, report)
    _write_weights(out / WEIGHTS, model)
    (out / loop.CHECKPOINT).unlink()
    return report


def _seeded(seed: int, build: Any) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def _write_weights(path: Path, model: nn.Module) -> None:
    from safetensors.torch import save

    state = model.named_parameters()
    storage.write(path, save({name: value.detach().cpu() for name, value in state}))


class _Lesson:
    """What a step sees: sentences of each style by number, and paraphrases."""

    def __init__(
        self,
        corpus: TransferCorpus,
        known: Sequence[str],
        options: TransferOptions,
        seed: int,
        device: str,
    ):
        self.known, self.options, self.seed, self.device = known, options, seed, device
        train, pairs = ([t[t["number"] == n] for n in (0, 1)] for t in (corpus.train, corpus.pairs))
        self.texts = [self.numbers(rows["text"]) for rows in train]
        columns = ("text", "paraphrase")
        self.sides = [[self.numbers(rows[column]) for column in columns] for rows in pairs]

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        return [row[: self.options.longest] for row in numbered(texts, self.known, str.split)]

    def padded(self, rows: Sequence[Sequence[int]]) -> Sentences:
        return sentences(rows, self.device)

    def read(self, step: int) -> list[Sentences]:
        """A batch of each style."""
        order = [self._rows(step, len(rows), style) for style, rows in enumerate(self.texts)]
        return [self.padded([r[n] for n in o]) for r, o in zip(self.texts, order, strict=True)]

    def pairs(self, step: int) -> list[tuple[Sentences, Sentences] | None]:
        """Paraphrases of each style; None where it has none."""
        batches: list[tuple[Sentences, Sentences] | None] = []
        for style, (one_side, other) in enumerate(self.sides):
            order = self._rows(step, len(one_side), 2 + style) if one_side else []
            u, v = ([rows[n] for n in order] for rows in (one_side, other))
            batches.append((self.padded(u), self.padded(v)) if u else None)
        return batches

    def _rows(self, step: int, count: int, stream: int) -> np.ndarray:
        return loop.rows_of(step, count, self.options.batch, 4 * self.seed + stream)


class _Course:
    """The steps of one model."""

    def __init__(
        self,
        model: TransferModel,
        weights: Mapping[str, float],
        lesson: _Lesson,
        readers: Sequence[nn.Module],
    ):
        self.model, self.weights, self.lesson, self.readers = model, weights, lesson, readers
        options, seed = lesson.options, lesson.seed
        parts = [part for part in (model.generator, model.discriminators) if [*part.parameters()]]
        learners = [Learner(part, [self._adam(part, options)], seed) for part in parts]
        self.generator, self.judges = learners[0], learners[1:]
        self.whole = Learner(model, [adam for own in learners for adam in own.optimisers], seed)

    @staticmethod
    def _adam(part: nn.Module, options: TransferOptions) -> torch.optim.Optimizer:
        return torch.optim.Adam(part.parameters(), lr=options.rate, weight_decay=options.decay)

    def step(self, number: int) -> float:
        """One of the discriminators, then one of the generator; the generator's loss."""
        options, generator = self.lesson.options, self.model.generator
        read = self.lesson.read(number)
        contents = [generator.encode(read[t], t) for t in (0, 1)]
        followed = [generator.follow(read[t], t, contents[t]) for t in (0, 1)]
        transferred = []
        if self.judges or self.readers:
            transferred = [generator.unfold(read[t], 1 - t, contents[t]) for t in (0, 1)]
        for learner in self.judges:
            loss = map(self._judged, [(followed, transferred)])
            learner.step(number, loss, 1, options.rate)
        loss = map(self._whole, [(number, read, followed, transferred)])
        return self.generator.step(number, loss, 1, options.rate)

    def _judged(self, passes: tuple[losses.Pair, losses.Pair]) -> torch.Tensor:
        """What discriminators go down: Eq. 3, and Eq. 7 with its penalty."""
        own, other = ([p._replace(states=p.states.detach()) for p in side] for side in passes)
        judges, total = self.model.discriminators, own[0].states.new_zeros(())
        if "adversarial" in judges:
            total = total + losses.adversarial(judges["adversarial"], own, other)
        if "wasserstein" in judges:
            shares = [torch.rand(len(p.states)).to(p.states.device) for p in own]
            critics = judges["wasserstein"]
            penalty = losses.gradient_penalty(critics, own, other, shares)
            total = total + losses.wasserstein(critics, own, other)
            total = total + self.lesson.options.penalty * penalty
        return total

    def _whole(self, now: tuple[int, Any, losses.Pair, losses.Pair]) -> torch.Tensor:
        """What the generator goes down: the sum of Section 4.6."""
        number, read, followed, transferred = now
        options, model = self.lesson.options, self.model
        judges = model.discriminators
        parts = {
            "reconstruction": lambda: losses.reconstruction(followed, read),
            "paraphrase": lambda: losses.paraphrase(model.generator, self.lesson.pairs(number)),
            "cyclic": lambda: losses.cyclic(model.generator, read, options.longest),
            "language": lambda: losses.language(self.readers, transferred),
            "adversarial": lambda: (
                -losses.adversarial(judges["adversarial"], followed, transferred)
            ),
            "wasserstein": lambda: (
                -losses.wasserstein(judges["wasserstein"], followed, transferred)
                * 0.5 ** (number // options.halving)
            ),
        }
        return torch.stack([weight * parts[name]() for name, weight in self.weights.items()]).sum()


def _language_models(out: Path, run: Mapping[str, Any], lesson: _Lesson) -> Sequence[nn.Module]:
    """Eq. 6's language model of each style, trained before and kept fixed."""
    options, seed = lesson.options, lesson.seed
    size = len(lesson.known) + 2
    build = partial(LanguageGru, size, options)
    models = _seeded(seed, lambda: nn.ModuleList(build() for _ in range(2))).to(lesson.device)
    adam = torch.optim.Adam(models.parameters(), lr=options.rate)
    learner = Learner(models, [adam], seed)

    def loss(read: Sequence[Sentences]) -> torch.Tensor:
        own = zip(models, read, strict=True)
        return torch.stack([losses.unlikelihood(m(x.fed()), x) for m, x in own]).sum()

    def step(number: int) -> float:
        return learner.step(number, map(loss, [lesson.read(number)]), 1, options.rate)

    epoch = -(-max(map(len, lesson.texts)) // options.batch)
    # the last checkpoint stays: a run that goes on takes the models from it
    loop.follow(out, run, learner, step, epoch * options.language_epochs, options.checkpoint)
    return [model.eval().requires_grad_(False) for model in models]


def _write_outputs(
    out: Path, point: int, corpus: TransferCorpus, lesson: _Lesson, model: TransferModel
) -> None:
    """Transfer all sources: one row each, in their order."""
    rows = lesson.numbers(corpus.sources["text"])
    texts = pd.Series("", index=corpus.sources.index)
    for style, places in corpus.sources.groupby("number").groups.items():
        for at in range(0, len(places), _BATCH):
            batch = places[at : at + _BATCH]
            read = lesson.padded([rows[place] for place in batch])
            own = model.generator.transfer(read, style, 1 - style, lesson.options.longest)
            for place, ids, length in zip(
                batch, own.ids.tolist(), own.lengths.tolist(), strict=True
            ):
                texts[place] = " ".join(lesson.known[n - 2] for n in ids[:length])
    table = pd.DataFrame({"output": texts}).to_csv(index=False, lineterminator="\n")
    storage.write(out / OUTPUTS / f"{point:06d}.csv", table)
