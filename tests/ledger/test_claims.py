"""Claims: verdicts follow from intervals by rules, and nothing is called ours that is printed."""

import itertools
import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.ledger.canned import Canned
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
ABOVE, BELOW, BOTH = (0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01)


def claim(key: str) -> dict:
    return next(text for text in rules.texts() if text["claim"] == key)


def finding(low: float, high: float, what: str = "something", group: str = "counted") -> Finding:
    return Finding(what, (low + high) / 2, low, high, 10, group=group)


# ---------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    ("rule", "intervals", "verdict"),
    [
        ("above", [(0.4, 0.5), (0.31, 0.9)], HOLDS),
        ("above", [(0.4, 0.5), (0.0, 0.2)], FAILS),
        ("above", [(0.3, 0.5)], OPEN),  # the bound itself is not above
        ("above", [(math.nan, math.nan)], OPEN),
        ("below", [(-0.4, -0.1), (0.0, 0.29)], HOLDS),
        ("below", [(0.4, 0.5), (0.2, 0.6)], FAILS),
        ("competitive", [(-0.29, 0.2), (0.1, 0.3)], HOLDS),
        ("competitive", [(-0.09, 0.2), (-0.3, -0.01)], FAILS),
        ("competitive", [(-0.4, 0.2), (0.1, 0.3)], OPEN),  # a wide one makes nothing competitive
        ("competitive", [(math.nan, math.nan), (0.1, 0.3)], OPEN),
        ("apart", [(0.4, 0.5), (0.1, 0.3)], HOLDS),
        ("apart", [(0.1, 0.3), (0.4, 0.5)], FAILS),
        ("apart", [(0.1, 0.4), (0.3, 0.5)], OPEN),
        ("opposite", [(-0.4, -0.3), (0.1, 0.3)], HOLDS),
        ("opposite", [(0.4, 0.5), (0.1, 0.3)], FAILS),
        ("opposite", [(-0.4, 0.1), (0.1, 0.3)], OPEN),
        ("", [(0.4, 0.5)], OPEN),
    ],
)
def test_the_verdict_follows_from_the_intervals(rule, intervals, verdict):
    assert rules.verdict_of(rule, [finding(*limits) for limits in intervals], 0.3) == verdict


def test_why_names_the_levels_at_which_a_judge_is_worse_or_better():
    findings = [finding(-0.4, 0.2, "system level: x"), finding(0.1, 0.3, "sample level: x")]
    verdict, why = rules.decide(claim("lai2023.fluency"), findings)
    assert verdict == OPEN
    assert why.startswith("At system level the judge may be clearly below")
    assert why.endswith("At sample level it is above.")


# ----------------------------------------------------------------------------------- the file


def test_every_claim_has_a_key_of_its_own_and_a_decision_rule_in_words():
    assert len(set(KEYS)) == len(KEYS) == 23
    for text in rules.texts():
        assert all(text[key] for key in ("text", "decision_rule", "where", "because"))
        assert set(text["because"]) == ({HOLDS, FAILS, OPEN} if "rule" in text else {OPEN})


@pytest.mark.parametrize("text", rules.texts(), ids=KEYS)
def test_the_file_names_only_kinds_metrics_and_cells_that_exist(text):
    for entry in rules.entries(text["evidence"]):
        assert entry["kind"] in evidence.KINDS
        given = [entry.get(key, []) for key in ("metric", "metrics", "others", "a", "b")]
        for metric in rules.flat(given):
            name, basis = evidence.name_and_basis(metric)
            if not name.startswith("released:") and name != "human-style":
                assert basis in metrics.get(name).bases
        for key in {entry.get("cell"), entry.get("instead")} - {None}:
            assert key in {cell.cell for cell in cells()}


# --------------------------------------------------------------------------------- the frozen


def hold(given: Claims, name: str) -> None:
    """Verdicts are equal, values to 1e-9, limits to .03 or .35 of the width (other draws)."""
    old = pd.read_csv(paths.home() / "tests" / "frozen" / f"claims.{name}.csv")
    before = old.drop_duplicates("claim").set_index("claim")["verdict"]
    pd.testing.assert_series_equal(given.verdicts.set_index("claim")["verdict"], before)
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


@needs("pauli", "lai", "mir", "alva", "lens")
def test_with_the_ratings_verdicts_and_numbers_are_the_frozen_ones():
    hold(claims(), "real")


def test_without_the_ratings_verdicts_and_numbers_are_the_frozen_ones(monkeypatch, tmp_path):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "none")
    bare = claims(draws=500)
    hold(bare, "contrast")
    why = bare.verdicts.set_index("claim")["why"]
    assert "`tstmeta data fetch mir`, `tstmeta data fetch lai`." in why["pauli2025.ranking"]
    assert why["mukherjee2025.ensembles"].endswith("cannot be seen from what is public.")
    printed = {cell.cell: cell.value for cell in cells()}
    own = bare.evidence[bare.evidence["published"]]
    assert len(own) > 20
    assert own["note"].map(printed).equals(own["value"])
    assert own[["low", "high"]].isna().all(axis=None)
    computed = bare.evidence[~bare.evidence["published"]]
    assert computed["value"].between(computed["low"], computed["high"]).all()


# ------------------------------------------------------------------------------- the evidence

SMALL = Setup(Inputs(), draws=20)


def test_the_two_parts_of_a_comparison_are_what_their_subsets_are():
    [gap] = evidence.across(SMALL, "contrast", ["contrast", "contrast@tied"], "S-bleu")
    values = [
        evidence.agreement(SMALL, name, "S-bleu")[0].value for name in ("contrast", "contrast@tied")
    ]
    assert gap.value == pytest.approx(values[0] - values[1], abs=1e-12)
    assert gap.low > 0


ABOUT_LIKELIHOOD = ["pauli2025.style-aware", "pauli2025.small-models"]


@pytest.mark.parametrize("key", ABOUT_LIKELIHOOD)
@pytest.mark.parametrize("names", [[], ["embedded"], ["embedded", "3b", "8b"]])
def test_the_embedded_model_decides_no_claim_and_is_marked(key, names, monkeypatch):
    monkeypatch.setattr(rules.hub, "here", lambda model: model.name in names)
    wanted = []

    def canned(setup, data, metric):
        wanted.append(metric)
        return [finding(0.1, 0.3)]

    monkeypatch.setitem(evidence.KINDS, "agreement", canned)
    findings, verdict, why = rules.judge(claim(key), Setup(Canned()))
    assert verdict == OPEN
    marked = [row for row in findings if "demonstration" in row.note]
    assert len(marked) == bool(names)
    assert ("counts neither for the claim nor against it" in why) == bool(marked)
    assert ("S-likelihood" in wanted) == bool(marked)
    published = {row.note for row in findings if row.published}
    for name in ("3b", "8b"):
        computed = f"S-likelihood:{name}+released" in wanted
        assert computed == (name in names)
        assert (f"pauli2025.t5.likelihood-{name}.constructed-all" in published) != computed


# ---------------------------------------------------------------------- combinations of metrics

STYLE = ("mir", "lai@pauli2025-systems", "lai@lai2023")
SIMPLIFICATION = ("alva@asset", "lens@simpda_2022")


@pytest.fixture
def hybrids(monkeypatch):
    """Let hybrids have these intervals on these sets."""
    intervals: dict[str, tuple[float, float]] = {}
    kind = lambda setup, data, metrics, words: [finding(*intervals[data], words)] * 2  # noqa: E731
    monkeypatch.setitem(evidence.KINDS, "hybrids", kind)
    return intervals.update


@pytest.mark.parametrize(
    ("style", "simplification", "verdict", "part"),
    [
        ([ABOVE] * 3, ABOVE, HOLDS, "Of 6 intervals 6 above zero, 0 below, 0 on both"),
        ([ABOVE] * 3, BELOW, HOLDS, "0 above zero, 4 below, 0 on"),  # it does not count
        ([ABOVE, BOTH, ABOVE], ABOVE, OPEN, "4 above zero, 0 below, 2 on both sides"),
        ([ABOVE, BELOW, BOTH], ABOVE, FAILS, "2 above zero, 2 below, 2 on both sides"),
    ],
)
def test_combinations_are_judged_on_all_public_ratings_of_style_transfer(
    style, simplification, verdict, part, hybrids
):
    hybrids(dict(zip(STYLE, style, strict=True)) | dict.fromkeys(SIMPLIFICATION, simplification))
    findings, given, why = rules.judge(claim("mukherjee2025.ensembles"), Setup(Canned()))
    assert given == verdict
    assert part in why
    assert [row.published for row in findings] == [False] * 10 + [True] * 4


@pytest.mark.parametrize("name", STYLE)
def test_without_one_of_the_sets_no_combination_counts(name, hybrids):
    hybrids(dict.fromkeys([*STYLE, *SIMPLIFICATION], ABOVE))
    findings, verdict, why = rules.judge(claim("mukherjee2025.ensembles"), Setup(Canned(name)))
    assert verdict == OPEN
    assert f"`tstmeta data fetch {name.partition('@')[0]}`" in why
    assert all(row.published for row in findings)


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
    setup, how = Setup(inputs, 30, 3), Settings(seed=3)
    findings = evidence.hybrids(setup, data.name, [f"S-{name}" for name in names], "three")
    values = []
    kinds = [("simulation", how._replace(top=1)), ("simulation", how), ("learned", how)]
    for kind, settings in kinds:
        frame = pairs(data, hybrid(data, table, "content", kind, settings).scores)
        wide = matrices(frame)
        own = stats.Setting("pearson", "within-task", folds(np.array(wide.layout.sources), 5, 3))
        values.append(stats.estimate(wide.human, wide.metrics, own)[0])
    gains = [value - values[0] for value in values[1:]]
    assert [row.value for row in findings] == pytest.approx(gains)
    assert all(row.low <= row.value <= row.high and row.n == 33 for row in findings)


def rewrites() -> Dataset:
    """Eleven sources with three rewrites each: a copy, one changed word, nothing in common."""
    nouns = ["tea", "soup", "bread", "rain", "snow", "wind", "cat", "dog", "bird", "boat", "road"]
    outputs = {"same": "we saw the {} today", "near": "we saw a {} today", "far": "nobody came"}
    rows = [
        (f"{noun}-{system}", noun, system, f"we saw the {noun} today", output.format(noun))
        for noun, (system, output) in itertools.product(nouns, outputs.items())
    ]
    table = pd.DataFrame(rows, columns=["item_id", "source_id", "system", "source", "output"])
    items = items_table("tiny", **table.to_dict("list"))
    values = {("content", "r1"): [5.0, 4.0, 1.0] * len(nouns)}
    card = Card("tiny", "tiny", {"scale": {"content": [1, 5]}})
    return Dataset.of("tiny", items, card, ratings=ratings_table("tiny", table["item_id"], values))
