"""What a metric declares, what it is given, what it returns.

A metric is given *units*, tuples of requests: mostly of one rewrite, for a judge that rates all
rewrites of a source together, of those.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..extras import remedy
from ..models.causal import Backbone
from ..schema import Signature, Status, TstmetaError
from .settings import MetricSettings

Unit = Literal["item", "corpus"]


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
    unit: Unit = "item"
    #: The human dimensions that it claims to measure.
    dimensions: tuple[str, ...] = ("content",)
    #: What outputs are compared with: source, reference, none.
    bases: tuple[str, ...] = ("source", "reference")
    #: Codes of the languages it is made for; empty = any.  Others are refused by scoring.
    languages: tuple[str, ...] = ()
    #: The metric that stands for it outside English; None: itself.
    for_other_languages: "PairMetric | None" = None
    #: ``embedded`` (runs anywhere) or ``real`` (needs a model or a file from outside).
    profile: str = "embedded"
    higher_is_better: bool = True
    #: The bases on which the other direction is better.
    flipped_bases: tuple[str, ...] = ()
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

    def __init__(self, variant: str = ""):
        self.settings: Any = self.Settings and self.Settings.read(variant, self.models)
        self.variant = variant
        self.name = f"{self.name}:{variant}" if variant else self.name

    @property
    def missing(self) -> str:
        """What to do when the metric cannot run on this machine; empty when it can."""
        return ""

    def keep_in(self, folder: Path, progress: bool) -> None:
        """Take the folder of the score store, and whether bars may be shown."""

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
        limit = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        return Signature.of(self.name, {"basis": basis, **self.fields(), **limit})

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        """Yield one tuple of scores a unit, in order, as soon as each is known."""
        for unit in units:
            yield tuple([self._guarded(request) for request in unit])

    def _guarded(self, request: Request) -> Score:
        if (score := self._blank(request)) is not None:
            return score
        cut, detail = self._cut(request)
        try:
            return scored(self.value(cut), detail)
        except Exception as error:  # a metric's failure is a row, not the end of a run
            return failed(error)

    def _blank(self, request: Request) -> Score | None:
        """The score of a request with a blank text; None where :meth:`value` is to answer."""
        texts = (request.output, *request.against)
        if self.accepts_empty or all(map(str.strip, texts)):
            return None
        return Score(self.empty_value, Status.EMPTY, "empty text")

    def _cut(self, request: Request) -> tuple[Request, str]:
        if self.max_tokens is None:
            return request, ""
        most, texts = self.max_tokens, (request.output, *request.against)
        tokens = [text.split() for text in texts]
        if (longest := max(map(len, tokens))) <= most:
            return request, ""
        output, *against = (
            text if len(words) <= most else " ".join(words[:most])
            for text, words in zip(texts, tokens, strict=True)
        )
        cut = request._replace(output=output, against=tuple(against))
        return cut, f"{longest} tokens, first {most} used"


class CorpusMetric(PairMetric):
    """A metric of a whole set of outputs, built from additive statistics of each item.

    The corpus value is ``aggregate`` of the summed vectors, so any subset or bootstrap sample costs
    one sum.  An item's score is ``aggregate`` of its own vector; its ``detail`` is that vector as
    JSON, which :meth:`combine` reads.
    """

    unit: Unit = "corpus"

    def statistics(self, request: Request) -> np.ndarray:
        """Additive statistics of one request, shape [k]."""
        raise NotImplementedError

    def aggregate(self, total: np.ndarray) -> float:
        """The metric from summed statistics, shape [k]."""
        raise NotImplementedError

    def _guarded(self, request: Request) -> Score:
        cut, note = self._cut(request)
        try:
            vector = np.asarray(self.statistics(cut), dtype=float)
            value = float(self.aggregate(vector))
        except Exception as error:
            return failed(error)
        blank = not request.output.strip()
        status = Status.EMPTY if blank else Status.TRUNCATED if note else Status.OK
        return Score(value, status, json.dumps(vector.tolist()))

    def combine(self, details: Sequence[str]) -> float:
        """Corpus value from the ``detail`` column of scored items."""
        return float(self.aggregate(np.sum([json.loads(detail) for detail in details], axis=0)))


#: What everything that takes any metric calls it.
Metric = PairMetric

#: Names of languages that data sets here are in.
LANGUAGES = {"en": "English", "de": "German", "ru": "Russian", "hi": "Hindi", "bn": "Bengali"}


def code_of(language: str) -> str:
    """The language of a code such as ``pt-BR``, without the rest."""
    return language.partition("-")[0].lower()


def for_language(metric: Metric, language: str) -> Metric | str:
    """The metric as it is for a language, or why it says nothing of a rewrite in it."""
    code = code_of(language)
    if metric.languages and code not in metric.languages:
        languages = " and ".join(LANGUAGES.get(known, known) for known in metric.languages)
        name = f"{LANGUAGES[code]} ({language})" if code in LANGUAGES else language
        return f"{metric.name} is made for {languages}; this rewrite is in {name}"
    return metric if code == "en" else metric.for_other_languages or metric


def more_is_better(metric: Metric, basis: str) -> bool:
    """Whether a larger value is better: style should be far from the source, near a reference."""
    return metric.higher_is_better != (basis in metric.flipped_bases)


class _Wrapped(PairMetric):
    def __init__(self, function: Callable[[str, str], float], name: str, version: str):
        self.function, self.name, self.version = function, name, version

    def fields(self) -> dict[str, object]:
        return {"refs": "max" if self.higher_is_better else "min", "version": self.version}

    def pair(self, text: str, output: str) -> float:
        value: Any = self.function(text, output)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TstmetaError(f"the function returned {value!r:.60}, which is no number") from None


def installed(package: str) -> str:
    """The version of a package, or ``none``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


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
    A hash of the compiled code is part of the signature, so that an edited function is scored anew.
    """
    code = getattr(function, "__code__", None)
    facts = _facts(code) if code else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(function))
    version = hashlib.sha256(facts.encode()).hexdigest()[:8]
    metric = _Wrapped(function, name or function.__name__, version)
    metric.dimensions, metric.bases, metric.higher_is_better = (dimension,), bases, higher_is_better
    return metric


def _facts(code: object) -> str:
    """Compiled code or a constant of it as text: no address, path or set order, which change."""
    if isinstance(code, CodeType):
        return f"({code.co_code!r} {_facts(code.co_consts)} {code.co_names})"
    if isinstance(code, tuple | frozenset):
        parts = [_facts(part) for part in code]
        return f"[{', '.join(sorted(parts) if isinstance(code, frozenset) else parts)}]"
    return repr(code)
