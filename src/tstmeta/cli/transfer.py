"""``tstmeta transfer``: train a transfer model of Pang and Gimpel (2019), and follow metrics."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, mistake, note, show_table
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
    corpus: Annotated[
        str, typer.Option(help="yelp, or a CSV file with the columns text and style.")
    ] = "yelp",
    pairs: Annotated[
        Path | None,
        typer.Option(help="CSV of paraphrases: text, paraphrase [default: words exchanged]."),
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

    OUT gets trajectory.csv (numbers alone), training.json (configuration, seed, versions), the
    weights, and the outputs.  A run that was killed goes on with the same command, to the same
    weights.  Of yelp the development part is used, without any rated sentence.

    \b
    Examples:
      tstmeta transfer run --model M0 --out M0-0
      tstmeta transfer run --model M7 --corpus mine.csv --out quick --quick
    """
    needs("torch", "transformers", "safetensors")
    from ..data import texts_of
    from ..data.files import read_csv
    from ..models.training.options import configure
    from ..schema import FILLED
    from ..storage import locked
    from ..transfer import configuration, trajectory
    from ..transfer import corpus as selection
    from ..transfer.trainer import train
    from .train import read_corpus

    whole = configuration.read(config)
    changes = [f"{name}={value}" for name, value in (whole.quick if quick else {}).items()]
    changes += [f"steps={steps}"] if steps else []
    options = configure(whole.options, changes)
    whole = whole.model_copy(update={"options": options})
    whole.weights_of(model)
    table, never, referenced = read_corpus(corpus, keep_out=()), set(), None
    if corpus == "yelp":
        table, referenced = table[table["split"] == "dev"], selection.referenced()
        never = texts_of(*selection.EXCLUDED)
    cells = dict.fromkeys(("text", "paraphrase"), FILLED)
    given = read_csv(pairs, cells) if pairs else None
    chosen = selection.select(table, options, whole.paraphrases, never, referenced, given)
    with locked(out / ".lock", timeout=0):
        report = train(out, model, chosen, whole, seed, device)
        rows, lacking = trajectory.trace(out, chosen, whole, report)
    for name, lack in lacking.items():
        note(f"{name} is left out: {lack}")
    if rows.empty:
        raise mistake("no metric of the configuration can run here")
    last = rows[(rows["step"] == rows["step"].max()) & (rows["part"] == selection.REPORT)]
    show_table(last, format)
    note(f"in {out}: {trajectory.FILE} has every point")
