"""``tstmeta train lm``: language models for fluency metrics, from scratch or fine-tuned.

See :mod:`.cli` for how commands behave.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .cli_data import FormatOption
from .cli_train import _interrupted, _refuse_others, _value, _word
from .console import Format, mistake, note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from .models.causal import Backbone
    from .models.training.options import LmOptions

#: The corpus of our own text, which the shipped weights are trained on.
OURS = "ours"


class _Corpus(NamedTuple):
    """Sentences of both sides, and what the report says of them."""

    train: list[str]
    held_out: list[str]
    about: dict[str, Any]


def lm(
    corpus: Annotated[
        str,
        typer.Option(
            help="yelp, or a CSV with the columns text and, where there are any, style and split; "
            f"{OURS} is the text of the shipped model."
        ),
    ] = OURS,
    style: Annotated[
        str, typer.Option(help="Only sentences of this style, e.g. positive [default: all].")
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help="Fine-tune this model: gpt2, mgpt, owner/name of a hub or a folder "
            "[default: random weights]."
        ),
    ] = "",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write; made if it is missing.")
    ] = Path("lm"),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of weights and order [default: as shipped].")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads; another number, other bytes.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another training option; repeat."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a language model on sentences, for perplexity and SLOR.

    Without options the weights come out that are shipped.  With --base the course is that of
    Mukherjee et al. (2025, Appendix C).  Interrupt it or kill it whenever you like: the same
    command goes on from its last checkpoint.  With --set the model gets another shape (vocabulary,
    width, layers, heads, inner) or the training another course (epochs, steps, batch, rate,
    length, checkpoint, ...); an unknown name lists all.

    \b
    Examples:
      tstmeta train lm --corpus yelp --style positive --out positive
      tstmeta train lm --corpus mine.csv --base gpt2 --out tuned --device cuda
      tstmeta score --data contrast --metric perplexity:./positive --metric slor:./positive
    """
    from .models.training.lm import SEED, finished

    model = _base(base)
    options = _options(model is not None, threads, given or [])
    sentences = _sentences(corpus, style)
    seed = SEED if seed is None else seed
    report = finished(out, sentences.train, sentences.held_out, seed, options, model)
    if report:
        note(f"{out} holds the result of this run already")
    else:
        _refuse_others(out, {} if (out / "training.json").is_file() else None)
        report = _trained(out, sentences, model, seed, options, device)
    if report is None:
        note(f"interrupted; the same command goes on from the checkpoint in {out}")
        raise typer.Exit(130)
    show_table(_summary(report), format)
    note(f"in {out}; use it: tstmeta score --data contrast --metric perplexity:{_word(out)}")


def _base(name: str) -> Backbone | None:
    from .models.causal import backbone
    from .models.lm import MODELS

    return MODELS.get(name) or (backbone(name) if name else None)


def _options(tuned: bool, threads: int | None, given: list[str]) -> LmOptions:
    from .models.training.options import FINE_TUNING, LmOptions

    usual = FINE_TUNING if tuned else LmOptions()
    known: dict[str, Any] = asdict(usual)
    chosen = dict(known)
    for pair in given:
        name, sign, value = pair.partition("=")
        if name not in known or not sign:
            raise mistake(f"cannot set {pair!r}: write NAME=VALUE; names: {', '.join(known)}")
        try:
            chosen[name] = _value(value, type(known[name]))
        except ValueError as reason:
            raise mistake(f"--set {name} needs {reason}, got {value!r}") from None
    if threads is not None:
        chosen["threads"] = threads
    options = LmOptions(**chosen)
    options.check()
    return options


def _sentences(name: str, style: str) -> _Corpus:
    """Sentences to train on and to measure on; see :mod:`.models.splits`."""
    from .models import splits

    table, roles = _table(name)
    table = splits.divide(table, roles)
    if style:
        known = sorted(set(table["style"]) - {""})
        if style not in known:
            raise mistake(f"no sentence of {name} has style {style!r}; it has: {', '.join(known)}")
        table = table[table["style"] == style]
    parts = {part: list(dict.fromkeys(rows["text"])) for part, rows in table.groupby("part")}
    lacking = [part for part in ("train", "test") if not parts.get(part)]
    if lacking:
        raise mistake(f"{name} has no sentences for {' and '.join(lacking)}; it has too few rows")
    about = {"name": Path(name).name, "style": style}
    return _Corpus(parts["train"], parts["test"], about)


def _table(name: str) -> tuple[pd.DataFrame, Any]:
    """A corpus with the columns text, style and split, and the roles of its splits."""
    from .data import corpora
    from .models import splits

    if name == OURS:
        from .models.training.lm_text import ours

        return corpora.table(ours()), splits.USUAL
    if name == "yelp":
        from .data import root, yelp

        return yelp.corpus(root(name)), splits.YELP
    path = Path(name).expanduser()
    if path.suffix != ".csv":
        raise mistake(f"no corpus is called {name!r}; use yelp, {OURS} or the path of a CSV")
    from .data.files import read_csv

    rows = read_csv(path, ["text"])
    rows = rows[rows["text"].str.strip() != ""]
    blank = {column: "" for column in ("style", "split") if column not in rows}
    return rows.assign(**blank), splits.USUAL


def _trained(
    out: Path,
    sentences: _Corpus,
    base: Backbone | None,
    seed: int,
    options: LmOptions,
    device: str,
) -> dict[str, Any] | None:
    """The report; None when the user interrupted and the rest is still to do."""
    from importlib.util import find_spec

    if not (find_spec("torch") and find_spec("transformers")):
        raise mistake("training needs torch and transformers: pip install 'tstmeta[likelihood]'")
    from .models.training.lm import train

    with _interrupted() as stop:
        report = train(
            out,
            sentences.train,
            sentences.held_out,
            base=base,
            seed=seed,
            options=options,
            about=sentences.about,
            device=device,
            progress=sys.stderr.isatty(),
            stop=stop,
        )
    return report if report["steps_done"] == report["options"]["steps"] else None


def _summary(report: dict[str, Any]) -> pd.DataFrame:
    """The report as rows: what, value."""
    import pandas as pd

    of, curve = report["corpus"], report["loss_curve"]
    rows = [
        ("corpus", " ".join(filter(None, (of["name"], of["style"], of["sha256"])))),
        ("sentences trained on", f"{of['train']:,}"),
        ("sentences held out", f"{of['held_out']:,}"),
        ("sentences cut", f"{report['cut']:,}"),
        ("base", report["base"] or "random weights"),
        ("parameters", f"{report['parameters']:,}"),
        ("steps", f"{report['options']['steps']:,}"),
        ("seed", f"{report['seed']}"),
        ("loss at the beginning", f"{curve[0]:.3f}"),
        ("loss at the end", f"{curve[-1]:.3f}"),
    ]
    for side, found in report["perplexity"].items():
        where = f"{side.replace('_', '-')} text"
        rows += [
            (f"sentences measured: {where}", f"{found['sentences']:,}"),
            (f"perplexity a token: {where}", f"{found['per_token']:.2f}"),
            (f"perplexity a word: {where}", f"{found['per_word']:.2f}"),
            (f"perplexity of frequencies alone: {where}", f"{found['unigrams_per_token']:.2f}"),
        ]
    return pd.DataFrame(rows, columns=["what", "value"])
