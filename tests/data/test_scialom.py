"""The archive that nobody here has seen: the form that we expect, on a file that we made up."""

import pytest

from tests.data.raw import write_table
from tstmeta import data
from tstmeta.data import scialom
from tstmeta.data.raw import UnverifiedForm
from tstmeta.schema import DataError, MissingData

PEOPLE = [f"made-up-worker-{n}" for n in range(13)]
INSIDE = scialom.PLACES[0]


def rating(**cells: object):
    """One raw row: what is not given is a system's output about a café."""
    return {
        **{"source": "The café, shut since May, reopened.", "simplification": "The café is open."},
        **{"sentence_id": 3, "simplification_type": "system", "system_name": "ACCESS"},
        **{"aspect": "meaning", "worker_id": PEOPLE[0], "rating": 50},
        "references": "['The café opened again.', 'It is open.']",
        **cells,
    }


def rows():
    """One human output (2 ratings an aspect), one with an aspect missing, three system outputs."""
    human = {"system_name": "", "simplification_type": "asset", "references": ""}
    for aspect in scialom.ASPECTS:
        for place in (0, 1):
            yield rating(aspect=aspect, worker_id=PEOPLE[place], rating=80 + place, **human)
        for place in range(13):
            cells = {"aspect": aspect, "worker_id": PEOPLE[place], "rating": place}
            yield rating(**cells)
            if aspect != "fluency" or place < 10:
                yield rating(simplification="Open now.", **cells)
        yield rating(aspect=aspect, system_name="NTS v2", sentence_id=4)
    yield rating(simplification="It's open.", **human)


@pytest.fixture
def folder(tmp_path):
    write_table(tmp_path / INSIDE, list(rows()), encoding="latin-1")
    return tmp_path


def load(root):
    """Load; the warning is part of the form."""
    with pytest.warns(UnverifiedForm, match="never seen"):
        return scialom.load(root)


def test_items_are_distinct_texts(folder):
    items = load(folder).items.set_index("item_id")
    assert list(items.index) == ["3-human-1", "3-ACCESS-1", "3-ACCESS-2", "4-NTS-v2-1", "3-human-2"]
    assert items["system"].tolist() == ["human", "ACCESS", "ACCESS", "NTS v2", "human"]
    assert items["is_reference"].tolist() == [True, False, False, False, True]
    assert items.loc["3-ACCESS-1", "source"] == "The café, shut since May, reopened."
    assert items.loc["3-ACCESS-1", "references"] == ["The café opened again.", "It is open."]
    assert items.loc["3-human-1", "references"] == []
    assert set(items["source_id"]) == {"sentence-3", "sentence-4"}


@pytest.mark.filterwarnings("ignore::tstmeta.data.raw.UnverifiedForm")
def test_a_rating_off_the_scale_of_the_card_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    write_table(
        tmp_path / "scialom" / INSIDE, [rating(rating=50), rating(rating=800, worker_id="b")]
    )
    with pytest.raises(DataError, match="column content: ratings from 50 to 800"):
        data.load("scialom")


def test_raters_keep_their_identity_across_dimensions(folder):
    loaded = load(folder)
    for dimension in scialom.ASPECTS.values():
        row = loaded.raters(dimension).loc["3-ACCESS-1"].dropna()
        assert row.to_dict() == {f"r{n + 1}": float(n) for n in range(13)}


def test_human_has_what_people_wrote_and_all_aspects_rate(folder):
    human = scialom.SUBSETS["human"](load(folder))
    assert human.means.T.to_dict("list") == {"3-human-1": [80.5] * 3}


def test_alva_m_has_the_first_eleven_ratings_of_each_aspect(folder):
    subset = scialom.SUBSETS["alva-m"](load(folder))
    assert subset.items["item_id"].tolist() == ["3-ACCESS-1"]
    assert subset.ratings.groupby("dimension").size().to_dict() == dict.fromkeys(
        ("content", "fluency", "style"), 11
    )
    assert subset.means.loc["3-ACCESS-1", "content"] == sum(range(11)) / 11


def test_a_missing_or_packed_file_says_how_to_get_it(tmp_path):
    with pytest.raises(MissingData, match=r"Unpack .*tstmeta data show scialom"):
        scialom.load(tmp_path)
