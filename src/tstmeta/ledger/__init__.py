"""Numbers in the tables of four papers and what recomputes them; what they claim, and verdicts."""

from .claims import Claims, claims
from .ledger import counts, published, reproduce
from .recipes import Inputs
from .table import beside, listing, of_the_book
