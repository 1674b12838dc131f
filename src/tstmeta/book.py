"""Build and show the book: copy what its pages need, write the generated pages, run Jupyter Book.

``dodo.py`` calls the steps in order and only where something changed.  What a step writes appears
whole or not at all.  The book asks nothing of another host: MathJax and Plotly are copied from
their packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from importlib.metadata import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import note
from .data import paths
from .schema import Status, TstmetaError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: What the pages show of every data set; what else they ask for is computed when they ask.
SHOWN = (
    *("bleu", "bleu:pauli2025", "chrf", "meteor", "rouge1", "rouge2", "rougeL", "ter", "pinc"),
    *("edit-similarity", "sentinel", "likelihood", "likelihood-style"),
)
#: Metrics with a model behind them, and the data sets of which the pages show them all.
MODELS = (
    *("bertscore", "cosine", "sim", "wmd", "masked-bleu", "masked-cosine"),
    *("style-confidence", "style-emd", "style-kl", "style-js", "style-regressor"),
    *("perplexity", "perplexity:word", "slor"),
)
WITH_MODELS = ("contrast", "pauli", "lai", "mir", "alva@asset", "lens@simpda_2022")
#: What the chapter on choices inside that method shows besides, on the data sets it is about.
CHOICES = tuple(
    f"likelihood:{name}" for name in ("default-system", "emphasis", "wording", "released")
)
WITH_CHOICES = ("contrast", "world", "pauli", "lai", "mir")
#: What of MathJax a page with TeX loads: the entry point, its fonts, and extensions on demand.
_MATHJAX = ("tex-chtml.js", "input/tex/", "output/chtml/")
_MATHJAX_ROOT = "sphinx-mathjax-offline/static/mathjax/"

#: The page that sends readers on names no icon, and browsers then ask for one that is not there.
_NO_ICON = '<link rel="icon" href="data:,">\n'


def everything() -> int:
    """Run the task graph, ``dodo.py``, and return its exit code."""
    return subprocess.run([sys.executable, "dodo.py"], cwd=_root(), check=False).returncode


def scores(name: str) -> None:
    """Bring the score store up to date for a data set; one that is not here is passed over.

    Raises:
        TstmetaError: scores that could not be computed.
    """
    from . import data, scoring
    from .likelihood import zeroshot
    from .metrics import fluency

    if not data.available(name):
        note(f"{name}: not on this machine")
        return
    more = (*(MODELS if name in WITH_MODELS else ()), *(CHOICES if name in WITH_CHOICES else ()))
    wanted = _runnable([*SHOWN, *more])
    with warnings.catch_warnings():  # the pages say it, in a box of their own
        for kind in (zeroshot.DemonstrationWarning, fluency.DemonstrationWarning):
            warnings.simplefilter("ignore", kind)
        table = scoring.score(data.load(name), wanted)
    failed = table[table["status"] == str(Status.ERROR)]
    if len(failed):
        first = failed["detail"].iloc[0]
        raise TstmetaError(f"{name}: {len(failed)} scores failed; first: {first}")
    note(f"{name}: {len(table)} scores")


def _runnable(wanted: list[str]) -> list[str]:
    """The metrics of these names and families that can run here; says what the others lack."""
    from . import metrics

    found = []
    for name in metrics.resolve(wanted):
        if lack := getattr(metrics.get(name), "missing", ""):
            note(f"{name} is left out: {lack}")
        else:
            found.append(name)
    return found


def assets() -> Path:
    """Copy MathJax and Plotly into ``book/_static/vendor`` and return that folder."""
    root = _root()
    fresh = _empty(root / ".build" / "vendor")
    for entry in files("sphinx-mathjax-offline") or []:
        name = entry.as_posix().partition(_MATHJAX_ROOT)[2]
        if name.startswith(_MATHJAX):
            _copy(Path(str(entry.locate())), fresh / "mathjax" / name)
    for entry in files("plotly") or []:
        if entry.name == "plotly.min.js":
            _copy(Path(str(entry.locate())), fresh / "plotly.min.js")
    for name in ("mathjax/tex-chtml.js", "plotly.min.js"):
        if not (fresh / name).is_file():
            raise TstmetaError(f"{name} is not in the installed packages; repair them: make setup")
    return _swap(fresh, root / "book" / "_static" / "vendor")


def pages() -> Path:
    """Write the generated pages (cards, ledger) into ``book/_generated`` and return that folder."""
    from .report import pages as report

    root = _root()
    fresh = _empty(root / ".build" / "pages")
    report.write(fresh)
    return _swap(fresh, root / "book" / "_generated")


def build() -> Path:
    """Run Jupyter Book and return the folder of the built pages, ``book/_build/html``.

    Raises:
        TstmetaError: a warning or an error; the earlier book, if there is one, stays.
    """
    root = _root()
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]
    command += ["--path-output", ".build/book", "-W", "-n", "--keep-going", "--all"]
    shown = None if sys.stderr.isatty() else subprocess.DEVNULL  # warnings are always shown
    _empty(root / ".build" / "book")
    if subprocess.run(command, cwd=root, check=False, stdout=shown).returncode:
        raise TstmetaError("the book was not built: mend what is marked WARNING or ERROR above")
    fresh = root / ".build" / "book" / "_build" / "html"
    front = fresh / "index.html"
    front.write_text(_NO_ICON + front.read_text(encoding="utf-8"), encoding="utf-8")
    return _swap(fresh, root / "book" / "_build" / "html")


def serve(port: int = 8000, open_browser: bool = True) -> None:
    """Show the built book on this machine until interrupted.

    Raises:
        TstmetaError: there is no built book, or the port is taken.
    """
    import webbrowser
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    built = _root() / "book" / "_build" / "html"
    if not (built / "index.html").is_file():
        raise TstmetaError(f"there is no book in {built}; build it with: make book")
    try:
        server = ThreadingHTTPServer(
            ("127.0.0.1", port), partial(SimpleHTTPRequestHandler, directory=str(built))
        )
    except OSError as error:
        raise TstmetaError(f"cannot use port {port}: {error}; try: make serve PORT=8001") from None
    with server:
        address = f"http://127.0.0.1:{server.server_port}/"
        note(f"the book is at {address} (stop with Ctrl-C)")
        if open_browser:
            webbrowser.open(address)
        server.serve_forever()


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx extension: load Plotly (5 MB) on the pages that draw with it, and on no other."""

    def plotly(app: Sphinx, _name: str, _file: str, context: dict[str, Any], _tree: Any) -> None:
        if "Plotly.newPlot" in context.get("body", ""):
            app.add_js_file("vendor/plotly.min.js")

    app.connect("html-page-context", plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _root() -> Path:
    root = paths.home()
    if not (root / "_config.yml").is_file():
        raise TstmetaError("the book is built in a checkout of the project, and this is none")
    return root


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _swap(fresh: Path, place: Path) -> Path:
    """Put a finished folder in its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    os.replace(fresh, place)
    return place
