"""What the four papers conclude, and what the public data say of it.

``data/published/claims.yaml`` has each claim in our words with its evidence and decision rule.  The
verdict follows from the intervals by that rule, not from taste: it *holds*, it *does not hold*, or
it *cannot be told* from what is public.  A number that we did not compute is marked as published.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pandas as pd
import yaml

from ..data import paths
from ..models import hub
from ..models.causal import backbone
from ..schema import DemonstrationWarning
from .evidence import Finding, Setup, compute
from .inputs import Inputs

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
COUNTED = "counted"


class Claims(NamedTuple):
    """Claims and their evidence.

    Attributes:
        verdicts: claim, paper, where, text, decision_rule, verdict, why.
        evidence: claim, evidence, value, low, high, n, note, published, group; low and high are NaN
            where the number is published.
    """

    verdicts: pd.DataFrame
    evidence: pd.DataFrame


def claims(
    paper: str | None = None, draws: int = 2000, seed: int = 0, *, inputs: Inputs | None = None
) -> Claims:
    """Judge every claim, or those of one paper, from what is on this machine."""
    setup = Setup(inputs or Inputs(), draws, seed)
    verdicts, evidence = [], []
    for claim in texts():
        if paper not in (None, claim["claim"].partition(".")[0]):
            continue
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
    file = paths.own("published", "claims.yaml")
    return yaml.safe_load(file.read_text(encoding="utf-8"))["claims"]


def judge(claim: dict[str, Any], setup: Setup) -> tuple[list[Finding], str, str]:
    """Findings, verdict and why."""
    findings: list[Finding] = []
    missing: dict[str, None] = {}
    for entry in entries(claim["evidence"]):
        lacking = [name for name in needed(entry) if not setup.inputs.has(name)]
        if lacking and entry.get("group", COUNTED) == COUNTED and "rule" in claim:
            missing |= dict.fromkeys(name.partition("@")[0] for name in lacking)
        findings += findings_of(entry, setup, bool(lacking))
    if missing:
        findings = [row for row in findings if row.published]
        how = ", ".join(f"`tstmeta data fetch {name}`" for name in missing)
        verdict, why = OPEN, f"The ratings were not on the machine that built this page: {how}."
    else:
        verdict, why = decide(claim, findings)
    return (
        findings,
        verdict,
        " ".join(filter(None, [why, *sentences(claim, findings), claim.get("note")])),
    )


# ------------------------------------------------------------------------------------ evidence


def entries(evidence: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The entries of a claim, one for every combination under ``each``; nested lists are joined."""
    for entry in flat(evidence):
        entry = dict(entry)
        each = entry.pop("each", {})
        for values in itertools.product(*each.values()):
            chosen = dict(zip(each, values, strict=True))
            yield {**entry, **chosen.pop("at", {}), **chosen}


def flat(values: Sequence[Any]) -> list[Any]:
    """A list without lists inside."""
    return [inner for v in values for inner in (flat(v) if isinstance(v, list) else [v])]


def needed(entry: dict[str, Any]) -> list[str]:
    """The data sets of an entry."""
    return flat([entry.get("data", []), entry.get("parts", [])])


#: What an entry says beside the arguments of its kind.
_ABOUT = ("name", "prefix", "note", "group", "model", "instead")


def findings_of(entry: dict[str, Any], setup: Setup, lacking: bool) -> list[Finding]:
    """The findings of an entry.

    Where data or model are not here: the printed number, or nothing.
    """
    arguments = {key: flat(v) if isinstance(v, list) else v for key, v in entry.items()}
    about = {key: str(arguments.pop(key, "")) for key in _ABOUT}
    kind, model = str(arguments.pop("kind")), about["model"]
    if lacking or (model and not hub.here(backbone(model))):
        if not about["instead"]:
            return []
        kind, arguments = "published", {"cell": about["instead"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemonstrationWarning)
        findings = compute(kind, setup, arguments)
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


# --------------------------------------------------------------------------------------- rules


def decide(claim: dict[str, Any], findings: Sequence[Finding]) -> tuple[str, str]:
    """The verdict by the claim's rule, and its sentence."""
    rule = claim.get("rule", "")
    counted = [row for row in findings if row.group == COUNTED and not row.published]
    name, bound = next(iter(rule.items())) if isinstance(rule, dict) else (rule, 0.0)
    verdict = _RULES[name](counted, bound) if name else OPEN
    words = {"n": len(counted), "sides": sides(counted)}
    if name == "competitive":
        above = levels(row for row in counted if row.low > 0)
        words["better"] = f" At {above} it is above." if above else ""
        words["worse"] = levels(row for row in counted if row.high < 0)
        words["wide"] = levels(row for row in counted if not row.low > -bound)
    return verdict, claim["because"][verdict].format(**words)


def above(findings: Sequence[Finding], bound: float) -> str:
    """Holds if every interval lies above the bound, does not if one lies below."""
    if all(row.low > bound for row in findings):
        return HOLDS
    return FAILS if any(row.high < bound for row in findings) else OPEN


def below(findings: Sequence[Finding], bound: float) -> str:
    """Holds if every interval lies below the bound, does not if one lies above."""
    if all(row.high < bound for row in findings):
        return HOLDS
    return FAILS if any(row.low > bound for row in findings) else OPEN


def competitive(findings: Sequence[Finding], margin: float) -> str:
    """Not below by more than a margin at any level.

    An interval that reaches further down and up to zero tells neither.
    """
    if any(row.high < 0 for row in findings):
        return FAILS
    return HOLDS if all(row.low > -margin for row in findings) else OPEN


def apart(findings: Sequence[Finding], _: float) -> str:
    """Holds if the first interval lies above the second, does not if it lies below."""
    first, second = findings
    if second.high < first.low:
        return HOLDS
    return FAILS if first.high < second.low else OPEN


def opposite(findings: Sequence[Finding], _: float) -> str:
    """Holds if the first interval is negative and the second positive."""
    first, second = findings
    if first.high < 0 < second.low:
        return HOLDS
    same = min(first.low, second.low) > 0 or max(first.high, second.high) < 0
    return FAILS if same else OPEN


_RULES = {rule.__name__: rule for rule in (above, below, competitive, apart, opposite)}


def levels(findings: Iterator[Finding]) -> str:
    """The levels that findings name: what stands before the colon."""
    return " and ".join(row.evidence.partition(":")[0] for row in findings)


def sides(findings: Sequence[Finding], bound: float = 0.0) -> str:
    """How many intervals lie above the bound, below it, and on both sides."""
    over, under = (
        sum(row.low > bound for row in findings),
        sum(row.high < bound for row in findings),
    )
    rest, at = len(findings) - over - under, f"{bound:g}" if bound else "zero"
    return f"{over} above {at}, {under} below, {rest} on both sides"


def sentences(claim: dict[str, Any], findings: Sequence[Finding]) -> Iterator[str]:
    """A sentence on each group of evidence that is there."""
    rule = claim.get("rule")
    bound = next(iter(rule.values())) if isinstance(rule, dict) else 0.0
    for group, text in claim.get("say", {}).items():
        own = [row for row in findings if row.group == group and not row.published]
        if own:
            yield text.format(n=len(own), sides=sides(own, bound))
