"""The contrast set, ours: a full 2 x 2 of style shift and content error over six tasks.

Each source has four rewrites: {strong, light} style shift x {content kept, one content error}.  The
labels hold BY CONSTRUCTION; they are not ratings.  In ``span`` the changed words stand in the
notation of wdiff: ``[-old-]{+new+}``.
"""

from pathlib import Path

from .base import Dataset, by_label, without_systems
from .raw import read_csv
from .tables import items_table

RAW = False
TASKS = ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal")
SUBSETS = by_label("task", TASKS)
# Two of the four cells, as the set of pauli2025 has them: style and content tied together.
SUBSETS |= {"tied": without_systems("strong-error", "light")}


def load(root: Path) -> Dataset:
    """Load the set; ``system`` names the cell: strong, strong-error, light, light-error."""
    name, frame = "contrast", read_csv(root / "contrast.csv")
    system = frame["shift"] + (frame["error"] != "none").map({True: "-error", False: ""})
    items = items_table(name, frame, system=system)
    labels = frame.melt("item_id", ["task", "shift", "error", "span"], "name", "value")
    return Dataset.of(name, items, labels=labels[labels["value"] != ""].assign(dataset=name))
