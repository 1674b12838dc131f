"""Training a transfer model: steps of discriminators and generator in turn (Section 4.6); scores.

What a step sees depends on the seed and its number alone (:mod:`experiments.training.loop`), so
a run that was killed ends with the same weights.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save
from torch import nn

from experiments.training import loop
from experiments.training.classifier import vocabulary
from experiments.training.loop import Learner
from tstmeta import storage
from tstmeta.console import note
from tstmeta.data import Dataset
from tstmeta.data.tables import items_table
from tstmeta.metrics import registry
from tstmeta.metrics.base import Request
from tstmeta.models import hub
from tstmeta.models.classifiers import UNKNOWN, numbered, padded
from tstmeta.schema import TstmetaError
from tstmeta.scoring import score

from . import network
from .configuration import Configuration, TransferOptions
from .corpus import REFERENCE, TransferCorpus
from .network import MARKS, LanguageGru, Pair, Sentences, TransferModel

#: Folders: a CSV file of outputs for each point; the language models.
OUTPUTS, LANGUAGE = "outputs", "language"
#: The metrics along training: numbers of each point, part and metric, and no text.
FILE = "trajectory.csv"
#: What was written at the last point, as a data set file; the system is the model and its seed.
ENDS = "outputs.csv"
COLUMNS = ["model", "seed", "step", "part", "metric", "basis", "value", "n"]


def train(
    out: Path,
    name: str,
    corpus: TransferCorpus,
    configuration: Configuration,
    seed: int = 0,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a model; write it, its outputs at each point and a report into a folder.

    A checkpoint in it is taken up, and the result of this very run left as it is; what another run
    made is refused.  The report has what makes it this run, ``points`` in steps, and mean losses.
    """
    options, weights = configuration.options, configuration.weights_of(name)
    epoch = -(-int(corpus.train["number"].value_counts().max()) // options.batch)
    steps = options.steps or epoch * options.epochs
    if steps <= options.alone:
        many = f"{options.alone} steps of reconstruction come before {name} begins to learn"
        raise TstmetaError(f"{many}. Remedy: take more than {steps} steps, or a smaller `alone`")
    run = {"model": name, "seed": seed, "steps": steps, "weights": weights}
    run |= {"options": options.model_dump(), "corpus": corpus.identity()}
    run |= {"reward": configuration.reward} if "reward" in weights else {}
    run["versions"] = loop.versions("torch", "numpy")
    if report := loop.finished(out, run):
        return report
    with _manner(options.threads):
        course = _Course(run, corpus, hub.device_of(device))
        if "language" in weights:
            course.learn_languages(out / LANGUAGE, run, epoch * options.language_epochs)
        rest = max(steps - options.alone, 0)
        points = [options.alone + rest * (k + 1) // options.points for k in range(options.points)]

        def step(number: int) -> float:
            if number and number in (options.alone, *points):
                course.write_outputs(out, number)
            return course.step(number)

        values = loop.follow(out, run, course.learner, step, steps, options.checkpoint)
        course.write_outputs(out, steps)
        ends = [np.mean(part) for part in np.split(values, points[:-1]) if len(part)]
        report = {**run, "points": points, "losses": np.round(ends, 4).tolist()}
        loop.write_report(out, report)
        state = {name: value.detach().cpu() for name, value in course.model.named_parameters()}
        storage.write(out / "model.safetensors", save(state))
        (out / loop.CHECKPOINT).unlink()
        return report


@contextmanager
def _manner(threads: int) -> Iterator[None]:
    """On so many threads, without numbers too small to be normal; after it as it was before."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)  # sharp distributions are full of them; products take 20 times
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


class _Course:
    """What the steps of a model see and do."""

    def __init__(self, run: Mapping[str, Any], corpus: TransferCorpus, device: str):
        self.seed, weights, options = run["seed"], run["weights"], TransferOptions(**run["options"])
        self.sources, self.weights, self.options = corpus.sources, weights, options
        self.device = device
        self.known = [*MARKS, *vocabulary(corpus.train["text"], 2, options.vocabulary, str.split)]
        #: Training sentences and both sides of paraphrases: [3][style][sentence][word].
        tables = ((corpus.train, "text"), (corpus.pairs, "text"), (corpus.pairs, "paraphrase"))
        both = [[t.loc[t["number"] == n, column] for n in (0, 1)] for t, column in tables]
        self.rows = [[self._numbers(texts) for texts in side] for side in both]
        if "paraphrase" in weights and not all(self.rows[1]):
            raise TstmetaError(
                "a style lacks paraphrases. Remedy: name a configuration with --config whose "
                "paraphrases exchange words of the corpus"
            )
        self.metric: Any = registry.get(run["reward"]) if "reward" in run else None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            size = len(self.known) + 2
            self.model = TransferModel(size, list(weights), options).to(device)
            self.readers = nn.ModuleList(LanguageGru(size, options) for _ in (0, 1)).to(device)
        self.generator = self._learner(self.model.generator)
        self.judges = self._learner(self.model.discriminators)
        optimisers = [*self.generator.optimisers, *self.judges.optimisers]
        self.learner = Learner(self.model, optimisers, self.seed)

    def _learner(self, part: nn.Module) -> Learner:
        return Learner(part, [torch.optim.Adam(part.parameters())], self.seed)

    def _numbers(self, texts: Iterable[str]) -> list[list[int]]:
        return [row[: self.options.longest] for row in numbered(texts, self.known, str.split)]

    def _padded(self, rows: Sequence[Sequence[int]]) -> Sentences:
        return Sentences(*(tensor.to(self.device) for tensor in padded(rows)))

    def _texts(self, sentences: Sentences) -> list[str]:
        """Their known words."""
        rows = sentences.ids.tolist()
        return [" ".join(self.known[n - UNKNOWN - 1] for n in ids if n > UNKNOWN) for ids in rows]

    def _worth(self, read: Sentences, written: Sentences) -> torch.Tensor:
        """The metric's values [B]; nothing where it has none."""
        both = zip(self._texts(written), self._texts(read), strict=True)
        scores = self.metric.score([Request(output, (text,), text) for output, text in both])
        values = torch.tensor([score.value for score in scores])
        return values.nan_to_num(0.0).to(self.device)

    def _read(self, step: int, column: int = 0) -> list[Sentences]:
        """A batch of each style; both sides of paraphrases in the same order."""
        streams = [4 * self.seed + 2 * (column > 0) + style for style in (0, 1)]
        draws = zip(self.rows[column], streams, strict=True)
        rows_of = partial(loop.rows_of, step, batch=self.options.batch)
        return [self._padded([r[n] for n in rows_of(len(r), seed=s)]) for r, s in draws]

    def step(self, number: int) -> float:
        """One of the discriminators, then one of the generator; the generator's loss."""
        generator, rate = self.model.generator, self.options.rate
        if number < self.options.alone:
            return self.generator.step(number, map(self._alone, [self._read(number)]), 1, rate)
        read = self._read(number)
        contents = [generator.encode(read[t], t) for t in (0, 1)]
        followed = [generator.follow(read[t], t, contents[t]) for t in (0, 1)]
        transferred = [generator.unfold(read[t], 1 - t, contents[t]) for t in (0, 1)]
        self.judges.step(number, map(self._judged, [(followed, transferred)]), 1, rate)
        total = map(self._total, [(number, read, followed, transferred)])
        return self.generator.step(number, total, 1, rate)

    def _alone(self, read: list[Sentences]) -> torch.Tensor:
        """Reconstruction, with which training begins."""
        generator = self.model.generator
        followed = [generator.follow(read[t], t, generator.encode(read[t], t)) for t in (0, 1)]
        return network.reconstruction(followed, read)

    def _judged(self, passes: tuple[Pair, Pair]) -> torch.Tensor:
        """What discriminators go down: Eq. 3, and Eq. 7 with its penalty."""
        real, other = ([p._replace(states=p.states.detach()) for p in side] for side in passes)
        judges = self.model.discriminators
        total = network.adversarial(judges["adversarial"], real, other)
        if "wasserstein" in judges:
            critics = judges["wasserstein"]
            shares = [torch.rand(len(p.states)).to(p.states) for p in real]
            penalty = network.gradient_penalty(critics, real, other, shares)
            total = total + network.wasserstein(critics, real, other) + network.XI * penalty
        return total

    def _total(self, now: tuple[int, Any, Pair, Pair]) -> torch.Tensor:
        """What the generator goes down: the sum of Section 4.6."""
        number, read, *passes = now
        sides = partial(self._read, number)
        generator, judges = self.model.generator, self.model.discriminators
        longest, worth = self.options.longest, self._worth
        halved = 0.5 ** ((number - self.options.alone) // self.options.halving)
        parts = {
            "reconstruction": lambda: network.reconstruction(passes[0], read),
            "paraphrase": lambda: network.paraphrase(generator, sides(1), sides(2)),
            "cyclic": lambda: network.cyclic(generator, read, longest),
            "language": lambda: network.language(self.readers, passes[1]),
            "adversarial": lambda: -network.adversarial(judges["adversarial"], *passes),
            "reward": lambda: network.self_critical(generator, read, longest, worth),
            "wasserstein": lambda: -halved * network.wasserstein(judges["wasserstein"], *passes),
        }
        return torch.stack([weight * parts[name]() for name, weight in self.weights.items()]).sum()

    def learn_languages(self, out: Path, run: Mapping[str, Any], steps: int) -> None:
        """Train the language models of Eq. 6, which are kept fixed from then on."""
        learner = self._learner(self.readers)

        def loss(read: Sequence[Sentences]) -> torch.Tensor:
            both = zip(self.readers, read, strict=True)
            return torch.stack([network.unlikelihood(m(x.fed()), x) for m, x in both]).sum()

        def step(number: int) -> float:
            return learner.step(number, map(loss, [self._read(number)]), 1, self.options.rate)

        # the last checkpoint stays: a run that goes on takes the models from it
        loop.follow(out, run, learner, step, steps, self.options.checkpoint)
        self.readers.eval().requires_grad_(False)

    def write_outputs(self, out: Path, point: int) -> None:
        """Transfer all sources: a row each, in their order."""
        outputs = pd.Series("", self.sources.index, name="output")
        batches = self.sources["text"].groupby([self.sources["number"], self.sources["part"]])
        for (style, _), texts in batches:
            read = self._padded(self._numbers(texts))
            away = self.model.generator.transfer(read, style, 1 - style, self.options.longest)
            outputs[texts.index] = self._texts(away)
        table = outputs.to_csv(index=False, lineterminator="\n")
        storage.write(out / OUTPUTS / f"{point:06d}.csv", table)


def dataset(out: Path, corpus: TransferCorpus, points: list[int]) -> Dataset:
    """All outputs of a run: ``source_id`` is part-number, the system is the step."""
    rows = []
    for point in points:
        outputs = pd.read_csv(out / OUTPUTS / f"{point:06d}.csv", keep_default_na=False)["output"]
        rows.append(corpus.sources.assign(output=outputs, system=str(point)))
    items = pd.concat(rows).reset_index(names="place")
    items["source_id"] = items["part"] + "-" + items["place"].astype(str)
    items["item_id"] = items["source_id"] + "-" + items["system"]
    items["style"] = [corpus.styles[1 - number] for number in items["number"]]
    return Dataset.of("transfer", items_table("transfer", items, source=items["text"]))


def trace(
    out: Path, corpus: TransferCorpus, configuration: Configuration, report: dict[str, Any]
) -> pd.DataFrame:
    """Score a run's outputs; write ``trajectory.csv``, and the signatures beside it.

    A row is the mean, or the corpus value, of n outputs.  Those that have references are not held
    against their sources: others are, and encoders take longest.
    """
    idf = out / "idf.txt"
    storage.write(idf, "".join(f"{text}\n" for text in corpus.train["text"]))
    points = [point for point in (configuration.options.alone, *report["points"]) if point]
    data, rows, signatures = dataset(out, corpus, points), [], {}
    others = data.where(~data.items["source_id"].str.startswith(REFERENCE))
    for basis, name in ((b, n) for b, names in configuration.metrics.items() for n in names):
        metric: Any = registry.get(name.replace("{idf}", str(idf)))
        if lack := metric.missing:
            note(f"{name} is left out: {lack}")
            continue
        shown = others if basis == "source" else data
        table = score(shown, [metric], [basis], store=out / "scores", progress=False)
        table = table.dropna(subset="value")
        signatures[f"{name} {basis}"] = str(metric.signature(basis)).replace(str(out), "OUT")
        keys = table["item_id"].str.split("-")
        for (part, step), group in table.groupby([keys.str[0], keys.str[2].astype(int)]):
            combine = getattr(metric, "combine", None)
            value = combine(group["detail"]) if combine else group["value"].mean()
            rows.append((step, part, name, basis, value, len(group)))
    table = pd.DataFrame(rows, columns=COLUMNS[2:])
    table = table.assign(model=report["model"], seed=report["seed"])[COLUMNS]
    table = table.sort_values(COLUMNS[2:6], ignore_index=True)
    storage.write(out / FILE, table.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
    storage.write(out / "signatures.json", json.dumps(signatures, indent=1) + "\n")
    ends = data.items[data.items["system"] == str(report["points"][-1])]
    ends = ends.assign(system=f"{report['model']}-{report['seed']}")
    ends["part"] = ends["source_id"].str.partition("-")[0]
    names = ["source", "output", "system", "style", "part"]
    storage.write(out / ENDS, ends[names].to_csv(index=False, lineterminator="\n"))
    return table
