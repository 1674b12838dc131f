"""Editing inappropriate arguments sentence by sentence: Ziegenbein et al. (2026), 600 edits.

Source and output are the part of a sentence that was marked as inappropriate and what replaces it.
The fourth question (does the edit look made by a person?) is left out; nobody rated style.
"""

from pathlib import Path

from .base import Dataset
from .tables import assemble
from .ziegen import STYLE, answers

RESULTS = Path("annotation-interface", "study_pairs_abs_results.csv")
#: Answer key -> dimension: quality of the edit's structure, meaning kept, fluency.
QUESTIONS = {
    "otherErrorQuestion1": "structure",
    "otherErrorQuestion2": "content",
    "otherErrorQuestion3": "fluency",
}
SOURCE, OUTPUT = "post_inappropriate_part", "post_rewritten_part"


def load(root: Path) -> Dataset:
    """Items: ``argument_system_number`` as in the file, of the sources ``argument-1`` ….

    Labels: ``context`` (the whole sentence) and ``issue`` (the topic).
    """
    table, ratings = answers(root / RESULTS, QUESTIONS, (SOURCE, OUTPUT))
    table = table.drop_duplicates("post_id")
    table = table.join(table["post_id"].str.extract(r"^(?P<argument>\d+)_(?P<system>.+)_\d+$"))
    part = table.groupby("argument")[SOURCE].transform(lambda texts: texts.factorize()[0] + 1)
    renamed = table.rename(columns={"post_id": "item_id", SOURCE: "source", OUTPUT: "output"})
    ids = table["argument"] + "-" + part.astype(str)
    labels = {"context": table["post_text"], "issue": table["issue"]}
    return assemble(
        "ziegen_editing", renamed, source_id=ids, style=STYLE, ratings=ratings, labels=labels
    )
