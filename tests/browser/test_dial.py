"""The confound dial in a browser, from a file: no server, no other host, a still picture."""

from __future__ import annotations

import re
from importlib.metadata import files
from pathlib import Path

import pytest

from tests.browser import walk
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import dial

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(walk.chromium() is None, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dial.Dial:
    return dial.turn(Bench(store=tmp_path_factory.mktemp("store")), ["bleu", "pinc"], draws=20)


@pytest.fixture(scope="module")
def page(made: dial.Dial, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a file with the dial and Plotly beside it."""
    path = tmp_path_factory.mktemp("page") / "dial.html"
    plotly = next(one for one in files("plotly") or [] if one.name == "plotly.min.js")
    (path.parent / "plotly.min.js").write_bytes(Path(str(plotly.locate())).read_bytes())
    head = "<!doctype html><meta charset=utf-8><script src=plotly.min.js></script>"
    path.write_text(head + dial.show(made).text, encoding="utf-8")
    return path.as_uri()


def ranking(tab: walk.Page) -> list[tuple[str, str]]:
    rows = tab.locator(".tst-dial-ranking tbody tr")
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    return [(name.replace("↓", "").strip(), value) for _, name, value, _ in cells]


def expected(made: dial.Dial, curve: int, phi: float) -> list[tuple[str, str]]:
    column = made.curves[curve].lines[:, made.at(phi)]
    order = sorted(range(len(column)), key=lambda m: -column[m])
    return [(made.names[m], f"{column[m]:z.2f}".replace("-", "−")) for m in order]


@pytest.mark.parametrize("size", [walk.DESKTOP, walk.PHONE])
def test_turning_the_dial_moves_the_mark_the_weights_and_the_ranking(
    browser: walk.Browser, made: dial.Dial, page: str, size: tuple[int, int]
) -> None:
    with walk.opened(browser, size) as tab:
        seen = walk.visit(tab, page.rpartition("/")[0], "dial.html")
        assert (seen.errors, seen.strangers, seen.failures) == ([], [], [])
        assert ranking(tab) == expected(made, 0, 0.0)
        slider = tab.get_by_role("slider")
        slider.press("End")
        assert tab.locator("output").inner_text() == "0.90"
        shares = tab.locator(".tst-dial-cells tbody td").all_inner_texts()
        assert shares == ["2.5 %", "47.5 %", "47.5 %", "2.5 %"]
        assert ranking(tab) == expected(made, 0, 0.9)
        tab.get_by_role("radio", name="AUC").check()
        slider.press("Home")
        assert ranking(tab) == expected(made, 1, -0.9)
        mark = tab.evaluate("document.querySelector('.tst-dial-chart').layout.shapes[1].x0")
        assert mark == -0.9
        assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_name_chooses_the_band(browser: walk.Browser, made: dial.Dial, page: str) -> None:
    with walk.opened(browser, walk.DESKTOP) as tab:
        walk.settle(tab, page)
        tab.get_by_role("button", name="pinc").click()
        assert tab.get_by_role("button", pressed=True).inner_text() == "pinc"
        low = tab.evaluate("document.querySelector('.tst-dial-chart').data[0].y")
        assert low == [round(value, 4) for value in made.curves[0].low[1, 1:]]


@pytest.mark.parametrize("scripts", [True, False])
def test_without_plotly_or_scripts_the_still_picture_stands_there(
    browser: walk.Browser, made: dial.Dial, tmp_path: Path, scripts: bool
) -> None:
    path = tmp_path / "bare.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{dial.show(made).text}", encoding="utf-8")
    with walk.opened(browser, walk.DESKTOP, java_script_enabled=scripts) as tab:
        tab.goto(path.as_uri())
        assert tab.locator(".tst-dial-still img").is_visible()
        assert not tab.get_by_role("slider").is_visible()
        assert re.search("panels", tab.locator("img").get_attribute("alt") or "")
