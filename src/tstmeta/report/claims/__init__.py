"""What the four papers conclude, what would have to be true for it, and what the public data say.

A claim is told in our words, with its citation.  It names the statistic that would carry it, and a
check that computes that statistic with an interval.  The verdict follows from the interval by a
rule that is stated with the claim, not from taste: it *holds*, it *does not hold*, or it *cannot be
told* from what is public.  A number that we did not compute is marked as published.
"""

from .evidence import FAILS, HOLDS, OPEN, Claim, Evidence, Finding, Verdict
from .verdicts import Judged, claims, judged, page

__all__ = [
    "FAILS",
    "HOLDS",
    "OPEN",
    "Claim",
    "Evidence",
    "Finding",
    "Judged",
    "Verdict",
    "claims",
    "judged",
    "page",
]
