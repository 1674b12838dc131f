"""QuestEval with scripted models, so that every number is known by hand, and with tiny ones."""

import math

import pytest

from tests import scored
from tests.models import tiny_text
from tstmeta import metrics, scoring
from tstmeta.metrics.base import Request, Score
from tstmeta.metrics.batched import BatchedMetric
from tstmeta.metrics.candidates import Candidates
from tstmeta.metrics.factual import PREFIX, UNANSWERABLE, QuestEval
from tstmeta.models.seq2seq import Seq2Seq, Written
from tstmeta.schema import Status, TstmetaError

SOURCE = "the cat sat on a red mat"
OUTPUT = "the cat sat on a mat near Berlin"
#: Answers to ask about are the words of this list that a text has.
ABOUT = ("cat", "red mat", "mat", "Berlin")
#: (question, text) -> answer and the chance of "unanswerable".
TOLD = {
    ("cat?", SOURCE): ("The cat", 0.1),
    ("mat?", SOURCE): ("a red mat", 0.2),
    ("Berlin?", SOURCE): ("unanswerable", 0.7),
    ("cat?", OUTPUT): ("cat", 0.0),
    ("red mat?", OUTPUT): ("mat", 0.5),
    ("mat?", OUTPUT): ("mat", 0.3),
    ("Berlin?", OUTPUT): ("near Berlin", 0.1),
    ("red mat?", SOURCE): ("red mat", 0.0),
    **{(f"{one}?", "so kind"): ("unanswerable", 0.9) for one in ABOUT},
}
#: By hand: output's questions cat 1, mat 2/3, Berlin 0; source's cat 1, red mat 1/2, mat .7.
PRECISION = (1 + 2 / 3 + 0) / 3
RECALL = (1.0 + 0.5 + 0.7) / 3
#: Each question's F1 of the source's answers: cat 1, red mat 2/3, mat 1.
RELEASED = (
    (0.9 + 1 + 0.8 + 2 / 3 + 0.3 + 0) / 6,
    (1.0 + 1 + 0.5 + 2 / 3 + 0.7 + 1) / 6,
)


class Questioner:
    """Asks ``cat?`` about ``cat``."""

    identity = "questioner"

    def __init__(self):
        self.asked = []

    def write(self, prompts, *, watched="", progress=False):
        self.asked.append(list(prompts))
        assert not watched
        assert all(prompt[0] == PREFIX and prompt[1] in prompt[2] for prompt in prompts)
        return [Written(f"{prompt[1]}?", math.nan, 9, 9) for prompt in prompts]


class Answerer:
    """Answers what the table says."""

    identity = "answerer"

    def __init__(self, tokens=9):
        self.asked, self.tokens = [], tokens

    def write(self, prompts, *, watched="", progress=False):
        self.asked.append(list(prompts))
        assert watched == UNANSWERABLE
        return [Written(*TOLD[prompt], self.tokens, min(self.tokens, 512)) for prompt in prompts]


def metric(words="", **options):
    given = {
        "questioner": Questioner(),
        "answerer": Answerer(),
        "candidates": Candidates("listed", lambda text: [one for one in ABOUT if one in text]),
    }
    return QuestEval(words, **(given | options))


def item(output, *against, language="en"):
    return (Request(output, against, against[0], "", language),)


def answers(made, *units):
    return [score for unit in made.score(list(units)) for score in unit]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("", 2 * PRECISION * RECALL / (PRECISION + RECALL)),
        ("precision", PRECISION),
        ("recall", RECALL),
        ("released-0.1", sum(RELEASED) / 2),
        ("released-0.1+precision", RELEASED[0]),
        ("recall+released-0.1", RELEASED[1]),
    ],
)
def test_values_are_those_worked_out_by_hand(words, value):
    [found] = answers(metric(words), item(OUTPUT, SOURCE))
    assert found.status is Status.OK
    assert found.value == pytest.approx(value)


class Alike(BatchedMetric):
    """One where the last characters agree, else a half."""

    name = "alike"

    def pairs(self, pairs):
        assert len(set(pairs)) == len(pairs)
        assert all(text.strip() for pair in pairs for text in pair)
        return [1.0 if a[-1] == b[-1] else Score(0.5) for a, b in pairs]


def test_the_released_rule_compares_answers_by_a_third_model_as_well():
    """Only "Berlin" and "unanswerable" end differently."""
    [found] = answers(metric("released", alike=Alike()), item(OUTPUT, SOURCE))
    precision, recall = (6 * RELEASED[0] + 2.5) / 9, (6 * RELEASED[1] + 3) / 9
    assert found.value == pytest.approx((precision + recall) / 2)


def test_an_empty_answer_is_like_nothing(monkeypatch):
    monkeypatch.setitem(TOLD, ("cat?", OUTPUT), (" ", 0.0))
    [found] = answers(metric("released+recall", alike=Alike()), item(OUTPUT, SOURCE))
    assert found.value == pytest.approx((6 * RELEASED[1] - 1 + 2) / 9)


def test_the_detail_says_both_sides_and_how_many_questions():
    [found] = answers(metric(), item(OUTPUT, SOURCE))
    assert found.detail == "precision 0.556 (3 asked); recall 0.733 (3 asked)"


def test_filtered_drops_questions_that_fail_on_their_own_text():
    """``mat?`` is not asked of the source; ``Berlin?`` gets "near Berlin" from the output."""
    [found] = answers(metric("filtered"), item(OUTPUT, SOURCE))
    precision, recall = (1 + 2 / 3) / 2, (1.0 + 0.5) / 2
    assert found.value == pytest.approx(2 * precision * recall / (precision + recall))
    assert found.detail.count("(2 asked)") == 2


def test_a_text_without_anything_to_ask_about_counts_nothing():
    [found] = answers(metric("released", alike=Alike()), item("so nice", "so kind"))
    assert found == (0, Status.OK, found.detail)
    assert found.detail.count("no question could be asked") == 2


def test_each_question_is_written_and_asked_once_however_often_texts_repeat():
    made = metric()
    units = [item(OUTPUT, SOURCE), item(OUTPUT, SOURCE), item(SOURCE, SOURCE)]
    found = answers(made, *units)
    assert found[0] == found[1] != found[2]
    written = [prompt for batch in made._given["qg"].asked for prompt in batch]
    told = [prompt for batch in made._given["qa"].asked for prompt in batch]
    assert len(written) == len(set(written)) == 6
    assert len(told) == len(set(told))
    answers(made, item(SOURCE, OUTPUT))
    later = [prompt for batch in made._given["qg"].asked for prompt in batch]
    assert later == written, "questions of a text are remembered"


def test_of_several_references_the_best_counts():
    [found] = answers(metric("precision"), item(OUTPUT, "so kind", SOURCE))
    assert found.value == pytest.approx(PRECISION)


def test_blank_texts_are_empty_and_other_languages_refused():
    found = answers(metric(), item(" ", SOURCE), item(OUTPUT, SOURCE, language="hi"))
    assert [one.status for one in found] == [Status.EMPTY, Status.REFUSED]
    assert found[0].value == 0


def test_a_prompt_beyond_the_window_is_truncated_and_says_so():
    [found] = answers(metric(answerer=Answerer(tokens=700)), item(OUTPUT, SOURCE))
    assert found.status is Status.TRUNCATED
    assert found.detail.startswith("700 tokens, first 512 used; precision 0.556")


def test_one_text_that_breaks_a_model_costs_only_itself():
    found = answers(metric(), item(OUTPUT, SOURCE), item("a mat", "a cat"), item(OUTPUT, SOURCE))
    assert [one.status for one in found] == [Status.OK, Status.ERROR, Status.OK]


ROW = {"source_id": "a", "source": SOURCE, "output": OUTPUT, "style": "formal"}


def test_what_was_asked_is_kept_and_read_back_worst_first(tmp_path):
    made = metric()
    scoring.score(scored.dataset(ROW), [made], bases=["source"], store=tmp_path, progress=False)
    table = metric("released-0.1").kept(tmp_path, SOURCE, OUTPUT)
    assert table["side"].value_counts().to_dict() == {"precision": 3, "recall": 3}
    worst = table.iloc[0]
    assert (worst["question"], worst["expected"], worst["found"]) == (
        *("Berlin?", "Berlin"),
        "unanswerable",
    )
    assert worst["f1"] == 0
    assert worst["answerable"] == pytest.approx(0.3)
    assert metric("filtered").kept(tmp_path).empty, "another question set has another file"


def test_a_second_run_asks_nothing_and_finds_what_the_first_kept(tmp_path):
    first = metric()
    tables = []
    for made in (first, metric()):
        tables.append(
            scoring.score(
                scored.dataset(ROW), [made], bases=["source"], store=tmp_path, progress=False
            )
        )
    assert made._given["qa"].asked == []
    assert tables[0].equals(tables[1])
    assert len(made.kept(tmp_path)) == 6


@pytest.mark.parametrize("word", ["", "released", "precision", "beam", "filtered"])
def test_a_signature_names_all_that_changes_a_value(word):
    said = str(QuestEval(word).signature("source"))
    for part in ("questions:ThomasNLG/t5-qg_squad1-en@", "about:rule-1,5 sentences", "prefix:sv1"):
        assert part in said
    assert "window:512 new:19" in said
    assert not word or said != str(QuestEval().signature("source"))


def test_the_place_of_a_model_does_not_change_its_signature(folders, tmp_path):
    other = tiny_text.folder(tmp_path / folders[0].name, tiny_text.t5(0))
    made = [QuestEval(f"qg={folder}+qa={folders[1]}") for folder in (folders[0], other)]
    assert made[0].signature("source") == made[1].signature("source")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    return [tiny_text.folder(place / use, tiny_text.t5(seed)) for seed, use in enumerate("ga")]


TEXTS = [
    ("The soup was cold and the waiter rude.", "The waiter sold the cold soup."),
    ("We were told that the train would leave at six.", "The train leaves before noon, in Köln."),
    ("The baker opened the shop.", "Great shop!"),
]


def test_two_models_are_named_by_words(folders):
    made = metrics.get(f"questeval:released-0.1+qg={folders[0]}+qa={folders[1]}")
    assert made.missing == ""
    assert "questions:g@" in str(made.signature("source"))
    assert "answers:a@" in str(made.signature("source"))
    found = answers(made, *(item(output, source) for source, output in TEXTS))
    assert {one.status for one in found} == {Status.OK}
    assert all(0 < one.value < 1 for one in found)


def test_batch_and_order_do_not_change_a_score_of_tiny_models():
    def tiny():
        return QuestEval(
            "released-0.1",
            questioner=Seq2Seq(*tiny_text.t5(0), "g", new_tokens=6),
            answerer=Seq2Seq(*tiny_text.t5(1), "a", new_tokens=6),
        )

    units = [item(output, source) for source, output in TEXTS]
    alone = [answers(tiny(), unit)[0].value for unit in units]
    back = [one.value for one in answers(tiny(), *units[::-1])][::-1]
    assert back == pytest.approx(alone, abs=1e-5)
    assert len({round(value, 7) for value in alone}) == 3


def test_an_empty_and_a_very_long_text_harm_nobody():
    made = QuestEval(
        questioner=Seq2Seq(*tiny_text.t5(0), "g", new_tokens=4),
        answerer=Seq2Seq(*tiny_text.t5(1), "a", new_tokens=4),
    )
    long = "the last loaf, " * 3333 + "sold."
    found = answers(made, item("", "x"), item(long, TEXTS[0][0]), item(*TEXTS[0]))
    assert [one.status for one in found] == [Status.EMPTY, Status.TRUNCATED, Status.OK]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "ThomasNLG/t5-qg_squad1-en is not here, and upstream's weights are pickles"),
        ("", "ThomasNLG/t5-qa_squad2neg-en is not here"),
        ("qg=owner/model", "hf download owner/model"),
        ("", "name the folder: questeval:qg=FOLDER+qa=FOLDER"),
        ("spacy", "pip install spacy"),
        ("released", "google-bert/bert-base-multilingual-cased is not here"),
    ],
)
def test_without_models_or_parser_the_row_says_what_to_do(words, said, monkeypatch):
    monkeypatch.setattr("tstmeta.metrics.candidates.PARSER", "no_such_parser")
    made = QuestEval(words)
    assert said in made.missing
    [found] = answers(made, item(OUTPUT, SOURCE))
    assert (found.status, found.detail) == (Status.ERROR, made.missing)
    assert str(made.signature("source"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nothing", "'nothing' names no option and no model"),
        ("owner/model", "say which: qg=owner/model or qa=owner/model"),
        ("released+equation", "two words of the kind rule"),
        ("qg=a/b+qg=a/c", "names two models as qg; write qg=FOLDER"),
        ("qa=", "'qa=' names none"),
        ("qa=nowhere", "'nowhere' names no option and no model"),
    ],
)
def test_words_that_name_nothing_or_too_much_are_refused(words, said):
    with pytest.raises(TstmetaError, match=said.replace("?", r"\?")):
        QuestEval(words)


def test_variants_are_listed():
    assert {"questeval", "questeval:released", "questeval:recall"} <= set(metrics.names())
