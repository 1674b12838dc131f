"""Raw files of others, downloaded from pinned addresses and verified, see :mod:`.manifest`.

A download goes into ``<file>.part``, which a later call resumes; only a file with the right hash
takes the real name.  Of an archive what matches the pattern is unpacked.
"""

import hashlib
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import httpx
import pandas as pd
from tqdm import tqdm

from .. import __version__
from ..console import note
from ..retrying import PASSING, Again, retry_after, retrying
from ..schema import TstmetaError
from ..storage import cannot_write, locked
from .manifest import Entry, check, folder, located, manifest, state, together

#: No file may be larger, whatever the manifest or the server says.
MAX_BYTES = 500_000_000
#: Tries after the first, and seconds before the first of them, doubled each time.
RETRIES, PAUSE = 4, 0.5


class FetchError(TstmetaError):
    """What could not be fetched, however often a server is tried, and why."""


def fetch(names: Sequence[str]) -> pd.DataFrame:
    """Download what is missing or wrong of data sets of the manifest; gives :func:`check` after.

    Raises:
        FetchError: some files failed, or the network cannot be reached.  What had arrived is kept
            and a repeated call goes on from there.
    """
    entries = [entry for entry in manifest() if entry.dataset in names]
    todo = [entry for entry in entries if state(entry, located(entry)) != "ok"]
    note(f"{len(entries)} files, {len(entries) - len(todo)} of them here already")
    failed: list[str] = []
    timeout = httpx.Timeout(30, connect=10)  # never waits for ever
    headers = {"User-Agent": f"tstmeta/{__version__}", "Accept-Encoding": "identity"}
    size = sum(entry.bytes or 0 for entry in todo)
    with (
        httpx.Client(timeout=timeout, follow_redirects=True, headers=headers) as client,
        tqdm(total=size, unit="B", unit_scale=True, disable=None) as bar,
    ):
        for entry in todo:
            offline = f"{httpx.URL(entry.url).netloc.decode()} cannot be reached: are you offline?"
            if offline in failed:  # no wait for each of its files
                continue
            try:
                # so that two runs never append to one partial file
                with locked(folder(entry.dataset).parent / ".fetch.lock", timeout=0):
                    retrying(RETRIES, PAUSE)(_download, client, entry, bar.update)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                failed.append(offline)
            except (Again, FetchError) as error:
                failed.append(f"{entry.dataset}/{entry.path}: {error}")
            except OSError as error:
                raise cannot_write(folder(entry.dataset), error) from error
    if failed:
        end = "What had arrived is kept; repeat the command to go on."
        raise FetchError("\n".join(["some files could not be fetched:", *failed, end]))
    note(f"fetched {len(todo)} files")
    return check(names)


def _download(client: httpx.Client, entry: Entry, advance: Callable[[int], None]) -> None:
    """Fetch a file, from where an earlier try was cut, and put it in place if it is right."""
    name = Path(entry.url).name if entry.packed else entry.path
    expected = None if entry.packed else entry.bytes  # an archive's own size is not known
    target = folder(entry.dataset) / name
    part = target.with_name(f"{target.name}.part")
    have = part.stat().st_size if part.exists() else 0
    if not have or have != expected:
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            with client.stream("GET", entry.url, headers=headers) as response:
                _receive(response, part, expected or MAX_BYTES, advance)
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
        return
    if size < (expected or 0):
        raise Again(f"cut off after {size} of {expected} bytes")
    part.unlink()
    if have:  # the old half may have been something else
        raise Again("the resumed file was wrong")
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
    if together(hashlib.sha256(text).hexdigest() for text in texts.values()) != entry.sha256:
        return "wrong hash"
    for name, text in texts.items():
        path = folder(entry.dataset) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return "ok"


def _stays(path: str) -> bool:
    """Whether a path leads to a place in its folder."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts and not set(path) & set("\\:\0")


def _receive(
    response: httpx.Response, part: Path, limit: int, advance: Callable[[int], None]
) -> None:
    """Write an answer to a partial file; behind what is there where the server goes on from it."""
    code = response.status_code
    if code in PASSING:
        raise Again(f"the server answers {code}", retry_after(response.headers))
    if code == 416:
        part.unlink(missing_ok=True)
        raise Again("the server could not go on from the partial file")
    if code not in (200, 206):
        raise FetchError(f"the server answers {code} {response.reason_phrase}: {response.url}")
    # Not before there is something to write: an empty folder would look like a data set.
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab" if code == 206 else "wb") as file:
        for block in response.iter_bytes(1 << 16):
            if file.tell() + len(block) > limit:
                raise FetchError(f"too large: more than {limit} bytes came")
            file.write(block)
            advance(len(block))
