"""A construction from its plan to its rows: what is asked, asked again and kept."""

import json
from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from filelock import FileLock

from tests.judge.construct import author
from tests.judge.construct.author import Author, asked_of, step, wanted, writes
from tstmeta import data
from tstmeta.judge.base import Reply
from tstmeta.judge.budget import Budget
from tstmeta.judge.construct import export, run, table
from tstmeta.schema import DataError, TstmetaError


def made(tmp_path, chat, count=6, **more):
    """A run in the folder ``formal``."""
    options = {name: more.pop(name) for name in ("tries", "budget") if name in more}
    plan = more.pop("plan", None) or wanted(tmp_path, count, **more)
    return run.construct(tmp_path / "formal", plan, chat, **options)


def spoilt(*steps, only=lambda question: True, answer=None):
    """The author, but wrong in some steps."""

    def reply(question):
        if step(asked_of(question)) in steps and only(question):
            return answer or Reply('{"text": "Sure! Something else entirely, my friend."}')
        return writes(question)

    return Author(reply)


def rows(tmp_path):
    return pd.read_csv(tmp_path / "formal" / table.FILE, dtype=str, keep_default_na=False)


def edit(tmp_path, item, **cells):
    """What a person changes in the table."""
    frame = rows(tmp_path).set_index("item_id", drop=False)
    for name, value in cells.items():
        frame.loc[item, name] = value
    frame.to_csv(tmp_path / "formal" / table.FILE, index=False)


def journal(tmp_path):
    text = (tmp_path / "formal" / "journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def states(built):
    return Counter(verdict.state for verdict in built.found.values())


# ------------------------------------------------------------------------------------ it is made


@pytest.mark.parametrize("generate", [False, True])
def test_a_full_two_by_two_comes_out_as_a_data_set(tmp_path, generate):
    built = made(tmp_path, Author(), 7, generate=generate)
    assert states(built) == {"passed": 28}
    loaded = data.load(str(tmp_path / "formal" / "formal.csv"))
    assert (loaded.name, len(loaded.items)) == ("formal", 28)
    assert loaded.items.groupby("source_id")["system"].apply(set).map(len).eq(4).all()
    assert set(loaded.items["style"]) == {"more formal"}
    labels = pd.DataFrame({name: loaded.label(name) for name in ("shift", "error", "span")})
    assert Counter(labels["shift"]) == {"strong": 14, "light": 14}
    counts = Counter(labels["error"])
    assert counts.pop("none") == 14
    assert sorted(counts.values()) == [4, 4, 6]
    assert (labels["span"] != "").eq(labels["error"] != "none").all()
    card = (tmp_path / "formal" / "CARD.md").read_text()
    assert "28 passed" in card
    assert "`author` at http://author.example/v1" in card
    assert ("asked of the model, 7" if generate else "texts.txt, 7 texts, sha256") in card


def test_each_step_is_asked_once_and_kept_with_all_that_decided_it(tmp_path):
    chat = Author()
    made(tmp_path, chat)
    errors = ["deletion"] * 2 + ["insertion"] * 2 + ["substitution"] * 2
    assert chat.steps() == sorted(["strong", "light", "same"] * 6 + errors)
    lines = journal(tmp_path)
    assert len(lines) == 24
    by = Counter(line["step"] for line in lines)
    assert by == dict.fromkeys(("strong", "light", "light-error", "strong-error"), 6)
    one = lines[0]
    assert (one["source_id"], one["step"], one["attempt"]) == ("formal-01", "strong", 0)
    assert (one["server"], one["model"]) == ("http://author.example/v1", "author")
    assert one["question"]["sampling"]["seed"] == 3
    assert author.source(0) in one["question"]["messages"][1][1]
    assert json.loads(one["reply"]["text"])["text"] == one["texts"][0]
    assert len(one["prompt_hash"]) == 12
    assert len({line["key"] for line in lines}) == 24


def test_the_model_is_shown_what_it_wrote_and_asked_for_the_rest(tmp_path):
    chat = Author()
    built = made(tmp_path, chat, 23, generate=True)
    rounds = [asked_of(one) for one in chat.asked if step(asked_of(one)) == "source"]
    assert [len(author.texts(one)) if "====" in one else 0 for one in rounds] == [0, 10, 20]
    assert built.missing == 0
    assert len({row.source for row in built.rows}) == 23


def test_a_model_that_repeats_itself_is_not_asked_for_ever(tmp_path):
    again = Reply(json.dumps({"texts": [author.source(0), author.source(0).upper()]}))
    built = made(tmp_path, spoilt("source", answer=again), 5, generate=True)
    assert built.missing == 4
    assert states(built) == {"passed": 4}
    assert sum(line["step"] == "source" for line in journal(tmp_path)) == 4


def test_a_model_that_writes_no_source_leaves_an_empty_table(tmp_path):
    built = made(tmp_path, spoilt("source", answer=Reply("no")), 5, generate=True)
    assert (built.missing, built.rows) == (5, [])
    assert len(rows(tmp_path)) == 0
    assert export.check(tmp_path / "formal") == {}
    assert made(tmp_path, Author(), 5, generate=True).missing == 5  # what it said is kept


# ------------------------------------------------------------------------- faults become reasons


def test_a_text_with_a_fault_is_asked_for_again_and_the_next_one_counts(tmp_path):
    chat = spoilt("light", only=lambda question: question.sample == 0)
    built = made(tmp_path, chat, 2)
    assert states(built) == {"passed": 8}
    assert chat.steps().count("light") == 4
    chat = spoilt("light", only=lambda question: question.sample == 0)
    built = made(tmp_path / "once", chat, 2, tries=1)
    assert chat.steps().count("light") == 2
    assert states(built) == {"look": 8}


@pytest.mark.parametrize(
    ("spoiler", "cell", "check"),
    [
        (spoilt("light"), "light", "talk"),
        (spoilt("strong", answer=Reply(refusal="no")), "strong", "no text"),
        (spoilt("substitution", "deletion", "insertion"), "light-error", "talk"),
        (spoilt("same", answer=Reply("rubbish")), "strong-error", "no text"),
        (spoilt("same", answer=Reply("", finish="length")), "strong-error", "no text"),
    ],
    ids=["talk", "refused", "error", "rubbish", "empty"],
)
def test_a_fault_that_stays_is_a_row_with_its_reason_and_is_in_no_data_set(
    tmp_path, spoiler, cell, check
):
    built = made(tmp_path, spoiler, 3)
    wrong = rows(tmp_path).query("system == @cell")
    assert set(wrong["verdict"]) == {"look"}
    assert wrong["why"].str.contains(check).all()
    assert states(built)["look"] >= 3
    assert not (tmp_path / "formal" / "formal.csv").exists()
    assert "| check | rows that wait |" in (tmp_path / "formal" / "CARD.md").read_text()


def test_what_needs_a_text_that_is_not_there_is_not_asked(tmp_path):
    chat = spoilt("strong", answer=Reply("I would rather not."))
    built = made(tmp_path, chat, 2)
    assert set(chat.steps()) == {"strong", "light"}
    notes = {row.cell: row.note for row in built.rows}
    assert notes["light-error"] == "not asked: there is no strong rewrite"
    assert notes["strong"] == "the answer has no JSON"


def test_an_error_with_a_fault_is_not_repeated_in_the_strong_rewrite(tmp_path):
    chat = spoilt("substitution", "deletion", "insertion")
    built = made(tmp_path, chat, 2)
    assert "same" not in chat.steps()
    notes = {row.item_id: row.note for row in built.rows}
    assert notes["formal-01-strong-error"] == (
        "not asked: the light rewrite has no error to repeat"
    )
    edit(tmp_path, "formal-01-light-error", accept="yes")
    chat = Author()
    made(tmp_path, chat, 2, tries=1)
    assert chat.steps() == ["same"]


def test_faulty_sources_are_rows_and_cost_nothing(tmp_path):
    plan = wanted(tmp_path, 2)
    texts = (*plan.sources, plan.sources[0], "Too short.")
    chat = Author()
    built = made(tmp_path, chat, plan=replace(plan, sources=texts))
    assert states(built) == {"passed": 8, "look": 8}
    assert len(chat.asked) == 8
    assert (
        rows(tmp_path)["why"].str.contains("source: duplicate: the same text as formal-01").sum()
        == 4
    )


# --------------------------------------------------------------------------- nothing asked twice


def test_the_same_run_again_asks_nothing_and_changes_no_byte(tmp_path):
    made(tmp_path, Author())
    before = {path.name: path.read_bytes() for path in (tmp_path / "formal").glob("*.*[!e]")}
    chat = Author()
    made(tmp_path, chat)
    assert not chat.asked
    after = {path.name: path.read_bytes() for path in (tmp_path / "formal").glob("*.*[!e]")}
    assert before == after
    assert {"rows.csv", "formal.csv", "journal.jsonl", "CARD.md", "plan.json"} <= set(before)


def test_a_run_that_broke_off_asks_only_for_what_nobody_answered(tmp_path):
    class Off(Exception):
        pass

    def breaks(question):
        if len(first.asked) == 9:
            raise Off
        return writes(question)

    first, second = Author(breaks), Author()
    with pytest.raises(Off):
        made(tmp_path, first, 4)
    built = made(tmp_path, second, 4)
    assert states(built) == {"passed": 16}
    heard = [one.key("s", "m") for one in first.asked[:8] + second.asked]
    assert len(set(heard)) == len(heard) == 16


def test_a_budget_ends_a_run_and_the_next_one_goes_on(tmp_path):
    built = made(tmp_path, Author(), 4, budget=Budget(requests=6))
    assert built.unanswered == 5  # two rewrites, and the errors that could be asked for
    assert states(built)["look"] > 0
    assert rows(tmp_path)["why"].str.contains("no answer: budget").sum() == 5
    assert sum(bool(line["reply"]["failure"]) for line in journal(tmp_path)) == 5
    chat = Author()
    assert states(made(tmp_path, chat, 4)) == {"passed": 16}
    assert len(chat.asked) == 10
    assert not any(line["reply"]["failure"] for line in journal(tmp_path))


def test_two_runs_in_one_folder_are_refused(tmp_path):
    (tmp_path / "formal").mkdir()
    with FileLock(tmp_path / "formal" / ".lock"), pytest.raises(TstmetaError, match="another run"):
        made(tmp_path, Author())


def test_another_plan_in_the_same_folder_is_refused(tmp_path):
    made(tmp_path, Author())
    with pytest.raises(TstmetaError, match="differs in style"):
        made(tmp_path, Author(), setting=replace(author.SETTING, style="polite"))


# -------------------------------------------------------------------------------- what it costs


def test_a_dry_run_foretells_a_smooth_run_and_asks_nothing(tmp_path):
    for generate, count, requests in ((False, 5, 20), (True, 25, 3 + 100)):
        folder = tmp_path / str(generate)
        plan, chat = wanted(folder, count, generate=generate), Author()
        told = run.foretold(folder / "formal", plan, chat)
        assert (told.requests, told.kept) == (requests, 0)
        assert not chat.asked
        assert not (folder / "formal").exists()
        made(folder, chat, plan=plan)
        assert len(chat.asked) == requests
        assert run.foretold(folder / "formal", plan, chat)[:2] == (0, requests)


def test_a_dry_run_counts_what_is_kept(tmp_path):
    made(tmp_path, Author(), 4, budget=Budget(requests=6))
    told = run.foretold(tmp_path / "formal", wanted(tmp_path, 4), Author())
    assert (told.requests, told.kept) == (10, 6)


# ------------------------------------------------------------------------------ a person's hand


def test_what_a_person_mended_stays_and_what_stands_on_it_is_made_anew(tmp_path):
    made(tmp_path, Author(), 2, errors=("substitution",))
    mended = "Anna acquires 2 red apples at the market on Monday."
    edit(tmp_path, "formal-01-light", output=mended)
    chat = Author()
    built = made(tmp_path, chat, 2, errors=("substitution",))
    text = {row.item_id: row.output for row in built.rows}
    assert text["formal-01-light"] == mended
    assert text["formal-01-light-error"] == mended.replace("Monday", "Friday")
    # the change is the same, so the strong rewrite with it is the same question as before
    assert chat.steps() == ["substitution"]
    assert states(built) == {"passed": 8}


def test_what_a_person_accepted_or_rejected_is_not_asked_for_again(tmp_path):
    wrong = spoilt("light", only=lambda question: author.source(0) in asked_of(question))
    made(tmp_path, wrong, 2)
    edit(tmp_path, "formal-01-light", accept="yes")
    edit(tmp_path, "formal-02-light", accept="no")
    chat = Author()
    built = made(tmp_path, chat, 2, tries=5)
    found = {key: verdict.state for key, verdict in built.found.items()}
    assert found["formal-01", "light"] == "accepted"
    assert found["formal-02", "light"] == "rejected"
    assert "light" not in chat.steps()
    notes = {row.item_id: row.note for row in built.rows}
    assert notes["formal-02-light-error"] == "not asked: the light rewrite is rejected"
    assert (
        "Something else entirely"
        in rows(tmp_path).set_index("item_id")["output"]["formal-01-light"]
    )


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"source": "Another text."}, "the source is another one than was rewritten"),
        ({"accept": "maybe"}, "'maybe' is neither yes nor no"),
        ({"system": "weak"}, "no cell of the design"),
        ({"kind": "typo"}, "another source or kind"),
        ({"source_id": "formal-07"}, "another id"),
    ],
)
def test_changes_that_would_break_the_design_are_told_with_their_row(tmp_path, cells, said):
    made(tmp_path, Author(), 2)
    edit(tmp_path, "formal-01-light", **cells)
    with pytest.raises(DataError, match=said) as told:
        made(tmp_path, Author(), 2)
    assert "rows.csv, row " in str(told.value)


def test_rows_that_were_taken_out_or_doubled_are_told(tmp_path):
    made(tmp_path, Author(), 2)
    whole = rows(tmp_path)
    for frame, said in (
        (whole.iloc[1:], "there is no strong rewrite of formal-01"),
        (pd.concat([whole, whole.iloc[:1]]), "more than once"),
    ):
        frame.to_csv(tmp_path / "formal" / table.FILE, index=False)
        with pytest.raises(DataError, match=said):
            table.read(tmp_path / "formal")


def test_a_persons_work_is_not_laid_over_other_sources(tmp_path):
    made(tmp_path, Author(), 3, generate=True)
    edit(tmp_path, "formal-03-light", accept="yes")
    (tmp_path / "formal" / "answers.sqlite").unlink()
    before = (tmp_path / "formal" / "rows.csv").read_bytes()
    for answer in ({"texts": ["Boris reads nine books."]}, {"texts": ["No books."] * 3}):
        with pytest.raises(TstmetaError, match="about another source formal-03"):
            made(tmp_path, spoilt("source", answer=Reply(json.dumps(answer))), 3, generate=True)
    assert (tmp_path / "formal" / "rows.csv").read_bytes() == before


def test_what_a_person_changes_while_answers_come_is_not_written_over(tmp_path):
    made(tmp_path, Author(), 2, budget=Budget(requests=3))

    def meanwhile(question):
        edit(tmp_path, "formal-01-light", accept="yes")
        return writes(question)

    with pytest.raises(TstmetaError, match="was changed while the answers came"):
        made(tmp_path, Author(meanwhile), 2)
    assert rows(tmp_path).set_index("item_id")["accept"]["formal-01-light"] == "yes"
    chat = Author()
    assert states(made(tmp_path, chat, 2)) == {"passed": 8}
    assert not chat.asked


def test_a_journal_that_is_broken_is_told_and_nothing_is_lost(tmp_path):
    made(tmp_path, Author(), 2)
    path = tmp_path / "formal" / "journal.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-20])
    with pytest.raises(TstmetaError, match="move it away"):
        made(tmp_path, Author(), 2)
    path.unlink()
    chat = Author()
    made(tmp_path, chat, 2)
    assert not chat.asked
    assert path.read_text() == whole
