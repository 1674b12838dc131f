"""The training loop of every network here, and the options that ``--set NAME=VALUE`` changes.

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
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import tqdm
from pydantic import BaseModel, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

from tstmeta import storage
from tstmeta.models.hub import REPORT, read_report
from tstmeta.schema import TstmetaError

if TYPE_CHECKING:
    import torch

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
        for key, saved in tensors.items():
            kind, _, name = key.partition("/")
            value = parameters[name]
            if kind == "weight":
                with torch.no_grad():
                    value.copy_(torch.tensor(saved))
            else:  # step counts stay on the CPU
                device = value.device if saved.ndim else "cpu"
                owners[value].state[value][kind] = torch.tensor(saved, device=device)


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


# ----------------------------------------------------------------------------------- options


class Options(BaseModel):
    """What shapes a model and the course of its training.

    ``rate`` is the learning rate, ``decay`` the weight decay (of a linear model the weight of the
    L2 penalty), ``checkpoint`` the number of steps between two checkpoints.  Another number of
    ``threads`` gives other bytes.
    """

    model_config = {"frozen": True, "extra": "forbid", "allow_inf_nan": False}

    epochs: PositiveInt = 3
    rate: PositiveFloat = 1e-3
    batch: PositiveInt = 1
    decay: Annotated[float, Field(ge=0)] = 0.0
    checkpoint: PositiveInt = 200
    threads: PositiveInt = 1


class LmOptions(Options):
    """Of a language model, in Llama's shape; defaults are those of the shipped weights.

    ``inner`` is the size of the feed-forward layers, ``vocabulary`` counts the tokens of a
    byte-level BPE, ``length`` those of the longest sentence, with its marks.  A fine-tuned model
    keeps its shape and tokenizer.  ``steps`` bounds the course (0: its ``epochs`` do).  The rate
    goes up over ``warmup`` steps and down to 0 over the last part ``cooling``.  ``mixed`` has
    matrices multiplied in bfloat16.
    """

    vocabulary: Annotated[int, Field(ge=257)] = 2560
    width: PositiveInt = 128
    layers: PositiveInt = 3
    heads: PositiveInt = 4
    inner: PositiveInt = 352
    length: Annotated[int, Field(ge=3)] = 256
    batch: PositiveInt = 32
    steps: Annotated[int, Field(ge=0)] = 0
    rate: PositiveFloat = 4e-3
    warmup: PositiveInt = 50
    cooling: Annotated[float, Field(ge=0, le=1)] = 0.5
    decay: Annotated[float, Field(ge=0)] = 0.05
    mixed: bool = True

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError(
                f"{self.heads} heads do not fit a width of {self.width}: width / heads must be an "
                "even whole number"
            )
        return self


#: Fine-tuning as Mukherjee et al. (2025, Appendix C) print it.  They print no schedule: the rate
#: stays level here.
FINE_TUNING = LmOptions(
    length=512,
    epochs=10,
    batch=2,
    rate=1e-5,
    warmup=1,
    cooling=0.0,
    decay=0.01,
    mixed=False,
    checkpoint=1000,
)


class StyleOptions(Options):
    """Of a model of style, whose rate falls along a line to 0.

    ``bits`` (of the number of features) is for linear models, ``vector`` (size of a word vector)
    and ``maps`` (filters of a width) are for TextCNN.
    """

    bits: Annotated[int, Field(ge=4, le=24)] = 18
    vector: PositiveInt = 128
    maps: PositiveInt = 100


#: Of TextCNN Kim (2014) has 50 rows a batch; of fine-tuning, the usual settings of BERT.
STYLE = {
    "linear": StyleOptions(epochs=5, rate=1.0, decay=1e-6),
    "textcnn": StyleOptions(epochs=2, rate=1e-3, batch=50),
    "transformer": StyleOptions(epochs=3, rate=2e-5, batch=16, decay=0.01),
}


def configure(options: Options, settings: Iterable[str] = ()) -> Any:
    """Options with other values, each as ``NAME=VALUE``."""
    changes = dict(setting.partition("=")[::2] for setting in settings)
    try:
        return type(options).model_validate(options.model_dump() | changes)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        raise TstmetaError(
            f"--set {name}={changes.get(name, '')}: {problem['msg']}. Remedy: give NAME=VALUE with "
            f"one of {', '.join(type(options).model_fields)}"
        ) from error
