"""``tstmeta train lm``: language models for fluency metrics, from scratch or fine-tuned.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import Format, mistake
from ..extras import needs
from .options import FormatOption
from .train import Given, Out, Threads, show_result, trained, with_set

if TYPE_CHECKING:
    import pandas as pd

#: The corpus of our own text, which the shipped weights are trained on.
OURS = "ours"


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
    out: Out = Path("lm"),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of weights and order [default: as shipped].")
    ] = None,
    threads: Threads = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    given: Given = None,
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
    needs("torch", "transformers")
    from ..models.causal import backbone
    from ..models.lm import MODELS
    from ..models.training import lm as training
    from ..models.training.options import FINE_TUNING, LmOptions

    model = MODELS.get(base) or (backbone(base) if base else None)
    options = with_set(FINE_TUNING if model else LmOptions(), given, threads=threads)
    options.check()
    sides = _sentences(corpus, style)
    seed = training.SEED if seed is None else seed
    report = trained(
        out,
        training.train,
        *sides,
        before=training.finished(out, *sides, seed, options, model),
        base=model,
        seed=seed,
        options=options,
        about={"name": Path(corpus).name, "style": style},
        device=device,
    )
    show_result(_summary(report), format, out, "contrast", "perplexity")


def _sentences(name: str, style: str) -> tuple[list[str], list[str]]:
    """Sentences to train on and to measure on; see :mod:`.models.splits`."""
    from ..models import splits

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
    return parts["train"], parts["test"]


def _table(name: str) -> tuple[pd.DataFrame, Any]:
    """A corpus with the columns text, style and split, and the roles of its splits."""
    from ..data import corpora
    from ..models import splits

    if name == OURS:
        from ..models.training.lm_text import ours

        return corpora.table(ours()), splits.USUAL
    if name == "yelp":
        from ..data import root, yelp

        return yelp.corpus(root(name)), splits.YELP
    path = Path(name).expanduser()
    if path.suffix != ".csv":
        raise mistake(f"no corpus is called {name!r}; use yelp, {OURS} or the path of a CSV")
    from ..data.files import read_csv

    rows = read_csv(path, ["text"])
    rows = rows[rows["text"].str.strip() != ""]
    blank = {column: "" for column in ("style", "split") if column not in rows}
    return rows.assign(**blank), splits.USUAL


def _summary(report: dict[str, Any]) -> list[tuple[str, str]]:
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
    return rows
