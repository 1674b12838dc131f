"""The front door: `make setup` refuses with a remedy, installs what an outsider needs, and goes on.

What installs for real runs nightly: it needs the package index, and gigabytes.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that `make setup` reads, in a folder with a space in its name."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("src", "data"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run(folder: Path, *words: str, fails: bool = False, **environment: str) -> Any:
    """A command in the checkout, which works, or fails where that is wanted."""
    options = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run(words, cwd=folder, env=environment, **options)
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    return done


OLD = 'case "$1" in -V) echo "Python 3.9.1";; *) exit 1;; esac'
BARE = 'case "$2" in *ensurepip*) exit 1;; *print*) echo 3.13;; esac'
NEEDED = "Python 3.11, 3.12 or 3.13 is needed"


@pytest.mark.parametrize("named", [True, False], ids=["named", "on the path"])
@pytest.mark.parametrize(
    ("script", "words"),
    [
        (OLD, (NEEDED, "Python 3.9.1", "apt-get install python3 python3-venv\n")),
        (BARE, ("ensurepip", "apt-get install python3.13-venv\n", "python@3.13\n")),
    ],
    ids=["an old one", "one without ensurepip"],
)
def test_a_python_that_will_not_do_is_refused_with_the_remedy(checkout, script, words, named):
    tools = checkout / "some tools"
    tools.mkdir()
    for tool in ("sh", "rm", "cat", "head", "make"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    path = tools / "python3"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    chosen = [f"PYTHON={path}"] if named else []
    place = os.environ["PATH"] if named else str(tools)
    done = run(checkout, "make", "setup", *chosen, fails=True, PATH=place)
    assert [word for word in words if word not in done.stderr] == []
    assert "python3.11" not in done.stderr.partition("\n")[2]  # Debian 13 has no such package
    assert not (checkout / ".venv").exists()


#: Imports every module that a direct dependency of the project brings.
IMPORTS = """
import importlib, re, tomllib
from importlib.metadata import packages_distributions
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical
project = tomllib.load(open("pyproject.toml", "rb"))
lists = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
lists += project["dependency-groups"].values()
names = {canonical(Requirement(text).name) for group in lists for text in group}
owners = {name: set(map(canonical, them)) for name, them in packages_distributions().items()}
modules = sorted(n for n in owners if owners[n] & names and n.isidentifier() and n[0] != "_")
for module in modules:
    importlib.import_module(module)
print(len(names), len(modules))
"""


def environment(home: Path) -> dict[str, str]:
    """What a stranger has: a home with nothing in it, and nothing that pip or uv is told."""
    home.mkdir(exist_ok=True)
    told = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "XDG_")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(told)}
    return {**rest, "HOME": str(home), "PIP_CONFIG_FILE": os.devnull}


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_an_outsider_installs_everything_and_can_import_it(checkout, tmp_path):
    outsider = {**environment(tmp_path / "home"), "PIP_NO_CACHE_DIR": "1"}
    run(checkout, "make", "setup", **outsider)
    done = run(checkout, ".venv/bin/python", "-W", "ignore", "-c", IMPORTS, **outsider)
    dependencies, modules = map(int, done.stdout.split()[-2:])
    assert modules > dependencies > 60
    # nothing to do: nothing is done
    assert run(checkout, "make", "setup", **outsider).stdout == ""


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_an_installation_killed_at_ten_moments_passes_when_it_is_repeated(checkout, tmp_path):
    settings = {**os.environ, "UV_CACHE_DIR": str(tmp_path / "cache")}
    settings.pop("PIP_NO_CACHE_DIR", None)
    for moment in (0.2, 1, 2, 4, 6, 8, 10, 12, 14, 16):
        shutil.rmtree(checkout / ".venv", ignore_errors=True)
        process = subprocess.Popen(
            ["make", "setup"], cwd=checkout, env=settings, start_new_session=True
        )
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        run(checkout, "make", "setup", **settings)
        python, check = ".venv/bin/python", ("-m", "uv", "pip", "check", "--python", ".venv")
        run(checkout, python, *check, **settings)
        run(checkout, python, "-c", "import torch, pandas, tstmeta.cli", **settings)


@pytest.mark.nightly
def test_a_failed_installation_is_not_taken_for_a_finished_one(checkout):
    (checkout / "requirements.lock").write_text("./there-is-no-such-package\n")
    clean = {name: os.environ[name] for name in ("PATH", "HOME")}
    run(checkout, "make", "setup", fails=True, PIP_NO_INDEX="1", **clean)
    assert (checkout / ".venv/bin/python").exists()
    assert not (checkout / ".venv/.installed").exists()
