"""Claims: verdicts follow from intervals by rules, and nothing is called ours that is printed."""

import math
from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tstmeta import metrics, scoring, stats
from tstmeta.analysis.frame import pairs
from tstmeta.analysis.matrices import matrices
from tstmeta.combine import Settings, hybrid
from tstmeta.combine.folds import folds
from tstmeta.data import Card, Dataset, paths
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.ledger import Claims, Inputs, claims, evidence
from tstmeta.ledger.cells import cells
from tstmeta.ledger.evidence import Finding, Setup

rules = import_module("tstmeta.ledger.claims")  # the package has a function of that name
pytestmark = pytest.mark.xdist_group("claims")  # they are computed once
HOLDS, FAILS, OPEN = rules.HOLDS, rules.FAILS, rules.OPEN
KEYS = [claim["claim"] for claim in rules.texts()]


def claim(key: str) -> dict:
    return next(text for text in rules.texts() if text["claim"] == key)


def finding(low: float, high: float, what: str = "something", group: str = "counted") -> Finding:
    return Finding(what, (low + high) / 2, low, high, 10, group=group)


# ---------------------------------------------------------------------------------- the rules

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
    findings = [finding(*limits) for limits in intervals]
    assert (rules.above(findings, 0.3), rules.below(findings, 0.3)) == (above, below)


#: rule, intervals, verdict
OTHER_RULES = [
    ("competitive", [(-0.09, 0.2), (0.1, 0.3)], HOLDS),
    ("competitive", [(-0.09, 0.2), (-0.3, -0.01)], FAILS),
    ("competitive", [(-0.4, 0.2), (0.1, 0.3)], OPEN),  # a wide interval makes nothing competitive
    ("competitive", [(math.nan, math.nan), (0.1, 0.3)], OPEN),
    ("apart", [(0.4, 0.5), (0.1, 0.3)], HOLDS),
    ("apart", [(0.1, 0.3), (0.4, 0.5)], FAILS),
    ("apart", [(0.1, 0.4), (0.3, 0.5)], OPEN),
    ("opposite", [(-0.4, -0.3), (0.1, 0.3)], HOLDS),
    ("opposite", [(0.4, 0.5), (0.1, 0.3)], FAILS),
    ("opposite", [(-0.4, 0.1), (0.1, 0.3)], OPEN),
]


@pytest.mark.parametrize(("name", "intervals", "verdict"), OTHER_RULES)
def test_other_rules_follow_from_the_intervals_too(name, intervals, verdict):
    assert getattr(rules, name)([finding(*limits) for limits in intervals], 0.1) == verdict


def test_sides_are_counted_by_whole_intervals():
    both = [(0.01, 0.02), (0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01), (0.0, 1.0), (-1.0, 0.0)]
    assert rules.sides([finding(*limits) for limits in both]) == (
        "2 above zero, 1 below, 3 on both sides"
    )


def test_why_names_the_levels_at_which_a_judge_is_worse_or_better():
    intervals = [(-0.4, 0.2, "system level: x"), (0.1, 0.3, "sample level: x")]
    verdict, why = rules.decide(claim("lai2023.fluency"), [finding(*one) for one in intervals])
    assert verdict == OPEN
    assert why.startswith("At system level the judge may be clearly below")
    assert why.endswith("At sample level it is above.")


# ----------------------------------------------------------------------------------- the file


def test_every_claim_has_a_key_of_its_own_and_a_decision_rule_in_words():
    assert len(set(KEYS)) == len(KEYS) == 23
    for text in rules.texts():
        assert text["text"]
        assert text["decision_rule"]
        assert text["where"]
        assert text["because"][OPEN]
        assert set(text["because"]) == ({HOLDS, FAILS, OPEN} if "rule" in text else {OPEN})


@pytest.mark.parametrize("text", rules.texts(), ids=KEYS)
def test_the_file_names_only_what_there_is(text):
    for entry in rules.entries(text["evidence"]):
        assert entry["kind"] in evidence._KINDS
        asked = [entry.get(key, []) for key in ("metric", "metrics", "others", "a", "b")]
        for metric in rules.flat(asked):
            name, basis = evidence.name_and_basis(metric)
            if not name.startswith("released:") and name != "human-style":
                assert basis in metrics.get(name).bases
        for key in {entry.get("cell"), entry.get("instead")} - {None}:
            assert key in {cell.cell for cell in cells()}


def test_no_model_that_comes_with_a_package_decides_about_combinations():
    for entry in rules.entries(claim("mukherjee2025.ensembles")["evidence"]):
        names = [evidence.name_and_basis(name)[0] for name in rules.flat(entry.get("metrics", []))]
        released = [name for name in names if name.startswith("released:")]
        assert set(names) - set(released) <= set(metrics.families()["lexical"])
        assert "released:chatgpt" not in released


# --------------------------------------------------------------------------------- the frozen


def frozen(name: str) -> pd.DataFrame:
    return pd.read_csv(paths.home() / "tests" / "frozen" / f"claims.{name}.csv")


def hold(given: Claims, old: pd.DataFrame) -> None:
    """Verdicts are equal, values to 1e-9, limits to .03 or .35 of the width (other draws)."""
    before = old.drop_duplicates("claim").set_index("claim")["verdict"]
    after = given.verdicts.set_index("claim")["verdict"]
    pd.testing.assert_series_equal(after, before)
    old = old.dropna(subset="value").reset_index(drop=True)
    new = given.evidence.reset_index(drop=True)
    assert new["claim"].tolist() == old["claim"].tolist()
    assert new["published"].tolist() == old["published"].astype(bool).tolist()
    assert new["n"].tolist() == old["n"].tolist()
    neural = new["evidence"].str.contains("likelihood")  # batches move the last digits
    off = (new["value"] - old["value"]).abs()
    assert (off <= np.where(neural, 1e-6, 1e-9)).all()
    limit = np.maximum(0.03, 0.35 * (old["high"] - old["low"]))
    for end in ("low", "high"):
        assert (new[end].isna() == old[end].isna()).all()
        assert ((new[end] - old[end]).abs().fillna(0) <= limit.fillna(0)).all()


@needs("pauli", "lai", "mir", "alva", "lens")
def test_with_the_ratings_verdicts_and_numbers_are_the_frozen_ones():
    hold(claims(), frozen("real"))


@cache
def without_data(folder) -> Claims:
    return claims(draws=500)


@pytest.fixture
def bare(monkeypatch, tmp_path_factory):
    """The claims on a machine without raw data, judged once."""
    folder = tmp_path_factory.getbasetemp() / "no-raw-data"
    monkeypatch.setenv("TSTMETA_DATA", str(folder))
    monkeypatch.setattr(paths, "external", lambda: folder)
    return without_data(folder)


def test_without_the_ratings_verdicts_and_numbers_are_the_frozen_ones(bare):
    hold(bare, frozen("contrast"))


def test_without_the_ratings_a_claim_says_how_to_get_them(bare):
    why = bare.verdicts.set_index("claim")["why"]
    assert "`tstmeta data fetch mir`, `tstmeta data fetch lai`." in why["pauli2025.ranking"]
    assert why["mukherjee2025.ensembles"].endswith("cannot be seen from what is public.")


def test_printed_numbers_are_marked_and_have_no_interval(bare):
    printed = {cell.cell: cell.value for cell in cells()}
    for row in bare.evidence.to_dict("records"):
        if row["published"]:
            assert printed[row["note"]] == row["value"]
            assert math.isnan(row["low"])
            assert math.isnan(row["high"])
        else:
            assert row["low"] <= row["value"] <= row["high"]
    assert bare.evidence["published"].sum() > 20


# ------------------------------------------------------------------------------- the evidence

SMALL = Setup(Inputs(), draws=20)


def test_the_two_parts_of_a_comparison_are_what_their_subsets_are():
    [gap] = evidence.across(SMALL, "contrast", ["contrast", "contrast@tied"], "S-bleu")
    values = [
        evidence.agreement(SMALL, name, "S-bleu")[0].value for name in ("contrast", "contrast@tied")
    ]
    assert gap.value == pytest.approx(values[0] - values[1], abs=1e-12)
    assert gap.low > 0


def test_a_metric_minus_its_opposite_is_twice_itself_and_minus_itself_nothing():
    frame = SMALL.inputs.pairs("contrast", "bleu", "source")
    opposite = frame.assign(metric="opposite", score=-frame["score"])
    copy = frame.assign(metric="copy")
    job = evidence.job_of(SMALL, pd.concat([frame, opposite, copy], ignore_index=True))
    own = evidence.finding(job, "own").value
    assert evidence.finding(job, "gap", minus=1).value == pytest.approx(2 * own)
    assert evidence.finding(job, "gap", minus=2)[1:4] == pytest.approx((0, 0, 0), abs=1e-12)


def test_the_best_other_metric_is_the_one_that_agrees_most():
    others = ["S-pinc", "S-ter", "S-chrf"]
    values = [evidence.agreement(SMALL, "contrast", one)[0].value for one in others]
    [gap] = evidence.best_gap(SMALL, "contrast", "S-bleu", others)
    own = evidence.agreement(SMALL, "contrast", "S-bleu")[0].value
    assert gap.value == pytest.approx(own - max(values), abs=1e-12)
    assert evidence.label_of(others[values.index(max(values))]) in gap.evidence


def test_first_places_are_held_against_each_other_on_their_own_sets():
    sets = ["contrast", "contrast@tied"]
    rows = evidence.first_places(SMALL, sets, ["S-bleu", "human-style"])
    assert len(rows) == 2


@needs("lai")
def test_the_agreement_of_the_slots_is_the_one_of_the_ledger():
    printed = {cell.cell: cell.value for cell in cells()}
    for direction in ("I2F", "F2I"):
        [ours] = evidence.second_rater(SMALL, "lai@lai2023", "style", direction)
        key = f"lai2023.t2.iaa.dataset.{direction.lower()}"
        assert 100 * ours.value == pytest.approx(printed[key], abs=0.1)


# ---------------------------------------------------------------------- the likelihood method


ABOUT_LIKELIHOOD = ["pauli2025.style-aware", "pauli2025.small-models"]


class Everything(Inputs):
    """Has all data sets but those missing."""

    def __init__(self, *missing: str):
        super().__init__()
        self.missing = missing

    def has(self, name):
        return name not in self.missing


@pytest.mark.parametrize("key", ABOUT_LIKELIHOOD)
@pytest.mark.parametrize("here", ["nothing", "embedded", "everything"])
def test_the_embedded_model_decides_no_claim_and_is_marked(key, here, monkeypatch):
    names = {"nothing": [], "embedded": ["embedded"], "everything": ["embedded", "3b", "8b"]}[here]
    monkeypatch.setattr(rules.hub, "here", lambda model: model.name in names)
    wanted = []
    canned = lambda setup, data, metric: wanted.append(metric) or [finding(0.1, 0.3)]  # noqa: E731
    monkeypatch.setitem(evidence._KINDS, "agreement", canned)
    findings, verdict, why = rules.judge(claim(key), Setup(Everything()))
    assert verdict == OPEN
    marked = [one for one in findings if "demonstration" in one.note]
    assert len(marked) == (here != "nothing")
    assert ("counts neither for the claim nor against it" in why) == bool(marked)
    assert ("S-likelihood" in wanted) == bool(marked)
    published = {one.note for one in findings if one.published}
    for name in ("3b", "8b"):
        computed = f"S-likelihood:{name}+released" in wanted
        assert computed == (here == "everything")
        assert (f"pauli2025.t5.likelihood-{name}.constructed-all" in published) != computed


@pytest.mark.parametrize("key", ABOUT_LIKELIHOOD)
def test_without_the_ratings_no_model_is_used(key, monkeypatch):
    monkeypatch.setattr(rules.hub, "here", lambda model: True)
    findings, _, _ = rules.judge(claim(key), Setup(Everything("pauli")))
    assert all(one.published for one in findings)


# ---------------------------------------------------------------------- combinations of metrics

ABOVE, BELOW, BOTH = (0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01)
STYLE = ("mir", "lai@pauli2025-systems", "lai@lai2023")
SIMPLIFICATION = ("alva@asset", "lens@simpda_2022")
#: intervals on the three sets of style transfer, on simplification, verdict, part of the sentence
COMBINED = {
    "all above": ([ABOVE] * 3, ABOVE, HOLDS, "Of 6 intervals 6 above zero, 0 below, 0 on both"),
    "simplification does not count": ([ABOVE] * 3, BELOW, HOLDS, "0 above zero, 4 below, 0 on"),
    "one too wide": ([ABOVE, BOTH, ABOVE], ABOVE, OPEN, "4 above zero, 0 below, 2 on both sides"),
    "one below": ([ABOVE, BELOW, BOTH], ABOVE, FAILS, "2 above zero, 2 below, 2 on both sides"),
}


@pytest.fixture
def canned(monkeypatch):
    """Let hybrids have these intervals on these sets."""

    def use(intervals: dict[str, tuple[float, float]]) -> None:
        monkeypatch.setitem(
            evidence._KINDS,
            "hybrids",
            lambda setup, data, metrics, words: [finding(*intervals[data], words)] * 2,
        )

    return use


@pytest.mark.parametrize(("style", "other", "verdict", "part"), COMBINED.values(), ids=COMBINED)
def test_combinations_are_judged_on_all_public_ratings_of_style_transfer(
    style, other, verdict, part, canned
):
    canned(dict(zip(STYLE, style, strict=True)) | dict.fromkeys(SIMPLIFICATION, other))
    findings, given, why = rules.judge(claim("mukherjee2025.ensembles"), Setup(Everything()))
    assert given == verdict
    assert part in why
    assert [one.published for one in findings] == [False] * 10 + [True] * 4


@pytest.mark.parametrize("name", STYLE)
def test_without_one_of_the_sets_no_combination_counts(name, canned):
    canned(dict.fromkeys([*STYLE, *SIMPLIFICATION], ABOVE))
    findings, verdict, why = rules.judge(claim("mukherjee2025.ensembles"), Setup(Everything(name)))
    assert verdict == OPEN
    assert f"`tstmeta data fetch {name.partition('@')[0]}`" in why
    assert all(one.published for one in findings)


@pytest.mark.parametrize("released", [False, True])
def test_a_hybrid_less_the_best_single_metric_is_what_the_parts_give(released, tmp_path):
    data, names = rewrites(), ["bleu", "chrf", "pinc"]
    table = scoring.score(data, names, bases=["source"], store=tmp_path, progress=False)
    if released:
        table["metric"] = "released:" + table["metric"].astype(str)
        names = [f"released:{name}" for name in names]
        other = table.assign(basis="reference", value=0.0)  # must not be taken
        data = replace(data, scores=pd.concat([table, other], ignore_index=True))
    inputs = Inputs(tmp_path)
    inputs.add(data)
    found = evidence.hybrids(Setup(inputs, 30, 3), data.name, [f"S-{n}" for n in names], "three")
    how = Settings(seed=3)
    values = []
    for kind, settings in (
        ("simulation", how._replace(top=1)),
        ("simulation", how),
        ("learned", how),
    ):
        made = matrices(pairs(data, hybrid(data, table, "content", kind, settings).scores))
        own = stats.Setting("pearson", "within-task", folds(np.array(made.layout.sources), 5, 3))
        values.append(stats.estimate(made.human, made.metrics, own)[0])
    assert [one.value for one in found] == pytest.approx([v - values[0] for v in values[1:]])
    assert [one.evidence.partition(" ")[0] for one in found] == [
        "Hybrid-Simulation",
        "Hybrid-Learned",
    ]
    assert all(one.low <= one.value <= one.high and one.n == 33 for one in found)


def rewrites() -> Dataset:
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
    columns = list(zip(*made, strict=True))
    names = ("source_id", "system", "source", "output")
    ids = [f"{noun}-{kind}" for noun, kind, *_ in made]
    items = items_table("tiny", item_id=ids, **dict(zip(names, map(list, columns), strict=False)))
    ratings = ratings_table("tiny", ids, {("content", "r1"): list(columns[4])})
    card = Card("tiny", "tiny", {"scale": {"content": [1, 5]}})
    return Dataset.of("tiny", items, card, ratings=ratings)


# -------------------------------------------------------------------- what public ratings show

#: Claims of mukherjee2025 whose ratings are not public.
PRIVATE = ["mukherjee2025.newly-applied", "mukherjee2025.no-universal"]


@pytest.mark.parametrize("key", PRIVATE)
@pytest.mark.parametrize("limits", [ABOVE, BELOW, BOTH])
def test_what_hangs_on_private_ratings_stays_open_whatever_public_ones_show(
    key, limits, monkeypatch
):
    for kind in ("best_gap", "first_places"):
        monkeypatch.setitem(evidence._KINDS, kind, lambda setup, **_: [finding(*limits)] * 2)
    findings, verdict, why = rules.judge(claim(key), Setup(Everything()))
    assert verdict == OPEN
    count = sum(not one.published for one in findings)
    places = [str(count * (limits is one)) for one in (ABOVE, BELOW, BOTH)]
    assert "{} above zero, {} below, {} on both sides".format(*places) in why


@pytest.mark.parametrize("key", PRIVATE)
def test_without_public_ratings_only_what_is_printed_is_shown(key):
    findings, _, why = rules.judge(claim(key), Setup(Everything(*STYLE)))
    assert findings
    assert all(one.published for one in findings)
    assert "above zero" not in why
