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
from pathlib import Path
from typing import NamedTuple

from ..models import hub
from ..models.causal import BACKBONES, Backbone, LanguageModel, backbone
from ..schema import TstmetaError
from .instructions import shipped
from .tokens import VARIANTS

_DTYPES = ("float32", "bfloat16", "float16")
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


class Server(NamedTuple):
    """A model that a server runs: where, what it is called there, and whose tokenizer it has."""

    url: str
    model: str
    tokenizer: Backbone

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
    for word in filter(None, words.split("+")):
        kind = _kind(word)
        if kind in said:
            raise TstmetaError(f"{words!r} names two {kind}s: {said[kind]} and {word}")
        said[kind] = word
    return said


def model_of(said: dict[str, str]) -> Backbone | Server:
    """The model that is named; the embedded one when none is.

    Raises:
        TstmetaError: a server without a name for its model.
    """
    if "server" not in said:
        return backbone(said.get("model", "embedded"))
    url, _, name = said["server"].partition("#")
    if not name and "model" not in said:
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
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
