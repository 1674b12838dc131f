"""The grammar: the same from the same seed, split in two, true to its facts."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.world import words
from tools.world.scenes import ALL_TASKS, LEVELS, WORDINGS, scene
from tools.world.words import Choices, is_held_out

KNOWN = "Postpone Magda's game for 257 euros after 11:05 because the debate is lost."
seeds = st.integers(0, 10**9).map(str)


def test_a_seed_means_the_same_on_every_machine():
    assert Choices("a").number("x", 10**6) == 514_421
    assert Choices("a").below("x") == Choices("a/x")
    assert scene("7", "polite").source == KNOWN


def test_one_content_word_in_five_is_held_out():
    for kind in ("goods", "objects", "venues", "first"):
        share = len(words.pool(kind, True)) / len(words.every(kind))
        assert 0.08 < share < 0.35, kind
        assert not set(words.pool(kind, True)) & set(words.pool(kind, False))


# ------------------------------------------------------------------------------------ scenes


def held(facts):
    """Facts that only held-out text may have, in the singular or in the plural."""
    kinds = ("goods", "objects", "papers", "events", "venues", "roles", "groups", "first")
    own = {word for kind in kinds for word in words.every(kind) if is_held_out(word)}
    return {fact for fact in facts if fact in own or fact in map(words.plural, own)}


@pytest.mark.parametrize("task", ALL_TASKS)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_every_telling_is_a_clean_sentence_with_every_fact(task, seed):
    drawn = scene(seed, task)
    for level in LEVELS:
        text = drawn.tell(level)
        assert text == " ".join(text.split())
        assert text.isascii()
        assert not re.search(r"[{}]|,,", text)
        for constituent in drawn.event.constituents:
            for slot, value in constituent.facts:
                assert value.lower() in text.lower(), (level, slot)


@pytest.mark.parametrize("task", ALL_TASKS)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_a_scene_keeps_to_its_side_of_the_split(task, seed):
    train, test = scene(seed, task), scene(seed, task, held_out=True)
    assert not is_held_out(train.event.frame)
    assert is_held_out(test.event.frame)
    assert not held(value for each in train.event.constituents for _, value in each.facts)


@pytest.mark.parametrize("task", ALL_TASKS)
def test_rewrites_differ_from_the_source_and_strong_ones_more(task):
    """On average over scenes: the share of source words that a rewrite has lost or gained."""

    def change(a, b):
        a, b = set(a.lower().split()), set(b.lower().split())
        return len(a ^ b) / len(a | b)

    scenes = [scene(str(seed), task) for seed in range(60)]
    light = sum(change(drawn.source, drawn.tell("light")) for drawn in scenes)
    strong = sum(change(drawn.source, drawn.tell("strong")) for drawn in scenes)
    assert 0 < light < strong
    other = sum(drawn.source != drawn.tell("source", arrangement="2") for drawn in scenes)
    assert other > 10  # a paraphrase


@pytest.mark.parametrize("style", ["positive", "negative"])
def test_a_light_rewrite_of_a_sentiment_moves_half_the_way(style):
    bad, mild_bad, mild_good, good = (
        {word for mood in words.WORDS["moods"] for word in mood[column]} for column in range(4)
    )
    levels = {"positive": (bad, mild_bad, good), "negative": (good, mild_good, bad)}[style]
    hits = dict.fromkeys(LEVELS, 0)
    for seed in range(40):
        drawn = scene(str(seed), "sentiment", style=style)
        for level, adjectives in zip(LEVELS, levels, strict=True):
            hits[level] += any(word in drawn.tell(level) for word in adjectives)
    assert min(hits.values()) > 20  # the others say it with a verb of feeling


def test_a_strong_detoxified_rewrite_has_no_insult():
    insults = {*words.every("rude_adjectives"), *words.every("rude_nouns")}
    for seed in range(40):
        drawn = scene(str(seed), "detoxify")
        assert insults & set(re.findall(r"[a-z-]+", drawn.source.lower()))
        assert not insults & set(re.findall(r"[a-z-]+", drawn.tell("strong").lower()))


@pytest.mark.parametrize("error", ["substitution", "deletion", "insertion"])
@given(seed=seeds, task=st.sampled_from(ALL_TASKS))
@settings(max_examples=40, deadline=None)
def test_an_error_changes_one_constituent_of_the_event(error, seed, task):
    drawn = scene(seed, task)
    wrong = drawn.wrong(error)
    if wrong is None:
        assert error == "deletion"
        return
    before = {each.role: each.text for each in drawn.event.constituents}
    after = {each.role: each.text for each in wrong.constituents}
    (role,) = {role for role in before | after if before.get(role) != after.get(role)}
    kinds = {(True, True): "substitution", (True, False): "deletion", (False, True): "insertion"}
    assert kinds[role in before, role in after] == error


# ------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("inflect", "word", "form"),
    [
        (words.past, "send", "sent"),
        (words.past, "give back", "gave back"),
        (words.past, "tidy up", "tidied up"),
        (words.past, "move", "moved"),
        (words.past, "swap", "swapped"),
        (words.past, "play", "played"),
        (words.plural, "cherry", "cherries"),
        (words.plural, "torch", "torches"),
        (words.plural, "tray", "trays"),
        (words.plural, "loaf", "loaves"),
        (words.third, "be after", "is after"),
        (words.third, "go through", "goes through"),
        (words.third, "fix", "fixes"),
    ],
)
def test_forms_of_words(inflect, word, form):
    assert inflect(word) == form


def test_what_the_data_name_is_in_the_data():
    kinds = {kind for verb in words.VERBS for kind in verb.objects}
    assert all(words.every(kind) for kind in kinds)
    assert set(WORDINGS) == set(ALL_TASKS)
