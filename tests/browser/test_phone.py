"""What a reader meets on a phone: every page of the built book at the width of a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from . import walk

pytestmark = walk.MARKS


@pytest.mark.parametrize("what", ["errors", "strangers", "failures"])
def test_no_page_complains_asks_another_host_or_misses_a_file(
    phone_visits: walk.Visits, what: str
) -> None:
    assert walk.faults(phone_visits, what) == {}


FAULTS: dict[str, Callable[[dict], Any]] = {
    "scrolls sideways": lambda facts: facts["width"] > walk.PHONE[0] and facts["width"],
    "cuts off what is wide": lambda facts: facts["cut"],
    "hides the name or the value of a row": lambda facts: facts["hidden"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_on_a_phone_no_page(phone_visits: walk.Visits, fault: str) -> None:
    assert walk.faults(phone_visits, FAULTS[fault]) == {}
