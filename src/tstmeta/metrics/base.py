"""What a metric declares, what it is given, what it returns.

A blank output is the worst of style and fluency by definition, whatever a formula gives: a table of
scores has the worse of the metric's ``limits``, with status ``empty``.  Where values have no bound
the limit is a constant beyond what rated rewrites reach.  Without limits it has ``empty_value``.
"""

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..extras import remedy
from ..models.causal import Backbone, MissingModel
from ..schema import Signature, Status, TstmetaError
from .settings import MetricSettings


class Request(NamedTuple):
    """One rewrite to be scored.

    ``against`` holds the texts it is compared with: the source (basis source), the references
    (basis reference; one or more) or nothing (basis none).
    """

    output: str
    against: tuple[str, ...]
    source: str = ""
    style: str = ""
    language: str = "en"

    def changed(self, change: Callable[[str], str]) -> "Request":
        """The request with each of its texts changed."""
        output, source, *against = map(change, (self.output, self.source, *self.against))
        return self._replace(output=output, source=source, against=tuple(against))


class Score(NamedTuple):
    """The answer for one request; ``value`` is NaN unless ``status.has_value``."""

    value: float
    status: Status = Status.OK
    detail: str = ""


class PairMetric:
    """A metric; one that looks at a rewrite at a time has :meth:`pair` or :meth:`value`.

    Empty or too long texts and exceptions become rows with a status; none stops a run.
    """

    name: str = ""
    #: What a value is of: one rewrite, or one of a corpus (:class:`CorpusMetric`).
    unit: Literal["item", "corpus"] = "item"
    #: The human dimensions that it claims to measure.
    dimensions: tuple[str, ...] = ("content",)
    #: What outputs are compared with: source, reference, none.
    bases: tuple[str, ...] = ("source", "reference")
    #: Codes of the languages it is made for; empty = any.  Others are refused by scoring.
    languages: tuple[str, ...] = ()
    #: The styles that it knows words of; empty = any.
    styles: tuple[str, ...] = ()
    #: The metric that stands for it outside English; None: itself.
    for_other_languages: "PairMetric | None" = None
    #: Whether it counts words (:attr:`by_character`).
    counts_words: bool = False
    #: Whether each Chinese character is put between spaces, so that it counts as a word.
    spaced: bool = False
    #: ``embedded`` (runs anywhere) or ``real`` (needs a model or a file from outside).
    profile: str = "embedded"
    higher_is_better: bool = True
    #: The bases on which the other direction is better.
    flipped_bases: tuple[str, ...] = ()
    #: Lowest and highest value, for :func:`blank_value`; None: a blank output is no special case.
    limits: tuple[float, float] | None = None
    #: Longest text in whitespace tokens; longer ones are cut and get status ``truncated``.
    max_tokens: int | None = 2000
    #: The value when a text is blank (nothing matches), unless :meth:`value` scores that, too.
    empty_value: float = 0.0
    accepts_empty: bool = False
    #: Variants that are listed.
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    #: What can be set in its name, if more than a variant, and the models that have a name there.
    Settings: ClassVar[type[MetricSettings] | None] = None
    models: ClassVar[Mapping[str, Backbone]] = {}
    #: What changes a value, as words such as ``tok:13a sacrebleu``: facts, and names of libraries.
    facts: str = ""
    #: False where scores are sooner computed than looked up.
    stored: bool = True
    #: Rewrites that are answered at a time: what a killed run loses at most.
    shard: int = 1
    #: Whether a model that is missing is fetched when it is first used.
    fetches: bool = False
    _folder: Path | None = None
    _progress: bool = False

    def __init__(self, variant: str = ""):
        self.settings: Any = self.Settings and self.Settings.read(variant, self.models)
        self.variant = variant
        self.name = f"{self.name}:{variant}" if variant else self.name

    @property
    def missing(self) -> str:
        """What to do when the metric cannot run on this machine; empty when it can."""
        return ""

    @cached_property
    def by_character(self) -> "PairMetric":
        """The metric as it is for Chinese, where each character counts as a word."""
        twin = copy(self)
        twin.spaced = True
        return twin

    def keep_in(self, folder: Path, progress: bool) -> None:
        """Take the folder of the score store, and whether bars may be shown."""
        self._folder, self._progress = folder, progress

    def fields(self) -> dict[str, object]:
        """What, besides the basis, changes a value: variant, tokenizer, library version, ..."""
        words = (word.partition(":") for word in self.facts.split())
        return {name: fact if colon else installed(name) for name, colon, fact in words}

    def value(self, request: Request) -> float:
        """The best :meth:`pair` over the texts compared with; none is blank or too long."""
        best = max if self.higher_is_better else min
        return best(self.pair(text, request.output) for text in request.against)

    def pair(self, text: str, output: str) -> float:
        """The metric of a text that is compared with, and an output."""
        raise NotImplementedError

    def signature(self, basis: str) -> Signature:
        """All that changes a value."""
        more: dict[str, object] = {"zh": "characters-as-words"} if self.spaced else {}
        more |= {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        return Signature.of(self.name, {"basis": basis, **self.fields(), **more})

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        """One score a request."""
        return [scored(self.value(request)) for request in requests]

    def score(self, requests: Iterable[Request]) -> Iterator[Score]:
        """Yield one score a request, in order, as soon as each is known."""
        if not self.fetches and self.missing:
            yield from (failed(self.missing) for _ in requests)
            return
        rest = iter(requests)
        while shard := list(islice(rest, self.shard)):
            yield from self._guarded(shard)

    def _guarded(self, requests: list[Request]) -> list[Score]:
        if self.spaced:
            import regex

            apart = partial(regex.sub, r"\p{Han}", r" \g<0> ")
            requests = [request.changed(apart) for request in requests]
        scores = [self._blank(request) for request in requests]
        places = [place for place, score in enumerate(scores) if score is None]
        cuts = [self._cut(requests[place]) for place in places]
        answers = self._safely([request for request, _ in cuts])
        for place, (_, note), answer in zip(places, cuts, answers, strict=True):
            if note and answer.status is Status.OK:
                answer = answer._replace(status=Status.TRUNCATED, detail=note)
            scores[place] = answer
        return [score for score in scores if score is not None]

    def _safely(self, requests: list[Request]) -> list[Score]:
        """Answers of a batch; when it breaks, of its halves, so that one request is lost."""
        if not requests:
            return []
        try:
            return list(self.values(requests))
        except MissingModel as error:
            return [failed(error)] * len(requests)
        except Exception as error:  # a metric's failure is a row, not the end of a run
            if len(requests) == 1:
                return [failed(error)]
        half = len(requests) // 2
        return [*self._safely(requests[:half]), *self._safely(requests[half:])]

    def _blank(self, request: Request) -> Score | None:
        """The score of a request with a blank text; None where :meth:`value` is to answer."""
        texts = (request.output, *request.against)
        if self.accepts_empty or all(map(str.strip, texts)):
            return None
        value = self.empty_value if self.limits is None else blank_value(self, "source")
        return Score(value or 0.0, Status.EMPTY, "empty text")

    def _cut(self, request: Request) -> tuple[Request, str]:
        if self.max_tokens is None:
            return request, ""
        most, texts = self.max_tokens, (request.output, *request.against)
        tokens = [text.split() for text in texts]
        note = cut_note(max(map(len, tokens)), most)
        if not note:
            return request, ""
        output, *against = (
            text if len(words) <= most else " ".join(words[:most])
            for text, words in zip(texts, tokens, strict=True)
        )
        return request._replace(output=output, against=tuple(against)), note


class CorpusMetric(PairMetric):
    """A metric of a whole set of outputs, built from additive statistics of each item.

    The corpus value is ``aggregate`` of the summed vectors, so any subset or bootstrap sample costs
    one sum.  An item's score is ``aggregate`` of its own vector, which ``detail`` has as JSON.
    """

    unit: Literal["item", "corpus"] = "corpus"
    max_tokens: int | None = None
    accepts_empty = True

    def statistics(self, request: Request) -> np.ndarray:
        """Additive statistics of one request, shape [k]."""
        raise NotImplementedError

    def aggregate(self, total: np.ndarray) -> float:
        """The metric from summed statistics, shape [k]."""
        raise NotImplementedError

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        scores = []
        for request in requests:
            vector = np.asarray(self.statistics(request), dtype=float)
            status = Status.OK if request.output.strip() else Status.EMPTY
            scores.append(Score(float(self.aggregate(vector)), status, json.dumps(vector.tolist())))
        return scores

    def combine(self, details: Sequence[str]) -> float:
        """Corpus value from the ``detail`` column of scored items."""
        return float(self.aggregate(np.sum([json.loads(detail) for detail in details], axis=0)))


#: What everything that takes any metric calls it.
Metric = PairMetric

#: Names of languages that data sets here are in.
LANGUAGES = {
    **{"en": "English", "de": "German", "ru": "Russian", "hi": "Hindi", "bn": "Bengali"},
    **{"am": "Amharic", "ar": "Arabic", "es": "Spanish", "uk": "Ukrainian", "zh": "Chinese"},
}


def code_of(language: str) -> str:
    """The language of a code such as ``pt-BR``, without the rest."""
    return language.partition("-")[0].lower()


def for_language(metric: Metric, language: str) -> Metric | str:
    """The metric as it is for a language, or why it says nothing of a rewrite in it."""
    code = code_of(language)
    if metric.languages and code not in metric.languages:
        languages = " and ".join(LANGUAGES.get(known, known) for known in metric.languages)
        return f"{metric.name} is made for {languages}; this rewrite is in {language}"
    variant = metric if code == "en" else metric.for_other_languages or metric
    return variant.by_character if code == "zh" and variant.counts_words else variant


def more_is_better(metric: Metric, basis: str) -> bool:
    """Whether a larger value is better: style should be far from the source, near a reference."""
    return metric.higher_is_better != (basis in metric.flipped_bases)


def blank_value(metric: Metric, basis: str) -> float | None:
    """The worst value there is, for a blank output; None where the metric has no limits."""
    return metric.limits and metric.limits[not more_is_better(metric, basis)]


class _Wrapped(PairMetric):
    def __init__(self, function: Callable[[str, str], float], name: str, version: str):
        self.function, self.name, self.version = function, name, version

    def fields(self) -> dict[str, object]:
        return {"refs": "max" if self.higher_is_better else "min", "version": self.version}

    def pair(self, text: str, output: str) -> float:
        return float(self.function(text, output))


def read_table(file: str) -> dict[str, Any]:
    """A TOML file that stands beside the metrics."""
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


@cache
def installed(package: str) -> str:
    """The version of a package, or ``none``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def cut_note(length: int, limit: int, unit: str = "tokens") -> str:
    """What is said of a text that is longer than what is read of it; empty when it fits."""
    return f"{length} {unit}, first {limit} used" if length > limit else ""


def failed(reason: str | Exception) -> Score:
    """The score of a rewrite that has no value; our own errors say by themselves what to do."""
    if isinstance(reason, Exception) and not isinstance(reason, TstmetaError):
        reason = remedy(reason) or f"{type(reason).__name__}: {reason}"
    return Score(math.nan, Status.ERROR, str(reason))


def scored(value: float, cut: str = "", detail: str = "") -> Score:
    """A value with its status: ``invalid`` if it is no number, ``truncated`` if texts were cut."""
    if not math.isfinite(value):
        return Score(math.nan, Status.INVALID, f"the metric returned {value}")
    status = Status.TRUNCATED if cut else Status.OK
    return Score(float(value), status, f"{cut}; {detail}" if cut and detail else cut or detail)


def wrap(
    function: Callable[[str, str], float],
    name: str | None = None,
    *,
    dimension: str = "content",
    bases: tuple[str, ...] = ("source", "reference"),
    higher_is_better: bool = True,
) -> Metric:
    """Make a metric of a function ``(source, output) -> float``.

    On the basis reference it gets each reference in the source's place, and the best value counts.
    A hash of the compiled code is part of the signature: an edited function is scored anew.
    """
    code = getattr(function, "__code__", None)
    facts = _facts(code) if code else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(function))
    version = hashlib.sha256(facts.encode()).hexdigest()[:8]
    metric = _Wrapped(function, name or function.__name__, version)
    metric.dimensions, metric.bases, metric.higher_is_better = (dimension,), bases, higher_is_better
    return metric


def _facts(code: object) -> str:
    """Compiled code or a constant of it as text: no address, path or order of a set."""
    if isinstance(code, CodeType):
        return f"({code.co_code!r} {_facts(code.co_consts)} {code.co_names})"
    if isinstance(code, tuple | frozenset):
        parts = [_facts(part) for part in code]
        return f"[{', '.join(sorted(parts) if isinstance(code, frozenset) else parts)}]"
    return repr(code)
