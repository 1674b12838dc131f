"""One server, one browser and one walk through all pages for all browser tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import walk


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one walk run in one process: else each process would walk through all pages."""
    for item in items:
        for walked in ("visits", "phone_visits"):
            if walked in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group(walked))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with walk.served() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[walk.Browser]:
    with walk.launched() as browser:
        yield browser


def _walked(browser: walk.Browser, address: str, size: tuple[int, int]) -> dict[str, walk.Visit]:
    visits = {}
    with walk.context(browser, size) as context:
        for page in walk.pages():
            tab = context.new_page()
            visits[page] = walk.visit(tab, address, page)
            tab.close()
    return visits


@pytest.fixture(scope="session")
def visits(browser: walk.Browser, address: str) -> dict[str, walk.Visit]:
    """Every page, opened at the width of a desktop."""
    return _walked(browser, address, walk.DESKTOP)


@pytest.fixture(scope="session")
def phone_visits(browser: walk.Browser, address: str) -> dict[str, walk.Visit]:
    """Every page, opened at the width of a phone."""
    return _walked(browser, address, walk.PHONE)
