"""Claims: verdicts follow from intervals by rules, and nothing is called ours that is printed."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from tests.helpers import needs
from tstmeta import scoring
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.report import hybrids
from tstmeta.report.bench import Bench
from tstmeta.report.claims import (
    FAILS,
    HOLDS,
    OPEN,
    Evidence,
    Finding,
    Judged,
    claims,
    lai2023,
    mukherjee2025,
    page,
    pauli2025,
)
from tstmeta.report.claims import evidence as rules
from tstmeta.report.published import cells

WHY = {HOLDS: "yes", FAILS: "no", OPEN: "who knows"}
CITED = dict.fromkeys(("pauli2025", "lai2023", "mukherjee2025", "pang2019"), "key2025")


def finding(low: float, high: float) -> Finding:
    return Finding("something", (low + high) / 2, low, high, 10)


#: intervals, verdict of "above 0.3", verdict of "below 0.3"
RULES = {
    "all above": ([(0.4, 0.5), (0.31, 0.9)], HOLDS, FAILS),
    "all below": ([(-0.4, -0.1), (0.0, 0.29)], FAILS, HOLDS),
    "one on each side": ([(0.4, 0.5), (0.0, 0.2)], FAILS, FAILS),
    "one covers the bound": ([(0.4, 0.5), (0.2, 0.6)], OPEN, FAILS),
    "all cover the bound": ([(0.2, 0.5), (0.2, 0.6)], OPEN, OPEN),
    "the bound itself is not above": ([(0.3, 0.5)], OPEN, OPEN),
    "no interval": ([(math.nan, math.nan)], OPEN, OPEN),
}


@pytest.mark.parametrize(("intervals", "above", "below"), RULES.values(), ids=RULES)
def test_the_verdict_follows_from_the_intervals(intervals, above, below):
    found = [finding(*one) for one in intervals]
    assert rules.above(found, 0.3, WHY) == (above, WHY[above], found)
    assert rules.below(found, 0.3, WHY) == (below, WHY[below], found)


#: intervals of the judge less the best other metric, verdict of "competitive"
COMPETITIVE = {
    "all near or above": ([(-0.09, 0.2), (0.1, 0.3)], HOLDS),
    "one below": ([(-0.09, 0.2), (-0.3, -0.01)], FAILS),
    "one too wide to tell": ([(-0.4, 0.2), (0.1, 0.3)], OPEN),
    "no interval": ([(math.nan, math.nan), (0.1, 0.3)], OPEN),
}


@pytest.mark.parametrize(("intervals", "expected"), COMPETITIVE.values(), ids=COMPETITIVE)
def test_a_wide_interval_does_not_make_a_metric_competitive(intervals, expected):
    found = [finding(*one)._replace(what=f"level {i}: x") for i, one in enumerate(intervals)]
    assert lai2023._not_worse(found).verdict == expected


def test_every_claim_has_a_key_of_its_own_and_says_what_would_carry_it():
    every = claims()
    assert len({claim.key for claim in every}) == len(every)
    assert {claim.paper for claim in every} == set(CITED)
    assert all(claim.text and claim.carried_by and claim.where for claim in every)
    assert claims("lai2023") == [claim for claim in every if claim.paper == "lai2023"]


@pytest.fixture
def without_data(monkeypatch, tmp_path):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    monkeypatch.setattr(Bench, "has", lambda self, name: name.startswith("contrast"))
    return Evidence(Bench(tmp_path / "scores"), draws=50)


def test_without_the_ratings_a_claim_cannot_be_told_and_the_page_says_how_to_get_them(without_data):
    found = [Judged(claim, claim.check(without_data)) for claim in claims()]
    verdicts = {one.claim.key: one.verdict.verdict for one in found}
    assert verdicts.pop("pauli2025.data-decide") == HOLDS  # rests on our own set
    assert set(verdicts.values()) == {OPEN}
    text = page(found, CITED, draws=50)
    assert "tstmeta data fetch mir" in text
    assert "1 hold, 0 do not" in text


def test_printed_numbers_are_marked_and_have_no_interval(without_data):
    printed = {cell.cell: cell.value for cell in cells()}
    shown = 0
    for claim in claims():
        for one in claim.check(without_data).findings:
            if one.published:
                assert printed[one.note] == one.value
                assert math.isnan(one.low)
                assert math.isnan(one.high)
                shown += 1
            else:
                assert one.low <= one.value <= one.high
    assert shown


def test_texts_of_findings_are_escaped_and_names_stand_as_code():
    claim = claims()[0]
    hostile = Finding("`<script>` on <b>", 0.5, 0.4, 0.6, 3, note="<i>")
    verdict = rules.Verdict(HOLDS, "Because.", [hostile])
    text = page([Judged(claim, verdict)], CITED, draws=10)
    assert "<code>&lt;script&gt;</code> on &lt;b&gt;" in text
    assert "&lt;i&gt;" in text
    assert "0.40 to 0.60" in text


def test_the_two_parts_of_a_comparison_are_what_their_subsets_are():
    evidence = Evidence(Bench(), draws=20)
    metric = ("bleu", "source")
    gap = evidence.across(metric, "contrast", "contrast", "contrast@tied")
    both = [evidence.agreement(name, metric) for name in ("contrast", "contrast@tied")]
    assert gap.value == pytest.approx(both[0].value - both[1].value, abs=1e-12)
    assert gap.low > 0


def test_a_metric_minus_itself_is_nothing():
    metric = ("bleu", "source")
    gap = Evidence(Bench(), draws=20).gap("contrast", metric, metric)
    assert (gap.value, gap.low, gap.high) == (0, 0, 0)


def test_a_turned_distance_has_the_opposite_sign():
    evidence = Evidence(Bench(), draws=20)
    as_is, turned = (evidence.agreement("contrast", (n, "source")) for n in ("ter", "-ter"))
    assert turned.value == pytest.approx(-as_is.value)


@needs("lai")
def test_the_agreement_of_the_slots_is_the_one_of_the_ledger():
    evidence = Evidence(Bench(), draws=20)
    printed = {cell.cell: cell.value for cell in cells()}
    for direction in ("I2F", "F2I"):
        ours = evidence.slots("lai@lai2023", "style", direction)
        key = f"lai2023.t2.iaa.dataset.{direction.lower()}"
        assert 100 * ours.value == pytest.approx(printed[key], abs=0.1)


# ---------------------------------------------------------------------- the likelihood method


class Told:
    """Evidence that has all data and answers every question with the same numbers."""

    def __init__(self, *missing: str):
        self.missing, self.asked = missing, []

    def lacks(self, *names):
        return set(names) & set(self.missing)

    def agreement(self, data, metric):
        self.asked.append((data, *metric))
        return finding(0.1, 0.3)._replace(note="sources drawn")

    def published(self, key, what):
        return Finding(what, 0.5, note=key, published=True)


ABOUT_LIKELIHOOD = [one for one in pauli2025.CLAIMS if "likelihood" in one.text]


@pytest.mark.parametrize("claim", ABOUT_LIKELIHOOD, ids=lambda claim: claim.key)
@pytest.mark.parametrize("here", ["nothing", "embedded", "everything"])
def test_the_embedded_model_decides_no_claim_and_is_marked(claim, here, monkeypatch):
    names = {"nothing": [], "embedded": ["embedded"], "everything": ["embedded", "3b", "8b"]}[here]
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: model.name in names)
    told = Told()
    verdict = claim.check(told)
    assert verdict.verdict == OPEN
    marked = [one for one in verdict.findings if "demonstration" in one.note]
    assert len(marked) == (here != "nothing")
    assert ("counts neither for the claim nor against it" in verdict.why) == bool(marked)
    assert ("likelihood" in {one[1] for one in told.asked}) == bool(marked)
    published = {one.note for one in verdict.findings if one.published}
    for name in ("3b", "8b"):
        computed = ("pauli", f"likelihood:{name}+released", "source") in told.asked
        assert computed == (here == "everything")
        assert (f"pauli2025.t5.likelihood-{name}.constructed-all" in published) != computed


@pytest.mark.parametrize("claim", ABOUT_LIKELIHOOD, ids=lambda claim: claim.key)
def test_without_the_ratings_no_model_is_asked(claim, monkeypatch):
    monkeypatch.setattr(pauli2025.hub, "here", lambda model: True)
    told = Told("pauli")
    verdict = claim.check(told)
    assert told.asked == []
    assert all(one.published for one in verdict.findings)


def test_there_are_claims_about_the_likelihood_method():
    assert [one.key for one in ABOUT_LIKELIHOOD] == [
        "pauli2025.style-aware",
        "pauli2025.small-models",
    ]


# ---------------------------------------------------------------------- combinations of metrics


class Combined(Told):
    """Evidence whose combinations have these intervals, on each data set both hybrids."""

    def __init__(self, intervals: dict[str, list[tuple[float, float]]], *missing: str):
        super().__init__(*missing)
        self.intervals = intervals

    def lacks(self, *names):
        missing = set(names) & set(self.missing)
        return rules.Verdict(OPEN, f"missing: {', '.join(sorted(missing))}.") if missing else None

    def combined(self, data, metrics, what):
        self.asked.append((data, *metrics))
        return [finding(*one)._replace(what=f"{data}, {what}") for one in self.intervals[data]]


ABOVE, BELOW, BOTH = (0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01)
STYLE = (mukherjee2025.SENTIMENT, mukherjee2025.FORMALITY, mukherjee2025.RELEASED)
[ENSEMBLES] = [one for one in mukherjee2025.CLAIMS if one.key.endswith("ensembles")]
#: intervals on the three sets of style transfer, on simplification, verdict, part of the sentence
COMBINED = {
    "all above": ([ABOVE] * 3, ABOVE, HOLDS, "Of 6 intervals 6 above zero, 0 below, 0 on both"),
    "simplification does not count": ([ABOVE] * 3, BELOW, HOLDS, "0 above zero, 4 below, 0 on"),
    "one too wide": ([ABOVE, BOTH, ABOVE], ABOVE, OPEN, "4 above zero, 0 below, 2 on both sides"),
    "one below": ([ABOVE, BELOW, BOTH], ABOVE, FAILS, "2 above zero, 2 below, 2 on both sides"),
}


def test_sides_are_counted_by_whole_intervals():
    found = [finding(*one) for one in (ABOVE, ABOVE, BELOW, BOTH, (0.0, 1.0), (-1.0, 0.0))]
    assert rules.sides(found) == "2 above zero, 1 below, 3 on both sides"


@pytest.mark.parametrize(("style", "other", "verdict", "said"), COMBINED.values(), ids=COMBINED)
def test_combinations_are_judged_on_all_public_ratings_of_style_transfer(
    style, other, verdict, said
):
    sets = dict(zip(STYLE, style, strict=True)) | dict.fromkeys(mukherjee2025.SIMPLIFICATION, other)
    told = Combined({name: [one, one] for name, one in sets.items()})
    found = ENSEMBLES.check(told)
    assert found.verdict == verdict
    assert said in found.why
    assert [one[0] for one in told.asked] == list(sets)
    assert [one.published for one in found.findings] == [False] * 10 + [True] * 4


@pytest.mark.parametrize("name", STYLE)
def test_without_one_of_the_sets_nothing_is_combined(name):
    told = Combined({}, name)
    found = ENSEMBLES.check(told)
    assert (found.verdict, told.asked) == (OPEN, [])
    assert found.why.endswith(f"missing: {name}.")
    assert all(one.published for one in found.findings)


def test_without_simplification_it_is_not_spoken_of():
    sets = {name: [ABOVE, ABOVE] for name in STYLE}
    found = ENSEMBLES.check(Combined(sets, *mukherjee2025.SIMPLIFICATION))
    assert found.verdict == HOLDS
    assert "implification" not in found.why


def test_no_model_that_comes_with_a_package_decides_about_combinations():
    from tstmeta import metrics

    assert set(mukherjee2025.WORDS) <= set(metrics.families()["lexical"])
    assert all(name.startswith("released:") for name in mukherjee2025.ALL_RELEASED)
    assert "released:chatgpt" not in mukherjee2025.ALL_RELEASED


@pytest.mark.parametrize("released", [False, True])
def test_a_combination_is_what_its_chapter_shows(released, tmp_path):
    data = pairs_of_rewrites()
    metrics = ["bleu", "chrf", "pinc"]
    table = scoring.score(data, metrics, bases=["source"], store=tmp_path, progress=False)
    if released:
        table["metric"] = metrics = [f"released:{name}" for name in table["metric"]]
        other = table.assign(basis="reference", value=0.0)  # must not be taken
        data = replace(data, scores=pd.concat([table, other], ignore_index=True))
    bench = Bench(tmp_path)
    bench._datasets[data.name] = data
    evidence = Evidence(bench, draws=30, seed=3)
    found = evidence.combined(data.name, tuple(dict.fromkeys(metrics)), "three")
    shown = hybrids.compare(data, table, "content", hybrids.Settings(seed=3), draws=30, seed=3).rows
    shown = shown[shown["fitted"] == "other sources"].set_index("name")
    assert [one.what.partition(" ")[0] for one in found] == ["Hybrid-Simulation", "Hybrid-Learned"]
    for one in found:
        row = shown.loc[one.what.partition(" ")[0]]
        assert one[1:5] == (row["more"], row["more_low"], row["more_high"], row["n"])
        assert one.low <= one.value <= one.high


def pairs_of_rewrites():
    """Eleven sources with three rewrites each: a copy, one changed word, nothing in common."""
    nouns = ["tea", "soup", "bread", "rain", "snow", "wind", "cat", "dog", "bird", "boat", "road"]
    made = [
        (noun, kind, f"we saw the {noun} today", output, rating)
        for noun in nouns
        for kind, output, rating in (
            ("same", f"we saw the {noun} today", 5.0),
            ("near", f"we saw a {noun} today", 4.0),
            ("far", "nobody was there", 1.0),
        )
    ]
    ids = [f"{noun}-{kind}" for noun, kind, *_ in made]
    items = items_table(
        "tiny",
        item_id=ids,
        source_id=[one[0] for one in made],
        system=[one[1] for one in made],
        source=[one[2] for one in made],
        output=[one[3] for one in made],
    )
    ratings = ratings_table("tiny", ids, {("content", "r1"): [one[4] for one in made]})
    card = Card("tiny", "tiny", {"scale": {"content": [1, 5]}})
    return Dataset.of("tiny", items, card, ratings=ratings)


# -------------------------------------------------------------------- what public ratings show


class Public(Combined):
    """Evidence that knows which metric is best on which set, and all gaps alike."""

    def __init__(self, best: dict[str, str], gap: tuple[float, float], *missing: str):
        super().__init__({}, *missing)
        self.firsts, self.of_gap = best, gap

    def best(self, data, metrics):
        return next(one for one in metrics if one[0] == self.firsts[data])

    def gap(self, data, first, second):
        return finding(*self.of_gap)._replace(what=f"{data}: {first[0]} minus {second[0]}")

    def best_gap(self, data, own, others, **setting):
        assert setting == {"statistic": "pearson"}
        return finding(*self.of_gap)._replace(what=f"{data}: {own[0]} minus the best")


OTHERS = [one for one in mukherjee2025.CLAIMS if one is not ENSEMBLES]


@pytest.mark.parametrize("claim", OTHERS, ids=lambda claim: claim.key)
@pytest.mark.parametrize("gap", [ABOVE, BELOW, BOTH])
def test_what_hangs_on_ratings_that_are_not_public_stays_open_whatever_public_ones_show(claim, gap):
    first, second = mukherjee2025.SENTIMENT, mukherjee2025.FORMALITY
    found = claim.check(Public({first: "chrf", second: "meteor"}, gap))
    assert found.verdict == OPEN
    count = sum(not one.published for one in found.findings)
    places = [str(count * (gap is one)) for one in (ABOVE, BELOW, BOTH)]
    assert "{} above zero, {} below, {} on both sides".format(*places) in found.why


@pytest.mark.parametrize("claim", OTHERS, ids=lambda claim: claim.key)
def test_without_public_ratings_only_what_is_printed_is_shown(claim):
    found = claim.check(Public({}, ABOVE, *STYLE))
    assert all(one.published for one in found.findings)
    assert "above zero" not in found.why


def test_each_first_place_is_held_against_the_other_on_its_own_set():
    first, second = mukherjee2025.SENTIMENT, mukherjee2025.FORMALITY
    [claim] = [one for one in OTHERS if one.key.endswith("no-universal")]
    found = claim.check(Public({first: "chrf", second: "meteor"}, ABOVE))
    assert [one.what for one in found.findings if not one.published] == [
        f"{first}: chrf minus meteor",
        f"{second}: meteor minus chrf",
    ]
    same = claim.check(Public({first: "bleu", second: "bleu"}, ABOVE))
    assert "`bleu` comes first on both public sets" in same.why
    assert all(one.published for one in same.findings)


def test_the_best_metric_is_the_one_that_agrees_most():
    evidence = Evidence(Bench(), draws=20)
    metrics = [("pinc", "source"), ("-pinc", "source"), ("bleu", "source")]
    values = [evidence.agreement("contrast", one).value for one in metrics]
    assert evidence.best("contrast", metrics) == metrics[values.index(max(values))]
