"""Where items stand in matrices, and that nothing falls out or is counted twice."""

import numpy as np
import pytest

from tests.analysis.tiny import NAN, constructed, rated, scores
from tstmeta.analysis import bootstrap, correlate
from tstmeta.analysis.frame import pairs
from tstmeta.analysis.matrices import Layout, cube, matrices
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.schema import TstmetaError
from tstmeta.stats import draw, resampled

#: source, system of each item of ``mixed()``
PLACES = ["xA", "yA", "xB", "xA", "y", "zB", "zA", "z", "zA"]
RATINGS = [1.0, 2, 3, 5, 4, 2, 3, 9, 6]


def mixed(places: list[str] = PLACES, ratings: list[float] = RATINGS) -> Dataset:
    """Items out of order; a system twice on a source, some items without a system."""
    ids = [str(number) for number in range(len(places))]
    items = items_table(
        "mixed",
        item_id=ids,
        source_id=[place[0] for place in places],
        system=[place[1:] for place in places],
        source="a b",
        output=[f"out {one}" for one in ids],
    )
    given = ratings_table("mixed", ids, {("content", "r1"): ratings})
    return Dataset.of("mixed", items, Card("mixed", "mixed"), ratings=given)


BY_SOURCE = [[1, 3, 5, NAN], [2, NAN, NAN, 4], [3, 2, 6, 9]]
BY_SYSTEM = [[1, 3], [2, NAN], [5, NAN], [3, 2], [6, NAN]]


@pytest.mark.parametrize(
    ("level", "sources", "systems", "matrix"),
    [("pooled", "xyz", ["A", "B", "A", ""], BY_SOURCE), ("system", "xyxzz", ["A", "B"], BY_SYSTEM)],
    ids=["a second rewrite gets a column of its own", "at level system nameless items stay out"],
)
def test_where_items_stand(level, sources, systems, matrix):
    layout = Layout.of(mixed().items, level)
    assert (layout.sources, layout.systems) == (list(sources), systems)
    np.testing.assert_array_equal(layout.matrix(RATINGS), matrix)


def test_second_rewrites_count_for_their_system_and_their_source():
    metric = [3.0, 1, 2, 6, 9, 5, 1, 8, 2]
    data = mixed([*PLACES, "xC"], [*RATINGS, 4])
    human, metric = np.array([*RATINGS, 4]), [*metric, 7]
    frame = pairs(data, scores(data, metric))
    [row] = correlate(frame, level="system").to_dict("records")
    means = [[17 / 5, 5 / 2, 4], [13 / 5, 7 / 2, 7]]  # of A, B, C
    assert row["value"] == pytest.approx(np.corrcoef(means)[0, 1])
    by_source = [[0, 2, 3, 9], [5, 6, 7, 8]]  # y has two items, which is too few
    values = [np.corrcoef(human[at], np.array(metric)[at])[0, 1] for at in by_source]
    [row] = correlate(frame, level="source").to_dict("records")
    assert (row["value"], row["groups"]) == (pytest.approx(np.mean(values)), 2)


def test_scores_of_each_metric_and_basis_become_a_matrix_with_gaps():
    data = rated()
    given = scores(data, [1, 2, 3, 4, 5, 6], status=["ok", "empty", "error", "refused", "ok", "ok"])
    own = matrices(pairs(data, given))
    assert own.heads[["metric", "signature"]].to_numpy().tolist() == [["m", "m|basis:source"]]
    np.testing.assert_array_equal(own.metrics, [[[1, 2, NAN], [NAN, 5, 6]]])
    np.testing.assert_array_equal(own.human, [[2, 5, 3.5], [4, 2, 1]])
    assert own.against == "mean human rating"
    assert own.tasks is None


def test_the_plan_keeps_tasks_their_size():
    data = constructed()
    plan = matrices(pairs(data, scores(data, [0] * 8))).plan("source", 50)
    assert plan.strata.tolist() == ["x", "y"]
    drawn = draw(plan, (2, 4), np.random.default_rng(0)).sources
    np.testing.assert_array_equal(drawn, np.ones((50, 2)))


def test_a_source_that_fills_two_rows_is_drawn_whole():
    data = mixed()
    own = matrices(pairs(data, scores(data, RATINGS)), level="system")
    drawn = draw(own.plan("both", 200), own.human.shape, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.sources[:, 0], drawn.sources[:, 2])
    np.testing.assert_array_equal(drawn.sources[:, 3], drawn.sources[:, 4])
    assert (drawn.sources[:, 0] != drawn.sources[:, 3]).any()


@pytest.mark.parametrize("unit", ["system", "both"])
@pytest.mark.parametrize("level", ["pooled", "source"])
def test_a_second_rewrite_is_no_second_system(level, unit):
    rng = np.random.default_rng(1)
    places = [
        s + name for s in "uvwxyz" for name in ("A", "B", "C", "D", "A"[: s in "uvx"]) if name
    ]
    human, metric = rng.normal(size=(2, len(places))).round(1)
    data = mixed(places, human.tolist())
    frame = pairs(data, scores(data, metric))
    own = matrices(frame, level)
    assert own.layout.names == ["A", "B", "C", "D"]
    drawn = draw(own.plan(unit, 40), own.human.shape, np.random.default_rng([0, 0]))
    [row] = bootstrap(frame, "spearman", level, unit, 40).to_dict("records")
    assert "4 systems" in row["reason"]
    first = [own.layout.systems.index(name) for name in "ABCD"]
    assert set(drawn.systems[:, first].sum(axis=1)) == {4.0}, "four systems are drawn, not five"
    for name in "ABCD":  # all rewrites of a system are drawn together
        columns = np.flatnonzero(np.array(own.layout.systems) == name)
        assert (np.ptp(drawn.systems[:, columns], axis=1) == 0).all()
    laid = own.human, own.metrics, own.setting("spearman", level), drawn
    if unit == "system":
        assert row["draws"] == pytest.approx(resampled(*laid)[0], nan_ok=True)
    two = mixed(["xA", "xA", "yA"], [1.0, 2, 3])
    with pytest.raises(TstmetaError, match=r"only one system \(A\) was judged"):
        bootstrap(pairs(two, scores(two, [1.0, 2, 3])), level=level, unit=unit)


def test_single_ratings_stand_where_their_means_stand_and_a_lone_rater_is_named():
    data = rated()
    people = cube(data)
    assert people.persons
    assert people.reason == ""
    np.testing.assert_array_equal(np.nanmean(people.ratings, axis=2), [[2, 5, 3.5], [4, 2, 1]])
    assert cube(mixed(), level="system").ratings.shape == (5, 2, 1)
    rows = ratings_table("tiny", list("abcdef"), {("content", "r1"): [1] * 6})
    alone = cube(Dataset.of("tiny", data.items, data.card, ratings=rows))
    assert (alone.persons, alone.reason) == (False, "one rater only")
    assert alone.ratings.shape == (2, 3, 1)
