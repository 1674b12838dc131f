"""What the benchmarks share: taking turns, the machine, goals, and the file that comes out.

Ours and its peer take turns in one process, and what counts is the ratio inside each round: a
change of the machine's mood hits both.  Times are never tested.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import operator
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from tstmeta import console

ROUNDS = 5
SEED = 0
_RELATIONS = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


# ------------------------------------------------------------------------------------- timing


def seconds(make: Callable[[], Callable[[], object]]) -> float:
    """Processor seconds of one call of what ``make`` builds; building it does not count."""
    run = make()
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def take_turns(
    sides: Mapping[str, Callable[[], Callable[[], object]]], calls: int, rounds: int = ROUNDS
) -> dict[str, list[float]]:
    """Seconds of each side in each round: the least of ``calls`` calls, sides alternating.

    Other programs can only make a call slower, hence the least.  Who goes first changes from round
    to round.  What is in memory by now is left to itself by the garbage collector: else a side
    would pay, by chance, for walking through the indexes that both use.
    """
    gc.collect()
    gc.freeze()
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        order = (names[first:] + names[:first]) * calls
        made = [(name, seconds(sides[name])) for name in order]
        for name in names:
            times[name].append(min(taken for who, taken in made if who == name))
    return times


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The ratio in each round."""
    return [a / b for a, b in zip(above, below, strict=True)]


def high_water(reset: bool = False) -> int | None:
    """KiB of the largest resident size so far, as Linux tells it; reset starts from now."""
    status, references = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        if reset:
            references.write_text("5", encoding="ascii")  # proc(5): resets the high-water mark
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"))
    except OSError:
        return None
    return int(found[1]) if found else None


# ------------------------------------------------------------------------------------- report


def check(
    name: str, value: float | None, relation: str, bound: float, reason: str = ""
) -> dict[str, Any]:
    """A goal and whether it holds; without a value it was not measured, and the reason says why."""
    holds = None if value is None else bool(_RELATIONS[relation](value, bound))
    made = {"name": name, "value": value, "goal": f"{relation} {bound:g}", "holds": holds}
    return made | ({"reason": reason} if reason else {})


def machine(libraries: Sequence[str]) -> dict[str, Any]:
    """What the numbers depend on; nothing that names the machine or its owner."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        **(_gpu() if "torch" in libraries else {}),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in libraries},
    }


def _gpu() -> dict[str, str]:
    import torch

    return {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}


def load_average() -> list[float] | None:
    """Runnable processes over the last 1, 5 and 15 minutes; None where the system has no such."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def arguments(
    what: str,
    size: int,
    quick: int,
    size_help: str,
    more: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> argparse.Namespace:
    """The command line of every benchmark: ``--quick``, ``--json FILE``, ``--size N``, and more."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--quick", action="store_true", help="under a minute; rougher numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report here")
    parser.add_argument("--size", type=positive, metavar="N", help=size_help)
    more(parser)
    given = parser.parse_args()
    given.size = given.size or (quick if given.quick else size)
    return given


def positive(text: str) -> int:
    """A number of the command line that is at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return number


def finish(
    name: str,
    given: argparse.Namespace,
    libraries: Sequence[str],
    load_before: list[float] | None,
    rows: list[dict[str, Any]],
    checks: list[dict[str, Any]],
    notes: Sequence[str] = (),
    rounds: int = ROUNDS,
) -> None:
    """Print rows and checks; write them where ``--json`` says.  A simulation has one round."""
    report = {
        "name": name,
        "when": date.today().isoformat(),
        "machine": machine(libraries),
        "load_average": {"before": load_before, "after": load_average()},
        "settings": {
            "quick": given.quick,
            "size": given.size,
            "rounds": rounds,
            "seed": SEED,
        },
        "notes": list(notes),
        "rows": [{key: _short(value) for key, value in row.items()} for row in rows],
        "checks": [{key: _short(value) for key, value in one.items()} for one in checks],
    }
    shown = pd.DataFrame(rows).drop(columns="signature", errors="ignore")
    print(f"{name}, median of {rounds} rounds" if rounds > 1 else name)
    console.show_table(shown)
    print()
    goals = pd.DataFrame(checks)[["name", "value", "goal", "holds"]]
    told = {True: "yes", False: "NO", None: "not measured"}
    goals["value"] = [_told(one["value"]) for one in checks]
    goals["holds"] = [told[one["holds"]] for one in checks]
    print("goals")
    console.show_table(goals)
    for line in notes:
        print(f"note: {line}")
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
        given.json.write_text(text + "\n", encoding="utf-8")


def _told(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _short(value: Any) -> Any:
    """A float with four significant digits: more would promise too much."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.4g}")
    return value


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median, lowest and highest of the rounds."""
    return {"ratio": median(values), "lowest": min(values), "highest": max(values)}
