"""From probability to metric: the two equations, which columns count, rounding."""

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tstmeta.likelihood.tokens import columns, content, every_column, style

#: by hand: probabilities of three tokens under style, paraphrase, repeat
P = np.array([[0.5, 0.2, 0.1], [0.25, 0.4, 0.1], [0.125, 0.1, 0.8]])


def test_both_equations_by_hand():
    assert content(np.log(P)) == pytest.approx(np.mean(np.log([0.5, 0.4, 0.8])))
    assert style(np.log(P)) == pytest.approx(np.mean([0.25, -0.2, -0.7]))
    long = np.float32([[-0.1], [-0.2], [-0.3]]).repeat(9999, axis=1)  # in doubles, or 1e-6 is lost
    assert content(long) == pytest.approx(float(long[0, 0]), rel=1e-12)
    wanted = np.exp(float(long[0, 0])) - np.exp(float(long[1, 0]))
    assert style(long) == pytest.approx(wanted, rel=1e-12)


@given(arrays.arrays(np.float32, 20, elements=st.floats(-100, 0, width=32)))
@example(np.log(np.float32([1e-45, 2.0**-133, 1 - 2.0**-9, 1 - 2.0**-8, 1.0, 0.1, 0.5])))
@example(np.log((np.arange(128, 256) + 0.5) / 256))  # in the middle between two: to the even one
def test_rounding_is_that_of_bfloat16(lp):
    expected = torch.from_numpy(np.exp(lp).astype(np.float32)).to(torch.bfloat16).double().numpy()
    # exp of a double's log gives the 8 digits of a bfloat16 back
    np.testing.assert_allclose(np.exp(every_column(lp[None], True)[0]), expected, rtol=1e-12)
    np.testing.assert_array_equal(every_column(lp[None]), lp[None])


LP = np.array([[-1.0, -2.0, -3.0]] * 3)  # two tokens and the end of the turn
CUT = np.array([[-1.0, -2.0, np.nan]] * 3)
NONE = np.array([[-3.0]] * 3)


@pytest.mark.parametrize(
    ("released", "lp", "wanted"),
    [
        *((False, LP, [-1, -2]), (True, LP, [-2, -3])),
        *((False, CUT, [-1, -2]), (True, CUT, [-2]), (True, NONE, [])),
    ],
)
def test_which_columns_count(released, lp, wanted):
    np.testing.assert_allclose(columns(lp, *[True] * released), [wanted] * 3, atol=released / 128)
