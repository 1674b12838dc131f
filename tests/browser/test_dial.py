"""The confound dial of lesson 4: a slider that moves the bars, with nothing fetched."""

from __future__ import annotations

import pytest

from tests.browser import walk

pytestmark = walk.MARKS
PAGE = "book/results/lesson_4_confound_dial.html"
DIAL = "article .plotly-graph-div"
#: The number of the slider's stop, and the bars as they are drawn.
SHOWN = f"""() => {{
  const dial = document.querySelector('{DIAL}');
  const bars = [...dial.querySelectorAll('.bars path')].map(one => one.getAttribute('d'));
  return [dial.layout.sliders[0].active, bars.join()];
}}"""


@pytest.mark.parametrize("size", [walk.DESKTOP, walk.PHONE])
def test_turning_the_dial_moves_the_slider_and_the_bars(
    browser: walk.Browser, address: str, size: tuple[int, int]
) -> None:
    with walk.opened(browser, size) as tab:
        seen = walk.visit(tab, address, PAGE)
        assert (seen.errors, seen.strangers, seen.failures) == ([], [], [])
        assert seen.facts["width"] <= size[0]
        rail = tab.locator(f"{DIAL} .slider-rail-touch-rect")
        rail.scroll_into_view_if_needed()
        before = tab.evaluate(SHOWN)
        assert before[1]
        box = rail.bounding_box()
        assert box is not None
        tab.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        moved = f"old => ({SHOWN})().every((now, place) => now !== old[place])"
        tab.wait_for_function(moved, arg=before)  # else a TimeoutError
