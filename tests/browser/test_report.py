"""The report of an evaluation, opened from the disk with the network shut."""

import pytest

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tests.browser import walk
from tstmeta.analysis.report import report

WHY = walk.missing(book=False)
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(WHY), reason=WHY)]
DATA = rated()
OWN = [
    analyse(DATA, scored(DATA, good=0.4, ter=0.8, poor=4.0, random=50.0), dimension=name, draws=50)
    for name in ("content", "style")
]
BOXES = """() => [...document.querySelectorAll('.answer strong')]
  .map(one => one.getBoundingClientRect().bottom)"""
CUT = """() => [...document.querySelectorAll('p, h1, h2, li, dd, pre, img, .box')]
  .filter(one => one.getBoundingClientRect().right > window.innerWidth + 1)
  .map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(OWN, DATA, tmp_path_factory.mktemp("report"))[-1].as_uri()


@pytest.mark.parametrize("size", [walk.DESKTOP, walk.PHONE])
def test_the_report_opens_from_the_disk_and_says_first_what_to_take(
    browser: walk.Browser, address: str, size: tuple[int, int]
) -> None:
    said: list[str] = []
    requests: list[str] = []
    with walk.opened(browser, size, offline=True) as tab:
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(address)
        assert (said, requests) == ([], [address])
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= size[0]
        assert tab.evaluate(CUT) == []
        assert tab.locator(".answer strong").all_inner_texts() == [own.summary[0] for own in OWN]
        assert max(tab.evaluate(BOXES)) < size[1], "the recommendation stands on the first screen"
