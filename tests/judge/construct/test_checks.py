"""Checks of rewrites: small cases, sets that people made, and anything at all."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tests.judge.construct.author import SETTING
from tstmeta import data
from tstmeta.data.contrast import Span, span_of
from tstmeta.judge.construct import checks, steps

SOURCE = "Anna gets 2 red apples at the market on Monday."
TOLD = steps.told(SETTING)


@pytest.mark.parametrize(
    ("text", "source", "found"),
    [
        ("Here is the rewritten text: Anna obtains apples.", SOURCE, "Here is"),
        ("Sure! Anna obtains apples.", SOURCE, "Sure!"),
        ("Certainly, Anna obtains apples.", SOURCE, "Certainly,"),
        ("Formal version: Anna obtains apples.", SOURCE, "Formal version:"),
        ("Rewritten: Anna obtains apples.", SOURCE, "Rewritten:"),
        ("Anna obtains apples. I have kept the facts.", SOURCE, "I have kept the"),
        ("Anna obtains apples. I've rewritten it.", SOURCE, "I've rewritten"),
        ("Anna obtains apples. Let me know if you'd like another.", SOURCE, "Let me know if you'd"),
        ("Voici la version :\n« Anna obtient des pommes. »", SOURCE, "Voici la version"),
        ("Health revolution: new campaign begins!", SOURCE, ""),
        ("The 7:40 train is late.", SOURCE, ""),
        ("Sure, I can come on Monday.", "Sure, I can come.", ""),
        ("Please let me know if you can come.", "Can you come?", ""),
    ],
)
def test_talk_about_the_task_is_told_from_the_text(text, source, found):
    why = checks.meta_talk(text, source)
    assert found in why
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("As an AI language model, I have no opinion.", True),
        ("I cannot assist with this request.", True),
        ("I am unable to rewrite this text.", True),
        ("I am hesitant to entrust you with this project.", False),
        ("I cannot trust you with this project.", False),
        ("I am sorry, I missed the train.", False),
    ],
)
def test_a_refusal_is_told_from_a_text_that_says_no(text, refused):
    assert bool(checks.refusal(text, SOURCE)) is refused
    assert not checks.refusal(text, text)


@pytest.mark.parametrize(
    ("mark", "found"),
    [("=====", True), ("```json", True), ("<|eot|>", True), ("</text>", True), ("a = b", False)],
)
def test_marks_of_a_prompt_are_found_unless_the_source_has_them(mark, found):
    assert bool(checks.fence(f"Anna {mark} Boris", SOURCE)) is found
    assert not checks.fence(f"Anna {mark} Boris", f"so {mark}")


def test_words_of_the_prompt_are_found_and_words_of_the_style_are_not():
    words = "nothing is added and nothing is left out"
    assert "added and nothing" in checks.leaked(f"He says {words}.", SOURCE, TOLD)
    assert not checks.leaked(f"He says {words}.", f"In fact {words}.", TOLD)
    assert not checks.leaked("A more formal letter came on Monday.", SOURCE, TOLD)


@pytest.mark.parametrize(
    ("text", "source", "language", "found"),
    [
        ("Анна получает яблоки.", SOURCE, "en", "Cyrillic"),
        ("Anna gets яблоки.", SOURCE, "en", "Cyrillic"),
        ("Anna writes я.", SOURCE, "en", ""),
        ("Анна получает яблоки.", "Анна взяла яблоки.", "en", ""),
        ("Анна получает яблоки.", "", "ru", ""),
        ("Anna gets apples.", "Анна взяла яблоки.", "ru", "Latin"),
        ("Anna gets apples.", "", "xx", ""),
        ("2 + 2 = 4 :)", SOURCE, "en", ""),
        ("अन्ना सेब लेती है।", "अन्ना सेब लाती है।", "hi", ""),
    ],
)
def test_letters_of_another_script_are_found(text, source, language, found):
    assert found in (why := checks.script(text, source, language))
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("count", "of_source", "fine"),
    [(1, 6, True), (1, 7, False), (10, 20, True), (9, 20, False), (60, 20, True), (61, 20, False)],
)
def test_a_length_is_judged_by_ratio_and_by_some_words_of_slack(count, of_source, fine):
    assert (checks.length("x " * count, "y " * of_source) == "") is fine


def test_a_copy_is_seen_through_case_spacing_and_punctuation():
    assert checks.copied("anna GETS 2 red  apples at the market, on Monday!", SOURCE)
    assert not checks.copied("Anna gets 3 red apples at the market on Monday.", SOURCE)


def test_the_strong_rewrite_must_change_more_words():
    strong = "One is pleased to report that Anna obtains 2 red apples at the market on Monday."
    light = "Anna obtains 2 red apples at the market on Monday."
    assert checks.shift(SOURCE, strong, light) == ""
    # 1 of 10 words against 7 of 16
    assert "changes 10% of the words and the light one 44%" in checks.shift(SOURCE, light, strong)
    assert checks.shift(SOURCE, light, light)


@pytest.mark.parametrize(
    ("wrong", "kind", "reason"),
    [
        ("Anna gets 3 red apples at the market on Monday.", "substitution", ""),
        ("Anna gets 2 red apples at the market.", "deletion", ""),
        ("Anna gets 2 red apples at the market in Hull on Monday.", "insertion", ""),
        ("Anna gets 2 red apples at the market.", "substitution", "a deletion where"),
        ("Anna gets 3 red apples at the market on Monday.", "deletion", "a substitution where"),
        (SOURCE, "deletion", "no deletion: no word differs"),
        ("anna gets 2 red apples, at the market on Monday", "deletion", "no word differs"),
        ("Anna gets 3 red apples at the market on Friday.", "substitution", "in 2 places"),
        ("Anna gets apples.", "deletion", "8 words in a row"),
        ("Anna gets 2.", "deletion", "7 words in a row"),
        ("Carl, who was late, took the bus instead of walking there.", "substitution", "differ"),
        ("Anna gets 3 red pears at the market on Monday.", "substitution", ""),
    ],
)
def test_an_error_is_there_of_its_kind_and_the_only_one(wrong, kind, reason):
    why = checks.error(SOURCE, wrong, kind)
    assert reason in why
    assert bool(reason) == bool(why)


@pytest.mark.parametrize(
    ("strong", "reason"),
    [
        (Span("monday", "friday,"), ""),
        (Span("Monday", "Sunday"), "put in: 'friday' in the light rewrite, 'sunday'"),
        (Span("on Monday", "Friday"), "taken out"),
    ],
)
def test_the_same_error_takes_out_and_puts_in_the_same_words(strong, reason):
    why = checks.same_error(Span("Monday.", "Friday."), strong)
    assert reason in why
    assert bool(reason) == bool(why)


def test_all_but_the_first_of_equal_texts_are_duplicates():
    texts = [("a", "One day."), ("b", " one  DAY"), ("c", "Two days."), ("d", ""), ("e", "")]
    assert checks.duplicates(texts) == {"b": "the same text as a"}


# ------------------------------------------------------------------------- sets that people made

#: What the checks find in sets that are known to be well made: rows (of sources for shift and same
#: error) that would go to a person although nothing is wrong with most of them.
FOUND = {
    "contrast": {"length": 3, "shift": 3, "same error": 39},
    "world": {"length": 2, "shift": 10, "same error": 4, "copy": 5},
}


@pytest.mark.parametrize("name", FOUND)
def test_few_rows_of_our_own_sets_would_go_to_a_person_and_no_error_would(name):
    found = Counter()
    loaded = data.load(name)
    errors = loaded.label("error")
    for _, four in loaded.items.groupby("source_id"):
        row = four.set_index("system")
        source, text = row["source"].iloc[0], row["output"]
        kind = errors[row.loc["light-error", "item_id"]]
        for output in text:
            found["length"] += bool(checks.length(output, source))
            found["copy"] += bool(checks.copied(output, source))
            found["talk"] += bool(checks.meta_talk(output, source))
            found["refusal"] += bool(checks.refusal(output, source))
            found["fence"] += bool(checks.fence(output, source))
            found["script"] += bool(checks.script(output, source, "en"))
            found["prompt"] += bool(checks.leaked(output, source, TOLD))
        found["error"] += bool(checks.error(text["light"], text["light-error"], kind))
        found["error"] += bool(checks.error(text["strong"], text["strong-error"], kind))
        spans = [span_of(text[shift], text[f"{shift}-error"]) for shift in ("light", "strong")]
        found["same error"] += bool(checks.same_error(*spans))
        found["shift"] += bool(checks.shift(source, text["strong"], text["light"]))
    assert dict(+found) == FOUND[name]


@needs("pauli")
def test_errors_of_pauli2025_that_are_not_one_edit_of_their_kind_are_found():
    loaded = data.load("pauli")
    before, kinds = loaded.label("step"), loaded.label("error")
    rows = [row for row in loaded.items.itertuples() if before[row.item_id]]
    rows = [row for row in rows if kinds[row.item_id] != "none"]
    found = [checks.error(before[r.item_id], r.output, kinds[r.item_id]) for r in rows]
    assert len(rows) == 200
    assert sum(map(bool, found)) == 31
    assert sum("places" in why for why in found) == 21


# ----------------------------------------------------------------------------------- any texts

TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(["Anna", "gets", "two", "on", "Monday", ":", "=", "<|", "\n", "é", "я"]),
    max_size=12,
).map(" ".join)


@given(TEXTS, TEXTS)
def test_no_text_makes_a_check_raise(text, source):
    for check in (checks.meta_talk, checks.refusal, checks.fence, checks.length, checks.copied):
        assert isinstance(check(text, source), str)
    assert isinstance(checks.script(text, source, "en"), str)
    assert isinstance(checks.leaked(text, source, TOLD), str)
    assert 0 <= checks.change(source, text) <= 1
    assert bool(checks.change(source, text)) != bool(checks.copied(text, source))


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=7)


@given(WORDS, WORDS)
def test_an_edit_that_is_found_makes_one_text_of_the_other(kept, wrong):
    span = span_of(" ".join(kept), " ".join(wrong))
    removed, added = span.removed.split(), span.added.split()
    made = [
        kept[:i] + added + kept[i + len(removed) :]
        for i in range(len(kept) + 1)
        if kept[i : i + len(removed)] == removed
    ]
    assert wrong in made
    kind = checks.kind_of(span)
    assert (checks.error(" ".join(kept), " ".join(wrong), "deletion") == "") <= (kind == "deletion")


@given(WORDS, st.integers(0, 7), st.integers(0, 3), st.lists(st.sampled_from("xyz"), max_size=3))
def test_one_edit_with_new_words_is_one_place(kept, start, taken, added):
    start = min(start, len(kept))
    wrong = kept[:start] + added + kept[start + taken :]
    if wrong == kept:
        return
    assert checks.places(" ".join(kept), " ".join(wrong)) == 1


def test_two_edits_far_apart_are_two_places():
    for first, second in itertools.combinations(range(6), 2):
        wrong = list("abcdef")
        wrong[first], wrong[second] = "x", "y"
        apart = second - first > 2
        assert checks.places("a b c d e f", " ".join(wrong)) == 1 + apart
