"""A data set: up to five tables and a card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .. import schema
from ..schema import MissingData, Problem, TstmetaError
from . import paths

if TYPE_CHECKING:  # imported late: the command line must start at once
    import pandas as pd

#: Kinds of human values that a metric is compared with.
RATING, CONSTRUCTION = "mean human rating", "label by construction"
#: The label that stands for a dimension on a constructed set, and its value that counts 1.
_CONSTRUCTED = {"content": ("error", "none"), "style": ("shift", "strong")}
_ABOUT_ITEMS = ("ratings", "labels", "preferences", "scores")
#: Columns of :attr:`Dataset.lengths`.
LENGTHS = (
    *("source_words", "output_words", "source_characters", "output_characters"),
    *("copy", "variant"),
)


@dataclass(frozen=True)
class Card:
    """The facts about a data set: front matter and body of ``data/cards/<name>.md``."""

    name: str
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""

    @classmethod
    def read(cls, name: str, path: Path | None = None) -> Self:
        """Read a card; a data set without one gets an empty card."""
        path = path or paths.project("cards", f"{name}.md")
        if not path.is_file():
            return cls(name, name)
        import yaml

        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        facts = yaml.load(front, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return cls(name, facts.get("title", name), facts, body.strip())

    @property
    def scale(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest possible rating of each dimension."""
        scale = self.facts.get("scale") or {}
        return {name: (float(low), float(high)) for name, (low, high) in scale.items()}


def _ids(frame: pd.DataFrame) -> list[str]:
    return list(frame.columns.intersection(["item_id", "item_a", "item_b"]))


@dataclass(frozen=True)
class Dataset:
    """Rated rewrites: tables under one name, validated by :meth:`of`.

    The texts may not be here (see :mod:`.shipped`): sources and outputs are then NaN, a reference
    is None.
    """

    name: str
    items: pd.DataFrame
    ratings: pd.DataFrame
    labels: pd.DataFrame
    preferences: pd.DataFrame
    scores: pd.DataFrame
    card: Card
    #: :data:`LENGTHS` and digest of each item where the texts are not here, index item_id.
    known: pd.DataFrame | None = None

    @classmethod
    def of(
        cls,
        name: str,
        items: pd.DataFrame,
        card: Card | None = None,
        known: pd.DataFrame | None = None,
        **tables: pd.DataFrame | None,
    ) -> Self:
        """Validate the tables given (any of the other four) and fill in those that are not."""
        valid = {"items": schema.validate(items, "items", name)}
        ids, problems = valid["items"].set_index("item_id").index.unique(), []
        for table in _ABOUT_ITEMS:
            frame = tables.pop(table, None)
            frame = schema.empty(table) if frame is None else frame
            valid[table] = frame = schema.validate(frame, table, name)
            for column in _ids(frame):
                unknown = ids.get_indexer(frame[column]) < 0  # isin takes 40 times as long
                for row, item in frame.loc[unknown, column].items():
                    what, remedy = f"no item is called {item!r}", "add the item or drop the row"
                    problems.append(Problem(f"{name} ({table})", what, row + 1, column, remedy))
        schema.check(problems)
        card = card or Card.read(name.partition("@")[0])
        return cls(name=name, card=card, known=known, **valid, **tables)

    def where(self, keep: pd.Series, name: str | None = None) -> Self:
        """The data set restricted to the items where ``keep`` (aligned with ``items``) is true."""
        items = self.items[keep.to_numpy(bool)].reset_index(drop=True)
        if items.empty:
            raise TstmetaError(f"no item of {self.name!r} is left after the selection")
        tables = {}
        for table in _ABOUT_ITEMS:
            frame = getattr(self, table)
            known = frame[_ids(frame)].astype(object).isin(set(items["item_id"])).all(axis=1)
            tables[table] = frame[known].reset_index(drop=True)
        return replace(self, name=name or self.name, items=items, **tables)

    @property
    def has_texts(self) -> bool:
        """Whether the texts of the rewrites are here, and not only their ratings and scores."""
        return self.known is None

    def with_texts(self, purpose: str = "here") -> pd.DataFrame:
        """The items that have a source and an output; MissingData if texts are not here."""
        if not self.has_texts:
            base = self.name.partition("@")[0]
            raise MissingData(
                f"{self.name} is here with its ratings and scores, without its texts, and these are"
                f" needed {purpose}. Get them with: tstmeta data fetch {base}"
            )
        return self.items.dropna(subset=["source", "output"])

    @cached_property
    def lengths(self) -> pd.DataFrame:
        """Lengths in words (split at white space) and characters, and which outputs are the same.

        Index item_id in item order, columns :data:`LENGTHS`; NaN where a text is missing.  ``copy``
        is whether the output is the source, ``variant`` numbers the different outputs of a source.
        """
        ids = self.items["item_id"]
        if self.known is not None:
            return self.known[[*LENGTHS]].reindex(ids)
        table = (self.items["source"] == self.items["output"]).to_frame("copy")
        for side in ("source", "output"):
            table[f"{side}_words"] = self.items[side].str.split().str.len()
            table[f"{side}_characters"] = self.items[side].str.len()
        outputs = self.items.groupby(["source_id", "output"], sort=False, dropna=False).ngroup()
        table["variant"] = outputs.groupby(self.items["source_id"]).rank("dense").astype(int) - 1
        return table[[*LENGTHS]].set_axis(ids)

    @cached_property
    def digests(self) -> pd.Series:
        """Sixteen hexadecimal digits of the texts, style and language of each item, in order."""
        ids = self.items["item_id"]
        if self.known is not None:
            return self.known["digest"].reindex(ids)
        texts = self.items[["source", "output", "references", "style", "language"]]
        lines = map(json.dumps, texts.astype(object).itertuples(index=False, name=None))
        hashes = [hashlib.sha256(line.encode()).hexdigest()[:16] for line in lines]
        return self.items.assign(digest=hashes).set_index("item_id")["digest"]

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean ratings, index item_id in item order, one column a rated dimension."""
        table = self.ratings.pivot_table(
            index="item_id", columns="dimension", values="value", aggfunc="mean", observed=True
        )
        table.columns.name = None
        return table.reindex(self.items["item_id"])

    def label(self, name: str) -> pd.Series:
        """A label as a Series over item_id in item order; missing ones are empty texts."""
        rows = self.labels[self.labels["name"] == name].set_index("item_id")["value"]
        return rows.reindex(self.items["item_id"]).fillna("")

    def raters(self, dimension: str) -> pd.DataFrame:
        """Ratings as a matrix [items in item order, raters], NaN where an item was not rated."""
        rows = self.ratings[self.ratings["dimension"] == dimension]
        matrix = rows.pivot_table(index="item_id", columns="rater", values="value", observed=True)
        return matrix.reindex(self.items["item_id"])

    def human(self, dimension: str) -> pd.Series:
        """The human values that a metric is compared with: index item_id in item order, or NaN.

        Mean ratings, or else labels by construction (:meth:`against` says which): content is 1
        where nothing was changed, 0 with one error; style is 1 for a strong, 0 for a light shift.
        """
        if dimension in self.means:
            return self.means[dimension]
        name, yes = _CONSTRUCTED.get(dimension, ("", ""))
        labels = self.label(name)
        return (labels == yes).astype(float).where(labels != "")

    def against(self, dimension: str) -> str:
        """The kind of values of :meth:`human`: :data:`RATING`, :data:`CONSTRUCTION`, or ""."""
        kind = RATING if dimension in self.means else CONSTRUCTION
        return kind if self.human(dimension).notna().any() else ""

    @cached_property
    def judged(self) -> list[str]:
        """Dimensions that a metric can be held against, by ratings or by labels."""
        return [dimension for dimension in schema.DIMENSIONS if self.against(dimension)]

    @property
    def dimensions(self) -> list[str]:
        """Rated dimensions, in the standard order."""
        rated = set(self.ratings["dimension"])
        return [dimension for dimension in schema.DIMENSIONS if dimension in rated]


def labelled(dataset: Dataset, label: str, value: str) -> Dataset:
    """The items with a value of a label; the card may have a scale for them."""
    subset = dataset.where(dataset.label(label) == value)
    facts = dict(subset.card.facts)
    facts["scale"] = facts.get("subset_scales", {}).get(value, facts.get("scale"))
    return replace(subset, card=replace(subset.card, facts=facts))


def by_label(label: str, values: Iterable[str]) -> dict[str, Callable[[Dataset], Dataset]]:
    """Subsets, one for each value of a label, by their names without that of the data set."""
    return {value: partial(labelled, label=label, value=value) for value in values}


def without_systems(*systems: str) -> Callable[[Dataset], Dataset]:
    return lambda dataset: dataset.where(~dataset.items["system"].isin(systems))
