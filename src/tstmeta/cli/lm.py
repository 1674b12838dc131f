"""``tstmeta train lm``: language models for fluency metrics, from scratch or fine-tuned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, mistake
from ..extras import needs
from .options import FormatOption
from .train import Out, Seed, Settings, read_corpus, show_result


def lm(
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file with the column text.")],
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
    seed: Seed = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    settings: Settings = None,
    format: FormatOption = Format.table,
) -> None:
    """Train a language model on sentences, for perplexity and SLOR.

    It is measured on sentences that it never saw; a CSV may say which in a column split (train,
    test).  With --base the course is that of Mukherjee et al. (2025, Appendix C).  With --set the
    model gets another shape (vocabulary, width, layers, heads, inner) or the training another
    course (epochs, steps, batch, rate, length, checkpoint, ...).

    \b
    Examples:
      tstmeta train lm --corpus yelp --style positive --out positive
      tstmeta train lm --corpus mine.csv --base gpt2 --out tuned --device cuda
      tstmeta score --data contrast --metric perplexity:./positive --metric slor:./positive
    """
    needs("torch", "transformers")
    from ..models.causal import backbone
    from ..models.lm import MODELS
    from ..models.training.lm import train
    from ..models.training.options import FINE_TUNING, LmOptions, configure

    model = MODELS.get(base) or (backbone(base) if base else None)
    options = configure(FINE_TUNING if model else LmOptions(), settings or ())
    table = read_corpus(corpus, ("text", "style") if style else ("text",), keep_out=())
    if style and style not in set(table["style"]):
        known = ", ".join(sorted(set(table["style"])))
        raise mistake(f"no sentence of {corpus} has the style {style!r}; it has: {known}")
    if style:
        table = table[table["style"] == style]
    texts, held_out = (
        list(dict.fromkeys(table.loc[table["part"] == part, "text"])) for part in ("train", "test")
    )
    name = " ".join(filter(None, (Path(corpus).name, style)))
    report = train(
        out, texts, held_out, base=model, seed=seed, options=options, name=name, device=device
    )
    facts = {key: report[key] for key in ("corpus", "cut", "base", "parameters", "seed")}
    curve = report["loss_curve"]
    facts |= {"loss at the beginning": curve[0], "loss at the end": curve[-1]}
    show_result({**facts, "perplexity": report["perplexity"]}, format, out, "perplexity:OUT")
