"""One server, one browser and one walk through all pages.

The tests of the walk stand in one file: with `--dist loadfile` one process walks once.  The
browser goes with the file, for its event loop would be in the way of other tests that have one.
"""

import os
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


@pytest.fixture(scope="module")
def visits(browser: walk.Browser, address: str, request: pytest.FixtureRequest) -> walk.Visits:
    """Every page at a desk and on a phone, in light and dark where a test asks for that.

    Of pages that one template makes all only nightly.
    """
    names = [item.name for item in request.session.items]
    schemes = [s for s in ("light", "dark") if any(f"in {s}]" in name for name in names)]
    nightly = request.config.option.markexpr != "not nightly"
    visits = {}
    with walk.opened(browser, walk.DESKTOP) as tab:
        for page in walk.pages() if nightly else sorted(walk.kinds() | walk.MACHINERY):
            if page.startswith(os.environ.get("TSTMETA_WALK", "")):  # below a folder of the book
                visits[page] = walk.visit(tab, address, page, schemes)
    return visits
