"""``python -m experiments.transfer``: a transfer model, with metrics along its training."""

from pathlib import Path
from typing import Annotated

import typer

from experiments.options import APP, Out, Seed
from tstmeta.cli import main
from tstmeta.cli.options import Command, FormatOption
from tstmeta.console import Format, note, show_table
from tstmeta.extras import needs

transfer_app = typer.Typer(**APP)


@transfer_app.callback()
def transfer() -> None:
    """The transfer models M0 to M7 of Pang and Gimpel (2019), and metrics along their training."""


@transfer_app.command(cls=Command)
def run(
    model: Annotated[str, typer.Option("--model", "-m", help="A name in the configuration.")],
    out: Out,
    seed: Seed = 0,
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file: text, style.")] = "yelp",
    config: Annotated[
        Path | None, typer.Option(help="A configuration [default: data/transfer/models.toml].")
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Of training [default: whole epochs].")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny, to see that it runs.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    format: FormatOption = Format.table,
) -> None:
    """Train a model and score what it writes along the way.

    OUT gets trajectory.csv (numbers alone), training.json (configuration, seed, versions), weights
    and outputs.  A run that was killed goes on with the same command, to the same weights.  Of yelp
    the development part is used, without any rated sentence.

    \b
    Example:
      python -m experiments.transfer run --model M7 --corpus mine.csv --out quick --quick
    """
    needs("torch", "transformers", "safetensors")
    from experiments.training.loop import configure
    from experiments.training.splits import read_corpus, texts_of
    from tstmeta.storage import locked

    from . import configuration, trainer
    from . import corpus as selection

    settings = configuration.read(config)
    changes = {**(settings.quick if quick else {}), **({"steps": steps} if steps else {})}
    options = configure(settings.options, [f"{name}={value}" for name, value in changes.items()])
    settings.weights_of(model)
    table, never, referenced = read_corpus(corpus, keep_out=()), set(), None
    if corpus == "yelp":
        table, referenced = table[table["split"] == "dev"], selection.referenced()
        never = texts_of(*selection.EXCLUDED)
    chosen = selection.select(table, options, settings.paraphrases, never, referenced)
    settings = settings.model_copy(update={"options": options})
    with locked(out / ".lock", timeout=0):
        report = trainer.train(out, model, chosen, settings, seed, device)
        rows = trainer.trace(out, chosen, settings, report)
    show_table(rows[(rows["step"] == report["steps"]) & (rows["part"] == "report")], format)
    note(f"in {out}: {trainer.FILE} has every point")


if __name__ == "__main__":
    main(transfer_app)
