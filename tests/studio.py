"""Small data sets to rate, and exports of the form that Label Studio 1.23.2 writes."""

from tstmeta import label_studio
from tstmeta.data import Dataset
from tstmeta.data.tables import items_table

ANN, BEN = 48151, 7  # user numbers as a server gives them
MAIL = "someone@example.org"
CELLS = ("light", "light-error", "strong", "strong-error")


def dataset(sizes, styles=("formal", "polite"), name="toy"):
    """A data set with so many rewrites of each source; the styles take turns."""
    rows = [(s, n) for s, size in enumerate(sizes) for n in range(size)]
    items = items_table(
        name,
        item_id=[f"s{s}-{CELLS[n % 4]}-{n}" for s, n in rows],
        source_id=[f"s{s}" for s, _ in rows],
        system=[CELLS[n % 4] for _, n in rows],
        style=[styles[s % len(styles)] for s, _ in rows],
        source=[f"source number {s}" for s, _ in rows],
        output=[f"text {n} for source {s}" for s, n in rows],
    )
    return Dataset.of(name, items)


def result(name, value, kind="choices"):
    wrapped = [str(value)] if kind == "choices" else value
    return {"from_name": name, "to_name": "output", "type": kind, "value": {kind: wrapped}}


def annotation(person, answers, form=label_studio.RATING, **more):
    """One annotation; ``answers`` are content, style, fluency."""
    results = [result(n, v) for n, v in zip(form.questions, answers, strict=True)]
    return {"id": 1, "completed_by": person, "was_cancelled": False, "result": results, **more}


def exported(todo, *people, answers=lambda person, number: (5, 1 + (person + number) % 5, 3)):
    """A JSON export in which all people rated all tasks."""
    return [
        {
            "id": number,
            "data": task,
            "annotations": [annotation(p, answers(p, number), id=100 * number + p) for p in people],
            "drafts": [],
            "predictions": [],
        }
        for number, task in enumerate(todo.to_dict("records"), 1)
    ]
