"""The rule, branch by branch, and verdicts on evidence that was made for it."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tstmeta.analysis.synthesis import HEAD
from tstmeta.analysis.verdicts import CARE, NEVER, UNKNOWN, USE, decide, other_way

GOOD = {"families": 8, "low": 0.6, "high": 0.8, "predict_low": 0.55}
GOOD |= {"difference_low": 0.02, "difference_high": 0.1}
BEST = "copy-rate:flipped"
NONE, BAD = ([], [], True), ([], ["x"], True)


@pytest.mark.parametrize(
    ("change", "flips", "own", "verdict", "reason"),
    [
        ({}, NONE, 1, USE, ""),
        ({"families": 4}, NONE, 4, UNKNOWN, "4 families of sets, fewer than 5"),
        ({"families": 5}, NONE, 0, UNKNOWN, "no rated set of formality in hi"),
        ({"high": 0.5, "low": 0.3}, NONE, 1, NEVER, "no better than chance"),
        ({"difference_high": -0.01}, NONE, 1, NEVER, "worse than the best sentinel"),
        ({"predict_low": 0.5}, NONE, 1, CARE, "a new set may show less than one half"),
        ({"difference_low": 0}, NONE, 1, CARE, "not surely better than the best sentinel"),
        ({"difference_low": math.nan, "difference_high": math.nan}, NONE, 1, CARE, "not surely"),
        ({}, (["mir", "alva"], [], True), 1, CARE, "orders pairs against people on mir, alva"),
        (
            *({"predict_low": 0.4}, BAD, 1, CARE),
            "one half; orders pairs against people on the stress panel: x",
        ),
        ({}, ([], [], False), 1, CARE, "no constructed set to try it on"),
        ({"high": 0.4, "predict_low": 0.1}, (["mir"], [], True), 1, NEVER, "no better"),
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
    head = ("content", "preference", "same-source", metric, "source", kind, against)
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
    [
        ("formality", "", 6),
        ("formality", "ru", 3),
        ("", "de", 0),
        ("", "r", 0),
        ("poetry", "en", 0),
    ],
)
def test_a_task_or_language_without_a_set_is_unknown(evidence, task, language, own):
    chrf = tst.verdicts(evidence, task=task, language=language).set_index("metric").loc["chrf"]
    assert (chrf["own"], chrf["verdict"]) == (own, USE if own else UNKNOWN)
