"""Lesson 9: the world is as planted, and the page says what its judges are."""

import numpy as np
import pytest

from tests.report.judged import study
from tests.report.test_html import check
from tests.report.tiny import rated
from tstmeta.data import paths
from tstmeta.report import judge_raters, judge_ratings
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import judges
from tstmeta.schema import TstmetaError

WORLD = judges.world(sources=60, seed=3)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``lai`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "lai": study()}
    return made


def test_people_give_grades_that_follow_the_quality():
    assert WORLD.people.shape == (60, 4, 5)
    assert set(np.unique(WORLD.people)) <= {1, 2, 3, 4, 5}
    mean = WORLD.people.mean(axis=2).ravel()
    assert np.corrcoef(mean, WORLD.quality.ravel())[0, 1] > 0.8
    assert abs(np.corrcoef(mean, WORLD.other.ravel())[0, 1]) < 0.2


def test_the_same_seed_gives_the_same_world_and_answers():
    again = judges.world(sources=60, seed=3)
    assert (again.people == WORLD.people).all()
    judge = judges.JUDGES["wavering"]
    assert (judges.answers(WORLD, judge, 2) == judges.answers(again, judge, 2)).all()
    # more samples leave the first ones as they are
    assert (judges.answers(WORLD, judge, 4)[:2] == judges.answers(WORLD, judge, 2)).all()


@pytest.mark.parametrize("sizes", [{"sources": 1}, {"raters": 1}, {"noise": -1.0}])
def test_a_world_without_anything_to_rate_is_refused(sizes):
    with pytest.raises(TstmetaError, match="at least two"):
        judges.world(**sizes)


def test_alpha_crowns_the_stubborn_judge_and_people_do_not():
    rows = judges.table_of(WORLD).set_index("judge")
    assert rows["alpha"].idxmax() == "stubborn"
    assert rows["one"].idxmax() == "careful"
    assert rows.loc["wavering", "alpha"] < 0.4
    assert rows.loc["wavering", "mean"] - rows.loc["wavering", "one"] > 0.2
    assert rows.loc["stubborn", "mean"] - rows.loc["stubborn", "one"] < 0.05
    assert np.isnan(rows.loc["indifferent", "alpha"])
    text = " ".join(check(judges.table(rows.reset_index()).text).text)
    assert "passes" in text
    assert "fails" in text


def test_more_answers_follow_spearman_and_brown():
    rows = judges.along(WORLD, most=8)
    assert set(rows["judge"]) == {"careful", "wavering", "stubborn"}
    last = rows[rows["answers"] == 8]
    assert (np.abs(last["value"] - last["law"]) < 0.08).all()
    assert len(judges.along_picture(rows, WORLD).figure.axes) == 1


def test_with_noisy_raters_a_flat_line_passes_and_with_careful_ones_it_fails():
    rows = judges.by_noise((0.3, 3.0), worlds=2, sources=40)
    found = rows.pivot_table(index="noise", columns="name", values="omega")
    assert found.loc[0.3, "flat line"] == 0
    assert found.loc[3.0, "flat line"] == 1
    assert found.loc[3.0, "indifferent"] == 1
    alike = rows.groupby("noise")["raters"].first()
    assert alike[0.3] > 0.8 > 0.3 > alike[3.0]
    assert "A flat line beats half" in judges.by_noise_said(rows).data
    assert "never" in judges.by_noise_said(rows[rows["noise"] == 0.3]).data
    assert len(judges.by_noise_picture(rows).figure.axes) == 1


def test_without_data_the_lesson_takes_the_contrast_set(bench):
    assert [data.name for data in judges.sets(bench, [])] == ["contrast"]
    assert [data.name for data in judges.sets(bench, [], "tiny")] == ["tiny"]
    given = judge_ratings.collect(bench, "lai")
    assert [data.name for data in judges.sets(bench, given, "lai")] == ["lai"]


def test_metrics_stand_in_where_no_judge_was_released(bench):
    rows = judge_raters.stand_ins(bench, [study("persons")], ["chrf", "pinc"])
    assert rows["name"].iloc[0] == "flat line"
    assert rows["data"].unique().tolist() == ["persons"]
    assert set(rows["name"].iloc[1:]) <= {"chrf", "pinc ↓"}
    check(judge_raters.table(rows).text)


def test_one_rater_alone_cannot_be_replaced(bench):
    rows = judge_raters.stand_ins(bench, [bench.dataset("tiny")], ["chrf"], "style")
    assert rows["verdict"].tolist() == ["not identifiable"]
    assert "one rater only" in " ".join(check(judge_raters.table(rows).text).text)
