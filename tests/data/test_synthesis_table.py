"""The table that says which rated sets are pooled, and which sets are one family."""

from itertools import permutations

import pandas as pd
import pytest

from tests.helpers import needs
from tstmeta import data
from tstmeta.data import Card, paths

TABLE = pd.read_csv(paths.project("cards", "synthesis.csv"), keep_default_na=False)
JUDGED = TABLE[TABLE["panel"] != "out"]
BASES = TABLE["set"].str.partition("@")[0]
QUESTIONS = TABLE.columns[TABLE.columns.str.startswith("question_")]


@pytest.mark.parametrize("name", TABLE["set"])
def test_a_row_names_a_set_of_the_catalogue_and_dimensions_that_its_card_rates(name):
    base, _, subset = name.partition("@")
    card, row = Card.read(base), TABLE.set_index("set").loc[name]
    assert name == base or subset in card.facts["subsets"]
    rated = card.facts.get("subset_scales", {}).get(subset, card.scale) or {"content", "style"}
    assert {*row["dimensions"].split()} <= {*rated}
    assert {q.removeprefix("question_") for q in QUESTIONS if row[q]} <= {*rated}


def test_every_data_set_with_rated_rewrites_is_in_the_table():
    corpora = {name for name in data.names() if getattr(data._module(name), "CORPUS", False)}
    assert {name for name in data.names() if Card.read(name).scale} - corpora <= {*BASES}


@needs(*sorted({*BASES[JUDGED.index]}))
def test_sets_that_share_more_than_a_hundredth_of_their_sources_are_one_family():
    family = JUDGED.set_index("set")["family"]
    # in lower case, letters and digits alone, so that tokenisation does not tell
    texts = {name: data.load(name).items["source"].str.lower() for name in family.index}
    sources = {k: {*v.str.replace(r"\W", "", regex=True)} - {""} for k, v in texts.items()}
    shared = {
        (a, b): share
        for a, b in permutations(sources, 2)
        if family[a] != family[b]
        and (share := len(sources[a] & sources[b]) / len(sources[a])) > 0.01
    }
    assert not shared
