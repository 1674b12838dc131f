"""Words after a metric's colon: options, a model and files, joined by ``+``.

``bertscore:idf+deberta-xlarge-mnli`` is BERTScore with idf weights on that model.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from ..models.causal import Backbone, backbone
from ..schema import TstmetaError

#: Kind of option -> its words, for instance ``{"part": ("p", "r", "f1")}``.
Options = Mapping[str, Collection[str]]


def choose(words: str, options: Options) -> tuple[dict[str, str], list[str]]:
    """The word chosen of each kind of option, and the words that are no options."""
    chosen: dict[str, str] = {}
    rest: list[str] = []
    for word in filter(None, words.split("+")):
        kind = next((kind for kind, known in options.items() if word in known), "")
        if kind in chosen:
            raise TstmetaError(f"{words!r} names two words of the kind {kind}; name one")
        if kind:
            chosen[kind] = word
        else:
            rest.append(word)
    return chosen, rest


def parse(
    words: str, options: Options, models: Mapping[str, Backbone]
) -> tuple[Backbone | None, dict[str, str]]:
    """The model that words name, if any, and the word chosen of each kind of option.

    A model is named by its short name in ``models``, by ``hub/id`` or ``hub/id@revision``, or by a
    folder.
    """
    chosen, rest = choose(words, options)
    if not rest:
        return None, chosen
    try:
        [model] = [models.get(word) or backbone(word) for word in rest]
    except TstmetaError:
        known = [*models, *(option for every in options.values() for option in every)]
        raise TstmetaError(
            f"{'+'.join(rest)!r} names no option and no model: use {', '.join(known)}, "
            "an id such as owner/name@revision, or a folder that holds a model"
        ) from None
    except ValueError:
        raise TstmetaError(f"{words!r} names two models; name one") from None
    return model, chosen


def without_file(words: str, prefix: str) -> tuple[str, Path | None]:
    """Words without the one that begins with ``prefix``, and the file that it names."""
    named = [word for word in words.split("+") if word.startswith(prefix)]
    if not named:
        return words, None
    path = Path(named[0].removeprefix(prefix)).expanduser()
    if len(named) > 1 or not path.is_file():
        fault = "two files" if len(named) > 1 else f"{str(path)!r}, which is no file"
        raise TstmetaError(f"{words!r} names {fault}; use {prefix}FILE once")
    return "+".join(word for word in words.split("+") if word not in named), path
