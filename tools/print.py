"""Pages of the built book as PDF: ``python -m tools.print [PAGE …]``, or ``make print``.

Pages are named like ``book/howto`` or ``slides/lesson_4_confound_dial``; without names all lessons
are printed, as pages and as slides, and the page for teachers.  Chromium prints what a browser
shows, with solutions unfolded and cells of drawing folded, into ``book/_build/print``.
"""

import sys
from pathlib import Path

from tests.browser import walk
from tstmeta.console import note

OUT = walk.BOOK.parent / "print"
#: What is printed when nothing is named.
USUAL = ("slides/lesson_*.html", "book/results/lesson_*.html", "book/teach.html")
#: Solutions are opened, and what only draws stays folded.
UNFOLD = "() => document.querySelectorAll('.admonition.dropdown').forEach(" + (
    "one => { one.classList.remove('toggle-hidden'); one.querySelectorAll('.toggle-hidden')"
    ".forEach(part => part.classList.remove('toggle-hidden')); })"
)


def write(browser: walk.Browser, address: str, page: str, out: Path) -> Path:
    """Print a page, or a deck with a slide a sheet; returns the file."""
    slides = page.startswith("slides/")
    path = out / f"{page.removeprefix('book/').replace('/', '-')}.pdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    with walk.opened(browser, walk.DESKTOP, color_scheme="light") as tab:
        walk.settle(tab, f"{address}/{page}.html{'?print-pdf' if slides else ''}")
        if slides:
            tab.wait_for_selector("body[data-ready=print]")
            tab.pdf(path=path, prefer_css_page_size=True, print_background=True)
        else:
            tab.evaluate(UNFOLD)
            margin = dict.fromkeys(("top", "bottom", "left", "right"), "1.6cm")
            tab.pdf(path=path, format="A4", margin=margin, print_background=True, scale=0.8)
    return path


def main(*names: str) -> None:
    usual = sorted(path for place in USUAL for path in walk.BOOK.glob(place))
    names = names or tuple(str(path.relative_to(walk.BOOK).with_suffix("")) for path in usual)
    absent = [name for name in names if not (walk.BOOK / f"{name}.html").is_file()]
    if fault := walk.missing() or (absent and f"no page {', '.join(absent)} in the book"):
        raise SystemExit(f"error: {fault}")
    with walk.served() as address, walk.launched() as browser:
        for name in names:
            note(f"wrote {write(browser, address, name, OUT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
