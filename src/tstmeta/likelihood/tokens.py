"""From probability to metric: pure functions of a rewrite's token log-probabilities."""

import numpy as np

#: ``equation`` is Eq. 1 and 2 of Pauli et al. (2025) as they are printed: every token, the model's
#: chat template, float32.  ``released`` is what the program that came with the paper computes: the
#: first token is left out, the end of the turn is scored, the header lacks its line ends, logits
#: and probabilities are rounded to bfloat16.
VARIANTS = ("equation", "released")


def columns(logprobs: np.ndarray, released: bool = False) -> np.ndarray:
    """The columns that count, of [3, tokens + 1]; an end of turn that is NaN never does."""
    return every_column(logprobs, True)[:, 1:] if released else logprobs[:, :-1].astype(float)


def every_column(logprobs: np.ndarray, released: bool = False) -> np.ndarray:
    """All columns but a last one that is NaN, rounded as the variant rounds."""
    last = -1 if np.isnan(logprobs[:, -1]).any() else None
    scored = logprobs[:, :last].astype(float)
    return _rounded(scored) if released else scored


def content(logprobs: np.ndarray) -> float:
    """Content preservation, Pauli et al. (2025), Eq. 1: mean over tokens of log max p.

    Args:
        logprobs: [3, n], natural logarithms, rows as in :data:`.instructions.TASKS`, n >= 1.

    Returns:
        A number <= 0; 0 = every token was certain.  Higher is better.
    """
    return float(np.asarray(logprobs, dtype=float).max(0).mean())


def style(logprobs: np.ndarray) -> float:
    """Style strength, Pauli et al. (2025), Eq. 2: mean of p_style - max(p_paraphrase, p_repeat).

    Returns:
        A number in [-1, 1]; > 0 = the tokens are likelier under the target style.
    """
    p = np.exp(np.asarray(logprobs, dtype=float))
    return float((p[0] - p[1:].max(0)).mean())


def _rounded(logprobs: np.ndarray) -> np.ndarray:
    """log of probabilities rounded to bfloat16 (nearest, ties to even)."""
    bits = np.exp(logprobs).astype(np.float32).view(np.uint32)
    bits = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    with np.errstate(divide="ignore"):  # a probability of 0 is a logarithm of minus infinity
        return np.log(bits.view(np.float32).astype(float))
