"""A judge against itself: repeated answers, and outputs that are the same text."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge import consistency
from tstmeta.schema import TstmetaError

NAN = math.nan


def rows(ratings, dimension="content", **facts) -> pd.DataFrame:
    """Ratings [items][samples] as rows of a judge."""
    made = [
        {"item_id": f"i{item}", "sample": sample, "dimension": dimension, "rating": value}
        for item, samples in enumerate(ratings)
        for sample, value in enumerate(samples)
    ]
    return pd.DataFrame(made).assign(prompt="mine", model="small", **facts)


def outputs(*texts: str, sources: str = "", styles: str = "") -> pd.DataFrame:
    """Outputs of one source, or of those named by letters."""
    table = pd.DataFrame(
        {
            "item_id": [f"i{number}" for number in range(len(texts))],
            "source_id": list(sources) or ["s"] * len(texts),
            "output": list(texts),
        }
    )
    return table.assign(style=list(styles)) if styles else table


# ------------------------------------------------------------------------------ asked again


def test_repeated_answers_become_a_matrix_in_the_order_of_the_items():
    table = rows([[5, 4], [3, NAN]])
    found = consistency.repeats(table.iloc[[2, 3, 0, 1]], "content")
    assert list(found.index) == ["i1", "i0"]
    np.testing.assert_array_equal(found.to_numpy(), [[3, NAN], [5, 4]])


def test_the_expected_rating_can_stand_in_place_of_the_chosen_one():
    table = rows([[5, 4]]).assign(expected=[4.75, 4.5])
    assert consistency.repeats(table, "content", "expected").to_numpy().tolist() == [[4.75, 4.5]]


def test_only_rows_of_the_dimension_count():
    table = pd.concat([rows([[5, 4]]), rows([[1, 1]], "style")])
    assert consistency.repeats(table, "style").to_numpy().tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (rows([[1]]), "no answer is about fluency; the rows are about content"),
        (
            pd.concat([rows([[1]], "fluency"), rows([[2]], "fluency").assign(model="large")]),
            "several of model (small, large)",
        ),
        (pd.concat([rows([[1]], "fluency")] * 2), "'i0' has the same sample twice"),
    ],
)
def test_rows_that_are_not_repeats_of_one_judge_are_refused(table, said):
    with pytest.raises(TstmetaError) as raised:
        consistency.repeats(table, "fluency")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([[3, 3], [5, 1]], (2, 2, 0.5, 2.0, 4.0, 0.0)),
        # the first item's distances are 1, 2, 1; the second has one of 0; the third none
        ([[1, 2, 3], [4, 4, NAN], [NAN, 2, NAN]], (2, 3, 0.5, 2 / 3, 2.0, 3 / 9)),
        ([[3], [4]], (0, 1, NAN, NAN, NAN, 0.0)),
        ([[NAN, NAN]], (0, 2, NAN, NAN, NAN, 1.0)),
    ],
)
def test_repeats_are_told_by_hand(ratings, expected):
    found = consistency.of_repeats(consistency.repeats(rows(ratings), "content"))
    assert found == pytest.approx(expected, nan_ok=True)


# ------------------------------------------------------------------------------ the same text


def test_the_same_text_with_two_ratings_is_found_in_its_source_alone():
    items = outputs("a", "b", "a", "a", "a", sources="sssst")
    ratings = pd.Series([10.0, 50, 30, 10, 90], index=items["item_id"])
    found = consistency.pairs(items, ratings)
    assert found[["item_a", "item_b", "gap"]].to_numpy().tolist() == [
        ["i0", "i2", 20.0],
        ["i0", "i3", 0.0],
        ["i2", "i3", -20.0],
    ]
    told = consistency.disagreement(items, ratings)
    assert (told.texts, told.pairs, told.different, told.n) == (1, 3, 2, 5)
    assert told.share == pytest.approx(2 / 3)
    assert (told.gap, told.typical, told.largest) == pytest.approx((40 / 3, 20.0, 20.0))
    # 10, 30, 10 have a mean of 50/3 and two degrees of freedom
    assert told.noise == pytest.approx(np.var([10, 30, 10], ddof=1))
    assert told.spread == pytest.approx(np.var([10, 50, 30, 10, 90], ddof=1))
    assert told.reliability == pytest.approx(1 - told.noise / told.spread)


def test_the_same_text_in_another_style_is_another_question():
    items = outputs("a", "a", styles="xy")
    assert consistency.disagreement(items, {"i0": 1, "i1": 5}).pairs == 0


def test_an_output_without_a_rating_is_no_copy():
    items = outputs("a", "a", "a")
    told = consistency.disagreement(items, {"i0": 1, "i1": NAN, "i2": 1})
    assert (told.pairs, told.different, told.reliability) == (1, 0, pytest.approx(NAN, nan_ok=True))


def test_without_copies_there_is_no_noise_to_be_seen():
    told = consistency.disagreement(outputs("a", "b"), {"i0": 1, "i1": 5})
    assert (told.texts, told.pairs, told.n) == (0, 0, 2)
    assert math.isnan(told.share)
    assert math.isnan(told.reliability)
    assert consistency.pairs(outputs("a", "b"), {"i0": 1, "i1": 5}).empty


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), min_size=2, max_size=12))
def test_pairs_and_variance_are_those_of_brute_force(drawn):
    items = outputs(*(text for text, _ in drawn))
    ratings = {f"i{place}": float(value) for place, (_, value) in enumerate(drawn)}
    told = consistency.disagreement(items, ratings)
    both = [(a, b) for (s, a), (t, b) in itertools.combinations(drawn, 2) if s == t]
    assert told.pairs == len(both)
    assert told.different == sum(a != b for a, b in both)
    if not both:
        return
    squares = freedom = 0.0
    for letter in "abc":
        own = [value for text, value in drawn if text == letter]
        if len(own) > 1:
            squares += np.var(own) * len(own)
            freedom += len(own) - 1
    assert told.noise == pytest.approx(squares / freedom)
    assert told.largest == max(abs(a - b) for a, b in both)


def test_noise_of_a_known_size_is_measured():
    rng = np.random.default_rng(3)
    texts = [f"t{n}" for n in range(400) for _ in range(2)]
    items = outputs(*texts)
    value = np.repeat(rng.normal(0, 3, 400), 2) + rng.normal(0, 2, 800)
    told = consistency.disagreement(items, dict(zip(items["item_id"], value, strict=True)))
    assert told.noise == pytest.approx(4, rel=0.15)
    assert told.reliability == pytest.approx(9 / 13, abs=0.06)
