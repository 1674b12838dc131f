"""German sentences in plain language, written by people: Stodden et al. (2023), 384 pairs.

One person rated each pair.  The 46 pairs of news are left out: their texts were not released.
"""

from pathlib import Path

from .base import Dataset, by_label
from .raw import floats, read_csv
from .tables import assemble, long_ratings

PAIRS = Path("F__Human_Annotations", "DEplain-web-sent-manual-open-rated.csv")
#: Rated aspect -> our dimension.
ASPECTS = {
    "meaning_preservation": "content",
    "simplicity": "style",
    "grammaticality_simple": "fluency",
    "structural_simplicity": "structure",
}
SUBSETS = by_label("domain", ("bible", "fiction", "language-learner"))


def load(root: Path) -> Dataset:
    """Items: ``web-1`` … in the order of the file; a source has the id of its first pair."""
    table = read_csv(root / PAIRS)
    table["item_id"] = [f"web-{number}" for number in range(1, len(table) + 1)]
    raters = "r" + table["rater"]
    rated = [(ours, raters, floats(table[name])) for name, ours in ASPECTS.items()]
    return assemble(
        "deplain",
        table.rename(columns={"original": "source", "simplification": "output"}),
        source_id=table.groupby("original")["item_id"].transform("first"),
        system="human",
        style="simplified",
        language="de",
        is_reference=True,
        ratings=long_ratings(table["item_id"], rated),
        labels={"domain": table["domain"].str.replace(" ", "-")},
    )
