"""QuestEval with scripted models, so that every number is known by hand, and with tiny ones."""

import math
import unicodedata
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics import item, scores
from tests.models import tiny, tiny_text
from tstmeta.metrics import factual, registry
from tstmeta.metrics.base import Score
from tstmeta.metrics.batched import BatchedMetric
from tstmeta.metrics.factual import PREFIX, UNANSWERABLE, Answered, QuestEval, by_rule, summed
from tstmeta.models import sequence
from tstmeta.models.sequence import Written
from tstmeta.schema import Status

SOURCE = "the cat sat on a red mat"
OUTPUT = "the cat sat on a mat near Berlin"
#: Answers to ask about are the words of this list that a text has.
ABOUT = ("cat", "red mat", "mat", "Berlin")
#: (question, text) -> answer and the chance of "unanswerable".
REPLIES = {
    ("cat?", SOURCE): ("The cat", 0.1),
    ("mat?", SOURCE): ("a red mat", 0.2),
    ("Berlin?", SOURCE): ("unanswerable", 0.7),
    ("cat?", OUTPUT): ("cat", 0.0),
    ("red mat?", OUTPUT): ("mat", 0.5),
    ("mat?", OUTPUT): ("mat", 0.3),
    ("Berlin?", OUTPUT): ("near Berlin", 0.1),
    ("red mat?", SOURCE): ("red mat", 0.0),
    **{(f"{words}?", "so kind"): ("unanswerable", 0.9) for words in ABOUT},
}
#: By hand: output's questions cat 1, mat 2/3, Berlin 0; source's cat 1, red mat 1/2, mat .7.
PRECISION = (1 + 2 / 3 + 0) / 3
RECALL = (1.0 + 0.5 + 0.7) / 3
#: Each question's F1 of the source's answers: cat 1, red mat 2/3, mat 1.
RELEASED = (0.9 + 1 + 0.8 + 2 / 3 + 0.3 + 0) / 6, (1.0 + 1 + 0.5 + 2 / 3 + 0.7 + 1) / 6


class Scripted:
    """A model that writes what a function says, and remembers its prompts."""

    def __init__(self, watched, reply):
        self.calls, self.tokens = [], 9
        self.watched, self.reply = watched, reply

    def write(self, prompts, watched=""):
        self.calls.append(list(prompts))
        assert watched == self.watched
        return [Written(*self.reply(prompt), self.tokens) for prompt in prompts]


def question(prompt):
    """``cat?`` about ``cat``."""
    prefix, words, text = prompt
    assert prefix == PREFIX
    assert words in text
    return f"{words}?", math.nan


class Alike(BatchedMetric):
    """One where the last characters agree, else a half."""

    def pairs(self, pairs):
        assert len(set(pairs)) == len(pairs)
        assert all(text.strip() for pair in pairs for text in pair)
        return [Score(1.0 if a[-1] == b[-1] else 0.5) for a, b in pairs]


@pytest.fixture
def writers(monkeypatch):
    """The models of a metric, which asks about the words of ``ABOUT``."""
    built = {"t5-qg": Scripted("", question), "t5-qa": Scripted(UNANSWERABLE, REPLIES.__getitem__)}
    monkeypatch.setattr(sequence, "load", lambda model, **options: built[model.name])
    monkeypatch.setattr(QuestEval, "missing", "")
    monkeypatch.setattr(factual, "by_rule", lambda text: [each for each in ABOUT if each in text])
    monkeypatch.setattr(factual, "BertScore", lambda words: Alike())
    return built.values()


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("", 2 * PRECISION * RECALL / (PRECISION + RECALL)),
        # only "Berlin" and "unanswerable" end differently
        ("released", ((6 * RELEASED[0] + 2.5) / 9 + (6 * RELEASED[1] + 3) / 9) / 2),
    ],
)
def test_values_are_those_worked_out_by_hand(words, value, writers):
    [result] = scores(QuestEval(words), item(OUTPUT, SOURCE))
    assert result.status is Status.OK
    assert result.value == pytest.approx(value)


def test_each_question_is_written_and_asked_once_however_often_texts_repeat(writers):
    results = scores(QuestEval(), item(OUTPUT, SOURCE), item(OUTPUT, SOURCE), item(SOURCE, SOURCE))
    assert results[0] == results[1] != results[2]
    written, answered = (list(chain(*writer.calls)) for writer in writers)
    assert len(written) == len(set(written)) == 6
    assert len(answered) == len(set(answered))


def test_guards_blank_texts_long_prompts_and_a_text_that_breaks_a_model(writers):
    [blank] = scores(QuestEval(), item(" ", SOURCE))
    assert (blank.status, blank.value) == (Status.EMPTY, 0)
    good = item(OUTPUT, SOURCE)
    results = scores(QuestEval(), good, item("a mat", "a cat"), good)
    assert [score.status for score in results] == [Status.OK, Status.ERROR, Status.OK]
    _, answerer = writers
    answerer.tokens = 700
    [long] = scores(QuestEval(), item(OUTPUT, SOURCE))
    assert long.status is Status.TRUNCATED
    assert long.detail.startswith("700 tokens, first 512 used; precision 0.556")


def test_two_models_are_named_by_words(tmp_path):
    folders = [tiny.save(tmp_path / use, *tiny_text.t5(seed)) for seed, use in enumerate("ga")]
    scorer = registry.get(f"questeval:qg={folders[0]}+qa={folders[1]}")
    assert scorer.missing == ""
    assert "questions:g@" in str(scorer.signature("source"))
    assert "answers:a@" in str(scorer.signature("source"))
    [result] = scores(scorer, item("The waiter sold the cold soup.", "The soup was cold."))
    assert result.status is Status.OK
    assert 0 <= result.value < 1


@pytest.mark.parametrize(
    ("expected", "answer", "f1"),
    [("The Soup!", "a soup", 1), ("the cold soup", "soup", 2 / 3), ("it's", "its", 1)],
)
def test_f1_of_words_is_that_of_squad(expected, answer, f1):
    assert (
        factual.token_f1(expected, answer)
        == factual.token_f1(answer, expected)
        == pytest.approx(f1)
    )


ANSWERS = st.lists(st.builds(Answered, *[st.floats(-0.01, 1.01, allow_nan=False)] * 3), max_size=5)


@given(ANSWERS, ANSWERS)
def test_the_released_rule_is_upstreams_arithmetic_list_by_list(of_output, of_source):
    """A list for each kind of number, each clipped, all lists of a side as one; 0 without any."""

    def side(own):
        lists = [[getattr(row, kind) for row in own] for kind in ("answerable", "f1", "alike")]
        flat = [min(max(value, 0.0), 1.0) for values in lists for value in values]
        return sum(flat) / len(flat) if flat else 0.0

    wanted = (side(of_source) + side(of_output)) / 2
    assert summed(of_output, of_source, "released")[2] == pytest.approx(wanted)


def test_the_equations_take_f1_one_way_and_answerability_the_other():
    of_output = [Answered(0.9, 1.0), Answered(0.3, 0.5)]
    of_source = [Answered(chance, 0.1) for chance in (0.8, 0.6, 0.1)]
    assert summed(of_output, of_source) == pytest.approx((0.75, 0.5, 2 * 0.75 * 0.5 / 1.25))
    assert summed(of_output, []) == (0.75, 0, 0), "a side without questions counts nothing"
    assert summed([], []) == (0, 0, 0)
    assert summed([Answered(0, 1 + 1e-7)], [Answered(1 + 1e-7, 0)]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The waiter was rude and the soup was cold.", ["The waiter", "the soup"]),
        ("They told us about the fried rice.", ["the fried rice"]),
        ("Filling in forms, bored and of listening", ["forms"]),
        ("WE HATE THIS PLACE", ["THIS PLACE"]),
        ("We met Barack Obama in Berlin.", ["Barack Obama", "Berlin"]),
        ("He works at the Bank of England.", ["Bank of England", "works", "the Bank", "England"]),
        ("It cost $35,000 for 5 nights.", ["$35,000", "5", "cost $35,000", "5 nights"]),
        ("Nous aimons U\u0308nal.", ["Ünal", "Nous aimons Ünal"]),
    ],
)
def test_names_and_numbers_come_before_noun_phrases(text, expected):
    assert by_rule(text) == expected


@given(st.text(max_size=60))
def test_any_text_gives_parts_of_it_and_no_blank_one(text):
    whole = unicodedata.normalize("NFC", text)
    for phrase in by_rule(text):
        assert phrase in whole
        assert phrase.strip()
