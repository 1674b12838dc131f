"""Light and dark: the theme follows the reader, and every text can be read in both."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from . import walk

pytestmark = walk.MARKS


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_s_colour_scheme(
    browser: walk.Browser, address: str, scheme: str
) -> None:
    with walk.opened(browser, walk.DESKTOP, color_scheme=scheme) as tab:
        walk.settle(tab, f"{address}/book/intro.html")
        expect(tab.locator("html")).to_have_attribute("data-theme", scheme)


def kinds() -> list[str]:
    """Every page, but of those that one template makes the first three."""
    pages = [page for page in walk.pages() if page not in walk.MACHINERY]
    alike = ("book/_generated/metrics/", "book/_generated/cards/")
    many = {page for folder in alike for page in [p for p in pages if p.startswith(folder)][3:]}
    return [page for page in pages if page not in many]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(
    browser: walk.Browser, address: str, scheme: str
) -> None:
    faint = {}
    with walk.context(browser, walk.DESKTOP, color_scheme=scheme) as context:
        tab = context.new_page()
        for page in kinds():
            walk.settle(tab, f"{address}/{page}")
            if found := tab.evaluate(walk.FAINT):
                faint[page] = found
    assert faint == {}


def test_the_theme_button_switches_to_dark_and_back(browser: walk.Browser, address: str) -> None:
    with walk.opened(browser, walk.DESKTOP, color_scheme="light") as tab:
        walk.settle(tab, f"{address}/book/intro.html")
        shades = {}
        for _ in range(3):
            tab.locator("button.theme-switch-button").first.click()
            theme = tab.locator("html").get_attribute("data-theme")
            shades[theme] = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert set(shades) == {"light", "dark"}
        assert shades["light"] != shades["dark"]
