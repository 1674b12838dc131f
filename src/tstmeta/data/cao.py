"""Expertise style transfer, medical text for experts and laymen: Cao et al. (2020).

The ratings that Pauli et al. (2025) use are not public.  Who has been given them writes them into
``data/external/cao/cao.csv`` as a file of one's own, see :mod:`.table_files`.
"""

from pathlib import Path

from .base import Dataset
from .table_files import by_hand

FILE = "cao.csv"


def load(root: Path) -> Dataset:
    """Load the file; its ratings are means, from 1 to 5."""
    return by_hand(root / FILE)
