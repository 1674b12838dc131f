"""Training a model of style: from a corpus in parts to a folder with a model and a report.

Trained on ``train``, calibrated on ``dev``, reported on ``test``.  See :mod:`.loop` for what makes
a run repeatable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...extras import needs
from ...schema import TstmetaError
from .. import calibration, hub
from ..causal import Backbone
from ..classifiers import About, Task
from ..splits import PARTS, corpus_hash
from .loop import Course, State, Stop, finished, refuse_others, rows_of, write_report
from .options import StyleOptions

REPORT = "report.json"
SEED = 1
#: Of TextCNN Kim (2014) has 50 rows a batch; of fine-tuning, the usual settings of BERT.
DEFAULTS = {
    "linear": StyleOptions(epochs=5, rate=1.0, decay=1e-6),
    "textcnn": StyleOptions(epochs=2, rate=1e-3, batch=50),
    "transformer": StyleOptions(epochs=3, rate=2e-5, batch=16, decay=0.01),
}
KINDS = tuple(DEFAULTS)
_PACKAGES = {
    "linear": ("scikit-learn",),
    "textcnn": ("torch",),
    "transformer": ("torch", "transformers"),
}


def train(
    out: Path,
    corpus: pd.DataFrame,
    kind: str = "linear",
    *,
    tasks: Sequence[Task],
    seed: int = SEED,
    options: StyleOptions | None = None,
    regression: bool = False,
    base: Backbone | None = None,
    progress: bool = True,
    stop: Stop = lambda step: False,
) -> dict[str, Any] | None:
    """Train a classifier or regressor and write it, with a report, into a folder.

    A checkpoint in the folder is taken up where it stands; it is removed when the run is complete.
    A folder that holds the result of this very run is left as it is.

    Args:
        corpus: columns ``text``, ``task``, ``style``, ``value`` and ``part``.
        kind: one of :data:`KINDS`.
        tasks: names and styles; only a linear model can have several.
        regression: learn ``value``, not ``style``.
        base: the model that ``transformer`` begins with.
        stop: asked after each step whether to leave off.

    Returns:
        The report; None when it was stopped.

    Raises:
        TstmetaError: nothing to learn, options that cannot be, a folder of another run.
    """
    options = options or DEFAULTS[kind]
    options.check()
    _refuse(corpus, kind, tasks, regression, base)
    run = {
        "kind": kind,
        "regression": regression,
        "seed": seed,
        "options": asdict(options),
        "base": hub.identity(base) if base else "",
        "corpus": corpus_hash(corpus, ("text", "task", "style", "value", "part")),
        "sizes": {part: int((corpus["part"] == part).sum()) for part in PARTS},
        "tasks": [_plain(task) for task in tasks],
        "versions": {name: version(name).split("+")[0] for name in _PACKAGES[kind]},
    }
    same = [key for key in run if key != "tasks"]  # which have temperatures in the end
    before = finished(out, lambda report: all(report[key] == run[key] for key in same), REPORT)
    if before and any(out.glob("*.safetensors")):
        return before
    refuse_others(out)
    out.mkdir(parents=True, exist_ok=True)
    rows = corpus[corpus["part"] == "train"]
    training = _LEARN[kind](_Wanted(rows, list(tasks), regression, seed, options, base))
    other = "another run (another corpus, kind, seed or option)"
    course = Course(out, run, training.steps, training.every, other, progress, stop)
    if len(course.follow(training.state, training.step)) < training.steps:
        return None
    backend = training.model()
    findings = _finish(backend, corpus)
    backend.write(out)
    learned = [_plain(task) for task in backend.about.tasks]
    return write_report(out, {**run, "tasks": learned, "found": findings}, REPORT)


def _plain(task: Task) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(task)))


def _refuse(
    corpus: pd.DataFrame, kind: str, tasks: Sequence[Task], regression: bool, base: Backbone | None
) -> None:
    if kind not in KINDS:
        raise TstmetaError(f"no kind {kind!r} of classifier; use {', '.join(KINDS)}")
    if kind != "linear" and len(tasks) > 1:
        raise TstmetaError(f"a {kind} learns one task, not {len(tasks)}; use linear")
    if kind == "textcnn" and regression:
        raise TstmetaError("a textcnn learns styles, not values; use linear or transformer")
    if kind == "transformer" and base is None:
        raise TstmetaError("name the model that the fine-tuning begins with: --base MODEL")
    needed = {"linear": ("sklearn", "safetensors"), "textcnn": ("torch", "safetensors")}
    needs(*needed.get(kind, ("torch", "transformers")))
    for part in ("train", "test"):
        some = corpus[corpus["part"] == part]
        for task in tasks:
            styles = set(some.loc[some["task"] == task.name, "style"])
            gone = [style for style in task.styles if style not in styles]
            if not regression and gone:
                raise TstmetaError(f"no sentence of the style {gone[0]!r} in the part {part}")
        if regression and (some.empty or some["value"].isna().any()):
            raise TstmetaError(f"a regressor needs a value for each sentence of the part {part}")


def _labels(rows: pd.DataFrame, task: Task, regression: bool) -> np.ndarray:
    if regression:
        return rows["value"].to_numpy(float)
    return rows["style"].map({style: n for n, style in enumerate(task.styles)}).to_numpy(int)


# --------------------------------------------------------------------------------- the kinds


class _Wanted(NamedTuple):
    """What is to be learned; ``rows`` are those of the training part."""

    rows: pd.DataFrame
    tasks: list[Task]
    regression: bool
    seed: int
    options: StyleOptions
    base: Any


class _Training(NamedTuple):
    """What the loop needs, and the model when it is done."""

    state: State
    step: Callable[[int], float | None]
    steps: int
    every: int
    model: Callable[[], Any]


@dataclass
class _Tables:
    """Weights [k, F] and bias [k] of each task: k is 1 for two styles and for values."""

    tasks: list[tuple[np.ndarray, np.ndarray]]

    def tensors(self) -> dict[str, np.ndarray]:
        return {
            f"{name}/{number}": array
            for number, task in enumerate(self.tasks)
            for name, array in zip(("weight", "bias"), task, strict=True)
        }

    def take_up(self, tensors: Mapping[str, np.ndarray]) -> None:
        self.tasks = [
            (tensors[f"weight/{number}"], tensors[f"bias/{number}"])
            for number in range(len(self.tasks))
        ]


def _linear(wanted: _Wanted) -> _Training:
    """Stochastic gradient descent of scikit-learn; a step is an epoch of a task."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    from ..linear import Linear, features

    rows, tasks, regression, seed, options, _ = wanted
    tables, state = [], _Tables([])
    for task in tasks:
        some = rows[rows["task"] == task.name]
        table = features(some["text"].tolist(), options.bits)
        tables.append((table, _labels(some, task, regression)))
        k = 1 if regression or len(task.styles) == 2 else len(task.styles)
        state.tasks.append((np.zeros((k, table.shape[1])), np.zeros(k)))

    def step(number: int) -> None:
        task, epoch = divmod(number, options.epochs)
        (table, labels), (weight, bias) = tables[task], state.tasks[task]
        order = rows_of(epoch, len(labels), len(labels), seed)
        settings = {
            "alpha": options.decay,
            "learning_rate": "constant",
            "eta0": options.rate * (1 - epoch / options.epochs),
            "max_iter": 1,
            "tol": None,
            "shuffle": False,
        }
        model: Any = SGDClassifier(loss="log_loss", **settings)
        if regression:
            model, weight = SGDRegressor(**settings), weight[0]
        model.fit(table[order], labels[order], coef_init=weight, intercept_init=bias)
        state.tasks[task] = np.atleast_2d(model.coef_), model.intercept_

    def model() -> Linear:
        about = About("linear", tuple(tasks), regression, {"bits": options.bits})
        # what is kept is what is judged
        kept = [weight.astype(np.float32) for weight, _ in state.tasks]
        return Linear(about, kept, [bias for _, bias in state.tasks])

    return _Training(state, step, len(tasks) * options.epochs, 1, model)


def _textcnn(wanted: _Wanted) -> _Training:
    import torch

    from ..textcnn import Encoder, TextCnn, network, padded, vocabulary

    rows, (task,), _, seed, options, _ = wanted
    known = vocabulary(rows["text"])
    model = network(len(known), len(task.styles), seed, options.vector, options.maps)
    encoder = Encoder(known)
    ids = [encoder.ids(text) for text in rows["text"]]
    labels = torch.tensor(_labels(rows, task, False))

    def loss(places: np.ndarray) -> torch.Tensor:
        logits = model(*padded([ids[place] for place in places]))
        return torch.nn.functional.cross_entropy(logits, labels[places])

    features = {"vocabulary": known, "vector": options.vector, "maps": options.maps}
    about = About("textcnn", (task,), False, features)
    return _network(wanted, model, loss, lambda: TextCnn(about, model))


def _transformer(wanted: _Wanted) -> _Training:
    import torch

    from ..finetuning import Transformer, batched, beginning, encode, window

    rows, (task,), regression, seed, _, base = wanted
    model, tokenizer = beginning(base, 1 if regression else len(task.styles), seed)
    ids, _ = encode(tokenizer, rows["text"].tolist(), window(model.config, tokenizer))
    kind = torch.float32 if regression else torch.long
    labels = torch.tensor(_labels(rows, task, regression), dtype=kind)
    model.config.problem_type = "regression" if regression else "single_label_classification"

    def loss(places: np.ndarray) -> torch.Tensor:
        return model(**batched(tokenizer, [ids[n] for n in places]), labels=labels[places]).loss

    about = About("transformer", (task,), regression)
    return _network(wanted, model, loss, lambda: Transformer(about, model, tokenizer))


def _network(
    wanted: _Wanted, model: Any, loss: Callable[[np.ndarray], Any], made: Callable[[], Any]
) -> _Training:
    """AdamW on a torch module, whose ``loss`` is a scalar tensor of the numbers of some rows."""
    import torch

    from .network import Learner

    options, count = wanted.options, len(wanted.rows)
    steps = -(-count // options.batch) * options.epochs
    torch.set_num_threads(options.threads)
    adam = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=options.decay)
    learner = Learner(model, [adam], wanted.seed)

    def step(number: int) -> float:
        rows = rows_of(number, count, options.batch, wanted.seed)
        rate = options.rate * (1 - number / steps)
        return learner.step(number, map(loss, [rows]), 1, rate, clip=1.0)

    def done() -> Any:
        model.eval()
        return made()

    model.train()
    return _Training(learner, step, steps, options.checkpoint, done)


_LEARN = {"linear": _linear, "textcnn": _textcnn, "transformer": _transformer}


# ---------------------------------------------------------------------- calibration and report


def _finish(backend: Any, corpus: pd.DataFrame) -> dict[str, Any]:
    """Fit the temperatures, put them into the model, and say how good it is on the test part."""
    about: About = backend.about
    tasks, found = [], {}
    for number, task in enumerate(about.tasks):
        rows = corpus[corpus["task"] == task.name]
        dev, test = (rows[rows["part"] == part] for part in ("dev", "test"))
        wanted = _labels(test, task, about.regression)
        values, _ = backend.logits(test["text"].tolist(), number)
        if about.regression:
            found[task.name] = calibration.closeness(values[:, 0], wanted)
        else:
            held, _ = backend.logits(dev["text"].tolist(), number)
            heat = calibration.temperature(held, _labels(dev, task, False))
            task = replace(task, temperature=heat)
            found[task.name] = calibration.quality(values, wanted, heat, task.styles)
        tasks.append(task)
    backend.about = replace(about, tasks=tuple(tasks))
    return found
