"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""

from .agreement import Alpha, alpha
from .correlation import Correlation, kendall, pearson, spearman
from .levels import by_group_means, grouped, means, pairwise_accuracy, pooled
from .matrices import LEVELS, Setting, correlate, estimate, resampled
from .resampling import Draws, Plan, draw, everything, leave_one_out
from .statistic import STATISTICS, Statistic, acc_eq

__all__ = [
    "LEVELS",
    "STATISTICS",
    "Alpha",
    "Correlation",
    "Draws",
    "Plan",
    "Setting",
    "Statistic",
    "acc_eq",
    "alpha",
    "by_group_means",
    "correlate",
    "draw",
    "estimate",
    "everything",
    "grouped",
    "kendall",
    "leave_one_out",
    "means",
    "pairwise_accuracy",
    "pearson",
    "pooled",
    "resampled",
    "spearman",
]
