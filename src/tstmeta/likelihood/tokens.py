"""From probability to metric: pure functions of a rewrite's token log-probabilities.

No model runs again for a variant or an ablation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..schema import TstmetaError
from .instructions import TASKS


@dataclass(frozen=True)
class Variant:
    """What is scored of a rewrite.

    ``bare`` (the header) and ``rounded`` (logits in bfloat16) change what the model is asked.
    """

    name: str
    bare: bool = False
    rounded: bool = False
    skip_first: bool = False
    end_of_turn: bool = False

    def columns(self, logprobs: np.ndarray) -> np.ndarray:
        """The columns that count, of [tasks, tokens + 1]; an end of turn that is NaN never does."""
        last = None if self.end_of_turn and not np.isnan(logprobs[:, -1]).any() else -1
        columns = logprobs[:, int(self.skip_first) : last].astype(float)
        return _rounded(columns) if self.rounded else columns


#: ``equation`` is Eq. 1 and 2 of Pauli et al. (2025) as they are printed: every token, the model's
#: chat template, float32.  ``released`` is what the program that came with the paper computes: the
#: first token is left out, the end of the turn is scored, the header lacks its line ends,
#: probabilities are rounded to bfloat16.
VARIANTS = {
    "equation": Variant("equation"),
    "released": Variant("released", bare=True, rounded=True, skip_first=True, end_of_turn=True),
}


def content(logprobs: np.ndarray, tasks: Sequence[str] = TASKS) -> float:
    """Content preservation, Pauli et al. (2025), Eq. 1: mean over tokens of log max p.

    Args:
        logprobs: [3, n], natural logarithms, rows as in :data:`TASKS`, n >= 1.
        tasks: the instructions among which the maximum is taken (ablation).

    Returns:
        A number <= 0; 0 = every token was certain.  Higher is better.
    """
    return float(np.asarray(logprobs, dtype=float)[_rows(tasks)].max(0).mean())


def style(logprobs: np.ndarray, against: Sequence[str] = TASKS[1:]) -> float:
    """Style strength, Pauli et al. (2025), Eq. 2: mean of p_style - max(p_paraphrase, p_repeat).

    Args:
        logprobs: as of :func:`content`.
        against: the instructions that the style's is held against (ablation).

    Returns:
        A number in [-1, 1]; > 0 = the tokens are likelier under the target style.
    """
    p = np.exp(np.asarray(logprobs, dtype=float))
    return float((p[0] - p[_rows(against)].max(0)).mean())


def _rows(tasks: Sequence[str]) -> list[int]:
    if not tasks or not set(tasks) <= set(TASKS):
        raise TstmetaError(f"no instructions {tasks}; use some of {', '.join(TASKS)}")
    return [TASKS.index(task) for task in tasks]


def _rounded(logprobs: np.ndarray) -> np.ndarray:
    """log of probabilities rounded to bfloat16 (nearest, ties to even)."""
    bits = np.exp(logprobs).astype(np.float32).view(np.uint32)
    bits = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    with np.errstate(divide="ignore"):  # a probability of 0 is a logarithm of minus infinity
        return np.log(bits.view(np.float32).astype(float))
