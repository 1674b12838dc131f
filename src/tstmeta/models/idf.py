"""In how many texts each token of an encoder stands, as a small table in a file.

BERTScore with idf weights needs such counts.  A table is named in the signature, so that a score
does not depend on what else is scored.  The shipped one, of the embedded encoder's tokens, is too
small to say much of how rare a word is.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from .. import storage
from ..schema import TstmetaError
from . import hub
from .causal import MissingModel
from .encoders import Encoder
from .vectors import Frequencies, frequencies, texts_of

#: The table for the embedded encoder, and the data sets whose sources it is counted in.
SHIPPED = Path(__file__).parent / "weights" / "idf" / "contrast-world.json"
SETS = ("contrast", "world")


def of_file(encoder: Encoder, path: Path) -> Frequencies:
    """Frequencies of a table (``.json``) or, of any other file, in its texts, one a line.

    Control tokens are among them: they stand in every text.
    """
    if path.suffix != ".json":
        return frequencies(encoder.ids(texts_of(path)))
    hub.file_hash(path)  # says what to do about a file that cannot be read
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        total, tokens = table["texts"], table["tokens"]
        if not tokens or {type(total), *map(type, tokens.values())} != {int}:
            raise ValueError
        if not 0 < min(tokens.values()) <= max(tokens.values()) <= total:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MissingModel(
            f"{path} is no table of counts: tstmeta train idf writes one; or name a file of texts,"
            " one a line, that does not end in .json"
        ) from None
    known = encoder.tokenizer.get_vocab()
    if strange := next((token for token in tokens if token not in known), None):
        raise MissingModel(
            f"{path.name} counts {strange!r}, which is no token of {encoder.model.name}: it was"
            " made for another encoder; name a file of texts, one a line"
        )
    return Frequencies({known[token]: count for token, count in tokens.items()}, total)


def write(encoder: Encoder, texts: Sequence[str], path: Path) -> Frequencies:
    """Count and write a table: number of texts, then each token with its count, sorted."""
    if not texts:
        raise TstmetaError("there is no text to count tokens in; name a data set that has sources")
    counts = frequencies(encoder.ids(texts))
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(counts.counts))
    table = dict(sorted(zip(tokens, counts.counts.values(), strict=True)))
    text = json.dumps({"texts": counts.total, "tokens": table}, ensure_ascii=False, indent=0)
    storage.write(path, text + "\n")
    return counts
