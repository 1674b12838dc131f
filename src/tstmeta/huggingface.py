"""A data set as a folder for the Hugging Face hub: a card and a Parquet file a table.

``datasets.load_dataset(folder, "ratings")`` reads it, and so does any reader of Parquet.
"""

from pathlib import Path

import pandas as pd
import yaml

from .data import shipped
from .data.base import Dataset
from .data.tables import rename_raters
from .metrics.base import code_of
from .scoring import together
from .storage import replacing, write

#: Licences that the hub lists (in lower case) and SPDX, too.
LICENCES = ("CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC0-1.0", "MIT")


def write_huggingface(data: Dataset, folder: Path, scores: pd.DataFrame | None = None) -> str:
    """Write items, ratings, labels, preferences and scores; gives what is in the folder, in words.

    Texts go in where they are here and the card allows to show them (``examples``).  Otherwise
    items have lengths and a digest, and labels and details that may quote are left out.
    """
    tables = shipped.numbers(data)
    known = data.scores if scores is None else together(data.scores, scores)
    if data.card.facts.get("examples") and data.has_texts:
        words = "With texts: see to it that the licence lets them be passed on."
        tables |= {"items": data.with_texts("in the folder"), "labels": data.labels}
    else:  # a judge's answer may quote; statistics of a corpus metric are numbers
        words = "Without texts, which the data card does not say may be shown."
        plain = known["detail"].str.fullmatch(r"\[[-+\d.e, ]*\]")
        known = known.assign(detail=known["detail"].where(plain, ""))
    tables |= {name: tables[name].copy() for name in ("ratings", "preferences")}
    rename_raters(tables["ratings"], tables["preferences"])
    tables = {name: frame for name, frame in (tables | {"scores": known}).items() if len(frame)}
    for name, frame in tables.items():
        with replacing(folder / f"{name}.parquet") as draft:
            frame.drop(columns="dataset").to_parquet(draft, index=False)
    licence = str(data.card.facts.get("licence") or "none stated")
    words = f"{data.card.title or data.name}. {words} Licence: {licence}."
    write(folder / "README.md", _card(data, list(tables), licence, words))
    return words


def _card(data: Dataset, tables: list[str], licence: str, words: str) -> str:
    """README.md: front matter as the hub reads it, then what is in the folder."""
    facts, spdx = data.card.facts, licence.replace(" ", "-")
    files = {name: [{"split": "test", "path": f"{name}.parquet"}] for name in tables}
    front = {
        "pretty_name": data.card.title or data.name,
        "license": spdx.lower() if spdx in LICENCES else "other",
        "language": sorted({code_of(language) for language in data.items["language"]}),
        "tags": ["text-style-transfer", "metric-evaluation"],
        "configs": [
            {"config_name": name, "data_files": place, "default": name == "items"}
            for name, place in files.items()
        ],
    }
    parts = [
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---",
        f"# {front['pretty_name']}",
        f"{words} {facts.get('url') or ''}".strip(),
        f"Cite `{facts['citation']}` (book/references.bib)." if facts.get("citation") else "",
        data.card.body,
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
