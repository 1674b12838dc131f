"""Words after a metric's colon: options, a model and files, joined by ``+``.

``bertscore:idf+deberta-xlarge-mnli`` is BERTScore with idf weights on that model.  A word that is
no option names a model: by its short name, by ``hub/id`` or ``hub/id@revision``, or by a folder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from ..models.causal import Backbone, backbone
from ..schema import TstmetaError


def parse(
    words: str,
    options: Mapping[str, Collection[str]],
    models: Mapping[str, Backbone],
) -> tuple[Backbone | None, dict[str, str]]:
    """The model that words name, if any, and the word chosen of each kind of option.

    Args:
        options: kind -> words of that kind, for instance ``{"part": ("p", "r", "f1")}``.
        models: short name -> model.

    Raises:
        TstmetaError: a word that names nothing, or two words of one kind.
    """
    model: Backbone | None = None
    chosen: dict[str, str] = {}
    for word in filter(None, words.split("+")):
        kind = next((kind for kind, known in options.items() if word in known), "model")
        if kind in chosen or (kind == "model" and model is not None):
            raise TstmetaError(f"{words!r} names two words of the kind {kind}; name one")
        if kind != "model":
            chosen[kind] = word
            continue
        try:
            model = models[word] if word in models else backbone(word)
        except TstmetaError:
            known = [*models, *(option for every in options.values() for option in every)]
            raise TstmetaError(
                f"{word!r} names no option and no model: use {', '.join(known)}, "
                "an id such as owner/name@revision, or a folder that holds a model"
            ) from None
    return model, chosen


def without_file(words: str, prefix: str) -> tuple[str, Path | None]:
    """Words without the one that begins with ``prefix``, and the file that it names.

    Raises:
        TstmetaError: two such words, or no such file.
    """
    every = words.split("+")
    named = [word.removeprefix(prefix) for word in every if word.startswith(prefix)]
    if not named:
        return words, None
    path = Path(named[0]).expanduser()
    if len(named) > 1 or not path.is_file():
        fault = "two files" if len(named) > 1 else f"{named[0]!r}, which is no file"
        raise TstmetaError(f"{words!r} names {fault}; use {prefix}FILE once")
    return "+".join(word for word in every if not word.startswith(prefix)), path
