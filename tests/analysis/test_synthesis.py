"""Effects against loops over pairs, what is pooled, and the rule of verdicts, branch by branch."""

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tstmeta import stats
from tstmeta.analysis import synthesis
from tstmeta.analysis.synthesis import HEAD
from tstmeta.analysis.verdicts import CARE, NEVER, UNKNOWN, USE, decide, other_way, recommend
from tstmeta.schema import TstmetaError

SOURCES, SYSTEMS = np.repeat(np.arange(8), 3), np.tile(["A", "B", "C"], 8)
RNG = np.random.default_rng(3)
HUMAN = RNG.integers(1, 5, 24).astype(float)
SCORES = {"bleu": RNG.integers(0, 4, 24).astype(float), "chrf": RNG.normal(size=24)}
SCORES["copy-rate"] = RNG.integers(0, 3, 24).astype(float)
HUMAN[5] = SCORES["bleu"][10] = np.nan


def pairs(basis="source"):
    """A set with ratings and scores of a few steps, two of them missing."""
    same = {"dataset": "own", "item_id": [f"i{i}" for i in range(24)], "source_id": SOURCES}
    same |= {"system": SYSTEMS, "human": HUMAN, "against": "ratings", "basis": basis}
    same |= dict.fromkeys(("task", "direction", "rater_group", "signature"), "")
    table = pd.concat(pd.DataFrame(same | {"metric": m, "score": s}) for m, s in SCORES.items())
    kind = np.where(table["metric"] == "copy-rate", "sentinel", "metric")
    return table.assign(flipped=False, kind=kind)


@pytest.fixture(scope="module")
def table():
    both = synthesis.effects(pd.concat([pairs(), pairs("reference")]), "content", draws=4000)
    return both.set_index(["metric", "basis", "against", "against_basis"])


def counted(score, of):
    """Credit and number of the separated pairs of one source."""
    rows = np.flatnonzero((of == SOURCES) & np.isfinite(HUMAN) & np.isfinite(score))
    apart = [(i, j) for i, j in combinations(rows, 2) if HUMAN[i] != HUMAN[j]]
    signs = [np.sign((HUMAN[i] - HUMAN[j]) * (score[i] - score[j])) for i, j in apart]
    return sum((sign + 1) / 2 for sign in signs), len(apart)


def accuracy(score, sources):
    credit, of = np.sum([counted(score, source) for source in sources], axis=0)
    return credit / of


@pytest.mark.parametrize("metric", SCORES)
def test_an_effect_is_the_share_of_separated_pairs_in_order_a_tie_one_half(table, metric):
    row, score = table.loc[(metric, "source", "", "")], SCORES[metric]
    assert row["value"] == pytest.approx(accuracy(score, range(8)))
    assert row["sources"] == sum(counted(score, source)[1] > 0 for source in range(8))
    assert row["pairs"] == sum(counted(SCORES["chrf"], source)[1] for source in range(8))


def test_standard_errors_are_those_of_resampled_sources_the_same_for_a_difference(table):
    rng, names = np.random.default_rng(1), ("chrf", "copy-rate")
    some = [rng.integers(0, 8, 8) for _ in range(1500)]
    drawn = np.array([[accuracy(SCORES[name], own) for name in names] for own in some])
    ends = ("", ""), (names[1], "source")
    value, gap = (table.loc[("chrf", "source", *end)] for end in ends)
    assert value["se"] == pytest.approx(drawn[:, 0].std(), rel=0.06)
    assert gap["se"] == pytest.approx((drawn[:, 0] - drawn[:, 1]).std(), rel=0.06)
    assert gap["value"] == pytest.approx(value["value"] - accuracy(SCORES[names[1]], range(8)))


def test_a_flipped_sentinel_is_one_minus_itself_and_differences_stay_on_a_side(table):
    names = "copy-rate", "copy-rate:flipped"
    plain, flipped = (table.loc[(name, "source", "", "")] for name in names)
    assert (plain["value"], plain["se"]) == pytest.approx((1 - flipped["value"], flipped["se"]))
    gaps = table.reset_index().query("against != ''")
    assert (gaps["basis"] == gaps["against_basis"]).all()
    assert (set(gaps["metric"]), len(gaps)) == ({"bleu", "chrf"}, 10)  # a sentinel stands second
    both = pd.concat([pairs()[::-1], pairs().assign(dataset="other")])  # there it comes first
    backwards = synthesis.effects(both, "content", draws=2)
    assert set(backwards["metric"][backwards["against"] != ""]) == {"bleu", "chrf"}
    assert backwards.index.is_unique


@pytest.mark.parametrize(("task", "language"), [("formality", ""), ("", "de")])
def test_a_verdict_is_of_the_table_and_the_evidence_of_a_task_and_language(task, language):
    where = "content", task, language
    evidence, table = tst.evidence("content"), tst.verdicts(None, "content", False, *where[1:])
    answer, expected = tst.verdict(*where), recommend(table, evidence, *where)
    assert (str(answer), answer.here) == (str(expected), pytest.approx(expected.here, nan_ok=True))


def test_the_level_is_the_one_asked_for_else_that_of_the_set_else_same_source():
    for name, level in [("deplain", "pooled"), ("own", "same-source")]:
        assert set(tst.effects(pairs().assign(dataset=name), draws=2)["level"]) == {level}
    table = tst.effects(pairs().assign(dataset="deplain"), level="same-source", draws=2)
    assert set(table["level"]) == {"same-source"}


def test_differences_to_a_metric_change_their_sign_where_it_stands_first(table):
    of = synthesis.against(table.reset_index(), "chrf", "source").set_index("metric")
    assert set(of.index) == {"bleu", "copy-rate", "copy-rate:flipped"}
    for name, row in of.iterrows():
        values = [table.loc[(metric, "source", "", ""), "value"] for metric in (name, "chrf")]
        assert row["value"] == pytest.approx(values[0] - values[1])


def test_sets_of_a_family_count_once_unknown_sets_are_their_own_and_other_panels_stay_out():
    values = {"wu_arase@turk": 0.5, "wu_arase@asset": 0.7, "mir": 0.8, "russe2022": np.nan}
    values |= {"mine": 0.7, "yours": 0.6, "pauli": 0.1}
    table = of("bleu", [*values.values()], se=0.02).assign(dataset=[*values])
    (row,) = tst.pool(table.drop(columns=["family", "panel"])).to_dict("records")
    assert (row["families"], row["sets"]) == (4, 5)
    alone = stats.pool([0.6, 0.8, 0.7, 0.6], [0.02**2] * 4)
    names = ("mean", "low", "high", "tau", "predict_low")
    assert [row[n] for n in names] == pytest.approx([getattr(alone, n) for n in names])
    assert row["predict_high"] == 1  # limits stay on the scale


def test_what_cannot_be_pooled_is_refused_with_what_there_is():
    with pytest.raises(TstmetaError, match="shown, not pooled"):
        tst.pool(of("bleu", [0.5]).assign(level="system"))
    with pytest.raises(TstmetaError, match="'reml' for tau; known: pm, dl"):
        tst.pool(of("bleu", [0.5]), method="reml")
    with pytest.raises(TstmetaError, match="there is of content, fluency, style"):
        tst.evidence("humour")
    with pytest.raises(TstmetaError, match="no effects"):
        tst.effects(pairs().iloc[:0])


def test_frozen_effects_are_what_is_computed_now():
    data, metrics = tst.load("lai@lai2023-systems"), ["bleu", "chrf", "cosine"]
    scores = tst.score(data, [*metrics, *tst.SENTINELS], ["source"], progress=False)
    given = tst.effects(tst.pairs(data, scores), "content", draws=2)
    frozen = tst.evidence("content", differences=True).query("dataset == @data.name")
    both = given.merge(frozen, on=["dataset", *synthesis.HEAD])
    assert {*metrics, "random", "copy-rate"} <= set(both["metric"]) | set(both["against"])
    assert both["value_x"].to_numpy() == pytest.approx(both["value_y"].to_numpy(), abs=1e-5)
    assert both["pairs_x"].tolist() == both["pairs_y"].tolist()


GOOD = {"families": 8, "low": 0.6, "high": 0.8, "predict_low": 0.55}
GOOD |= {"difference_low": 0.02, "difference_high": 0.1}
BEST = "copy-rate:flipped"
NONE, BAD = ([], [], True), ([], ["x"], True)


@pytest.mark.parametrize(
    ("change", "flips", "own", "verdict", "reason"),
    [
        ({}, NONE, 1, USE, ""),
        ({"families": 4}, NONE, 4, UNKNOWN, "4 families of sets, fewer than 5"),
        ({"families": 5}, NONE, 0, UNKNOWN, "tried on no rated set of formality in hi"),
        ({"high": 0.5, "low": 0.3}, NONE, 1, NEVER, "no better than chance"),
        ({"difference_high": -0.01}, NONE, 1, NEVER, "worse than the best sentinel"),
        ({"predict_low": 0.5}, NONE, 1, CARE, "a new set may show less than one half"),
        ({"difference_low": 0}, NONE, 1, CARE, "not surely better than the best sentinel"),
        ({"difference_low": math.nan, "difference_high": math.nan}, NONE, 1, CARE, "not surely"),
        ({}, (["mir", "alva"], [], True), 1, CARE, "worse rewrite in most pairs of mir, alva"),
        ({"predict_low": 0.4}, BAD, 1, CARE, "one half; prefers the worse rewrite in"),
        ({}, ([], [], False), 1, CARE, "no constructed set to try it on"),
    ],
)
def test_the_rule_case_by_case(change, flips, own, verdict, reason):
    given = decide(SimpleNamespace(**{**GOOD, **change}), flips, own, "formality", "hi")
    assert given[0] == verdict
    assert reason in given[1] if reason else not given[1]


def of(metric, values, kind="metric", against="", panel="pool", se=0.01):
    """Effects, a set of its own family a value; languages alternate."""
    table = pd.DataFrame({"value": values, "se": se})
    names = [f"{panel}{i}" for i in range(len(table))]
    head = ("content", "accuracy", "same-source", metric, "source", kind, against)
    table = table.assign(**dict(zip(HEAD, (*head, against and "source"), strict=True)))
    table["language"] = np.resize(["en", "ru"], len(table))
    facts = {"dataset": names, "family": names, "panel": panel, "task": "formality"}
    facts["reason"] = "constructed: by us" * (panel == "stress")
    return table.assign(**facts, year=np.arange(len(table)), outputs=[f"kind {n}" for n in names])


def test_a_set_counts_as_the_other_way_by_holm_and_a_stress_set_from_one_half_down():
    pooled = of("bleu", [0.30, 0.48, 0.7, 0.7, 0.7, 0.7])  # one-sided p of .02: not of six
    stress = of("bleu", [0.5, 0.51], panel="stress")
    assert other_way(pd.concat([pooled, stress])) == (["pool0"], ["stress0"], True)


@pytest.fixture(scope="module")
def evidence():
    """``chrf`` beats the best sentinel, a flipped one; ``ter`` is worse; ``wmd`` has few sets."""
    good, sentinel = 0.8 + 0.01 * np.arange(6), 0.6 + 0.01 * np.arange(6)
    metrics = {"chrf": good, "ter": sentinel - 0.1, "wmd": good[:4], "bleu": good}
    parts = [of(BEST, sentinel, "sentinel"), of("copy-rate", 1 - sentinel, "sentinel")]
    for name, values in metrics.items():
        gaps = values - sentinel[: len(values)]
        parts += [of(name, values), of(name, gaps, against=BEST)]
    stress = [of("bleu", [0.4, 0.9], panel="stress"), of("chrf", [0.7], panel="stress")]
    return pd.concat([*parts, *stress], ignore_index=True)


def test_verdicts_stand_best_first_beside_the_best_sentinel(evidence):
    table = tst.verdicts(evidence).set_index("metric")
    expected = {"chrf": USE, "bleu": CARE, "ter": NEVER, "wmd": UNKNOWN}
    assert [*table["verdict"].items()] == [*expected.items()]
    assert set(table["sentinel"]) == {BEST}
    chrf = table.loc["chrf"]
    assert (chrf["mean"], chrf["difference"]) == pytest.approx((0.825, 0.2), abs=1e-3)
    assert (chrf["languages"], chrf["outputs"], chrf["families"]) == ("en ru", "kind pool5", 6)
    assert (chrf["fails"], table.loc["bleu", "fails"]) == ("", "stress0")


@pytest.mark.parametrize(
    ("task", "language", "own"),
    [("formality", "", 6), ("formality", "ru", 3), ("", "r", 0), ("poetry", "en", 0)],
)
def test_a_task_or_language_without_a_set_is_unknown(evidence, task, language, own):
    chrf = tst.verdicts(evidence, task=task, language=language).set_index("metric").loc["chrf"]
    assert (chrf["own"], chrf["verdict"]) == (own, USE if own else UNKNOWN)
