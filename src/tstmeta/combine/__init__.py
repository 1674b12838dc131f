"""Metrics made of metrics: GM, hybrids, overall scores; some of them fitted on ratings.

Each takes a data set and a ``scores`` table and gives a ``scores`` table, which is held against
people like any other.  What is fitted is fitted on other sources than it scores.
"""

from .gm import PRINTED, gm_scores, learned_gm
from .hybrids import Settings, hybrid
from .names import combined, known
from .overall import j, overall_scores
from .parts import CombineError
