"""Checks of rewrites: small cases, a set that people wrote, anything at all; and the verdicts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.construct.author import PLAN, repeat
from tstmeta import data
from tstmeta.judge.construct import checks
from tstmeta.judge.construct.run import begin

SOURCE = "Anna gets 2 red apples at the market on Monday."
STRONG = "It is a pleasure to report that Anna obtains 2 red apples at the market on Monday."
LIGHT = "Anna obtains 2 red apples at the market on Monday."


@pytest.mark.parametrize(
    ("check", "text", "source", "part"),
    [
        ("talk", "Here is the rewritten text: Anna obtains apples.", SOURCE, "Here is"),
        ("talk", "Anna obtains apples. I have kept the facts.", SOURCE, "I have kept the"),
        ("talk", "Voici la version :\n« Anna obtient des pommes. »", SOURCE, "Voici la version"),
        ("talk", "Health revolution: new campaign begins!", SOURCE, ""),
        ("talk", "Sure, I can come on Monday.", "Sure, I can come.", ""),
        ("talk", "I’m sorry, but I can’t do it.", "I'm sorry, but I can't.", ""),
        ("talk", "As an AI language model, I have no opinion.", SOURCE, "an AI"),
        ("talk", "I am sorry, I missed the train.", SOURCE, ""),
        ("fence", "Anna ===== Boris", SOURCE, "====="),
        ("fence", "Anna ===== Boris", "so =====", ""),
    ],
)
def test_a_text_is_doubted_for_what_its_source_does_not_have(check, text, source, part):
    why = checks.text_faults(text, source).get(check, "")
    assert part in why
    assert bool(part) == bool(why)


@pytest.mark.parametrize(
    ("count", "of_source", "fine"), [(1, 6, True), (1, 7, False), (60, 20, True), (61, 20, False)]
)
def test_a_length_is_judged_by_ratio_and_by_some_words_of_slack(count, of_source, fine):
    assert (checks.length("x " * count, "y " * of_source) == "") is fine


@pytest.mark.parametrize(
    ("wrong", "kind", "reason"),
    [
        ("Anna gets 3 red apples at the market on Monday.", "substitution", ""),
        ("Anna gets 2 red apples at the market in Hull on Monday.", "insertion", ""),
        ("Anna gets 2 red apples at the market.", "substitution", "a deletion where"),
        (SOURCE, "deletion", "no deletion: no word differs"),
        ("Anna gets 3 red apples at the market on Friday.", "substitution", "in 2 places"),
        ("Anna gets apples.", "deletion", "8 words in a row"),
    ],
)
def test_an_error_is_there_of_its_kind_and_the_only_one(wrong, kind, reason):
    why = checks.error(SOURCE, wrong, kind)
    assert reason in why
    assert bool(reason) == bool(why)


def test_few_rows_of_a_set_that_people_wrote_would_go_to_a_person_and_no_error_would():
    loaded = data.load("contrast")
    errors, findings = loaded.label("error"), []
    for _, four in loaded.items.groupby("source_id"):
        row = four.set_index("system")
        source, texts = row["source"].iloc[0], dict(row["output"])
        kind = errors[row.loc["light-error", "item_id"]]
        findings += [checks.text_faults(text, source) for text in texts.values()]
        findings += [checks.design_faults(cell, texts, source, kind) for cell in checks.CELLS]
    doubted = Counter(check for faults in findings for check, why in faults.items() if why)
    assert doubted == {"length": 3, "shift": 6, "same error": 39}


SIGNS = st.sampled_from(["Anna", "gets", "two", "on", "Monday", ":", "=", "<|", "\n", "é", "я"])
TEXTS = st.text(max_size=60) | st.lists(SIGNS, max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_no_text_makes_a_check_raise(text, source):
    reasons = [checks.source_length(text), *checks.text_faults(text, source).values()]
    assert all(isinstance(why, str) for why in reasons)


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=7)


@given(WORDS, st.integers(0, 7), st.integers(0, 3), st.lists(st.sampled_from("xyz"), max_size=3))
def test_one_edit_with_new_words_is_one_place(kept, start, taken, added):
    start = min(start, len(kept))
    wrong = kept[:start] + added + kept[start + taken :]
    if wrong == kept:
        return
    assert checks.places(" ".join(kept), " ".join(wrong)) == 1


GOOD = {
    "strong": STRONG,
    "strong-error": repeat(STRONG, "Monday", "Friday"),
    "light": LIGHT,
    "light-error": repeat(LIGHT, "Monday", "Friday"),
}


def judged(outputs=(), accept=(), source=SOURCE):
    """The judged rows of a source."""
    table = begin(PLAN.model_copy(update={"sources": (source,)})).assign(kind="substitution")
    table["output"] = list(GOOD.values())
    for column, cells in (("output", outputs), ("accept", accept)):
        for cell, value in dict(cells).items():
            table.loc[f"s-01-{cell}", column] = value
    return checks.judge(table)


def test_four_good_rewrites_pass_and_the_errors_are_marked():
    table = judged()
    assert set(table["verdict"]) == {"passed"}
    assert table["span"].tolist() == ["", "[-Monday.-]{+Friday.+}"] * 2


@pytest.mark.parametrize(
    ("cell", "text", "check"),
    [
        ("light-error", "", "no text"),
        ("light-error", "I'm sorry, but I can't do that.", "talk"),
        ("light-error", "Анна получает два красных яблока на рынке.", "error"),
        ("light-error", "Apples " * 40, "length"),
        ("light-error", "x" * 5001, "length"),
        ("light-error", "A\nB " * 5, "lines"),
        ("light-error", f" {SOURCE.upper()} ", "copy"),
        ("strong-error", STRONG.replace("Monday", "Sunday"), "same error"),
        ("strong", LIGHT, "shift"),
        ("light", STRONG.replace("Monday", "Sunday noon"), "shift"),
    ],
)
def test_one_spoilt_rewrite_waits_with_the_reason(cell, text, check):
    row = judged({cell: text}).loc[f"s-01-{cell}"]
    assert row["verdict"] == "look"
    assert check in row["findings"]


SPOILT = {"light": f"Sure, {LIGHT}", "light-error": f"Sure, {GOOD['light-error']}"}


@pytest.mark.parametrize(
    ("outputs", "accept", "verdicts"),
    [
        (SPOILT, {}, ["passed", "look", "look", "look"]),
        (SPOILT, {"light": "yes", "light-error": "yes"}, [*["passed"] * 2, *["accepted"] * 2]),
        (SPOILT, {"light": "no", "light-error": "yes"}, ["passed"] * 2 + ["rejected", "accepted"]),
        ({}, {"light": "no"}, ["passed", "look", "rejected", "look"]),
    ],
)
def test_what_stands_on_a_rewrite_waits_with_it_until_a_person_accepts_it(
    outputs, accept, verdicts
):
    assert judged(outputs, accept)["verdict"].tolist() == verdicts


def test_a_source_that_is_too_short_holds_back_its_four_rewrites():
    findings = judged(source="Too short.")["findings"]
    assert all(names["source"].startswith("length: 2 words") for names in findings)
