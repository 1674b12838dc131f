"""The task graph: models -> scores -> notebooks and pages -> book.  `make book` runs it.

A task runs again when the content of what it reads has changed (hashes, not file times).  Commands
run in processes of their own, two at a time; this file imports nothing slow, so that a book that is
up to date costs a second.  What a command writes appears whole or not at all, and an interrupted
task counts as not done, so that `make book` goes on where it was stopped.
"""

import json
import os
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path

import doit
from doit.exceptions import TaskFailed
from filelock import FileLock, Timeout

os.chdir(Path(__file__).parent)
# Two tasks run at a time; each with threads of its own for small matrices would crawl.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
Path(".build").mkdir(exist_ok=True)
DOIT_CONFIG = {
    "dep_file": ".build/doit.db",
    "backend": "sqlite3",
    "default_tasks": ["book"],
    "num_process": 2,
    "par_type": "thread",
    "verbosity": 2,
}

#: The data sets whose scores the pages show and the project may not pass on: each is scored when
#: its files are here.  The scores of all others are in ``data/ratings``, but for rewrites on Yelp
#: that nobody rated.
SCORED = (
    *("wu_arase", "dualrl", "mir", "li2018@yelp", "mis@yelp"),  # the longest first
    *("textdetox2024", "lens@simpda_2022", "mis@civil", "detox", "paraguide"),
)
#: Models that are trained on Yelp where its sentences are here, and the data sets of Yelp.
TRAINED = ("yelp-lm", "yelp-style", "yelp-cnn")
YELP_SETS = ("mir", "li2018", "dualrl")
#: The longest notebooks: with one of them last, a core would have nothing to do meanwhile.
LONGEST = (
    *("05_ablation", "09_confounds", "lesson_7_out_of_its_depth", "17_synthesis", "01_datasets"),
    *("lesson_9_judges", "08_hybrids", "22_preferences", "lesson_8_in_sample", "18_choosing"),
)
#: Which pages were generated is known only once they are: their names and hashes stand here.
MANIFEST = Path(".build/pages.json")


def python(*arguments):
    """An action: run Python and show what it says as it says it."""

    def action():
        done = subprocess.run([sys.executable, *arguments], check=False)
        return done.returncode == 0 or TaskFailed(f"python {' '.join(arguments)}")

    return action


#: Each thread has a process of its own that executes notebooks.
OWN = threading.local()


def executed(name):
    """An action: execute a notebook."""

    def action():
        if not hasattr(OWN, "process"):
            command = [sys.executable, "-m", "tools.kernels"]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            OWN.process = subprocess.Popen(command, text=True, **pipes)
        print(name, file=OWN.process.stdin, flush=True)
        return OWN.process.stdout.readline() == "ok\n" or TaskFailed(name)

    return action


def files(*patterns):
    """Files that match, in order, without what Python and editors leave behind."""
    found = {path for pattern in patterns for path in Path().glob(pattern) if path.is_file()}
    return sorted(str(path) for path in found if "__pycache__" not in path.parts)


def raw(name="*"):
    """Raw files of a data set, or of all: what is present decides what the pages show."""
    given = os.environ.get("TSTMETA_DATA")
    places = ([Path(given)] if given else []) + [Path("data/external")]
    return sorted(
        str(path)
        for place in places
        for folder in place.glob(name)
        for path in folder.rglob("*")
        if path.is_file()
    )


def waits():
    """What notebooks and pages wait for.  Without raw files it is nothing, and doit takes tasks in
    the order in which they are named; those that wait it takes in any.
    """
    return ["scores"] if raw() else []


def generated():
    """The generated pages with their hashes, as text."""
    pages = files("book/_generated/**/*")
    return json.dumps({name: sha256(Path(name).read_bytes()).hexdigest() for name in pages})


CODE = files("src/tstmeta/**/*")
#: What executes notebooks, and what makes the pages of data and the book.
EXECUTION = files("tools/book.py", "tools/kernels.py", "tools/tables.py", "tools/warm.py")
TOOLS = files("tools/*.py")
OURS = files(
    *(
        f"data/{name}/**/*"
        for name in (
            *("contrast", "published", "cards", "metric_cards", "transfer"),
            "exercises",
        )
    ),
    *("data/ratings/**/*", "data/frozen/*.csv", "data/tokens.parquet"),
)
EXPERIMENTS = files("experiments/**/*.py")
VERSIONS = ["requirements.lock"]


def reports():
    """What the models of Yelp report when they are trained, where they can be."""
    return [f"data/scores/models/{name}/training.json" for name in TRAINED if raw("yelp")]


def task_train():
    """Train the models of Yelp, once; a training that was stopped goes on."""
    yelp_files = [path for name in ("yelp", *YELP_SETS) for path in raw(name)]
    code = files(
        "experiments/*.py",
        "experiments/training/*.py",
        *(f"src/tstmeta/{name}" for name in ("models/*.py", "models/*.toml", "data/corpora.py")),
    )
    for path in reports():
        yield {
            "name": Path(path).parent.name,
            "actions": [python("-m", "tools.book", "train", Path(path).parent.name)],
            "file_dep": [*code, *yelp_files, *VERSIONS],
            "targets": [path],
        }


def task_scores():
    """Score the data sets that are here, and not passed on, with all that the pages show."""
    parts = ("data", "metrics", "models", "likelihood", "judge")
    code = files("src/tstmeta/*.py", *(f"src/tstmeta/{part}/**/*" for part in parts))
    for name in SCORED:
        models = reports() if name in (*YELP_SETS, "li2018@yelp", "mis@yelp") else []
        if files_of := raw(name.partition("@")[0]):
            yield {
                "name": name,
                "actions": [python("-m", "tools.book", "scores", name)],
                "file_dep": [*code, "tools/book.py", *files_of, *models, *VERSIONS],
                "uptodate": [Path("data/scores").is_dir],
            }


def task_notebooks():
    """Execute the notebooks."""
    for source in files("notebooks/*.ipynb"):
        name = Path(source).stem
        runs = EXPERIMENTS if "from experiments" in Path(source).read_text("utf-8") else []
        frames = [f".build/frames/{name}.{kind}.parquet" for kind in ("headline", "fast")]
        yield {
            "name": name,
            "actions": [executed(name)],
            "file_dep": [source, *EXECUTION, *CODE, *runs, *OURS, *raw(), *reports(), *VERSIONS],
            "task_dep": waits(),
            "targets": [f"book/results/{name}.ipynb", *frames],
        }


def task_pages():
    """Write the pages that are made from data: cards, metrics, claims, ledger, benchmarks."""
    return {
        "actions": [
            python("-m", "tools.book", "pages"),
            lambda: MANIFEST.write_text(generated()) > 0,
        ],
        "file_dep": [
            *(*CODE, *OURS, *TOOLS, *files("book/templates/*", "benchmarks/results/*.json")),
            *(*raw(), *VERSIONS),
        ],
        "task_dep": waits(),
        "uptodate": [lambda: MANIFEST.is_file() and MANIFEST.read_text() == generated()],
        "targets": [str(MANIFEST)],
    }


def task_book():
    """Build the book with warnings as errors."""
    return {
        "actions": [python("-m", "tools.book", "build")],
        "file_dep": [
            str(MANIFEST),
            *files("book/*.md", "book/*.bib", "book/_static/*", "_*.yml", "pyproject.toml"),
            *(f"book/results/{Path(source).name}" for source in files("notebooks/*.ipynb")),
            *CODE,  # the page on the API is made of its docstrings
            *TOOLS,
            "book/templates/slides.html.j2",
            *files(".build/pyodide/*"),
            *VERSIONS,
        ],
        # what is named here runs first, in this order; all others in any
        "task_dep": [*waits(), "pages", *(f"notebooks:{name}" for name in LONGEST)],
        "targets": ["book/_build/html/index.html"],
    }


def task_types():
    """Check the types; `make test` does so while the book is built, which takes a core alone."""
    return {
        "actions": [python("-m", "mypy")],
        "file_dep": [*CODE, *EXPERIMENTS, "pyproject.toml", *VERSIONS],
        "task_dep": ["notebooks", "pages"],
    }


if __name__ == "__main__":
    alone = FileLock(".build/lock")
    try:
        try:
            alone.acquire(timeout=0)
        except Timeout:
            print("another run is at work in this folder: waiting for it", file=sys.stderr)
            alone.acquire()
        doit.run(globals())
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
