"""Conversations and corpora of the grammar: what the embedded models are asked for, and read."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.toy import PROMPTS
from tools.world.conversations import (
    any_text,
    dressed,
    example,
    fact_words,
    mixture,
    reworded,
    sentences,
)
from tools.world.scenes import ALL_TASKS, WORDINGS
from tools.world.words import Choices
from tstmeta.data import load
from tstmeta.models.splits import key

EXAMPLES = [example(f"test/{number}", PROMPTS) for number in range(300)]


def test_an_example_depends_on_its_seed_alone():
    assert example("a", PROMPTS) == example("a", PROMPTS) != example("b", PROMPTS)
    assert any_text(Choices("7")) != any_text(Choices("7", held_out=True))


def test_all_tasks_prompts_and_wordings_occur():
    assert {each.task for each in EXAMPLES} == {"style", "paraphrase", "repeat"}
    assert {each.bare for each in EXAMPLES} == {True, False}
    assert {"", "You write."} < {each.system for each in EXAMPLES}
    assert all(each.output and each.user for each in EXAMPLES)
    assert {example(str(n), PROMPTS, systems=False).system for n in range(40)} == {""}
    styles = {match[1] for each in EXAMPLES if (match := re.match("Make ([^:]+):", each.user))}
    assert styles <= {wording for wordings in WORDINGS.values() for wording in wordings}
    assert len(styles) > 8


@pytest.mark.parametrize("task", ALL_TASKS)
def test_dressing_a_text_keeps_its_words(task):
    text = "we sold 12 hats in Ulm"
    for seed in range(20):
        after = dressed(f"{text}.", task, WORDINGS[task][0], Choices(str(seed)))
        assert text in after.replace("We", "we")


def test_rewording_changes_neutral_words_or_the_order_of_clauses():
    text = "Because it rained, the shop near us closed."
    texts = {reworded(text, Choices(str(seed))) for seed in range(30)}
    assert "The shop near us closed, because it rained." in texts
    assert any("store" in each and "close to" in each for each in texts)


@given(seed=st.integers(0, 10**9).map(str))
@settings(max_examples=30, deadline=None)
def test_both_strings_of_a_mixture_have_the_same_facts(seed):
    draws = Choices(seed)
    texts = [text.lower() for text in mixture(draws)]
    for place in range(1 + draws.number("facts", 6)):
        fact = fact_words(draws.below(f"fact{place}")).lower()
        assert all(fact in text for text in texts)


def test_the_language_model_reads_no_sentence_of_our_two_test_sets():
    texts = {key(text) for text in sentences()}
    for name in ("contrast", "world"):
        items = load(name).items
        assert not texts & {key(text) for text in (*items["source"], *items["output"])}
