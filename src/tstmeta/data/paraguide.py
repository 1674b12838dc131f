"""Formality in both directions: ParaGuide (Horvitz et al., 2024), 600 rewrites of e-mails.

The sources are e-mails of real people: no text of this set is shown or passed on.
"""

from pathlib import Path

import pandas as pd

from .base import Dataset, Subsets
from .raw import floats, read_csv, read_json_lines
from .tables import assemble, long_ratings

NAME = "paraguide"
FOLDER = Path("evaluation", "human_evals")
FILE = str(FOLDER / "all_data_for_labeling.jsonl")
#: Parts of a run's path -> system, as in the program of the authors.
SYSTEMS = {
    **dict.fromkeys(("2023-08-09_20-13-23", "2023-08-09_20-04-03"), "strap"),
    **dict.fromkeys(("2023-08-10_12-36-11_200.0", "2023-08-10_12-32-31_200.0"), "paraguide_200"),
    **dict.fromkeys(("2023-08-11_14-26-24", "2023-08-11_14-25-44"), "mm_ham"),
}
#: How a question's column begins -> dimension; formality is turned for a target of informal.
QUESTIONS = {"Similar": "content", "Well-formedness": "fluency", "Formality": "style"}
DIRECTIONS = {"formal": "informal2formal", "informal": "formal2informal"}
SUBSETS: Subsets = {
    style: lambda data, style=style: data.where(data.items["style"] == style)  # type: ignore[misc]
    for style in DIRECTIONS
}


def load(root: Path) -> Dataset:
    """Items: ``target-index-system``; 184 were judged by a fourth rater, which stays."""
    planned = pd.DataFrame(read_json_lines(root / FILE))
    planned["system"] = planned["data_path"].str.split("/").str[-2].map(SYSTEMS)
    planned["source_id"] = planned["target_label"] + "-" + planned["data_index"].astype(str)
    planned["item_id"] = planned["source_id"] + "-" + planned["system"]
    planned = planned.set_index(planned["annotation_id"].astype(str))
    ratings = []
    for file in sorted((root / FOLDER / "annotations").glob("*.csv")):
        table = read_csv(file)
        item = planned.loc[table["id"]]
        informal = (item["target_label"] == "informal").to_numpy()
        for start, dimension in QUESTIONS.items():
            values = floats(table[next(name for name in table if name.startswith(start))])
            values = values.where(~informal, 1 - values) if dimension == "style" else values
            ratings.append(long_ratings(NAME, item["item_id"], [(dimension, file.stem, values)]))
    names = {"target_label": "style", "original_text": "source"}
    items = planned.rename(columns=names).drop_duplicates("item_id")
    items["output"] = ["".join(texts) for texts in items["decoded"]]  # one, or none
    directions = items["style"].map(DIRECTIONS)
    return assemble(NAME, items, direction=directions, ratings=pd.concat(ratings))
