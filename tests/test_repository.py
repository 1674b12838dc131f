"""The repository holds nothing of others' data and nothing of one machine."""

import hashlib
import re

import pytest

from tests import written
from tests.helpers import needs
from tests.test_privacy import raw_folders

#: Folders of machines, and hosts that packages are got from.  The patterns do not match themselves.
MACHINE = re.compile(
    r"(?<![\w.*$}~/-])/(?:[w]ork|[h]ome|[r]oot|[U]sers|[m]nt|[s]rv)/\w|[C]:\\\\?[U]sers", re.ASCII
)
REGISTRY = re.compile(
    r"[p]ypi\.org|[p]ythonhosted|[i]ndex-url|[t]rusted-host|[a]rtifactory|/[s]imple/", re.I
)


@needs("pauli", "lai", "mir")
def test_no_raw_file_of_others_is_in_the_repository():
    sizes = {path.stat().st_size for path in written.tracked()} - {0}
    digests = {hashlib.sha1(path.read_bytes()).hexdigest() for path in written.tracked()}
    raw = [path for folder in raw_folders() for path in folder.rglob("*") if path.is_file()]
    assert len(raw) > 100
    same = [
        path.name
        for path in raw
        if path.stat().st_size in sizes and hashlib.sha1(path.read_bytes()).hexdigest() in digests
    ]
    assert same == []


def test_nothing_below_ignored_folders_is_tracked():
    names = [path.relative_to(written.ROOT).as_posix() for path in written.tracked()]
    built = ("data/external/", "data/scores/", "book/results/", "book/_build/", "book/_generated/")
    assert [name for name in names if name.startswith(built)] == []


@pytest.mark.parametrize("pattern", [MACHINE, REGISTRY], ids=["machine", "registry"])
def test_no_path_of_a_machine_and_no_host_of_a_registry_is_named(pattern):
    found = []
    for path in written.tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(written.ROOT)}:{number}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("open('/" + "work/x')", True),
        ("/" + "home/me/file", True),
        ("C:" + "\\Users\\me", True),
        ("https://example.org/home/page", False),
        ("$HOME/data", False),
        ("a / work", False),
        ("/usr/share/wordnet", False),
    ],
)
def test_the_search_for_paths_finds_paths(line, names):
    assert bool(MACHINE.search(line)) is names


def test_no_file_is_large_but_the_embedded_model():
    weights = "src/tstmeta/models/weights/backbone/model.safetensors"
    sizes = {
        path.relative_to(written.ROOT).as_posix(): path.stat().st_size for path in written.tracked()
    }
    assert sizes.pop(weights) <= 12_000_000
    assert [name for name, size in sizes.items() if size > 2_000_000] == []
