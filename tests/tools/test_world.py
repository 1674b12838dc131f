"""The small world: the grammar, the set made of it, and what the embedded models learn from it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.training.splits import key
from tools.world import words
from tools.world.conversations import sentences
from tools.world.scenes import ALL_TASKS, scene
from tools.world.testset import small_world
from tools.world.words import is_held_out
from tstmeta.data import load, paths

seeds = st.integers(0, 10**9).map(str)
every_task = pytest.mark.parametrize("task", ALL_TASKS)


# ------------------------------------------------------------------------------------- the grammar


def held(facts):
    """Facts that only held-out text may have, in the singular or in the plural."""
    kinds = ("goods", "objects", "papers", "events", "venues", "roles", "groups", "first")
    own = {word for kind in kinds for word in words.every(kind) if is_held_out(word)}
    return {fact for fact in facts if fact in own or fact in map(words.plural, own)}


@every_task
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_a_scene_keeps_to_its_side_of_the_split(task, seed):
    train, test = scene(seed, task), scene(seed, task, held_out=True)
    assert not is_held_out(train.event.frame)
    assert is_held_out(test.event.frame)
    assert not held(value for each in train.event.constituents for _, value in each.facts)


def test_the_language_model_reads_no_sentence_of_our_two_test_sets():
    texts = {key(text) for text in sentences()}
    for name in ("contrast", "world"):
        items = load(name).items
        assert not texts & {key(text) for text in (*items["source"], *items["output"])}


# ----------------------------------------------------------------------------------------- the set


def test_making_it_again_gives_the_bytes_of_the_file_and_another_seed_another_set():
    assert small_world().encode() == paths.project("world", "world.csv").read_bytes()
    assert small_world("another", sources=1) != small_world(sources=1)
