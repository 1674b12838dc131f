"""What a reader meets on a phone: every page of the built book at the width of a phone."""

from __future__ import annotations

import pytest

from . import walk

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(walk.missing()), reason=walk.missing()),
]
Visits = dict[str, walk.Visit]


@pytest.mark.parametrize("what", ["errors", "strangers", "failures"])
def test_no_page_complains_asks_another_host_or_misses_a_file(
    phone_visits: Visits, what: str
) -> None:
    assert walk.faults(phone_visits, what) == {}


def test_no_page_scrolls_sideways_on_a_phone(phone_visits: Visits) -> None:
    wide = {
        page: seen.facts["width"]
        for page, seen in phone_visits.items()
        if seen.facts["width"] > walk.PHONE[0]
    }
    assert wide == {}


def test_nothing_wide_is_cut_off_on_a_phone(phone_visits: Visits) -> None:
    cut = {page: seen.facts["cut"] for page, seen in phone_visits.items() if seen.facts["cut"]}
    assert cut == {}


def test_name_and_value_of_every_row_are_seen_without_scrolling(phone_visits: Visits) -> None:
    hidden = {page: seen.facts["hidden"] for page, seen in phone_visits.items()}
    assert {page: rows for page, rows in hidden.items() if rows} == {}
