"""Every printed number of the four papers and what recomputes it; what they claim, and verdicts."""

from .claims import Claims, claims
from .inputs import Inputs
from .ledger import counts, published, reproduce
from .table import MARKS, beside, listing

__all__ = [
    "MARKS",
    "Claims",
    "Inputs",
    "beside",
    "claims",
    "counts",
    "listing",
    "published",
    "reproduce",
]
