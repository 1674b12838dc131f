"""The grammar: the same from the same seed, split in two, true to its facts."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tstmeta.models.world import events, loose, phrases, words
from tstmeta.models.world.draws import Draws, is_held_out
from tstmeta.models.world.scenes import MORE, TASKS, scene

EVERY = (*TASKS, *MORE)
LEVELS = ("source", "light", "strong")
KNOWN = "Postpone Magda's game for 257 euros after 11:05 because the debate is lost."
seeds = st.integers(0, 10**9).map(str)


def held(facts):
    """Facts that only held-out text may have, in the singular or in the plural."""
    kinds = ("goods", "objects", "papers", "events", "venues", "roles", "groups", "first")
    own = {word for kind in kinds for word in words.every(kind) if is_held_out(word)}
    return {fact for fact in facts if fact in own or fact in map(words.plural, own)}


# ----------------------------------------------------------------------------------- choices


def test_a_choice_depends_on_seed_and_name_alone():
    first, again = Draws("a"), Draws("a")
    assert first.number("x", 10**6) == again.number("x", 10**6)
    assert first.number("x", 10**6) != first.number("y", 10**6)
    assert first.number("x", 10**6) != Draws("b").number("x", 10**6)
    assert first.below("x") == Draws("a/x")


def test_a_seed_means_the_same_on_every_machine():
    assert Draws("a").number("x", 10**6) == 514_421
    assert scene("7", "polite").source == KNOWN


def test_chances_come_true_about_as_often_as_they_say():
    hits = sum(Draws(str(seed)).chance("x", 0.3) for seed in range(3000))
    assert 820 < hits < 980


def test_one_content_word_in_five_is_held_out():
    for kind in ("goods", "objects", "venues", "first"):
        share = len(words.pool(kind, True)) / len(words.every(kind))
        assert 0.08 < share < 0.35, kind
        assert not set(words.pool(kind, True)) & set(words.pool(kind, False))


# ------------------------------------------------------------------------------------ scenes


@pytest.mark.parametrize("task", EVERY)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_every_telling_has_every_fact(task, seed):
    one = scene(seed, task)
    for level in LEVELS:
        text = one.tell(level).lower()
        for part in one.event.parts:
            for slot, value in part.facts:
                assert value.lower() in text, (level, slot)


@pytest.mark.parametrize("task", EVERY)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_a_scene_keeps_to_its_side_of_the_split(task, seed):
    train, test = scene(seed, task), scene(seed, task, held_out=True)
    assert not is_held_out(train.event.frame)
    assert is_held_out(test.event.frame)
    facts = [value for part in train.event.parts for _, value in part.facts]
    assert not held(facts)


@pytest.mark.parametrize("task", EVERY)
def test_texts_are_clean_sentences(task):
    for seed in range(40):
        one = scene(str(seed), task)
        for level in LEVELS:
            text = one.tell(level)
            assert text == " ".join(text.split())
            assert "{" not in text
            assert ",," not in text
            assert text.isascii()


@pytest.mark.parametrize("task", EVERY)
def test_rewrites_differ_from_the_source_and_strong_ones_more(task):
    """On average over scenes: the share of source words that a rewrite has lost or gained."""

    def change(a, b):
        a, b = set(a.lower().split()), set(b.lower().split())
        return len(a ^ b) / len(a | b)

    scenes = [scene(str(seed), task) for seed in range(60)]
    light = sum(change(one.source, one.tell("light")) for one in scenes) / len(scenes)
    strong = sum(change(one.source, one.tell("strong")) for one in scenes) / len(scenes)
    assert 0 < light < strong


def test_a_paraphrase_says_the_same_in_another_arrangement():
    scenes = [scene(str(seed), "informal") for seed in range(60)]
    assert sum(one.source != one.tell("source", arrangement="2") for one in scenes) > 30


@pytest.mark.parametrize("style", ["positive", "negative"])
def test_a_light_rewrite_of_a_sentiment_moves_half_the_way(style):
    bad, mild_bad, mild_good, good = (
        {word for mood in words.moods() for word in mood[column]} for column in range(4)
    )
    levels = {"positive": (bad, mild_bad, good), "negative": (good, mild_good, bad)}[style]
    found = dict.fromkeys(LEVELS, 0)
    for seed in range(40):
        one = scene(str(seed), "sentiment", style=style)
        for level, adjectives in zip(LEVELS, levels, strict=True):
            found[level] += any(word in one.tell(level) for word in adjectives)
    assert min(found.values()) > 20  # the others say it with a verb of feeling


def test_a_strong_detoxified_rewrite_has_no_insult():
    insults = {*words.rude("adjectives"), *words.rude("nouns")}
    for seed in range(40):
        one = scene(str(seed), "detoxify")
        assert insults & set(re.findall(r"[a-z-]+", one.source.lower()))
        assert not insults & set(re.findall(r"[a-z-]+", one.tell("strong").lower()))


def test_each_task_has_wordings_of_its_style():
    assert set(phrases.WORDINGS) == set(EVERY)
    assert {"positive", "negative"} == set(phrases.WORDINGS["sentiment"])


# ------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("error", ["substitution", "deletion", "insertion"])
@given(seed=seeds, task=st.sampled_from(EVERY))
@settings(max_examples=40, deadline=None)
def test_an_error_changes_one_part_of_the_event(error, seed, task):
    one = scene(seed, task)
    wrong = one.wrong(error)
    if wrong is None:
        assert error == "deletion"
        return
    before = {part.role: part.text for part in one.event.parts}
    after = {part.role: part.text for part in wrong.parts}
    changed = {role for role in before | after if before.get(role) != after.get(role)}
    (role,) = changed
    kinds = {
        "substitution": role in before and role in after,
        "deletion": role in before and role not in after,
        "insertion": role not in before and role in after,
    }
    assert kinds[error]


# ---------------------------------------------------------------------------- words and loose text


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("send", "sent"),
        ("give back", "gave back"),
        ("tidy up", "tidied up"),
        ("move", "moved"),
        ("swap", "swapped"),
        ("cancel", "cancelled"),
        ("play", "played"),
    ],
)
def test_past_forms(verb, form):
    assert words.past(verb) == form


@pytest.mark.parametrize(
    ("noun", "form"),
    [("cherry", "cherries"), ("torch", "torches"), ("tray", "trays"), ("loaf", "loaves")],
)
def test_plurals(noun, form):
    assert words.plural(noun) == form


@pytest.mark.parametrize(
    ("verb", "form"), [("be after", "is after"), ("go through", "goes through"), ("fix", "fixes")]
)
def test_third_persons(verb, form):
    assert words.third(verb) == form


def test_a_verb_acts_on_things_that_the_lexicon_has():
    kinds = {kind for verb in words.verbs() for kind in verb.objects}
    assert all(words.every(kind) for kind in kinds)


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_both_strings_of_a_mixture_have_the_same_facts(seed):
    draws = Draws(seed)
    one, two = loose.mixture(draws)
    count = 1 + draws.number("facts", 6)
    for place in range(count):
        fact = loose.fact_words(draws.below(f"fact{place}")).lower()
        assert fact in one.lower()
        assert fact in two.lower()


def test_slots_of_a_pattern_are_found():
    assert events.slots("on {weekday} at {clock}") == ["weekday", "clock"]
    assert events.slots("at half price") == []
