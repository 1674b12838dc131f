"""Training a model of style: trained on ``train``, calibrated on ``dev``, reported on ``test``.

A linear model takes seconds: killed, it begins anew, to the same bytes.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from tstmeta import storage
from tstmeta.extras import needs
from tstmeta.models import classifiers, hub
from tstmeta.models.causal import Backbone
from tstmeta.models.classifiers import (
    FILE,
    KEY,
    PACKAGES,
    About,
    Kind,
    Linear,
    StyleModel,
    Task,
    TextCnn,
    Transformer,
    features,
    words,
)
from tstmeta.schema import TstmetaError

from . import loop
from .loop import Learner, StyleOptions
from .splits import PARTS, corpus_hash

#: Bins of the expected calibration error (Guo et al., 2017, use 15).
BINS = 15
#: From the places of some rows to a scalar tensor.
Loss = Callable[[np.ndarray], Any]


def train(
    out: Path,
    corpus: pd.DataFrame,
    kind: Kind = "linear",
    *,
    tasks: Sequence[Task],
    seed: int = 1,
    options: StyleOptions | None = None,
    regression: bool = False,
    base: Backbone | None = None,
) -> dict[str, Any]:
    """Train a classifier or regressor; write it, with a report, into a folder, new or empty.

    A checkpoint in it is taken up; the result of this very run is left as it is.

    Args:
        corpus: columns ``text``, ``task``, ``style``, ``value`` and ``part``.
        kind: ``linear``, ``textcnn`` or ``transformer``.
        tasks: names and styles; only a linear model can have several.
        regression: learn ``value``, not ``style``.
        base: the model that ``transformer`` begins with.

    Returns:
        The report; ``results`` has for each task how good the model is on the test part.

    Raises:
        TstmetaError: nothing to learn, a folder of another run.
    """
    storage.apart([("--out", out)], [("--base", base.folder)] if base else ())
    options = options or loop.STYLE[kind]
    _check(corpus, kind, tasks, regression, base)
    run = {
        "kind": kind,
        "regression": regression,
        "seed": seed,
        "options": options.model_dump(),
        "base": hub.identity(base) if base else "",
        "corpus": corpus_hash(corpus, ("text", "task", "style", "value", "part")),
        "sizes": {part: int((corpus["part"] == part).sum()) for part in PARTS},
        "tasks": [json.loads(json.dumps(asdict(task))) for task in tasks],
        "versions": loop.versions(*PACKAGES[kind]),
    }
    if report := loop.finished(out, run):
        return report
    rows, about = corpus[corpus["part"] == "train"], About(kind, tuple(tasks), regression)
    model: Any
    if kind == "linear":
        model = _linear(rows, about, options, seed)
    else:
        if kind == "textcnn":
            model, loss = _textcnn(rows, about, options, seed)
        else:
            model, loss = _transformer(rows, about, base, seed)
        _descend(out, run, model.model, loss, len(rows), options)
    report = {**run, "results": _calibrate(model, corpus)}
    loop.write_report(out, report)
    write(model, out)
    (out / loop.CHECKPOINT).unlink(missing_ok=True)
    return report


def write(model: Linear | TextCnn | Transformer, out: Path) -> None:
    """Write a model, single precision, double for the bias, as ``classifiers.load`` reads it."""
    from safetensors.numpy import save

    if isinstance(model, Transformer):
        task, config = model.about.tasks[0], model.model.config
        setattr(config, KEY, json.loads(json.dumps(asdict(task))))
        if not model.about.regression:
            config.id2label = dict(enumerate(task.styles))
            config.label2id = {style: number for number, style in config.id2label.items()}
        model.model.save_pretrained(out)
        model.tokenizer.save_pretrained(out)
        return
    if isinstance(model, Linear):
        tensors = {}
        for number, (weight, bias) in enumerate(zip(model.weights, model.bias, strict=True)):
            tensors[f"weight/{number}"] = np.ascontiguousarray(weight, dtype=np.float32)
            tensors[f"bias/{number}"] = np.ascontiguousarray(bias, dtype=np.float64)
    else:
        tensors = {name: value.detach().numpy() for name, value in model.model.named_parameters()}
    about = {"about": json.dumps(asdict(model.about), ensure_ascii=False, sort_keys=True)}
    storage.write(out / FILE, save(tensors, about))


def _check(
    corpus: pd.DataFrame, kind: str, tasks: Sequence[Task], regression: bool, base: Backbone | None
) -> None:
    needs("safetensors", "sklearn", "torch", "transformers")
    if kind != "linear" and len(tasks) > 1:
        raise TstmetaError(f"a {kind} learns one task, not {len(tasks)}; use linear")
    if kind == "textcnn" and regression:
        raise TstmetaError("a textcnn learns styles, not values; use linear or transformer")
    if kind == "transformer" and base is None:
        raise TstmetaError("name the model that the fine-tuning begins with: --base MODEL")
    needed = [] if regression else [(task.name, style) for task in tasks for style in task.styles]
    for part in ("train", "test"):
        rows = corpus[corpus["part"] == part]
        styles = set(zip(rows["task"], rows["style"], strict=True))
        lacking = [f" of the style {pair[1]!r}" for pair in needed if pair not in styles]
        if rows.empty or lacking:
            raise TstmetaError(
                f"no sentence{''.join(lacking[:1])} is in the part {part}: give a larger corpus, "
                "or say the parts in a column split"
            )


def _labels(rows: pd.DataFrame, task: Task, regression: bool) -> np.ndarray:
    if regression:
        return rows["value"].to_numpy(float)
    return rows["style"].map(task.styles.index).to_numpy(int)


def _linear(rows: pd.DataFrame, about: About, options: StyleOptions, seed: int) -> Linear:
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    models = []
    for task in about.tasks:
        part = rows[rows["task"] == task.name]
        table = features(part["text"].tolist(), options.bits)
        labels = _labels(part, task, about.regression)
        course = {"alpha": options.decay, "learning_rate": "constant", "shuffle": False}
        if about.regression:
            model, arguments = SGDRegressor(**course), {}
        else:
            model = SGDClassifier(loss="log_loss", **course)
            arguments = {"classes": np.arange(len(task.styles))}
        for epoch in range(options.epochs):
            order = loop.rows_of(epoch, len(labels), len(labels), seed)
            model.set_params(eta0=options.rate * (1 - epoch / options.epochs))
            model.partial_fit(table[order], labels[order], **arguments)
        models.append(model)
    # what is kept is what is judged: single precision
    weights = [np.atleast_2d(model.coef_).astype(np.float32) for model in models]
    about = replace(about, features={"bits": options.bits})
    return Linear(about, weights, [model.intercept_ for model in models])


def vocabulary(
    texts: Iterable[str],
    least: int = 2,
    most: int = 20_000,
    cut: Callable[[str], Sequence[str]] = words,
) -> list[str]:
    """The words that occur ``least`` times or more, the most frequent first."""
    counts = Counter(word for text in texts for word in cut(text))
    known = (word for word, n in counts.items() if n >= least)
    return sorted(known, key=lambda word: (-counts[word], word))[:most]


def _textcnn(
    rows: pd.DataFrame, about: About, options: StyleOptions, seed: int
) -> tuple[StyleModel, Loss]:
    import torch

    [task], known = about.tasks, vocabulary(rows["text"])
    features = {"vocabulary": known, "vector": options.vector, "maps": options.maps}
    model = classifiers.text_cnn(len(known), len(task.styles), seed, options.vector, options.maps)
    ids = classifiers.numbered(rows["text"], known)
    labels = torch.tensor(_labels(rows, task, False))

    def loss(places: np.ndarray) -> torch.Tensor:
        logits = model(*classifiers.padded([ids[place] for place in places]))
        return torch.nn.functional.cross_entropy(logits, labels[places])

    return TextCnn(replace(about, features=features), model), loss


def beginning(base: Backbone, labels: int, seed: int) -> tuple[Any, Any]:
    """A pretrained model with a new head, random by ``seed``, and its tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, report = hub.read(
            base,
            AutoModelForSequenceClassification,
            use_safetensors=True,
            output_loading_info=True,
            num_labels=labels,
            ignore_mismatched_sizes=True,
            dtype="float32",
        )
    names = hub.faults(report)
    body = [name for name in names if name.startswith(f"{model.base_model_prefix}.")]
    if lost := [name for name in body if "pooler." not in name]:
        raise hub.missing(base, f"missing or mismatched: {', '.join(lost[:5])}")
    return model, hub.tokenizer(base)


def _transformer(rows: pd.DataFrame, about: About, base: Any, seed: int) -> tuple[StyleModel, Loss]:
    import torch

    from tstmeta.models.sequence import encode, longest, padded

    [task], regression = about.tasks, about.regression
    model, tokenizer = beginning(base, 1 if regression else len(task.styles), seed)
    window = longest(model.config, tokenizer)
    encoded, _ = encode(tokenizer, rows["text"].tolist(), window=window)
    kind = torch.float32 if regression else torch.long
    labels = torch.tensor(_labels(rows, task, regression), dtype=kind)
    model.config.problem_type = "regression" if regression else "single_label_classification"

    def loss(places: np.ndarray) -> torch.Tensor:
        inputs = padded(tokenizer, [encoded[place] for place in places], "cpu")
        return model(**inputs, labels=labels[places]).loss

    return Transformer(about, model, tokenizer), loss


def _descend(
    out: Path, run: dict[str, Any], model: Any, loss: Loss, count: int, options: StyleOptions
) -> None:
    """AdamW on a torch module, whose rate falls to 0; ``count`` rows are learned from."""
    import torch

    steps = -(-count // options.batch) * options.epochs
    torch.set_num_threads(options.threads)
    adam = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=options.decay)
    learner = Learner(model, [adam], run["seed"])

    def step(number: int) -> float:
        rows = loop.rows_of(number, count, options.batch, run["seed"])
        return learner.step(number, map(loss, [rows]), 1, options.rate * (1 - number / steps))

    model.train()
    loop.follow(out, run, learner, step, steps, options.checkpoint)
    model.eval()


def _calibrate(model: StyleModel, corpus: pd.DataFrame) -> dict[str, Any]:
    """Fit the temperatures, put them into the model, and say how good it is on the test part."""
    about = model.about
    tasks, results = [], {}
    for number, task in enumerate(about.tasks):
        rows = corpus[corpus["task"] == task.name]
        dev, test = (rows[rows["part"] == part] for part in ("dev", "test"))
        labels = _labels(test, task, about.regression)
        values, _ = model.logits(test["text"].tolist(), number)
        if about.regression:
            results[task.name] = closeness(values[:, 0], labels)
        else:
            held, _ = model.logits(dev["text"].tolist(), number) if len(dev) else (values[:0], [])
            heat = temperature(held, _labels(dev, task, False))
            task = replace(task, temperature=heat)
            results[task.name] = quality(values, labels, heat, task.styles)
        tasks.append(task)
    model.about = replace(about, tasks=tuple(tasks))
    return results


def temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The number that logits are divided by to be most likely (Guo et al., 2017, Section 4.2).

    In [0.05, 20], of logits [n, k] and labels [n] of held-out text; 1 where there is none, or where
    all answers are right, and then the colder the better.
    """
    from scipy.optimize import minimize_scalar

    if (logits.argmax(axis=1) == labels).all():
        return 1.0
    rows = np.arange(len(labels))

    def loss(log: float) -> float:
        likely = softmax(logits / np.exp(log), axis=1)[rows, labels]
        return -float(np.log(np.maximum(likely, 1e-300)).mean())

    bounds = (np.log(0.05), np.log(20))
    return round(float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)), 4)


def calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Expected calibration error of probabilities [n, k], in [0, 1] (Guo et al., Equation 3)."""
    sure = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    # right edges belong to their bin
    places = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    gaps = np.bincount(places, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


def quality(
    logits: np.ndarray, labels: np.ndarray, heat: float, styles: tuple[str, ...]
) -> dict[str, Any]:
    """Share of right answers with its 95 % interval (Wilson, 1927), calibration error, confusion.

    ``confusion`` is {right style: {given style: count}}.
    """
    from scipy.stats import binomtest

    answers = logits.argmax(axis=1)
    right = int((answers == labels).sum())
    counts = np.zeros((len(styles), len(styles)), dtype=int)
    np.add.at(counts, (labels, answers), 1)
    low, high = binomtest(right, len(labels)).proportion_ci(method="wilson")
    return {
        "accuracy": right / len(labels),
        "low": float(low),
        "high": float(high),
        "n": len(labels),
        "calibration_error": calibration_error(softmax(logits / heat, axis=1), labels),
        "calibration_error_raw": calibration_error(softmax(logits, axis=1), labels),
        "confusion": {
            style: dict(zip(styles, map(int, row), strict=True))
            for style, row in zip(styles, counts, strict=True)
        },
    }


def closeness(values: np.ndarray, labels: np.ndarray) -> dict[str, float | int]:
    """Of a regressor: Pearson's correlation, mean absolute error, and the count."""
    flat = len(values) < 2 or values.std() == 0 or labels.std() == 0
    return {
        "pearson": float("nan") if flat else float(np.corrcoef(values, labels)[0, 1]),
        "mean_absolute_error": float(np.abs(values - labels).mean()),
        "n": len(values),
    }
