"""QuestEval: do two texts answer the same questions alike? (Scialom et al., 2021)

One model writes questions about words of a text (the words *expected*), another answers them from
the other text.  Questions from the output put to the source make precision, the reverse recall.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field

from ..models import hub, sequence
from ..models.causal import Backbone, backbone
from ..models.sequence import Prompt, Written
from .base import Score, cut_note, read_table, scored
from .batched import BatchedMetric, ModelMetric, Pair
from .bertscore import BertScore
from .learned import absent
from .settings import MetricSettings
from .text import sentences

#: Upstream's models; their prompts are those of their model cards.
MODELS = {
    "qg": Backbone("t5-qg", "ThomasNLG/t5-qg_squad1-en"),
    "qa": Backbone("t5-qa", "ThomasNLG/t5-qa_squad2neg-en"),
}
#: The first piece of a prompt for a question: the data set that upstream's model was trained on.
PREFIX = "sv1"
#: What the answering model was trained to say where a text does not tell.
UNANSWERABLE = "unanswerable"
#: Upstream's program reads this many tokens of a prompt, and writes this many.
WINDOW, NEW_TOKENS = 512, 19
#: What upstream's program compares answers with: BERTScore with its library's layer of this model.
ALIKE = "layer9+google-bert/bert-base-multilingual-cased"
#: How upstream's program limits questions about a long text: those of its first sentences.
SENTENCES = 5
#: What is asked about, in signatures; its number goes up when the answers of the rule change.
RULE = f"rule-2,{SENTENCES} sentences"

Writer = Annotated[Backbone, BeforeValidator(backbone), Field(description="MODEL")]


class QuestEvalSettings(MetricSettings):
    """How sides are summed, see :func:`summed`; what writes questions, what answers them."""

    rule: Literal["equation", "released"] = "equation"
    qg: Writer = MODELS["qg"]
    qa: Writer = MODELS["qa"]


class QuestEval(ModelMetric):
    """QuestEval (Scialom et al., 2021), in [0, 1]; higher is better; questions weigh the same."""

    name = "questeval"
    languages = ("en",)
    profile = "real"
    max_tokens = 2000
    facts = f"weights:equal prefix:{PREFIX} refs:max transformers"
    #: Rewrites that are lost when a run is killed: to ask takes seconds a rewrite.
    shard = 2**7
    VARIANTS: ClassVar[tuple[str, ...]] = ("released",)
    Settings = QuestEvalSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.writers = {"qg": self.settings.qg, "qa": self.settings.qa}
        self.rule = self.settings.rule
        #: What compares the words expected and answered, where the rule needs that.
        self.alike: BatchedMetric | None = BertScore(ALIKE) if self.rule == "released" else None

    @property
    def missing(self) -> str:
        remedies = [
            absent(model, "questeval:qg=FOLDER+qa=FOLDER", *MODELS.values())
            for model in self.writers.values()
        ]
        if self.alike is not None:
            remedies.append(self.alike.missing)
        return "; ".join(dict.fromkeys(filter(None, remedies)))

    def fields(self) -> dict[str, object]:
        questions, answers = (
            f"{hub.identity(model)} window:{WINDOW} new:{NEW_TOKENS} beams:1"
            for model in self.writers.values()
        )
        return {
            "rule": self.rule,
            "part": "f",
            "questions": questions,
            "answers": answers,
            "about": RULE,
            "filter": "none",
            "alike": "no" if self.alike is None else str(self.alike.signature("source")),
            **super().fields(),
        }

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        # questions are about the first text of a pair, and the second one answers them
        ways = list(dict.fromkeys([*((output, text) for text, output in pairs), *pairs]))
        expected = {text: by_rule(text) for text, _ in ways}
        about = [(PREFIX, words, text) for text in expected for words in expected[text]]
        questions = self._write("qg", about)
        exchanges = [
            (text, other, words, questions[PREFIX, words, text])
            for text, other in ways
            for words in expected[text]
        ]
        answers = self._write("qa", [(question.text, other) for _, other, _, question in exchanges])
        alike = self._alike((row[2], answers[row[3].text, row[1]].text) for row in exchanges)
        sides: dict[Pair, list[Answered]] = {way: [] for way in ways}
        lengths = dict.fromkeys(ways, 0)
        for text, other, words, question in exchanges:
            answer = answers[question.text, other]
            f1 = token_f1(words, answer.text)
            worth = Answered(1 - answer.chance, f1, alike[words, answer.text])
            sides[text, other].append(worth)
            lengths[text, other] = max(lengths[text, other], question.tokens, answer.tokens)
        scores = []
        for text, output in pairs:
            about_output, about_text = sides[output, text], sides[text, output]
            precision, recall, f = summed(about_output, about_text, self.rule)
            detail = (
                f"precision {precision:.3f} ({len(about_output)} asked); "
                f"recall {recall:.3f} ({len(about_text)} asked)"
            )
            longest = max(lengths[output, text], lengths[text, output])
            scores.append(scored(f, cut_note(longest, WINDOW), detail))
        return scores

    def _alike(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """How alike the words expected and answered are; NaN where the rule does not ask."""
        values = dict.fromkeys(pairs, 0.0 if self.alike else math.nan)
        full = [pair for pair in values if pair[1].strip()]
        if self.alike and full:
            scores = self.alike.pairs(full)
            values |= {pair: score.value for pair, score in zip(full, scores, strict=True)}
        return values

    def _write(self, use: str, prompts: Sequence[Prompt]) -> dict[Prompt, Written]:
        distinct = list(dict.fromkeys(prompts))
        writer = sequence.load(self.writers[use], window=WINDOW, new_tokens=NEW_TOKENS)
        written = writer.write(distinct, UNANSWERABLE if use == "qa" else "")
        return dict(zip(distinct, written, strict=True))


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


class Answered(NamedTuple):
    """What an answer is worth, in [0, 1]."""

    answerable: float  # 1 - the probability that the answer begins as "unanswerable" does
    f1: float  # overlap of the words expected and answered
    alike: float = math.nan  # their BERTScore, where it is needed


def token_f1(expected: str, answer: str) -> float:
    """F1 of two answers' words, in [0, 1], as SQuAD measures it (Rajpurkar et al., 2016)."""
    first, second = _words(expected), _words(answer)
    if not first or not second:
        return float(first == second)
    return 2 * (first & second).total() / (first.total() + second.total())


def _words(text: str) -> Counter[str]:
    return Counter(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def summed(
    output: Sequence[Answered], source: Sequence[Answered], rule: str = "equation"
) -> tuple[float, float, float]:
    """Precision, recall and score, in [0, 1], from the questions about two texts.

    ``equation`` is Scialom et al. (2021, Section 3): the harmonic mean of the F1 of questions from
    the output and the answerability of those from the source.  ``released`` is upstream's program
    (0.2.4): each side is the mean of answerability, BERTScore and F1, the score that of both sides.
    A side without questions counts 0.
    """
    if rule == "equation":
        precision = _mean([answer.f1 for answer in output])
        recall = _mean([answer.answerable for answer in source])
        total = precision + recall
        return precision, recall, 2 * precision * recall / total if total else 0.0
    precision, recall = (
        _mean([value for answer in side for value in answer]) for side in (output, source)
    )
    return precision, recall, (precision + recall) / 2


def _mean(values: Sequence[float]) -> float:
    # A probability may miss its bounds by a rounding.
    return float(np.clip(values, 0, 1).mean()) if len(values) else 0.0


# ---------------------------------------- what questions are asked about

_LISTS = read_table("closed_words.toml")
_WORDS = {kind: frozenset(words.split()) for kind, words in _LISTS.items()}
_CLOSED = frozenset().union(*_WORDS.values())
#: Words that may stand inside a name, besides "of".
_LINKS = frozenset({"the", "and", "de", "la", "van", "von"})
_TOKEN = re.compile(
    r"[$£€]?\d[\d,.:]*\d%?|[$£€]?\d%?|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]", re.UNICODE
)
#: Over a letter a token: capitalised words (N), between two of them "of" (o), also with a link (l).
_NAME = re.compile("N(?:(?:o|ol|lo|oo)?N)*")
#: A determiner (D), a word in -ed or -ing (P) or another (w), then others up to what closes it.
_PHRASE = re.compile("(D?[Pw]w*)P?")


def by_rule(text: str) -> list[str]:
    """Named spans, then noun phrases, of the first sentences of an English text, each once."""
    text = unicodedata.normalize("NFC", text)  # a letter with its accent is one sign
    names: list[str] = []
    phrases: list[str] = []
    for part in sentences(text)[:SENTENCES]:
        tokens = list(_TOKEN.finditer(part))
        words = [token.group() for token in tokens]
        for texts, spans in ((names, _names(words)), (phrases, _phrases(words))):
            texts += [part[tokens[a].start() : tokens[b - 1].end()] for a, b in spans]
    return list(dict.fromkeys([*names, *phrases]))


def _names(words: list[str]) -> list[tuple[int, int]]:
    """Numbers, and runs of capitalised words, short links ("of the") included."""
    letters = [place for place, word in enumerate(words) if word[0].isalpha()]
    # a sentence shouted in capitals has no names
    shouted = len(letters) > 2 and sum(words[n].isupper() for n in letters) > len(letters) / 2
    tags = ""
    for word in words:
        name = word[0].isupper() and len(word) > 1 and not shouted and _tag(word) in "Pw"
        tags += "N" if name else "o" if word == "of" else "l" if word in _LINKS else " "
    runs = [match.span() for match in _NAME.finditer(tags)]
    # at the start of a sentence a run needs a second capitalised word
    runs = [(a, b) for a, b in runs if tags[a:b].count("N") > 1 or a != letters[0]]
    numbers = [(n, n + 1) for n, word in enumerate(words) if any(map(str.isdigit, word))]
    ends = [*((span[0], span) for span in numbers), *((span[1], span) for span in runs)]
    return [span for _, span in sorted(ends, key=lambda end: end[0])]


def _phrases(words: list[str]) -> Iterator[tuple[int, int]]:
    """A determiner and the words after it up to what closes a phrase; no adjective alone."""
    tags = "".join(map(_tag, words))
    for match in _PHRASE.finditer(tags):
        start, end = match.span(1)
        before = _low(words[start - 1]) if start else ""
        described = before in _WORDS["degrees"] | _WORDS["states"] or _adverb(before)
        single = end - start == 1 and (described or tags[start] == "P")
        if not single and any(words[n][0].isalpha() and tags[n] != "D" for n in range(start, end)):
            yield start, end


def _tag(word: str) -> str:
    """What a token is in a phrase: D, P or w, see :data:`_PHRASE`, or C: it closes any."""
    low, letters = _low(word), word[0].isalpha()
    if letters and low in _WORDS["determiners"]:
        return "D"
    if not (letters or any(map(str.isdigit, word))) or low in _CLOSED or _adverb(low):
        return "C"
    return "P" if len(word) > 4 and low.endswith(("ed", "ing")) else "w"


def _low(word: str) -> str:
    return word.lower().replace("’", "'")


def _adverb(low: str) -> bool:
    return low.endswith("ly") and len(low) > 4
