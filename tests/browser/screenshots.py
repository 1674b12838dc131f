"""Save a picture of every page at two widths: ``python -m tests.browser.screenshots FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from . import walk


def save(folder: Path, wanted: str = "") -> list[Path]:
    """Full-page pictures, ``<page>-<width>.png``, of the pages whose path contains ``wanted``."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with walk.served() as address, walk.launched() as browser:
        for page in (page for page in walk.pages() if wanted in page):
            for size in (walk.DESKTOP, walk.PHONE):
                stem = page.removesuffix(".html").replace("/", "-")
                path = folder / f"{stem}-{size[0]}.png"
                with walk.opened(browser, size) as tab:
                    walk.settle(tab, f"{address}/{page}")
                    tab.screenshot(path=path, full_page=True)
                made.append(path)
    return made


if __name__ == "__main__":
    if reason := walk.missing():
        sys.exit(reason)
    for path in save(Path(sys.argv[1]), *sys.argv[2:3]):
        print(path)
