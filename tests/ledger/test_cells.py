"""The printed numbers, and what it means to match one."""

import math
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta import metrics
from tstmeta.data import paths
from tstmeta.ledger.cells import PAPERS, Cell, cells, matches, names, remarks, round_half_up
from tstmeta.metrics import catalogue


def cell(printed: str, **fields) -> Cell:
    """A cell of nothing but a printed number."""
    decimals = len(printed.partition(".")[2])
    blank = dict.fromkeys(Cell._fields, "")
    number = {"printed": printed, "value": float(printed), "decimals": decimals}
    return Cell(**{**blank, **number, **fields})


#: value, decimals, rounded
ROUNDED = [
    (0.0, 2, 0.0),
    (0.125, 2, 0.13),
    (-0.125, 2, -0.13),
    (0.005, 2, 0.01),
    (-0.0049999, 2, 0.0),
    (2.675, 2, 2.68),  # the float is below the half, its shortest form is not
    (1.005, 2, 1.01),
    (56.95, 1, 57.0),
    (56.949999, 1, 56.9),
    (0.5, 0, 1),
    (2.5, 0, 3),
    (-2.5, 0, -3),
    (0.1 + 0.2, 1, 0.3),
    (99.995, 2, 100.0),
    (4.386779789873896e-186, 1, 0.0),
    (1250, -2, 1300),
    (1, 10, 1),
]


@pytest.mark.parametrize(("value", "decimals", "rounded"), ROUNDED)
def test_halves_are_rounded_away_from_zero_as_they_are_written(value, decimals, rounded):
    assert round_half_up(value, decimals) == rounded


def test_there_is_no_negative_zero():
    assert math.copysign(1, round_half_up(-0.001, 2)) == 1


@given(st.integers(-(10**9), 10**9), st.integers(1, 6), st.integers(0, 6))
def test_rounding_agrees_with_whole_numbers(number, places, decimals):
    value = float(Decimal(number).scaleb(-places))
    if decimals >= places:
        assert round_half_up(value, decimals) == value
        return
    step = 10 ** (places - decimals)
    whole = (abs(number) + step // 2) // step * (1 if number >= 0 else -1)
    assert round_half_up(value, decimals) == float(Decimal(whole).scaleb(-decimals))


@pytest.mark.parametrize(
    ("value", "printed", "equal"),
    [
        (0.3949, "0.39", True),
        (0.395, "0.40", True),
        (0.395, "0.39", False),
        (-0.004, "0.00", True),
        (0.5, "-0.5", False),
        (0.4499999, "0.5", False),
        (1e-33, "0.0", True),
        (500, "50", False),
        (math.nan, "0.5", False),
    ],
)
def test_a_value_matches_when_it_is_equal_at_the_decimals_printed(value, printed, equal):
    assert matches(value, cell(printed)) is equal


def test_there_are_2100_cells_each_with_a_key_of_its_own():
    keys = [cell.cell for cell in cells()]
    assert len(keys) == len(set(keys)) == 2100
    assert {cell.paper for cell in cells()} == set(PAPERS)
    assert all(cell.cell.startswith(f"{cell.paper}.") for cell in cells())


def test_value_and_decimals_follow_from_what_is_printed():
    for cell in cells():
        text = cell.printed.rstrip("*%").lstrip("≥>").replace("−", "-").replace(",", "")
        assert float(text) == cell.value, cell
        assert len(text.partition(".")[2]) == cell.decimals, cell


def test_each_name_is_ours_or_says_what_is_needed():
    frame = pd.read_csv(paths.own("published", "names.csv"), dtype=str, keep_default_na=False)
    assert not frame.duplicated(["paper", "kind", "printed"]).any()
    assert set(frame["paper"]) <= set(PAPERS)
    for row in frame.to_dict("records"):
        assert names(row["paper"], row["kind"])[row["printed"]] == (row["ours"], row["needs"])
        assert bool(row["ours"]) != bool(row["needs"]) or row["kind"] == "system", row


def test_every_metric_that_is_ours_is_a_metric_or_released():
    for paper in PAPERS:
        for ours, _ in names(paper, "metric").values():
            if ours and not ours.startswith("released:"):
                assert metrics.get(ours).name == ours


def test_every_remark_is_about_a_cell_and_has_a_reason():
    assert set(remarks()) <= {cell.cell for cell in cells()}
    for status, reason in remarks().values():
        assert status in ("differs", "misprint")
        assert len(reason) > 20


# --------------------------------------------------------------- metrics that the papers print

#: Printed in the column of metrics and none: people, their agreement, what they were asked, and
#: differences of two values of a metric.
NO_METRICS = {
    *("", "human mean rating", "Human", "inter-annotator agreement"),
    *("transfer quality", "semantic preservation", "fluency", "delta_Sim", "delta_PP"),
}


def test_every_printed_metric_is_one_of_ours_and_no_other_is_listed():
    frame = pd.read_csv(paths.own("published", "names.csv"), dtype=str, keep_default_na=False)
    rows = frame[frame["kind"] == "metric"].to_dict("records")
    listed = {(row["paper"], row["printed"]): row["listed"].split() for row in rows}
    printed = {(cell.paper, cell.metric) for cell in cells() if cell.metric not in NO_METRICS}
    assert set(listed) == printed
    assert all(names and set(names) <= set(catalogue.names()) for names in listed.values())
    assert {cell.metric for cell in cells()} >= NO_METRICS
    for row in rows:
        if row["ours"] and not row["ours"].startswith("released:"):
            assert row["ours"] in row["listed"].split()
