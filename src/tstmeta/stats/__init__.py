"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""

from .agreement import Alpha, alpha
from .correlation import Correlation, kendall, pearson, spearman
from .levels import means
from .matrices import LEVELS, Setting, correlate, estimate, resampled
from .resampling import Draws, Plan, draw, everything, leave_one_out
from .soft import better, difference_pearson, soft_pairwise_accuracy
from .statistic import STATISTICS, Statistic, acc_eq
from .ties import Threshold, TieCalibrated, fit_threshold, tie_calibrated

__all__ = [
    "LEVELS",
    "STATISTICS",
    "Alpha",
    "Correlation",
    "Draws",
    "Plan",
    "Setting",
    "Statistic",
    "Threshold",
    "TieCalibrated",
    "acc_eq",
    "alpha",
    "better",
    "correlate",
    "difference_pearson",
    "draw",
    "estimate",
    "everything",
    "fit_threshold",
    "kendall",
    "leave_one_out",
    "means",
    "pearson",
    "resampled",
    "soft_pairwise_accuracy",
    "spearman",
    "tie_calibrated",
]
