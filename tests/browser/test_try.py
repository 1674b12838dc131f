"""Code that a reader changes and runs on the page, where Pyodide was fetched (make pyodide)."""

import pytest
from playwright.sync_api import Locator

from tstmeta.analysis.committed import read_frozen

from . import walk

HERE = (walk.BOOK / "_static" / "vendor" / "pyodide").is_dir()
pytestmark = [  # no `browser`: where a book has to have a browser, it need not have this
    walk.MARKS[1],
    pytest.mark.skipif(not HERE, reason="the book has no Pyodide (make pyodide book)"),
]


def said(box: Locator) -> str:
    """Run the cells, and what is said when they have ended."""
    box.get_by_role("button", name="Run").click()
    box.locator("button:disabled", has_text="Stop").wait_for(timeout=60_000)
    return box.locator("output").inner_text()


def test_another_mixture_gives_another_curve(browser: walk.Browser, address: str) -> None:
    with walk.opened(browser, walk.PHONE) as tab:
        asked: list[str] = []  # the worker's requests are among them
        tab.on("request", lambda request: asked.append(request.url))
        walk.settle(tab, f"{address}/book/results/lesson_4_confound_dial.html")
        box = tab.locator(".tst-try")
        weights = box.locator("textarea").first
        assert "drawn" in said(box)
        weights.fill("def weights(phi):\n    return [1] * len(kept)")
        assert "drawn" in said(box)
        lines = [line.get_attribute("points") for line in box.locator("polyline").all()]
        dial, flat = ([-float(p.split(",")[1]) for p in (line or "").split()] for line in lines)
        frozen = read_frozen("lesson_4_confound_dial").query("metric == 'bleu'")
        frozen = frozen.set_index("phi")["pearson"].sort_index()
        assert dial == pytest.approx(frozen.loc[-0.9:0.9].tolist(), abs=1e-3)
        assert flat == pytest.approx([frozen.loc[0]] * len(flat), abs=1e-3)
        weights.fill("1 / 0")
        assert said(box) == "ZeroDivisionError: division by zero"
        weights.fill("")
        box.locator("textarea").last.fill("curve = [1, 2]")
        assert "no curve" in said(box)
        weights.fill("while True: pass")
        box.get_by_role("button", name="Run").click()
        box.get_by_role("button", name="Stop").click()
        assert box.locator("output").inner_text() == "Stopped."
        assert any(url.endswith("pyodide.asm.wasm") for url in asked)
        assert [url for url in asked if not url.startswith(address)] == []
