"""Training a transfer model: steps of discriminators and generator in turn (Section 4.6).

What a step sees depends on the seed and its number alone (see :mod:`..models.training.loop`), so a
run that was killed ends with the same weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from .. import storage
from ..models import hub
from ..models.textcnn import numbered, padded, vocabulary
from ..models.training import loop
from ..models.training.loop import Learner
from ..schema import TstmetaError
from . import losses
from .configuration import Configuration, TransferOptions
from .corpus import TransferCorpus
from .network import MARKS, LanguageGru, Sentences, TransferModel

#: Folders: a CSV file of outputs for each point; the language models.
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

    Returns:
        The report: what makes it this run, ``points`` in steps, the mean loss up to each.

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
    course = _Course(corpus, weights, options, seed, hub.device_of(device))
    if "language" in weights:
        course.learn_languages(out / LANGUAGE, run, epoch * options.language_epochs)
    points = [steps * (k + 1) // options.points for k in range(options.points)]

    def step(number: int) -> float:
        if number in points:
            course.write_outputs(out, number)
        return course.step(number)

    values = loop.follow(out, run, course.whole, step, steps, options.checkpoint)
    course.write_outputs(out, steps)
    ends = [part.mean() for part in np.split(np.array(values), points[:-1]) if len(part)]
    report = {**run, "points": points, "losses": np.round(ends, 4).tolist()}
    loop.write_report(out, report)
    course.write(out / "model.safetensors")
    (out / loop.CHECKPOINT).unlink()
    return report


class _Course:
    """What the steps of a model see and do."""

    def __init__(
        self,
        corpus: TransferCorpus,
        weights: Mapping[str, float],
        options: TransferOptions,
        seed: int,
        device: str,
    ):
        self.corpus, self.weights, self.options = corpus, weights, options
        self.seed, self.device = seed, device
        self.known = [*MARKS, *vocabulary(corpus.train["text"], 2, options.vocabulary, str.split)]
        columns = [(corpus.train, "text"), (corpus.pairs, "text"), (corpus.pairs, "paraphrase")]
        #: Training sentences and both sides of paraphrases: [3][style][sentence][word].
        self.rows = [
            [self._numbers(table.loc[table["number"] == n, column]) for n in (0, 1)]
            for table, column in columns
        ]
        if "paraphrase" in weights and not all(self.rows[1]):
            raise TstmetaError(
                "no paraphrase of a style. Remedy: name a file of paraphrases with --pairs"
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            size = len(self.known) + 2
            self.model = TransferModel(size, list(weights), options).to(device)
            self.readers = nn.ModuleList(LanguageGru(size, options) for _ in (0, 1)).to(device)
        self.generator = self._learner(self.model.generator)
        self.judges = self._learner(self.model.discriminators)
        both = [*self.generator.optimisers, *self.judges.optimisers]
        self.whole = Learner(self.model, both, seed)

    def _learner(self, part: nn.Module) -> Learner:
        # a model without discriminators has none to train
        values = [*part.parameters()]
        adam = torch.optim.Adam(values, lr=self.options.rate) if values else None
        return Learner(part, [adam] if adam else [], self.seed)

    def _numbers(self, texts: Iterable[str]) -> list[list[int]]:
        return [row[: self.options.longest] for row in numbered(texts, self.known, str.split)]

    def _padded(self, rows: Sequence[Sequence[int]]) -> Sentences:
        return Sentences(*(tensor.to(self.device) for tensor in padded(rows)))

    def _read(self, step: int, column: int = 0) -> list[Sentences]:
        """A batch of each style; both sides of paraphrases in the same order."""
        batches = []
        for style, rows in enumerate(self.rows[column]):
            stream = 4 * self.seed + 2 * (column > 0) + style
            order = loop.rows_of(step, len(rows), self.options.batch, stream)
            batches.append(self._padded([rows[n] for n in order]))
        return batches

    def step(self, number: int) -> float:
        """One of the discriminators, then one of the generator; the generator's loss."""
        generator, rate = self.model.generator, self.options.rate
        read, transferred = self._read(number), []
        contents = [generator.encode(read[t], t) for t in (0, 1)]
        followed = [generator.follow(read[t], t, contents[t]) for t in (0, 1)]
        if self.judges.optimisers or "language" in self.weights:
            transferred = [generator.unfold(read[t], 1 - t, contents[t]) for t in (0, 1)]
        if self.judges.optimisers:
            self.judges.step(number, map(self._judged, [(followed, transferred)]), 1, rate)
        whole = map(self._total, [(number, read, followed, transferred)])
        return self.generator.step(number, whole, 1, rate)

    def _judged(self, passes: tuple[losses.Pair, losses.Pair]) -> torch.Tensor:
        """What discriminators go down: Eq. 3, and Eq. 7 with its penalty."""
        own, other = ([p._replace(states=p.states.detach()) for p in side] for side in passes)
        judges, parts = self.model.discriminators, []
        if "adversarial" in judges:
            parts.append(losses.adversarial(judges["adversarial"], own, other))
        if "wasserstein" in judges:
            critics = judges["wasserstein"]
            shares = [torch.rand(len(p.states)).to(p.states) for p in own]
            penalty = losses.gradient_penalty(critics, own, other, shares)
            parts.append(losses.wasserstein(critics, own, other) + losses.XI * penalty)
        return torch.stack(parts).sum()

    def _total(self, now: tuple[int, Any, losses.Pair, losses.Pair]) -> torch.Tensor:
        """What the generator goes down: the sum of Section 4.6."""
        number, read, *passes = now
        generator, judges = self.model.generator, self.model.discriminators
        halved = 0.5 ** (number // self.options.halving)
        parts = {
            "reconstruction": lambda: losses.reconstruction(passes[0], read),
            "paraphrase": lambda: losses.paraphrase(
                generator, self._read(number, 1), self._read(number, 2)
            ),
            "cyclic": lambda: losses.cyclic(generator, read, self.options.longest),
            "language": lambda: losses.language(self.readers, passes[1]),
            "adversarial": lambda: -losses.adversarial(judges["adversarial"], *passes),
            "wasserstein": lambda: -halved * losses.wasserstein(judges["wasserstein"], *passes),
        }
        return torch.stack([weight * parts[name]() for name, weight in self.weights.items()]).sum()

    def learn_languages(self, out: Path, run: Mapping[str, Any], steps: int) -> None:
        """Train the language models of Eq. 6, which are kept fixed from then on."""
        learner = self._learner(self.readers)

        def loss(read: Sequence[Sentences]) -> torch.Tensor:
            own = zip(self.readers, read, strict=True)
            return torch.stack([losses.unlikelihood(m(x.fed()), x) for m, x in own]).sum()

        def step(number: int) -> float:
            return learner.step(number, map(loss, [self._read(number)]), 1, self.options.rate)

        # the last checkpoint stays: a run that goes on takes the models from it
        loop.follow(out, run, learner, step, steps, self.options.checkpoint)
        self.readers.eval().requires_grad_(False)

    def write_outputs(self, out: Path, point: int) -> None:
        """Transfer all sources: a row each, in their order."""
        sources = self.corpus.sources
        rows, texts = self._numbers(sources["text"]), [""] * len(sources)
        for style, places in sources.groupby("number").groups.items():
            for at in range(0, len(places), _BATCH):
                batch = places[at : at + _BATCH]
                read = self._padded([rows[place] for place in batch])
                own = self.model.generator.transfer(read, style, 1 - style, self.options.longest)
                for place, ids in zip(batch, own.ids.tolist(), strict=True):
                    texts[place] = " ".join(self.known[n - 2] for n in ids if n)
        table = pd.DataFrame({"output": texts}).to_csv(index=False, lineterminator="\n")
        storage.write(out / OUTPUTS / f"{point:06d}.csv", table)

    def write(self, path: Path) -> None:
        from safetensors.torch import save

        state = self.model.named_parameters()
        storage.write(path, save({name: value.detach().cpu() for name, value in state}))
