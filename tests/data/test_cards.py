"""Every data set has a card, and the card tells the truth about what is loaded."""

import re

import pandas as pd
import pytest

from tests.helpers import where_here
from tstmeta import data, schema
from tstmeta.data import Card, paths

NAMES = data.names()
BIBLIOGRAPHY = paths.home() / "book" / "references.bib"


@pytest.mark.parametrize("name", NAMES)
def test_a_card_cites_what_is_in_the_bibliography_and_names_the_subsets(name):
    facts = Card.read(name).facts
    keys = set(re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY.read_text("utf-8"), re.M))
    assert {facts["citation"], *facts.get("also_cite", [])} <= keys
    assert list(facts["subsets"]) == [full.partition("@")[2] for full in data.subsets(name)]


def test_sentences_are_shown_only_of_sets_whose_licence_lets_us():
    assert {path.stem for path in paths.project("cards").glob("*.md")} == set(NAMES)
    shown = {name for name in NAMES if Card.read(name).facts.get("examples")}
    assert shown == {"contrast", "pauli"}


@pytest.mark.parametrize("name", NAMES)
def test_scales_are_ranges_of_known_dimensions(name):
    card = Card.read(name)
    assert set(card.scale) <= set(schema.DIMENSIONS)
    assert all(low < high for low, high in card.scale.values())
    for subset, scale in card.facts.get("subset_scales", {}).items():
        assert subset in card.facts["subsets"]
        for dimension, (low, high) in scale.items():
            assert card.scale[dimension][0] <= low < high <= card.scale[dimension][1]


def outside(ratings: pd.DataFrame, scale: dict[str, tuple[float, float]]) -> list[str]:
    """Dimensions with a rating off its scale, or without a scale."""
    bounds = ratings.groupby("dimension")["value"].agg(["min", "max"])
    return [
        str(dimension)
        for dimension, low, high in bounds.itertuples()
        if not (dimension in scale and scale[dimension][0] <= low <= high <= scale[dimension][1])
    ]


REWRITES = [name for name in NAMES if not getattr(data._module(name), "CORPUS", False)]


@pytest.mark.parametrize("name", where_here(REWRITES))
def test_the_card_has_the_number_of_items_and_scales_that_cover_all_ratings(name):
    dataset = data.load(name)
    assert dataset.card.facts["items"] == len(dataset.items)
    assert not outside(dataset.ratings, dataset.card.scale)
    if not dataset.ratings.empty:
        assert set(dataset.card.scale) == set(dataset.dimensions)
    for subset in dataset.card.facts.get("subset_scales", {}):
        part = data.load(f"{name}@{subset}")
        assert part.name == f"{name}@{subset}"
        assert not outside(part.ratings, part.card.scale)
        assert set(part.card.scale) == set(part.dimensions)
