"""The small world, ours: generated sentences with the design of the contrast set.

A grammar of ours (``tools/world``) wrote them, the same that wrote what the embedded model was
trained on, so that model knows the styles here, as the likelihood method assumes.
"""

from pathlib import Path

from . import contrast
from .base import Dataset

RAW = False
SUBSETS = contrast.SUBSETS


def load(root: Path) -> Dataset:
    """Load the set; columns, cells, labels and subsets are those of the contrast set."""
    return contrast.read(root / "world.csv", "world")
