"""``tstmeta explain``: a rewrite token by token, as the likelihood scorer saw it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import escaped, mistake, note, show_table, write_table
from .options import OutFile, OutFormat, Store

if TYPE_CHECKING:
    import pandas as pd

#: Heights of the bars, a natural logarithm each: the mean height is about -C.
BARS = "▁▂▃▄▅▆▇█"
_KEY = (
    "bars: one step a natural logarithm, high = little foreseen; letters: the\n"
    "instruction that accounts for it best, s = style, p = paraphrase, r = repeat"
)


def explain(
    source: Annotated[str | None, typer.Option("--source", help="The text rewritten.")] = None,
    output: Annotated[str | None, typer.Option("--output", help="The rewrite.")] = None,
    style: Annotated[
        str | None, typer.Option("--style", help="The target style, e.g. formal.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", "-d", help="A data set, a subset or your file, in place of a text."),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option("--item", "-i", help="An item of it; repeat for more [default: all]."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="As behind likelihood: - a model, a variant, instructions, joined by + "
            "[default: the embedded demonstration model].",
            show_default=False,
        ),
    ] = "",
    out: OutFile = None,
    format: OutFormat = None,
    store: Store = None,
) -> None:
    """Show what each token of a rewrite adds to content (C) and style strength (S).

    C is the mean of log max(p_style, p_paraphrase, p_repeat), S that of p_style - max(p_paraphrase,
    p_repeat): Pauli et al. (2025), Eq. 1 and 2.  With --out or --format there is a table with one
    row a token; else each rewrite is drawn.  Exit code 1 when something has no value.

    \b
    Examples:
      tstmeta explain --source "It was bad." --output "It was great." --style positive
      tstmeta explain --data contrast --item sentiment-01-strong-error
      tstmeta explain --data contrast --model 8b+released --out tokens.parquet
    """
    texts = {"--source": source, "--output": output, "--style": style}
    given = [name for name, text in texts.items() if text is not None]
    if (data is None) == (not given):
        raise mistake("name either a text (--source, --output and --style) or a data set (--data)")
    if data is None and not (source and style and output is not None):
        raise mistake("a rewrite has a --source, an --output (which may be empty) and a --style")
    drawn = out is None and format is None
    if data is not None and drawn and not item:
        raise mistake(f"name items of {data} with --item, or a file for all of them: --out FILE")

    import pandas as pd

    from ..data import load
    from ..likelihood import tables
    from ..likelihood.tables import END

    metric = tables.metric_of(model, store)
    if metric.profile == "embedded":
        note("the embedded model shows how the method works; its numbers reproduce nothing")
    table = pd.DataFrame([[source, output, style]], columns=["source", "output", "style"])
    rewrites = tables.rewrites_of(table if data is None else load(data), item)
    scorer = metric.scorer()
    scores = scorer.judge(list(rewrites), progress=data is not None)
    tokens = tables.with_parts(tables.tabulate(scorer, rewrites, scores))
    if not drawn:
        write_table(tokens, out, format)
    values = [metric.value(scorer, own) for own in scores]
    for (name, rewrite), own, value in zip(rewrites.items(), scores, values, strict=True):
        if drawn:
            heads = {"item": name if data else "", "source": rewrite.source, "style": rewrite.style}
            if value.status.has_value:
                heads |= {"C": f"{value.value:.4f}", "S": f"{scorer.style(own):.4f}"}
            heads[str(value.status)] = value.detail
            shown = (tokens["item_id"] == name) & (tokens["counts"] | (tokens["token"] != END))
            _draw(heads, tokens[shown].drop(columns="item_id"))
    if failed := sum(not value.status.has_value for value in values):
        note(f"{failed} without a value")
        raise typer.Exit(1)


def _draw(heads: dict[str, str], tokens: pd.DataFrame) -> None:
    for name, value in heads.items():
        if value:
            print(f"{name:7} {escaped(value)}")
    if len(tokens):
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        print("", *strip(tokens, width), _KEY, "", sep="\n")
        show_table(tokens)
    print()


def strip(tokens: pd.DataFrame, width: int) -> Iterator[str]:
    """Tokens in groups of three lines, no longer than ``width``: bars, texts and letters."""
    from rich.cells import cell_len

    rows = ["", "", ""]
    for token in tokens.itertuples(index=False):
        text = escaped(token.token) or "·"
        blank = " " * (len(text) - len(text.lstrip()))
        size = cell_len(text) - len(blank)
        height = min(int(-max(token.content, -99)), len(BARS) - 1) if token.counts else 0
        bar, letter = (BARS[height], token.best[0]) if token.counts else (" ", "-")
        if cell_len(rows[1]) + len(blank) + size > width:
            yield from (row.rstrip() for row in rows)
            rows = ["", "", ""]
        cells = (bar * size, text.lstrip(), letter.ljust(size) if size else "")
        rows = [row + blank + cell for row, cell in zip(rows, cells, strict=True)]
    yield from (row.rstrip() for row in rows)
