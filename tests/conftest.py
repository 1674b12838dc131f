"""What holds for every test: no window, no deadline for properties, no silent skip where it counts.

``TSTMETA_REQUIRE="browser wordnet"`` names markers whose tests must run: a skip is a failure.
"""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"
# Tests run side by side; each with threads of its own for small matrices would crawl.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


#: Files that take longest, longest first: at the end, one process would run them alone.
SLOWEST = (
    *("tests/browser/test_pages", "tests/test_frozen", "tests/tools/test_pages"),
    *("tests/notebooks/test_headlines", "tests/test_store", "tests/models/test_template_limits"),
    *("tests/attack/", "tests/experiments/transfer/test_training", "tests/bulk/"),
    *("tests/test_hostile_files", "tests/tools/test_claims", "tests/cli/test_outputs"),
    "tests/experiments/training/test_classifier",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slowest files first."""

    def place(item: pytest.Item) -> int:
        names = enumerate(SLOWEST)
        return next((n for n, name in names if item.nodeid.startswith(name)), len(SLOWEST))

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Generator[None]:
    """The process that renders chat templates ends with the tests, and Python warns of none."""
    yield
    rendering = sys.modules.get("tstmeta.models.template")
    if rendering and rendering._renderer.cache_info().currsize:
        process = rendering._renderer(os.getpid())
        process.kill()
        process.communicate()
        rendering._renderer.cache_clear()


@pytest.fixture(scope="session")
def quick_retries() -> Generator[None]:
    """The retries of the ``openai`` client, thousandths of a second apart."""
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ImportError):
            patch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
        yield


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without raw data: where it would be."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    monkeypatch.setattr("tstmeta.data.paths.external", lambda: tmp_path / "external")
    return tmp_path


@pytest.fixture
def tstmeta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Run a command on a machine without raw data and with a score store of its own."""
    from tests.command import command_line  # which imports the whole command line

    return command_line(tmp_path, monkeypatch)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, object]:
    report = yield
    required = os.environ.get("TSTMETA_REQUIRE", "").replace(",", " ").split()
    marks = {mark.name for mark in item.iter_markers()} & set(required)
    if report.skipped and marks and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{', '.join(sorted(marks))} tests must run here, but: {reason}"
    return report
