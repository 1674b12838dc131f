"""The courses of training of models of style: epochs of a linear model, steps of a network.

By count and seed, never by the clock, each epoch and step with random numbers of its own: a run
that was killed goes on from its checkpoint and ends with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tqdm

from ...schema import TstmetaError
from . import checkpoint

Stop = Callable[[int], bool]


@dataclass(frozen=True)
class Options:
    """The course of a training.

    ``rate`` is the learning rate at the start; it falls along a straight line towards 0.  ``decay``
    is the weight of the L2 penalty.  ``checkpoint`` is the number of steps between two checkpoints
    (a linear model keeps one after each epoch of a task).  ``bits`` (of the number of features) is
    for linear models, ``vector`` and ``maps`` are for TextCNN.
    """

    epochs: int
    rate: float
    batch: int = 1
    decay: float = 0.0
    checkpoint: int = 200
    threads: int = 1
    bits: int = 18
    vector: int = 128
    maps: int = 100

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            TstmetaError: a number below its least value.
        """
        for name in ("epochs", "batch", "checkpoint", "threads", "vector", "maps"):
            if getattr(self, name) < 1:
                raise TstmetaError(
                    f"training option {name} is {getattr(self, name)}; give 1 or more"
                )
        if self.rate <= 0 or self.decay < 0 or not 4 <= self.bits <= 24:
            raise TstmetaError("give rate > 0, decay >= 0 and bits from 4 to 24")


@dataclass(frozen=True)
class Course:
    """Where and how one training goes: folder, what the run is, whether to show a bar or stop."""

    out: Path
    run: dict[str, Any]
    options: Options
    progress: bool
    stop: Stop

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.run["seed"])

    def resumed(self) -> dict[str, Any] | None:
        """What the folder's checkpoint says of itself; None without one.

        Raises:
            TstmetaError: it is damaged or of another run.
        """
        path = self.out / checkpoint.FILE
        if not path.exists():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "np") as file:
                found = json.loads(file.metadata()["about"])
        except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
            raise TstmetaError(
                f"the checkpoint {path} cannot be read ({error}); delete it to begin anew"
            ) from error
        if found.get("run") != self.run:
            raise TstmetaError(
                f"{self.out} holds the checkpoint of another run (another corpus, kind, seed or "
                "option); give the same, or another folder"
            )
        return found


# ------------------------------------------------------------------------------ a linear model


def fit_linear(
    course: Course, tables: Sequence[tuple[Any, np.ndarray]], rows: Sequence[int]
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Weights [k, F] and bias [k] of each task, by stochastic gradient descent (scikit-learn).

    Args:
        tables: of each task the features, sparse [n, F], and styles [n] (values of a regressor).
        rows: of each task the number of rows k: 1 for two styles or a regressor.

    Returns:
        None when it was told to stop; what is done is in the checkpoint.
    """
    state = [
        (np.zeros((k, table.shape[1])), np.zeros(k))
        for k, (table, _) in zip(rows, tables, strict=True)
    ]
    done = 0
    if found := course.resumed():
        from safetensors.numpy import load_file

        tensors, done = load_file(course.out / checkpoint.FILE), int(found["done"])
        state = [(tensors[f"weight/{n}"], tensors[f"bias/{n}"]) for n in range(len(tables))]
    total = len(tables) * course.options.epochs
    bar = tqdm.tqdm(total=total, initial=done, disable=not course.progress, desc="training")
    while done < total:
        task, epoch = divmod(done, course.options.epochs)
        state[task] = _epoch(course, *tables[task], *state[task], epoch)
        done += 1
        bar.update()
        stopped = done < total and course.stop(done)
        if done < total:
            _keep(course, state, done)
        if stopped:
            bar.close()
            return None
    bar.close()
    return state


def _epoch(
    course: Course, table: Any, wanted: np.ndarray, weight: np.ndarray, bias: np.ndarray, epoch: int
) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    order = np.random.default_rng([course.seed, epoch]).permutation(len(wanted))
    common = {
        "alpha": course.options.decay,
        "learning_rate": "constant",
        "eta0": course.options.rate * (1 - epoch / course.options.epochs),
        "max_iter": 1,
        "tol": None,
        "shuffle": False,
    }
    if course.run["regression"]:
        model: Any = SGDRegressor(**common)
        model.fit(table[order], wanted[order], coef_init=weight[0], intercept_init=bias)
        return model.coef_[None], model.intercept_
    model = SGDClassifier(loss="log_loss", **common)
    model.fit(table[order], wanted[order], coef_init=weight, intercept_init=bias)
    return model.coef_, model.intercept_


def _keep(course: Course, state: Sequence[tuple[np.ndarray, np.ndarray]], done: int) -> None:
    from safetensors.numpy import save

    tensors: dict[str, np.ndarray] = {}
    for number, (weight, bias) in enumerate(state):
        tensors |= {f"weight/{number}": weight.copy(), f"bias/{number}": bias.copy()}
    about = json.dumps({"run": course.run, "done": done})
    checkpoint.write_atomically(course.out / checkpoint.FILE, save(tensors, {"about": about}))


# ----------------------------------------------------------------------------------- a network


def fit_network(
    course: Course, model: Any, loss: Callable[[Any, np.ndarray], Any], count: int
) -> list[float] | None:
    """Train a torch module with AdamW, in place.

    Args:
        model: the module.
        loss: of the module and the numbers of a batch's rows, a scalar tensor.
        count: number of rows.

    Returns:
        The loss of each step; None when it was told to stop.
    """
    import torch

    options = course.options
    torch.set_num_threads(options.threads)
    each = -(-count // options.batch)
    total = each * options.epochs
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=options.decay)
    losses: list[float] = []
    if found := course.resumed():
        losses = list(found["losses"])
        checkpoint.load(course.out, model, [optimiser])
    model.train()
    bar = tqdm.tqdm(total=total, initial=len(losses), disable=not course.progress, desc="training")
    while len(losses) < total:
        epoch, place = divmod(len(losses), each)
        order = np.random.default_rng([course.seed, epoch]).permutation(count)
        rows = order[place * options.batch : (place + 1) * options.batch]
        for group in optimiser.param_groups:
            group["lr"] = options.rate * (1 - len(losses) / total)
        losses.append(_step(model, optimiser, loss, rows, course.seed * 2**32 + len(losses)))
        bar.update()
        bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
        stopped = len(losses) < total and course.stop(len(losses))
        if stopped or (len(losses) < total and len(losses) % options.checkpoint == 0):
            about = {"run": course.run, "losses": losses}
            checkpoint.save(course.out, model, [optimiser], about)
        if stopped:
            bar.close()
            return None
    bar.close()
    model.eval()
    return losses


def _step(model: Any, optimiser: Any, loss: Callable, rows: np.ndarray, seed: int) -> float:
    import torch

    optimiser.zero_grad(set_to_none=True)
    with torch.random.fork_rng(devices=[]):  # dropout of this step, wherever a run began
        torch.manual_seed(seed % 2**63)
        found = loss(model, rows)
        found.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return float(found.detach())
