"""``python -m experiments.judged``: rate the samples of all data sets that are here."""

import tstmeta as tst

from . import JUDGE, SAMPLED, sample_of

for name in SAMPLED:
    if tst.available(name):
        scores = tst.score(sample_of(tst.load(name)), [JUDGE], ["source"])
        print(f"{name}: {scores['value'].notna().sum()} of {len(scores)} rated")
