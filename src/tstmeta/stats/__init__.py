"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""

from .alternative import alternative_annotator_test, flat_line
from .correlation import Correlation, williams
from .intervals import Resample, difference, of_draws, of_resample, resample
from .kernels import means
from .limits import Interval, of_values
from .margins import equivalent, noninferior
from .matrices import LEVELS, Setting, correlate, estimate, resampled
from .multiple import benjamini_yekutieli, holm, significance_clusters
from .partial_correlation import PARTIAL, corrected_partial, partial, partial_at, partials
from .permutation import permutation_test
from .pooling import of_families, pool, winkler
from .power import detectable_difference
from .ranks import rank_sets, simultaneous_p
from .raters import alpha, ceiling, single_rater
from .resampling import Draws, ResamplingPlan, draw
from .statistic import STATISTICS, Statistic, acc_eq, kendall, pearson, spearman
from .ties import TieCalibrated, tie_calibrated
from .variance import d_study, variance_components
