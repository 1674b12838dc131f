"""The page of what training reaches: committed results of ``benchmarks/training.py``, as a page.

Beside our figures stand those that Pang and Gimpel (2019, Section 5.3) print for their own
evaluation models, labelled as published.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from ..data import paths
from . import html

_RAW = "```{{raw}} html\n{}\n```\n"
_INTRO = """# What training reaches

Some metrics rest on a model that is trained for them: a classifier says how strong a style is, a
language model says how fluent a text is. The models that come with this project are trained on
sentences of our own and run anywhere. Whoever has the yelp files {cite}`shen2017style` can train
larger ones with one command. This page shows what they reach.

Each sentence is in one part only: it is trained on, tuned on or tested on. Some sentences stand in
both yelp files; those go to the part that may be seen least. None of the sources of the test sets
`li2018`, `dualrl` and `mir` is trained on, for a metric must not know the texts that it judges.
"""
_TWICE = """Every model was trained twice with the same seed. The second training was killed halfway
with `SIGKILL` and started again. *Same bytes* says whether both ended with the same weights;
*weights* begins their SHA-256. Brackets hold 95 % intervals.
"""
_PRINTED = """## Beside the models of pang2019

Pang and Gimpel {cite}`pang2019unsupervised` print how good their evaluation models are on their
own development sentences. Their sentences and their count of words are not ours, so the figures
stand here for orientation only. All are published; we did not compute them.
"""


def page() -> str:
    """The page as MyST Markdown; says how to make the results where none are committed."""
    results = paths.home() / "benchmarks" / "results" / "training.json"
    if not results.is_file():
        return f"{_INTRO}\nNo results are committed here. Make some: {_command()}\n"
    report = json.loads(results.read_text(encoding="utf-8"))
    machine = report["machine"]
    where = f"{machine['cpu']}, Python {machine['python']}"
    lines = [_INTRO, _TWICE, f"{report['when']}; {where}.\n", _RAW.format(_table(report).text)]
    lines += ["The commands:\n", "```bash", *(row["command"] for row in report["rows"]), "```\n"]
    lines += [f"All of it at once, with the comparison of bytes: {_command()}\n"]
    lines += [_PRINTED, _RAW.format(html.table(_printed()).text)]
    return "\n".join(lines)


def _command() -> str:
    return "`python benchmarks/training.py`."


def _table(report: dict[str, Any]) -> html.Html:
    same = {
        check["name"]: check["holds"] for check in report["checks"] if "differ" in check["name"]
    }
    rows = [
        {
            "model": row["model"],
            "sentences": f"{row['trained_on']:,}",
            "tested on": f"{row['tested_on']:,}",
            "result": _result(row),
            "processor minutes": f"{row['minutes']:.1f}",
            "same bytes": _same(same, row["model"]),
            "weights": row["weights"],
        }
        for row in report["rows"]
    ]
    return html.table(pd.DataFrame(rows))


def _result(row: dict[str, Any]) -> str:
    """What was found on sentences that the model never saw."""
    if "accuracy" in row:
        interval = f"[{row['low']:.4f}, {row['high']:.4f}]"
        return f"accuracy {row['accuracy']:.4f} {interval}"
    return (
        f"perplexity {row['perplexity']:.1f} a token, {row['perplexity_a_word']:.1f} a word;"
        f" {row['perplexity_of_unigrams']:.1f} a token by counts of tokens alone"
    )


def _same(holds: dict[str, bool | None], model: str) -> str:
    told = {True: "yes", False: "no", None: "not measured"}
    return told[next((held for name, held in holds.items() if f" {model} " in name), None)]


def _printed() -> pd.DataFrame:
    file = Path(paths.home() / "data" / "published" / "pang2019_evaluation_models.csv")
    rows = pd.read_csv(file, dtype=str)
    return pd.DataFrame(
        {
            "published": rows["parameter"],
            "corpus": rows["applies_to"],
            "value": rows["value"],
        }
    )
