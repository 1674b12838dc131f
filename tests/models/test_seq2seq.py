"""Writers: what a T5 writes for prompts, in any batch, and how likely its answer begins."""

import math

import pytest
import torch

from tests.models import tiny_text
from tstmeta.models.sequence import Seq2Seq

PROMPTS = [
    ("sv1", "the last loaf", "the baker sold the last loaf before noon"),
    ("what was cold", "the soup was cold and the waiter rude"),
    ("who", "京都 Grüße"),
    ("sv1", "the shop", "the baker opened the shop at six and sold the last loaf before noon"),
]
NEW = 6


def writer(window=512, budget=2048):
    subject = Seq2Seq(*tiny_text.t5(), window, NEW)
    subject.budget = budget
    return subject


def joined(tokenizer, prompt):
    """Token ids by the book: each piece apart, </s> after each."""
    ids = []
    for piece in prompt:
        ids += tokenizer(piece, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return ids


@torch.inference_mode()
def by_hand(model, tokenizer, ids):
    """Greedy search with one full pass a step, no cache, no padding; and the first step."""
    ids, row, steps = torch.tensor([ids]), [0], []
    for _ in range(NEW):
        logits = model(input_ids=ids, decoder_input_ids=torch.tensor([row])).logits[0, -1]
        steps.append(logits.double().softmax(-1))
        row.append(int(steps[-1].argmax()))
    assert tokenizer.eos_token_id not in row, "the end is never written"
    return tokenizer.decode(row, skip_special_tokens=True).strip(), steps[0]


@pytest.mark.parametrize("budget", [1, 60])
def test_texts_and_chances_are_those_of_a_search_by_hand_in_any_batch(budget):
    model, tokenizer = tiny_text.t5()
    prompts = [PROMPTS[place] for place in (2, 0, 3, 1, 2)]
    answers = writer(budget=budget).write(prompts, watched="unanswerable")
    watched = tokenizer("unanswerable", add_special_tokens=False)["input_ids"][0]
    for prompt, answer in zip(prompts, answers, strict=True):
        ids = joined(tokenizer, prompt)
        text, first = by_hand(model, tokenizer, ids)
        assert answer.text == text
        assert answer.chance == pytest.approx(float(first[watched]), abs=1e-5)
        assert answer.tokens == len(ids)
    assert len({answer.text for answer in answers}) > 1, "the tiny model must tell prompts apart"


def test_without_a_watched_word_there_is_no_chance_and_without_prompts_no_answer():
    assert all(math.isnan(answer.chance) for answer in writer().write(PROMPTS))
    assert writer().write([]) == []
    assert writer().write([("", "")])[0].tokens == 2


def test_a_prompt_beyond_the_window_is_cut_at_its_end_and_counted():
    model, tokenizer = tiny_text.t5()
    long = ("who", "the baker sold the last loaf " * 1700)
    [answer] = writer(window=20).write([long], watched="no")
    assert answer.tokens > 10_000
    _, first = by_hand(model, tokenizer, [*joined(tokenizer, long)[:19], tokenizer.eos_token_id])
    watched = tokenizer("no", add_special_tokens=False)["input_ids"][0]
    assert answer.chance == pytest.approx(float(first[watched]), abs=1e-5)


def test_a_text_that_spells_the_end_of_a_piece_opens_none():
    spelt, plain = writer().write([("who", "a </s> b"), ("who", "a  b")])
    assert spelt.tokens - plain.tokens >= 3
