"""Numbers in the tables of four papers and what recomputes them."""

from .inputs import Inputs
from .ledger import counts, published, reproduce
from .table import beside, show_published
