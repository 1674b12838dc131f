"""What the four papers conclude, and what the public data say of it.

``data/published/claims.yaml`` has each claim with its evidence and decision rule; the verdict
follows from the intervals by that rule.  A number that we did not compute is marked as published.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from ..data import paths
from ..models import hub
from ..models.causal import backbone
from ..schema import DemonstrationWarning
from .evidence import KINDS, Finding, Setup
from .recipes import Inputs

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
COUNTED = "counted"
#: What an entry of evidence says beside the arguments of its kind.
_ABOUT = ("kind", "name", "prefix", "note", "group", "model", "instead", "each")


class Claims(NamedTuple):
    """Claims and their evidence.

    Attributes:
        verdicts: claim, paper, where, text, decision_rule, verdict, why.
        evidence: claim, evidence, value, low, high, n, note, published, group; low and high are NaN
            where the number is published.
    """

    verdicts: pd.DataFrame
    evidence: pd.DataFrame


def claims(draws: int = 2000, seed: int = 0, *, inputs: Inputs | None = None) -> Claims:
    """Judge every claim from what is on this machine."""
    setup = Setup(inputs or Inputs(), draws, seed)
    verdicts, evidence = [], []
    for claim in texts():
        findings, verdict, why = judge(claim, setup)
        words = {key: claim[key] for key in ("claim", "where", "text", "decision_rule")}
        verdicts.append(words | {"verdict": verdict, "why": why})
        evidence += [{"claim": claim["claim"]} | row._asdict() for row in findings]
    table = pd.DataFrame(verdicts)
    table.insert(1, "paper", table["claim"].str.partition(".")[0])
    return Claims(table, pd.DataFrame(evidence, columns=["claim", *Finding._fields]))


@cache
def texts() -> list[dict[str, Any]]:
    """The claims as the file has them."""
    return yaml.safe_load(paths.own("published", "claims.yaml").read_text("utf-8"))["claims"]


def judge(claim: dict[str, Any], setup: Setup) -> tuple[list[Finding], str, str]:
    """Findings, verdict and why."""
    findings: list[Finding] = []
    missing: dict[str, None] = {}
    for entry in entries(claim["evidence"]):
        data = flat([entry.get("data", []), entry.get("parts", [])])
        lacking = [name for name in data if not setup.inputs.has(name)]
        if entry.get("group", COUNTED) == COUNTED and "rule" in claim:
            missing |= dict.fromkeys(name.partition("@")[0] for name in lacking)
        findings += findings_of(entry, setup, bool(lacking))
    computed = [row for row in findings if not row.published and not missing]
    if missing:
        findings = [row for row in findings if row.published]
        how = ", ".join(f"`tstmeta data fetch {name}`" for name in missing)
        verdict, why = OPEN, f"The ratings were not on the machine that built this page: {how}."
    else:
        verdict, why = decide(claim, findings)
    words = [why]
    for group, text in claim.get("say", {}).items():
        if own := [row for row in computed if row.group == group]:
            words.append(text.format(n=len(own), sides=sides(own, rule_of(claim)[1])))
    return findings, verdict, " ".join(filter(None, [*words, claim.get("note")]))


def entries(evidence: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The entries of a claim, one for every combination under ``each``; nested lists are joined."""
    for entry in flat(evidence):
        each = entry.get("each", {})
        for values in itertools.product(*each.values()):
            chosen = dict(zip(each, values, strict=True))
            yield {**entry, **chosen.pop("at", {}), **chosen}


def flat(values: Sequence[Any]) -> list[Any]:
    """A list without lists inside."""
    return [inner for v in values for inner in (flat(v) if isinstance(v, list) else [v])]


def findings_of(entry: dict[str, Any], setup: Setup, lacking: bool) -> list[Finding]:
    """The findings of an entry; where data or model are not here, the printed number or nothing."""
    about = dict.fromkeys(_ABOUT, "") | {key: entry[key] for key in _ABOUT if key in entry}
    arguments = {key: value for key, value in entry.items() if key not in _ABOUT}
    arguments = {k: flat(v) if isinstance(v, list) else v for k, v in arguments.items()}
    kind, model = about["kind"], about["model"]
    if lacking or (model and not hub.here(backbone(model))):
        if not about["instead"]:
            return []
        kind, arguments = "published", {"cell": about["instead"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemonstrationWarning)
        findings = KINDS[kind](setup, **arguments)
    name = about["name"].format(**arguments)
    prefix = f"{about['prefix']}: " if about["prefix"] else ""
    return [
        finding._replace(
            evidence=prefix + (name or finding.evidence),
            note="; ".join(filter(None, [about["note"], finding.note])),
            group=about["group"] or COUNTED,
        )
        for finding in findings
    ]


def decide(claim: dict[str, Any], findings: Sequence[Finding]) -> tuple[str, str]:
    """The verdict by the claim's rule, and its sentence."""
    rule, bound = rule_of(claim)
    counted = [row for row in findings if row.group == COUNTED and not row.published]
    verdict = verdict_of(rule, counted, bound)
    higher = levels(row for row in counted if row.low > 0)
    words = {
        "n": len(counted),
        "sides": sides(counted),
        "better": f" At {higher} it is above." if higher else "",
        "worse": levels(row for row in counted if row.high < 0),
        "wide": levels(row for row in counted if not row.low > -bound),
    }
    return verdict, claim["because"][verdict].format(**words)


def rule_of(claim: dict[str, Any]) -> tuple[str, float]:
    """The name of a claim's rule and its bound."""
    rule = claim.get("rule", "")
    return next(iter(rule.items())) if isinstance(rule, dict) else (rule, 0.0)


def verdict_of(rule: str, findings: Sequence[Finding], bound: float = 0.0) -> str:
    """The verdict of a rule, as the file explains it; what fails cannot hold."""
    low, high = np.array([(row.low, row.high) for row in findings]).reshape(-1, 2).T
    if rule == "above":
        holds, fails = (low > bound).all(), (high < bound).any()
    elif rule == "below":
        holds, fails = (high < bound).all(), (low > bound).any()
    elif rule == "competitive":
        holds, fails = (low > -bound).all(), (high < 0).any()
    elif rule == "apart":
        holds, fails = high[1] < low[0], high[0] < low[1]
    elif rule == "opposite":
        holds, fails = high[0] < 0 < low[1], (low > 0).all() or (high < 0).all()
    else:
        return OPEN
    return FAILS if fails else HOLDS if holds else OPEN


def levels(findings: Iterable[Finding]) -> str:
    """The levels that findings name: what stands before the colon."""
    return " and ".join(row.evidence.partition(":")[0] for row in findings)


def sides(findings: Sequence[Finding], bound: float = 0.0) -> str:
    """How many intervals lie above the bound, below it, and on both sides."""
    over = sum(row.low > bound for row in findings)
    under = sum(row.high < bound for row in findings)
    rest, at = len(findings) - over - under, f"{bound:g}" if bound else "zero"
    return f"{over} above {at}, {under} below, {rest} on both sides"
