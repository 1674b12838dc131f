"""One set of versions: pyproject.toml, requirements.lock, environment.yml and what is installed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
USERS = [PROJECT["project"]["dependencies"], *EXTRAS.values()]
DIRECT = [*USERS, *GROUPS.values(), PROJECT["build-system"]["requires"]]


def lock() -> list[str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


LOCKED = dict(line.split("==") for line in lock() if "==" in line)


# ------------------------------------------------------------------------------------ versions


def test_the_lock_holds_exact_versions_sorted_once_and_nothing_else():
    pin = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][0-9a-z.]*")
    assert [line for line in lock() if not pin.fullmatch(line)] == []
    names = [line.split("==")[0] for line in lock()]
    assert names == sorted(set(names))


def test_the_lock_holds_a_version_in_each_range_that_the_project_gives():
    requirements = [Requirement(text) for group in DIRECT for text in group]
    versions = {need: LOCKED.get(canonicalize_name(need.name)) for need in requirements}
    wrong = [f"{n} (lock: {v})" for n, v in versions.items() if v is None or v not in n.specifier]
    assert wrong == []


def test_what_users_install_is_a_range_and_never_one_version():
    needs = [Requirement(text) for group in USERS for text in group]
    assert [str(n) for n in needs if "==" in str(n.specifier) or ">=" not in str(n.specifier)] == []


def test_everything_in_the_lock_is_asked_for_by_something():
    needed = {canonicalize_name(Requirement(text).name) for group in DIRECT for text in group}
    todo = [Requirement(text) for group in DIRECT for text in group]
    seen = set()
    while todo:
        wanted = todo.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen or key[0] not in LOCKED:
            continue
        seen.add(key)
        for text in distribution(key[0]).requires or []:
            need = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *wanted.extras)]
            if need.marker is None or any(map(need.marker.evaluate, environments)):
                todo.append(need)
                needed.add(canonicalize_name(need.name))
    assert set(LOCKED) - needed == set()


def test_what_is_installed_is_what_the_lock_says():
    installed = {
        canonicalize_name(each.name): Version(each.version).public for each in distributions()
    }
    differing = {
        name: (version, installed.get(name))
        for name, version in LOCKED.items()
        if installed.get(name) is None or Version(installed[name]) != Version(version)
    }
    assert differing == {}


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_the_lock_can_be_installed_on_the_first_release_of_each_python(python):
    needs = {name: distribution(name).metadata.get("Requires-Python") for name in LOCKED}
    refused = [name for name, need in needs.items() if need and python not in SpecifierSet(need)]
    assert refused == []


def test_conda_users_get_the_same_python_and_the_same_lock():
    wanted = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    [python] = [name.partition("=")[2] for name in wanted if str(name).startswith("python=")]
    assert Version(python) in SpecifierSet(PROJECT["project"]["requires-python"])
    assert wanted[-1] == {"pip": ["-r requirements.lock", "-e ."]}


def test_every_package_that_the_code_imports_is_declared():
    declared = {canonicalize_name(Requirement(text).name) for group in DIRECT for text in group}
    owners = packages_distributions()
    imported = set()
    ours = set((ROOT / "src").rglob("*.py")) - set((ROOT / "src").rglob("exports/*"))  # for others
    for path in ours:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - {"tstmeta"}
    missing = {
        name
        for name in foreign
        if not {canonicalize_name(owner) for owner in owners.get(name, [])} & declared
    }
    assert missing == set()


def test_the_readme_names_every_extra_and_the_pythons_that_are_supported():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", readme)) == set(EXTRAS)
    assert "Python (3.11, 3.12 or 3.13)" in readme
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"


# ---------------------------------------------------------------------------------- front door


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that `make setup` reads, in a folder with a space in its name."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    return folder


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_make_alone_says_what_can_be_made(checkout):
    done = make(checkout)
    assert done.returncode == 0
    for target in ("setup", "book", "test", "nightly", "serve", "clean", "distclean", "lint"):
        assert f"make {target} " in done.stdout


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
    done = make(checkout, "setup", *chosen, **({} if named else {"PATH": str(tools)}))
    assert done.returncode != 0
    assert [word for word in words if word not in done.stderr] == []
    assert "python3.11" not in done.stderr.partition("\n")[2]  # Debian 13 has no such package
    assert not (checkout / ".venv").exists()


@pytest.mark.nightly
def test_a_failed_installation_is_not_taken_for_a_finished_one(checkout):
    (checkout / "requirements.lock").write_text("./there-is-no-such-package\n")
    done = make(checkout, "setup", PIP_NO_INDEX="1")
    assert done.returncode != 0
    assert (checkout / ".venv/bin/python").exists()
    assert not (checkout / ".venv/.installed").exists()
