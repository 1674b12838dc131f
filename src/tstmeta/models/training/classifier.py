"""Training a model of style: from a corpus in parts to a folder with a model and a report.

Trained on ``train``, calibrated on ``dev``, reported on ``test``.  See :mod:`.classifier_loop` for
what makes a run repeatable.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...schema import TstmetaError
from .. import calibration, hub
from ..causal import Backbone
from ..classifiers import About, Task
from ..splits import PARTS, corpus_hash
from . import checkpoint
from .classifier_loop import Course, Options, Stop, fit_linear, fit_network

REPORT = "report.json"
SEED = 1
KINDS = ("linear", "textcnn", "transformer")
#: Of TextCNN Kim (2014) has 50 rows a batch; of fine-tuning, the usual settings of BERT.
DEFAULTS = {
    "linear": Options(epochs=5, rate=1.0, decay=1e-6),
    "textcnn": Options(epochs=2, rate=1e-3, batch=50),
    "transformer": Options(epochs=3, rate=2e-5, batch=16, decay=0.01),
}
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
    options: Options | None = None,
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
    if before := _before(out, run):
        return before
    out.mkdir(parents=True, exist_ok=True)
    course = Course(out, run, options, progress, stop)
    trained = corpus[corpus["part"] == "train"]
    backend = _TRAIN[kind](course, trained, list(tasks), base)
    if backend is None:
        return None
    findings = _finish(backend, corpus)
    backend.write(out)
    report = {**run, "tasks": [_plain(task) for task in backend.about.tasks], "found": findings}
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    checkpoint.write_atomically(out / REPORT, text.encode())
    (out / checkpoint.FILE).unlink(missing_ok=True)
    return report


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
    extra = "metrics" if kind == "linear" else "likelihood"
    if said := hub.lacking(*needed.get(kind, ("torch", "transformers")), extra=extra):
        raise TstmetaError(said)
    for part in ("train", "test"):
        some = corpus[corpus["part"] == part]
        for task in tasks:
            styles = set(some.loc[some["task"] == task.name, "style"])
            gone = [style for style in task.styles if style not in styles]
            if not regression and gone:
                raise TstmetaError(f"no sentence of the style {gone[0]!r} in the part {part}")
        if regression and (some.empty or some["value"].isna().any()):
            raise TstmetaError(f"a regressor needs a value for each sentence of the part {part}")


def _before(out: Path, run: dict[str, Any]) -> dict[str, Any] | None:
    """The report of this very run, where the folder holds it.

    Raises:
        TstmetaError: it holds the model of another run.
    """
    if any(out.glob("*.safetensors")) and not (out / checkpoint.FILE).exists():
        try:
            report = json.loads((out / REPORT).read_text(encoding="utf-8"))
            same = all(report[key] == run[key] for key in run if key != "tasks")
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise TstmetaError(f"{out} holds a model of another run; name another folder")
        return report
    return None


def _labels(rows: pd.DataFrame, task: Task, regression: bool) -> np.ndarray:
    if regression:
        return rows["value"].to_numpy(float)
    return rows["style"].map({style: n for n, style in enumerate(task.styles)}).to_numpy(int)


# --------------------------------------------------------------------------------- the kinds


def _linear(course: Course, rows: pd.DataFrame, tasks: list[Task], base: Any) -> Any:
    from ..linear import Linear, features

    regression, bits = course.run["regression"], course.options.bits
    tables = []
    for task in tasks:
        some = rows[rows["task"] == task.name]
        tables.append((features(some["text"].tolist(), bits), _labels(some, task, regression)))
    many = [1 if regression or len(task.styles) == 2 else len(task.styles) for task in tasks]
    state = fit_linear(course, tables, many)
    if state is None:
        return None
    about = About("linear", tuple(tasks), regression, {"bits": bits})
    # what is kept is what is judged
    kept = [weight.astype(np.float32) for weight, _ in state]
    return Linear(about, kept, [bias for _, bias in state])


def _textcnn(course: Course, rows: pd.DataFrame, tasks: list[Task], base: Any) -> Any:
    import torch

    from ..textcnn import Encoder, TextCnn, network, padded, vocabulary

    known, options, task = vocabulary(rows["text"]), course.options, tasks[0]
    model = network(len(known), len(task.styles), course.seed, options.vector, options.maps)
    encoder = Encoder(known)
    ids = [encoder.ids(text) for text in rows["text"]]
    labels = torch.tensor(_labels(rows, task, False))

    def loss(model: Any, places: np.ndarray) -> torch.Tensor:
        logits = model(*padded([ids[place] for place in places]))
        return torch.nn.functional.cross_entropy(logits, labels[places])

    if fit_network(course, model, loss, len(ids)) is None:
        return None
    features = {"vocabulary": known, "vector": options.vector, "maps": options.maps}
    return TextCnn(About("textcnn", (task,), False, features), model)


def _transformer(course: Course, rows: pd.DataFrame, tasks: list[Task], base: Backbone) -> Any:
    import torch

    from ..finetuning import Transformer, batched, beginning, encode, window

    regression, task = course.run["regression"], tasks[0]
    many = 1 if regression else len(task.styles)
    model, tokenizer = beginning(base, many, course.seed)
    ids, _ = encode(tokenizer, rows["text"].tolist(), window(model.config, tokenizer))
    kind = torch.float32 if regression else torch.long
    labels = torch.tensor(_labels(rows, task, regression), dtype=kind)
    model.config.problem_type = "regression" if regression else "single_label_classification"

    def loss(model: Any, places: np.ndarray) -> torch.Tensor:
        return model(**batched(tokenizer, [ids[n] for n in places]), labels=labels[places]).loss

    if fit_network(course, model, loss, len(ids)) is None:
        return None
    return Transformer(About("transformer", (task,), regression), model, tokenizer)


_TRAIN = {"linear": _linear, "textcnn": _textcnn, "transformer": _transformer}


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
