"""Formality transfer rated by people and by ChatGPT: Lai et al. (2022, 2023), 720 rewrites.

80 sources (40 informal to formal, then 40 formal to informal), eight systems and a human
reference, two ratings from 1 to 100 for each of content, style and fluency.  ``r1`` and ``r2`` are
*slots*, not persons: each survey (label ``survey``) has its own pair of annotators.

Released scores come raw: lower is better for ``released:wmd`` and ``released:gpt2_ppl``.  Two that
the text files alone hold have ``file:txt`` in their signature.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from .base import Dataset, without_systems
from .raw import floats, read_json_lines, read_lines, read_tabs
from .tables import assemble, scores_table

NAME = "lai"
#: Systems as the JSON files name and order them; ``ref`` is human reference 0.
SYSTEMS = ("bart", "high", "ibt", "luo", "niu", "rao", "ref", "yi", "zhou")
REFERENCE = "ref"
#: Sources 0 to 39 are informal.
INFORMAL = 40

#: JSON file -> (dimension, basis) of the scores in it.
_JSON = {
    "content.src": ("content", "source"),
    "content.ref": ("content", "reference"),
    "style": ("style", "none"),
    "fluency": ("fluency", "none"),
}
_HUMAN = ("human_1", "human_2")
#: Fields of ``SYSTEM.content.src.txt``, which has no header: survey, three texts, six ratings, six
#: z-scores and eleven metrics.
_FIELDS, SURVEY, COMET = range(27), 0, 16


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, of the sources ``I2F-00`` … ``F2I-79``.

    Human reference 0 is the reference, as in the papers; the other three are labels.
    """
    files = {name: _read(root / "chatgpt" / f"{name}.json") for name in _JSON}
    first = files["content.src"]
    informal = first["number"] < INFORMAL
    direction = informal.map({True: "I2F", False: "F2I"})
    sources = direction + "-" + first["number"].astype(str).str.zfill(2)
    ids = sources + "-" + first["system"]
    rated = {
        (dimension, f"r{slot}"): files[name][key]
        for name, (dimension, basis) in _JSON.items()
        if basis != "reference"  # content.ref repeats the content ratings of content.src
        for slot, key in enumerate(_HUMAN, 1)
    }
    outputs = root / "data" / "outputs"
    paths = [outputs / f"{system.upper()}.content.src.txt" for system in SYSTEMS]
    texts = pd.concat([read_tabs(path, _FIELDS) for path in paths]).sort_index(kind="stable")
    labels = {"survey": texts[SURVEY]}
    for number in (1, 2, 3):
        lines = read_lines(root / "data" / "xformal" / f"fr.80.ref{number}")
        labels[f"reference{number}"] = np.repeat(lines, len(SYSTEMS))
    return assemble(
        NAME,
        item_id=ids,
        source_id=sources,
        system=first["system"],
        style=np.where(informal, "formal", "informal"),
        direction=direction,
        source=first["src"],
        output=first["out"],
        references=[[text] for text in first["ref"]],
        is_reference=first["system"] == REFERENCE,
        ratings=rated,
        labels=labels,
        scores=_scores(files, ids, texts[COMET], outputs / "INPUT.ppl-1.txt"),
    )


def _read(path: Path) -> pd.DataFrame:
    """One JSON-lines file: a row a line and system, with its source, ratings and scores."""
    rows = [
        {"number": number, "system": system, "src": line["src"], "ref": line["ref"]}
        | line["sys"][system]
        for number, line in enumerate(read_json_lines(path))
        for system in SYSTEMS
    ]
    table = pd.DataFrame(rows)
    return table.astype(dict.fromkeys(table.columns[5:], float))


def _scores(
    files: Mapping[str, pd.DataFrame], ids: pd.Series, comet: pd.Series, perplexities: Path
) -> pd.DataFrame:
    """Every automatic and ChatGPT score that was released, one row an item and metric."""

    def table(values, metric: str, dimension: str, basis: str, **more: str) -> pd.DataFrame:
        fields = {"dimension": dimension, "from": "lai2023", **more}
        return scores_table(NAME, ids, values, f"released:{metric}", dimension, basis, fields)

    tables = [
        table(files[name][key], key.replace("_multi", "-multi"), dimension, basis)
        for name, (dimension, basis) in _JSON.items()
        for key in files[name].columns[5:]
        if key not in _HUMAN and (name, key) != ("content.ref", "chatgpt")  # no reference was shown
    ]
    tables.append(table(floats(comet), "comet-20-both", "content", "source", file="txt"))
    source = np.repeat(floats(read_tabs(perplexities, ("text", "ppl"))["ppl"]), len(SYSTEMS))
    tables.append(table(source, "source-gpt2_ppl", "fluency", "none", file="txt"))
    return pd.concat(tables)


def _references4(dataset: Dataset) -> Dataset:
    dataset.with_texts("for other references")
    more = [dataset.label(f"reference{number}") for number in (1, 2, 3)]
    lists = zip(dataset.items["references"].str[0], *more, strict=True)
    return replace(dataset, items=dataset.items.assign(references=[*map(list, lists)]))


SUBSETS = {
    "pauli2025": without_systems("yi"),
    "pauli2025-systems": without_systems("yi", REFERENCE),
    "pauli2025-references": without_systems(*{*SYSTEMS} - {REFERENCE}),
    "lai2023": without_systems(),
    "lai2023-systems": without_systems(REFERENCE),
    "references4": _references4,
}
