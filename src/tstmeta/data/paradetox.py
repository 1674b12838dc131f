"""ParaDetox: toxic sentences with one to three human rewrites each (Logacheva et al., 2022).

Not rated.  Each rewrite is an item and a reference at once.
"""

from pathlib import Path

from .base import Dataset
from .raw import read_csv
from .tables import assemble

REWRITES = ["neutral1", "neutral2", "neutral3"]


def load(root: Path) -> Dataset:
    """Items: ``detox-1-1`` …, by row and rewrite; all rewrites of a source are its references."""
    table = read_csv(root / "paradetox" / "paradetox.tsv", sep="\t")
    table["source_id"] = [f"detox-{row}" for row in range(1, len(table) + 1)]
    table["references"] = [[t for t in texts if t] for texts in table[REWRITES].to_numpy()]
    keys = ["source_id", "source", "references"]
    table = table.rename(columns={"toxic": "source"})
    rows = table.melt(keys, REWRITES, value_name="output", ignore_index=False)
    rows = rows[rows["output"] != ""].sort_index(kind="stable")
    ids = rows["source_id"] + "-" + rows["variable"].str.removeprefix("neutral")
    return assemble(
        "paradetox", rows, item_id=ids, system="human", style="non-toxic", is_reference=True
    )
