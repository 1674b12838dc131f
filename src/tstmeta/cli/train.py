"""``tstmeta train``: models, lexicons and counts for the metrics; here, the one that is shipped.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ..console import Format, mistake, note, show_table
from ..extras import needs
from .options import FormatOption

if TYPE_CHECKING:
    from ..models.training.options import LmOptions, StyleOptions, TrainingOptions

    T = TypeVar("T", TrainingOptions, LmOptions, StyleOptions)

#: What the trained model ranks at the end, and the report's key.
SETS = ("contrast", "world")
SHARES = "shares"

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write; made if it is missing.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; another number, other bytes.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Another training option; repeat."),
]

train_app = typer.Typer(
    help="Train what metrics run on: models, lexicons, counts; shipped ones anew or yours.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@train_app.callback()
def train() -> None:
    """Train what metrics run on.

    ``backbone`` and ``idf`` make anew what is shipped; ``lm``, ``classifier`` and ``lexicon`` learn
    from a corpus of yours, and metrics take the folder or file that they write.
    """


@train_app.command("backbone")
def backbone(
    out: Out = Path("backbone"),
    steps: Annotated[
        int | None, typer.Option(min=1, help="Optimiser steps [default: as shipped].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of weights and examples [default: as shipped].")
    ] = None,
    threads: Threads = None,
    given: Given = None,
    evaluate: Annotated[
        bool,
        typer.Option(
            "--evaluate/--no-evaluate", help="At the end, rank pairs of our two sets with it."
        ),
    ] = True,
    format: FormatOption = Format.table,
) -> None:
    """Train the demonstration model of the likelihood metrics on text that a grammar writes.

    Without options the weights come out that are shipped; that takes under an hour on two cores.
    Interrupt it or kill it whenever you like: the same command goes on from its last checkpoint.
    With --set the model gets another shape (vocabulary, width, layers, heads, inner) or the
    training another course (batch, rate, checkpoint, ...); an unknown name lists all.

    \b
    Examples:
      tstmeta train backbone
      tstmeta train backbone --steps 200 --out small --set width=192 --set heads=3
      tstmeta score --data contrast --metric likelihood:./small
    """
    needs("torch", "transformers")
    from ..likelihood.instructions import shipped
    from ..models.training import backbone as training
    from ..models.training.loop import finished, write_report
    from ..models.training.options import TrainingOptions

    wanted = {
        "steps": training.STEPS if steps is None else steps,
        "seed": training.SEED if seed is None else seed,
    }
    options = with_set(TrainingOptions(), given, threads=threads)
    run = {**wanted, "options": asdict(options)}
    before = finished(out, lambda report: all(report[key] == run[key] for key in run))
    prompts = list(shipped().values())
    report = trained(out, training.train, prompts, before=before, options=options, **wanted)
    if evaluate and SHARES not in report:
        note("ranking pairs of rewrites with it")
        report[SHARES] = _shares(out)
        write_report(out, report)
    show_result(_summary(report), format, out, "contrast", "likelihood")


# ------------------------------------------------------------- for all commands that train


def with_set(options: T, given: list[str] | None, **others: int | None) -> T:
    """Training options with what ``--set`` says, then with the others that are not None.

    Raises:
        TstmetaError: no such option, or a value of another type.
    """
    known, changes = asdict(options), dict[str, Any]()
    for pair in given or []:
        name, sign, value = pair.partition("=")
        if name not in known or not sign:
            raise mistake(f"cannot set {pair!r}: write NAME=VALUE; names: {', '.join(known)}")
        try:
            changes[name] = _value(value, type(known[name]))
        except ValueError as reason:
            raise mistake(f"--set {name} needs {reason}, got {value!r}") from None
    changes |= {name: value for name, value in others.items() if value is not None}
    return replace(options, **changes)


def _value(text: str, kind: type) -> int | float | bool:
    """A text as a value of that type; the error says what is needed."""
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"
    try:
        value = kind(text)
    except ValueError:
        raise ValueError("a whole number" if kind is int else "a number") from None
    if not math.isfinite(value):
        raise ValueError("a finite number")
    return value


def trained(
    out: Path,
    train: Callable[..., dict[str, Any] | None],
    *words: Any,
    before: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The report of a run: the one from ``before``, or of a training that Ctrl-C may stop.

    Raises:
        TstmetaError: it cannot be trained, or the folder holds a model of another run.
        typer.Exit: with code 130 when the rest is still to do.
    """
    if before:
        note(f"{out} holds the result of this run already")
        return before
    with _interrupted() as stop:
        report = train(out, *words, **options, progress=sys.stderr.isatty(), stop=stop)
    if report is None or "versions" not in report:  # which end the report of a complete run
        note(f"interrupted; the same command goes on from the checkpoint in {out}")
        raise typer.Exit(130)
    return report


def show_result(
    rows: list[tuple[str, str]], format: Format, out: Path, data: str, metric: str
) -> None:
    """Print a report as rows (what, value), and how a metric takes what was trained."""
    import pandas as pd

    show_table(pd.DataFrame(rows, columns=["what", "value"]), format)
    note(f"in {out}; use it: tstmeta score --data {data} --metric {metric}:{_word(out)}")


@contextmanager
def _interrupted() -> Iterator[Callable[[int], bool]]:
    """Asked after each step: whether the user pressed Ctrl-C.  A second time ends it at once."""
    pressed = []

    def handle(*_: object) -> None:
        pressed.append(True)
        signal.signal(signal.SIGINT, before)
        note("finishing this step and keeping a checkpoint; again to stop at once")

    if threading.current_thread() is not threading.main_thread():  # where no handler can be set
        yield lambda step: False
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda step: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _word(out: Path) -> str:
    """A folder as a word of a metric's variant: with a slash, so that it is seen to be one."""
    text = str(out)
    return text if "/" in text else f"./{text}"


# --------------------------------------------------------------------------- the backbone


def _shares(out: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Shares of pairs ranked rightly, by set and metric; BLEU stands beside the model."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from ..data import paths
    from ..likelihood.instructions import get
    from ..metrics import Request
    from ..metrics import get as metric
    from ..models.training.evaluate import likelihood_scores, read_rows, shares

    ours = {"local_files_only": True, "trust_remote_code": False}
    model = AutoModelForCausalLM.from_pretrained(out, use_safetensors=True, **ours).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(out, **ours)
    found = {}
    for name in SETS:
        rows = read_rows(paths.own(name, f"{name}.csv"))
        units = [(Request(row["output"], (row["source"],), row["source"]),) for row in rows]
        bleu = [{"content": score.value} for (score,) in metric("bleu").score(units)]
        likelihood = likelihood_scores(rows, model, tokenizer, get("paper"))
        found[name] = {"likelihood": shares(rows, likelihood), "bleu": shares(rows, bleu)}
    return found


def _summary(report: dict[str, Any]) -> list[tuple[str, str]]:
    curve = report["loss_curve"]
    rows = [
        ("parameters", f"{report['parameters']:,}"),
        ("steps", f"{report['steps']:,}"),
        ("seed", f"{report['seed']}"),
        ("loss of the first step", f"{curve[0]:.3f}"),
        ("loss of the last step", f"{curve[-1]:.3f}"),
    ]
    for side, losses in report["losses_by_task"].items():
        text = "text of the grammar" if side == "training" else "held-out text"
        rows += [(f"loss on {text}: {task}", f"{loss:.3f}") for task, loss in losses.items()]
    for name, metrics in report.get(SHARES, {}).items():
        for metric, found in metrics.items():
            rows += [(f"{name}, {metric}: {pair}", f"{one:.3f}") for pair, one in found.items()]
    return rows
