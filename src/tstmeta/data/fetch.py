"""Raw files of others: downloaded from pinned addresses, verified, and checked where they lie.

``data/cards/manifest.csv`` names every file with its size, its hash and an address that pins a
commit.  A download goes into ``<file>.part``, which a later call resumes; only a file with the
right hash takes the real name.

Where paths carry ids of people, ``path`` is a pattern with ``*`` and the address an archive's: what
matches is unpacked; ``bytes`` is the sum of sizes, ``sha256`` the hash of the sorted hashes.
"""

import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import httpx
import pandas as pd
from tqdm import tqdm

from .. import __version__
from ..console import note
from ..retrying import PASSING, Again, retry_after, retrying
from ..schema import MissingData, TstmetaError
from ..storage import locked
from . import paths
from .checks import check as refuse
from .checks import each, fault
from .files import read_csv

#: No file may be larger, whatever the manifest or the server says.
MAX_BYTES = 500_000_000
#: Tries after the first, and seconds before the first of them, doubled each time.
RETRIES, PAUSE = 4, 0.5


class FetchError(TstmetaError):
    """What could not be fetched, however often a server is tried, and why."""


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


def _stays(path: str) -> bool:
    pure = PurePosixPath(path)
    inside = not pure.is_absolute() and ".." not in pure.parts and bool(pure.parts)
    return inside and not set(path) & set("\\:\0")


def _matches(pattern: str):
    regex = re.compile(pattern)
    return each(lambda cell: bool(regex.fullmatch(cell)), f"needs {pattern}")


_COLUMNS = {
    "dataset": _matches(r"[a-z0-9_]+"),
    "path": each(_stays, "needs a path that stays in its folder"),
    "bytes": _matches(r"\d{0,12}"),
    "sha256": _matches(r"([0-9a-f]{64})?"),
    "git_blob": _matches(r"([0-9a-f]{40})?"),
    "url": _matches(r"https?://[^/\s]+/\S+"),
}


@cache
def manifest(listing: Path | None = None) -> list[Entry]:
    """The files that can be fetched, in the order of the manifest, which must be safe to follow."""
    path = listing or paths.own("cards", "manifest.csv")
    table = read_csv(path, _COLUMNS)[list(_COLUMNS)]
    loose = table.index[(table["sha256"] + table["git_blob"]) == ""]
    refuse(fault(path, "no hash says what should come", row + 1, "sha256") for row in loose)
    return [
        Entry(*row)._replace(bytes=int(row[2]) if row[2] else None)
        for row in table.itertuples(index=False, name=None)
    ]


def chosen(names: Sequence[str], everything: bool = False) -> list[str]:
    """The data sets meant by names (a subset stands for its data set) or by "all"."""
    from . import UnknownDataset
    from . import names as registered

    public = list(dict.fromkeys(entry.dataset for entry in manifest()))
    listed = ", ".join(public)
    if not names and not everything:
        raise TstmetaError(f"name a data set, or say --all. There are: {listed}")
    wanted = [*(name.partition("@")[0] for name in names), *(public if everything else [])]
    for name in set(wanted) - set(public):
        if name not in registered():
            raise UnknownDataset(f"no data set is called {name!r}; these can be fetched: {listed}")
        raise TstmetaError(f"{name!r} cannot be fetched; why: tstmeta data show {name}")
    return list(dict.fromkeys(wanted))


def state(entry: Entry, files: Sequence[Path]) -> str:
    """What the files of an entry are: ok, missing, wrong size or wrong hash."""
    if not files:
        return "missing"
    size = sum(file.stat().st_size for file in files)
    if entry.bytes is not None and size != entry.bytes:
        return "wrong size"
    kind = "sha256" if entry.sha256 else partial(hashlib.sha1, b"blob %d\0" % size)
    digests = []
    for file in files:
        with file.open("rb") as opened:
            digests.append(hashlib.file_digest(opened, kind).hexdigest())
    digest = _together(digests) if entry.packed else digests[0]
    return "ok" if digest == (entry.sha256 or entry.git_blob) else "wrong hash"


def _together(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{digest}\n" for digest in sorted(digests)).encode()).hexdigest()


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


def check(names: Sequence[str] | None = None) -> pd.DataFrame:
    """Whether the files of the manifest are where loaders look, with the right size and hash.

    Gives a row a file: dataset, path, bytes (of the manifest, <NA> if not known), state; of the
    data sets named, or else of those of which at least one file is here.
    """
    files = {entry: located(entry) for entry in manifest()}
    here = [entry.dataset for entry in files if files[entry]]
    wanted = here if names is None else chosen(names)
    rows = [(*e[:3], state(e, files[e])) for e in files if e.dataset in wanted]
    frame = pd.DataFrame(rows, columns=["dataset", "path", "bytes", "state"])
    return frame.astype({"bytes": "Int64"})


def fetch(names: Sequence[str]) -> pd.DataFrame:
    """Download what is missing or wrong of data sets of the manifest; gives :func:`check` after.

    Raises:
        FetchError: some files failed, or the network cannot be reached.  What had arrived is kept
            and a repeated call goes on from there.
    """
    entries = [entry for entry in manifest() if entry.dataset in names]
    todo = {e: folder(e.dataset) / e.path for e in entries if state(e, located(e)) != "ok"}
    note(f"{len(entries)} files, {len(entries) - len(todo)} of them here already")
    with ExitStack() as stack:  # so that two runs never append to one partial file
        for root in sorted({folder(entry.dataset).parent for entry in todo}):
            try:
                stack.enter_context(locked(root / ".fetch.lock", timeout=0))
            except TstmetaError as error:  # no room, no right, or another run
                words = "point TSTMETA_DATA at another folder, with a folder for each data set"
                raise FetchError(f"{error}; or {words}") from error
        if failed := _fetch_all(todo) if todo else {}:
            lines = [f"{len(failed)} of {len(todo)} files could not be fetched"]
            lines += dict.fromkeys(failed.values())
            lines.append("Nothing that had arrived is lost; repeat the command to go on.")
            raise FetchError("\n".join(lines))
    note(f"fetched {len(todo)} files")
    return check(names)


def _fetch_all(todo: Mapping[Entry, Path]) -> dict[Entry, str]:
    failed: dict[Entry, str] = {}
    timeout = httpx.Timeout(30, connect=10)  # never waits for ever
    headers = {"User-Agent": f"tstmeta/{__version__}", "Accept-Encoding": "identity"}
    size = sum(entry.bytes or 0 for entry in todo)
    with (
        httpx.Client(timeout=timeout, follow_redirects=True, headers=headers) as client,
        tqdm(total=size, unit="B", unit_scale=True, disable=None) as bar,
    ):
        for entry, file in todo.items():
            host, name = httpx.URL(entry.url).netloc.decode(), f"{entry.dataset}/{entry.path}"
            offline = f"{host} cannot be reached: are you offline?"
            if offline in failed.values():  # no wait for each of its files
                failed[entry] = offline
                continue
            try:
                retrying(RETRIES, PAUSE)(_download, client, entry, file, bar.update)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                failed[entry] = offline
            except (Again, FetchError) as error:
                failed[entry] = f"{name}: {error}"
            except OSError as error:
                failed[entry] = f"{name}: cannot be written: {error.strerror or error}"
    return failed


def _download(
    client: httpx.Client, entry: Entry, target: Path, advance: Callable[[int], None]
) -> None:
    """Fetch a file, from where an earlier try was cut, and put it in place if it is right."""
    expected = entry.bytes
    if entry.packed:  # its own size is not known
        target, expected = folder(entry.dataset) / Path(entry.url).name, None
    part = target.with_name(f"{target.name}.part")
    have = part.stat().st_size if part.exists() else 0
    if not have or have != expected:
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            with client.stream("GET", entry.url, headers=headers) as response:
                have = _receive(response, part, have, expected or MAX_BYTES, advance)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise
        except httpx.TransportError as error:
            raise Again(f"the connection broke ({type(error).__name__})") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise FetchError(str(error)) from error
    size = part.stat().st_size
    wrong = _unpack(entry, part) if entry.packed else state(entry, [part])
    if wrong == "ok":
        part.unlink() if entry.packed else os.replace(part, target)
    elif size < (expected or 0):
        raise Again(f"cut off after {size} of {expected} bytes")
    elif have:  # the old half may have been something else
        part.unlink()
        raise Again("the resumed file was wrong")
    else:
        part.unlink()
        raise FetchError(f"{wrong}: refused")


def _unpack(entry: Entry, file: Path) -> str:
    """Put the members of an archive that an entry means in place, if they are right together."""
    try:
        with zipfile.ZipFile(file) as archive:
            inside = {member.filename.partition("/")[2]: member for member in archive.infolist()}
            meant = {n: m for n, m in inside.items() if _stays(n) and Path(n).match(entry.path)}
            size = sum(member.file_size for member in meant.values())
            if size != entry.bytes or size > MAX_BYTES:  # before any of them is read
                return "wrong size"
            texts = {name: archive.read(member) for name, member in meant.items()}
    except Exception as error:  # of many kinds; its words may name a member, so an id
        return f"not a readable archive ({type(error).__name__})"
    if _together(hashlib.sha256(text).hexdigest() for text in texts.values()) != entry.sha256:
        return "wrong hash"
    for name, text in texts.items():
        path = folder(entry.dataset) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return "ok"


def _receive(
    response: httpx.Response, part: Path, have: int, limit: int, advance: Callable[[int], None]
) -> int:
    """Write an answer behind the ``have`` bytes that are here; gives how many of them it kept."""
    code = response.status_code
    if code in PASSING:
        raise Again(f"the server answers {code}", retry_after(response.headers))
    if code == 200:
        have = 0
    elif code in (206, 416):
        if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink(missing_ok=True)
            raise Again("the server could not go on from the partial file")
    else:
        raise FetchError(f"the server answers {code} {response.reason_phrase}: {response.url}")
    # Not before there is something to write: an empty folder would look like a data set.
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab" if have else "wb") as file:
        for block in response.iter_bytes(1 << 16):
            if file.tell() + len(block) > min(limit, MAX_BYTES):
                raise FetchError(f"too large: more than {limit} bytes came")
            file.write(block)
            advance(len(block))
    return have
