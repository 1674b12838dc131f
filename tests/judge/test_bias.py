"""What shifts a judge: place, both orders, its own outputs; planted shifts must be found."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from tstmeta.judge import bias
from tstmeta.schema import TstmetaError

NAN = math.nan


def asked(sources=30, outputs=4, per_place=0.0, shuffled=True, seed=0, noise=1.0) -> pd.DataFrame:
    """Ratings with quality by system, seen by people and by a judge that adds so much a place."""
    rng = np.random.default_rng(seed)
    rows = []
    for source in range(sources):
        place = rng.permutation(outputs) if shuffled else np.arange(outputs)
        for system in range(outputs):
            quality = system + rng.normal()
            rows.append(
                {
                    "source_id": f"s{source}",
                    "system": f"k{system}",
                    "place": int(place[system]),
                    "human": quality,
                    "rating": quality + per_place * place[system] + noise * rng.normal(),
                }
            )
    return pd.DataFrame(rows)


def of_order(table, within=("source_id",), seed=1, **options):
    return bias.of_order(table, within, rng=np.random.default_rng(seed), **options)


# ----------------------------------------------------------------------------------- order


def test_a_shift_a_place_is_found_and_measured():
    found = of_order(asked(per_place=1.0))
    assert found.value == pytest.approx(1.0, abs=0.2)
    assert found.p == pytest.approx(1 / 2000)
    assert (found.n, found.groups, found.reason) == (120, 30, "")


def test_a_judge_that_does_not_look_at_the_place_is_not_accused():
    small = [of_order(asked(seed=seed, sources=12), exchanges=199).p for seed in range(60)]
    assert np.mean(np.array(small) <= 0.05) < 0.15
    assert 0.35 < np.mean(small) < 0.65


def test_people_held_fixed_take_out_what_quality_explains():
    table = asked(per_place=0.3, noise=0.3)
    with_people = of_order(table)
    without = of_order(table.drop(columns="human"))
    assert abs(with_people.value - 0.3) < 0.05
    assert with_people.p < without.p


def test_the_p_value_is_that_of_all_exchanges_of_a_small_table():
    table = pd.DataFrame(
        {
            "source_id": list("aaabbb"),
            "place": [0, 1, 2, 0, 1, 2],
            "rating": [1.0, 2.0, 4.0, 3.0, 2.0, 5.0],
        }
    )
    first, second = (np.array(side) for side in ([1.0, 2, 4], [3.0, 2, 5]))
    first, second = first - first.mean(), second - second.mean()
    sums = [
        np.dot(one, first) + np.dot(other, second)
        for one in itertools.permutations([0, 1, 2])
        for other in itertools.permutations([0, 1, 2])
    ]
    own = sums[0]
    share = np.mean([abs(value) >= abs(own) - 1e-9 for value in sums])
    found = of_order(table, exchanges=20_000)
    assert found.p == pytest.approx(share, abs=0.01)
    assert found.value == pytest.approx(own / 4)


def test_order_and_system_cannot_be_told_apart_where_places_never_change():
    found = of_order(asked(per_place=1.0, shuffled=False))
    assert math.isnan(found.value)
    assert found.reason == bias.ONE_PLACE


def test_among_copies_of_a_text_fixed_places_can_be_tested():
    table = asked(per_place=1.0, shuffled=False).assign(text=0)
    table["rating"] -= table["human"]  # the same text has the same quality
    found = of_order(table.drop(columns="human"), ("source_id", "text"))
    assert found.value == pytest.approx(1.0, abs=0.2)
    assert found.p < 0.001


def test_equal_ratings_have_no_shift_and_p_one():
    table = pd.DataFrame({"source_id": ["a"] * 3, "place": [0, 1, 2], "rating": [7.0] * 3})
    assert of_order(table)[:2] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"source_id": ["a", "b"], "place": [0, 1], "rating": [1.0, 2.0]}, "no two outputs"),
        ({"source_id": ["a", "a"], "place": [1, 1], "rating": [1.0, 2.0]}, "no two outputs"),
        ({"source_id": ["a", "a"], "place": [0, 1], "rating": [1.0, NAN]}, "no two outputs"),
        (
            {
                "source_id": ["a"] * 3,
                "place": [0, 1, 2],
                "human": [2.0, 4.0, 6.0],
                "rating": [1.0, 2.0, 1.0],
            },
            "it follows from people's ratings",
        ),
    ],
)
def test_where_nothing_can_be_exchanged_it_says_why(table, reason):
    found = of_order(pd.DataFrame(table))
    assert math.isnan(found.value)
    assert found.reason.startswith(reason)


def test_a_missing_column_is_named():
    with pytest.raises(TstmetaError, match="no column place; it has source_id, rating"):
        of_order(pd.DataFrame({"source_id": ["a"], "rating": [1.0]}))


def test_the_same_seed_gives_the_same_p():
    table = asked(per_place=0.2)
    assert of_order(table) == of_order(table)


def test_later_outputs_are_counted_higher_and_lower():
    assert bias.later(pd.DataFrame({"gap": [10.0, 0.0, -5.0, 20.0]})) == (2, 1)


# ---------------------------------------------------------------------------------- length


def test_lengths_are_words_and_their_ratio_to_the_source():
    items = pd.DataFrame(
        {"item_id": ["a", "b", "c"], "source": ["x y", "", "x"], "output": ["x y z", "q", ""]}
    )
    found = bias.lengths(items)
    assert found["words"].tolist() == [3, 1, 0]
    np.testing.assert_array_equal(found["ratio"], [1.5, NAN, 0.0])


# ------------------------------------------------------------------------------- two orders


def pair(a, b, first, second):
    """The answers about a pair in both orders; None = no answer."""
    return [(a, b, first), (b, a, second)]


def answers(*pairs) -> pd.DataFrame:
    rows = [row for one in pairs for row in one]
    return pd.DataFrame(rows, columns=["item_first", "item_second", "value"]).astype(
        {"value": float}
    )


def test_pairs_in_both_orders_are_counted_by_hand():
    table = answers(
        pair("a", "b", 1, 0),  # a both times
        pair("c", "d", 0, 1),  # d both times
        pair("e", "f", 0.5, 0.5),  # a tie both times
        pair("g", "h", 1, 1),  # the first place both times
        pair("j", "i", 1, 1),  # the same, named the other way round
        pair("k", "l", 0, 0),  # the second place both times
        pair("m", "n", 1, 0.5),  # a tie once
        pair("o", "p", 1, None),  # no answer in one order
    )
    found = bias.of_both_orders(table)
    assert found[:5] == (7, 3, 2, 1, 1)
    assert found.share == pytest.approx(4 / 7)
    assert found.p == pytest.approx(1.0)
    assert found.lost == 1


def test_a_judge_that_always_takes_the_first_is_told():
    table = answers(*(pair(f"a{n}", f"b{n}", 1, 1) for n in range(10)))
    found = bias.of_both_orders(table)
    assert (found.pairs, found.kept, found.first, found.second) == (10, 0, 10, 0)
    assert found.p == pytest.approx(2 * 0.5**10)


def test_without_pairs_nothing_is_said():
    found = bias.of_both_orders(answers(pair("a", "b", None, None)))
    assert (found.pairs, found.lost) == (0, 1)
    assert math.isnan(found.share)
    assert math.isnan(found.p)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (answers(pair("a", "b", 2, 1)), "1, 0.5 or 0, not 2"),
        (answers(pair("a", "b", 1, 0), pair("a", "b", 1, 0)), "two answers in the same order"),
    ],
)
def test_answers_that_are_none_are_refused(table, said):
    with pytest.raises(TstmetaError, match=said):
        bias.of_both_orders(table)


def test_rows_of_a_pair_prompt_become_answers():
    rows = pd.DataFrame(
        [
            # a shown first and better; then b shown first and worse: the same winner
            ("a", "b", 1, 0, 1.0),
            ("b", "a", 2, 0, 0.0),
            ("b", "a", 1, 0, 0.0),
            ("a", "b", 2, 0, 1.0),
            ("a", "b", 1, 1, 0.0),  # another sample
            ("c", "", 1, 0, 5.0),  # no pair
        ],
        columns=["item_id", "rival", "place", "sample", "rating"],
    )
    table = bias.both_orders(rows)
    assert table.to_numpy().tolist() == [["a", "b", 1.0], ["b", "a", 0.0]]
    assert bias.of_both_orders(table)[:5] == (1, 1, 0, 0, 0)


# ------------------------------------------------------------------------- its own outputs


def of_own(table, own=("k0",), seed=2, **options):
    return bias.of_own_outputs(table, own, rng=np.random.default_rng(seed), **options)


def test_what_a_judge_adds_to_its_own_outputs_is_found_though_they_are_worse():
    table = asked(sources=60, noise=0.5)
    table.loc[table["system"] == "k0", "rating"] += 1.5
    found = of_own(table)
    assert found.value == pytest.approx(1.5, abs=0.25)
    assert found.p == pytest.approx(1 / 2000)
    assert (found.n, found.groups) == (240, 60)


def test_a_fair_judge_does_not_prefer_itself():
    small = [of_own(asked(sources=15, seed=seed), exchanges=199).p for seed in range(60)]
    assert np.mean(np.array(small) <= 0.05) < 0.15
    assert 0.35 < np.mean(small) < 0.65


def test_its_value_is_the_slope_of_least_squares_with_a_level_for_each_source():
    table = asked(sources=10)
    source = pd.get_dummies(table["source_id"]).to_numpy(float)
    mine = (table["system"] == "k0").to_numpy(float)
    design = np.column_stack([mine, table["human"], source])
    by_hand = np.linalg.lstsq(design, table["rating"].to_numpy(), rcond=None)[0][0]
    assert of_own(table).value == pytest.approx(by_hand)


def test_its_p_value_is_that_of_all_exchanges_on_two_sources():
    table = pd.DataFrame(
        {
            "source_id": list("aabb"),
            "system": ["own", "other"] * 2,
            "human": [3.0, 3.0, 3.0, 3.0],
            "rating": [5.0, 4.0, 4.0, 1.0],
        }
    )
    found = of_own(table, ["own"], exchanges=4000)
    assert found.value == pytest.approx(2.0)
    assert found.p == pytest.approx(0.5, abs=0.03)  # two of four exchanges reach as far


def test_sources_without_others_do_not_count():
    table = pd.DataFrame(
        {"source_id": list("aabb"), "system": ["own"] * 4, "human": 1.0, "rating": [1.0, 2, 3, 4]}
    )
    assert of_own(table, ["own"]).reason == "no source has outputs of both kinds"
    table["system"] = ["own", "other", "own", "own"]
    assert of_own(table, ["own"])[:4:2] == (-1.0, 2)


def test_a_system_that_is_not_there_is_told():
    with pytest.raises(TstmetaError, match="no output is by gpt; systems: k0, k1, k2, k3"):
        of_own(asked(sources=3), ["gpt"])
