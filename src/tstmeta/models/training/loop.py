"""The training loop of every network here: language models, TextCNN and classifiers alike.

What a step sees and draws depends on the seed and its number alone: on one machine with one number
of threads the same arguments give the same bytes, also when a killed run goes on from its last
checkpoint.  On a GPU sums come in another order: the same course, other bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tqdm

from ... import storage
from ...schema import TstmetaError

if TYPE_CHECKING:
    import torch

REPORT = "training.json"
#: One safetensors file: weights, the optimisers' moments, the losses so far.
CHECKPOINT = "checkpoint.safetensors"
#: Longest gradient.
CLIP = 1.0


class AnotherRun(TstmetaError):
    """A folder holds what another corpus, library, seed or option made."""


def finished(out: Path, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """The report of this very run where the folder holds its result; another's is refused."""
    if (out / CHECKPOINT).is_file():
        return None
    weights = any(out.glob("*.safetensors"))
    report = read_report(out)
    if report and all(report.get(key) == value for key, value in run.items()):
        return report if weights else None
    if weights or report:
        raise AnotherRun(
            f"{out} holds a model of another run. Remedy: name another folder with --out"
        )
    return None


def read_report(out: Path) -> dict[str, Any]:
    """What a training reports beside its model; empty where there is nothing that can be read."""
    try:
        return json.loads((out / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write_report(out: Path, report: dict[str, Any]) -> None:
    storage.write(out / REPORT, json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def versions(*packages: str) -> dict[str, str]:
    return {name: version(name).split("+")[0] for name in packages}


@dataclass(frozen=True)
class Learner:
    """A torch module in training."""

    model: Any
    optimisers: Sequence[torch.optim.Optimizer]
    seed: int

    def step(self, number: int, losses: Iterable[torch.Tensor], count: int, rate: float) -> float:
        """A step down the mean of ``losses`` (sums, computed in turn) over ``count``."""
        import torch

        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.zero_grad(set_to_none=True)
        total = 0.0
        cuda = next(self.model.parameters()).is_cuda
        with torch.random.fork_rng(None if cuda else []):
            # dropout of a step is its own: a run that goes on draws what it would have drawn
            torch.manual_seed(((self.seed << 32) + number) % 2**63)
            for loss in losses:
                (loss / count).backward()
                total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        for optimiser in self.optimisers:
            optimiser.step()
        return total / count

    def tensors(self) -> dict[str, np.ndarray]:
        """Weights and the optimisers' moments."""
        state = {}
        for name, value in self.model.named_parameters():
            state[f"weight/{name}"] = value
            for optimiser in self.optimisers:
                # each parameter has one optimiser; get() makes no entry in the other's state
                moments = optimiser.state.get(value, {})
                state |= {f"{moment}/{name}": tensor for moment, tensor in moments.items()}
        return {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}

    def take_up(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from the state of a checkpoint."""
        import torch

        owners = {
            value: optimiser
            for optimiser in self.optimisers
            for group in optimiser.param_groups
            for value in group["params"]
        }
        parameters = dict(self.model.named_parameters())
        for key, kept in tensors.items():
            kind, _, name = key.partition("/")
            value = parameters[name]
            if kind == "weight":
                with torch.no_grad():
                    value.copy_(torch.tensor(kept))
            else:  # step counts stay on the CPU
                device = value.device if kept.ndim else "cpu"
                owners[value].state[value][kind] = torch.tensor(kept, device=device)


def follow(
    out: Path,
    run: Mapping[str, Any],
    learner: Learner,
    step: Callable[[int], float],
    steps: int,
    every: int,
) -> list[float]:
    """Take all steps, from the folder's checkpoint on where it has one; the loss of each.

    Args:
        run: what makes it this run; a checkpoint of another one is refused.
        step: takes the step of a number and gives its loss.
        every: steps from checkpoint to checkpoint.
    """
    from safetensors.numpy import save

    losses: list[float] = []
    if (out / CHECKPOINT).is_file():
        about, tensors = read_checkpoint(out)
        if about["run"] != run:
            raise AnotherRun(
                f"{out} holds the checkpoint of another run (another corpus, seed, base or "
                "option). Remedy: give the same, or another folder with --out"
            )
        learner.take_up(tensors)
        losses = about["losses"]
    with tqdm.tqdm(total=steps, initial=len(losses), disable=None, desc="training") as bar:
        while len(losses) < steps:
            losses.append(step(len(losses)))
            bar.update()
            if len(losses) % every == 0 or len(losses) == steps:
                about = {"about": json.dumps({"run": run, "losses": losses})}
                storage.write(out / CHECKPOINT, save(learner.tensors(), about))
    return losses


def read_checkpoint(out: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A checkpoint's ``run`` and ``losses``, and its tensors."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(out / CHECKPOINT, "np") as file:
            about = json.loads(file.metadata()["about"])
            return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise TstmetaError(
            f"the checkpoint {out / CHECKPOINT} cannot be read ({error}). Remedy: delete it to "
            "begin anew"
        ) from error


def rows_of(step: int, count: int, batch: int, seed: int) -> np.ndarray:
    """Which of ``count`` rows a step is trained on: its part of the epoch's own order."""
    epoch, place = divmod(step, -(-count // batch))
    order = np.random.default_rng([seed, epoch]).permutation(count)
    return order[place * batch : (place + 1) * batch]
