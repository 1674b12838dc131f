"""Yelp, Amazon and image captions: outputs, references and crowd ratings of Li et al. (2018).

Seven systems and a human rewrite of 1,000 (captions: 600) sources for each corpus, and for 400 of
the sources one crowd worker's rating, 1 to 5, of all eight rewrites: topic (content), sentiment or
style (style) and grammaticality (fluency).  There is ONE rating an item; ``r1`` is a slot, not a
person, and who rated is dropped on load.

The rated rewrites came in shuffled order without their system, so the system is found by its text:
same direction, source and output, blanks at both ends aside.  Three cases:

* One system wrote that text: the rating is that item's.
* Several did (label ``ambiguous`` = how many): the text was then rated once for each of them, and
  the first rating goes to the first of them in the order of ``SYSTEMS``, and so on.  A study of
  systems may leave these out.
* None did, because the text was edited on its way to the raters (137 on Yelp, 59 on Amazon, 20 on
  captions; mostly the human rewrites): it becomes an item of its own with system ``""``.  Its label
  ``candidates`` names the systems that no other rewrite of that row was matched to.

Upstream names of the outputs are cryptic (``label``, ``orgin``, ``mit``); ours are the paper's.
References are as released: with capitals and untokenised on Yelp, where sources are lower-cased and
tokenised.  ``dualrl`` has the same outputs beside tokenised, lower-cased references: the two
preparations of pang2019, Table 6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from .. import schema
from .base import Dataset
from .derive import untransferred
from .files import (
    check,
    fault,
    items_table,
    labels_table,
    one_of,
    read_csv,
    read_lines,
    unique,
)

NAME = "li2018"
#: System -> ending of its output files.
SYSTEMS = {
    "StyleEmbedding": "fader",
    "MultiDecoder": "multi_decoder",
    "CrossAligned": "mit",
    "TemplateBased": "rule_base",
    "RetrieveOnly": "retrieval",
    "DeleteOnly": "label",
    "DeleteAndRetrieve": "orgin",
    "Human": "human",
}
HUMAN = "Human"


#: Outputs that were released for one source fewer in each direction.
_GAPS = {("amazon", "DeleteOnly"): 1}
#: What raters were asked -> dimension, in the order of their answers.
_ASKED = {"grammaticality": "fluency", "sentiment": "style", "topic": "content"}
_ANSWER = re.compile(" ".join(f"{asked}=([1-5])" for asked in _ASKED))
_COLUMNS = ("Input.id", "Input.target", "Input.origs", "Input.mods", "Answer.responses")


class Direction(NamedTuple):
    """Half a corpus: ending of its files, our name, the raters' word for the target style."""

    ending: str
    name: str
    target: str


class Corpus(NamedTuple):
    """Folder of the references, ending of the human outputs, sources a direction, rated sources."""

    folder: str
    human: str
    size: int
    rated: int
    directions: tuple[Direction, Direction]


_SENTIMENT = (Direction("0", "neg2pos", "positive"), Direction("1", "pos2neg", "negative"))
_CAPTIONS = (
    Direction("0", "factual2romantic", "romantic"),
    Direction("1", "factual2humorous", "humorous"),
)
CORPORA = {
    "yelp": Corpus("yelp", "human", 500, 400, _SENTIMENT),
    "amazon": Corpus("amazon", "human", 500, 400, _SENTIMENT),
    "captions": Corpus("imagecaption", "target", 300, 400, _CAPTIONS),
}


class _Rewrite(NamedTuple):
    """One item to be, with its labels."""

    item_id: str
    source_id: str
    system: str
    direction: Direction
    source: str
    output: str
    reference: str
    corpus: str
    candidates: str = ""


#: Target style, source and output, without blanks at their ends.
_Text = tuple[str, str, str]


class _Row(NamedTuple):
    """One worker's form: the rewrites of one source in shuffled order, one answer each."""

    target: str
    source: str
    outputs: list[str]
    answers: list[dict[str, float]]


def load(root: Path) -> Dataset:
    """Load all three corpora as one data set (label ``corpus``); each is also a subset.

    Items: ``item_id`` is ``corpus-direction-number-system``, ``source_id`` the same without the
    system; ``number`` counts the sources of a direction from 0 in the order of the output files.  A
    rated text that no system wrote is ``…-rated-k``, the k-th of its row.  The reference is the
    human rewrite, also for the system ``Human``.  Ratings: 9,600 items, three dimensions each.

    Raises:
        DataError: a file is missing or not as published.
    """
    rewrites: list[_Rewrite] = []
    ratings: list[tuple] = []
    shared: dict[str, int] = {}
    for name, corpus in CORPORA.items():
        released = [
            rewrite
            for direction in corpus.directions
            for rewrite in _released(root, name, corpus, direction)
        ]
        path = root / "evaluation" / "human_ratings" / f"ratings-{name}.csv"
        matched = _match(released, _rows(path, corpus), path)
        rewrites += [*released, *matched.strangers]
        ratings += matched.ratings
        shared |= matched.shared
    items = items_table(
        NAME,
        **{
            column: [getattr(rewrite, column) for rewrite in rewrites]
            for column in ("item_id", "source_id", "system", "source", "output")
        },
        style=[rewrite.direction.target for rewrite in rewrites],
        direction=[rewrite.direction.name for rewrite in rewrites],
        references=[[rewrite.reference] for rewrite in rewrites],
        is_reference=[rewrite.system == HUMAN for rewrite in rewrites],
    )
    labels = labels_table(
        NAME,
        items["item_id"],
        corpus=[rewrite.corpus for rewrite in rewrites],
        ambiguous=[shared.get(rewrite.item_id, "") for rewrite in rewrites],
        candidates=[rewrite.candidates for rewrite in rewrites],
    )
    table = pd.DataFrame(ratings, columns=schema.columns("ratings"))
    return Dataset.of(NAME, items, ratings=table, labels=labels)


# ------------------------------------------------------------------------------------ outputs


def _released(root: Path, name: str, corpus: Corpus, direction: Direction) -> list[_Rewrite]:
    """The outputs of all systems in one direction, source by source.

    Lines are joined by their source text: on Amazon the references come in another order and one
    system lacks a source.
    """
    folder = root / "evaluation" / "outputs" / name
    stem = f"sentiment.test.{direction.ending}"
    paths = {
        system: folder / f"{stem}.{corpus.human if system == HUMAN else ending}"
        for system, ending in SYSTEMS.items()
    }
    sizes = {system: corpus.size - _GAPS.get((name, system), 0) for system in SYSTEMS}
    outputs = {system: _pairs(path, sizes[system]) for system, path in paths.items()}
    paths["reference"] = root / "data" / corpus.folder / f"reference.{direction.ending}"
    outputs["reference"] = _pairs(paths["reference"], corpus.size)
    check(
        fault(paths[system], "a source that the human outputs do not have", row, "source")
        for system, found in outputs.items()
        for row, source in enumerate(found, 1)
        if source not in outputs[HUMAN]
    )
    references = outputs.pop("reference")
    return [
        _Rewrite(
            item_id=f"{name}-{direction.name}-{number}-{system}",
            source_id=f"{name}-{direction.name}-{number}",
            system=system,
            direction=direction,
            source=source,
            output=found[source],
            reference=references[source],
            corpus=name,
        )
        for number, source in enumerate(outputs[HUMAN])
        for system, found in outputs.items()
        if source in found
    ]


def _pairs(path: Path, count: int) -> dict[str, str]:
    """Source -> rewrite from lines of ``source TAB rewrite [TAB label]``, in file order."""
    rows = [line.split("\t") for line in read_lines(path, count)]
    check(
        fault(path, f"{len(row)} fields where 2 or 3 are needed", number)
        for number, row in enumerate(rows, 1)
        if len(row) not in (2, 3)
    )
    sources = [row[0] for row in rows]
    check(
        fault(path, f"the same source as in row {sources.index(source) + 1}", number, "source")
        for number, source in enumerate(sources, 1)
        if sources.index(source) != number - 1
    )
    return {row[0]: row[1] for row in rows}


# ------------------------------------------------------------------------------------ ratings


def _rows(path: Path, corpus: Corpus) -> list[_Row]:
    """The raters' forms, checked; nothing that tells who they are is kept."""
    # The header ends in two columns for the requester that the rows do not have.
    table = read_csv(path, _COLUMNS, may_lack=2)[list(_COLUMNS)]
    if len(table) != corpus.rated:
        check([fault(path, f"{len(table)} rows where {corpus.rated} are needed")])
    unique(table["Input.id"], path, "Input.id")
    one_of(table["Input.target"], [d.target for d in corpus.directions], path, "Input.target")
    rows, problems = [], []
    for number, (_, target, *packed) in enumerate(table.itertuples(index=False), 1):
        sources, outputs, answers = (cell.split("\t") for cell in packed)
        given = [_ANSWER.fullmatch(answer) for answer in answers]
        wide = f"not {len(SYSTEMS)} texts separated by tabs"
        if len(set(sources)) != 1:
            problems.append(fault(path, "not one source", number, "Input.origs"))
        if len(outputs) != len(SYSTEMS):
            problems.append(fault(path, wide, number, "Input.mods"))
        if len(given) != len(SYSTEMS) or None in given:
            what = f"not {len(SYSTEMS)} answers such as 'grammaticality=1 sentiment=1 topic=1'"
            problems.append(fault(path, what, number, "Answer.responses"))
        values = [
            dict(zip(_ASKED.values(), map(float, answer.groups()), strict=True))
            for answer in given
            if answer
        ]
        rows.append(_Row(target, sources[0].strip(), [text.strip() for text in outputs], values))
    check(problems)
    return rows


class _Matched(NamedTuple):
    """Rows of the ratings table, items that no system wrote, item id -> systems with its text."""

    ratings: list[tuple]
    strangers: list[_Rewrite]
    shared: dict[str, int]


def _match(released: list[_Rewrite], rows: list[_Row], path: Path) -> _Matched:
    """Find the item that each rating belongs to (the three cases of the module's docstring)."""
    by_text: dict[_Text, list[_Rewrite]] = {}
    by_source: dict[tuple[str, str], list[_Rewrite]] = {}
    for rewrite in released:
        target, source = rewrite.direction.target, rewrite.source.strip()
        by_source.setdefault((target, source), []).append(rewrite)
        by_text.setdefault((target, source, rewrite.output.strip()), []).append(rewrite)
    check(
        fault(path, "a source that the output files do not have", number, "Input.origs")
        for number, row in enumerate(rows, 1)
        if (row.target, row.source) not in by_source
    )
    result, times = _Matched([], [], {}), Counter[_Text]()
    for row in rows:
        here = by_source[row.target, row.source]
        found = []  # an item and its rater for each text of the row
        for place, output in enumerate(row.outputs, 1):
            text = (row.target, row.source, output)
            same_text = by_text.get(text, [])
            if same_text:
                # A text of n items is rated n times, once for each; only one that is rated more
                # often than that gets a second rater.
                turn, which = divmod(times[text], len(same_text))
                found.append((same_text[which], f"r{turn + 1}"))
            else:
                name = f"{here[0].source_id}-rated-{place}"
                found.append((here[0]._replace(item_id=name, system="", output=output), "r1"))
            times[text] += 1
            if len(same_text) > 1:
                result.shared[found[-1][0].item_id] = len(same_text)
        matched = {item.system for item, _ in found}
        left = " ".join(item.system for item in here if item.system not in matched)
        result.strangers.extend(
            item._replace(candidates=left) for item, _ in found if not item.system
        )
        result.ratings.extend(
            (NAME, item.item_id, dimension, rater, value)
            for (item, rater), answers in zip(found, row.answers, strict=True)
            for dimension, value in answers.items()
        )
    return result


# ------------------------------------------------------------------------------------ subsets


def _corpus(dataset: Dataset, corpus: str) -> Dataset:
    return dataset.where(dataset.label("corpus") == corpus, f"{NAME}@{corpus}")


def _rated(dataset: Dataset, corpus: str = "") -> Dataset:
    """The rated items of one corpus, or of all."""
    whole = _corpus(dataset, corpus) if corpus else dataset
    name = f"{corpus}-rated" if corpus else "rated"
    return whole.where(whole.items["item_id"].isin(whole.ratings["item_id"]), f"{NAME}@{name}")


def _untransferred(dataset: Dataset, corpus: str) -> Dataset:
    return untransferred(_corpus(dataset, corpus), f"{NAME}@{corpus}-untransferred")


#: ``CORPUS-untransferred``: the sources as if they were outputs, with that corpus's references.
SUBSETS: dict[str, Callable[[Dataset], Dataset]] = {
    **{corpus: partial(_corpus, corpus=corpus) for corpus in CORPORA},
    "rated": _rated,
    **{f"{corpus}-rated": partial(_rated, corpus=corpus) for corpus in CORPORA},
    **{f"{corpus}-untransferred": partial(_untransferred, corpus=corpus) for corpus in CORPORA},
}
