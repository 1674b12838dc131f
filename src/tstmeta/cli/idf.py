"""``tstmeta train idf``: in how many texts each token stands, for BERTScore with idf weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, mistake
from .options import FormatOption
from .train import show_result


def idf(
    data: Annotated[
        list[str], typer.Option("--data", "-d", help="Data set, or your file; repeat for more.")
    ],
    model: Annotated[
        str, typer.Option(help="Encoder: a name, id or folder [default: the embedded one].")
    ] = "",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; it has to end in .json.")
    ] = Path("idf.json"),
    format: FormatOption = Format.table,
) -> None:
    """Count in how many sources each token of an encoder stands; each source counts once.

    \b
    Examples:
      tstmeta train idf --data mine.csv --out mine.json
      tstmeta score --data mine.csv --metric bertscore:idf=mine.json
    """
    from ..data import load
    from ..metrics.variants import parse
    from ..models import encoders, idf, vectors

    if out.suffix != ".json":
        raise mistake(f"{out} has to end in .json: that is how a metric knows it for a table")
    encoder = parse(model, {}, encoders.ENCODERS)[0] or encoders.MINILM
    if absent := encoders.missing(encoder):
        raise mistake(absent)
    texts = dict.fromkeys(text for name in data for text in load(name).items["source"])
    counts = idf.write(encoders.load(encoder), [text for text in texts if text.strip()], out)
    facts = {
        "counted in": ", ".join(data),
        "texts": counts.total,
        "tokens": len(counts.counts),
        "encoder": encoders.identity(encoder),
        "table": vectors.identity(out),
    }
    show_result(facts, format, out, "bertscore:idf=OUT" + (f"+{model}" if model else ""))
