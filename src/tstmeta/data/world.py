"""The small world, ours: generated sentences with the design of the contrast set.

A grammar of ours (``tools/world``) wrote them, the same that wrote what the embedded model was
trained on; words and frames of this set were held out.  So a model that learnt the grammar knows
the styles here, which is what the likelihood method assumes.  Labels hold by construction; these
are not ratings, and this data set has no ratings table.
"""

from __future__ import annotations

from pathlib import Path

from . import contrast
from .base import Dataset

RAW = False
FILE = "world.csv"
SUBSETS = contrast.SUBSETS


def load(root: Path) -> Dataset:
    """Load the set; columns, cells, labels and subsets are those of the contrast set."""
    return contrast.read(root / FILE, "world")
