"""The claims page: every claim, its evidence and its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import pandas as pd

from .. import html
from ..bench import Bench
from . import lai2023, mukherjee2025, pang2019, pauli2025
from .evidence import CONFIDENCE, FAILS, HOLDS, OPEN, Claim, Evidence, Finding, Verdict

_MARKS = {HOLDS: "✓", FAILS: "✗", OPEN: "?"}
_RAW = "```{{raw}} html\n{}\n```\n"


class Judged(NamedTuple):
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict


def claims(paper: str | None = None) -> list[Claim]:
    """All claims, or those of one paper, in the order of the papers."""
    every = [
        claim for module in (pauli2025, lai2023, mukherjee2025, pang2019) for claim in module.CLAIMS
    ]
    return [claim for claim in every if paper in (None, claim.paper)]


def judged(bench: Bench, *, draws: int = 1000, seed: int = 0) -> list[Judged]:
    """Every claim with its verdict from what is on this machine."""
    evidence = Evidence(bench, draws, seed)
    return [Judged(claim, claim.check(evidence)) for claim in claims()]


def page(found: Iterable[Judged], citations: dict[str, str], draws: int, seed: int = 0) -> str:
    """The claims page as MyST Markdown."""
    found = list(found)
    count = dict.fromkeys(_MARKS, 0)
    for one in found:
        count[one.verdict.verdict] += 1
    lines = [
        "# The claims\n",
        f"What the four papers conclude, {len(found)} claims in our words, and what the public data"
        f" say. {count[HOLDS]} hold, {count[FAILS]} do not, {count[OPEN]} cannot be told.\n",
        "Each claim names the statistic that would carry it and the rule by which its verdict"
        f" falls. Intervals are {CONFIDENCE:.0%} bootstrap intervals, {draws:,} draws, seed {seed};"
        " which units were drawn stands beside them. *Published* marks a printed number that was"
        " not computed here. A verdict is about the public data, not about the authors: a claim"
        " that cannot be told may well be true.\n",
        _RAW.format(_overview(found)),
    ]
    for paper in dict.fromkeys(one.claim.paper for one in found):
        authors = f"{paper[:-4].capitalize()} {paper[-4:]}"
        lines.append(f"## {authors}\n\n{{cite:t}}`{citations[paper]}`\n")
        lines += [_section(one) for one in found if one.claim.paper == paper]
    return "\n".join(lines) + "\n"


def _overview(found: list[Judged]) -> str:
    rows = [
        {
            "claim": f"<a href='#{_anchor(one.claim)}'>{escape(one.claim.text)}</a>",
            "verdict": f"{_MARKS[one.verdict.verdict]} {one.verdict.verdict}",
            "paper": one.claim.paper,
        }
        for one in found
    ]
    return html.table(pd.DataFrame(rows), {"claim": str}).text


def _anchor(claim: Claim) -> str:
    return claim.key.replace(".", "-")


def _section(one: Judged) -> str:
    claim, verdict = one
    lines = [
        f"({_anchor(claim)})=",
        f"### {claim.text}\n",
        f"**{_MARKS[verdict.verdict]} {verdict.verdict}.** {verdict.why}\n",
        f"*{claim.where}. What would carry it:* {claim.carried_by}\n",
    ]
    if verdict.findings:
        lines.append(_RAW.format(_evidence(verdict.findings)))
    return "\n".join(lines)


def _evidence(findings: Iterable[Finding]) -> str:
    rows = []
    for one in findings:
        low, high = html.signed(one.low), html.signed(one.high)
        rows.append(
            {
                "evidence": html.code(one.what),
                "value": html.signed(one.value),
                "interval": "published" if one.published else f"{low} to {high}",
                "n": f"{one.n:,}" if one.n else "–",
                "note": escape(one.note),
            }
        )
    return html.table(pd.DataFrame(rows), {"evidence": str, "note": str}).text
