"""One server, one browser and one walk through all pages at each width.

The tests of one width stand in one file: with `--dist loadfile` one process walks once.  The
browser goes with the file, for its event loop would be in the way of other tests that have one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import walk


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with walk.served() as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[walk.Browser]:
    with walk.launched() as browser:
        yield browser


def _walked(browser: walk.Browser, address: str, size: tuple[int, int]) -> walk.Visits:
    visits = {}
    with walk.context(browser, size) as context:
        for page in walk.pages():
            tab = context.new_page()
            visits[page] = walk.visit(tab, address, page)
            tab.close()
    return visits


@pytest.fixture(scope="module")
def visits(browser: walk.Browser, address: str) -> walk.Visits:
    """Every page, opened at the width of a desktop."""
    return _walked(browser, address, walk.DESKTOP)


@pytest.fixture(scope="module")
def phone_visits(browser: walk.Browser, address: str) -> walk.Visits:
    """Every page, opened at the width of a phone."""
    return _walked(browser, address, walk.PHONE)
