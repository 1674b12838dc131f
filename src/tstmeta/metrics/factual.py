"""QuestEval: do two texts answer the same questions alike? (Scialom et al., 2021)

One model writes questions about words of a text (the words *expected*), another answers them from
the other text.  Questions from the output put to the source make precision, the reverse recall.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..models import hub, seq2seq
from ..models.causal import Backbone, backbone
from ..models.seq2seq import Prompt, Written
from ..schema import TstmetaError
from .base import Score, scored
from .batched import BatchedMetric, ModelMetric, Pair, cut_note, installed
from .bertscore import BertScore
from .candidates import RULE, by_rule
from .learned import absent
from .variants import choose

#: Upstream's models; their prompts are those of their model cards.
MODELS = {
    "qg": Backbone("t5-qg", "ThomasNLG/t5-qg_squad1-en"),
    "qa": Backbone("t5-qa", "ThomasNLG/t5-qa_squad2neg-en"),
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
#: Prompts whose answers are remembered within a run.
_REMEMBERED = 2**17

PRECISION, RECALL = "precision", "recall"
_OPTIONS = {"rule": ("equation", "released", "released-0.1"), "part": ("f", PRECISION, RECALL)}


class QuestEval(ModelMetric):
    """QuestEval (Scialom et al., 2021), in [0, 1]; higher is better.

    A text that leads to no question counts 0 on its side.  Questions have equal weights: the
    paper's weighting of questions by importance needs a third model and is meant for summaries.

    Args:
        words: options and models, joined by ``+``.  ``released`` and ``released-0.1``: see
            :func:`summed`; ``precision``, ``recall``: one side only; ``qg=FOLDER``, ``qa=FOLDER``:
            models that write and answer questions.
    """

    name = "questeval"
    languages = ("en",)
    profile = "real"
    max_tokens = 2000
    #: Rewrites that are lost when a run is killed: to ask takes seconds a rewrite.
    shard = 2**7
    VARIANTS: ClassVar[tuple[str, ...]] = ("released", "released-0.1", PRECISION, RECALL)

    def __init__(self, words: str = ""):
        super().__init__(words)
        options, rest = choose(words, _OPTIONS)
        self.models = dict(MODELS)
        for word in rest:
            use, _, name = word.partition("=")
            if not name or use not in MODELS:
                known = ", ".join(option for every in _OPTIONS.values() for option in every)
                raise TstmetaError(
                    f"{word!r} is no option; use {known}, or say what a model is for: qg={word} or "
                    f"qa={word}"
                )
            self.models[use] = backbone(name)
        self.rule, self.part = options.get("rule", "equation"), options.get("part", "f")
        #: What compares the words expected and answered, where the rule needs that.
        self.alike: BatchedMetric | None = BertScore(ALIKE) if self.rule == "released" else None
        #: What was written for each prompt, within a run.
        self._written: dict[str, dict[Prompt, Written]] = {"qg": {}, "qa": {}}

    @property
    def missing(self) -> str:
        remedies = [
            absent(model, "questeval:qg=FOLDER+qa=FOLDER", MODELS) for model in self.models.values()
        ]
        if self.alike is not None:
            remedies.append(self.alike.missing)
        return "; ".join(dict.fromkeys(filter(None, remedies)))

    def fields(self) -> dict[str, object]:
        writers = [
            seq2seq.described(hub.identity(model), WINDOW, NEW_TOKENS)
            for model in self.models.values()
        ]
        return {
            "rule": self.rule,
            "part": self.part,
            "questions": writers[0],
            "answers": writers[1],
            "about": RULE,
            "filter": "none",
            "alike": "no" if self.alike is None else str(self.alike.signature("source")),
            "weights": "equal",
            "prefix": PREFIX,
            "refs": "max",
            "transformers": installed("transformers"),
        }

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        wanted = {text: by_rule(text) for text in texts}
        written = self._ask(
            "qg", [(PREFIX, words, text) for text in texts for words in wanted[text]]
        )
        # for each pair: side, words expected, question, text that is to answer it
        jobs = [
            [
                (side, words, written[PREFIX, words, own], other)
                for side, own, other in ((PRECISION, output, text), (RECALL, text, output))
                for words in wanted[own]
            ]
            for text, output in pairs
        ]
        prompts = [(question.text, other) for job in jobs for *_, question, other in job]
        replies = self._ask("qa", prompts)
        alike = self._alike(
            (words, replies[question.text, other].text)
            for job in jobs
            for _, words, question, other in job
        )
        scores = []
        for job in jobs:
            answers, tokens = [], 0
            for side, words, question, other in job:
                reply = replies[question.text, other]
                pair = words, reply.text
                answers.append(Answered(side, 1 - reply.chance, token_f1(*pair), alike[pair]))
                tokens = max(tokens, question.tokens, reply.tokens)
            sums = summed(answers, self.rule)
            count = sum(answer.side == PRECISION for answer in answers)
            detail = (
                f"precision {sums.precision:.3f} ({count} asked); "
                f"recall {sums.recall:.3f} ({len(answers) - count} asked)"
            )
            scores.append(scored(getattr(sums, self.part), cut_note(tokens, WINDOW), detail))
        return scores

    def _alike(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """How alike the words expected and answered are; NaN where the rule does not ask."""
        if self.alike is None:
            return dict.fromkeys(pairs, math.nan)
        values = dict.fromkeys(pairs, 0.0)
        if full := [pair for pair in values if pair[1].strip()]:
            for pair, answer in zip(full, self.alike.pairs(full), strict=True):
                values[pair] = answer.value
        return values

    def _ask(self, use: str, prompts: Sequence[Prompt]) -> dict[Prompt, Written]:
        known = self._written[use]
        if len(known) > _REMEMBERED:
            known.clear()
        if fresh := [prompt for prompt in dict.fromkeys(prompts) if prompt not in known]:
            writer = seq2seq.load(self.models[use], window=WINDOW, new_tokens=NEW_TOKENS)
            watched = UNANSWERABLE if use == "qa" else ""
            known.update(zip(fresh, writer.write(fresh, watched), strict=True))
        return known


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


class Answered(NamedTuple):
    """What an answer is worth, in [0, 1]."""

    side: str
    answerable: float  # 1 - the probability that the answer begins as "unanswerable" does
    f1: float  # overlap of the words expected and answered
    alike: float = math.nan  # their BERTScore, where it is needed


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
    ``released-0.1`` is its first version, without BERTScore.  A side without questions counts 0.
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
