"""Optional packages: whether they are installed, and which extra brings them."""

import importlib.util
import re
from importlib.metadata import requires

from .schema import TstmetaError

#: What is installed under another name than it is imported.
_PACKAGES = {"ot": "pot", "sklearn": "scikit-learn", "ufal": "ufal-udpipe", "zmq": "pyzmq"}
#: Modules that are here, as far as was asked; others may be installed while we run.
_HERE: set[str] = set()


def lacking(*modules: str, extra: str = "models") -> str:
    """What to install when one of these modules is not here; empty when all are."""
    absent = [n for n in modules if n not in _HERE and not importlib.util.find_spec(n)]
    _HERE.update({*modules} - {*absent})
    return f"{', '.join(absent)} is not installed: pip install 'tstmeta[{extra}]'" if absent else ""


def needs(*modules: str, extra: str = "models") -> None:
    """Go on only where these modules are installed; TstmetaError says what to install."""
    if words := lacking(*modules, extra=extra):
        raise TstmetaError(words)


def remedy(error: BaseException) -> str:
    """What to install where an import failed for want of an extra; empty for any other error."""
    module = (getattr(error, "name", "") or "").partition(".")[0]
    package = re.escape(_PACKAGES.get(module, module.replace("_", "-")))
    for need in requires("tstmeta") or () if isinstance(error, ModuleNotFoundError) else ():
        if extra := re.fullmatch(rf"{package}(?![\w-]).* extra == .(\w+).", need, re.IGNORECASE):
            return lacking(module, extra=extra[1])
    return ""
