"""What there is: a table of all data sets, and one data set described in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import plugins
from ..console import TableRows, note
from ..schema import DataError, MissingData, TstmetaError
from . import UnknownDataset, has_numbers, load, manifest, names, paths
from .base import Card, Dataset

if TYPE_CHECKING:  # imported late: the command line must start at once
    import pandas as pd


class Description(NamedTuple):
    """A data set in words and numbers; ``note`` is why it is described by its card alone."""

    title: str
    facts: pd.DataFrame  # part (card, counts, or a dimension), what, value: texts
    body: str  # Markdown
    note: str = ""


def datasets() -> pd.DataFrame:
    """One row a data set: name, title, task, items, dimensions, access (from its card), here.

    ``here`` is yes, partly (files are missing), numbers (ratings and scores without texts) or no.
    """
    import pandas as pd

    return pd.DataFrame(rows()).astype({"items": "Int64"})


def rows() -> TableRows:
    """The rows of :func:`datasets`."""
    return [
        {
            "name": card.name,
            "title": card.title,
            "task": str(card.facts.get("task", "")),
            "items": card.facts.get("items"),
            "dimensions": ", ".join(card.scale) or "-",
            "access": str(card.facts.get("access", "")),
            "here": here(card.name),
        }
        for card in map(Card.read, names())
    ]


def about(data: Iterable[Dataset], frozen: pd.DataFrame | None = None) -> str:
    """Markdown that names the data sets behind a page, and those of ``frozen`` numbers beside."""
    data = list(data)
    rated = [x for x in data if len(x.ratings) or len(x.preferences)]
    old = [] if frozen is None else sorted({_base(name) for name in frozen.get("dataset", ())})
    kinds = {
        "": [x.name for x in rated if x.has_texts],
        " (ratings and scores without texts)": [x.name for x in rated if not x.has_texts],
        " (frozen aggregates)": old,
    }
    listed = ", ".join(f"`{name}`{kind}" for kind, sets in kinds.items() for name in sets)
    text = f"**This page was built with real human ratings**: {listed}."
    if not listed:
        text = "**This page was built without human ratings**: no rated data set is here."
    if old or not listed:
        text += f" Get the ratings with `tstmeta data fetch {' '.join(old) or '--all'}`."
    if built := ", ".join(f"`{x.name}`" for x in data if not len(x.ratings) and x.judged):
        text += f" The labels of {built} hold by construction, and nobody rated it."
    if any(_base(x.name) not in names() for x in data):
        text += " The text is about the book's data: a set or table it names is not yours."
    return text


def _base(name: str) -> str:
    """The registered data set that a name such as ``alva@asset (systems)`` is of."""
    return name.partition("@")[0].partition(" ")[0]


def describe(name: str) -> Description:
    """Card, counts and rating summary of a data set, a named subset or a file."""
    import pandas as pd

    dataset, absence = None, ""
    try:
        dataset = load(name)
    except (DataError, UnknownDataset):
        raise
    except TstmetaError as error:  # not here, or a corpus: the message says which
        absence = str(error)
    card = dataset.card if dataset else Card.read(name.partition("@")[0])
    rows = [*_card_facts(card), *(_counted(dataset) if dataset else [])]
    facts = pd.DataFrame(rows, columns=["part", "what", "value"], dtype=str)
    title = f"{dataset.name}: {card.title}" if dataset else card.title
    return Description(title, facts, card.body, absence)


def here(name: str) -> str:
    """Whether the files of a data set are on this machine: yes, partly, numbers or no."""
    files = [manifest.located(entry) for entry in manifest.manifest() if entry.dataset == name]
    if any(files):
        return "yes" if all(files) else "partly"
    if files:
        return "numbers" if has_numbers(name) else "no"
    if paths.project(name).is_dir():
        return "yes"
    ours = paths.project("cards", f"{name}.md").is_file()
    if ours and not (manifest.folder(name) / f"{name}.csv").is_file():  # put there by hand
        return "no"
    try:
        load(name)
    except MissingData:
        return "no"
    except Exception as error:  # of another package: it must not hide the others
        note(f"{name} cannot be loaded: {plugins.place(error)}")
        return "no"
    return "yes"


def _card_facts(card: Card) -> Iterator[tuple[str, str, str]]:
    for what, value in card.facts.items():
        for key, inner in (value if isinstance(value, dict) else {"": value}).items():
            listed = inner if isinstance(inner, list) else [inner]
            text = ", ".join(map(str, listed))
            if text and inner is not None:
                text = {"True": "yes", "False": "no"}.get(text, text)
                yield "card", f"{what}: {key}" if key else what, text


def _counted(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Counts of a data set and statistics of its ratings: part, what, value (texts)."""
    items = dataset.items
    counts = {
        "items": len(items),
        "sources": items["source_id"].nunique(),
        "systems": len({*items["system"]} - {""}),
        "human references as items": items["is_reference"].sum(),
        "items with references": (items["references"].map(len) > 0).sum(),
        "empty outputs": (dataset.lengths["output_words"] == 0).sum(),
        "outputs equal to the source": dataset.lengths["copy"].sum(),
        **{name: len(getattr(dataset, name)) for name in ("ratings", "preferences", "scores")},
    }
    yield from (("counts", what, str(count)) for what, count in counts.items())
    for dimension in dataset.dimensions:
        ratings = dataset.ratings[dataset.ratings["dimension"] == dimension]
        values, raters = ratings["value"], sorted(set(ratings["rater"]), key=lambda r: (len(r), r))
        yield dimension, "rated items", str(ratings["item_id"].nunique())
        yield dimension, "raters", ", ".join(raters)
        yield dimension, "mean", f"{values.mean():.3f}"
        yield dimension, "standard deviation", f"{values.std():.3f}"
        yield dimension, "range", f"{values.min():g} to {values.max():g}"
