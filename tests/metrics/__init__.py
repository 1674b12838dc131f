"""What the tests of several metrics share."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from tstmeta.metrics import Metric, Request, Score, registry

#: Words that hurt: emoji, right-to-left, combining marks, joiners, numbers, marks, look-alikes.
WORDS = (
    *("the", "The", "cat", "cats", "running", "ran", "good", "great", "don't", "a", "1", "3.5"),
    *("😀", "👩‍👩‍👧", "שלום", "مرحبا", "नमस्ते", "বাংলা", "e\u0301te\u0301", "été"),
    *("-", ".", "!", '"so"'),
)
#: Texts that are not blank.
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join) | st.text(
    min_size=1, max_size=30
).filter(lambda text: text.strip() != "")


@cache
def metric(name: str) -> Metric:
    """One metric of each name for all tests."""
    return registry.get(name)


def item(output: str, *against: str, style: str = "", language: str = "en") -> Request:
    """A rewrite of the first text that it is compared with."""
    return Request(output, against, against[0] if against else "", style, language)


def scores(scorer: Metric, *requests: Request) -> list[Score]:
    """The scores of rewrites."""
    return list(scorer.score(requests))


def single(scorer: Metric, output: str, *against: str, **words: str) -> Score:
    """The score of one output."""
    [result] = scores(scorer, item(output, *against, **words))
    return result


def scored(scorer: Metric, *pairs: tuple[str, str]) -> list[Score]:
    """The scores of pairs of a text and an output."""
    return scores(scorer, *(item(output, text) for text, output in pairs))


def values(scorer: Metric, pairs: list[tuple[str, str]]) -> np.ndarray:
    """The values of pairs of a text and an output."""
    return np.array([each.value for each in scored(scorer, *pairs)])


def transport(costs: np.ndarray, masses: Sequence[float], others: Sequence[float]) -> float:
    """The least cost [n, m] of moving masses [n] to where others [m] are, by a linear program."""
    leave = np.kron(np.eye(len(masses)), np.ones(len(others)))
    arrive = np.kron(np.ones(len(masses)), np.eye(len(others)))
    flows = np.vstack([leave, arrive])
    return float(linprog(np.ravel(costs), A_eq=flows, b_eq=[*masses, *others]).fun)


def score(name: str, output: str, *against: str) -> Score:
    """The score of one output against one or more texts."""
    return single(metric(name), output, *against)


def value(name: str, output: str, *against: str) -> float:
    """The value of one output against one or more texts."""
    return score(name, output, *against).value
