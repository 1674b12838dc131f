"""What the papers print and conclude, beside ours: the pages of the claims and of the ledger.

:func:`pages` gives templates and contexts, as :mod:`tools.pages` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from tstmeta import ledger
from tstmeta.ledger.claims import FAILS, HOLDS, OPEN
from tstmeta.ledger.ledger import STATUSES

#: Resamples behind each interval of the claims page.
DRAWS = 2000
#: Key in ``book/references.bib``, authors and title of each paper.
PAPERS = {
    "pauli2025": (
        "pauli2025meta",
        "Pauli et al. (2025)",
        "A Meta-Evaluation of Style and Attribute Transfer Metrics",
    ),
    "lai2023": (
        "lai2023multidimensional",
        "Lai et al. (2023)",
        "Multidimensional Evaluation for Text Style Transfer Using ChatGPT",
    ),
    "mukherjee2025": (
        "mukherjee2025evaluating",
        "Mukherjee et al. (2025)",
        "Evaluating Text Style Transfer Evaluation",
    ),
    "pang2019": (
        "pang2019unsupervised",
        "Pang and Gimpel (2019)",
        "Unsupervised Evaluation Metrics for Textual Transfer",
    ),
}
MARKS = {HOLDS: "✓", FAILS: "✗", OPEN: "?"}
Context = dict[str, Any]


def pages(draws: int = DRAWS, seed: int = 0) -> Iterator[tuple[str, tuple[str, Context]]]:
    """Every page: its name without ending, its template, its context."""
    inputs = ledger.Inputs()
    judged = ledger.claims(draws=draws, seed=seed, inputs=inputs)
    yield "claims", ("claims", claims(judged) | {"draws": f"{draws:,}", "seed": seed})
    rows = ledger.reproduce(inputs=inputs)
    yield "ledger", ("ledger", {"count": f"{len(rows):,}", "counts": ledger.counts(rows)})
    for paper in PAPERS:
        yield f"ledger/{paper}", ("ledger_paper", ledger_of(paper, rows[rows["paper"] == paper]))


def claims(judged: ledger.Claims) -> Context:
    """The claims by paper, each with its evidence as a frame."""
    papers = []
    for key, own in judged.verdicts.groupby("paper", sort=False):
        rows = [claim(row, judged.evidence) for row in own.to_dict("records")]
        papers.append({"cite": PAPERS[str(key)][0], "title": PAPERS[str(key)][1], "claims": rows})
    verdicts = judged.verdicts["verdict"]
    count = {name: int((verdicts == name).sum()) for name in MARKS}
    return {
        "papers": papers,
        "count": len(verdicts),
        **dict(zip(("holds", "fails", "open"), count.values(), strict=True)),
    }


def claim(row: Context, evidence: pd.DataFrame) -> Context:
    """A claim with its mark, its anchor and its evidence as a page shows it."""
    own = evidence[evidence["claim"] == row["claim"]]
    both = zip(own["low"], own["high"], own["published"], strict=True)
    shown = pd.DataFrame(
        {
            "evidence": own["evidence"].str.replace("`", ""),
            "value": [number(value) for value in own["value"]],
            "95 %\u00a0interval": [
                "published"
                if printed
                else f"{number(low)} to {number(high)}".replace(" ", "\u00a0")
                for low, high, printed in both
            ],
            "n": [f"{n:,}" if n else "–" for n in own["n"]],
            "note": own["note"].str.replace(" resampled", "\u00a0resampled"),
        }
    )
    anchor = row["claim"].replace(".", "-")
    return {**row, "mark": MARKS[row["verdict"]], "anchor": anchor, "evidence": shown}


def number(value: float) -> str:
    """Two decimals with a true minus sign."""
    return f"{value:z.2f}".replace("-", "−")


def ledger_of(paper: str, rows: pd.DataFrame) -> Context:
    """The cells of one paper, table by table: what was computed, and what cells need."""
    tables = []
    for name, own in rows.groupby("table", sort=False):
        needs = own["status"].str.startswith("needs")
        table: Context = {"title": f"Table {name}".replace("Table fig", "Figure ")}
        table["list"] = raw(ledger.listing(own[~needs])) if not needs.all() else ""
        table["missing"] = int(needs.sum())
        table["needed"] = [
            {
                "status": part["status"].iloc[0],
                "reason": part["reason"].iloc[0],
                "cells": cells(part),
            }
            for _, part in own[needs].groupby(["status", "reason"], sort=False)
        ]
        tables.append(table)
    cite, _, title = PAPERS[paper]
    counts = ledger.counts(rows).iloc[:1][[*STATUSES, "cells"]]
    return {"paper": paper, "cite": cite, "title": title, "counts": counts, "tables": tables}


def cells(rows: pd.DataFrame) -> list[str]:
    """Keys within the table, each with its printed number."""
    keys = rows["cell"].str.split(".", n=2).str[2]
    printed = rows["printed"].str.replace("*", "\\*")
    return [f"`{key}` {number}" for key, number in zip(keys, printed, strict=True)]


def raw(styler: Styler) -> str:
    """A table as a MyST directive."""
    return f"```{{raw}} html\n<div class='tst-table' tabindex='0'>{styler.to_html()}</div>\n```\n"
