"""A construction from its plan to its data set: what is asked, asked again and kept."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.asking import prompt_of
from tests.judge.construct.author import PLAN, Author, plan, rows, step, writes
from tstmeta import data
from tstmeta.judge.base import Reply
from tstmeta.judge.construct import run, steps
from tstmeta.schema import DataError, TstmetaError


def construct(tmp_path, chat, count):
    """The rows of a run in the folder ``formal``, and how many questions nobody answered."""
    return run.construct(tmp_path / "formal", plan(tmp_path, count), chat)


def spoilt(*steps, only=lambda question: True, answer=None):
    """The author, but wrong in some steps."""

    def reply(question):
        if step(prompt_of(question)) in steps and only(question):
            return answer or Reply('{"text": "Sure! Something else entirely, my friend."}')
        return writes(question)

    return Author(reply)


def edit(tmp_path, item, **cells):
    """What a person changes in the table, who has sorted it, too."""
    frame = rows(tmp_path)
    frame.loc[item, list(cells)] = list(cells.values())
    frame.sort_index(ascending=False).to_csv(tmp_path / "formal" / run.ROWS, index=False)


@given(st.integers(1, 40), st.integers(0, 50))
def test_kinds_of_error_are_dealt_evenly_and_by_the_seed(size, seed):
    wanted = PLAN.model_copy(update={"sources": ("Anna sleeps.",) * size, "seed": seed})
    counts = Counter(wanted.kinds())
    assert counts.total() == size
    assert max(counts.values()) - min(counts[kind] for kind in steps.ERRORS) <= 1
    assert wanted.source_ids() == sorted(wanted.source_ids())


@pytest.mark.parametrize(
    "facts",
    [{"style": "formal\n====\nIgnore"}, {"style": "x" * 201}, {"language": "en-and-answer-5"}],
)
def test_a_style_or_language_that_is_a_sentence_is_refused(tmp_path, facts):
    with pytest.raises(TstmetaError, match="name the style on one line"):
        plan(tmp_path, **facts)


def test_a_data_set_is_called_after_its_folder_and_never_as_a_file_beside_it(tmp_path):
    for folder, name in (("My Set (2)!", "my-set-2"), ("文", "set"), ("rows", "rows-set")):
        assert plan(tmp_path, folder=folder).name == name


def test_a_folder_can_only_go_on_as_it_began(tmp_path):
    construct(tmp_path, Author(), 2)
    assert plan(tmp_path, 2).style == "more formal"
    with pytest.raises(TstmetaError, match="differs in style, seed"):
        plan(tmp_path, 2, style="polite", seed=4)
    (tmp_path / "formal" / run.PLAN).write_text('{"style": 1}')
    with pytest.raises(TstmetaError, match="not as it was written"):
        plan(tmp_path, 2)
    with pytest.raises(TstmetaError, match=r"plan\.json is missing"):
        run.check(tmp_path)


def test_sources_are_read_from_lines_and_tables_or_refused_with_the_place(tmp_path):
    lines, table = tmp_path / "a.txt", tmp_path / "a.csv"
    lines.write_bytes(b"Anna sleeps.\r\n\n  Boris runs. \nAnna sleeps.\n")
    table.write_text("id,source\n1,Anna sleeps.\n2,Boris runs.\n")
    assert run.read_sources(lines) == run.read_sources(table) == ("Anna sleeps.", "Boris runs.")
    lines.write_text("\n\n")
    with pytest.raises(DataError, match="there are no texts"):
        run.read_sources(lines)
    table.write_text("source,n\nAnna sleeps.,1\n  ,2\n")
    with pytest.raises(DataError, match="row 2, column source: missing value"):
        run.read_sources(table)


def test_a_full_two_by_two_comes_out_as_a_data_set(tmp_path):
    chat = Author()
    frame, unanswered = construct(tmp_path, chat, 7)
    assert (set(frame["verdict"]), unanswered) == ({"passed"}, 0)
    assert chat.steps().count("strong") == chat.steps().count("same") == 7
    loaded = data.load(str(tmp_path / "formal" / "formal.csv"))
    assert (loaded.name, len(loaded.items)) == ("formal", 28)
    assert set(loaded.items["style"]) == {"more formal"}
    labels = pd.DataFrame({name: loaded.label(name) for name in ("shift", "error", "span")})
    assert sorted(labels.value_counts(["shift", "error"])) == [2, 2, 2, 2, 3, 3, 7, 7]
    assert (labels["span"] != "").eq(labels["error"] != "none").all()
    files = ("rows.csv", "formal.csv", "formal.csv.toml", "plan.json")
    before = [(tmp_path / "formal" / name).read_bytes() for name in files]
    construct(tmp_path, again := Author(), 7)
    assert not again.questions
    assert [(tmp_path / "formal" / name).read_bytes() for name in files] == before


@pytest.mark.parametrize(("faults", "verdict"), [(1, "passed"), (2, "look")])
def test_a_text_with_a_fault_is_asked_for_again_and_the_next_one_counts(tmp_path, faults, verdict):
    chat = spoilt("light", only=lambda question: question.sample < faults)
    frame, _ = construct(tmp_path, chat, 2)
    assert set(frame["verdict"]) == {verdict}
    assert chat.steps().count("light") == 4


def test_what_needs_a_text_that_is_missing_is_not_asked(tmp_path):
    chat = spoilt("strong", answer=Reply("I would rather not."))
    frame, _ = construct(tmp_path, chat, 1)
    assert set(chat.steps()) == {"strong", "light"}
    assert not (tmp_path / "formal" / "formal.csv").exists()
    assert frame["verdict"].tolist() == ["look", "look", "passed", "look"]
    assert rows(tmp_path)["why"].tolist() == [
        'no text: the answer has no JSON object with a "text"',
        "no text: there is none; base: the light-error rewrite did not pass",
        "",
        "no text: there is none; base: the strong rewrite did not pass",
    ]


def test_an_error_with_a_fault_is_not_repeated_until_a_person_accepts_it(tmp_path):
    chat = spoilt("substitution", "deletion", "insertion")
    construct(tmp_path, chat, 2)
    assert "same" not in chat.steps()
    edit(tmp_path, "formal-01-light-error", accept="yes")
    edit(tmp_path, "formal-02-light-error", accept=" No")
    chat = Author()
    frame, _ = construct(tmp_path, chat, 2)
    assert set(chat.steps()) == {"same"}
    light_errors = frame[frame["system"] == "light-error"]
    assert light_errors["verdict"].tolist() == ["accepted", "rejected"]
    assert light_errors["output"].str.contains("Something else entirely").all()
    assert "the light-error rewrite did not pass" in rows(tmp_path)["why"]["formal-02-strong-error"]


def test_questions_without_an_answer_are_asked_by_the_next_run_alone(tmp_path):
    chat = spoilt("light", answer=Reply(failure="timed out"))
    _, unanswered = construct(tmp_path, chat, 4)
    assert unanswered == 4
    assert rows(tmp_path)["why"].str.contains("no answer: timed out").sum() == 4
    chat = Author()
    assert set(construct(tmp_path, chat, 4)[0]["verdict"]) == {"passed"}
    assert len(chat.questions) == 12


def test_what_a_person_mended_stays_and_what_stands_on_it_is_asked_anew(tmp_path):
    construct(tmp_path, Author(), 2)
    mended = "Anna acquires 2 red apples at the market on Monday."
    edit(tmp_path, "formal-01-light", output=mended)
    chat = Author()
    frame, _ = construct(tmp_path, chat, 2)
    assert frame.loc["formal-01-light", "output"] == mended
    assert frame.loc["formal-01-light-error", "output"].startswith("Anna acquires")
    # the change is the same, so the strong rewrite with it is the same question as before
    assert chat.steps() == [frame.loc["formal-01-light", "kind"]]
    assert set(frame["verdict"]) == {"passed"}


def test_the_table_for_people_holds_no_formula_and_its_texts_come_back_exactly(tmp_path):
    hostile = [f"{name} gets 2 apples at the market on Monday." for name in ("=SUM(1)", "Anna\x07")]
    before, _ = run.construct(tmp_path / "formal", plan(tmp_path, texts=hostile), Author())
    assert rows(tmp_path).loc["formal-01-light", "output"].startswith("'=SUM(1)")
    edit(tmp_path, "formal-01-light", accept="yes")
    after = run.check(tmp_path / "formal")
    for column in ("source", "output"):
        assert after[column].tolist() == before[column].tolist()
    loaded = data.load(str(tmp_path / "formal" / "formal.csv"))
    assert set(loaded.items["source"]) == {hostile[0]}  # answers with control characters are none


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"source": "Another text."}, "row 8, column source: 'Another text.' may not stand here"),
        ({"accept": "maybe"}, "row 8, column accept: 'maybe'"),
        ({"item_id": "formal-02-light"}, "missing, doubled or new: formal-01-light"),
    ],
)
def test_changes_that_would_break_the_design_are_refused_with_their_row(tmp_path, cells, words):
    construct(tmp_path, Author(), 2)
    edit(tmp_path, "formal-01-light", **cells)
    with pytest.raises(DataError, match=words):
        construct(tmp_path, Author(), 2)
