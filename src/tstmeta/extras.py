"""Optional packages: whether they are installed, and which extra brings them."""

import importlib.util


def lacking(*modules: str, extra: str = "models") -> str:
    """What to install when one of these modules is not here; empty when all are."""
    absent = [name for name in modules if not importlib.util.find_spec(name)]
    return f"{', '.join(absent)} is not installed: pip install 'tstmeta[{extra}]'" if absent else ""


def needs(*modules: str, extra: str = "models") -> None:
    """Go on only where these modules are installed.

    Raises:
        TstmetaError: one is not; says what to install.
    """
    if words := lacking(*modules, extra=extra):
        from .schema import TstmetaError  # imported late: the command line must start at once

        raise TstmetaError(words)
