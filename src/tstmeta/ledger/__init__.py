"""Numbers in the tables of four papers and what recomputes them; what they claim, and verdicts."""

from .claims import Claims, claims
from .inputs import Inputs
from .ledger import counts, published, reproduce
from .table import beside, show_published
