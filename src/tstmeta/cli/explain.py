"""``tstmeta explain``: a rewrite token by token, as the likelihood scorer saw it."""

from typing import Annotated

import typer

from ..console import Format, escaped, note, show_table
from ..schema import TstmetaError
from .options import FormatOption


def explain(
    source: Annotated[str, typer.Option(help="The text rewritten.")],
    output: Annotated[str, typer.Option(help="The rewrite.")],
    style: Annotated[str, typer.Option(help="The target style, e.g. formal.")],
    model: Annotated[
        str,
        typer.Option(
            help="As behind likelihood: - a model, a variant, instructions, joined by + "
            "[default: smollm2-135m].",
            show_default=False,
        ),
    ] = "",
    format: FormatOption = Format.table,
) -> None:
    """Show what each token of a rewrite adds to content (C) and style strength (S).

    C is the mean of log max(p_style, p_paraphrase, p_repeat), S that of p_style - max(p_paraphrase,
    p_repeat): Pauli et al. (2025), Eq. 1 and 2.  Of a whole data set tstmeta.explain gives the same
    in Python.  Exit code 1 when there is no value.

    \b
    Example: tstmeta explain --source "It was bad." --output "It was great." --style positive
    """
    if any("\ud800" <= sign <= "\udfff" for sign in source + output + style):
        raise TstmetaError("a text holds half a character: type or paste it as UTF-8")

    import pandas as pd

    from ..likelihood import tables

    metric = tables.metric_of(model)
    texts = {"source": source, "output": output, "style": style}
    rewrites = tables.rewrites_of(pd.DataFrame([texts]))
    scorer = metric.scorer()
    scores = scorer.judge(list(rewrites))
    tokens = tables.with_parts(tables.tabulate(scorer, rewrites, scores)).drop(columns="item_id")
    value = metric.rated(scorer, scores[0])
    if format is Format.table:
        heads = {"source": source, "style": style}
        if value.status.has_value:
            heads |= {"C": f"{value.value:.4f}", "S": f"{scorer.style(scores[0]):.4f}"}
        heads[str(value.status)] = value.detail
        print(*(f"{head:7} {escaped(text)}" for head, text in heads.items() if text), "", sep="\n")
        tokens = tokens[tokens["counts"] | (tokens["token"] != tables.END)]
    show_table(tokens, format)
    if not value.status.has_value:
        note("no value")
        raise typer.Exit(1)
