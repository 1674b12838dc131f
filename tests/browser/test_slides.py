"""The slides of the lessons in a browser without a network and on paper, and the confound dial."""

import re
from pathlib import Path

import pytest

from tests.browser import walk
from tests.helpers import nightly_but
from tools import print as printing

pytestmark = walk.MARKS
DECKS = sorted((walk.BOOK / "slides").glob("*.html"))
DIAL = "lesson_4_confound_dial"
#: Of the slide that is shown: its number, its heading or where it belongs, and what does not fit.
SLIDE = """() => {
  const slide = deck.getCurrentSlide();
  const boxes = [...slide.querySelectorAll('.highlight, .jp-OutputArea-output')];
  return [deck.getIndices().h, slide.dataset.title, parseFloat(getComputedStyle(slide).fontSize),
    slide.scrollHeight - slide.clientHeight, ...boxes.map(b => b.scrollWidth - b.clientWidth)];
}"""


CHART = "article .plotly-graph-div"
#: The number of the slider's stop, and the bars as they are drawn.
SHOWN = f"""() => {{
  const dial = document.querySelector('{CHART}');
  const bars = [...dial.querySelectorAll('.bars path')].map(one => one.getAttribute('d'));
  return [dial.layout.sliders[0].active, bars.join()];
}}"""


def sheets(path: Path) -> int:
    """Pages of a PDF."""
    return len(re.findall(rb"/Type\s*/Page\b", path.read_bytes()))


@pytest.mark.parametrize("path", nightly_but(DECKS, DIAL))
def test_slides_advance_with_the_arrow_key_fit_the_minutes_and_show_code_on_a_key(
    browser: walk.Browser, address: str, path: Path
) -> None:
    with walk.opened(browser, (1280, 720)) as tab:
        seen = walk.visit(tab, address, f"slides/{path.name}")
        total = tab.evaluate("deck.getTotalSlides()")
        assert 10 <= total <= 14
        assert sum(map(int, re.findall(r"(\d+) min\.", tab.content()))) in range(30, 46)
        for number in range(total):
            place, title, size, over, *wide = tab.evaluate(SLIDE)
            assert (place, bool(title)) == (number, True)
            assert size >= 17, f"slide {number + 1} cannot be read from the last row"
            assert max([over, *wide]) <= 3, f"slide {number + 1}: {title}"
            tab.keyboard.press("ArrowRight")
            tab.wait_for_timeout(20)
        assert place == total - 1
        code = (
            "getComputedStyle(document.querySelector('.jp-CodeCell .jp-Cell-inputWrapper')).display"
        )
        assert tab.evaluate(code) == "none"
        tab.keyboard.press("c")
        assert tab.evaluate(code) != "none"
        assert (seen.errors, seen.strangers, seen.failures) == ([], [], [])


@pytest.mark.nightly
def test_a_deck_prints_a_sheet_a_slide(browser: walk.Browser, address: str, tmp_path: Path) -> None:
    with walk.opened(browser, (1280, 720)) as tab:
        walk.settle(tab, f"{address}/slides/{DIAL}.html")
        total = tab.evaluate("deck.getTotalSlides()")
    assert sheets(printing.write(browser, address, f"slides/{DIAL}", tmp_path)) == total


def test_a_page_prints_to_a_few_sheets(browser: walk.Browser, address: str, tmp_path: Path) -> None:
    path = printing.write(browser, address, f"book/results/{DIAL}", tmp_path)
    assert path.name == f"results-{DIAL}.pdf"
    assert 4 <= sheets(path) <= 16


def test_turning_the_dial_moves_the_slider_and_the_bars(
    browser: walk.Browser, address: str
) -> None:
    with walk.opened(browser, walk.PHONE) as tab:
        walk.settle(tab, f"{address}/book/results/{DIAL}.html")
        rail = tab.locator(f"{CHART} .slider-rail-touch-rect")
        rail.scroll_into_view_if_needed()
        before = tab.evaluate(SHOWN)
        assert before[1]
        box = rail.bounding_box()
        assert box is not None
        tab.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        moved = f"old => ({SHOWN})().every((now, place) => now !== old[place])"
        tab.wait_for_function(moved, arg=before)  # else a TimeoutError
