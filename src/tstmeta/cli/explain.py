"""``tstmeta explain``: a rewrite token by token, as the likelihood scorer saw it."""

from typing import Annotated

import typer

from ..console import escaped, mistake, note, show_table, write_table
from .options import OutFile, OutFormat, Store


def explain(
    source: Annotated[str | None, typer.Option(help="The text rewritten.")] = None,
    output: Annotated[str | None, typer.Option(help="The rewrite.")] = None,
    style: Annotated[str | None, typer.Option(help="The target style, e.g. formal.")] = None,
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
    row a token; else each rewrite is shown.  Exit code 1 when something has no value.

    \b
    Examples:
      tstmeta explain --source "It was bad." --output "It was great." --style positive
      tstmeta explain --data contrast --item sentiment-01-strong-error
      tstmeta explain --data contrast --model 8b+released --out tokens.parquet
    """
    given = [text is not None for text in (source, output, style)]
    if (data is None) != any(given):
        raise mistake("name either a text (--source, --output and --style) or a data set (--data)")
    if data is None and not (source and style and output is not None):
        raise mistake("a rewrite has a --source, an --output (which may be empty) and a --style")
    if any("\ud800" <= sign <= "\udfff" for text in (source, output, style) for sign in text or ""):
        raise mistake("a text holds half a character: type or paste it as UTF-8")
    to_read = out is None and format is None
    if data is not None and to_read and not item:
        raise mistake(f"name items of {data} with --item, or a file for all of them: --out FILE")

    import pandas as pd

    from ..data import load
    from ..likelihood import tables

    metric = tables.metric_of(model, store)
    if metric.profile == "embedded":
        note("the embedded model shows how the method works; its numbers reproduce nothing")
    table = pd.DataFrame([[source, output, style]], columns=["source", "output", "style"])
    rewrites = tables.rewrites_of(table if data is None else load(data), item)
    scorer = metric.scorer()
    scores = scorer.judge(list(rewrites), progress=data is not None)
    tokens = tables.with_parts(tables.tabulate(scorer, rewrites, scores))
    values = [metric.rated(scorer, own) for own in scores]
    if not to_read:
        write_table(tokens, out, format)
    shown = zip(rewrites.items(), scores, values, strict=True) if to_read else ()
    for (name, rewrite), own, value in shown:
        heads = {"item": name if data else "", "source": rewrite.source, "style": rewrite.style}
        if value.status.has_value:
            heads |= {"C": f"{value.value:.4f}", "S": f"{scorer.style(own):.4f}"}
        heads[str(value.status)] = value.detail
        print(*(f"{head:7} {escaped(text)}" for head, text in heads.items() if text), "", sep="\n")
        rows = tokens[tokens["item_id"] == name].drop(columns="item_id")
        show_table(rows[rows["counts"] | (rows["token"] != tables.END)])
        print()
    if failed := sum(not value.status.has_value for value in values):
        note(f"{failed} without a value")
        raise typer.Exit(1)
