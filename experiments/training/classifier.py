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
from tstmeta.models import classifiers, hub, training
from tstmeta.models.causal import Backbone
from tstmeta.models.classifiers import (
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
from tstmeta.models.training import labels, write
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
    base: Backbone | None = None,
) -> dict[str, Any]:
    """Train a classifier; write it, with a report, into a folder, new or empty.

    A checkpoint in it is taken up; the result of this very run is left as it is.

    Args:
        corpus: columns ``text``, ``task``, ``style`` and ``part``.
        kind: ``linear``, ``textcnn`` or ``transformer``.
        tasks: names and styles; only a linear model can have several.
        base: the model that ``transformer`` begins with.

    Returns:
        The report; ``results`` has for each task how good the model is on the test part.

    Raises:
        TstmetaError: nothing to learn, a folder of another run.
    """
    storage.apart([("--out", out)], [("--base", base.folder)] if base else ())
    options = options or loop.STYLE[kind]
    _check(corpus, kind, tasks, base)
    run = {
        "kind": kind,
        "seed": seed,
        "options": options.model_dump(),
        "base": hub.identity(base) if base else "",
        "corpus": corpus_hash(corpus, ("text", "task", "style", "part")),
        "sizes": {part: int((corpus["part"] == part).sum()) for part in PARTS},
        "tasks": [json.loads(json.dumps(asdict(task))) for task in tasks],
        "versions": loop.versions(*PACKAGES[kind]),
    }
    if report := loop.finished(out, run):
        return report
    rows, about = corpus[corpus["part"] == "train"], About(kind, tuple(tasks))
    model: Any
    if kind == "linear":
        model = _linear(rows, about, options, seed)
    else:
        if kind == "textcnn":
            model, loss = _textcnn(rows, about, options, seed)
        else:
            model, loss = _transformer(rows, about, base, seed)
        _descend(out, run, model.model, loss, len(rows), options)
    report = {**run, "results": training.evaluate(model, corpus, quality)}
    loop.write_report(out, report)
    _write(model, out)
    (out / loop.CHECKPOINT).unlink(missing_ok=True)
    return report


def _write(model: Linear | TextCnn | Transformer, out: Path) -> None:
    if not isinstance(model, Transformer):
        return write(model, out)
    task, config = model.about.tasks[0], model.model.config
    setattr(config, KEY, json.loads(json.dumps(asdict(task))))
    config.id2label = dict(enumerate(task.styles))
    config.label2id = {style: number for number, style in config.id2label.items()}
    model.model.save_pretrained(out)
    model.tokenizer.save_pretrained(out)


def _check(corpus: pd.DataFrame, kind: str, tasks: Sequence[Task], base: Backbone | None) -> None:
    needs("safetensors", "sklearn", "torch", "transformers")
    if kind != "linear" and len(tasks) > 1:
        raise TstmetaError(f"a {kind} learns one task, not {len(tasks)}; use linear")
    if kind == "transformer" and base is None:
        raise TstmetaError("name the model that the fine-tuning begins with: --base MODEL")
    needed = [(task.name, style) for task in tasks for style in task.styles]
    for part in ("train", "test"):
        rows = corpus[corpus["part"] == part]
        styles = set(zip(rows["task"], rows["style"], strict=True))
        lacking = [f" of the style {pair[1]!r}" for pair in needed if pair not in styles]
        if rows.empty or lacking:
            raise TstmetaError(
                f"no sentence{''.join(lacking[:1])} is in the part {part}: give a larger corpus, "
                "or say the parts in a column split"
            )


def _linear(rows: pd.DataFrame, about: About, options: StyleOptions, seed: int) -> Linear:
    from sklearn.linear_model import SGDClassifier

    models = []
    for task in about.tasks:
        part = rows[rows["task"] == task.name]
        table = features(part["text"].tolist(), options.bits)
        right, classes = labels(part, task), np.arange(len(task.styles))
        course = {"alpha": options.decay, "learning_rate": "constant", "shuffle": False}
        model = SGDClassifier(loss="log_loss", **course)
        for epoch in range(options.epochs):
            order = loop.rows_of(epoch, len(right), len(right), seed)
            model.set_params(eta0=options.rate * (1 - epoch / options.epochs))
            model.partial_fit(table[order], right[order], classes=classes)
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
    right = torch.tensor(labels(rows, task))

    def loss(places: np.ndarray) -> torch.Tensor:
        logits = model(*classifiers.padded([ids[place] for place in places]))
        return torch.nn.functional.cross_entropy(logits, right[places])

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

    [task] = about.tasks
    model, tokenizer = beginning(base, len(task.styles), seed)
    window = longest(model.config, tokenizer)
    encoded, _ = encode(tokenizer, rows["text"].tolist(), window=window)
    right = torch.tensor(labels(rows, task))
    model.config.problem_type = "single_label_classification"

    def loss(places: np.ndarray) -> torch.Tensor:
        inputs = padded(tokenizer, [encoded[place] for place in places], "cpu")
        return model(**inputs, labels=right[places]).loss

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
    """:func:`tstmeta.models.training.quality`, with calibration errors and the confusion.

    ``confusion`` is {right style: {style answered: count}}.
    """
    counts = np.zeros((len(styles), len(styles)), dtype=int)
    np.add.at(counts, (labels, logits.argmax(axis=1)), 1)
    return {
        **training.quality(logits, labels, heat),
        "calibration_error": calibration_error(softmax(logits / heat, axis=1), labels),
        "calibration_error_raw": calibration_error(softmax(logits, axis=1), labels),
        "confusion": {
            style: dict(zip(styles, map(int, row), strict=True))
            for style, row in zip(styles, counts, strict=True)
        },
    }
