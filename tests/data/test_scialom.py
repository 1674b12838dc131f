"""Sets that cannot be fetched, in the form of one's own: scialom with its subsets, and cao."""

import pytest

from tests.data.raw import write_table
from tstmeta import data
from tstmeta.schema import DIMENSIONS, DataError, MissingData


def rewrite(item: str, ratings: dict[str, int], system: str = "ACCESS") -> dict[str, object]:
    """A row with so many ratings of each dimension: 0, 1, 2, ... of raters r1, r2, r3, ..."""
    texts = {"source": "The café, shut since May, reopened.", "output": f"The café ({item})."}
    cells = {f"{d}.r{n + 1}": n for d, count in ratings.items() for n in range(count)}
    human = {"is_reference": system == "human"}
    return {"item_id": item, **texts, "system": system, "style": "simplified", **human, **cells}


def test_subsets_are_what_people_wrote_and_the_first_eleven_ratings_of_systems(bare):
    full, two = dict.fromkeys(DIMENSIONS[:3], 13), dict.fromkeys(DIMENSIONS[:3], 2)
    rows = [rewrite("a", full), rewrite("b", full | {"fluency": 10})]
    rows += [rewrite("c", two, "human"), rewrite("d", {"content": 1}, "human")]
    write_table(bare / "scialom/scialom.csv", rows)
    assert data.load("scialom").card.title.startswith("Simplification ratings")
    assert data.load("scialom@human").items["item_id"].tolist() == ["c"]
    part = data.load("scialom@alva-m")
    assert part.items["item_id"].tolist() == ["a"]
    assert part.ratings.groupby("dimension").size().tolist() == [11] * 3
    assert part.means.loc["a", "content"] == sum(range(11)) / 11


def test_a_rating_off_the_scale_of_the_card_is_refused(bare):
    write_table(bare / "cao/cao.csv", [{**rewrite("a", {}), "content.mean": 7}])
    with pytest.raises(DataError, match=r"row 1, column content\.mean: bad value '7'"):
        data.load("cao")


@pytest.mark.parametrize("name", ["cao", "scialom"])
def test_without_the_file_the_set_is_not_available_and_its_card_says_what_to_do(bare, name):
    (bare / name).mkdir()
    (bare / name / "notes.txt").touch()
    assert not data.available(name)
    with pytest.raises(MissingData, match=rf"{name}\.csv is not here.*tstmeta data show {name}"):
        data.load(name)
    assert f"data/external/{name}/{name}.csv" in data.Card.read(name).body
    (bare / name / f"{name}.csv").touch()
    assert data.available(name)
