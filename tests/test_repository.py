"""What is tracked: nothing of others' data or of one machine."""

import hashlib
import re

from tests import written
from tests.helpers import needs
from tests.test_privacy import raw_folders

#: Folders of machines, and hosts that packages are got from.  The patterns do not match themselves.
MACHINE = re.compile(
    r"(?<![\w.*$}~/-])/(?:[w]ork|[h]ome|[r]oot|[U]sers|[m]nt|[s]rv)/\w|[C]:\\\\?[U]sers", re.ASCII
)
REGISTRY = re.compile(
    r"[p]ypi\.org|[p]ythonhosted|[i]ndex-url[ =]+\S*//|[t]rusted-host|[a]rtifactory|/[s]imple/",
    re.I,
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


def test_no_path_of_a_machine_and_no_host_of_a_registry_is_named():
    for line, is_path in (("open('/" + "work/x')", True), ("https://a.org/home/b", False)):
        assert bool(MACHINE.search(line)) is is_path
    found = []
    for path in written.tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE.search(line) or REGISTRY.search(line):
                found.append(f"{path.relative_to(written.ROOT)}:{number}")
    assert found == []
