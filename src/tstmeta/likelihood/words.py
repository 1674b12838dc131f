"""The words of a variant: ``likelihood:8b+released`` names a model and a variant of the method.

Words are joined by ``+`` and stand in any order; each kind comes once at most:

========================  ==================================================================
a model                   a name here, ``owner/name@revision`` of a hub, or a folder
a variant                 ``equation`` or ``released``
instructions              a shipped set, ``FILE.toml`` or ``FILE.toml#NAME``
wordings of styles        ``FILE.csv``
a server                  ``http://HOST/v1`` or ``http://HOST/v1#NAME``, NAME being the model's
                          name there; a model beside it names the tokenizer
a dtype, a device         ``float32``, ``bfloat16``, ``float16``; ``cpu``, ``cuda``, ``cuda:1``
========================  ==================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..models import hub
from ..models.causal import BACKBONES, Backbone, LanguageModel, backbone
from ..schema import TstmetaError
from ..secrecy import conceal
from .instructions import shipped
from .tokens import VARIANTS

_DTYPES = ("float32", "bfloat16", "float16")
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


class Server(NamedTuple):
    """A model that a server runs: where, what it is called there, and whose tokenizer it has.

    ``url`` may hold a password; it is in no ``repr``.
    """

    url: str
    model: str
    tokenizer: Backbone

    def __repr__(self) -> str:
        return f"Server({conceal(self.url)!r}, {self.model!r}, {self.tokenizer!r})"

    @property
    def label(self) -> str:
        """What identifies it besides its name: the tokenizer brings the chat template."""
        return f"tokenizer {hub.identity(self.tokenizer)}"

    @property
    def identity(self) -> str:
        """All that we know of what changes a value."""
        return f"{self.model}|server|{self.label}"

    def connected(self) -> LanguageModel:
        """A backend; nothing is asked yet.

        Raises:
            MissingModel: the tokenizer is not here and cannot be fetched.
        """
        from ..models.server import connect

        name = self.tokenizer.name
        return connect(self.url, self.model, tokenizer=name, label=self.label)


def understood(words: str) -> dict[str, str]:
    """What each word of a variant names: kind -> word.

    Raises:
        TstmetaError: a word that names nothing, or two words of a kind.
    """
    said: dict[str, str] = {}
    if _torn(words):
        raise _unshown()
    with _guarded(words):
        for word in filter(None, words.split("+")):
            kind = _kind(word)
            if kind in said:
                raise TstmetaError(f"{words!r} names two {kind}s: {said[kind]} and {word}")
            said[kind] = word
    return said


def _torn(words: str) -> bool:
    """Whether a + in a password or a query may have made a word of the rest of it."""
    every = words.split("+")
    if "+".join(map(conceal, every)) != conceal(words):
        return True
    queries = [place for place, word in enumerate(every) if "?" in word and conceal(word) != word]
    rest = every[queries[0] + 1 :] if queries else []
    return any("/" in word and word not in BACKBONES for word in rest)


@contextmanager
def _guarded(words: str) -> Iterator[None]:
    """Where words hold a secret, an error shows none of them: they may be a part of it."""
    try:
        yield
    except TstmetaError:
        if conceal(words) == words:
            raise
        raise _unshown() from None


def _unshown() -> TstmetaError:
    return TstmetaError(
        "the words after likelihood: are not understood, and not shown, for they hold a user, a "
        "password or a key. Remedy: write http://HOST/v1#NAME, with %2B for a + in a password, and "
        "give a key in the variable OPENAI_API_KEY"
    )


def model_of(said: dict[str, str]) -> Backbone | Server:
    """The model that is named; the embedded one when none is.

    Raises:
        TstmetaError: a server without a name for its model, or no URL.
    """
    if "server" not in said:
        return backbone(said.get("model", "embedded"))
    from ..models.wire import address

    url, _, name = said["server"].partition("#")
    address(url)  # a slip of the pen is told at once
    if "?" in name:
        raise TstmetaError("a query stands before the # of a server's address, and is never sent")
    if not name and "model" not in said:
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
    with _guarded(said["server"]):
        tokenizer = backbone(said.get("model", name))
    return Server(url, name or tokenizer.where, tokenizer)


def _kind(word: str) -> str:
    if word.startswith(("http://", "https://")):
        return "server"
    if word in VARIANTS:
        return "variant"
    if word in shipped() or re.search(r"\.toml(#|$)", word):
        return "instruction set"
    if word.endswith(".csv"):
        return "wordings file"
    if word in _DTYPES:
        return "dtype"
    if _DEVICE.fullmatch(word):
        return "device"
    if word in BACKBONES or "/" in word or Path(word).expanduser().is_dir():
        return "model"
    raise TstmetaError(
        f"likelihood does not know {word!r}: use a variant ({', '.join(VARIANTS)}), "
        f"instructions ({', '.join(shipped())}, or FILE.toml#NAME), wordings of styles (FILE.csv), "
        f"a model ({', '.join(BACKBONES)}, an id such as owner/name@revision, or a folder), "
        f"a server (http://HOST/v1#NAME), a dtype ({', '.join(_DTYPES)}) or a device (cpu, cuda)"
    )
