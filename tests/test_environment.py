"""One set of versions wherever the project runs: lock, make, containers, Binder, releases."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.helpers import PROJECT, ROOT, closure
from tests.test_layers import absolute
from tools import release

EXTRAS = PROJECT["project"]["optional-dependencies"]
DIRECT = [PROJECT["project"]["dependencies"], *EXTRAS.values()]
DIRECT += [*PROJECT["dependency-groups"].values(), PROJECT["build-system"]["requires"]]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


LOCKED = dict(re.findall(r"^([\w-]+)==(.+)$", read("requirements.lock"), re.MULTILINE))
VERSION = PROJECT["project"]["version"]


def test_the_lock_holds_a_version_in_each_range_that_the_project_gives():
    requirements = [Requirement(text) for group in DIRECT for text in group]
    versions = {need: LOCKED.get(canonicalize_name(need.name)) for need in requirements}
    wrong = [f"{n} (lock: {v})" for n, v in versions.items() if v is None or v not in n.specifier]
    assert wrong == []


def test_what_is_installed_is_what_the_lock_says():
    installed = {canonicalize_name(each.name): Version(each.version) for each in distributions()}
    differing = {
        name: (version, installed.get(name))
        for name, version in LOCKED.items()
        if name not in installed or Version(installed[name].public) != Version(version)
    }
    assert differing == {}


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_the_lock_can_be_installed_on_the_first_release_of_each_python(python):
    needs = {name: distribution(name).metadata.get("Requires-Python") for name in LOCKED}
    assert [name for name, need in needs.items() if need and python not in SpecifierSet(need)] == []


def test_every_package_that_the_code_imports_is_declared():
    declared = {canonicalize_name(Requirement(text).name) for group in DIRECT for text in group}
    owners = packages_distributions()
    imported = {name for path in (ROOT / "src").rglob("*.py") for name in absolute(path)}
    foreign = imported - set(sys.stdlib_module_names) - {"tstmeta"}
    missing = {
        name
        for name in foreign
        if not {canonicalize_name(owner) for owner in owners.get(name, [])} & declared
    }
    assert missing == set()


def test_binder_installs_the_lock_with_a_torch_for_cpus(tmp_path):
    binder = yaml.safe_load(read(".binder/environment.yml"))
    conda = yaml.safe_load(read("environment.yml"))
    assert binder["dependencies"] == conda["dependencies"][:2]
    assert binder["channels"] == conda["channels"]
    # the script, with a Python that writes down what it is asked to do
    script, log = ROOT / ".binder" / "postBuild", tmp_path / "log"
    assert script.stat().st_mode & 0o111
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\necho "$UV_TORCH_BACKEND" "$@" >> {log}\n')
    fake.chmod(0o755)
    path = f"{tmp_path}:{Path(str(shutil.which('bash'))).parent}:/usr/bin:/bin"
    subprocess.run([script], cwd=ROOT, env={"PATH": path}, check=True)
    bootstrap, installation, model, _ = log.read_text().splitlines()
    assert model == "cpu -m tstmeta models fetch smollm2-135m"
    assert bootstrap.endswith(f" uv=={LOCKED['uv']}")
    assert installation.startswith(f"cpu -m uv pip install --python {fake} ")
    assert installation.endswith("-r requirements.lock -e .")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that name the version, as they are at a release."""
    for name in ("pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    log = f"# Changelog\n\n## Unreleased\n\n## {VERSION}\n\n- A change\n  of two lines.\n- New:\n"
    (tmp_path / "CHANGELOG.md").write_text(f"{log}  - one\n\n## 0.0.1\n\n- The first.\n")
    return tmp_path


def test_a_tag_that_all_files_name_is_released_with_the_notes_of_its_version(tree):
    assert release.faults(f"v{VERSION}", tree) == []
    assert release.notes(VERSION, tree) == "- A change of two lines.\n- New:\n  - one"
    assert release.notes("0.0.1", tree) == "- The first."
    assert all("Unreleased" in fault for fault in release.faults(f"v{VERSION}"))  # of now


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("pyproject.toml", f'\nversion = "{VERSION}"', '\nversion = "9.0.0"', "says 9.0.0"),
        ("CITATION.cff", f"\nversion: {VERSION}", "", "says no version"),
        ("CHANGELOG.md", f"## {VERSION}", "## 9.0.0", "says 9.0.0"),
        ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- More.\n", "under Unreleased"),
    ],
)
def test_a_file_that_says_otherwise_stops_the_release_and_is_named(tree, name, old, new, words):
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))
    [fault] = release.faults(f"v{VERSION}", tree)
    assert fault.startswith(f"{name} ")
    assert words in fault


def test_everything_in_the_lock_is_asked_for_by_something():
    assert set(LOCKED) - closure(text for group in DIRECT for text in group) == set()


def test_conda_users_get_the_same_python_and_the_same_lock():
    wanted = yaml.safe_load(read("environment.yml"))["dependencies"]
    [python] = [name.partition("=")[2] for name in wanted if str(name).startswith("python=")]
    assert Version(python) in SpecifierSet(PROJECT["project"]["requires-python"])
    assert wanted[-1] == {"pip": ["-r requirements.lock", "-e ."]}


def test_the_readme_names_every_extra():
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", read("README.md"))) == set(EXTRAS)
