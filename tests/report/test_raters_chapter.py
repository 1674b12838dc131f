"""The chapter of raters: people beside metrics, on any data."""

import pytest

from tests.report.tiny import constructed, rated
from tstmeta.report.bench import Bench
from tstmeta.report.raters_chapter import Raters


@pytest.fixture
def part(tmp_path):
    def make(*datasets, dimension="content"):
        bench = Bench(tmp_path)
        bench._datasets.update({data.name: data for data in datasets})
        found = Raters(bench, datasets[0].name, ["rouge1", "ter"], dimension)
        return found

    return make


def test_a_metric_for_which_less_is_better_is_turned_round_and_marked(part):
    data = rated()
    found = part(data)
    scores = found.scores(data)
    plain = found.bench.table(data, ["ter"], ["source"]).set_index("item_id")["value"]
    turned = scores[scores["metric"] == "ter ↓"].set_index("item_id")["value"]
    assert "ter" not in set(scores["metric"])
    assert (turned == -plain).all()
    assert {"rouge1", "length-ratio"} <= set(scores["metric"])


def test_tables_and_picture_are_there_for_single_ratings(part):
    found = part(rated())
    rows = found.ceilings()
    assert "persons" in found.reliability().text
    assert "held-out person" in found.ceiling_table(rows).text
    assert found.replacing().text


def test_corrected_values_and_random_halves_stand_beside_raw_ones(part):
    found = part(rated())
    assert "halves, stepped up" in found.reliability().text
    assert "r, corrected" in found.corrected().text
    said = "None of the data sets shown has ratings of content"
    assert said in part(constructed()).corrected().data


def test_few_systems_have_no_value_of_their_own(part):
    found = part(rated())
    rows = found.ceilings()
    text = found.ceiling_table(rows).text
    system = rows[(rows["level"] == "system")]
    assert (system["n"].iloc[0] == 0) or "systems are too few" in text


def test_labels_by_construction_are_no_ratings(part):
    found = part(constructed())
    said = "None of the data sets shown has ratings of content"
    assert said in found.reliability().data
    assert said in found.ceiling_table(found.ceilings()).data
    assert found.ceiling_picture(found.ceilings()).data == ""
    assert said in found.replacing().data
