"""Raw files of others: downloaded from pinned addresses, verified, and checked where they lie.

``data/cards/manifest.csv`` names every file with its size, its hash and an address that pins a
commit.  A download goes into ``<file>.part``, which a later call resumes; only a file with the
right hash takes the real name.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
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
    """Some files could not be fetched; the message lists them and says what to do."""


class Entry(NamedTuple):
    """One raw file; ``bytes`` is None where it is not known, one of the hashes may be empty."""

    dataset: str
    path: str
    bytes: int | None
    sha256: str
    git_blob: str
    url: str


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


def state(entry: Entry, file: Path) -> str:
    """What is at ``file``: ok, missing, wrong size or wrong hash."""
    if not file.is_file():
        return "missing"
    size = file.stat().st_size
    if entry.bytes is not None and size != entry.bytes:
        return "wrong size"
    with file.open("rb") as opened:
        digest = hashlib.sha256() if entry.sha256 else hashlib.sha1(b"blob %d\0" % size)
        while block := opened.read(1 << 20):
            digest.update(block)
    return "ok" if digest.hexdigest() == (entry.sha256 or entry.git_blob) else "wrong hash"


def folder(name: str) -> Path:
    """Where the files of a data set are looked up, or will be."""
    try:
        return paths.raw(name)
    except MissingData:
        return paths.external() / name


def check(names: Sequence[str] | None = None) -> pd.DataFrame:
    """Whether the files of the manifest are where loaders look, with the right size and hash.

    Gives a row a file: dataset, path, bytes (of the manifest, <NA> if not known), state; of the
    data sets named, or else of those of which at least one file is here.
    """
    files = {entry: folder(entry.dataset) / entry.path for entry in manifest()}
    here = [entry.dataset for entry, file in files.items() if file.is_file()]
    wanted = here if names is None else chosen(names)
    rows = [(*e[:3], state(e, file)) for e, file in files.items() if e.dataset in wanted]
    frame = pd.DataFrame(rows, columns=["dataset", "path", "bytes", "state"])
    return frame.astype({"bytes": "Int64"})


def fetch(names: Sequence[str]) -> pd.DataFrame:
    """Download what is missing or wrong of data sets of the manifest; gives :func:`check` after.

    Raises:
        FetchError: some files failed, or the network cannot be reached.  What had arrived is kept
            and a repeated call goes on from there.
    """
    files = {e: folder(e.dataset) / e.path for e in manifest() if e.dataset in names}
    todo = {entry: file for entry, file in files.items() if state(entry, file) != "ok"}
    note(f"{len(files)} files, {len(files) - len(todo)} of them here already")
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
            except (Again, Refused) as error:
                failed[entry] = f"{name}: {error}"
            except OSError as error:
                failed[entry] = f"{name}: cannot be written: {error.strerror or error}"
    return failed


class Refused(Exception):
    """The file will not come, however often a server is tried; the message says why."""


def _download(
    client: httpx.Client, entry: Entry, target: Path, advance: Callable[[int], None]
) -> None:
    """Fetch a file, from where an earlier try was cut, and put it in place if it is right."""
    part = target.with_name(f"{target.name}.part")
    have = part.stat().st_size if part.exists() else 0
    if not have or have != entry.bytes:
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            with client.stream("GET", entry.url, headers=headers) as response:
                have = _receive(response, part, have, entry.bytes or MAX_BYTES, advance)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise
        except httpx.TransportError as error:
            raise Again(f"the connection broke ({type(error).__name__})") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Refused(str(error)) from error
    wrong, size = state(entry, part), part.stat().st_size
    if wrong == "ok":
        os.replace(part, target)
    elif size < (entry.bytes or 0):
        raise Again(f"cut off after {size} of {entry.bytes} bytes")
    elif have:  # the old half may have been something else
        part.unlink()
        raise Again("the resumed file was wrong")
    else:
        part.unlink()
        raise Refused(f"{wrong}: refused")


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
        raise Refused(f"the server answers {code} {response.reason_phrase}: {response.url}")
    # Not before there is something to write: an empty folder would look like a data set.
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab" if have else "wb") as file:
        for block in response.iter_bytes(1 << 16):
            if file.tell() + len(block) > min(limit, MAX_BYTES):
                raise Refused(f"too large: more than {limit} bytes came")
            file.write(block)
            advance(len(block))
    return have
