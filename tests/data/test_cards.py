"""Every data set has a card, and the card tells the truth about what is loaded."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tests.helpers import needs
from tstmeta import data, schema
from tstmeta.data import Card, paths

NAMES = data.names()
NEEDED = {
    *("name", "title", "task", "rated", "raters", "scale", "licence", "citation", "url", "commit"),
    *("access", "verified", "examples", "subsets"),
}
OPTIONAL = {"also_cite", "differs", "outputs", "overlaps", "subset_scales"}
HEADINGS = ["What", "Who rated", "How to get it", "Known traps"]
#: Whose licence lets us print sentences.
SHOWN = {"contrast", "world", "pauli"}
BIBLIOGRAPHY = paths.home() / "book" / "references.bib"


def test_every_data_set_has_a_card_and_there_is_no_stray_one():
    cards = {path.stem for path in paths.own("cards").glob("*.md")}
    assert cards == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_front_matter_has_the_known_keys_and_cites_what_is_in_the_bibliography(name):
    facts = Card.read(name).facts
    assert set(facts) >= NEEDED
    assert set(facts) <= NEEDED | OPTIONAL
    assert facts["name"] == name
    assert facts["access"] in {"public", "partial", "private", "ours"}
    assert isinstance(facts["verified"], bool)
    texts = [facts[key] for key in ("title", "task", "rated", "raters", "licence")]
    assert all(isinstance(text, str) and text for text in texts)
    assert facts["url"] == "" or re.fullmatch(r"https://\S+", facts["url"])
    keys = set(re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY.read_text("utf-8"), re.M))
    assert {facts["citation"], *facts.get("also_cite", [])} <= keys
    assert facts["commit"] == "" or re.fullmatch(r"[0-9a-f]{40}", facts["commit"])


@pytest.mark.parametrize("name", NAMES)
def test_prose_has_the_four_headings_and_all_subsets_are_named(name):
    card = Card.read(name)
    assert re.findall(r"^## (.+)$", card.body, re.M) == HEADINGS
    assert all(part.strip() for part in re.split(r"^## .+$", card.body, flags=re.M)[1:])
    assert card.facts.get("examples") == (name in SHOWN)
    known = [full.partition("@")[2] for full in data.subsets(name)]
    assert list(card.facts["subsets"]) == known


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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=needs(name))
        for name in NAMES
        if name != "contrast" and not getattr(data._module(name), "CORPUS", False)
    ],
)
def test_the_scale_covers_all_ratings_and_names_no_other_dimension(name):
    whole = data.load(name)
    assert not outside(whole.ratings, whole.card.scale)
    if not whole.ratings.empty:
        assert set(whole.card.scale) == set(whole.dimensions)
    for subset in whole.card.facts.get("subset_scales", {}):
        part = data.load(f"{name}@{subset}")
        assert not outside(part.ratings, part.card.scale)
        assert set(part.card.scale) == set(part.dimensions)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"contrast", "world"}))
def test_the_card_says_how_to_get_the_files(name):
    section = Card.read(name).body.split("## How to get it")[1].split("## ")[0]
    private = Card.read(name).facts["access"] == "private"
    assert ("Ask the authors" if private else f"`tstmeta data fetch {name}`") in section
