"""Named subsets that are collections: groups of items that were rated apart, often on other scales.

A data set that joins several collections tells them apart by the label ``collection``.  Its card
gives the scale of each under ``subset_scales``; the card of the subset then has that scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .base import Dataset

LABEL = "collection"


def collection(dataset: Dataset, name: str) -> Dataset:
    """The items of one collection, with its own scale on the card.

    Raises:
        TstmetaError: no item is of that collection.
    """
    subset = dataset.where(dataset.label(LABEL) == name, f"{dataset.name}@{name}")
    scales = subset.card.facts.get("subset_scales") or {}
    if name not in scales:
        return subset
    facts = {**subset.card.facts, "scale": scales[name]}
    return replace(subset, card=replace(subset.card, facts=facts))


def subsets(*names: str) -> dict[str, Callable[[Dataset], Dataset]]:
    """A ``SUBSETS`` dict with one entry a collection."""
    return {name: partial(collection, name=name) for name in names}
