"""Small data sets to rate, and exports of the form that Label Studio 1.23.2 writes."""

import csv
import io
import json
from collections.abc import Callable

from tstmeta.data import Dataset, label_studio
from tstmeta.data.tables import items_table

ANN, BEN = 48151, 7  # user numbers as a server gives them
MAIL = "someone@example.org"
CELLS = ("light", "light-error", "strong", "strong-error")


def made(sizes, styles=("formal", "polite"), name="toy"):
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


def annotation(person, answers, **more):
    """One annotation; ``answers`` are content, style, fluency."""
    return {
        "id": more.pop("id", 1),
        "completed_by": person,
        "was_cancelled": False,
        "result": [result(n, v) for n, v in zip(label_studio.QUESTIONS, answers, strict=True)],
        **more,
    }


def exported(todo, *people, answers=lambda person, number: (5, 1 + (person + number) % 5, 3)):
    """A JSON export in which all people rated all tasks."""
    return [
        {
            "id": number,
            "data": task["data"],
            "annotations": [annotation(p, answers(p, number), id=100 * number + p) for p in people],
            "drafts": [],
            "predictions": [],
        }
        for number, task in enumerate(todo, 1)
    ]


def flat(export):
    """The same export as JSON-MIN: an annotation a record, and tasks without one."""
    return [
        {
            **task["data"],
            "id": task["id"],
            **{
                entry["from_name"]: entry["value"].get("choices", [[entry["value"]]])[0]
                for entry in one.get("result", [])
            },
            "annotator": one.get("completed_by"),
            "annotation_id": one.get("id"),
        }
        for task in export
        for one in task["annotations"] or [{}]
        if not one.get("was_cancelled")
    ]


def table(records, delimiter):
    """JSON-MIN records as CSV or TSV."""
    text = io.StringIO()
    names = sorted({name for record in records for name in record})
    writer = csv.DictWriter(text, names, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


FORMATS: dict[str, Callable[[list], str]] = {
    "export.json": json.dumps,
    "export.min.json": lambda export: json.dumps(flat(export)),
    "export.csv": lambda export: table(flat(export), ","),
    "export.tsv": lambda export: table(flat(export), "\t"),
}
