"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.  Two functions are called like their modules and
are imported from there: :func:`intervals.intervals` and :func:`ranks.ranks`.
"""

from .agreement import Alpha, alpha
from .alternative import AlternativeTest, alternative_annotator_test, flat_line
from .correlation import Correlation, kendall, pearson, spearman
from .intervals import Interval, Resample, difference, of_resample, of_values, resample
from .levels import means
from .matrices import LEVELS, Setting, correlate, estimate, resampled
from .multiple import benjamini_yekutieli, holm, over_pairs, significance_clusters
from .parametric import ParametricTest, fisher, williams
from .partial_correlation import partial, partials
from .permutation import PairTests, Test, all_pairs, permutation_test
from .power import Detectable, Widths, detectable_difference, width_by_items
from .ranks import rank_sets
from .raters import (
    Ceiling,
    Corrected,
    SingleRater,
    SplitHalf,
    attenuation,
    ceiling,
    single_rater,
    spearman_brown,
    split_half,
)
from .resampling import Draws, Plan, draw, everything, leave_one_out
from .soft import better, difference_pearson, soft_pairwise_accuracy
from .statistic import STATISTICS, Statistic, acc_eq
from .ties import Threshold, TieCalibrated, fit_threshold, tie_calibrated

__all__ = [
    "LEVELS",
    "STATISTICS",
    "Alpha",
    "AlternativeTest",
    "Ceiling",
    "Corrected",
    "Correlation",
    "Detectable",
    "Draws",
    "Interval",
    "PairTests",
    "ParametricTest",
    "Plan",
    "Resample",
    "Setting",
    "SingleRater",
    "SplitHalf",
    "Statistic",
    "Test",
    "Threshold",
    "TieCalibrated",
    "Widths",
    "acc_eq",
    "all_pairs",
    "alpha",
    "alternative_annotator_test",
    "attenuation",
    "benjamini_yekutieli",
    "better",
    "ceiling",
    "correlate",
    "detectable_difference",
    "difference",
    "difference_pearson",
    "draw",
    "estimate",
    "everything",
    "fisher",
    "fit_threshold",
    "flat_line",
    "holm",
    "kendall",
    "leave_one_out",
    "means",
    "of_resample",
    "of_values",
    "over_pairs",
    "partial",
    "partials",
    "pearson",
    "permutation_test",
    "rank_sets",
    "resample",
    "resampled",
    "significance_clusters",
    "single_rater",
    "soft_pairwise_accuracy",
    "spearman",
    "spearman_brown",
    "split_half",
    "tie_calibrated",
    "width_by_items",
    "williams",
]
