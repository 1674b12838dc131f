"""From probability to metric: the two equations, which columns count, rounding, ablations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tstmeta.likelihood.instructions import TASKS
from tstmeta.likelihood.tokens import Variant, content, style
from tstmeta.schema import TstmetaError

matrices = arrays.arrays(
    np.float32,
    st.tuples(st.just(3), st.integers(1, 12)),
    elements=st.floats(-60, 0, width=32),
)
NAN = math.nan
#: by hand: probabilities of three tokens under style, paraphrase, repeat
P = np.array([[0.5, 0.2, 0.1], [0.25, 0.4, 0.1], [0.125, 0.1, 0.8]])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (content(np.log(P)), np.log([0.5, 0.4, 0.8])),
        (content(np.log(P), ["style"]), np.log([0.5, 0.2, 0.1])),
        (content(np.log(P), ["repeat", "style"]), np.log([0.5, 0.2, 0.8])),
        (style(np.log(P)), [0.25, -0.2, -0.7]),
        (style(np.log(P), ["paraphrase"]), [0.25, -0.2, 0.0]),
        (style(np.log(P), ["repeat"]), [0.375, 0.1, -0.7]),
    ],
)
def test_both_equations_and_their_ablations_by_hand(value, expected):
    assert value == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("tasks", [["style", "translate"], []])
def test_an_unknown_instruction_is_refused(tasks):
    with pytest.raises(TstmetaError, match="use some of style, paraphrase, repeat"):
        content(np.log(P), tasks)


@given(matrices)
def test_bounds(lp):
    assert content(lp) <= 0
    assert -1 <= style(lp) <= 1
    assert content(np.zeros_like(lp)) == 0
    assert content(lp) >= float(lp.min()) - 1e-9


@given(matrices, st.sampled_from(TASKS))
def test_one_more_instruction_never_lowers_content_nor_raises_style(lp, task):
    rest = [other for other in TASKS if other != task]
    assert content(lp) >= content(lp, rest) >= content(lp, rest[:1])
    assert style(lp) <= min(style(lp, ["repeat"]), style(lp, ["paraphrase"]))


@given(arrays.arrays(np.float32, 20, elements=st.floats(-100, 0, width=32)))
@example(np.log(np.float32([1e-45, 2.0**-133, 1 - 2.0**-9, 1 - 2.0**-8, 1.0, 0.1, 0.5])))
@example(np.log((np.arange(128, 256) + 0.5) / 256))  # in the middle between two: to the even one
def test_rounding_is_that_of_bfloat16(lp):
    expected = torch.from_numpy(np.exp(lp).astype(np.float32)).to(torch.bfloat16).double().numpy()
    columns = Variant("mine", rounded=True, end_of_turn=True).columns(lp[None])
    # exp of a double's log gives the 8 digits of a bfloat16 back
    np.testing.assert_allclose(np.exp(columns[0]), expected, rtol=1e-12)


LP = np.array([[-1.0, -2.0, -3.0]] * 3)  # two tokens and the end of the turn
CUT = np.array([[-1.0, -2.0, NAN]] * 3)
SINGLE = np.array([[-1.0, -3.0]] * 3)
NONE = np.array([[-3.0]] * 3)


@pytest.mark.parametrize(
    ("skip", "end", "lp", "wanted"),
    [
        (False, False, LP, [-1, -2]),
        (True, True, LP, [-2, -3]),
        (True, True, CUT, [-2]),
        (True, False, SINGLE, []),
        (True, True, NONE, []),
    ],
)
def test_which_columns_count(skip, end, lp, wanted):
    columns = Variant("mine", skip_first=skip, end_of_turn=end).columns(lp)
    np.testing.assert_array_equal(columns, [wanted] * 3)
