"""QuestEval: do two texts answer the same questions alike? (Scialom et al., 2021)

One model writes questions about words of a text, another answers them from the other text; both
ways.  The words after the colon::

    questeval                              equations as printed, equal weights
    questeval:released                     as upstream sums up; a third model compares answers
    questeval:released-0.1                 its first version, without the third model
    questeval:recall                       one side only (or precision)
    questeval:beam+spacy+filtered          beam search; a parser finds what to ask; see below
    questeval:qg=FOLDER+qa=FOLDER          models of your own: question generation and answering

What is asked and answered is kept beside the scores, in the folder ``questions`` of the score
store, and :meth:`QuestEval.kept` reads it back: why a rewrite scored low.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import nan
from pathlib import Path
from typing import ClassVar

import pandas as pd

from ..models import seq2seq
from ..models.causal import Backbone
from ..models.seq2seq import Prompt, Writer, Written
from ..schema import Signature, TstmetaError
from . import candidates as found_by
from .base import Request, Score
from .batched import BatchedMetric, Pair
from .candidates import Candidates
from .learned import absent, called, cut, release, signed
from .questions import PRECISION, RECALL, RULES, Asked, Record, keep, summed, table, token_f1
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

_OPTIONS = {
    "rule": RULES,
    "part": ("f", PRECISION, RECALL),
    "search": ("greedy", "beam"),
    "candidates": ("rule-based", "spacy"),
    "filter": ("unfiltered", "filtered"),
}
#: A question that was written, and the words that it asks for.
_Question = tuple[str, str]


class QuestEval(BatchedMetric):
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
        candidates: finds the words to ask about; wins over words.
        alike: compares the words expected and found, for the rule ``released``.
        device: ``auto``, ``cpu``, ``cuda``, ...

    Raises:
        TstmetaError: words that name nothing, or two of a kind.
    """

    name = "questeval"
    languages = ("en",)
    profile = "real"
    #: Rewrites that are lost when a run is killed: to ask takes seconds a rewrite.
    shard = 2**7
    VARIANTS: ClassVar[tuple[str, ...]] = ("released", "released-0.1", PRECISION, RECALL)

    def __init__(
        self,
        words: str = "",
        *,
        questioner: Writer | None = None,
        answerer: Writer | None = None,
        candidates: Candidates | None = None,
        alike: BatchedMetric | None = None,
        device: str = "auto",
    ):
        self.models, options = _understood(words)
        self.rule = options.get("rule", RULES[0])
        self.part = options.get("part", "f")
        self.filtered = options.get("filter") == "filtered"
        self.beams = BEAMS if options.get("search") == "beam" else 1
        self._parsed = options.get("candidates") == "spacy"
        self._candidates, self._alike, self._device = candidates, alike, device
        self._given = {"qg": questioner, "qa": answerer}
        self._known: dict[str, tuple[tuple[_Question, ...], int]] = {}
        self.name = f"questeval:{words}" if words else "questeval"

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        said = [
            absent(model, "questeval:qg=FOLDER+qa=FOLDER", "AutoModelForSeq2SeqLM", MODELS)
            for use, model in self.models.items()
            if self._given[use] is None
        ]
        if self._parsed and self._candidates is None:
            said.append(found_by.parser_missing())
        if self.alike is not None:
            said.append(self.alike.missing)
        return "; ".join(dict.fromkeys(filter(None, said)))

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "part": self.part,
            "questions": self._identity("qg"),
            "answers": self._identity("qa"),
            "about": self.candidates.name if not self._unparsed else "spacy@missing",
            "filter": "f1=1" if self.filtered else "none",
            "alike": "no" if self.alike is None else str(self.alike.signature("source")),
            "weights": "equal",
            "prefix": PREFIX,
            "refs": "max",
            "transformers": release("transformers"),
        }

    def _identity(self, use: str) -> str:
        if (given := self._given[use]) is not None:
            return given.identity
        name = called(self.models[use])
        return seq2seq.described(name, WINDOW, NEW_TOKENS, self.beams)

    @property
    def _unparsed(self) -> bool:
        return self._parsed and self._candidates is None and bool(found_by.parser_missing())

    @cached_property
    def candidates(self) -> Candidates:
        """What finds the words to ask about."""
        return self._candidates or (found_by.spacy() if self._parsed else found_by.RULE)

    @cached_property
    def alike(self) -> BatchedMetric | None:
        """What compares the words expected and found; None where the rule does not ask for it."""
        if self.rule != "released" or self._alike is not None:
            return self._alike
        from .bertscore import BertScore

        return BertScore(ALIKE)

    def _writer(self, use: str) -> Writer:
        if (given := self._given[use]) is not None:
            return given
        return seq2seq.load(
            self.models[use],
            device=self._device,
            window=WINDOW,
            new_tokens=NEW_TOKENS,
            beams=self.beams,
        )

    def kept(
        self, store: Path, against: str | None = None, output: str | None = None
    ) -> pd.DataFrame:
        """What this metric asked and was told in runs with that store, the worst answers first.

        Args:
            store: folder of the score store.
            against, output: only questions about these texts.

        Returns:
            One row a question: against, output, side, question, expected, found, answerable, f1,
            alike.
        """
        return table(self._kept_in(store), against, output)

    def _kept_in(self, store: Path) -> Path:
        # neither how answers are summed up nor the basis changes what is asked
        said = {k: v for k, v in self.fields().items() if k not in ("rule", "part", "refs")}
        digest = Signature.of("questeval", {**said, "max_tokens": self.max_tokens}).hash
        return store / "questions" / f"questeval-{digest}.jsonl"

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        """One score a pair of (text compared with, output); its questions are kept.

        Raises:
            MissingModel: a model is not here.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        self._remember([text for text in texts if text not in self._known])
        asked, longest = self._answered(pairs)
        if self._folder is not None:
            made = [Record(*pair, tuple(one)) for pair, one in zip(pairs, asked, strict=True)]
            keep(self._kept_in(self._folder), made)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        return [
            cut(self._scored(one), tokens, WINDOW)
            for one, tokens in zip(asked, longest, strict=True)
        ]

    def _remember(self, texts: list[str]) -> None:
        """Write the questions of texts, and drop those that fail on their own text."""
        wanted = [(text, self.candidates.find(text)) for text in texts]
        prompts = [(PREFIX, answer, text) for text, answers in wanted for answer in answers]
        written = self._ask("qg", prompts)
        told = self._ask("qa", [(written[one].text, one[2]) for one in prompts if self.filtered])
        for text, answers in wanted:
            questions, tokens = [], 0
            for answer in answers:
                question = written[PREFIX, answer, text]
                tokens = max(tokens, question.tokens)
                own = told[question.text, text].text if self.filtered else answer
                if token_f1(answer, own) == 1:
                    questions.append((question.text, answer))
            self._known[text] = (tuple(questions), tokens)

    def _answered(self, pairs: Sequence[Pair]) -> tuple[list[list[Asked]], list[int]]:
        """What was asked of each pair, and the tokens of the longest prompt."""
        jobs = [
            [
                (side, question, expected, read)
                for side, written, read in ((PRECISION, output, text), (RECALL, text, output))
                for question, expected in self._known[written][0]
            ]
            for text, output in pairs
        ]
        told = self._ask("qa", [(one[1], one[3]) for job in jobs for one in job])
        near = self._compared([(one[2], told[one[1], one[3]].text) for job in jobs for one in job])
        asked, longest = [], []
        for pair, job in zip(pairs, jobs, strict=True):
            rows, tokens = [], [self._known[text][1] for text in pair]
            for side, question, expected, read in job:
                found, chance, length, _ = told[question, read]
                values = 1 - chance, token_f1(expected, found), near.get((expected, found), nan)
                rows.append(Asked(side, question, expected, found, *values))
                tokens.append(length)
            asked.append(rows)
            longest.append(max(tokens))
        return asked, longest

    def _compared(self, answers: list[Pair]) -> dict[Pair, float]:
        """How alike the words expected and found are; 0 where nothing is found."""
        if self.alike is None:
            return {}
        known = dict.fromkeys(answers, 0.0)
        full = [pair for pair in known if all(text.strip() for text in pair)]
        for pair, said in zip(full, self.alike.pairs(full) if full else (), strict=True):
            known[pair] = said.value if isinstance(said, Score) else float(said)
        return known

    def _ask(self, use: str, prompts: Sequence[Prompt]) -> dict[Prompt, Written]:
        distinct = list(dict.fromkeys(prompts))
        if not distinct:
            return {}
        watched = UNANSWERABLE if use == "qa" else ""
        model = self._writer(use)
        written = model.write(distinct, watched=watched, progress=self._progress)
        return dict(zip(distinct, written, strict=True))

    def _blank(self, request: Request) -> Score | None:
        return refused(self, request) or super()._blank(request)

    def _scored(self, asked: Sequence[Asked]) -> Score:
        sums = summed(asked, self.rule)
        value = {"f": sums.score, PRECISION: sums.precision, RECALL: sums.recall}[self.part]
        counts = {side: sum(one.side == side for one in asked) for side in (PRECISION, RECALL)}
        parts = [
            f"{side} {getattr(sums, side):.3f} ({count} asked)"
            if count
            else f"{side} 0: no question could be asked"
            for side, count in counts.items()
        ]
        return Score(value, detail="; ".join(parts))


def _understood(words: str) -> tuple[dict[str, Backbone], dict[str, str]]:
    """The two models and the options that words name."""
    models, rest = dict(MODELS), []
    seen: set[str] = set()
    for word in filter(None, words.split("+")):
        use, sign, name = word.partition("=")
        if not (sign and use in MODELS):
            rest.append(word)
            continue
        model, options = parse(name, {}, {})
        if model is None or options or use in seen:
            what = f"{words!r} names two models as {use}" if use in seen else f"{word!r} names none"
            raise TstmetaError(f"{what}; write {use}=FOLDER or {use}=owner/name@revision, once")
        seen.add(use)
        models[use] = model
    model, options = parse("+".join(rest), _OPTIONS, {})
    if model is not None:
        raise TstmetaError(
            f"{model.name!r} could write questions or answer them; say which: qg={model.name} or "
            f"qa={model.name}"
        )
    return models, options
