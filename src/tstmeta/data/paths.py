"""Where files are: the project's own data, the raw data of others, and what we compute."""

import os
from pathlib import Path

from platformdirs import user_data_dir

from ..schema import DataError, MissingData, Problem

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]


def home() -> Path:
    """The checkout's root, or the user's data folder when the package was installed without one."""
    if (_CHECKOUT / "pyproject.toml").is_file():
        return _CHECKOUT
    return Path(user_data_dir("tstmeta", appauthor=False))


def project(*parts: str) -> Path:
    """A file of ours: below ``contrast``, ``cards`` or ``published``."""
    root = _CHECKOUT / "data" if (_CHECKOUT / "pyproject.toml").is_file() else _PACKAGE / "_data"
    return root.joinpath(*parts)


def regular(path: Path) -> Path:
    """The path of an input; DataError if it is a pipe or a device, or its name is not UTF-8."""
    what, remedy = "the name is not UTF-8", "rename it"
    if not any("\ud800" <= sign <= "\udfff" for sign in str(path)):
        if path.is_file() or path.is_dir() or not path.exists():
            return path
        what, remedy = "a pipe or a device", "save what it gives as a file"
    raise DataError([Problem(str(path), what, remedy=remedy)])


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark; line ends as they are."""
    try:
        return regular(path).read_bytes().decode().removeprefix("\ufeff")
    except OSError as error:
        what, remedy = error.strerror or str(error), "check the name, the folder and your rights"
    except UnicodeDecodeError as error:
        what, remedy = f"not UTF-8 ({error.reason} at {error.start})", "save it as UTF-8"
    raise DataError([Problem(str(path), what, remedy=remedy)])


def external() -> Path:
    """Where fetched raw data goes."""
    return home() / "data" / "external"


def scores() -> Path:
    """Where computed scores are kept."""
    return home() / "data" / "scores"


def raw(name: str) -> Path:
    """The folder with the raw files of a data set: ``$TSTMETA_DATA/<name>``, then external."""
    folder = os.environ.get("TSTMETA_DATA")
    places = [*([Path(folder) / name] if folder else []), external() / name]
    for place in places:
        if place.is_dir():
            return place
    raise MissingData(
        f"the raw files of {name!r} are not on this machine (looked in "
        f"{', '.join(map(str, places))}). Get them with: tstmeta data fetch {name}"
    )
