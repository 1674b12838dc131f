"""The pages that are written from data: cards, metrics and the ledger, as MyST Markdown.

``tstmeta book pages`` calls :func:`write`; nothing in these pages is typed by hand but their prose.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from .. import data
from ..data import paths
from ..data.base import Card
from ..schema import TstmetaError
from . import backbone, claims, html, metric_cards, trained
from .bench import Bench
from .ledger import PAPERS, counts, ledger

#: Draws behind each interval of the claims page.
DRAWS = 2000
_RAW = "```{{raw}} html\n{}\n```\n"
_TITLES = {
    "pauli2025": "A Meta-Evaluation of Style and Attribute Transfer Metrics",
    "lai2023": "Multidimensional Evaluation for Text Style Transfer Using ChatGPT",
    "mukherjee2025": "Evaluating Text Style Transfer Evaluation",
    "pang2019": "Unsupervised Evaluation Metrics for Textual Transfer",
}
_CITATIONS = {
    "pauli2025": "pauli2025meta",
    "lai2023": "lai2023multidimensional",
    "mukherjee2025": "mukherjee2025evaluating",
    "pang2019": "pang2019unsupervised",
}


def write(folder: Path) -> None:
    """Write all generated pages below ``folder``."""
    bench = Bench()
    pages = {"data.md": data_index(), "metrics.md": metric_index(), "speed.md": speed()}
    pages |= {"certainty.md": certainty(), "backbone.md": backbone.page()}
    pages["trained.md"] = trained.page()
    pages |= metric_cards.pages()
    pages |= {f"cards/{name}.md": card_page(name, bench) for name in data.names()}
    pages["claims.md"] = claims.page(claims.judged(bench, draws=DRAWS), _CITATIONS, DRAWS)
    rows = ledger(bench=bench)
    pages["ledger.md"] = ledger_index(rows)
    pages |= {f"ledger/{paper}.md": ledger_page(paper, rows) for paper in PAPERS}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# ----------------------------------------------------------------------------------- data cards


def data_index() -> str:
    """The table of data sets, with links to the cards."""
    lines = [
        "# The data sets\n",
        "Every number in this book rests on somebody's judgement of rewritten sentences. This page"
        " lists whose. A card says who rated what, on which scale, under which licence, how to get"
        " the files, and what to watch out for. The raw files are not part of this project:"
        " `tstmeta data fetch` gets them from where their authors published them.\n",
        "| data set | task | what was rated | access | files here |",
        "|---|---|---|---|---|",
    ]
    for name in data.names():
        card = Card.read(name)
        here = "yes" if data.available(name) else "no"
        facts = [
            str(card.facts.get(key, "")).replace("|", "/") for key in ("task", "rated", "access")
        ]
        lines.append(f"| [{name}](cards/{name}.md) | {' | '.join(facts)} | {here} |")
    return "\n".join(lines) + "\n"


def card_page(name: str, bench: Bench) -> str:
    """One data card: facts, counts where the files are here, prose."""
    card = Card.read(name)
    facts = []
    for key in ("task", "rated", "raters", "licence", "access", "url", "commit"):
        if value := card.facts.get(key):
            facts.append((key, str(value)))
    for dimension, (low, high) in card.scale.items():
        facts.append((f"scale of {dimension}", f"{low:g} to {high:g}"))
    facts.append(("sentences may be shown", "yes" if card.may_show_examples else "no"))
    if not card.facts.get("verified", True):
        facts.append(("verified", "no: the loader was never run on the real files"))
    lines = [f"# {card.title}\n"]
    if citation := card.facts.get("citation"):
        lines.append(f"{{cite}}`{citation}`\n")
    lines += [
        _RAW.format(html.facts(facts).text),
        card.body,
        "",
        "## What is loaded here\n",
        _counts(name, bench),
    ]
    return "\n".join(lines) + "\n"


def _counts(name: str, bench: Bench) -> str:
    """Counts of the loaded tables, or how to get the files."""
    if not bench.has(name):
        return (
            "The raw files were not on the machine that built this book. Get them with"
            f" `tstmeta data fetch {name}`, then build again.\n"
        )
    try:
        loaded = bench.dataset(name)
    except TstmetaError as reason:
        return f"{reason}\n"
    rows = [
        ("items", len(loaded.items)),
        ("sources", loaded.items["source_id"].nunique()),
        ("systems", loaded.items["system"].nunique()),
        ("items with a reference", int(loaded.items["references"].str.len().gt(0).sum())),
        ("single ratings", int((loaded.ratings["rater"] != "mean").sum())),
        ("released means", int((loaded.ratings["rater"] == "mean").sum())),
        ("raters or rating slots", loaded.ratings["rater"].nunique()),
        ("preferences", len(loaded.preferences)),
        ("released scores", len(loaded.scores)),
    ]
    facts = [(what, f"{count:,}") for what, count in rows if count]
    for key in data.subsets(name):
        facts.append((key, f"{len(bench.dataset(key).items):,} items"))
    return _RAW.format(html.facts(facts).text)


# -------------------------------------------------------------------------------------- metrics


def metric_index() -> str:
    """The table of metrics with their signatures."""
    from ..metrics.catalogue import overview

    return "\n".join(
        [
            "# The metrics\n",
            "A metric is asked by name, on the command line, in a notebook or from Python. Its"
            " signature, below each name, says all that changes a value: variant, tokenizer,"
            " smoothing, library version. *Source* means that the output is compared with its"
            " source (S-), *reference* with a human rewrite (R-). Sentinels are no serious metrics:"
            " a metric that does not beat them has shown nothing. `likelihood` runs on"
            " [the embedded model](backbone.md), a demonstration, unless another is named."
            " [What the metrics measure](metric_cards.md) tells each in words.\n",
            _RAW.format(_metric_table(overview())),
        ]
    )


def _metric_table(frame: pd.DataFrame) -> str:
    """Two rows a metric: what it is, then its signature over the whole width."""
    columns = ["name", "family", "dimension", "unit", "bases", "languages", "better"]
    head = "".join(f"<th scope='col'>{name}</th>" for name in columns)
    body = []
    for row in frame.to_dict("records"):
        name = f"<td><code>{escape(row['name'])}</code></td>"
        rest = "".join(f"<td>{escape(row[column])}</td>" for column in columns[1:])
        signature = html.breakable(row["signature"] or row["remedy"])
        body.append(
            f"<tbody><tr>{name}{rest}</tr>"
            f"<tr class='tst-signature'><td colspan={len(columns)}>{signature}</td></tr></tbody>"
        )
    return (
        "<div class='tst-table tst-metrics' tabindex='0'><table>"
        f"<thead><tr>{head}</tr></thead>{''.join(body)}</table></div>"
    )


#: Headings of results that a name with a capital would not tell.
_HEADINGS = {"likelihood_gpu": "Likelihood on a GPU"}
#: Results of benchmarks that are simulations of what intervals and tests deliver.
SIMULATIONS = ("coverage", "rejection")
#: Results that have a page of their own.
ELSEWHERE = (*SIMULATIONS, "training")


def speed() -> str:
    """The committed results of ``benchmarks/``, simulations apart: goals, then the full tables."""
    return _benchmarks(
        "# Speed\n",
        "How fast the metrics and statistics are beside the libraries that compute the same, and"
        " what keeping scores costs. Ours and the peer ran in turns in one run. Speeds hold for the"
        " machine named, ratios travel better.\n",
        [path for path in _results() if path.stem not in ELSEWHERE],
        "benchmarks/lexical.py",
    )


def certainty() -> str:
    """The committed simulations: what intervals cover, how often tests reject."""
    return _benchmarks(
        "# What the intervals cover\n",
        "An interval that is called a 95 % interval should contain the true value 95 times in a"
        " hundred. Here are simulated worlds whose truth is known, and the share of them in which"
        " our intervals did, beside the usual method that takes every item for independent. Then"
        " the same for tests: how often they see a difference where there is none. Where nothing"
        " reaches what it claims, as with a handful of systems, the tables and tools say so.\n\n"
        "All our intervals come from a bootstrap: sources, systems or both are drawn again, with"
        " replacement, and the value is computed anew each time. *Percentile* takes the middle of"
        " these values; *BCa* (bias-corrected and accelerated) shifts its ends where they lie"
        " askew. A *rank set* holds the ranks that a metric could have, for all metrics at once."
        " The goals concern the cases that they name. The long table has more cases, and in some"
        " of them intervals cover more or less than a goal would ask.\n",
        [path for path in _results() if path.stem in SIMULATIONS],
        "benchmarks/coverage.py",
    )


def _results() -> list[Path]:
    return sorted((paths.home() / "benchmarks" / "results").glob("*.json"))


def _benchmarks(title: str, intro: str, results: list[Path], script: str) -> str:
    lines = [title, intro]
    if not results:
        lines.append(f"No results are committed here. Make some: `python {script}`.\n")
    for path in results:
        found = json.loads(path.read_text(encoding="utf-8"))
        machine = found["machine"]
        where = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}"
        title = _HEADINGS.get(found["name"], found["name"].capitalize())
        lines += [f"## {title}\n", f"{found['when']}; {where}.\n"]
        lines += [*(f"- {note}" for note in found["notes"]), ""]
        checks = pd.DataFrame(found["checks"])
        rows = pd.DataFrame(found["rows"]).drop(columns="signature", errors="ignore")
        rows.columns = [name.replace("_", " ") for name in rows.columns]
        frames = (checks, rows) if len(rows) else (checks,)
        lines += [_RAW.format(html.table(one, _figures(one)).text) for one in frames]
    return "\n".join(lines) + "\n"


def _figures(frame: pd.DataFrame) -> dict[str, Callable[[Any], str]]:
    """Counts without decimals; in powers of ten what three decimals would show as zero."""
    numbers = frame.select_dtypes("number")
    return {
        name: _count if (column.dropna() % 1 == 0).all() else _figure
        for name, column in numbers.items()
        if column.dtype == float
    }


def _count(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:,.0f}"


def _figure(value: float) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:.0e}" if 0 < abs(value) < 0.0005 else html.signed(value, 3)


# --------------------------------------------------------------------------------------- ledger


def ledger_index(rows: pd.DataFrame) -> str:
    """Counts by status and what the statuses mean."""
    table = counts(rows)
    lines = [
        "# The reproduction ledger\n",
        f"The four papers print {len(rows):,} numbers in their tables. Here is every one, with the"
        " value that the public data give, and a status. Nothing is left out.\n",
        _RAW.format(html.table(table, caption="Cells by status").text),
        "- **match** (✓): computed from the data; equal at the decimals printed, rounded half up."
        " Where a paper seems to have rounded twice, the reason shows both steps.",
        "- **printed-only** (○): recomputed from other printed numbers, such as averages, ranks and"
        " geometric means; equal within the rounding of those numbers.",
        "- **differs** (✗): computed from the data; not equal. The reason is given where known.",
        "- **misprint** (†): not equal, and the evidence speaks against the printed number.",
        "- **needs …**: a model, a data set or a wording that is not here. The printed number"
        " stands alone; we did not compute it.\n",
        "The same table comes from the command line: `tstmeta reproduce --format csv`.\n",
        "```{tableofcontents}\n```",
    ]
    return "\n".join(lines) + "\n"


def ledger_page(paper: str, rows: pd.DataFrame) -> str:
    """All cells of one paper, table by table."""
    own = rows[rows["paper"] == paper]
    lines = [
        f"# {paper}\n",
        f"{_TITLES[paper]} {{cite}}`{_CITATIONS[paper]}`.\n",
        _RAW.format(html.table(counts(own).iloc[:1, 1:]).text),
    ]
    for table, cells in own.groupby("table", sort=False):
        title = f"Figure {table[3:]}" if table.startswith("fig") else f"Table {table}"
        lines += [f"## {title}\n", _RAW.format(_ledger_table(cells))]
    return "\n".join(lines) + "\n"


def _ledger_table(cells: pd.DataFrame) -> str:
    """One paper table's cells; runs of cells that need the same thing are folded into one row."""
    key = cells["status"].where(cells["status"].str.startswith("needs"), cells["cell"])
    out = []
    for _, run in cells.groupby(key, sort=False):
        first = run.iloc[0]
        kind = first["status"].partition(" ")[0]
        if kind == "needs" and len(run) > 3:
            names = "".join(
                f"<li><code>{escape(row['cell'])}</code> {escape(row['printed'])}</li>"
                for row in run.to_dict("records")
            )
            cell = f"<details><summary>{len(run)} cells</summary><ul>{names}</ul></details>"
            out.append(_ledger_row(cell, "", "", "", first["status"], first["reason"], ""))
            continue
        for row in run.to_dict("records"):
            name = html.breakable(row["cell"].split(".", 2)[2])
            decimals = len(row["printed"].rstrip("*").partition(".")[2])
            ours = html.signed(row["ours"], decimals + 2 if decimals else 0)
            n = str(row["n"] or "–")
            status, reason, signature = row["status"], row["reason"], row["signature"]
            out.append(_ledger_row(name, row["printed"], ours, n, status, reason, signature))
    head = "".join(
        f"<th scope='col'>{name}</th>"
        for name in ("cell", "printed", "ours", "n", "status", "reason")
    )
    return (
        "<div class='tst-table tst-ledger' tabindex='0'><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(out)}</tbody></table></div>"
    )


def _ledger_row(
    cell: str, printed: str, ours: str, n: str, status: str, reason: str, signature: str
) -> str:
    kind = status.partition(" ")[0]
    mark = html.STATUS[kind][0]
    about = f" title='{escape(signature, quote=True)}'" if signature else ""
    return (
        f"<tr><td>{cell}</td><td class=num>{escape(printed.replace('-', '−'))}</td>"
        f"<td class=num{about}>{ours}</td><td class=num>{n}</td>"
        f"<td class='tst-{kind}'>{mark} {html.breakable(status)}</td>"
        f"<td>{escape(reason)}</td></tr>"
    )
