"""Frames in, frames out: from scores and ratings to agreement, intervals, tests and ceilings."""

from .agreement import bootstrap, correlate, partial
from .comparison import compare, rank_sets
from .evaluation import evaluate
from .people import alpha, ceiling

__all__ = ["alpha", "bootstrap", "ceiling", "compare", "correlate", "evaluate"]
__all__ += ["partial", "rank_sets"]
