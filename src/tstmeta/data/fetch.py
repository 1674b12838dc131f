"""Raw files of others, downloaded from pinned addresses and verified, see :mod:`.manifest`.

A file is in place only when it has arrived and its hash is right; until then it is held in memory.
Of an archive the members that match the entry's pattern are unpacked.
"""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import httpx
import tenacity
from tqdm import tqdm

from .. import __version__, storage
from ..console import note
from ..schema import TstmetaError
from .manifest import Entry, folder, manifest, state, verdict

#: No file or archive may be larger, whatever the manifest or the server says.
MAX_BYTES = 500_000_000
#: Tries after the first, and seconds before the first of them, doubled each time.
RETRIES, PAUSE = 4, 0.5
#: Statuses that may pass: too slow, too busy, a fault of the moment.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class FetchError(TstmetaError):
    """Files that could not be fetched, and why."""


class Again(FetchError):
    """A failure that may pass."""


def fetch(names: Sequence[str]) -> None:
    """Download what is missing or wrong of data sets of the manifest.

    Raises:
        FetchError: some files failed, or the network cannot be reached; what arrived is in place.
    """
    entries = [entry for entry in manifest() if entry.dataset in names]
    missing = [entry for entry in entries if state(entry) != "ok"]
    note(f"{len(entries)} files, {len(entries) - len(missing)} of them here already")
    failed: list[str] = []
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Again),
        stop=tenacity.stop_after_attempt(RETRIES + 1),
        wait=tenacity.wait_exponential(multiplier=PAUSE, max=60.0),
        reraise=True,
    )
    timeout = httpx.Timeout(30, connect=10)  # never waits for ever
    headers = {"User-Agent": f"tstmeta/{__version__}"}
    with httpx.Client(timeout=timeout, follow_redirects=True, headers=headers) as client:
        for entry in tqdm(missing, unit="file", disable=None):
            offline = f"{httpx.URL(entry.url).netloc.decode()} cannot be reached: are you offline?"
            if offline in failed:  # no wait for each of its files
                continue
            try:
                with storage.locked(folder(entry.dataset).parent / ".fetch.lock", timeout=0):
                    retrying(_download, client, entry)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                failed.append(offline)
            except FetchError as error:
                failed.append(f"{entry.dataset}/{entry.path}: {error}")
    if failed:
        end = "What arrived is in place; repeat the command to go on."
        raise FetchError("\n".join(["some files could not be fetched:", *failed, end]))
    note(f"fetched {len(missing)} files")


def _download(client: httpx.Client, entry: Entry) -> None:
    """Fetch the files of an entry and put them in place if they are right."""
    expected = None if entry.packed else entry.bytes  # the size of an archive is not known
    try:
        with client.stream("GET", entry.url) as response:
            body = _body(response, expected or MAX_BYTES)
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise
    except httpx.TransportError as error:
        raise Again(f"the connection broke ({type(error).__name__})") from error
    except httpx.HTTPError as error:
        raise FetchError(str(error)) from error
    files = _members(entry, body) if entry.packed else {entry.path: body}
    if (wrong := verdict(entry, [*files.values()])) != "ok":
        raise FetchError(f"{wrong}: refused")
    try:
        for name, content in files.items():
            storage.write(folder(entry.dataset) / name, content)
    except TstmetaError as error:  # its words may name a member, so the id of a person
        reason = OSError(getattr(error.__cause__, "strerror", ""))
        raise storage.cannot_write(folder(entry.dataset), reason) from None


def _body(response: httpx.Response, limit: int) -> bytes:
    """The body of an answer, of at most ``limit`` bytes."""
    code, body = response.status_code, bytearray()
    if code in _PASSING:
        raise Again(f"the server answers {code}")
    if code != 200:
        raise FetchError(f"the server answers {code} {response.reason_phrase}: {response.url}")
    for block in response.iter_bytes(1 << 16):
        body += block
        if len(body) > limit:
            raise FetchError(f"too large: more than {limit} bytes came")
    return bytes(body)


def _members(entry: Entry, body: bytes) -> dict[str, bytes]:
    """The members of an archive that match an entry, by path; its top folder is left out."""
    start, _, pattern = entry.path.rpartition("**/")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = {
                path: member
                for member in archive.infolist()
                if Path(path := member.filename.partition("/")[2]).match(pattern)
                and not {"", ".."} & {*path.split("/")}  # which leads out of the folder
            }
            size = sum(member.file_size for member in members.values())
            if size == entry.bytes and size <= MAX_BYTES:  # before any of them is read
                return {start + path: archive.read(member) for path, member in members.items()}
    except Exception as error:  # of many kinds; its words may name a member, so the id of a person
        raise FetchError(f"not a readable archive ({type(error).__name__}): refused") from error
    raise FetchError("wrong size: refused")
