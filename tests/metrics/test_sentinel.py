"""Sentinels: what they know and, above all, what they do not."""

import pytest

from tests.metrics import score, value
from tstmeta.metrics import registry
from tstmeta.schema import Status


@pytest.mark.parametrize(
    ("name", "against", "output", "expected"),
    [
        *(("constant", ["a"], "b", 0), ("output-only", [""], " a  b\n", 2)),
        *(("source-only", [" a  b\n"], "", 2), ("length-ratio", [""], "a b", 2)),
        *(("length-ratio", ["a b"], "", 0), ("length-ratio", ["a b"], "a b c", 1.5)),
        ("length-ratio", ["a", "a b c d e"], "a b c", 3),  # both two away: the shorter counts
        *(("copy-rate", [""], "a", 0), ("copy-rate", ["a a b c"], "a x", 0.25)),
        *(("copy-rate", ["a b"], "b a a a", 1), ("copy-rate", ["x y", "a x"], "a b c", 0.5)),
    ],
)
def test_the_value_worked_out_by_hand(name, against, output, expected):
    result = score(name, output, *against)
    assert (result.value, result.status) == (expected, Status.OK)


def test_a_draw_is_pinned():
    assert value("random", "output", "source") == 0.8561997786468539


def test_seeds_give_other_draws_and_other_signatures():
    names = ["random", "random:1", "random:-1", "random:12345678901234567890"]
    assert len({value(name, "output", "source") for name in names}) == len(names)
    assert "|seed:-1" in str(registry.get("random:-1").signature("source"))
