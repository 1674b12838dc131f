"""Draws of an evaluation in a file, so that comparisons can be made again and by others.

The file is NumPy's ``.npz`` with plain arrays and no pickle: any program that reads NumPy arrays
reads it, and nothing in it can run.
"""

from __future__ import annotations

import json
import math
import os
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..schema import TstmetaError
from ..stats import Plan, Setting
from ..stats.intervals import Interval, Resample, difference
from .evaluation import Evaluation

#: Arrays that every file has; besides, ``jackknife_<i>``, ``given_<i>`` and ``count_<unit>``.
_ARRAYS = ("about", "metric", "basis", "signature", "estimates", "values")


class Stored(NamedTuple):
    """Draws read from a file.

    Attributes:
        names: (metric, basis) of each row; ``signatures`` beside them.
        made: estimates ``[M]``, values in every draw ``[M, D]``, jackknives.
        about: data set, dimension, setting, plan, seed, estimand, versions.
    """

    names: list[tuple[str, str]]
    signatures: list[str]
    made: Resample
    about: dict[str, Any]

    def difference(self, first: int, second: int) -> Interval:
        """Value of one row minus another's, draw by draw."""
        return difference(self.made, first, second, confidence=self.about["confidence"])


def about(of: Evaluation) -> dict[str, Any]:
    """What was computed, in plain values."""
    setting, plan = of.job.setting, of.job.plan
    return {
        "data": of.dataset,
        "dimension": of.dimension,
        "against": of.against,
        "items": of.items,
        "sources": of.sources,
        "systems": of.systems,
        "statistic": setting.function.name,
        "level": setting.level,
        "micro": setting.micro,
        "undefined": None if math.isnan(setting.undefined) else setting.undefined,
        "units": plan.units,
        "clustered": of.clustered,
        "draws": plan.n,
        "confidence": of.job.confidence,
        "seed": of.job.seed,
        "estimand": plan.estimand,
    }


def versions() -> dict[str, str]:
    """Versions of what computed the numbers."""
    found = {name: version(name) for name in ("tstmeta", "numpy", "scipy", "pandas")}
    return {"python": ".".join(map(str, sys.version_info[:3])), **found}


def save_draws(of: Evaluation, path: Path) -> None:
    """Write the draws of an evaluation, whole or not at all.

    Raises:
        TstmetaError: a file that cannot be written.
    """
    made = of.resample
    arrays: dict[str, np.ndarray] = {
        "about": np.array(json.dumps({**about(of), "single": made.single, "versions": versions()})),
        "estimates": made.estimates,
        "values": made.values,
    }
    for name in ("metric", "basis", "signature"):
        arrays[name] = of.frame[name].to_numpy(str)
    for i, (jackknife, given) in enumerate(zip(made.jackknives, made.given, strict=True)):
        arrays[f"jackknife_{i}"], arrays[f"given_{i}"] = jackknife, given
    arrays |= {f"count_{unit}": np.asarray(count) for unit, count in made.counts.items()}
    partial = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise TstmetaError(f"cannot write {path}: {error.strerror or error}") from error


def load_draws(path: Path) -> Stored:
    """Read draws that :func:`save_draws` wrote.

    Raises:
        TstmetaError: no such file, or one that holds no draws.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except FileNotFoundError:
        raise TstmetaError(f"{path}: there is no such file") from None
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise TstmetaError(f"{path} cannot be read as draws: {error}") from error
    if missing := [name for name in _ARRAYS if name not in arrays]:
        raise TstmetaError(f"{path} holds no draws of tstmeta: {', '.join(missing)} missing")
    told = json.loads(str(arrays["about"]))
    count = sum(name.startswith("jackknife_") for name in arrays)
    made = Resample(
        arrays["estimates"],
        arrays["values"],
        tuple(arrays[f"jackknife_{i}"] for i in range(count)),
        tuple(arrays[f"given_{i}"] for i in range(count)),
        {name[6:]: array for name, array in arrays.items() if name.startswith("count_")},
        told["single"],
        Setting(told["statistic"], told["level"], micro=told["micro"]),
        Plan(told["units"], told["draws"]),
    )
    names = list(zip(arrays["metric"].tolist(), arrays["basis"].tolist(), strict=True))
    return Stored(names, arrays["signature"].tolist(), made, told)
