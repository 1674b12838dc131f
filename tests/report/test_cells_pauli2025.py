"""Table 9 of pauli2025: the tie of two systems, told and treated alike in every cell."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.helpers import needs
from tests.report.test_ledger import with_data, with_wordnet
from tstmeta.report import ledger as ledgers
from tstmeta.report.bench import Agreement, Bench
from tstmeta.report.cells import pauli2025
from tstmeta.report.published import cells

pytestmark = pytest.mark.xdist_group("ledger")  # it is computed once

#: cell, our value, the value with the tie kept
TIE = [
    ("s-bleu.mir", 40 / 66, 41 / math.sqrt(66 * 65)),
    ("s-meteor.mir", 34 / 66, 35 / math.sqrt(66 * 65)),
]


@needs("mir")
@pytest.mark.parametrize(("key", "broken", "kept"), TIE)
def test_the_tie_of_mir_is_broken_by_one_rule_and_the_exact_value_is_told(key, broken, kept):
    if "meteor" in key and not with_wordnet():
        pytest.skip("METEOR without WordNet has no synonyms and other values")
    row = with_data().loc[f"pauli2025.t9.{key}"]
    assert row["ours"] == pytest.approx(broken)
    assert row["reason"] == (
        "people rate ARAE_lambda_1 and CAAE_rho_0_1 exactly alike, but numpy.mean rounds their"
        " means 4e-16 apart, which breaks the tie against the metric;"
        f" with the tie kept the value is {kept:.3f}"
    )
    assert row["signature"].endswith("|kendall:system|data:mir|means:numpy")


@needs("mir")
def test_the_two_means_of_mir_are_equal_as_fractions():
    data = Bench().dataset("mir")
    of_six = (6 * data.means["content"]).round().groupby(data.items.set_index("item_id")["system"])
    assert of_six.sum()["ARAE_lambda_1"] == of_six.sum()["CAAE_rho_0_1"]
    assert np.abs(6 * data.means["content"] - (6 * data.means["content"]).round()).max() < 1e-9


@pytest.mark.parametrize(
    ("rounded", "scores", "said"),
    [
        ([1.0, 2.0, 2.0], [1, 2, 3], []),  # rounding keeps the tie
        ([1.0, 2.0, 2.1], [1, 2, 3], ["people rate b and c", "breaks the tie as the metric does"]),
        ([1.0, 2.0, 2.1], [1, 3, 2], ["people rate b and c", "1e-01 apart", "against the metric"]),
        ([1.5, 2.0, 2.0], [1, 3, 2], []),  # a is rated otherwise
    ],
)
def test_a_tie_is_told_where_rounding_breaks_it(rounded, scores, said):
    exact = np.array([1.0, 2.0, 2.0])
    found = pauli2025._parted(list("abc"), exact, np.array(rounded), np.array(scores))
    assert len(found) == bool(said)
    assert all(text in found[0] for text in said)


def test_without_wordnet_a_meteor_that_differs_says_why():
    class Fake:
        def has(self, name):
            return True

        def dataset(self, name):
            return SimpleNamespace(ratings=[1])

        def agreement(self, *args):
            return Agreement(0.9, 0.1, 5, "meteor|synonyms:none|scale:1")

    [one] = [one for one in cells() if one.cell == "pauli2025.t3.s-meteor.mir"]
    answer = pauli2025.recipe(one, Fake())
    assert ledgers._judge(one, answer) == (
        "differs",
        "no WordNet on this machine: METEOR matches no synonyms",
    )
