"""``tstmeta explain``: a rewrite token by token, as the likelihood scorer saw it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import mistake, note
from .options import Store

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..likelihood.explain import Explanation, Piece

#: Heights of the bars, a natural logarithm each: the mean height is about -C.
BARS = "▁▂▃▄▅▆▇█"
#: Background and letters of the five steps, from foreseen to unforeseen, as in the book.
_STEPS = ("", "black on #ffedd0", "black on #fcc480", "black on #e5812f", "white on #8a2d00")
#: Sixteen colours have no five steps in order: there the bars alone say it.
_COLOURS = {"standard": ("", "", "", "bold", "bold"), "windows": ("", "", "", "bold", "bold")}
_KEY = (
    "bars: one step a natural logarithm, high = little foreseen; letters: the\n"
    "instruction that accounts for it best, s = style, p = paraphrase, r = repeat\n"
)
#: Columns of a strip where nobody looks at a terminal.
_WIDTH = 100
#: A token is one step less foreseen below each of these probabilities.
_BOUNDS = (0.5, 0.1, 0.01, 0.001)


class ExplainFormat(StrEnum):
    """How explanations are written."""

    table = "table"
    json = "json"
    html = "html"
    csv = "csv"
    parquet = "parquet"


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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write [default: stdout].")
    ] = None,
    format: Annotated[
        ExplainFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="Default: as --out is named (.json .html .csv .parquet), else table.",
        ),
    ] = None,
    store: Store = None,
) -> None:
    """Show what each token of a rewrite adds to content (C) and style strength (S).

    C is the mean of log max(p_style, p_paraphrase, p_repeat), S that of p_style - max(p_paraphrase,
    p_repeat): Pauli et al. (2025), Eq. 1 and 2.  Bars are as high as a token was little foreseen,
    the letter below is that of the instruction that accounts for it best.  Parquet has one row an
    item with lists of token log-probabilities.  Interrupt it whenever you like: tokens computed are
    kept in the store.  Exit code 1 when something has no value.

    \b
    Examples:
      tstmeta explain --source "It was bad." --output "It was great." --style positive
      tstmeta explain --data contrast --item sentiment-01-strong-error --out why.html
      tstmeta explain --data contrast --model 8b+released --out tokens.parquet
    """
    kind = _kind(out, format)
    _checked(source, output, style, data, item, kind)
    from ..likelihood.explain import metric_of

    metric = metric_of(model, store)
    if metric.profile == "embedded":
        note("the embedded model shows how the method works; its numbers reproduce nothing")
    if kind is ExplainFormat.parquet:
        failed = _written_ragged(metric, str(data), item, out)
    else:
        found = _found(metric, source, output, style, data, item)
        _written(found, kind, out)
        failed = sum(not one.status.has_value for one in found)
    if out:
        note(f"wrote {out}")
    if failed:
        note(f"{failed} without a value")
        raise typer.Exit(1)


def _kind(out: Path | None, format: ExplainFormat | None) -> ExplainFormat:
    """The format asked for, else what the file's name ends in, else a table."""
    if format:
        return format
    ending = out.suffix.lower().removeprefix(".") if out else "table"
    if ending not in set(ExplainFormat):
        raise mistake(
            f"cannot tell the format of {out}: end its name in .json, .html, .csv or .parquet, "
            "or say --format"
        )
    return ExplainFormat(ending)


def _checked(
    source: str | None,
    output: str | None,
    style: str | None,
    data: str | None,
    item: list[str] | None,
    kind: ExplainFormat,
) -> None:
    """Refuse what cannot be meant, each with its remedy."""
    texts = {"--source": source, "--output": output, "--style": style}
    given = [name for name, value in texts.items() if value is not None]
    if data is None:
        if item:
            raise mistake("--item is an item of a data set: name it with --data")
        if missing := [name for name in texts if name not in given]:
            raise mistake(f"{', '.join(missing)} missing: a rewrite has all three, or use --data")
        if blank := [name for name in ("--source", "--style") if not (texts[name] or "").strip()]:
            raise mistake(f"{', '.join(blank)} is blank: only an output may be empty")
        if kind is ExplainFormat.parquet:
            raise mistake("Parquet is for data sets: use --data, or --format json")
    elif given:
        raise mistake(f"use either --data or {', '.join(given)}, not both")
    elif not item and kind is ExplainFormat.table:
        raise mistake(
            f"name items of {data} with --item, or a file for all of them: --out tokens.parquet"
        )


def _found(
    metric: Any,
    source: str | None,
    output: str | None,
    style: str | None,
    data: str | None,
    item: list[str] | None,
) -> list[Explanation]:
    from ..likelihood.explain import explained, of_items
    from ..likelihood.scorer import Rewrite

    if data is None:
        return explained(metric, [Rewrite(str(source), str(output), str(style))])
    from ..data import load

    dataset = load(data)
    return of_items(metric, dataset, item or list(dataset.items["item_id"]), progress=True)


def _written(found: list[Explanation], kind: ExplainFormat, out: Path | None) -> None:
    if kind is ExplainFormat.table:
        if out:
            raise mistake("a table is for reading: write html, json, csv or parquet to a file")
        _shown(found)
        return
    if kind is ExplainFormat.html:
        text = page(found)
    elif kind is ExplainFormat.json:
        from ..likelihood.explain import to_json

        text = to_json(found)
    else:
        from ..console import to_csv
        from ..likelihood.explain import to_frame

        text = to_csv(to_frame(found))
    if out is None:
        sys.stdout.write(text)
    else:
        from ..console import save

        save(text, out)


def _written_ragged(metric: Any, data: str, item: list[str] | None, out: Path | None) -> int:
    """Write the Parquet table; gives the number of items without a value."""
    if out is None:
        raise mistake("Parquet is not text: name a file with --out")
    from ..data import load
    from ..likelihood.explain import check_items
    from ..likelihood.ragged import ragged, save

    dataset = load(data)
    if item:
        check_items(dataset, item)
        dataset = dataset.where(dataset.items["item_id"].isin(item))
    table = ragged(metric, dataset, progress=True)
    save(table, out)
    return table["C"].null_count


# --------------------------------------------------------------------------------------- as a page

_SHEET = """
html { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; }
.w { display: inline-block; margin-inline-end: 0.3em; vertical-align: top; }
.t { display: inline-block; margin-inline-end: 1px; min-width: 0.45em; vertical-align: top; }
.t > span { border-radius: 2px; display: block; padding-inline: 1px; white-space: pre; }
.u1 > span { background: #ffedd0; color: #1a1a1a; }
.u2 > span { background: #fcc480; color: #1a1a1a; }
.u3 > span { background: #e5812f; color: #000; }
.u4 > span { background: #8a2d00; color: #fff; }
.off > span { text-decoration: underline dotted; }
.t b { background: #a8520f; display: block; height: calc(var(--d) * 0.11em); }
.t small { display: block; font-size: 0.75em; line-height: 1.2; }
th, td { padding: 0.15rem 0.5rem; text-align: end; }
"""
_DEEPEST = 8.0
_ABOUT = (
    "Colour: the token’s probability under the instruction that accounts for it best, below 1 in "
    "2, 10, 100 and 1,000. Letter: that instruction, style, paraphrase or repeat. Bar: log p, cut "
    f"at −{_DEEPEST:.0f}; the mean depth is −C."
)


def page(found: Sequence[Explanation]) -> str:
    """Explanations as a web page of its own, with nothing fetched from anywhere and no script."""
    body = "".join(map(_section, found))
    models = dict.fromkeys(map(_model, found))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>What the likelihood scorer saw</title><style>{_SHEET}</style></head>"
        f"<body><h1>What the likelihood scorer saw</h1>{body}<p>{_ABOUT}</p>"
        f"{''.join(models)}</body></html>\n"
    )


def _section(one: Explanation) -> str:
    """A rewrite: what was asked, its tokens, its sums, and the numbers in a table."""
    from ..likelihood.characters import visible

    words = "".join(f"<span class=w>{''.join(map(_span, word))}</span>" for word in one.words)
    if one.rest:
        words += f"<span class='t off'><span>{escape(visible(one.rest))}</span></span>"
    sums = " · ".join(_sums(one)) if one.status.has_value else f"No value ({one.status})"
    lines = [sums, *([visible(one.detail)] if one.detail else [])]
    label = escape(visible(f"{one.rewrite.output} — {sums}"), quote=True)
    head = f"<h2>{escape(visible(one.name))}</h2>" if one.name else ""
    numbers = one.table().to_html(index=False, border=0, float_format="{:.6f}".format)
    return (
        f"{head}<p>Source: <bdi>{escape(visible(one.rewrite.source))}</bdi><br>Target style: "
        f"{escape(visible(one.rewrite.style))}, worded “{escape(visible(one.wording))}”</p>"
        f"<p role='img' dir='auto' aria-label='{label}'>{words}</p>"
        f"<p>{'<br>'.join(map(escape, lines))}</p>"
        f"<details><summary>The numbers</summary>{numbers}</details>"
    )


def _span(piece: Piece) -> str:
    from ..likelihood.characters import shown

    text = escape(shown(piece.text.lstrip(" ") or " "))
    if not piece.counts:
        return f"<span class='t off'><span>{text}</span><small>–</small></span>"
    about = f"{piece.best}: log {piece.content:.2f}"
    depth = min(-piece.content, _DEEPEST)
    return (
        f"<span class='t u{step(piece.content)}' title='{about}'><span>{text}</span>"
        f"<small>{piece.best[0]}</small><b style='--d:{depth:.2f}'></b></span>"
    )


def _model(one: Explanation) -> str:
    from ..likelihood.characters import visible

    text = f"Model {one.model}, instructions {one.instructions}, variant {one.variant}."
    if one.demonstration:
        text += " The embedded model is a demonstration: it shows how the method works."
    return f"<p>{escape(visible(text))}<br><small>{escape(visible(one.signature))}</small></p>"


def step(content: float) -> int:
    """How little foreseen a token is, 0 to 4, from its part of content (log p)."""
    return sum(math.exp(content) < bound for bound in _BOUNDS)


# ------------------------------------------------------------------------------------ at a terminal


def _shown(found: list[Explanation]) -> None:
    """Print strips and tables: coloured at a terminal, plain where piped or with NO_COLOR."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        width=None if terminal else _WIDTH,
        color_system="auto" if terminal else None,
        highlight=False,
        emoji=False,
    )
    for place, one in enumerate(found):
        if place:
            console.print()
        _show_one(console, one)


def _show_one(console: Console, one: Explanation) -> None:
    """What was asked, the strip, the table and what it adds up to."""
    from rich.text import Text

    from ..console import show_table
    from ..likelihood.characters import visible

    wording = f" (worded {one.wording!r})" if one.wording != one.rewrite.style else ""
    heads = [("item", one.name), ("source", one.rewrite.source)]
    heads += [("style", one.rewrite.style + wording), ("model", one.model)]
    heads += [("asked", f"instructions {one.instructions}, variant {one.variant}")]
    for name, value in heads:
        if value:
            console.print(Text(f"{name:7} {visible(value)}"), soft_wrap=True)
    console.print()
    if lines := strip_lines(one, console.width, _COLOURS.get(console.color_system or "", _STEPS)):
        for line in lines:
            console.print(line, soft_wrap=True)
        console.print(_KEY)
    if len(table := one.table()):
        probabilities = [name for name in table if name.startswith("p_")]
        table[probabilities] = table[probabilities].map("{:.6f}".format)
        show_table(table)
        console.print()
    if one.status.has_value:
        console.print("\n".join(_sums(one)))
    if one.detail:
        console.print(Text(f"{one.status}: {visible(one.detail)}"), soft_wrap=True)


def _sums(one: Explanation) -> list[str]:
    n = len(one.scored)
    if not n:
        return [f"C {one.content:.4f}   no token: log(1 / size of the vocabulary)", "S 0"]
    return [
        f"C {one.content:.4f}   mean of the column C over {n} tokens",
        f"S {one.style:.4f}   mean of the column S",
    ]


def strip_lines(one: Explanation, width: int, styles: Sequence[str] = _STEPS) -> list[Text]:
    """The output in lines of three: bars, text, letters; broken between words only.

    ``styles`` are rich's, of the five steps from foreseen to unforeseen.
    """
    from rich.text import Text

    def fresh() -> list[Text]:
        return [Text(), Text(), Text()]

    lines: list[Text] = []
    rows = fresh()
    for word in one.words:
        made = fresh()
        for piece in word:
            for row, part in zip(made, _cells(piece, styles), strict=True):
                row.append_text(part)
        begun = rows[1].cell_len > 0
        if begun and rows[1].cell_len + made[1].cell_len + 1 > width:
            lines += rows
            rows, begun = fresh(), False
        for row, part in zip(rows, made, strict=True):
            row.append(" " * begun)
            row.append_text(part)
    if one.rest:
        rows[1].append(f" [not scored: {len(one.rest)} characters]")
    lines += rows
    for line in lines:
        line.rstrip()
    return lines if any(line.plain for line in lines) else []


def _cells(piece: Piece, styles: Sequence[str]) -> list[Text]:
    """Bar, text and letter of a piece, all of the text's width."""
    from rich.cells import cell_len
    from rich.text import Text

    from ..likelihood.characters import shown

    text = shown(piece.text.lstrip(" ") or " ")
    width = max(cell_len(text), 1)
    if not piece.counts:
        return [Text(" " * width), Text(text, "dim"), Text("-".ljust(width))]
    high = min(int(min(-piece.content, 1e9)), len(BARS) - 1)
    letter = Text(piece.best[0].ljust(width))
    return [Text(BARS[high] * width), Text(text, styles[step(piece.content)]), letter]
