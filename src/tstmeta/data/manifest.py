"""The list of raw files, with their sizes and hashes, and a check of those on this machine.

``data/cards/manifest.csv`` names every file with its size, its hash and an address that pins a
commit.  Where paths carry ids of people, ``path`` is a pattern with ``*`` and the address an
archive's; ``bytes`` is then the sum of sizes, ``sha256`` the hash of the sorted hashes.  A second
hash is that of a copy whose raters were renamed; ``**/`` are folders that the archive lacks.
"""

import csv
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..console import TableRows
from ..schema import MissingData, TstmetaError
from . import paths


class Entry(NamedTuple):
    """One raw file; ``bytes`` is None where it is not known, one of the hashes may be empty."""

    dataset: str
    path: str
    bytes: int | None
    sha256: str
    git_blob: str
    url: str

    @property
    def packed(self) -> bool:
        return "*" in self.path


@cache
def manifest() -> list[Entry]:
    """The files that can be fetched."""
    with paths.project("cards", "manifest.csv").open(encoding="utf-8", newline="") as file:
        return [
            Entry(name, path, int(size) if size else None, *facts)
            for name, path, size, *facts in list(csv.reader(file))[1:]
        ]


def chosen(names: Sequence[str], everything: bool = False) -> list[str]:
    """The data sets meant by names (a subset stands for its data set) or by "all"."""
    public = list(dict.fromkeys(entry.dataset for entry in manifest()))
    wanted = [*(name.partition("@")[0] for name in names), *(public if everything else [])]
    what = "" if wanted else "name a data set, or say --all"
    for strange in {*wanted} - {*public}:
        what = f"{strange!r} cannot be fetched; why: tstmeta data show {strange}"
    if what:
        raise TstmetaError(f"{what}. These can be: {', '.join(public)}")
    return list(dict.fromkeys(wanted))


def verdict(entry: Entry, contents: Sequence[bytes]) -> str:
    """Compare contents with an entry: ok, missing or wrong hash."""
    if not contents:
        return "missing"
    digest = hashlib.sha256(contents[0]).hexdigest()
    if entry.packed:
        digests = sorted(hashlib.sha256(content).hexdigest() for content in contents)
        digest = hashlib.sha256("".join(f"{line}\n" for line in digests).encode()).hexdigest()
    elif not entry.sha256:
        digest = hashlib.sha1(b"blob %d\0" % len(contents[0]) + contents[0]).hexdigest()
    return "ok" if digest in (entry.sha256 or entry.git_blob).split() else "wrong hash"


def folder(name: str) -> Path:
    """Where the files of a data set are looked up, or will be."""
    try:
        return paths.raw(name)
    except MissingData:
        return paths.external() / name


def located(entry: Entry) -> list[Path]:
    """The files of an entry that are here."""
    root = folder(entry.dataset)
    files = root.glob(entry.path) if entry.packed else [root / entry.path]
    return [file for file in files if file.is_file()]


def state(entry: Entry) -> str:
    """The verdict about the files of an entry on this machine."""
    return verdict(entry, [file.read_bytes() for file in located(entry)])


def check(names: Sequence[str] | None = None) -> TableRows:
    """A row a file: dataset, path, bytes (of the manifest, None if not known), state.

    Of the data sets named, or else of those of which at least one file is here.
    """
    if names is None:
        names = [entry.dataset for entry in manifest() if located(entry)]
    return [
        {"dataset": entry.dataset, "path": entry.path, "bytes": entry.bytes, "state": state(entry)}
        for entry in manifest()
        if entry.dataset in names
    ]
