"""Training a model of style: a logistic regression on the encoder's sentence vectors.

Fitted on the part ``train`` of a corpus, calibrated on ``dev``, reported on ``test``.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax
from tqdm import tqdm

from .. import storage
from ..schema import TstmetaError
from .classifiers import FILE, About, Linear, StyleModel, Task, TextCnn, encoder_identity, vectors

#: What a training reports beside its model.
REPORT = "training.json"
#: Folds of the cross-validation within ``train``, and the inverse strengths of L2 that it tries.
FOLDS, INVERSE = 5, (0.1, 1.0, 10.0, 100.0, 1000.0)
#: From logits [n, k], labels [n], a temperature and styles [k] to facts of a report.
Measure = Callable[[np.ndarray, np.ndarray, float, tuple[str, ...]], dict[str, Any]]


def train(
    out: Path,
    corpus: pd.DataFrame,
    tasks: Sequence[Task] = (),
    facts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train a logistic regression a task, write them as one model, and return the report.

    Args:
        out: a folder, new or empty.
        corpus: texts with ``task``, ``style`` and ``part``; each style is in each part.
        tasks: styles in order, and wordings [default: as the corpus has them].
        facts: what else the report says.

    Raises:
        TstmetaError: the folder holds something.
    """
    empty(out)
    named = corpus.groupby("task")["style"]
    tasks = tasks or [Task(str(name), tuple(sorted(set(rows)))) for name, rows in named]
    features, texts = {"encoder": encoder_identity()}, corpus["text"].tolist()
    for start in tqdm(range(0, len(texts), 100), "texts in hundreds", leave=False, disable=None):
        vectors(texts[start : start + 100])  # the encoder remembers them
    fits = [_fit(corpus[corpus["task"] == task.name], task) for task in tasks]
    weights, bias, inverse = zip(*fits, strict=True)
    model = Linear(About("vectors", tuple(tasks), features), weights, bias)
    report = {
        **(facts or {}),
        "corpus": hashlib.sha256(corpus.to_csv(index=False).encode()).hexdigest()[:16],
        **features,
        "sizes": corpus["part"].value_counts().sort_index().to_dict(),
        "inverse": inverse,
        "results": evaluate(model, corpus, quality),
        "tasks": [asdict(task) for task in model.about.tasks],
        "versions": {"scikit-learn": version("scikit-learn")},
    }
    storage.write(out / REPORT, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    write(model, out)
    return report


def empty(out: Path) -> None:
    """Refuse a folder that holds something."""
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise TstmetaError(f"{out} is not empty. Remedy: name a new folder with --out")


def _fit(rows: pd.DataFrame, task: Task) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights [k, d] in single precision, bias [k], and the inverse strength that was chosen."""
    from sklearn.linear_model import LogisticRegressionCV

    rows = rows[rows["part"] == "train"]
    options = {"l1_ratios": (0.0,), "max_iter": 1000, "use_legacy_attributes": False}
    model = LogisticRegressionCV(Cs=INVERSE, cv=FOLDS, scoring="neg_log_loss", **options)
    table, _ = vectors(rows["text"].tolist())
    model.fit(table, labels(rows, task))
    return model.coef_.astype(np.float32), model.intercept_, float(model.C_)


def labels(rows: pd.DataFrame, task: Task) -> np.ndarray:
    """The place [n] of each row's style among those of the task."""
    return rows["style"].map(task.styles.index).to_numpy(int)


def evaluate(model: StyleModel, corpus: pd.DataFrame, measure: Measure) -> dict[str, Any]:
    """Put the temperatures of ``dev`` into a model; how good it is on ``test``, by task."""
    tasks, results = [], {}
    for number, task in enumerate(model.about.tasks):
        rows = corpus[corpus["task"] == task.name]
        dev, test = (rows[rows["part"] == part] for part in ("dev", "test"))
        if len(dev):
            logits, _ = model.logits(dev["text"].tolist(), number)
            task = replace(task, temperature=temperature(logits, labels(dev, task)))
        logits, _ = model.logits(test["text"].tolist(), number)
        results[task.name] = measure(logits, labels(test, task), task.temperature, task.styles)
        tasks.append(task)
    model.about = replace(model.about, tasks=tuple(tasks))
    return results


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean of -ln p of the right style, of logits [n, k] and labels [n]; >= 0."""
    return -float(log_softmax(logits, axis=1)[np.arange(len(labels)), labels].mean())


def temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The number that logits are divided by to be most likely (Guo et al., 2017, Section 4.2).

    In [0.05, 20], of logits [n, k] and labels [n] of held-out text; 1 where all answers are right:
    the colder the better then.
    """
    from scipy.optimize import minimize_scalar

    if (logits.argmax(axis=1) == labels).all():
        return 1.0

    def loss(log: float) -> float:
        return cross_entropy(logits / np.exp(log), labels)

    bounds = (np.log(0.05), np.log(20))
    return round(float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)), 4)


def quality(logits: np.ndarray, labels: np.ndarray, heat: float, *_: Any) -> dict[str, Any]:
    """Share of right answers with its 95 % interval (Wilson, 1927), and the calibrated log loss."""
    from scipy.stats import binomtest

    right = int((logits.argmax(axis=1) == labels).sum())
    low, high = binomtest(right, len(labels)).proportion_ci(method="wilson")
    return {
        "accuracy": right / len(labels),
        "low": float(low),
        "high": float(high),
        "n": len(labels),
        "log_loss": cross_entropy(logits / heat, labels),
    }


def write(model: Linear | TextCnn, out: Path) -> None:
    """Write a model, single precision, double for the bias, as ``classifiers.load`` reads it."""
    from safetensors.numpy import save

    if isinstance(model, Linear):
        tensors = {}
        for number, (weight, bias) in enumerate(zip(model.weights, model.bias, strict=True)):
            tensors[f"weight/{number}"] = np.ascontiguousarray(weight, dtype=np.float32)
            tensors[f"bias/{number}"] = np.ascontiguousarray(bias, dtype=np.float64)
    else:
        tensors = {name: value.detach().numpy() for name, value in model.model.named_parameters()}
    about = {"about": json.dumps(asdict(model.about), ensure_ascii=False, sort_keys=True)}
    storage.write(out / FILE, save(tensors, about))
