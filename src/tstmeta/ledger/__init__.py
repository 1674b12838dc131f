"""Every printed number of the four papers and what recomputes it; what they claim, and verdicts."""

from .inputs import Inputs
from .ledger import counts, published, reproduce
from .table import beside

__all__ = ["Inputs", "beside", "counts", "published", "reproduce"]
