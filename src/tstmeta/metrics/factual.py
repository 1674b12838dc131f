"""QuestEval: do two texts answer the same questions alike? (Scialom et al., 2021)

One model writes questions about words of a text (the words *expected*), another answers them from
the other text; both ways.  Questions from the output put to the source make precision: does the
source say what the output says?  Those from the source put to the output make recall.  The words
after the colon::

    questeval                              equations as printed, equal weights
    questeval:released                     as upstream sums up; a third model compares answers
    questeval:released-0.1                 its first version, without the third model
    questeval:recall                       one side only (or precision)
    questeval:beam+filtered                beam search; questions that fail on their own text go
    questeval:qg=FOLDER+qa=FOLDER          models of your own: question generation and answering
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ..models import seq2seq
from ..models.causal import Backbone
from ..models.seq2seq import Prompt, Writer, Written
from ..schema import TstmetaError
from .base import Request, Score
from .batched import BatchedMetric, ModelMetric, Pair, cut_note, identity_of, installed, scored
from .candidates import RULE, Candidates
from .learned import absent
from .text import refused
from .variants import parse

#: Upstream's models; their prompts are those of their model cards.
MODELS = {
    "qg": Backbone("t5-qg", "ThomasNLG/t5-qg_squad1-en", about="writes questions"),
    "qa": Backbone("t5-qa", "ThomasNLG/t5-qa_squad2neg-en", about="answers questions"),
}
#: The first piece of a prompt for a question: the data set that upstream's model was trained on.
PREFIX = "sv1"
#: What the answering model was trained to say where a text does not tell.
UNANSWERABLE = "unanswerable"
#: Upstream's program reads this many tokens of a prompt, and writes this many: the default of
#: its library's ``generate`` (20), less the token that every text starts with.
WINDOW, NEW_TOKENS = 512, 19
#: What upstream's program compares answers with: BERTScore with its library's layer of this model.
ALIKE = "layer9+google-bert/bert-base-multilingual-cased"
#: Width of beam search where it is asked for.
BEAMS = 4
#: Texts whose questions are remembered within a run.
_REMEMBERED = 2**14

PRECISION, RECALL = "precision", "recall"
_OPTIONS = {
    "rule": ("equation", "released", "released-0.1"),
    "part": ("f", PRECISION, RECALL),
    "search": ("greedy", "beam"),
    "filter": ("unfiltered", "filtered"),
}


class QuestEval(ModelMetric):
    """QuestEval (Scialom et al., 2021), in [0, 1]; higher is better.

    A text that leads to no question counts 0 on its side.  Questions have equal weights: the
    paper's weighting of questions by importance needs a third model and is meant for summaries.
    With ``filtered``, questions that the text they come from does not answer as expected (F1 of 1)
    are dropped, as in the paper; upstream's program keeps all, and where asked to look multiplies
    what a question is worth by that F1.  A question is written from the whole text, as upstream's
    0.2.4 does; its first version wrote it from the sentence of the answer, which is the same for a
    text of one sentence.

    Args:
        words: options and models, joined by ``+`` (see the module).
        questioner, answerer: models as objects; they win over words.
        candidates: finds the words to ask about, instead of the rule of ours.
        alike: compares the words expected and answered, for the rule ``released``.

    Raises:
        TstmetaError: words that name nothing, or two of a kind.
    """

    name = "questeval"
    languages = ("en",)
    profile = "real"
    max_tokens = 2000
    #: Rewrites that are lost when a run is killed: to ask takes seconds a rewrite.
    shard = 2**7
    VARIANTS: ClassVar[tuple[str, ...]] = ("released", "released-0.1", PRECISION, RECALL)

    def __init__(
        self,
        words: str = "",
        *,
        questioner: Writer | None = None,
        answerer: Writer | None = None,
        candidates: Candidates = RULE,
        alike: BatchedMetric | None = None,
    ):
        super().__init__(words)
        self.models, options = _models(words)
        self.rule, self.part = options.get("rule", "equation"), options.get("part", "f")
        self.filtered = options.get("filter") == "filtered"
        self.beams = BEAMS if options.get("search") == "beam" else 1
        self.candidates, self._alike = candidates, alike
        self._given = {"qg": questioner, "qa": answerer}
        #: Text -> its (question, expected words), and the tokens of the longest prompt for one.
        self._known: dict[str, tuple[list[tuple[str, str]], int]] = {}

    @property
    def missing(self) -> str:
        remedies = [
            absent(model, "questeval:qg=FOLDER+qa=FOLDER", "AutoModelForSeq2SeqLM", MODELS)
            for use, model in self.models.items()
            if self._given[use] is None
        ]
        if self.alike is not None:
            remedies.append(self.alike.missing)
        return "; ".join(dict.fromkeys(filter(None, remedies)))

    def fields(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "part": self.part,
            "questions": self._identity("qg"),
            "answers": self._identity("qa"),
            "about": self.candidates.name,
            "filter": "f1=1" if self.filtered else "none",
            "alike": "no" if self.alike is None else str(self.alike.signature("source")),
            "weights": "equal",
            "prefix": PREFIX,
            "refs": "max",
            "transformers": installed("transformers"),
        }

    def _identity(self, use: str) -> str:
        if (writer := self._given[use]) is not None:
            return writer.identity
        return seq2seq.described(identity_of(self.models[use]), WINDOW, NEW_TOKENS, self.beams)

    @cached_property
    def alike(self) -> BatchedMetric | None:
        """What compares the words expected and answered; None where the rule needs none."""
        if self.rule != "released" or self._alike is not None:
            return self._alike
        from .bertscore import BertScore

        return BertScore(ALIKE)

    def _blank(self, request: Request) -> Score | None:
        return refused(self, request) or super()._blank(request)

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        self._write([text for text in texts if text not in self._known])
        scores = self._answer(pairs)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        return scores

    def _write(self, texts: list[str]) -> None:
        """Write the questions of texts, and drop those that fail on their own text."""
        wanted = {text: self.candidates.find(text) for text in texts}
        prompts = [(PREFIX, expected, text) for text in texts for expected in wanted[text]]
        written = self._ask("qg", prompts)
        checks = [(written[prompt].text, prompt[2]) for prompt in prompts if self.filtered]
        own = self._ask("qa", checks)
        for text, answers in wanted.items():
            kept, tokens = [], 0
            for expected in answers:
                question = written[PREFIX, expected, text]
                tokens = max(tokens, question.tokens)
                if not self.filtered or token_f1(expected, own[question.text, text].text) == 1:
                    kept.append((question.text, expected))
            self._known[text] = (kept, tokens)

    def _answer(self, pairs: Sequence[Pair]) -> list[Score]:
        """Put the questions of each pair's texts to the other text, and sum up the answers."""
        jobs = [
            [
                (side, question, expected, reader)
                for side, writer, reader in ((PRECISION, output, text), (RECALL, text, output))
                for question, expected in self._known[writer][0]
            ]
            for text, output in pairs
        ]
        prompts = [(question, reader) for job in jobs for _, question, _, reader in job]
        written = self._ask("qa", prompts)
        both = [(words, written[q, reader].text) for job in jobs for _, q, words, reader in job]
        alike = self._compared(both)
        scores = []
        for pair, job in zip(pairs, jobs, strict=True):
            answers, longest = [], max(self._known[text][1] for text in pair)
            for side, question, expected, reader in job:
                text, chance, tokens, _ = written[question, reader]
                near = alike.get((expected, text), math.nan)
                answers.append(Answered(side, 1 - chance, token_f1(expected, text), near))
                longest = max(longest, tokens)
            scores.append(self._score(answers, longest))
        return scores

    def _compared(self, answers: list[Pair]) -> dict[Pair, float]:
        """How alike the words expected and answered are; 0 where the answer is blank."""
        if self.alike is None:
            return {}
        known = dict.fromkeys(answers, 0.0)
        full = [pair for pair in known if all(text.strip() for text in pair)]
        for pair, score in zip(full, self.alike.pairs(full) if full else (), strict=True):
            known[pair] = score.value if isinstance(score, Score) else float(score)
        return known

    def _ask(self, use: str, prompts: Sequence[Prompt]) -> dict[Prompt, Written]:
        distinct = list(dict.fromkeys(prompts))
        if not distinct:
            return {}
        writer = self._given[use] or seq2seq.load(
            self.models[use], window=WINDOW, new_tokens=NEW_TOKENS, beams=self.beams
        )
        watched = UNANSWERABLE if use == "qa" else ""
        written = writer.write(distinct, watched=watched, progress=self._progress)
        return dict(zip(distinct, written, strict=True))

    def _score(self, answers: list[Answered], tokens: int) -> Score:
        sums = summed(answers, self.rule)
        parts = []
        for side in (PRECISION, RECALL):
            count = sum(answer.side == side for answer in answers)
            share = f"{getattr(sums, side):.3f} ({count} asked)"
            parts.append(f"{side} {share if count else '0: no question could be asked'}")
        return scored(getattr(sums, self.part), cut_note(tokens, WINDOW), "; ".join(parts))


def _models(words: str) -> tuple[dict[str, Backbone], dict[str, str]]:
    """The two models and the options that words name."""
    models, rest = dict(MODELS), []
    for word in filter(None, words.split("+")):
        use, _, name = word.partition("=")
        if not name or use not in MODELS:
            rest.append(word)
            continue
        model, options = parse(name, {}, {})
        if model is None or options or models[use] is not MODELS[use]:
            raise TstmetaError(f"{words!r}: write {use}=FOLDER or {use}=owner/name@revision, once")
        models[use] = model
    model, options = parse("+".join(rest), _OPTIONS, {})
    if model is not None:
        raise TstmetaError(
            f"{model.name!r} could write questions or answer them; say which: qg={model.name} or "
            f"qa={model.name}"
        )
    return models, options


# --------------------------------------------------------------------------------- arithmetic

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


class Answered(NamedTuple):
    """What an answer is worth, in [0, 1].

    ``answerable`` is one minus the probability that the answer begins as "unanswerable" does,
    ``f1`` the overlap of the words expected and answered, ``alike`` their BERTScore (NaN: not
    needed).
    """

    side: str
    answerable: float
    f1: float
    alike: float = math.nan


class Sums(NamedTuple):
    """Precision, recall and the score of both, in [0, 1]."""

    precision: float
    recall: float
    f: float


def token_f1(expected: str, answer: str) -> float:
    """F1 of two answers' words, in [0, 1], as SQuAD measures it (Rajpurkar et al., 2016).

    Case, ASCII punctuation and the articles a, an, the do not count; words count as often as they
    occur.  Two answers without words are equal: 1.
    """
    first, second = _words(expected), _words(answer)
    if not first or not second:
        return float(first == second)
    return 2 * (first & second).total() / (first.total() + second.total())


def _words(text: str) -> Counter[str]:
    return Counter(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def summed(answers: Sequence[Answered], rule: str = "equation") -> Sums:
    """Precision, recall and score of the questions about two texts.

    ``equation`` is Scialom et al. (2021, Section 3) with equal weights: precision is the mean F1 of
    the questions from the output, recall the mean answerability of those from the source, the score
    their harmonic mean.  ``released`` is upstream's program (0.2.4): each side is the mean of
    answerability, BERTScore and F1 of all its questions, the score the mean of both sides;
    ``released-0.1`` is its first version, without BERTScore.  A side without questions counts 0, as
    upstream.  (Issue 7 of upstream's repository notices the difference.)
    """
    from_output, from_source = ([a for a in answers if a.side == s] for s in (PRECISION, RECALL))
    if rule == "equation":
        precision = _mean([answer.f1 for answer in from_output])
        recall = _mean([answer.answerable for answer in from_source])
        total = precision + recall
        return Sums(precision, recall, 2 * precision * recall / total if total else 0.0)
    kinds = ("answerable", "f1", "alike")[: 3 if rule == "released" else 2]
    precision, recall = (
        _mean([getattr(answer, kind) for answer in side for kind in kinds])
        for side in (from_output, from_source)
    )
    return Sums(precision, recall, (precision + recall) / 2)


def _mean(values: Sequence[float]) -> float:
    # A probability may miss its bounds by a rounding.
    return float(np.clip(values, 0, 1).mean()) if len(values) else 0.0
