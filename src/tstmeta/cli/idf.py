"""``tstmeta train idf``: in how many texts each token stands, for BERTScore with idf weights.

See :mod:`tstmeta.cli` for how commands behave.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import Format, mistake, note, show_table
from .options import FormatOption
from .train import _word


def idf(
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="Data set, or your file; repeat [contrast, world]."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Encoder: a name, id or folder [the embedded one]."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; it has to end in .json.")
    ] = Path("idf.json"),
    format: FormatOption = Format.table,
) -> None:
    """Count in how many sources each token of an encoder stands; each source counts once.

    Without options the table comes out that is shipped for bertscore:idf.  Nothing is drawn at
    random.

    \b
    Examples:
      tstmeta train idf
      tstmeta train idf --data mine.csv --out mine.json
      tstmeta score --data mine.csv --metric bertscore:idf=mine.json
    """
    import pandas as pd

    from ..data import load
    from ..metrics.variants import parse
    from ..models import encoders, idf, vectors

    if out.suffix != ".json":
        raise mistake(f"{out} has to end in .json: that is how a metric knows it for a table")
    found, _ = parse(model or "", {}, encoders.ENCODERS)
    chosen = found or encoders.MINILM
    if absent := encoders.missing(chosen):
        raise mistake(absent)
    names = data or list(idf.SETS)
    texts = list(dict.fromkeys(text for name in names for text in load(name).items["source"]))
    made = idf.write(encoders.load(chosen), [text for text in texts if text.strip()], out)
    rows = [
        ("counted in", ", ".join(names)),
        ("texts", f"{made.total:,}"),
        ("tokens", f"{len(made.counts):,}"),
        ("encoder", encoders.identity(chosen)),
        ("table", vectors.identity(out)),
    ]
    show_table(pd.DataFrame(rows, columns=["what", "value"]), format)
    other = f"+{model}" if model else ""
    word = f"bertscore:idf={_word(out)}{other}"
    note(f"in {out}; use it: tstmeta score --data DATA --metric {word}")
