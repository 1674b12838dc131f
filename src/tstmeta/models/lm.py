"""Texts read by a causal language model: how likely it finds each, and by how many tokens.

What fluency metrics need and nothing else.  A text is read by itself: before its first token stands
the model's own mark of a beginning, after its last nothing is scored.  The numbers come from any
backend of :mod:`~tstmeta.models.causal`, so caches and servers work as they do elsewhere.

Beside a model that ``tstmeta train lm`` wrote lie the frequencies of the tokens it was trained on
(:class:`Unigrams`), which SLOR divides by.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..schema import DataError, Problem, TstmetaError
from .causal import Backbone, Continuation, LanguageModel
from .template import ControlMark, Template
from .training.checkpoint import write_atomically

#: The demonstration model that comes with the package.
EMBEDDED = Path(__file__).parent / "weights" / "lm"
#: Token frequencies beside a model.
UNIGRAMS = "unigrams.csv"
#: Models by the names they have as words of fluency metrics; the two of the papers are those of
#: Mukherjee et al. (2025, Appendix C).
MODELS = {
    one.name: one
    for one in (
        Backbone(
            "embedded",
            str(EMBEDDED),
            profile="embedded",
            parameters=0.9,
            about="trained by us on generated text: a demonstration, never a reproduction",
        ),
        Backbone(
            "gpt2",
            "openai-community/gpt2",
            "607a30d783dfa663caf39e06633721c8d4cfcd7e",
            parameters=124,
            about="GPT-2 small (Radford et al., 2019): English",
        ),
        Backbone(
            "mgpt",
            "ai-forever/mGPT",
            parameters=1300,
            about="mGPT (Shliazhko et al., 2024): 61 languages; where its page has no safetensors, "
            "name a folder with weights that you converted",
        ),
    )
}
_COLUMNS = ["id", "count", "token"]


class Reading(NamedTuple):
    """What a model says of one text.

    Attributes:
        logprob: sum of the natural logarithms of the scored tokens' probabilities; <= 0.
        tokens: the scored tokens.
        words: white-space words of the part that was read.
        whole: number of tokens of the whole text.
        used: how many of them were read: fewer when the text was cut at the model's window.
    """

    logprob: float
    tokens: tuple[int, ...]
    words: int
    whole: int
    used: int


class Unreadable(NamedTuple):
    """A text that has no likelihood, and why."""

    reason: str


class Reader:
    """A model that reads texts.

    The context of the first token is the tokenizer's beginning-of-text token, else its end-of-text
    token (GPT-2 has one token for both, ``<|endoftext|>``).  A tokenizer without either leaves the
    first token of a text unscored: it is the context of the others, and a text of one token has no
    likelihood.

    Args:
        model: any backend.
        strided: a text beyond the window is read in windows that overlap by half, each token scored
            once with at least half a window before it.  Else its first window is read.
    """

    def __init__(self, model: LanguageModel, strided: bool = False):
        self.model, self.strided = model, strided
        self.template = Template(model.tokenizer)

    @property
    def start(self) -> tuple[int, ...]:
        """The context of a text's first token: one token or none."""
        tokenizer = self.model.tokenizer
        found = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        return tuple(int(token) for token in found if token is not None)[:1]

    def read(self, texts: Sequence[str], progress: bool = False) -> list[Reading | Unreadable]:
        """One reading a text, in order; a text that comes twice is read once."""
        distinct = list(dict.fromkeys(texts))
        planned = [self._planned(text) for text in distinct]
        requests = [one for plan in planned if isinstance(plan, _Planned) for one in plan.requests]
        sums = np.full(len(requests), np.nan)
        for batch in self.model.logprobs(requests, progress=progress):
            for place, values in batch:
                sums[place] = np.sum(values, dtype=np.float64)
        rest = iter(sums)
        found = {
            text: plan.answered([next(rest) for _ in plan.requests])
            if isinstance(plan, _Planned)
            else plan
            for text, plan in zip(distinct, planned, strict=True)
        }
        return [found[text] for text in texts]

    def _planned(self, text: str) -> _Planned | Unreadable:
        try:
            ids = self.template.tokens(text)
        except ControlMark as error:
            return Unreadable(str(error))
        context = self.start or ids[:1]
        tokens = ids if self.start else ids[1:]
        if not tokens:
            many = "one token and no" if ids else "no token and no"
            return Unreadable(f"{many} beginning-of-text token to foresee it from")
        window = self.model.window
        if self.strided or len(tokens) <= window:
            requests = _windows(context, tokens, window)
            return _Planned(requests, len(text.split()), len(ids), len(ids))
        used = window + len(ids) - len(tokens)
        words = len(self.model.tokenizer.decode(ids[:used]).split())
        return _Planned([Continuation(context, tokens[:window])], words, len(ids), used)


class _Planned(NamedTuple):
    """What a model is asked of one text."""

    requests: list[Continuation]
    words: int
    whole: int
    used: int

    def answered(self, sums: Sequence[float]) -> Reading:
        tokens = tuple(token for one in self.requests for token in one.tokens)
        return Reading(math.fsum(sums), tokens, self.words, self.whole, self.used)


def _windows(context: tuple[int, ...], tokens: tuple[int, ...], window: int) -> list[Continuation]:
    """Requests that fit into the window and score each token once.

    A request of c tokens of context and t to score takes c + t - 1 places: the last token is not
    read.  From the second window on, c is half a window.
    """
    requests = [Continuation(context, tokens[:window])]
    half = max(1, window // 2)
    at = window
    while at < len(tokens):
        end = at + window - half + 1
        requests.append(Continuation(tokens[at - half : at], tokens[at:end]))
        at = end
    return requests


@lru_cache(maxsize=1)
def loaded(model: Backbone, identity: str, device: str, dtype: str) -> LanguageModel:
    """A model that several metrics share, loaded when something new is asked; one at a time.

    ``identity`` is that of the hub module: a folder that is trained anew is another model.
    """
    from .loading import Lazy

    # texts that are read by themselves share little but the mark: trees would take twice the time
    return Lazy(model, device, dtype, reuse=False)


# ------------------------------------------------------------------------------ frequencies


class Unigrams(NamedTuple):
    """Token probabilities without context, with add-one smoothing (Lidstone's law with 1).

    Attributes:
        logs: natural logarithms [vocabulary].
        hash: first 8 hexadecimal digits of the SHA-256 of the file.
    """

    logs: np.ndarray
    hash: str

    def logprob(self, tokens: Sequence[int]) -> float:
        """Sum of the logarithms of the tokens' probabilities."""
        return float(self.logs[list(tokens)].sum())


def count_tokens(texts: Iterable[str], tokenizer: Any) -> Counter[int]:
    """How often each token occurs in texts, marks of beginning and end apart."""
    counts: Counter[int] = Counter()
    template = Template(tokenizer)
    for text in texts:
        counts.update(template.tokens(text))
    return counts


def write_unigrams(path: Path, counts: Counter[int], tokenizer: Any) -> None:
    """Write frequencies: CSV with the columns id, count and token, which is for people."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for token in sorted(counts):
        writer.writerow([token, counts[token], tokenizer.convert_ids_to_tokens(token)])
    write_atomically(path, out.getvalue().encode())


def file_hash(path: Path) -> str:
    """First 8 hexadecimal digits of the SHA-256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise _unigram_fault(path, None, error.strerror or "cannot be read") from error


def read_unigrams(path: Path, vocabulary: int) -> Unigrams:
    """Frequencies of a file with the columns id and count, for a model's vocabulary.

    Raises:
        DataError: no such file, a column is missing, an id that is no token of the model or comes
            twice, a count that is no whole number above 0.
    """
    digest = file_hash(path)
    counts = np.zeros(vocabulary)
    try:
        text = path.read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _unigram_fault(path, None, f"is no CSV in UTF-8 ({error})") from error
    if not rows or not {"id", "count"} <= set(rows[0]):
        raise _unigram_fault(path, 0, "needs the columns id and count, and a row")
    for number, row in enumerate(rows, 1):
        token, count = (_natural(row[name]) for name in ("id", "count"))
        if token is None or token >= vocabulary or counts[token]:
            said = f"id {row['id']!r} is no token of the model's {vocabulary}, or comes twice"
            raise _unigram_fault(path, number, said)
        if not count:
            raise _unigram_fault(path, number, f"count {row['count']!r} is no number above 0")
        counts[token] = count
    return Unigrams(np.log((counts + 1) / (counts.sum() + vocabulary)), digest)


def _natural(text: str | None) -> int | None:
    """A text of ASCII digits as a number; None for any other."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None


def _unigram_fault(path: Path, row: int | None, what: str) -> TstmetaError:
    remedy = "give the unigrams.csv that tstmeta train lm writes beside a model"
    return DataError([Problem(str(path), row, "", what, remedy)])
