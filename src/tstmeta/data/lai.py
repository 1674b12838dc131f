"""Formality transfer rated by people and by ChatGPT: Lai et al. (2022, 2023), 720 rewrites.

80 sources (40 informal to formal, then 40 formal to informal), eight systems and a human
reference, two ratings from 1 to 100 for each of content, style and fluency.  ``r1`` and ``r2`` are
*slots*, not persons: each survey (label ``survey``) has its own pair of annotators.

Released scores come as a table, raw: ``released:wmd`` is a distance and ``released:gpt2_ppl`` a
perplexity (lower is better).  They are read from the JSON files, the ones that the papers used; the
text files hold the same numbers with one decimal more.  Two things to know:

* ``released:c-pt16`` and ``released:c-gyafc`` are P(target style): for formal to informal the JSON
  holds 1 - P(formal), the text files hold P(formal) for both directions.  ``released:r-pt16`` is a
  formality score in both, so it speaks against style success in that direction.
* The text files alone hold COMET with source and reference against the source basis; it comes in as
  ``released:comet-20-both`` with ``file:txt`` in its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .base import Dataset
from .derive import with_references
from .files import (
    check,
    fault,
    items_table,
    labels_table,
    numbers,
    ratings_table,
    read_json_lines,
    read_lines,
    read_tabs,
    same,
    scores_table,
)

NAME = "lai"
#: Systems as the JSON files name and order them; ``ref`` is human reference 0.
SYSTEMS = ("bart", "high", "ibt", "luo", "niu", "rao", "ref", "yi", "zhou")
REFERENCE = "ref"
SOURCES = 80
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
#: Columns of ``SYSTEM.human.txt``; a TSV without header.
_HUMAN_COLUMNS = (
    *("survey", "input", "output", "reference"),
    *(f"{name}-{slot}" for slot in (1, 2) for name in ("content", "style", "fluency")),
)
#: ``SYSTEM.content.src.txt``: the columns above, six z-scores, eleven metrics; COMET is the first.
_CONTENT_COLUMNS = (*_HUMAN_COLUMNS, *(f"z{n}" for n in range(6)), *(f"m{n}" for n in range(11)))

Lines = list[dict[str, Any]]


def load(root: Path) -> Dataset:
    """Load ``chatgpt/*.json`` and what ``data/`` has beside them.

    Items: ``item_id`` is ``source_id-system``, ``source_id`` is ``I2F-00`` … ``F2I-79``;
    ``references`` holds human reference 0 alone, as in the papers (for the system ``ref`` that is
    its own output); the other three are labels ``reference1`` … ``reference3`` and, together with
    the first, the references of the subset ``references4``.

    Raises:
        DataError: a file is missing or not as published, or the JSON and text files disagree.
    """
    files = {name: _read(root / "chatgpt" / f"{name}.json") for name in _JSON}
    lines = files["content.src"]
    for name, others in files.items():
        for key in ("src", "ref"):
            here, there = ([line[key] for line in group] for group in (others, lines))
            same(here, there, root / "chatgpt" / f"{name}.json", key, "content.src.json")
    items = _items(lines)
    ids = items["item_id"]
    values = {
        (dimension, f"r{slot}"): _column(root / "chatgpt" / f"{name}.json", files[name], key)
        for name, (dimension, basis) in _JSON.items()
        if basis != "reference"  # content.ref repeats the content ratings of content.src
        for slot, key in enumerate(_HUMAN, 1)
    }
    surveys = _check_text_files(root, items, values)
    more = {
        f"reference{number}": np.repeat(
            read_lines(root / "data" / "xformal" / f"fr.80.ref{number}", SOURCES), len(SYSTEMS)
        )
        for number in (1, 2, 3)
    }
    return Dataset.of(
        NAME,
        items,
        ratings=ratings_table(NAME, ids, values),
        labels=labels_table(NAME, ids, survey=surveys, **more),
        scores=_scores(root, files, ids),
    )


def _read(path: Path) -> Lines:
    """One JSON-lines file, with every system and the human ratings in each line."""
    lines = read_json_lines(path, ("src", "ref", "sys"), SOURCES)
    wanted = [(system, key) for system in SYSTEMS for key in ("out", *_HUMAN)]
    check(
        fault(path, "missing key", row, f"{system}.{key}")
        for row, line in enumerate(lines, 1)
        for system, key in wanted
        if _cell(line, system, key) is None
    )
    return lines


def _cell(line: dict[str, Any], system: str, key: str) -> Any:
    """One value of one system's output, None if it is not there."""
    entry = line["sys"].get(system) if isinstance(line["sys"], dict) else None
    return entry.get(key) if isinstance(entry, dict) else None


def _items(lines: Lines) -> pd.DataFrame:
    """Items, source by source and system by system."""
    directions = ["I2F" if number < INFORMAL else "F2I" for number in range(SOURCES)]
    names = [f"{direction}-{number:02}" for number, direction in enumerate(directions)]
    rows = [(n, line, s) for n, line in zip(range(SOURCES), lines, strict=True) for s in SYSTEMS]
    return items_table(
        NAME,
        item_id=[f"{names[number]}-{system}" for number, _, system in rows],
        source_id=[names[number] for number, _, _ in rows],
        system=[system for _, _, system in rows],
        style=["formal" if number < INFORMAL else "informal" for number, _, _ in rows],
        direction=[directions[number] for number, _, _ in rows],
        source=[line["src"] for _, line, _ in rows],
        output=[line["sys"][system]["out"] for _, line, system in rows],
        references=[[line["ref"]] for _, line, _ in rows],
        is_reference=[system == REFERENCE for _, _, system in rows],
    )


def _column(path: Path, lines: Lines, key: str) -> np.ndarray:
    """One number of each item, shape [720], in item order; human ratings are from 1 to 100."""
    low, high = (1, 100) if key in _HUMAN else (-np.inf, np.inf)
    columns = [
        numbers([_cell(line, s, key) for line in lines], path, f"{s}.{key}", low, high)
        for s in SYSTEMS
    ]
    return np.column_stack(columns).ravel()


def _check_text_files(
    root: Path, items: pd.DataFrame, values: Mapping[tuple[str, str], np.ndarray]
) -> np.ndarray:
    """Hold the text files against the JSON; they also give the survey of each item, shape [720]."""
    surveys = {}
    for position, system in enumerate(SYSTEMS):
        path = root / "data" / "outputs" / f"{system.upper()}.human.txt"
        table = read_tabs(path, _HUMAN_COLUMNS, SOURCES)
        ours = items[items["system"] == system]
        same(list(table["input"]), list(ours["source"]), path, "input", "the JSON files")
        same(list(table["output"]), list(ours["output"]), path, "output", "the JSON files")
        for (dimension, rater), given in values.items():
            column = f"{dimension}-{rater[1:]}"
            read = numbers(table[column], path, column, 1, 100)
            same(list(read), list(given[position :: len(SYSTEMS)]), path, column, "the JSON files")
        surveys[system] = table["survey"]
    return pd.DataFrame(surveys).to_numpy().ravel()


def _scores(root: Path, files: Mapping[str, Lines], ids: pd.Series) -> pd.DataFrame:
    """Every automatic and ChatGPT score that was released, one row an item and metric."""

    def table(values: np.ndarray, metric: str, dimension: str, basis: str, **fields: str):
        return scores_table(
            NAME,
            ids,
            values,
            metric=f"released:{metric}",
            dimension=dimension,
            basis=basis,
            fields={"dimension": dimension, "from": "lai2023", **fields},
        )

    tables = []
    for name, (dimension, basis) in _JSON.items():
        path, lines = root / "chatgpt" / f"{name}.json", files[name]
        metrics = [key for key in lines[0]["sys"][SYSTEMS[0]] if key not in ("out", *_HUMAN)]
        tables += [
            table(_column(path, lines, key), key.replace("_multi", "-multi"), dimension, basis)
            for key in metrics
        ]
    folder = root / "data" / "outputs"
    comet = []
    for system in SYSTEMS:
        path = folder / f"{system.upper()}.content.src.txt"
        comet.append(numbers(read_tabs(path, _CONTENT_COLUMNS, SOURCES)["m0"], path, "COMET"))
    both = np.column_stack(comet).ravel()
    tables.append(table(both, "comet-20-both", "content", "source", file="txt"))
    path = folder / "INPUT.ppl-1.txt"
    source = numbers(read_tabs(path, ("text", "ppl"), SOURCES)["ppl"], path, "ppl")
    source = np.repeat(source, len(SYSTEMS))
    tables.append(table(source, "source-gpt2_ppl", "fluency", "none", file="txt"))
    return pd.concat(tables, ignore_index=True)


# ------------------------------------------------------------------------------------ subsets


def _without(dataset: Dataset, systems: tuple[str, ...], name: str) -> Dataset:
    return dataset.where(~dataset.items["system"].isin(systems), f"{NAME}@{name}")


def _only_references(dataset: Dataset, name: str) -> Dataset:
    return dataset.where(dataset.items["is_reference"], f"{NAME}@{name}")


def _references4(dataset: Dataset) -> Dataset:
    """All four human references; the first is the one that the papers use."""
    more = [dataset.label(f"reference{number}") for number in (1, 2, 3)]
    lists = [
        [*first, *others] for first, *others in zip(dataset.items["references"], *more, strict=True)
    ]
    return with_references(dataset, lists, f"{NAME}@references4")


#: ``pauli2025``: the 640 items of that paper are seven systems and the reference; ``yi`` is not
#: among them.  ``lai2023``: all nine.  ``-systems`` leaves the reference out, ``-references`` keeps
#: nothing else.
SUBSETS: dict[str, Callable[[Dataset], Dataset]] = {
    "pauli2025": partial(_without, systems=("yi",), name="pauli2025"),
    "pauli2025-systems": partial(_without, systems=("yi", REFERENCE), name="pauli2025-systems"),
    "pauli2025-references": partial(_only_references, name="pauli2025-references"),
    "lai2023": partial(_without, systems=(), name="lai2023"),
    "lai2023-systems": partial(_without, systems=(REFERENCE,), name="lai2023-systems"),
    "references4": _references4,
}
