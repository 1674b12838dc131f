"""What the papers print and conclude, beside ours: the claims, the ledger, where we differ."""

from collections.abc import Iterator
from html import escape
from typing import Any

import pandas as pd

from tools.claims import FAILS, HOLDS, LEANS, OPEN, Claims
from tools.claims import claims as judged_claims
from tools.tables import raw
from tstmeta import ledger
from tstmeta.data import Card, paths
from tstmeta.judge import prompts
from tstmeta.ledger.ledger import STATUSES
from tstmeta.ledger.table import MARKS as STATUS_MARKS
from tstmeta.ledger.table import classes_of, styler
from tstmeta.likelihood import instructions

#: Key in ``book/references.bib`` and authors of each paper.
PAPERS = {
    "pauli2025": ("pauli2025meta", "Pauli et al. (2025)"),
    "lai2023": ("lai2023multidimensional", "Lai et al. (2023)"),
    "mukherjee2025": ("mukherjee2025evaluating", "Mukherjee et al. (2025)"),
    "pang2019": ("pang2019unsupervised", "Pang and Gimpel (2019)"),
}
MARKS = {HOLDS: "✓", FAILS: "✗", OPEN: "?"}
#: How many claims a reader meets first.
FIRST = 10
#: Statuses in the order of the page of differences.
ORDER = ["match", "differs", "misprint", "printed-only", "needs"]
Context = dict[str, Any]


def pages() -> Iterator[tuple[str, tuple[str, Context]]]:
    """Every page: its name without ending, its template, its context."""
    inputs, draws, seed = ledger.Inputs(), 2000, 0
    judged = judged_claims(draws=draws, seed=seed, inputs=inputs)
    context = claims(judged) | {"draws": f"{draws:,}", "seed": seed}
    yield "claims", ("claims", context)
    for paper in context["papers"]:
        yield f"claims/{paper['key']}", ("claims_paper", paper)
    rows = ledger.reproduce(inputs=inputs)
    yield "departures", ("departures", departures(rows))
    yield "ledger", ("ledger", {"count": f"{len(rows):,}", "counts": ledger.counts(rows)})
    for key in PAPERS:
        yield f"ledger/{key}", ("ledger_paper", ledger_of(key, rows[rows["paper"] == key]))


def claims(judged: Claims) -> Context:
    """The claims by paper, each with its evidence as a frame."""
    papers = []
    for key, verdicts_of_paper in judged.verdicts.groupby("paper", sort=False):
        rows = [claim(row, judged.evidence) for row in verdicts_of_paper.to_dict("records")]
        cite, authors = PAPERS[str(key)]
        papers.append({"key": key, "cite": cite, "title": authors, "claims": rows})
    listed = [row for paper in papers for row in paper["claims"]]
    first = sorted(listed, key=lambda row: -len(row["families"]))[:FIRST]
    names = {"holds": HOLDS, "fails": FAILS, "open": OPEN}
    names |= {f"lean_{key}": LEANS[verdict] for key, verdict in names.items()}
    words = judged.verdicts[["verdict", "lean"]]
    count = {key: int((words == name).sum(axis=None)) for key, name in names.items()}
    return {"papers": papers, "first": first, "count": len(words), **count}


def claim(row: Context, evidence: pd.DataFrame) -> Context:
    """A claim with its mark, its anchor and its evidence as a page shows it."""
    rows = evidence[evidence["claim"] == row["claim"]]
    limits = rows["low"].combine(rows["high"], between)
    shown = pd.DataFrame(
        {
            "evidence": rows["evidence"].str.replace("`", ""),
            "value": rows["value"].map(number),
            "95 %\u00a0interval": limits.mask(rows["published"].astype(bool), "published"),
            "corrected": rows["corrected_low"].combine(rows["corrected_high"], between),
            "n": rows["n"].map("{:,}".format).where(rows["n"] > 0, "–"),
            "note": rows["note"].str.replace(" resampled", "\u00a0resampled"),
        }
    )
    if rows["corrected_low"].notna().sum() < 2:  # nothing to correct
        shown = shown.drop(columns="corrected")
    anchor = row["claim"].replace(".", "-")
    row |= {"mean": number(row["mean"], 3), "interval": between(row["low"], row["high"], 3)}
    row["expected"] = between(row["predict_low"], row["predict_high"], 3)
    return {**row, "mark": MARKS[row["verdict"]], "anchor": anchor, "evidence": shown}


def between(low: float, high: float, decimals: int = 2) -> str:
    """Limits as text, a dash without any."""
    if pd.isna(low):
        return "–"
    return f"{number(low, decimals)}\u00a0to\u00a0{number(high, decimals)}"


def number(value: float, decimals: int = 2) -> str:
    """A number of so many decimals with a true minus sign."""
    return f"{value:z.{decimals}f}".replace("-", "−")


def ledger_of(paper: str, rows: pd.DataFrame) -> Context:
    """The cells of one paper, table by table: what was computed, and what cells need."""
    tables = []
    for name, printed in rows.groupby("table", sort=False):
        needs = printed["status"].str.startswith("needs")
        table: Context = {"title": f"Table {name}".replace("Table fig", "Figure ")}
        html = listing(printed[~needs]).to_html() if not needs.all() else ""
        table["list"] = html and raw(f"<div class='tst-table tst-long' tabindex='0'>{html}</div>")
        table["missing"] = int(needs.sum())
        table["needed"] = [
            {"status": status, "reason": reason, "cells": cells(part)}
            for (status, reason), part in printed[needs].groupby(["status", "reason"], sort=False)
        ]
        tables.append(table)
    counts = ledger.counts(rows).iloc[:1][[*STATUSES, "cells"]]
    return {"paper": paper, "cite": PAPERS[paper][0], "counts": counts, "tables": tables}


def listing(rows: pd.DataFrame) -> Any:
    """Rows of :func:`tstmeta.reproduce` as a list; pointing at our value shows its signature."""
    decimals = rows["printed"].str.rstrip("*%").str.partition(".")[2].str.len()
    both = zip(rows["ours"], decimals, strict=True)
    ours = ["–" if pd.isna(v) else f"{v:z.{places + 2 if places else 0}f}" for v, places in both]
    marks = rows["status"].str.partition(" ")[0].map(lambda name: STATUS_MARKS[name][0])
    shown = pd.DataFrame(
        {
            "cell": rows["cell"].str.split(".", n=2).str[2],
            "published": rows["printed"].str.replace("-", "−"),
            "ours": pd.Series(ours, rows.index).str.replace("-", "−"),
            "n": ["–" if not n else f"{n:,}" for n in rows["n"]],
            "status": marks + " " + rows["status"],
            "reason": rows["reason"],
        }
    )
    classes = pd.DataFrame("num", shown.index, ["published", "ours", "n"])
    style = styler(shown).hide(axis="index").format(escape="html")
    style.set_td_classes(classes.assign(status=classes_of(rows), reason="long"))
    titles = pd.DataFrame({"ours": rows["signature"].map(escape)})
    return style.set_tooltips(titles, as_title_attribute=True)


def cells(rows: pd.DataFrame) -> list[str]:
    """Keys within the table, each with its printed number."""
    keys = rows["cell"].str.split(".", n=2).str[2]
    printed = rows["printed"].str.replace("*", "\\*")
    return [f"`{key}` {number}" for key, number in zip(keys, printed, strict=True)]


def departures(rows: pd.DataFrame) -> Context:
    """Where we differ: cells by status and reason, what cards say, and words of ours in prompts."""
    place = rows["status"].str.partition(" ")[0].map(ORDER.index)
    other = rows.assign(place=place)[place > 0].sort_values("place", kind="stable")
    papers = []
    for key, (cite, title) in PAPERS.items():
        groups = other[other["paper"] == key].groupby(["status", "reason"], sort=False)
        reasons = [
            {"status": status, "reason": why.rstrip("."), "cells": group["cell"].tolist()}
            | {
                "tables": listed(group["table"]),
                "named": group["cell"].str.partition(".")[2].tolist(),
            }
            for (status, why), group in groups
        ]
        context = {"key": key, "cite": cite, "title": title, "reasons": reasons}
        context |= {"count": int((rows["paper"] == key).sum()), "cards": cards(key)}
        papers.append(context | {"words": words(key, cite)})
    return {"papers": papers, "count": len(rows), "matched": len(rows) - len(other)}


def listed(tables: pd.Series) -> str:
    """``Tables 1, 3 and Figure 1``."""
    names = tables[~tables.str.startswith("fig")].unique()
    figures = [f"Figure {name[3:]}" for name in tables.unique() if name.startswith("fig")]
    parts = [f"Table{'s' * (len(names) > 1)} {', '.join(names)}"] if len(names) else []
    return " and ".join(parts + figures)


def cards(paper: str) -> list[Context]:
    """What our metrics and data do otherwise than a paper: ``differs`` of their cards."""
    named = []
    for folder, page in (("metric_cards", "metrics"), ("cards", "cards")):
        for path in sorted(paths.project(folder).glob("*.md")):
            why = (Card.read(path.stem, path).facts.get("differs") or {}).get(paper)
            named += [{"name": path.stem, "link": f"{page}/{path.name}", "why": why}] if why else []
    return named


def words(paper: str, cite: str) -> dict[str, str]:
    """Prompts of ours after a paper's, and instructions of the likelihood method: what they are."""
    used = [prompt for prompt in map(prompts.load, prompts.names()) if cite in prompt.cites]
    sets = instructions.shipped().values() if paper == "pauli2025" else ()
    return {entry.name: entry.about for entry in (*used, *sets) if entry.origin == "ours"}
