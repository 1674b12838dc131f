"""What the four papers conclude, and what the public data say of it.

``data/published/claims.yaml`` has each claim with its evidence; :func:`verdict_of` is the one rule
of all verdicts.  A number that we did not compute is marked as published and decides nothing.
Where data of a claim are not on this machine, its verdict and numbers are those that were frozen.

Beside the verdict stands the *lean*, from the same intervals, frozen or not.  A family of data sets
(``data/cards/synthesis.csv``) has the mean of its values; families are pooled by random effects.

leans yes   the 95 % interval of the pooled effect lies wholly on the claimed side of the bound
leans no    it lies wholly on the other side
open        all else, also where there are fewer than three families and nothing is pooled

A claim of *both signs* speaks of the spread and not of the mean: there the intervals of the
families are read by the rule of the verdict.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from numpy.typing import ArrayLike
from scipy.stats import norm

from tools.evidence import COUNTED, KINDS, Finding, Setup
from tstmeta import stats
from tstmeta.analysis.committed import read_frozen
from tstmeta.analysis.synthesis import panels
from tstmeta.data import paths
from tstmeta.ledger import Inputs
from tstmeta.schema import MissingData

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
#: The lean of a pooled effect, of which the rule of verdicts says this.
LEANS = {HOLDS: "leans yes", FAILS: "leans no", OPEN: "open"}
_LIMITS = ("low", "high", "predict_low", "predict_high")
#: What is pooled of a claim, where its entry ``pooled`` does not say otherwise.
_POOLED = {"measure": "value", "limit": np.inf, "group": COUNTED}
#: Kinds of evidence that are computed from texts, not from scores of them.
_READING = ("untransferred",)
#: What an entry of evidence says beside the arguments of its kind.
_ABOUT = ("kind", "name", "prefix", "note", "group", "each")


class Claims(NamedTuple):
    """Claims and their evidence.

    Attributes:
        verdicts: claim, paper, where, text, decision_rule, verdict, why, and of :func:`lean`.
        evidence: claim, evidence, value, n, note, scope (what the interval speaks of), group,
            dataset (or several, with blanks between), published, low, high (95 %), corrected_low,
            corrected_high (see :func:`corrected`).  Limits are NaN where the number is published,
            corrected ones where it does not count.
    """

    verdicts: pd.DataFrame
    evidence: pd.DataFrame


def claims(draws: int = 2000, seed: int = 0, *, inputs: Inputs | None = None) -> Claims:
    """Judge every claim from what is on this machine; what cannot be is as it was frozen.

    Raises:
        MissingData: data of a claim are not here, and nothing was frozen of it.
    """
    setup = Setup(inputs or Inputs(), draws, seed)
    verdicts, evidence, frozen = [], [], read_frozen("claims")
    for claim in texts():
        words = {key: claim[key] for key in ("claim", "where", "text", "decision_rule")}
        if missing := lacking(claim, setup):
            old = frozen[frozen["claim"] == claim["claim"]]
            verdicts.append(words | _as_frozen(claim["claim"], old, missing))
            rows = old.dropna(subset="value").fillna({"note": ""})
            rows["note"] = rows["note"].mask(rows["published"] == 0, "frozen; " + rows["note"])
            evidence += rows.to_dict("records")
            continue
        findings, verdict, why = judge(claim, setup)
        verdicts.append(words | {"verdict": verdict, "why": why})
        level = corrected(sum(row.counts for row in findings))
        for row in findings:
            low, high = row.interval()
            least, most = row.interval(level) if row.counts else (np.nan, np.nan)
            shown = {"claim": claim["claim"], **row._asdict(), "published": not row.limits}
            shown |= {"low": low, "high": high, "corrected_low": least, "corrected_high": most}
            evidence.append(shown)
    table = pd.DataFrame(verdicts)
    table.insert(1, "paper", table["claim"].str.partition(".")[0])
    shown = pd.DataFrame(evidence).drop(columns=["limits", "verdict", "why"], errors="ignore")
    shown = shown.astype({"published": bool}).fillna({"note": "", "scope": "", "dataset": ""})
    leans = [lean(claim, shown[shown["claim"] == claim["claim"]]) for claim in texts()]
    return Claims(table.join(pd.DataFrame(leans)), shown)


def _as_frozen(claim: str, old: pd.DataFrame, missing: Sequence[str]) -> dict[str, str]:
    """Verdict and why of a claim whose data are not all here."""
    these = ", ".join(f"`tstmeta data fetch {name}`" for name in missing)
    if old.empty:
        raise MissingData(f"the claim {claim} was never computed; get its data: {these}")
    why = "" if pd.isna(old["why"].iloc[0]) else f" {old['why'].iloc[0]}"
    why = f"Frozen: computed where all its data were ({these}).{why}"
    return {"verdict": old["verdict"].iloc[0], "why": why}


@cache
def texts() -> list[dict[str, Any]]:
    """The claims as the file has them."""
    return yaml.safe_load(paths.project("published", "claims.yaml").read_text("utf-8"))["claims"]


def judge(claim: dict[str, Any], setup: Setup) -> tuple[list[Finding], str, str]:
    """Findings, verdict and why of a claim whose data are all here."""
    findings = [row for entry in entries(claim["evidence"]) for row in findings_of(entry, setup)]
    verdict, why = decide(claim, findings)
    sentences, (_, bound) = [why], rule_of(claim)
    for group, text in claim.get("say", {}).items():
        if intervals := [row.interval() for row in findings if row.group == group and row.limits]:
            sentences.append(text.format(sides=sides(intervals, bound)))
    return findings, verdict, " ".join(filter(None, [*sentences, claim.get("note")]))


def lacking(claim: dict[str, Any], setup: Setup) -> list[str]:
    """The data sets of a claim that are not here, without their subsets."""
    absent = {
        name.partition("@")[0]: None
        for entry in entries(claim["evidence"])
        for name in flat([entry.get("data", [])])
        if not setup.inputs.has(name, texts=entry["kind"] in _READING)
    }
    return list(absent)


def entries(evidence: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The entries of a claim, one for every combination under ``each``; nested lists are joined."""
    for entry in flat(evidence):
        lists = entry.get("each", {})
        for values in itertools.product(*map(flat, lists.values())):
            chosen = dict(zip(lists, values, strict=True))
            yield {**entry, **chosen.pop("at", {}), **chosen}


def flat(values: Sequence[Any]) -> list[Any]:
    """A list without lists inside."""
    return [inner for v in values for inner in (flat(v) if isinstance(v, list) else [v])]


def findings_of(entry: dict[str, Any], setup: Setup) -> list[Finding]:
    """The findings of an entry, with what it says of them."""
    about = dict.fromkeys(_ABOUT, "") | {key: entry[key] for key in _ABOUT if key in entry}
    arguments = arguments_of(entry)
    findings = KINDS[about["kind"]](setup, **arguments)
    name = about["name"].format(**arguments)
    sets = " ".join(flat([entry.get("data", entry.get("dataset", []))]))
    prefix = f"{about['prefix']}: " if about["prefix"] else ""
    return [
        finding._replace(
            evidence=prefix + (name or finding.evidence),
            note="; ".join(filter(None, [about["note"], finding.note])),
            group=about["group"] or COUNTED,
            dataset=sets,
        )
        for finding in findings
    ]


def arguments_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an entry's kind, without nested lists."""
    arguments = {key: value for key, value in entry.items() if key not in _ABOUT}
    return {key: flat(v) if isinstance(v, list) else v for key, v in arguments.items()}


def decide(claim: dict[str, Any], findings: Sequence[Finding]) -> tuple[str, str]:
    """The verdict by the claim's rule, and why: what all evidence speaks of, the intervals."""
    rule, bound = rule_of(claim)
    counted = [row for row in findings if row.counts] if rule else []
    levels = (0.95, corrected(len(counted)))
    plain, wide = ([row.interval(level) for row in counted] for level in levels)
    verdict = verdict_of(rule, plain, wide, bound)
    why = claim.get("because", {}).get(verdict, "")
    if counted:
        scopes = zip(*(row.scope.split(", ") for row in counted), strict=True)
        about = ", ".join(max(parts, key=lambda part: part.startswith("these")) for parts in scopes)
        also = f"; corrected for their number, {sides(wide, bound)}" if len(counted) > 1 else ""
        why = f"For {about}. Intervals: {sides(plain, bound)}{also}. {why}".strip()
    return verdict, why


def rule_of(claim: dict[str, Any]) -> tuple[str, float]:
    """The name of a claim's rule and its bound; no name without a rule."""
    return next(iter(claim.get("rule", {"": 0.0}).items()))


def corrected(comparisons: int) -> float:
    """The confidence of each interval at which so many hold together at 95 % (Bonferroni)."""
    return 1 - 0.05 / max(comparisons, 1)


def verdict_of(rule: str, plain: ArrayLike, wide: ArrayLike, bound: float = 0.0) -> str:
    """One of three outcomes; no two go together, as each wide interval has the plain one in it.

    What must be so of every comparison is read from intervals of 95 %: more of them make it harder
    to show, not easier (intersection-union test, Berger 1982, Technometrics 24).  Where one of them
    is enough it is read from intervals corrected for their number.

    Args:
        rule: ``above`` (``below``): every value lies above (below) the bound; that does not hold
            where one lies on the other side.  ``both signs``: one lies above, another below; that
            does not hold where all lie on one side.  Without a rule nothing can be told.
        plain, wide: intervals ``[n, 2]`` of 95 %, and at :func:`corrected` confidence.
    """
    (low, high), (least, most) = np.reshape(plain, (-1, 2)).T, np.reshape(wide, (-1, 2)).T
    holds = {"above": (low > bound).all(), "below": (high < bound).all()}
    fails = {"below": (least > bound).any(), "above": (most < bound).any()}  # the other side
    if not rule or not len(low):
        return OPEN
    if rule == "both signs":
        holds, fails = {rule: np.all([*fails.values()])}, {rule: np.any([*holds.values()])}
    return HOLDS if holds[rule] else FAILS if fails[rule] else OPEN


def sides(intervals: ArrayLike, bound: float) -> str:
    """How many of ``[n, 2]`` lie above the bound, below it, and on both sides."""
    low, high = np.reshape(intervals, (-1, 2)).T
    over, under = int((low > bound).sum()), int((high < bound).sum())
    at = f"{bound:.4g}".replace("-", "−") if bound else "zero"
    return f"{over} above {at}, {under} below, {len(low) - over - under} on both sides"


# --------------------------------------------------------------------------------- the lean


def lean(claim: dict[str, Any], evidence: pd.DataFrame) -> dict[str, Any]:
    """The pooled effect of a claim, from the rows of its evidence.

    Returns:
        lean, plain (the claim in plain words), measure (what is pooled), needs (what the claim
        needs of it), families (their names), mean, low, high, predict_low, predict_high (of a set
        of a new family), unpooled (why there is no mean).  No limit lies beyond what can be.
    """
    words = {**_POOLED, "plain": claim["text"].rstrip("."), **claim, **claim.get("pooled", {})}
    rule, bound = rule_of(words)
    rows = evidence[(evidence["group"] == words["group"]) & evidence["low"].notna()]
    sets = rows.assign(family=rows["dataset"].map(family_of)).query("family != ''")
    errors = (sets["high"] - sets["low"]) / (2 * norm.ppf(0.975))
    values, variances, names = stats.family_means(sets["value"], errors, sets["family"].tolist())
    pooled, place = stats.pool(values, variances), f"{bound:.3g}".replace("-", "−")
    needs = {"above": f"more than {place}", "below": f"less than {place}"}.get(rule, "")
    plain = wide = np.array([(pooled.low, pooled.high)])
    if rule == "both signs":
        levels = np.array([0.95, corrected(len(names))])
        halves = np.outer(norm.ppf((1 + levels) / 2), np.sqrt(variances))
        plain, wide = np.stack([values - halves, values + halves], axis=2)
        needs = f"families on both sides of {place} (corrected intervals: {sides(wide, bound)})"
    known = f"{len(names)} families" if len(names) != 1 else f"1 family, {names[0]}"
    few = f"The evidence has {known}, and three are needed." if pooled.reason else ""
    shown = pd.Series(pooled._asdict())[["mean", *_LIMITS]].astype(float)
    return {
        "lean": LEANS[OPEN if few else verdict_of(rule, plain, wide, bound)],
        **{"plain": words["plain"], "measure": words["measure"]},
        **{"needs": needs, "families": names},
        **shown.clip(-words["limit"], words["limit"]),
        "unpooled": "No number that counts has an interval." if rows.empty else few,
    }


@cache
def family_of(sets: str) -> str:
    """The one family of sets with blanks between, else nothing; a part that the table lacks has
    that of its collection."""
    table = panels().set_index("dataset")["family"]
    collection = table.index.str.partition("@").get_level_values(0)
    families = set()
    for name in sets.split():
        rows = table[[name]] if name in table else table[collection == name.partition("@")[0]]
        families |= set(rows) if len(set(rows)) == 1 else set()
    return families.pop() if len(families) == 1 else ""
