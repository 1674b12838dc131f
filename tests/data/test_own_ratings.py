"""A rating file for a data set that is already there."""

import pytest

from tstmeta import data
from tstmeta.data.own_values import rated
from tstmeta.schema import DataError

HEAD = "item_id,dimension,rater,value\n"
ITEM = "formal-01-strong"


@pytest.fixture
def contrast():
    return data.load("contrast")


def write(path, *rows):
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path


def test_ratings_of_a_file_replace_those_of_the_data_set_and_raters_lose_their_names(
    contrast, tmp_path
):
    path = write(tmp_path / "r.csv", f"{ITEM},content,Ada,4", f"{ITEM},content,Bo,2")
    found = rated(contrast, path)
    assert found.dimensions == ["content"]
    assert found.means["content"][ITEM] == 3
    assert set(found.ratings["rater"]) == {"r1", "r2"}
    assert found.items is contrast.items
    assert not len(contrast.ratings)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("formal-01-stron,content,r1,4", "no item is called"),
        (f"{ITEM},contnet,r1,4", "unknown dimension"),
        (f"{ITEM},content,r1,", "no value"),
        (f"{ITEM},content,,4", "no rater"),
        (f"{ITEM},content,r1,four", "not a number"),
    ],
)
def test_a_fault_names_its_row_and_remedy(contrast, tmp_path, row, what):
    path = write(tmp_path / "r.csv", f"{ITEM},style,r1,4", row)
    with pytest.raises(DataError, match=what) as report:
        rated(contrast, path)
    assert [problem.row for problem in report.value.problems] == [2]
    assert all(problem.remedy for problem in report.value.problems)


def test_a_mean_beside_single_ratings_would_count_people_twice(contrast, tmp_path):
    path = write(tmp_path / "r.csv", f"{ITEM},content,r1,4", f"{ITEM},content,mean,4")
    with pytest.raises(DataError, match="single ratings and a mean"):
        rated(contrast, path)
