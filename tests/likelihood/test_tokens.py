"""From probability to metric: the two equations, which columns count, rounding, ablations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tstmeta.likelihood.instructions import TASKS
from tstmeta.likelihood.tokens import VARIANTS, Variant, _rounded, content, explained_by, style
from tstmeta.schema import TstmetaError

matrices = arrays.arrays(
    np.float32,
    st.tuples(st.just(3), st.integers(1, 12)),
    elements=st.floats(-60, 0, width=32),
)
NAN = math.nan
#: by hand: probabilities of three tokens under style, paraphrase, repeat
P = np.array([[0.5, 0.2, 0.1], [0.25, 0.4, 0.1], [0.125, 0.1, 0.8]])


def test_both_equations_by_hand():
    assert content(np.log(P)) == pytest.approx((math.log(0.5) + math.log(0.4) + math.log(0.8)) / 3)
    assert style(np.log(P)) == pytest.approx((0.25 - 0.2 - 0.7) / 3)
    assert explained_by(np.log(P)) == ["style", "paraphrase", "repeat"]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (["style"], (0.5, 0.2, 0.1)),
        (["paraphrase"], (0.25, 0.4, 0.1)),
        (["repeat"], (0.125, 0.1, 0.8)),
        (["style", "paraphrase"], (0.5, 0.4, 0.1)),
        (["repeat", "style"], (0.5, 0.2, 0.8)),
    ],
)
def test_content_without_an_instruction(tasks, expected):
    assert content(np.log(P), tasks) == pytest.approx(np.log(expected).mean())


@pytest.mark.parametrize(
    ("against", "expected"),
    [(["paraphrase"], (0.25, -0.2, 0.0)), (["repeat"], (0.375, 0.1, -0.7))],
)
def test_style_against_one_instruction(against, expected):
    assert style(np.log(P), against) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["style", "translate"], "no instruction is called 'translate'; use some of style, para"),
        ([], "no instruction is named; use some of style, paraphrase, repeat"),
    ],
)
def test_an_unknown_instruction_is_refused(tasks, message):
    for function in (content, style):
        with pytest.raises(TstmetaError, match=message):
            function(np.log(P), tasks)


@given(matrices)
def test_bounds(lp):
    assert content(lp) <= 0
    assert -1 <= style(lp) <= 1
    assert content(np.zeros_like(lp)) == 0
    assert content(lp) >= float(lp.min()) - 1e-9


@given(matrices, st.sampled_from(TASKS))
def test_one_more_instruction_never_lowers_content_nor_raises_style(lp, task):
    rest = [one for one in TASKS if one != task]
    assert content(lp) >= content(lp, rest)
    assert content(lp, rest) >= content(lp, rest[:1])
    assert style(lp) <= style(lp, ["repeat"])
    assert style(lp) <= style(lp, ["paraphrase"])


@given(matrices)
def test_neither_paraphrase_nor_repeat_is_special(lp):
    turned = lp[[0, 2, 1]]
    assert content(turned) == content(lp)
    assert style(turned) == style(lp)


@given(matrices, st.randoms())
def test_the_order_of_tokens_does_not_count(lp, random):
    order = list(range(lp.shape[1]))
    random.shuffle(order)
    assert content(lp[:, order]) == pytest.approx(content(lp), abs=1e-4)
    assert style(lp[:, order]) == pytest.approx(style(lp), abs=1e-6)


@given(arrays.arrays(np.float32, 20, elements=st.floats(-100, 0, width=32)))
def test_rounding_is_that_of_bfloat16(lp):
    expected = torch.from_numpy(np.exp(lp)).to(torch.bfloat16).double().numpy()
    # exp of a double's log gives the 8 digits of a bfloat16 back
    np.testing.assert_allclose(np.exp(_rounded(lp)), expected, rtol=1e-12)


@pytest.mark.parametrize("p", [0.0, 2.0**-133, 1 - 2.0**-9, 1 - 2.0**-8, 1 + 0.0, 0.1, 0.5])
def test_rounding_at_the_edges(p):
    with np.errstate(divide="ignore"):
        lp = np.log(np.array([p], dtype=np.float32))
    expected = torch.from_numpy(np.exp(lp)).to(torch.bfloat16).double().numpy()
    # exp of a double's log gives the 8 digits of a bfloat16 back
    np.testing.assert_allclose(np.exp(_rounded(lp)), expected, rtol=1e-12)


def test_rounding_in_the_middle_between_two_goes_to_the_even_one():
    middles = (np.arange(128, 256) + 0.5) / 256
    lp = np.log(middles)  # float64: its exp, as float32, is the middle again
    exact = np.exp(lp).astype(np.float32)
    assert (exact == middles).all()
    expected = torch.from_numpy(exact).to(torch.bfloat16).double().numpy()
    # exp of a double's log gives the 8 digits of a bfloat16 back
    np.testing.assert_allclose(np.exp(_rounded(lp)), expected, rtol=1e-12)


# ------------------------------------------------------------------------------------- columns

LP = np.array([[-1.0, -2.0, -3.0]] * 3)  # two tokens and the end of the turn
CUT = np.array([[-1.0, -2.0, NAN]] * 3)
ONE = np.array([[-1.0, -3.0]] * 3)
NONE = np.array([[-3.0]] * 3)


@pytest.mark.parametrize(
    ("skip", "end", "lp", "kept"),
    [
        (False, False, LP, [-1, -2]),
        (True, False, LP, [-2]),
        (False, True, LP, [-1, -2, -3]),
        (True, True, LP, [-2, -3]),
        (False, True, CUT, [-1, -2]),
        (True, True, CUT, [-2]),
        (False, False, ONE, [-1]),
        (True, False, ONE, []),
        (True, True, ONE, [-3]),
        (False, False, NONE, []),
        (False, True, NONE, [-3]),
        (True, True, NONE, []),
    ],
)
def test_which_columns_count(skip, end, lp, kept):
    found = Variant("mine", "", skip_first=skip, end_of_turn=end).columns(lp)
    np.testing.assert_array_equal(found, [kept] * 3)


def test_equation_takes_every_token_and_released_the_program_s():
    np.testing.assert_array_equal(VARIANTS["equation"].columns(LP), LP[:, :2])
    np.testing.assert_array_equal(VARIANTS["released"].columns(LP), _rounded(LP[:, 1:]))


def test_columns_leave_what_they_are_given_as_it_is():
    before = LP.copy()
    VARIANTS["released"].columns(LP)[:] = 7
    VARIANTS["equation"].columns(LP)[:] = 7
    np.testing.assert_array_equal(LP, before)
