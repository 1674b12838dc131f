"""Small data sets for the tests of tables, figures and chapters; all texts are ours."""

import math
from collections.abc import Sequence

import pandas as pd

from tstmeta import schema
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, labels_table, ratings_table

NAN = math.nan

#: what a text of a data set could do to a page
HOSTILE = [
    *("<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "' onmouseover='alert(1)"),
    *("a & b &lt; c", "</td></tr></table><h1>", "```\n# heading\n```{raw} html\n<b>"),
    *("$\\frac{1$ {cite}`x` | pipe", "\u202eright to left\u202c \U0001f989"),
]


def rated(
    outputs: list[str] | None = None, name: str = "tiny", ids: Sequence[str] = "abcdef"
) -> Dataset:
    """Six rewrites of two sources by three systems, rated by one or two people."""
    ids = list(ids)
    items = items_table(
        name,
        item_id=ids,
        source_id=["s1"] * 3 + ["s2"] * 3,
        system=["A", "B", "C"] * 2,
        style="formal",
        source=["he ran home"] * 3 + ["we ate soup"] * 3,
        output=outputs or ["he ran", "he ran home", "she ran home", "we ate", "soup", "no"],
        references=[["he walked home"]] * 3 + [[]] * 3,
    )
    values = {
        ("content", "r1"): [2, 5, 3, 4, 2, 1],
        ("content", "r2"): [2, 5, 4, NAN, NAN, 1],
        ("style", "r1"): [4, 1, 3, 2, 5, NAN],
    }
    card = Card(name, name, {"scale": {"content": [1, 5], "style": [1, 5]}})
    return Dataset.of(name, items, card, ratings=ratings_table(name, ids, values))


def constructed() -> Dataset:
    """A 2 x 2 of style shift and content error on two sources of two tasks, without ratings."""
    cells = ["strong", "strong-error", "light", "light-error"] * 2
    ids = [f"{number}-{cell}" for number, cell in zip("11112222", cells, strict=True)]
    items = items_table(
        "built",
        item_id=ids,
        source_id=list("11112222"),
        system=cells,
        source="the small cat sat on the mat",
        output=[
            *("a cat rested upon the mat", "a dog rested upon the mat"),
            *("the small cat sat on a mat", "the small dog sat on a mat"),
        ]
        * 2,
    )
    labels = labels_table(
        "built",
        ids,
        task=list("xxxxyyyy"),
        shift=[cell.partition("-")[0] for cell in cells],
        error=["substitution" if "error" in cell else "none" for cell in cells],
    )
    return Dataset.of("built", items, Card("built", "built"), labels=labels)


def scores(
    dataset: Dataset,
    values: Sequence[float],
    metric: str = "m",
    basis: str = "source",
    status: str | list[str] = "ok",
) -> pd.DataFrame:
    """A score table of the items in order."""
    facts = {"metric": metric, "dimension": "content", "basis": basis, "sample": 0, "detail": ""}
    facts |= {"signature": f"{metric}|basis:{basis}", "status": status, "dataset": dataset.name}
    ids, numbers = dataset.items["item_id"].tolist(), [float(value) for value in values]
    table = pd.DataFrame({"item_id": ids[: len(values)], "value": numbers, **facts})
    return schema.validate(table, "scores")
