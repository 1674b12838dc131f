"""The constructed test set of Pauli et al. (2025): 500 rewrites, six tasks, three ratings each.

Each source has two rewrites: one with a strong style shift that keeps the content (intention
``style``) and one with a content error and a light shift.  So style and content are tied by
construction: whoever shows its numbers must say so.  ``AnswerA`` is style, ``AnswerB`` content.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from .base import Dataset, by_label
from .raw import floats, read_csv
from .tables import assemble, long_ratings

#: Tasks in the order of the files 1 to 6; the first two were written by hand, the rest generated.
TASKS = ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal")
MANUAL = TASKS[:2]
#: Letter of the answer columns -> dimension.
ANSWERS = {"A": "style", "B": "content"}
SUBSETS = by_label("task", TASKS)


def load(root: Path) -> Dataset:
    """Items: ``task-sample_id-intention``; the system is the intention.

    Raters are r1 to r5, the same person under the same name in all tasks; three of them rated each
    task.  Label ``step``: the text between source and output.
    """
    files = [root / "data" / f"syntest_anno{number}.csv" for number in range(1, 7)]
    tables = [read_csv(file).assign(task=task) for file, task in zip(files, TASKS, strict=True)]
    raw = pd.concat(tables, ignore_index=True)
    # In the manual files the source's corpus is called `source`, in the others `source_from`.
    raw["corpus"] = raw["source"].fillna(raw["source_from"])
    raw = raw.fillna("")
    sources = raw["task"] + "-" + raw["sample_id"].str.removesuffix(".0")
    ids = sources + "-" + raw["intention"]
    exact = raw["intention"] == "style"
    answers = [
        (dimension, raw[f"prolificID_{slot}"], floats(raw[f"Answer{letter}_{slot}"]))
        for letter, dimension in ANSWERS.items()
        for slot in (1, 2, 3)
    ]
    return assemble(
        "pauli",
        item_id=ids,
        source_id=sources,
        system=raw["intention"],
        style=raw["style_to"],
        source=raw["input"],
        output=raw["output"],
        references=[[text] if text else [] for text in raw["reference"]],
        ratings=long_ratings(ids, answers).sort_index(kind="stable"),  # item by item
        labels={
            **raw[["task", "corpus", "intention"]],
            "shift": np.where(exact, "strong", "light"),
            "error": np.where(exact, "none", raw["intention"]),
            "construction": np.where(raw["task"].isin(MANUAL), "manual", "synthetic"),
            "step": raw["step"],
        },
    )
