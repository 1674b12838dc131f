"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""

from .agreement import Alpha, alpha
from .correlation import STATISTICS, Correlation, kendall, pearson, spearman
from .levels import by_group_means, grouped, means, pairwise_accuracy, pooled

__all__ = [
    "STATISTICS",
    "Alpha",
    "Correlation",
    "alpha",
    "by_group_means",
    "grouped",
    "kendall",
    "means",
    "pairwise_accuracy",
    "pearson",
    "pooled",
    "spearman",
]
