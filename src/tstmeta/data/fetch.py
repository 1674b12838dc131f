"""Raw files of others: downloaded from pinned addresses, verified, and checked where they lie.

``data/cards/manifest.csv`` names every file of every public data set with its size, its sha256 (or
git blob id, where that is all that is known) and an address that pins a commit.  A download goes
into ``<file>.part``, which a later call resumes; only a file with the right hash takes the real
name, in one step.  A file with another hash is refused and kept aside as ``<file>.wrong``.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import httpx
import pandas as pd
from filelock import FileLock, Timeout
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from ..console import note, stderr
from ..schema import DataError, MissingData, Problem, TstmetaError
from . import paths
from .download import Line, Refused, Unreachable, client, download

#: States of a file that need no download.  ``unverified`` = here, but no hash of it is known.
GOOD = ("ok", "unverified")
#: No file may be larger, whatever the manifest or the server says.
MAX_BYTES = 500_000_000


class FetchError(TstmetaError):
    """Some files could not be fetched; the message lists them and says what to do."""


class Entry(NamedTuple):
    """One raw file; ``bytes`` is None and a hash is empty where it is not known."""

    dataset: str
    path: str
    bytes: int | None
    sha256: str
    git_blob: str
    url: str

    @property
    def limit(self) -> int:
        """The largest number of bytes that is accepted."""
        return MAX_BYTES if self.bytes is None else min(self.bytes, MAX_BYTES)

    @property
    def pinned(self) -> bool:
        """Whether a hash is known."""
        return bool(self.sha256 or self.git_blob)


# ------------------------------------------------------------------------------------ manifest


def manifest(listing: Path | None = None) -> list[Entry]:
    """The files that can be fetched, in the order of the manifest.

    Raises:
        DataError: a path that leaves its folder, an address that is not http(s), a bad hash.
    """
    listing = listing or paths.own("cards", "manifest.csv")
    with listing.open(newline="", encoding="utf-8") as file:
        rows = [{key: row.get(key) or "" for key in Entry._fields} for row in csv.DictReader(file)]
    problems = [
        Problem(listing.name, number, column, what, "correct the manifest")
        for number, row in enumerate(rows, 1)
        for column, what in _faults(row)
    ]
    if problems:
        raise DataError(problems)
    return [
        Entry(
            row["dataset"],
            row["path"],
            int(row["bytes"]) if row["bytes"] else None,
            row["sha256"],
            row["git_blob"],
            row["url"],
        )
        for row in rows
    ]


def _faults(row: dict[str, str]) -> list[tuple[str, str]]:
    pure = PurePosixPath(row["path"])
    leaves = pure.is_absolute() or ".." in pure.parts or not pure.parts
    checks = {
        ("dataset", "not a plain name"): not re.fullmatch(r"[a-z0-9_]+", row["dataset"]),
        ("path", "leaves the folder"): leaves or bool(re.search(r"[\\:\0]", row["path"])),
        ("bytes", "not a number of bytes"): not re.fullmatch(r"\d{0,12}", row["bytes"]),
        ("sha256", "not a sha256"): not re.fullmatch(r"([0-9a-f]{64})?", row["sha256"]),
        ("git_blob", "not a git blob id"): not re.fullmatch(r"([0-9a-f]{40})?", row["git_blob"]),
        ("url", "not an http(s) address"): not re.fullmatch(r"https?://[^/\s]+/\S+", row["url"]),
    }
    return [fault for fault, found in checks.items() if found]


def chosen(names: Sequence[str], everything: bool = False) -> list[str]:
    """The data sets meant by names (a subset stands for its data set) or by "all".

    Raises:
        TstmetaError: nothing was named, no such data set, or one that cannot be fetched.
    """
    from . import UnknownDataset
    from . import names as registered

    public = list(dict.fromkeys(entry.dataset for entry in manifest()))
    if not names and not everything:
        raise TstmetaError(f"name a data set, or say --all. There are: {', '.join(public)}")
    wanted = [*(name.partition("@")[0] for name in names), *(public if everything else [])]
    for name in wanted:
        if name in public:
            continue
        if name not in registered():
            raise UnknownDataset(
                f"no data set is called {name!r}; these can be fetched: {', '.join(public)}"
            )
        if paths.own(name).is_dir():
            raise TstmetaError(f"{name!r} comes with the project; there is nothing to fetch")
        raise TstmetaError(f"{name!r} is not public; how to get it: tstmeta data show {name}")
    return list(dict.fromkeys(wanted))


# ------------------------------------------------------------------------------------ checking


def state(entry: Entry, file: Path) -> str:
    """What is at ``file``: ok, unverified, missing, wrong size, wrong hash or not an archive."""
    if not file.is_file():
        return "missing"
    size = file.stat().st_size
    if entry.bytes is not None and size != entry.bytes:
        return "wrong size"
    if not entry.pinned:
        return "unverified" if _looks_right(entry, file) else "not an archive"
    digest = hashlib.sha256() if entry.sha256 else hashlib.sha1(b"blob %d\0" % size)
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return "ok" if digest.hexdigest() == (entry.sha256 or entry.git_blob) else "wrong hash"


def _looks_right(entry: Entry, file: Path) -> bool:
    """All that can be said without a hash: an archive is one, and no web page in its place."""
    with file.open("rb") as opened:
        return not entry.path.endswith(".gz") or opened.read(2) == b"\x1f\x8b"


def folder(name: str, dest: Path | None = None) -> Path:
    """Where the files of a data set are or will be: in ``dest``, else where they are looked up."""
    if dest is not None:
        return dest / name
    try:
        return paths.raw(name)
    except MissingData:
        return paths.external() / name


def check(
    names: Sequence[str] | None = None, dest: Path | None = None, listing: Path | None = None
) -> pd.DataFrame:
    """Whether the files of the manifest are where loaders look, with the right size and hash.

    Args:
        names: data sets; None = those of which at least one file is here.

    Returns:
        One row a file: dataset, path, bytes (of the manifest, <NA> if not known), state.
    """
    entries = manifest(listing)
    if names is None:
        names = list(
            dict.fromkeys(
                e.dataset for e in entries if (folder(e.dataset, dest) / e.path).is_file()
            )
        )
    elif listing is None:
        names = chosen(names)
    rows = [
        (e.dataset, e.path, e.bytes, state(e, folder(e.dataset, dest) / e.path))
        for e in entries
        if e.dataset in names
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "path", "bytes", "state"])
    return frame.astype({"bytes": "Int64"})


# ------------------------------------------------------------------------------------ fetching


def fetch(
    names: Sequence[str],
    dest: Path | None = None,
    *,
    listing: Path | None = None,
    workers: int = 4,
    retries: int = 4,
    pause: float = 0.5,
) -> pd.DataFrame:
    """Download what is missing or wrong (a wrong file is replaced); leave alone what is right.

    Args:
        names: data sets of the manifest, see :func:`chosen`.
        dest: a folder that gets one folder a data set; None = where loaders look: the folder in
            ``$TSTMETA_DATA`` if there is one, else ``data/external``.
        listing: another manifest.
        workers: how many files at once.
        retries: how often a file is tried again after a busy server or a cut connection.
        pause: seconds before the first retry, doubled each time.

    Returns:
        One row a file, as :func:`check`, after the download.

    Raises:
        FetchError: some files failed, or the network cannot be reached.  What had arrived is kept
            and a repeated call goes on from there.
    """
    entries = [entry for entry in manifest(listing) if entry.dataset in names]
    targets = {entry: folder(entry.dataset, dest) / entry.path for entry in entries}
    todo = [entry for entry in entries if state(entry, targets[entry]) not in GOOD]
    note(f"{len(entries)} files, {len(entries) - len(todo)} of them here already")
    with ExitStack() as stack:
        for root in sorted({folder(entry.dataset, dest).parent for entry in todo}):
            stack.enter_context(_locked(root))
        if todo:
            _fetch_all(todo, targets, workers, retries, pause)
    return check(names, dest, listing)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """A lock on a folder, so that two runs never append to one partial file."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(root / ".fetch.lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise FetchError(f"another download into {root} is running; wait for it") from error
    except OSError as error:
        raise FetchError(
            f"cannot write into {root} ({error.strerror}), where these files are looked up; "
            "name another folder with --dest, or point TSTMETA_DATA at one"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _fetch_all(
    todo: list[Entry], targets: dict[Entry, Path], workers: int, retries: int, pause: float
) -> None:
    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with (
        client() as opened,
        Progress(
            *columns, TransferSpeedColumn(), console=console, disable=not console.is_terminal
        ) as progress,
    ):
        bar = progress.add_task(f"{len(todo)} files", total=sum(e.bytes or 0 for e in todo))
        received: dict[Path, int] = {}

        def report(part: Path, size: int) -> None:
            before, received[part] = received.get(part, 0), size
            progress.advance(bar, size - before)

        line = Line(opened, retries, pause, report)
        unreachable: set[str] = set()
        pool = ThreadPoolExecutor(workers)
        try:
            errors = list(pool.map(lambda e: _fetch_one(line, e, targets[e], unreachable), todo))
        finally:
            line.stop.set()  # after Ctrl-C the workers finish their block and leave
            pool.shutdown(cancel_futures=True)
    failed = [(entry, why) for entry, why in zip(todo, errors, strict=True) if why]
    if failed:
        raise FetchError(_report(failed, unreachable, len(todo)))
    note(f"fetched {len(todo)} files")


def _fetch_one(line: Line, entry: Entry, target: Path, unreachable: set[str]) -> str:
    """Fetch a file; returns why it failed, or an empty text."""
    if _host(entry) in unreachable:  # one message a host, not a wait for each of its files
        return "not tried"
    try:
        root = target.parents[len(PurePosixPath(entry.path).parts) - 1]
        if not target.resolve().is_relative_to(root.resolve()):
            return "a link leads out of the folder of the data set: remove it"
        download(
            line,
            entry.url,
            target,
            lambda part: "" if (found := state(entry, part)) in GOOD else found,
            size=entry.bytes,
            limit=entry.limit,
            resume=entry.pinned,
        )
    except Unreachable:
        unreachable.add(_host(entry))
        return "cannot be reached"
    except Refused as refused:
        return str(refused)
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return ""


def _host(entry: Entry) -> str:
    return httpx.URL(entry.url).netloc.decode()


def _report(failed: list[tuple[Entry, str]], unreachable: set[str], wanted: int) -> str:
    """One message: a line a host that cannot be reached, and one for each other failure."""
    lines = [f"{len(failed)} of {wanted} files could not be fetched"]
    for host in sorted(unreachable):
        count = sum(_host(entry) == host for entry, _ in failed)
        lines.append(f"{host} cannot be reached: are you offline? ({count} files)")
    lines += [
        f"{entry.dataset}/{entry.path}: {why}"
        for entry, why in failed
        if _host(entry) not in unreachable
    ]
    return "\n".join([*lines, "Nothing that had arrived is lost; repeat the command to go on."])
