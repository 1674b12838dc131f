"""Formality in both directions: ParaGuide (Horvitz et al., 2024), 600 rewrites of e-mails.

The sources are e-mails of real people: no text of this set is shown or passed on.
"""

from pathlib import Path

import pandas as pd

from .base import Dataset, by_label
from .raw import floats, read_csv, read_json_lines
from .tables import assemble, long_ratings

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
SUBSETS = by_label("target", DIRECTIONS)


def load(root: Path) -> Dataset:
    """Items: ``target-index-system``; 184 were judged by a fourth rater, which stays.

    Label: ``target``, the style that was asked for.
    """
    planned = pd.DataFrame(read_json_lines(root / FILE))
    planned["system"] = planned["data_path"].str.split("/").str[-2].map(SYSTEMS)
    planned["source_id"] = planned["target_label"] + "-" + planned["data_index"].astype(str)
    planned["item_id"] = planned["source_id"] + "-" + planned["system"]
    planned = planned.set_index(planned["annotation_id"].astype(str))
    ratings = []
    for file in sorted((root / FOLDER / "annotations").glob("*.csv")):
        table = read_csv(file)
        item = planned.loc[table["id"]]
        answers = {
            dimension: floats(table[next(name for name in table if name.startswith(start))])
            for start, dimension in QUESTIONS.items()
        }
        formal = (item["target_label"] == "formal").to_numpy()
        answers["style"] = answers["style"].where(formal, 1 - answers["style"])
        columns = [(dimension, file.stem, values) for dimension, values in answers.items()]
        ratings.append(long_ratings(item["item_id"], columns))
    names = {"target_label": "style", "original_text": "source"}
    items = planned.rename(columns=names).drop_duplicates("item_id")
    items["output"] = ["".join(texts) for texts in items["decoded"]]  # one, or none
    return assemble(
        "paraguide",
        items,
        direction=items["style"].map(DIRECTIONS),
        ratings=pd.concat(ratings),
        labels={"target": items["style"]},
    )
