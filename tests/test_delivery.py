"""How the project runs elsewhere (Binder, containers) and is released: files that hang together.

The workflow `container` builds what is described here; these tests hold its parts to one another.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.test_environment import LOCKED, PROJECT, ROOT
from tools import release

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github/workflows").iterdir())
}
VERSION = PROJECT["project"]["version"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# ----------------------------------------------------------------------------------- workflows


def test_a_step_uses_an_action_at_a_version_or_runs_files_and_targets_that_are_here():
    assert set(WORKFLOWS) == {"ci", "container", "release"}
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    for step in (step for job in jobs for step in job["steps"]):
        run = step.get("run", "")
        assert run or re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
        assert "${{" not in run  # what a stranger may name reaches the shell as a variable only
        named = re.findall(r"^\.ci/run|(?<=python )tools/\w+\.py", run, re.MULTILINE)
        assert [name for name in named if not (ROOT / name).is_file()] == []
        targets = re.findall(r"\bmake ([a-z]+)", run)
        assert [name for name in targets if f"\n{name}:" not in read("Makefile")] == []


# ---------------------------------------------------------------------- containers and Binder


def test_the_image_has_what_the_tests_need_of_a_system_and_runs_as_a_user():
    script = read(".ci/run")
    wanted = set(" ".join(re.findall(r"wanted\+=\(([a-z -]+)\)", script)).split())
    wanted |= set(" ".join(re.findall(r"^for package in (.+); do", script, re.M)).split())
    assert len(wanted) == 5
    installed = re.search(r"apt-get install (.*?)&&", DOCKERFILE)[1].split()
    assert (wanted | {"make", "git"}) - set(installed) == set()
    python = re.search(r"^FROM python:(3\.\d+)-slim AS system$", DOCKERFILE, re.MULTILINE)[1]
    assert f'python-version: "{python}"' in read(".github/workflows/release.yml")
    assert re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE) == ["reader"]
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.findall(r"^RUN .*\bmake (\w+)", last, re.MULTILINE) == ["setup", "book"]
    copied = [line.split()[-2] for line in re.findall(r"^COPY (.+)", DOCKERFILE, re.MULTILINE)]
    assert [path for path in copied if not (ROOT / path).exists()] == []


def test_a_development_container_starts_from_the_image_and_sets_itself_up():
    given = json.loads(read(".devcontainer/devcontainer.json"))
    assert (ROOT / ".devcontainer" / given["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert f" AS {given['build']['target']}\n" in DOCKERFILE
    assert f"\nUSER {given['remoteUser']}\n" in DOCKERFILE
    assert given["postCreateCommand"] == "make setup"


def test_binder_installs_the_lock_and_a_torch_for_cpus_in_the_range_of_the_project(tmp_path):
    python, pip, torch = yaml.safe_load(read(".binder/environment.yml"))["dependencies"]
    assert [python, pip, "conda-forge"] == [
        *yaml.safe_load(read("environment.yml"))["dependencies"][:2],
        *yaml.safe_load(read(".binder/environment.yml"))["channels"],
    ]
    models = map(Requirement, PROJECT["project"]["optional-dependencies"]["models"])
    [ours] = [need for need in models if need.name == "torch"]
    assert Requirement(torch).name == "pytorch-cpu"
    assert Requirement(torch).specifier == ours.specifier
    # the script, with a Python that writes down what it is asked to install
    script, log = ROOT / ".binder" / "postBuild", tmp_path / "log"
    assert script.stat().st_mode & 0o111
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\nfor a; do case $a in /dev/*) cat "$a";; esac; done >> {log}\n')
    fake.chmod(0o755)
    path = f"{tmp_path}:{Path(str(shutil.which('bash'))).parent}:/usr/bin:/bin"
    subprocess.run([script], cwd=ROOT, env={"PATH": path}, check=True)
    pins = [line for line in log.read_text().splitlines() if "==" in line and line[0] != "#"]
    left = {name: version for name, version in LOCKED.items() if name != "torch"}
    assert dict(pin.split("==") for pin in pins) == left


# ------------------------------------------------------------------------------------ releases


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


@pytest.mark.parametrize("words", [(), ("check",), ("notes", "7.7.7"), ("check", "main")])
def test_the_script_stops_with_words_where_it_cannot_do_what_it_is_asked(words):
    with pytest.raises(SystemExit) as stopped:
        release.main(*words)
    assert isinstance(stopped.value.code, str)


def test_zenodo_is_given_what_the_citation_says():
    given = json.loads(read(".zenodo.json"))
    same = {"title": "title", "keywords": "keywords", "description": "abstract"}
    assert [given[key] for key in same] == [CITATION[key] for key in same.values()]
    assert [who["name"] for who in given["creators"]] == [
        who["name"] for who in CITATION["authors"]
    ]
    assert given["license"] == CITATION["license"][0]
    assert all(name in given["notes"] for name in CITATION["license"])
    papers = {paper["url"].rpartition("/")[2]: paper["type"] for paper in CITATION["references"]}
    kinds = {"article": "publication-preprint", "conference-paper": "publication-conferencepaper"}
    assert {each["identifier"]: each["resource_type"] for each in given["related_identifiers"]} == {
        f"arXiv:{number}": kinds[kind] for number, kind in papers.items()
    }
    assert all(f"arXiv:{number}" in read("book/references.bib") for number in papers)
