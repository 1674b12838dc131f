"""``tstmeta transfer``: train a transfer model of Pang and Gimpel (2019), and follow metrics."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, note, show_table
from ..extras import needs
from .options import FormatOption, Seed

transfer_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@transfer_app.callback()
def transfer() -> None:
    """The transfer models M0 to M7 of Pang and Gimpel (2019), and metrics along their training."""


@transfer_app.command()
def run(
    model: Annotated[str, typer.Option("--model", "-m", help="A name in the configuration.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write, new or empty.")],
    seed: Seed = 0,
    corpus: Annotated[str, typer.Option(help="yelp, or a CSV file: text, style.")] = "yelp",
    pairs: Annotated[
        Path | None, typer.Option(help="CSV file: text, paraphrase [default: words exchanged].")
    ] = None,
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
      tstmeta transfer run --model M7 --corpus mine.csv --out quick --quick
    """
    needs("torch", "transformers", "safetensors")
    from ..data import texts_of
    from ..data.files import read_csv
    from ..models.training.loop import configure
    from ..schema import FILLED
    from ..storage import locked
    from ..transfer import configuration, trainer, trajectory
    from ..transfer import corpus as selection
    from .train import read_corpus

    whole = configuration.read(config)
    changes = {**(whole.quick if quick else {}), **({"steps": steps} if steps else {})}
    options = configure(whole.options, [f"{name}={value}" for name, value in changes.items()])
    whole.weights_of(model)
    table, never, referenced = read_corpus(corpus, keep_out=()), set(), None
    if corpus == "yelp":
        table, referenced = table[table["split"] == "dev"], selection.referenced()
        never = texts_of(*selection.EXCLUDED)
    given = read_csv(pairs, dict.fromkeys(("text", "paraphrase"), FILLED)) if pairs else None
    chosen = selection.select(table, options, whole.paraphrases, never, referenced, given)
    whole = whole.model_copy(update={"options": options})
    with locked(out / ".lock", timeout=0):
        report = trainer.train(out, model, chosen, whole, seed, device)
        rows = trajectory.trace(out, chosen, whole, report)
    show_table(rows[(rows["step"] == report["steps"]) & (rows["part"] == "report")], format)
    note(f"in {out}: {trajectory.FILE} has every point")
