"""Open every page of the built book in headless Chromium and write down what happened.

The browser is the machine's own Chromium or Chrome, driven by playwright.  The book is served on
the loopback address; a request to any other host fails and is noted.
"""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import lxml.html
import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

BOOK = Path(__file__).parents[2] / "book" / "_build" / "html"
DESKTOP = (1280, 900)
PHONE = (390, 844)
#: Pages that Sphinx makes for itself; they are visited, but no chapter links to them.
MACHINERY = {"genindex.html", "search.html"}

#: No name but the loopback address resolves, so nothing can be fetched from elsewhere.
_FLAGS = [
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
_FACTS = """() => ({
  images: [...document.images].map(one => ({
    src: one.getAttribute('src').slice(0, 80), alt: one.getAttribute('alt') || '',
    loaded: one.complete && one.naturalWidth > 0, shown: one.getClientRects().length > 0})),
  width: document.documentElement.scrollWidth,
  height: document.documentElement.scrollHeight,
  hidden: [...document.querySelectorAll('article :is(.tst-table, .cell_output) tbody tr')]
    .filter(row => row.getClientRects().length > 0 && row.cells.length > 1)
    .filter(row => {
      const named = [...row.cells].findLast(cell => cell.tagName === 'TH') || row.cells[0];
      const value = named.nextElementSibling;
      return value && value.getBoundingClientRect().left > window.innerWidth - 40;
    }).map(row => row.innerText.slice(0, 60)).slice(0, 3),
  tables: document.querySelectorAll('article table').length,
  sheets: document.querySelectorAll('article .tst-csv a').length,
  formulas: document.querySelectorAll('article .math').length,
  typeset: document.querySelectorAll('article mjx-container').length,
  charts: document.querySelectorAll('article .plotly-graph-div').length,
  drawn: document.querySelectorAll('article .plotly-graph-div .main-svg').length,
  marks: [...document.querySelectorAll('article *')]
    .filter(one => !one.closest('code, pre, script, style, svg'))
    .filter(one => [...one.childNodes].some(n => n.nodeType === 3 && n.data.includes('`')))
    .map(one => one.textContent.trim().slice(0, 60)),
  cut: [...document.querySelectorAll('article :is(table, pre, img, svg, mjx-container)')]
    .filter(one => one.getBoundingClientRect().right > window.innerWidth + 1)
    .filter(one => {
      for (let up = one.parentElement; up && up !== document.body; up = up.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX)) return false;
      return true;
    }).map(one => one.outerHTML.slice(0, 80)),
})"""

#: Texts that stand out too little from what is behind them, worst first (WCAG 2.2, 1.4.3: 4.5).
FAINT = """() => {
  const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  const known = new Map();  // a page has few colours and many elements
  const light = (colours) => {
    const key = colours.join();
    if (!known.has(key)) {
      pen.clearRect(0, 0, 1, 1);
      for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
      known.set(key, [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)
        .map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0));
    }
    return known.get(key);
  };
  const grounds = new Map([[null, []]]);
  const ground = (one) => {
    if (!grounds.has(one)) {
      const colour = getComputedStyle(one).backgroundColor, under = ground(one.parentElement);
      grounds.set(one, colour === 'rgba(0, 0, 0, 0)' ? under : [...under, colour]);
    }
    return grounds.get(one);
  };
  const faint = [];
  for (const one of document.querySelectorAll('article *, nav *')) {
    const own = [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !one.checkVisibility({opacityProperty: true})) continue;
    if (one.closest('svg, mjx-container, .headerlink')) continue;
    const back = light(ground(one));
    const text = light([...ground(one), getComputedStyle(one).color]);
    const ratio = (Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05);
    if (ratio < 4.5) faint.push([Math.round(ratio * 10) / 10,
      `${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 40)}`]);
  }
  return faint.sort((a, b) => a[0] - b[0]).slice(0, 8);
}"""


@dataclass
class Visit:
    """What one page did when it was opened, and then looked at in light and dark and on a phone."""

    page: str
    errors: list[str] = field(default_factory=list)  # console errors and uncaught exceptions
    strangers: list[str] = field(default_factory=list)  # addresses on other hosts
    failures: list[str] = field(default_factory=list)  # own requests that failed
    facts: dict = field(default_factory=dict)  # at the width that it was opened at
    phone: dict = field(default_factory=dict)  # at the width of a phone
    faint: dict = field(default_factory=dict)  # scheme -> texts that can hardly be read


def pages() -> list[str]:
    """The book's pages by their paths below the book, sorted; slides have tests of their own."""
    found = (path.relative_to(BOOK).as_posix() for path in BOOK.rglob("*.html"))
    return sorted(page for page in found if not page.startswith(("_static/", "slides/")))


@cache
def kinds() -> frozenset[str]:
    """Every page, but of those that one template makes the first two."""
    written = [page for page in pages() if page not in MACHINERY]
    alike = [f"book/_generated/{folder}/" for folder in ("metrics", "cards", "claims", "ledger")]
    many = {page for folder in alike for page in [p for p in written if p.startswith(folder)][2:]}
    return frozenset(written) - many


@cache
def anchors(page: str) -> set[str]:
    """The anchors of a page of the book."""
    return set(lxml.html.parse(BOOK / page).xpath("//@id"))


@cache
def links(page: str) -> set[tuple[str, str]]:
    """Page and anchor of every link of a page that leads to the book."""
    places = lxml.html.parse(BOOK / page).xpath("//a/@href")
    urls = [urlsplit(urljoin(f"//book/{page}", place)) for place in places]
    return {(unquote(u.path[1:]), unquote(u.fragment)) for u in urls if u.netloc == "book"}


def chromium() -> str | None:
    """The Chromium or Chrome of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


def missing(book: bool = True) -> str:
    """Why pages, of the book or others, cannot be opened here; empty when they can."""
    if book and not (BOOK / "index.html").is_file():
        return "the book is not built (make book)"
    if chromium() is None:
        return "no Chromium on this machine (Debian: apt-get install chromium)"
    return ""


#: For ``pytestmark`` of every file here.
MARKS = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]
Visits = dict[str, Visit]


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # a connection serves all of a page

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """Serve the book on the loopback address; gives its address without a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(BOOK))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def launched() -> Iterator[Browser]:
    """A headless browser.  Its own sandbox is off: it opens nothing but our pages."""
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium(), args=_FLAGS) as browser,
    ):
        yield browser


@contextmanager
def opened(browser: Browser, size: tuple[int, int], **options: Any) -> Iterator[Page]:
    """A tab of a reader who has never been here: no cookies, no storage, a window of that size."""
    viewport: Any = {"width": size[0], "height": size[1]}
    with browser.new_context(viewport=viewport, **options) as fresh:
        yield fresh.new_page()


def visit(tab: Page, address: str, page: str, schemes: Sequence[str] | None = None) -> Visit:
    """Open a page, wait until it is quiet, and note what it asked for, said and shows.

    With ``schemes`` of colours in these and on a phone, too; then the tab is as it was before.
    """
    seen = Visit(page)

    def note(request: Request) -> None:
        if not request.url.startswith((f"{address}/", "data:", "blob:")):
            seen.strangers.append(request.url)

    heard: dict[Any, Callable] = {
        "request": note,
        "console": lambda said: seen.errors.append(said.text) if said.type == "error" else None,
        "pageerror": lambda error: seen.errors.append(str(error)),
        "requestfailed": lambda request: seen.failures.append(request.url),
        "response": lambda answer: (
            seen.failures.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
        ),
    }
    for event, listener in heard.items():
        tab.on(event, listener)
    settle(tab, f"{address}/{page}")
    seen.facts = tab.evaluate(_FACTS)
    if schemes is not None:
        look_on(tab, seen, schemes)
    for event, listener in heard.items():
        tab.remove_listener(event, listener)
    return seen


def look_on(tab: Page, seen: Visit, schemes: Sequence[str]) -> None:
    """Hold the texts of an open page against what is behind them, and make a phone of the desk."""
    for scheme in schemes if seen.page in kinds() else ():
        if scheme != "light":  # as it was opened
            tab.emulate_media(color_scheme=scheme)
        tab.wait_for_selector(f"html[data-theme={scheme}]", state="attached")
        seen.faint[scheme] = tab.evaluate(FAINT)
    tab.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    tab.wait_for_timeout(150 if seen.facts["charts"] else 20)  # charts are drawn anew after 100 ms
    seen.phone = tab.evaluate(_FACTS)
    tab.goto("about:blank")  # nothing is laid out again
    tab.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    tab.emulate_media(color_scheme="light")


def settle(tab: Page, url: str) -> None:
    """Go to a page and wait until its scripts, pictures, formulas and fonts are there."""
    tab.goto(url, wait_until="load")
    if url.endswith("/index.html"):  # sends the reader on to the first chapter
        tab.wait_for_url(lambda now: now != url, wait_until="load")
    tab.evaluate("() => window.MathJax?.startup?.promise")
    tab.evaluate("() => document.fonts.ready.then(() => true)")
    tab.wait_for_timeout(100)
