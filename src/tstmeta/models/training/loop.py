"""The training loop of every model here: backbone, language model, network or linear classifier.

By step count and seed, never by the clock, and what a step sees and draws depends on the seed and
its number alone: on one machine with one number of threads the same arguments give the same bytes,
also when the run was killed and goes on from its last checkpoint.  On a GPU sums come in another
order: the same course, other bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import tqdm

from ...schema import TstmetaError
from . import checkpoint

REPORT = "training.json"

Stop = Callable[[int], bool]


class State(Protocol):
    """What steps change: a checkpoint keeps it, and a run that goes on takes it up."""

    def tensors(self) -> dict[str, np.ndarray]: ...

    def take_up(self, tensors: Mapping[str, np.ndarray]) -> None: ...


@dataclass(frozen=True)
class Course:
    """Where and how one training goes.

    ``run`` is what makes it this run: it must not change between a stop and its going on; ``other``
    names a run where it did.  There is a checkpoint every ``every`` of the ``steps``.  ``stop`` is
    asked after each step whether to leave off; what is done is kept in the checkpoint.
    """

    out: Path
    run: dict[str, Any]
    steps: int
    every: int
    other: str
    progress: bool = True
    stop: Stop = lambda step: False

    def follow(self, state: State, step: Callable[[int], float | None]) -> list[Any]:
        """Take steps until the last, or until ``stop``.

        Args:
            state: changed in place, after it took up the folder's checkpoint.
            step: takes the step of a number; the loss, if there is one.

        Returns:
            What each step returned, those of the checkpoint first; fewer than ``steps`` if stopped.

        Raises:
            TstmetaError: a checkpoint that is damaged or of another run, a full disk.
        """
        from safetensors.numpy import load_file

        losses: list[Any] = []
        if before := checkpoint.about(self.out):
            if before.get("run") != self.run or "losses" not in before:
                raise TstmetaError(
                    f"{self.out} holds the checkpoint of {self.other}; "
                    "give the same, or another folder"
                )
            state.take_up(load_file(self.out / checkpoint.FILE))
            losses = list(before["losses"])
        with tqdm.tqdm(
            total=self.steps, initial=len(losses), disable=not self.progress, desc="training"
        ) as bar:
            while len(losses) < self.steps:
                losses.append(step(len(losses)))
                bar.update()
                if losses[-1] is not None:
                    bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
                stopped = len(losses) < self.steps and self.stop(len(losses))
                if stopped or len(losses) % self.every == 0:
                    about = {"run": self.run, "losses": losses}
                    checkpoint.save(self.out, state.tensors(), about)
                if stopped:
                    break
        return losses


def rows_of(step: int, count: int, batch: int, seed: int) -> np.ndarray:
    """Which of ``count`` rows a step is trained on: its part of the epoch's own order."""
    epoch, place = divmod(step, -(-count // batch))
    order = np.random.default_rng([seed, epoch]).permutation(count)
    return order[place * batch : (place + 1) * batch]


def share_of_rate(step: int, steps: int, warmup: int, cooling: float) -> float:
    """Up to 1 over ``warmup`` steps, level, and down towards 0 over the last part ``cooling``."""
    up = (step + 1) / warmup
    down = (steps - step) / (cooling * steps) if cooling else 1.0
    return min(1.0, up, down)


def write_report(out: Path, report: dict[str, Any], name: str = REPORT) -> dict[str, Any]:
    """Write the report of a complete run, which needs its checkpoint no more."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    checkpoint.write_atomically(out / name, text.encode())
    (out / checkpoint.FILE).unlink(missing_ok=True)
    return report


def finished(
    out: Path, same: Callable[[dict[str, Any]], bool], name: str = REPORT
) -> dict[str, Any] | None:
    """The report of a complete run in the folder, if it is the ``same``; else None."""
    try:
        report = json.loads((out / name).read_text(encoding="utf-8"))
        return report if same(report) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def refuse_others(out: Path) -> None:
    """Never write over a model that another run made.

    Raises:
        TstmetaError: the folder holds one.
    """
    weights = any(out.glob("*.safetensors")) and not (out / checkpoint.FILE).is_file()
    if weights or (out / REPORT).is_file():
        raise TstmetaError(f"{out} holds a model of another run; name another folder with --out")
