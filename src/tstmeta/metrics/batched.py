"""Metrics with a model behind them: many rewrites at a time, each distinct pair of texts once.

Words after a metric's colon are options, a model and files, joined by ``+``:
``bertscore:idf+deberta-xlarge-mnli`` is BERTScore with idf weights on that model.
"""

import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

from ..models.causal import Backbone, MissingModel, backbone
from ..schema import DemonstrationWarning, Signature, Status, TstmetaError
from .base import PairMetric, Request, Score, failed

Pair = tuple[str, str]
#: Kind of option -> its words; in them ``N`` stands for a number, other capitals for any letters:
#: ``{"part": ("p", "r", "f1"), "layer": ("layerN",), "weights": ("idf", "idf=FILE")}``.
Options = Mapping[str, Collection[str]]


class BatchedMetric(PairMetric):
    """A metric that is quick only over many rewrites at once.

    A subclass defines :meth:`prepare` and :meth:`compare`, or :meth:`pairs` where two texts have to
    be seen together, or :meth:`values` where an answer needs more than them.
    """

    max_tokens: int | None = None
    #: Rewrites that are answered at a time: what a killed run loses at most.
    shard: int = 2**10
    #: Whether a model that is missing is fetched when it is first used.
    fetches: bool = False
    #: Warns of the embedded model.
    demonstration: str = ""
    _folder: Path | None = None
    _progress: bool = False

    def keep_in(self, folder: Path, progress: bool) -> None:
        self._folder, self._progress = folder, progress

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Score]:
        """One score a pair of (text compared with, output); pairs are distinct and not blank."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        known = dict(zip(texts, self.prepare(texts), strict=True))
        return [self.compare(known[text], known[output]) for text, output in pairs]

    def prepare(self, texts: list[str]) -> Iterable[Any]:
        """What :meth:`compare` needs of each text, for instance its vector."""
        raise NotImplementedError

    def compare(self, text: Any, output: Any) -> Score:
        """The score of an output beside the text that it is compared with."""
        raise NotImplementedError

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        """One score a request: the best over the texts that it is compared with."""
        distinct = list(dict.fromkeys((text, r.output) for r in requests for text in r.against))
        known = dict(zip(distinct, self.pairs(distinct), strict=True)) if distinct else {}
        return [self._best([known[text, r.output] for text in r.against]) for r in requests]

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        if self.demonstration and self.profile == "embedded":
            warnings.warn(self.demonstration, DemonstrationWarning, stacklevel=2)
        if not self.fetches and self.missing:
            yield from (tuple(failed(self.missing) for _ in unit) for unit in units)
            return
        rest = iter(units)
        while shard := list(islice(rest, self.shard)):
            answers = iter(self._shard([request for unit in shard for request in unit]))
            for unit in shard:
                yield tuple(next(answers) for _ in unit)

    def _shard(self, requests: list[Request]) -> list[Score]:
        scores = [self._blank(request) for request in requests]
        places = [place for place, score in enumerate(scores) if score is None]
        cuts = [self._cut(requests[place]) for place in places]
        answers = self._safely([request for request, _ in cuts])
        for place, (_, detail), answer in zip(places, cuts, answers, strict=True):
            if detail and answer.status is Status.OK:
                answer = answer._replace(status=Status.TRUNCATED, detail=detail)
            scores[place] = answer
        return [score for score in scores if score is not None]

    def _safely(self, requests: list[Request]) -> list[Score]:
        """Answers of a batch; when it breaks, of its halves, so that one request is lost."""
        if not requests:
            return []
        try:
            answers = self.values(requests)
            return [answer for answer, _ in zip(answers, requests, strict=True)]
        except MissingModel as error:
            return [failed(error)] * len(requests)
        except Exception as error:  # a metric's failure is a row, not the end of a run
            if len(requests) == 1:
                return [failed(error)]
        half = len(requests) // 2
        return [*self._safely(requests[:half]), *self._safely(requests[half:])]

    def _best(self, answers: Sequence[Score]) -> Score:
        known = [answer for answer in answers if answer.status.has_value]
        if not known:
            return answers[0] if answers else Score(math.nan, Status.INVALID, "nothing to compare")
        best = max if self.higher_is_better else min
        return best(known, key=lambda answer: answer.value)


class ModelMetric(BatchedMetric):
    """A batched metric whose words after the colon name options, a model or files.

    The signature stands under the bare name, for the words may be a path.
    """

    def __init__(self, words: str = ""):
        self.name = f"{self.name}:{words}" if words else self.name

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; the constructor refuses those that it does not understand."""
        return bool(words)

    def signature(self, basis: str) -> Signature:
        return replace(super().signature(basis), name=self.name.partition(":")[0])


def cut_note(length: int, limit: int, unit: str = "tokens") -> str:
    """What is said of a text that is longer than what is read of it; empty when it fits."""
    return f"{length} {unit}, first {limit} used" if length > limit else ""


def installed(package: str) -> str:
    """The version of a package, or ``none``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


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


def choose(words: str, options: Options) -> tuple[dict[str, str], list[str]]:
    """The word chosen of each kind of option, and the words that are no options."""
    chosen: dict[str, str] = {}
    rest: list[str] = []
    for word in filter(None, words.split("+")):
        fits = (kind for kind, forms in options.items() if any(_fits(word, f) for f in forms))
        kind = next(fits, "")
        if kind in chosen:
            raise TstmetaError(
                f"{words!r} names two words of the kind {kind}, {chosen[kind]} and {word}; name one"
            )
        if kind:
            chosen[kind] = word
        else:
            rest.append(word)
    return chosen, rest


def _fits(word: str, form: str) -> bool:
    shape = re.sub("[A-Z]{2,}", ".+", re.escape(form)).replace("N", "[0-9]{1,3}")
    return re.fullmatch(shape, word) is not None


def file_of(word: str) -> Path | None:
    """The file that a word such as ``idf=FILE`` names; None without any."""
    if "=" not in word:
        return None
    path = Path(word.partition("=")[2]).expanduser()
    if not path.is_file():
        raise TstmetaError(f"{word!r} names {str(path)!r}, which is no file")
    return path
