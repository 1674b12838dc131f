"""Claims: verdicts follow from intervals by rules, and nothing is called ours that is printed."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.meta_analysis import combine_effects

from tests.analysis import many
from tests.helpers import needs
from tests.ledger.canned import Canned
from tools import claims as rules
from tools import evidence, pages, papers
from tools.claims import Claims, claims
from tools.evidence import Finding, Setup
from tstmeta import stats
from tstmeta.analysis.agreement import analyses, resample
from tstmeta.analysis.committed import read_frozen
from tstmeta.analysis.frame import pairs
from tstmeta.analysis.matrices import matrices
from tstmeta.combine import Settings, hybrid
from tstmeta.combine.parts import folds
from tstmeta.data import Card, names
from tstmeta.ledger import Inputs
from tstmeta.ledger.cells import cells
from tstmeta.schema import MissingData

HOLDS, FAILS, OPEN = rules.HOLDS, rules.FAILS, rules.OPEN
UNITS = ("sources", "systems", "both")
SYSTEMS = stats.ResamplingPlan("both").estimand


def claim(key: str) -> dict:
    return next(text for text in rules.texts() if text["claim"] == key)


def finding(low: float, high: float, what: str = "something", scope: str = SYSTEMS) -> Finding:
    """An interval that is a tenth wider where more than 95 % is asked for."""
    wide = 0.1 * (high - low)

    def limits(confidence: float) -> stats.Interval:
        more = wide if confidence > 0.95 else 0.0
        return stats.Interval(low - more, high + more)

    return Finding(what, (low + high) / 2, limits, 10, scope=scope)


# ---------------------------------------------------------------------------------- the rules


#: Where an interval can lie about a bound of 0, and by how much the corrected one is wider.
PLACES = list(itertools.product([(-2, -1), (-2, 1), (-1, 2), (1, 2), (-1, 0), (0, 1)], [0, 3]))


def verdict(rule: str, places, bound: float = 0.0) -> str:
    """The verdict of intervals and of the same widened by so much on both sides."""
    plain = [np.add(limits, bound) for limits, _ in places]
    wide = [np.add(limits, (bound - more, bound + more)) for limits, more in places]
    return rules.verdict_of(rule, plain, wide, bound)


@pytest.mark.parametrize("n", [1, 2])
def test_whatever_the_intervals_exactly_one_outcome_has_its_condition(n):
    for places in itertools.product(PLACES, repeat=n):
        every = all(low > 0 for (low, _), _ in places)
        other = any(high + more < 0 for (_, high), more in places)
        assert not (every and other)
        expected = HOLDS if every else FAILS if other else OPEN
        assert verdict("above", places, 0.3) == expected
        mirrored = [((-high, -low), more) for (low, high), more in places]
        assert verdict("below", mirrored, -0.3) == expected
        one = [any(low - more > 0 for (low, _), more in places), other]
        alike = every or all(high < 0 for (_, high), _ in places)
        assert not (all(one) and alike)
        assert verdict("both signs", places) == (HOLDS if all(one) else FAILS if alike else OPEN)
        assert verdict("", places) == OPEN


def test_nothing_can_be_told_of_no_interval_and_of_one_without_limits():
    nothing = (math.nan, math.nan)
    assert rules.verdict_of("above", [], []) == OPEN
    assert rules.verdict_of("above", [nothing, (1, 2)], [nothing, (1, 2)]) == OPEN
    assert rules.verdict_of("above", [nothing, (-2, -1)], [nothing, (-2, -1)]) == FAILS


def test_a_judge_that_may_be_worse_by_a_little_is_not_called_worse():
    findings = [finding(-0.18, -0.03), finding(0.1, 0.3)]
    verdict, why = rules.decide(claim("lai2023.content"), findings)
    assert verdict == OPEN
    assert why.startswith(f"For {SYSTEMS}. Intervals: 1 above −0.1, 0 below, 1 on both sides;")
    assert rules.decide(claim("lai2023.content"), [finding(-0.3, -0.2), findings[1]])[0] == FAILS


def test_a_verdict_speaks_of_no_more_than_all_its_evidence():
    sources, systems, both = (stats.ResamplingPlan(u).estimand for u in UNITS)
    cases = [(sources, both, sources), (both, systems, systems), (both, both, both)]
    for first, second, scope in [*cases, (sources, systems, "these systems, these sources")]:
        findings = [finding(0.1, 0.3, scope=each) for each in (first, second)]
        assert rules.decide(claim("lai2023.prompts"), findings)[1].startswith(f"For {scope}. ")


def test_what_is_of_several_metrics_has_the_doubts_of_its_own_interval_and_the_fewest_rewrites(
    monkeypatch,
):
    data = many.rated(systems=False)
    frame = pairs(data, many.scored(data, a=0.3, b=0.5, c=0.7, d=0.9))
    few = frame["source_id"].isin(["s1", "s2", "s3"]) | (frame["metric"] != "b")
    analysis = next(analyses(frame.assign(score=frame["score"].where(few)), draws=50))
    gap = evidence.finding(analysis, "gap", 0, 1)
    monkeypatch.setattr(evidence, "analysis_of", lambda *_, **__: analysis)
    [mean] = evidence.reference_free(SMALL, "few", ["S-a", "S-b"])
    r = resample(analysis).estimates
    assert (gap.value, mean.value) == pytest.approx((r[0] - r[1], (r[:2] - r[2:]).mean()))
    assert (gap.n, mean.n) == (12, 12)
    assert "3 sources: over fewer than 8" in gap.note
    assert mean.note == "; ".join(filter(None, ["sources resampled", mean.limits(0.95).reason]))
    assert "3 units: over fewer than 8" in mean.note


# ----------------------------------------------------------------------------------- the file


def counted(key: str) -> set[str]:
    """The data sets that decide a claim."""
    listed = rules.entries(claim(key)["evidence"])
    own = [e.get("data", []) for e in listed if e.get("group", "counted") == "counted"]
    return set(rules.flat(own))


def test_a_claim_on_existing_sets_is_judged_on_all_that_are_rated_and_not_on_ours():
    rated = {
        name
        for name in names()
        if "content" in (Card.read(name).facts.get("scale") or {})
        and Card.read(name).facts["access"] == "public"
        and Card.read(name).facts["verified"]  # against the files, which are at hand
        and Card.read(name).facts.get("outputs") != "human"  # there, no system is judged
        and name != "pauli"  # built, not output of systems; it has a claim of its own
    }
    for key in ("pauli2025.similarity-agrees", "pauli2025.ranking"):
        assert {name.partition("@")[0] for name in counted(key)} == rated
    unstyled = {"ziegen_editing", "strap@shakespeare", "strap@formality"}
    assert counted("pauli2025.data-decide") == counted("pauli2025.ranking") - unstyled


# --------------------------------------------------------------------------------- the frozen


def hold(given: Claims) -> None:
    """Verdicts are equal, values to 1e-9, limits to .03 or .35 of the width (other draws)."""
    old = read_frozen("claims")
    before = old.drop_duplicates("claim").set_index("claim")["verdict"]
    pd.testing.assert_series_equal(given.verdicts.set_index("claim")["verdict"], before)
    assert given.verdicts["lean"].tolist() == [
        rules.lean(text, old[old["claim"] == text["claim"]].fillna({"dataset": ""}))["lean"]
        for text in rules.texts()
    ]
    old = old.dropna(subset="value").reset_index(drop=True)
    new = given.evidence.reset_index(drop=True)
    assert new["claim"].tolist() == old["claim"].tolist()
    assert new["n"].tolist() == old["n"].tolist()
    assert new["published"].tolist() == old["published"].astype(bool).tolist()
    neural = new["evidence"].str.contains("likelihood")  # batches move the last digits
    assert ((new["value"] - old["value"]).abs() <= np.where(neural, 1e-6, 1e-9)).all()
    limit = np.maximum(0.03, 0.35 * (old["high"] - old["low"]))
    for end in ("low", "high"):
        assert (new[end].isna() == old[end].isna()).all()
        assert ((new[end] - old[end]).abs().fillna(0) <= limit.fillna(0)).all()


@pytest.mark.nightly
@needs("pauli", "lai", "mir", "alva", "lens", "li2018", "ziegen_editing", "dualrl")
@needs("mis", "russe2022", "sottana", "strap", "sulem2018", "wu_arase")
def test_with_the_ratings_verdicts_and_numbers_are_the_frozen_ones():
    hold(claims())


@pytest.mark.nightly
def test_without_the_raw_files_verdicts_and_numbers_are_computed_or_frozen(bare):
    judged = claims(draws=500)
    hold(judged)
    why = judged.verdicts.set_index("claim")["why"]
    frozen = why.str.startswith("Frozen: computed where all its data were (")
    assert 5 < frozen.sum() < len(why) - 5
    assert "`tstmeta data fetch mir`" in why["pauli2025.ranking"]
    assert "labels hold by construction" in why["pauli2025.data-decide"]
    assert why["mukherjee2025.ensembles"].endswith("cannot be seen from what is public.")
    own = judged.evidence[~judged.evidence["published"]]
    assert own["value"].between(own["low"], own["high"]).all()
    assert (own["note"].str.startswith("frozen; ") == own["claim"].map(frozen)).all()
    printed = {cell.cell: cell.value for cell in cells()}
    published = judged.evidence[judged.evidence["published"]]
    assert published["note"].map(printed).equals(published["value"])
    assert published[["low", "high"]].isna().all(axis=None)


def test_a_claim_lacks_each_of_its_sets_that_is_not_here():
    lacking = rules.lacking(claim("mukherjee2025.ensembles"), Setup(Canned("mir", "lai@lai2023")))
    assert lacking == ["mir", "lai"]


def test_a_claim_of_which_nothing_was_frozen_needs_its_data(monkeypatch):
    monkeypatch.setattr(rules, "read_frozen", lambda name: pd.DataFrame({"claim": []}))
    text = claim("pauli2025.ranking")
    monkeypatch.setattr(rules, "texts", lambda: [text])
    with pytest.raises(MissingData, match=r"pauli2025.ranking .* `tstmeta data fetch mir`"):
        claims(draws=20, inputs=Canned("mir"))


# ------------------------------------------------------------------------------- the evidence

SMALL = Setup(Inputs(), draws=20)


def test_the_two_parts_of_a_comparison_are_what_their_subsets_are():
    [gap] = evidence.across(SMALL, "contrast", "S-bleu", ["all", "contrast@tied"], unit="source")
    names = ("contrast", "contrast@tied")
    values = [evidence.agreement(SMALL, name, "S-bleu")[0].value for name in names]
    assert gap.value == pytest.approx(values[0] - values[1], abs=1e-12)
    assert gap.interval()[0] > 0


def test_a_model_that_is_not_the_paper_s_decides_no_claim_and_is_marked():
    findings, given, why = rules.judge(claim("pauli2025.style-aware"), Setup(Canned()))
    assert given == OPEN
    [marked] = [row for row in findings if "SmolLM2" in row.note]
    assert not marked.counts
    assert "counts neither for the claim nor against it" in why


@needs("li2018", "dualrl")
def test_untransferred_less_a_system_is_the_difference_of_what_the_ledger_computes():
    for references, value in (("raw", 6.735), ("tokenised", 8.811)):  # 24.8 - 18.0, 31.4 - 22.6
        [row] = evidence.untransferred(SMALL, [], ["Template"], references)
        bleu, outputs = SMALL.inputs.once(evidence.yelp_bleu, "TemplateBased")
        _, sources = SMALL.inputs.once(evidence.yelp_bleu, "")
        both = [bleu.aggregate(side[references].sum(axis=0)) for side in (sources, outputs)]
        assert row.value == pytest.approx(both[0] - both[1]) == pytest.approx(value, abs=1e-3)
        assert row.interval()[0] > 0


@needs("mis")
def test_the_share_won_less_the_share_lost_is_what_table_4_prints():
    printed = {cell.cell: cell.value for cell in cells("pang2019", "4")}
    key = "pang2019.t4.m0-m7.semantic-preservation.yelp"
    [row] = evidence.preferred(SMALL, "mis@yelp", "content", "m0", "m7")
    [back] = evidence.preferred(SMALL, "mis@yelp", "content", "m7", "m0")
    expected = printed[f"{key}.a-gt-b"] - printed[f"{key}.b-gt-a"]
    assert 100 * row.value == pytest.approx(expected, abs=0.1)
    assert row.interval() == pytest.approx([-end for end in back.interval()[::-1]])


def test_a_share_of_choices_is_that_of_the_table_and_its_limits_widen_about_it():
    [row] = evidence.choices(SMALL, "22_preferences", "mis@yelp", "content", "sim")
    frozen = read_frozen("22_preferences").query("dataset == 'mis@yelp' and dimension == 'content'")
    own = frozen.set_index("metric").loc["sim"]
    assert [row.value, *row.interval()] == own.filter(like="balanced").tolist()
    assert row.n == own["comparisons"]
    wide, plain = (np.subtract(row.interval(level), row.value) for level in (0.99, 0.95))
    assert wide / plain == pytest.approx(norm.ppf(0.995) / norm.ppf(0.975))


ACC = "style-accuracy:yelp"
#: Acc and Sim at three points of each run; M2 is never near an Acc of 0.7.
RUNS = {
    ("M0", 0): [(0.70, 1.0), (0.80, 2.0), (0.90, 3.0)],
    ("M0", 1): [(0.71, 2.0), (0.79, 5.0), (0.90, 7.0)],
    ("M2", 0): [(0.85, 4.0), (0.81, 9.0), (0.95, 6.0)],
    ("M2", 1): [(0.80, 6.0), (0.90, 2.0), (0.85, 5.0)],
}


@pytest.fixture
def runs(monkeypatch):
    """Made-up runs; what chooses has another Sim than what reports."""
    rows = [
        (model, seed, step, part, metric, basis, value + (part == "choose") * (metric == "sim"))
        for (model, seed), points in RUNS.items()
        for step, point in enumerate(points)
        for part in ("choose", "report")
        for metric, basis, value in zip((ACC, "sim"), ("none", "source"), point, strict=True)
    ]
    columns = ["model", "seed", "step", "part", "metric", "basis", "value"]
    monkeypatch.setattr(evidence, "trajectories", lambda: pd.DataFrame(rows, columns=columns))


@pytest.mark.parametrize(
    ("how", "value", "variance", "n"),
    [
        ({"model": "M2", "minus": "M0"}, 0.5, 4.25, 4),  # 3 7 | 6 5
        ({"model": "M2", "minus": "M0", "acc": 0.8}, 4.0, 4.5, 4),  # 2 5 | 9 6
        ({"model": "M0", "along": ACC}, 1.0, 0.0625, 2),  # 1 1 | -.5 -1
    ],
)
def test_a_transfer_model_has_the_mean_of_its_seeds_and_a_pooled_variance(
    how, value, variance, n, runs
):
    [row] = evidence.transfer(SMALL, "sim", **how)
    half = 4.302653 * math.sqrt(variance * (1 / 2 + (n == 4) / 2))  # Student's t, two degrees
    assert (row.value, row.n) == (pytest.approx(value), n)
    assert row.interval() == pytest.approx([value - half, value + half], rel=1e-5)


def test_of_runs_that_are_not_there_or_never_near_an_accuracy_there_is_no_evidence(runs):
    assert evidence.transfer(SMALL, "sim", "M2", "M0", acc=0.7) == []
    assert evidence.transfer(SMALL, "sim", "M7", "M0") == []


# ---------------------------------------------------------------------- combinations of metrics


def test_a_hybrid_less_the_best_single_metric_is_what_the_parts_give():
    data = many.rated()
    table = many.scored(data, good=0.4, fair=1.0, poor=4.0)
    table["metric"] = "released:" + table["metric"].astype(str)
    other = table.assign(basis="reference", value=0.0)  # must not be taken
    data = replace(data, scores=pd.concat([table, other], ignore_index=True))
    inputs, how = Inputs(), Settings(seed=3)
    inputs._data[data.name] = data
    names = [f"S-{name}" for name in table["metric"].unique()]
    findings = evidence.hybrids(Setup(inputs, 30, 3), data.name, names, "three")
    values = []
    kinds = [("simulation", how._replace(top=1)), ("simulation", how), ("learned", how)]
    for kind, settings in kinds:
        wide = matrices(pairs(data, hybrid(data, table, "content", kind, settings).scores))
        own = stats.Setting("pearson", "within-task", folds(np.array(wide.layout.sources), 5, 3))
        values.append(stats.estimate(wide.human, wide.metrics, own)[0])
    assert [row.value for row in findings] == pytest.approx([v - values[0] for v in values[1:]])
    for row in findings:
        assert row.interval()[0] <= row.value <= row.interval()[1]
        assert row.n == many.ROWS


# ---------------------------------------------------------------------------------- the lean


def rows_of(intervals: dict[str, tuple[float, float]], group: str = "counted") -> pd.DataFrame:
    """Evidence with these intervals, a data set each."""
    low, high = np.transpose([*intervals.values()])
    columns = {"dataset": [*intervals], "value": (low + high) / 2, "low": low, "high": high}
    return pd.DataFrame(columns).assign(group=group)


NAMES = ("mir", "li2018@amazon-rated", "lai@lai2023", "detox")  # of four families
ABOVE, BELOW, ASTRIDE, WIDE = (0.4, 0.6), (-0.6, -0.4), (-0.3, 0.3), (-0.02, 0.48)


@pytest.mark.parametrize(
    ("rule", "intervals", "expected"),
    [
        ({"above": 0.0}, [ABOVE] * 3, "leans yes"),
        ({"above": 0.5}, [ABOVE] * 3, "open"),  # about the bound
        ({"above": 0.8}, [ABOVE] * 3, "leans no"),
        ({"below": 0.8}, [ABOVE] * 3, "leans yes"),
        ({"below": 0.0}, [ABOVE] * 3, "leans no"),
        ({"above": 0.0}, [ABOVE] * 2, "open"),  # two families
        ({"above": 0.0}, [ABOVE, ABOVE, BELOW], "open"),  # they differ
        ({"above": 0.0}, [WIDE] * 4, "leans yes"),  # none alone lies above
        ({"both signs": 0.0}, [ABOVE, BELOW, ASTRIDE], "leans yes"),
        ({"both signs": 0.0}, [ABOVE] * 3, "leans no"),
        ({"both signs": 0.0}, [ABOVE, WIDE, ASTRIDE], "open"),
        ({"both signs": 0.0}, [ABOVE, BELOW], "open"),
        (None, [ABOVE] * 3, "open"),  # nothing is asked
    ],
)
def test_a_claim_leans_by_its_pooled_interval_and_the_bound(rule, intervals, expected):
    text = {"claim": "a.b", "text": "So it is."} | ({"rule": rule} if rule else {})
    rows = rows_of(dict(zip(NAMES, intervals, strict=False)))
    lean = rules.lean(text, rows)
    assert lean["lean"] == expected
    assert (lean["unpooled"] == "") == (len(intervals) > 2) == math.isfinite(lean["mean"])
    other = rows_of(dict.fromkeys(NAMES, BELOW), "shown")  # does not count
    assert rules.lean(text, pd.concat([rows, other]))["lean"] == expected


def test_a_set_that_the_table_lacks_has_the_family_of_its_collection():
    known = {"mir": "yelp", "lai@pauli2025-systems": "gyafc", "li2018 dualrl": "yelp"}
    for sets, family in {**known, "li2018": "", "": ""}.items():  # li2018 has three families
        assert rules.family_of(sets) == family


def test_the_pooled_effect_of_a_claim_is_what_its_rows_give_by_statsmodels():
    key = "lai2023.learned"
    rows = read_frozen("claims").query("claim == @key")
    lean = rules.lean(claim(key), rows)
    assert lean["families"] == ("gyafc", "wikipedia", "russe")
    parts = [rows[rows["evidence"].str.contains(f"on {name}")] for name in ("lai", "alva", "russe")]
    y = np.array([part["value"].mean() for part in parts])
    v = np.array([((part["high"] - part["low"]) / 3.92).mean() ** 2 for part in parts])
    fit = combine_effects(y, v, method_re="pm")  # Paule and Mandel
    half = 4.302653 * math.sqrt(max(fit.var_hksj_re, fit.var_eff_w_re))  # Student's t, two
    mean = fit.mean_effect_re
    expected = [mean, mean - half, mean + half]
    assert [lean["mean"], lean["low"], lean["high"]] == pytest.approx(expected, abs=1e-4)


def test_the_page_opens_with_a_sentence_for_each_of_the_ten_claims_of_most_families(monkeypatch):
    monkeypatch.setattr(rules, "lacking", lambda *_: ["mir"])  # all is as it was frozen
    judged = claims()
    page = pages.render("claims", papers.claims(judged) | {"draws": "2,000", "seed": 0})
    lines = re.findall(r"^\d+\. \{ref\}`.* <(.*)>`: \*\*(.*?)\*\*, (.*)\.$", page, re.MULTILINE)
    table = judged.verdicts.set_index(judged.verdicts["claim"].str.replace(".", "-"))
    shown = table.loc[[at for at, *_ in lines]]
    assert shown["lean"].tolist() == [lean for _, lean, _ in lines]
    counts = sorted(table["families"].map(len), reverse=True)[:10]
    assert shown["families"].map(len).tolist() == counts
    for mean, families, (*_, rest) in zip(shown["mean"], counts, lines, strict=True):
        assert f"is {papers.number(mean, 3)} (" in rest
        assert f"over {families} families" in rest
