"""Ratings read out of a judge's answers, and held against those of people.

Questions (``docs.jsonl``), the form of an answer (``prompt.json``) and the reader (``reading.py``)
lie beside this file.
"""

import json
import runpy
import statistics
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
PROMPT = json.loads((HERE / "prompt.json").read_text(encoding="utf-8"))
# not imported by name: another exported folder may have another one
_READER = SimpleNamespace(**runpy.run_path(str(HERE / "reading.py")))
_FORM = SimpleNamespace(**PROMPT["form"])


def docs() -> list[dict]:
    """The questions: messages, ids of the rewrites, people's mean ratings by dimension."""
    return [json.loads(line) for line in (HERE / "docs.jsonl").read_bytes().splitlines()]


def pairs(doc: dict, text: str, cut: bool = False) -> dict[str, list]:
    """Dimension -> (rating, mean of people) of each rewrite; None where there is none."""
    rows = _READER.readings(text, _FORM, len(doc["item_ids"]), cut)
    table = {}
    for name in _FORM.dimensions:
        ratings = [None if row[name].why else row[name].value for row in rows]
        people = doc["human"].get(name) or [None] * len(rows)
        table[name] = list(zip(ratings, people, strict=True))
    return table


def rated(answers: list) -> float:
    """The share of ratings asked for that came."""
    return statistics.fmean(rating is not None for pairs in answers for rating, _ in pairs)


def pearson(answers: list) -> float:
    """Pearson's r of ratings with people's means, over all rewrites that have both."""
    both = [pair for pairs in answers for pair in pairs if None not in pair]
    try:
        return statistics.correlation(*zip(*both, strict=True))
    except (TypeError, statistics.StatisticsError):  # fewer than two, or all the same
        return float("nan")


def dataset(**_: object) -> dict:
    """The questions for lm-evaluation-harness."""
    import datasets

    return {"test": datasets.Dataset.from_list(docs())}


def process_results(doc: dict, results: list[str]) -> dict[str, list]:
    """What lm-evaluation-harness aggregates for an answer."""
    table = pairs(doc, results[0])
    agreement = {f"pearson_{name}": table[name] for name in doc["human"]}
    return {"rated": [pair for row in table.values() for pair in row], **agreement}
