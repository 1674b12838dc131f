"""The printed numbers, and what it means to match one."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tstmeta as tst
from tstmeta.ledger.cells import PAPERS, Cell, cells, matches, read, round_half_up
from tstmeta.metrics import catalogue, registry


def cell(printed: str, **fields) -> Cell:
    """A cell of nothing but a printed number."""
    number = {"value": float(printed), "decimals": len(printed.partition(".")[2])}
    return Cell(**{**dict.fromkeys(Cell._fields, ""), "printed": printed, **number, **fields})


@pytest.mark.parametrize(
    ("value", "decimals", "rounded"),
    [
        (-0.125, 2, -0.13),
        (2.675, 2, 2.68),  # the float is below the half, its shortest form is not
        (56.95, 1, 57.0),
        (4.386779789873896e-186, 1, 0.0),
    ],
)
def test_halves_are_rounded_away_from_zero_as_they_are_written(value, decimals, rounded):
    assert repr(round_half_up(value, decimals)) == repr(float(rounded))  # no zero is negative


@given(st.integers(-(10**9), 10**9), st.integers(1, 6), st.integers(0, 6))
def test_rounding_agrees_with_whole_numbers(number, places, decimals):
    value = float(Decimal(number).scaleb(-places))
    step = 10 ** max(places - decimals, 0)
    whole = (abs(number) + step // 2) // step * (1 if number >= 0 else -1)
    wanted = value if decimals >= places else float(Decimal(whole).scaleb(-decimals))
    assert round_half_up(value, decimals) == wanted


@pytest.mark.parametrize(
    ("value", "printed", "equal"),
    [
        *((0.3949, "0.39", True), (0.395, "0.39", False), (-0.004, "0.00", True)),
        *((0.5, "-0.5", False), (math.nan, "0.5", False)),
    ],
)
def test_a_value_matches_when_it_is_equal_at_the_decimals_printed(value, printed, equal):
    assert matches(value, cell(printed)) is equal


def test_there_are_2289_cells_each_with_a_key_of_its_own_and_the_number_that_is_printed():
    keys = [cell.cell for cell in cells()]
    assert len(keys) == len(set(keys)) == 2289
    assert {cell.paper for cell in cells()} == set(PAPERS)
    for cell in cells():
        assert cell.cell.startswith(f"{cell.paper}.")
        text = cell.printed.rstrip("*%").lstrip("≥>").replace("−", "-").replace(",", "")
        assert float(text) == cell.value, cell
        assert len(text.partition(".")[2]) == cell.decimals, cell


#: Printed in the column of metrics and none: people, their agreement, what they were asked, and
#: differences of two values of a metric.
NO_METRICS = {
    *("", "human mean rating", "Human", "inter-annotator agreement"),
    *("transfer quality", "semantic preservation", "fluency", "delta_Sim", "delta_PP"),
}


def test_each_printed_name_is_ours_or_says_what_is_needed_and_metrics_are_listed():
    frame = read("names")
    assert not frame.duplicated(["paper", "kind", "printed"]).any()
    others = frame[frame["kind"] != "system"]
    assert (others["ours"].ne("") != others["needs"].ne("")).all()
    metrics = frame[frame["kind"] == "metric"].set_index(["paper", "printed"])
    printed = {(cell.paper, cell.metric) for cell in cells() if cell.metric not in NO_METRICS}
    assert set(metrics.index) == printed
    known = {*registry.names(variants=True), *catalogue.OPEN, *catalogue.COMBINED}
    for ours, listed in zip(metrics["ours"], metrics["listed"].str.split(), strict=True):
        assert listed or ours == "released:r-pt16"  # we have no regressor
        assert set(listed) <= known
        assert ours in ("", *listed) or ours.startswith("released:")


def test_means_of_systems_are_by_people_in_english_and_hindi_alone():
    table = tst.published("mukherjee2024", "systems")
    sizes = table.query("by == 'human'").groupby(["task", "language"]).size()
    assert sizes.to_dict() == {("sentiment", "en"): 18, ("sentiment", "hi"): 18}
    people = table.query("by == 'human' and quantity == 'style'").set_index(["language", "system"])
    assert people.loc[("en", "GPT-3.5-ZS"), "value"] == 4.66
