"""The words of a variant: ``likelihood:8b+released`` names a model and a variant of the method.

Words are joined by ``+`` in any order, one of each kind: see the message at the end of this module.
A model beside a server names the tokenizer.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..models import hub
from ..models.causal import BACKBONES, Backbone, LanguageModel, backbone
from ..schema import TstmetaError
from ..secrecy import conceal
from .instructions import shipped
from .tokens import VARIANTS

_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True)
class Server:
    """A model that a server runs: where, what it is called there, and whose tokenizer it has."""

    url: str = field(repr=False)  # it may hold a password
    model: str
    tokenizer: Backbone

    @property
    def identity(self) -> str:
        return f"{self.model}|server|{self._label}"

    @property
    def _label(self) -> str:
        return f"tokenizer {hub.identity(self.tokenizer)}"

    def connected(self) -> LanguageModel:
        """A backend; nothing is sent yet."""
        from ..models.server import ServerModel

        tokenizer = hub.tokenizer(self.tokenizer)
        return ServerModel(self.url, self.model, tokenizer, label=self._label)


def parse(words: str) -> dict[str, str]:
    """What each word of a variant names: kind -> word.

    Where the words hold a password or a key no message shows any: each may be a part of it.
    """
    secret = TstmetaError(
        "the words after likelihood: are not understood, and not shown, for they hold a user, a "
        "password or a key. Remedy: write http://HOST/v1#NAME, with %2B for a + in a password, and "
        "give a key in the variable OPENAI_API_KEY"
    )
    if _torn(words):
        raise secret
    kinds: dict[str, str] = {}
    try:
        for word in filter(None, words.split("+")):
            kind = _kind(word)
            if kind in kinds:
                raise TstmetaError(f"{words!r} names two {kind}s: {kinds[kind]} and {word}")
            kinds[kind] = word
    except TstmetaError:
        if conceal(words) == words:
            raise
        raise secret from None
    return kinds


def _torn(words: str) -> bool:
    """Whether a + in a password or a query may have made a word of the rest of it."""
    parts = words.split("+")
    if "+".join(map(conceal, parts)) != conceal(words):
        return True
    queries = [place for place, part in enumerate(parts) if "?" in part and conceal(part) != part]
    return any("/" in part for part in parts[queries[0] + 1 :]) if queries else False


def model_of(kinds: dict[str, str]) -> Backbone | Server:
    """The model that is named; the embedded one when none is."""
    if "server" not in kinds:
        return backbone(kinds.get("model", "embedded"))
    from ..models.server import address

    url, _, name = kinds["server"].partition("#")
    address(url)  # refuses what is no URL
    if "?" in name:
        raise TstmetaError("a query stands before the # of a server's address, and is never sent")
    if not name and "model" not in kinds:
        raise TstmetaError(
            f"which model does {url} run? Write {url}#NAME, NAME being what the server calls it"
        )
    tokenizer = backbone(kinds.get("model", name))
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
    if word in hub.DTYPES:
        return "dtype"
    if _DEVICE.fullmatch(word):
        return "device"
    if word in BACKBONES or "/" in word or Path(word).expanduser().is_dir():
        return "model"
    raise TstmetaError(
        f"likelihood does not know {word!r}: use a variant ({', '.join(VARIANTS)}), "
        f"instructions ({', '.join(shipped())}, or FILE.toml#NAME), wordings of styles (FILE.csv), "
        f"a model ({', '.join(BACKBONES)}, an id such as owner/name@revision, or a folder), "
        f"a server (http://HOST/v1#NAME), a dtype ({', '.join(hub.DTYPES)}) "
        "or a device (cpu, cuda)"
    )
