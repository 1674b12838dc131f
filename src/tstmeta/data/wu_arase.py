"""English sentences simplified by language models: Wu and Arase (2025), 6,163 rewrites.

Each has three ratings of three dimensions, from 1 to 3.  The errors that people marked in 3,300 of
them are labels.  The part on Newsela was not released.
"""

import json
from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .tables import assemble, long_ratings

#: Name in the files -> system.
MODELS = {"gpt": "GPT-4", "llama": "Llama-3.2-3B", "qwen": "Qwen2.5-72B", "t5": "Control-T5"}
#: Rated aspect -> our dimension.
ASPECTS = {"meaning preservation": "content", "simplicity": "style", "fluency": "fluency"}
SUBSETS = by_label("collection", ("turk", "asset", "simpa"))


def load(root: Path) -> Dataset:
    """Items: ``collection-number-model``; ``turk`` and ``asset`` share the sources ``turk-number``.

    Raters are slots.  Label ``errors``, where they were looked for: names in small letters, joined
    by ``; ``, or ``no error``.
    """
    table = _read(root, "likert")
    first = table["source_file"].replace("asset", "turk") + "-" + table["number"]
    letters = table["source"].str.lower().str.replace("[^a-z0-9]", "", regex=True)
    rated = [
        (ours, f"r{slot}", table[f"label_annotations.annotator_{slot}.{aspect}"])
        for aspect, ours in ASPECTS.items()
        for slot in (1, 2, 3)
    ]
    marked = _read(root, "error")
    kinds = [dict.fromkeys(span["annotation"].lower() for span in row) for row in marked["label"]]
    errors = dict(zip(marked["item_id"], map("; ".join, kinds), strict=True))
    return assemble(
        "wu_arase",
        table.rename(columns={"simple": "output"}),
        source_id=first.groupby(letters).transform("first"),
        system=table["model"].map(MODELS),
        style="simplified",
        ratings=long_ratings(table["item_id"], rated),
        labels={
            "collection": table["source_file"],
            "errors": table["item_id"].map(errors).fillna(""),
        },
    )


def _read(root: Path, kind: str) -> pd.DataFrame:
    """The files of a kind, one a model, with ``number`` and ``item_id``."""
    folder = root / "annotation" / kind / "exclude_newsela"
    files = [folder / f"{kind}_{model}.json" for model in MODELS]
    rows = [row for file in files for row in json.loads(file.read_text("utf-8"))]
    table = pd.json_normalize(rows)
    table["number"] = table["source_id"].astype(int).astype(str)
    return table.assign(item_id=table["source_file"] + "-" + table["number"] + "-" + table["model"])
