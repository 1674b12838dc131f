"""Build the book: ``python -m tools.book train NAME | scores NAME | pages | build | pyodide``.

``dodo.py`` calls the steps in order, and only where something changed.  What a step writes appears
whole or not at all.  MathJax and Plotly are copied from their packages: no other host is asked.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from importlib.metadata import files
from pathlib import Path

from tstmeta.console import note
from tstmeta.schema import Status, TstmetaError

ROOT = Path(__file__).resolve().parents[1]
#: What the pages show of every data set; what else they ask for is computed when they ask.
SHOWN = (
    *("bleu", "bleu:pauli2025", "chrf", "meteor", "rouge1", "rouge2", "rougeL", "ter", "pinc"),
    *("edit-similarity", "sentinel", "likelihood", "likelihood-style"),
)
#: Metrics of content with a model behind them, and all metrics with one.
CONTENT = ("bertscore", "cosine", "sim", "wmd", "masked-bleu", "masked-cosine")
MODELS = (
    *CONTENT,
    *("style-confidence", "style-emd", "style-kl", "style-js"),
    *("perplexity", "perplexity:word", "slor"),
)
#: Metrics whose models are trained on Yelp (and what GM takes besides), and rated sets of Yelp.
YELP = (
    *("style-accuracy:yelp", "style-confidence:yelp", "style-emd:yelp", "style-kl:yelp"),
    *("style-js:yelp", "perplexity:yelp", "perplexity:word+yelp", "slor:yelp", "sim"),
)
#: Rewrites on Yelp by systems, and what chapter 23 asks of them besides Sim with idf.
YELP_SETS = ("mir", "li2018@yelp", "dualrl", "mis@yelp")
SYSTEMS = (
    *("style-accuracy:yelp-cnn", "style-confidence:yelp-cnn", "style-accuracy:yelp", "slor:yelp"),
    *("corpus-perplexity:word+yelp", "sim", "bleu", "chrf", "cosine", "bertscore", "copy-rate"),
)
#: Variants of the likelihood method that chapter 5 compares.
CHOICES = tuple(
    f"likelihood:{name}" for name in ("default-system", "emphasis", "wording", "released")
)
#: What of MathJax a page with TeX loads, its fonts and extensions included.
MATHJAX = ("input/tex", "output/chtml")
#: Python for the browser: the version of its npm package, its SHA-256, and what a page loads of it.
PYODIDE = "0.28.3", "bc3accb122c2c5d840b26ce56b100a21ab94aea4fe387a5b5c072ec6a88b7a62"
PYODIDE_FILES = (
    *("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm"),
    *("python_stdlib.zip", "pyodide-lock.json"),
)
#: What language models gave for texts of ours; ``tools.ship tokens`` writes it.
TOKENS = ROOT / "data" / "tokens.parquet"
#: The page that sends readers on names no icon, and browsers then ask for one that is not there.
NO_ICON = '<link rel="icon" href="data:,">\n'


def train(name: str) -> None:
    """Train a model that has a name; one that was trained otherwise makes room."""
    from experiments.training.__main__ import training_app
    from experiments.training.loop import AnotherRun
    from tstmeta.models import classifiers, lm

    model = {
        "yelp-style": classifiers.MODELS["yelp"],
        "yelp-cnn": classifiers.MODELS["yelp-cnn"],
        "yelp-lm": lm.MODELS["yelp"],
    }[name]
    command = [*model.course.split(), "--out", model.where]
    try:
        training_app(command, standalone_mode=False)
    except AnotherRun:
        shutil.rmtree(model.folder)
        training_app(command, standalone_mode=False)


def scores(name: str) -> None:
    """Bring the score store up to date for a data set; one that is not here is passed over."""
    from tstmeta import data, scoring

    if not data.available(name):
        note(f"{name}: not on this machine")
        return
    wanted = [*SHOWN, *MODELS, *(CHOICES if name == "mir" else ())]
    bases = None
    if name in ("dualrl", "li2018@yelp"):  # not rated, or passed on
        wanted, bases = [], ["source", "none"]
    if name in YELP_SETS and data.has_texts("yelp"):
        wanted += [*SYSTEMS, f"sim:idf={idf()}", *(YELP if wanted else ())]
    table = scoring.score(data.load(name), runnable(wanted), bases)
    failed = table[table["status"] == str(Status.ERROR)]
    if len(failed):
        first = failed["detail"].iloc[0]
        raise TstmetaError(f"{name}: {len(failed)} scores failed; first: {first}")
    note(f"{name}: {len(table)} scores")


def idf() -> Path:
    """The sentences in which Sim counts words: Yelp's development part, none rated or compared."""
    from experiments.training.splits import texts_of
    from tstmeta import data
    from tstmeta.data import paths, yelp
    from tstmeta.data.corpora import key
    from tstmeta.storage import write

    path = paths.scores() / "models" / "yelp-idf.txt"
    if not path.is_file():
        table = yelp.corpus(data.root("yelp")).query("split == 'dev'")
        never = {key(text) for text in texts_of(*filter(data.has_texts, YELP_SETS))}
        allowed = table.loc[~table["text"].map(key).isin(never), "text"]
        write(path, "".join(f"{text}\n" for text in allowed))
    return path


def recall() -> None:
    """Put the log-probabilities that are passed on into the store: nobody has to wait for them.

    A row is found by the signature of a model and the hash of a text, so that what changes is
    computed.  Scores are not passed on: metrics make them of the tokens on every machine.
    """
    import pandas as pd

    from tstmeta.data import paths
    from tstmeta.store import Rows

    if TOKENS.is_file():
        for signature, rows in pd.read_parquet(TOKENS).groupby("signature"):
            store = Rows(paths.scores(), "tokens", str(signature))
            store.add(rows[["key", "logprobs"]].itertuples(index=False, name=None))
            store.commit()


def runnable(wanted: list[str]) -> list[str]:
    """The metrics of these names and families that can run here; says what the others lack."""
    from tstmeta.metrics import get, resolve

    lacks = {name: getattr(get(name), "missing", "") for name in resolve(wanted)}
    for name, lack in lacks.items():
        if lack:
            note(f"{name} is left out: {lack}")
    return [name for name, lack in lacks.items() if not lack]


def assets() -> None:
    """Copy MathJax, Plotly, and Pyodide where it was fetched, into ``book/_static/vendor``."""
    vendor = empty(ROOT / "book" / "_static" / "vendor")
    mathjax = package("sphinx-mathjax-offline", "tex-chtml.js")
    for name in MATHJAX:
        shutil.copytree(mathjax.parent / name, vendor / "mathjax" / name)
    shutil.copy(mathjax, vendor / "mathjax")
    shutil.copy(package("plotly", "plotly.min.js"), vendor)
    if (fetched := ROOT / ".build" / "pyodide").is_dir():
        shutil.copytree(fetched, vendor / "pyodide")


def pyodide() -> Path:
    """Get Python for the browser (12 MB) with npm; `make book` puts it beside the pages."""
    version, digest = PYODIDE
    npm = shutil.which("npm")
    if npm is None:
        raise TstmetaError("npm is not here, and Pyodide is a package of npm: install Node.js")
    fresh = empty(ROOT / ".build" / "pyodide.part")
    command = [npm, "pack", f"pyodide@{version}", "--silent"]
    done = subprocess.run(command, cwd=fresh, check=False, stdout=subprocess.DEVNULL)
    archive = fresh / f"pyodide-{version}.tgz"
    if done.returncode or not archive.is_file():
        raise TstmetaError(f"npm could not get pyodide {version}; see above, and try again")
    if sha256(archive.read_bytes()).hexdigest() != digest:
        raise TstmetaError(f"pyodide {version} is not the package that this project knows")
    with tarfile.open(archive) as members:
        for name in PYODIDE_FILES:
            (fresh / name).write_bytes(members.extractfile(f"package/{name}").read())
    archive.unlink()
    return swap(fresh, ROOT / ".build" / "pyodide")


def package(distribution: str, name: str) -> Path:
    """A file of an installed package, wherever it lies there."""
    for entry in files(distribution) or []:
        if entry.name == name:
            return Path(str(entry.locate()))
    raise TstmetaError(f"{distribution} has no file {name}; repair the packages: make setup")


#: The command of Jupyter Book, which has no option for Sphinx's processes: two a core, for pages
#: differ in length, and eight at most.
_JUPYTER_BOOK = f"""
from functools import partial
from jupyter_book import sphinx
from jupyter_book.cli.main import main
sphinx.build_sphinx = partial(sphinx.build_sphinx, jobs={min(8, 2 * (os.cpu_count() or 1))})
main()
"""


def pages() -> Path:
    """Write the pages that are made from data into ``book/_generated``; return that folder."""
    import pandas as pd

    from tools import pages as writer

    recall()
    fresh = empty(ROOT / ".build" / "pages")
    with pd.option_context("mode.string_storage", "python"):  # as kernels have it: tools/warm.py
        writer.write(fresh)
    return swap(fresh, ROOT / "book" / "_generated")


def build() -> Path:
    """Run Jupyter Book, whose warnings are errors, and add slides; return the folder of pages."""
    from tools import slides

    assets()
    command = [sys.executable, "-c", _JUPYTER_BOOK, "build", "."]
    command += ["--path-output", ".build/book", "-W", "-n", "--keep-going", "--all"]
    shown = None if sys.stderr.isatty() else subprocess.DEVNULL  # warnings are always shown
    empty(ROOT / ".build" / "book")
    if subprocess.run(command, cwd=ROOT, check=False, stdout=shown).returncode:
        raise TstmetaError("the book was not built: mend what is marked WARNING or ERROR above")
    fresh = ROOT / ".build" / "book" / "_build" / "html"
    chapters = [path.stem for path in (ROOT / "book" / "results").glob("*.ipynb")]
    absent = [n for n in chapters if not (fresh / "book" / "results" / f"{n}.html").is_file()]
    if absent or not (fresh / "index.html").is_file():  # as another version of Jupyter Book does
        raise TstmetaError(f"the book was built without pages: {', '.join(absent) or 'index'}")
    reveal = package("sphinx-revealjs", "reveal.js").parents[1]
    slides.write(ROOT / "book" / "results", fresh / "slides", reveal)
    front = fresh / "index.html"
    front.write_text(NO_ICON + front.read_text(encoding="utf-8"), encoding="utf-8")
    return swap(fresh, ROOT / "book" / "_build" / "html")


def empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def swap(fresh: Path, place: Path) -> Path:
    """Put a finished folder in its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    os.replace(fresh, place)
    return place


def main() -> int:
    """Run a step; a fault becomes a message and exit code 2."""
    parser = argparse.ArgumentParser(description="The steps that build the book.")
    steps = parser.add_subparsers(required=True)
    for step in (train, scores, pages, build, pyodide):
        words = steps.add_parser(step.__name__)
        words.set_defaults(step=step)
        if step in (train, scores):
            words.add_argument("name", help="a model or a data set")
    arguments = vars(parser.parse_args())
    try:
        if place := arguments.pop("step")(**arguments):
            note(f"wrote {place}")
    except KeyboardInterrupt:
        note("interrupted")
        return 130
    except (TstmetaError, OSError) as error:
        note(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
