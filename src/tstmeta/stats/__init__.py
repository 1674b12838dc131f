"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""

from .alternative import alternative_annotator_test
from .intervals import Resample, confidence_intervals, difference, resample
from .limits import Interval, percentile_intervals
from .matrices import LEVELS, Setting, correlate, estimate, resampled
from .partial_correlation import partial
from .permutation import permutation_test
from .pooling import TAUS, family_means, log_likelihood, pool, predict
from .power import detectable_difference
from .raters import alpha, ceiling
from .resampling import Draws, ResamplingPlan, draw
from .significance import holm, rank_sets, significance_clusters, simultaneous_p
from .statistic import STATISTICS, Correlation, Statistic, kendall, pearson
