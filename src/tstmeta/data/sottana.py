"""People and GPT-4 on the same rewrites: Sottana et al. (2023), two tasks of 100 sources each.

Three people and GPT-4 rated four outputs a source, the human reference among them.  Folders of
people's files are named by their ids, which go nowhere: not into tables, nor into messages.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from .base import Dataset, by_label, labelled
from .raw import floats, read_json_lines
from .tables import assemble, long_ratings, scores_table

NAME, RATERS, JUDGE = "sottana", ("r1", "r2", "r3"), "gpt-4"
FOLDER = Path("data", "outputs", "potato_and_GPT4_full_annotations")
#: Task -> target style.
TASKS = {"simplification": "simplified", "gec": "corrected"}
_CHANGED = {"Substantial": "0", "Substatial": "0", "Moderate": "1", "Minor": "2", "No": "3"}
#: Question -> dimension, and answers that are turned so that higher is better.
QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "semantics": ("content", {}),
    "fluency": ("fluency", {}),
    "simplicity": ("style", {}),
    "grammaticality": ("fluency", {"2 or more": "0", "1": "1", "0": "2"}),
    "overcorrection": ("overcorrection", _CHANGED),
}


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, of ``simplification-1`` …, ``gec-1`` …, as in GPT-4's files.

    ``gold_reference`` is an item, and the reference of the others of its source.
    """
    table = pd.DataFrame([row for task in TASKS for row in _answers(root / FOLDER, task)])
    table["item_id"] = table["source_id"] + "-" + table["system"]
    ratings, scores = [], []
    for question, rows in table.groupby("question"):
        dimension, words = QUESTIONS[str(question)]
        answers = rows["answer"].astype(str).str.removesuffix(" over-correction").replace(words)
        rows = rows.assign(value=floats(answers))
        people, judge = rows[rows["rater"] != JUDGE], rows[rows["rater"] == JUDGE]
        columns = dimension, people["rater"], people["value"]
        ratings.append(long_ratings(people["item_id"], [columns]))
        facts = (f"released:{JUDGE}", dimension, "source")
        fields = {"dimension": dimension, "from": "sottana2023"}
        scores.append(scores_table(NAME, judge["item_id"], judge["value"], *facts, fields))
    first = table.drop_duplicates("item_id")
    return assemble(
        NAME,
        first,
        style=first["task"].map(TASKS),
        ratings=pd.concat(ratings),
        labels={"task": first["task"]},
        scores=pd.concat(scores),
    )


def _answers(folder: Path, task: str) -> Iterator[dict[str, Any]]:
    """One row an item, question and rater; attention checks, which GPT-4 did not see, drop out."""
    path = folder / f"{task}_evaluation_1_of_4" / "gpt4_as_annotator" / "output.jsonl"
    people = _people(folder, task)
    for number, judged in enumerate(read_json_lines(path), 1):
        forms = people[judged.pop("id")]
        item: dict[str, Any] = {"task": task, "source_id": f"{task}-{number}"}
        for place, (system, verdicts) in enumerate(judged.items(), 1):  # as people were shown them
            item |= {"system": system.removeprefix("google/"), "is_reference": place == 1}
            item |= {"source": forms[0]["displayed_text"], "output": forms[0][f"summary_{place}"]}
            item["references"] = [forms[0]["summary_1"]] * (place > 1)
            for question, verdict in verdicts.items():
                yield {**item, "question": question, "rater": JUDGE, "answer": verdict}
                for rater, form in zip(RATERS, forms, strict=True):
                    [answer] = form["label_annotations"][question + f"_{place}" * (place > 1)]
                    answer = answer.removeprefix("scale_")
                    yield {**item, "question": question, "rater": rater, "answer": answer}


def _people(folder: Path, task: str) -> dict[str, list[dict[str, Any]]]:
    """What people were shown and answered: a form a rater, in the order of their ids."""
    forms: dict[str, list[dict[str, Any]]] = {}
    # the last folder is a person's id
    for file in sorted(folder.glob(f"{task}_evaluation_*/annotation_output/*/annotated_*.jsonl")):
        for line in read_json_lines(file):
            forms.setdefault(line["id"], []).append(line)
    return forms


def _systems(dataset: Dataset, task: str) -> Dataset:
    part = labelled(dataset, "task", task)
    return part.where(~part.items["is_reference"])


SUBSETS = by_label("task", TASKS)
SUBSETS |= {f"{task}-systems": partial(_systems, task=task) for task in TASKS}
