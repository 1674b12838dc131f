"""The confound dial of lesson 4: a slider that moves the marks and names the best metrics."""

from __future__ import annotations

import pytest

from tests.browser import walk

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(walk.missing()), reason=walk.missing()),
]
PAGE = "book/results/lesson_4_confound_dial.html"
DIAL = "document.querySelector('article .plotly-graph-div')"


@pytest.mark.parametrize("size", [walk.DESKTOP, walk.PHONE])
def test_turning_the_dial_moves_the_marks_and_says_which_metric_is_best(
    browser: walk.Browser, address: str, size: tuple[int, int]
) -> None:
    with walk.opened(browser, size) as tab:
        seen = walk.visit(tab, address, PAGE)
        assert (seen.errors, seen.strangers, seen.failures) == ([], [], [])
        assert seen.facts["width"] <= size[0]
        rail = tab.locator("article .plotly-graph-div .slider-rail-touch-rect")
        rail.scroll_into_view_if_needed()
        before = tab.evaluate(f"{DIAL}.layout.title.text")
        box = rail.bounding_box()
        assert box is not None
        tab.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        tab.wait_for_function(f"text => {DIAL}.layout.title.text !== text", arg=before)
        slider = tab.evaluate(
            f"{DIAL}.layout.sliders[0].steps[{DIAL}.layout.sliders[0].active].label"
        )
        marks = tab.evaluate(
            f"{DIAL}.data.filter(one => one.mode === 'markers').map(one => one.x[0])"
        )
        assert set(marks) == {float(slider)}
        assert f"{float(slider):.2f}" in tab.evaluate(f"{DIAL}.layout.title.text")
