"""Tokenizer, conversations and batches: what the model reads, and what it is asked to foresee."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.training.toy import OPTIONS, PROMPTS
from tstmeta.models.training.batches import bucketed, drill, encode
from tstmeta.models.training.examples import ALL_TASKS, any_text, dressed, example, reworded
from tstmeta.models.training.network import answer_loss, network
from tstmeta.models.training.tokenizer import prose, train_tokenizer
from tstmeta.models.world import phrases
from tstmeta.models.world.draws import Draws

EXAMPLES = [example(f"test/{number}", PROMPTS) for number in range(300)]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(PROMPTS, OPTIONS.vocabulary)


# ------------------------------------------------------------------------------------- tokenizer


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back_from_its_tokens(tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    special = {token for token in tokenizer.all_special_tokens if token in text}
    assert special or tokenizer.decode(ids) == text


def test_the_chat_template_has_the_form_of_llama_3(tokenizer):
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    with_system = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True
    )
    without = tokenizer.apply_chat_template(messages[1:], tokenize=False)
    assert with_system == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    assert without == ("<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|>")


def test_special_tokens_are_single_tokens_and_digits_stand_alone(tokenizer):
    ids = tokenizer("<|eot_id|>1234", add_special_tokens=False)["input_ids"]
    assert ids[0] == tokenizer.eos_token_id
    assert [tokenizer.decode(one) for one in ids[1:]] == ["1", "2", "3", "4"]


def test_prose_is_sentences_of_words():
    assert len(prose()) > 1000
    assert all(5 <= len(line.split()) <= 32 for line in prose())


# --------------------------------------------------------------------------------- conversations


def test_an_example_depends_on_its_seed_alone():
    assert example("a", PROMPTS) == example("a", PROMPTS)
    assert example("a", PROMPTS) != example("b", PROMPTS)


def test_all_tasks_and_kinds_of_prompt_occur():
    assert {one.task for one in EXAMPLES} == {"style", "paraphrase", "repeat"}
    assert {one.bare for one in EXAMPLES} == {True, False}
    assert {"", "You write."} < {one.system for one in EXAMPLES}
    assert all(one.output and one.user for one in EXAMPLES)


def test_to_repeat_is_to_give_the_very_text():
    repeats = [one for one in EXAMPLES if one.task == "repeat"]
    assert len(repeats) > 40
    for one in repeats:
        assert one.user.lower() == f"repeat: {one.output}".lower()
        assert one.output in one.user


def test_without_systems_no_example_has_one():
    assert {example(str(n), PROMPTS, systems=False).system for n in range(40)} == {""}


def test_each_style_is_asked_for_in_its_wordings():
    asked = {match[1] for one in EXAMPLES if (match := re.match("Make ([^:]+):", one.user))}
    known = {wording for words in phrases.WORDINGS.values() for wording in words}
    assert asked <= known
    assert len(asked) > 8


@pytest.mark.parametrize("task", ALL_TASKS)
def test_dressing_a_text_keeps_its_words(task):
    style = phrases.WORDINGS[task][0]
    for seed in range(20):
        assert "we sold 12 hats in Ulm" in dressed(
            "we sold 12 hats in Ulm.", task, style, Draws(str(seed))
        ).replace("We", "we")


def test_rewording_changes_neutral_words_or_the_order_of_clauses():
    text = "Because it rained, the shop near us closed."
    found = {reworded(text, Draws(str(seed))) for seed in range(30)}
    assert "The shop near us closed, because it rained." in found
    assert any("store" in one and "close to" in one for one in found)


def test_held_out_text_and_training_text_differ():
    assert any_text(Draws("7")) != any_text(Draws("7", held_out=True))


# ------------------------------------------------------------------------------------- batches


def test_answers_begin_where_prompts_end(tokenizer):
    for one, encoded in zip(EXAMPLES[:50], encode(EXAMPLES[:50], tokenizer), strict=True):
        before = tokenizer.decode(encoded.ids[: encoded.start])
        after = tokenizer.decode(encoded.ids[encoded.start :])
        assert before.endswith("<|end_header_id|>" + ("" if one.bare else "\n\n"))
        assert f"{one.user}<|eot_id|>" in before
        assert after == one.output + "<|eot_id|>"


def test_batches_hold_every_answer_token_once(tokenizer):
    encoded = encode(EXAMPLES[:40], tokenizer)
    batches = bucketed(encoded, 500, tokenizer.pad_token_id)
    assert sum(len(batch.ids) for batch in batches) == 40
    assert all(batch.ids.numel() <= 500 or len(batch.ids) == 1 for batch in batches)
    targets = sorted(int(token) for batch in batches for token in batch.targets)
    assert targets == sorted(token for one in encoded for token in one.ids[one.start :])


def test_the_order_of_conversations_does_not_change_the_batches(tokenizer):
    encoded = encode(EXAMPLES[:20], tokenizer)
    one, other = (bucketed(some, 400, 0) for some in (encoded, encoded[::-1]))
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(one, other, strict=True))


def test_a_drill_is_a_string_and_its_copy(tokenizer):
    lengths = set()
    for seed in range(60):
        one = drill(Draws(str(seed)), tokenizer, 9)
        string = one.ids[one.start : -1]
        assert one.ids[1 : 1 + len(string)] == string
        assert one.ids[-1] == one.ids[1 + len(string)] == tokenizer.eos_token_id
        assert not set(string) & set(tokenizer.all_special_ids)
        lengths.add(len(string))
    assert lengths == set(range(4, 10))


def test_padding_changes_no_loss(tokenizer):
    """Against one conversation at a time, with the full softmax."""
    model = network(OPTIONS, tokenizer, seed=1).eval()
    encoded = encode(EXAMPLES[:6], tokenizer)
    with torch.no_grad():
        together = sum(float(answer_loss(model, batch)) for batch in bucketed(encoded, 4000, 4))
        alone = 0.0
        for one in encoded:
            ids = torch.tensor([one.ids])
            scores = torch.log_softmax(model(ids).logits[0].double(), -1)
            alone -= sum(
                float(scores[at - 1, one.ids[at]]) for at in range(one.start, len(one.ids))
            )
    assert together == pytest.approx(alone, rel=1e-5)


def test_random_weights_depend_on_the_seed_alone(tokenizer):
    def weights(seed):
        return network(OPTIONS, tokenizer, seed).lm_head.weight

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))
