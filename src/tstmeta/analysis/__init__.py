"""Frames in, frames out: from scores and ratings to agreement, intervals, tests and ceilings."""

from .agreement import bootstrap, correlate, partial
from .comparison import compare, rank_sets
from .evaluation import evaluate
from .people import alpha, ceiling
