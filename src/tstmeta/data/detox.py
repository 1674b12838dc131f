"""English detoxification: Dale et al. (2021), 600 rewrites of three systems, three ratings each."""

from pathlib import Path

from .base import Dataset
from .raw import floats, read_csv
from .tables import assemble, long_ratings

FILE = "emnlp2021/data/manual_markup/emnlp_eval_long.tsv"
QUESTIONS = {"content": "meaning", "style": "style", "fluency": "fluency"}


def load(root: Path) -> Dataset:
    """Items: ``idx-system``; the sources are lower case, as the systems were given them."""
    table = read_csv(root / FILE, sep="\t")
    names = {"idx": "source_id", "source": "system", "original": "source", "rewritten": "output"}
    table = table.rename(columns=names)
    table["item_id"] = table["source_id"] + "-" + table["system"]
    answers = [(name, table["labeller"], floats(table[q])) for name, q in QUESTIONS.items()]
    return assemble(
        "detox",
        table.drop_duplicates("item_id"),
        style="non-toxic",
        direction="toxic2neutral",
        ratings=long_ratings(table["item_id"], answers),
    )
