"""Writers: what a T5 writes for prompts, in any batch, and how likely its answer begins."""

import math

import pytest
import torch

from tests.models import tiny_text
from tstmeta.models import seq2seq
from tstmeta.models.causal import backbone
from tstmeta.models.seq2seq import Seq2Seq, Writer
from tstmeta.schema import TstmetaError

PROMPTS = [
    ("sv1", "the last loaf", "the baker sold the last loaf before noon"),
    ("what was cold", "the soup was cold and the waiter rude"),
    ("who", "京都 Grüße"),
    ("sv1", "the shop", "the baker opened the shop at six and sold the last loaf before noon"),
]
NEW = 6


def writer(seed=0, **options):
    return Seq2Seq(*tiny_text.t5(seed), "tiny", **{"new_tokens": NEW, **options})


def joined(tokenizer, prompt):
    """Token ids by the book: each piece apart, </s> after each."""
    ids = []
    for piece in prompt:
        ids += tokenizer(piece, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return ids


@torch.inference_mode()
def by_hand(model, tokenizer, prompt, steps=NEW):
    """Greedy search with one full pass a token, no cache, no padding; and the first step."""
    ids = torch.tensor([joined(tokenizer, prompt)])
    said, first = [0], None
    for _ in range(steps):
        logits = model(input_ids=ids, decoder_input_ids=torch.tensor([said])).logits[0, -1]
        first = logits.double().softmax(-1) if first is None else first
        said.append(int(logits.argmax()))
        if said[-1] == tokenizer.eos_token_id:
            break
    return tokenizer.decode(said, skip_special_tokens=True).strip(), first


@pytest.mark.parametrize("seed", [0, 1])
def test_texts_and_chances_are_those_of_greedy_search_by_hand(seed):
    model, tokenizer = tiny_text.t5(seed)
    found = writer(seed).write(PROMPTS, watched="unanswerable")
    watched = tokenizer("unanswerable", add_special_tokens=False)["input_ids"][0]
    for prompt, one in zip(PROMPTS, found, strict=True):
        text, first = by_hand(model, tokenizer, prompt)
        assert one.text == text
        assert one.chance == pytest.approx(float(first[watched]), abs=1e-5)
        assert one.tokens == one.used == len(joined(tokenizer, prompt))
    assert len({one.text for one in found}) > 1, "the tiny model must tell prompts apart"
    assert len({round(one.chance, 9) for one in found}) == len(found)


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("budget", [1, 60, 10_000])
def test_batch_order_and_padding_change_nothing(budget, beams):
    alone = [writer(beams=beams).write([one], watched="no")[0] for one in PROMPTS]
    order = [2, 0, 3, 1, 2]
    mixed = writer(budget=budget, beams=beams).write([PROMPTS[i] for i in order], watched="no")
    for place, one in zip(order, mixed, strict=True):
        assert one.text == alone[place].text
        assert one.chance == pytest.approx(alone[place].chance, abs=1e-5)


@torch.inference_mode()
def likelihood(model, tokenizer, prompt, text):
    ids = torch.tensor([joined(tokenizer, prompt)])
    return -float(model(input_ids=ids, labels=torch.tensor([text])).loss)


def test_beam_search_finds_texts_at_least_as_likely():
    """Both write as many tokens, for the end is never written."""
    model, tokenizer = tiny_text.t5()
    said = {}
    for beams in (1, 4):
        made = writer(beams=beams)
        made.tokenizer = Ids()
        made._ids, made.end = writer()._ids, tokenizer.eos_token_id
        said[beams] = [[int(i) for i in one.text.split()] for one in made.write(PROMPTS)]
    better = 0
    for prompt, greedy, beam in zip(PROMPTS, said[1], said[4], strict=True):
        assert len(greedy) == len(beam) == NEW
        values = [likelihood(model, tokenizer, prompt, text) for text in (greedy, beam)]
        assert values[1] >= values[0] - 1e-5
        better += values[1] > values[0] + 1e-4
    assert better, "else both searches are one"


class Ids:
    """Decodes to the token ids themselves, less the first."""

    @staticmethod
    def batch_decode(rows, **_):
        return [" ".join(str(int(token)) for token in row[1:]) for row in rows]


def test_without_a_watched_word_there_is_no_chance():
    assert all(math.isnan(one.chance) for one in writer().write(PROMPTS))


def test_equal_prompts_are_written_once_and_answered_in_order():
    made = writer()
    seen = []
    inner = made._answers
    made._answers = lambda batch, first: seen.append(len(batch)) or inner(batch, first)
    found = made.write([PROMPTS[0], PROMPTS[1], PROMPTS[0]])
    assert sum(seen) == 2
    assert found[0] == found[2] != found[1]


def test_a_prompt_beyond_the_window_is_cut_at_its_end_and_counted():
    model, tokenizer = tiny_text.t5()
    long = ("who", "the baker sold the last loaf " * 1700)
    [found] = writer(window=20).write([long], watched="no")
    assert found.tokens > 10_000
    assert found.used == 20
    ids = [*joined(tokenizer, long)[:19], tokenizer.eos_token_id]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[0]])).logits
    watched = tokenizer("no", add_special_tokens=False)["input_ids"][0]
    expected = float(logits[0, 0].softmax(-1)[watched])
    assert found.chance == pytest.approx(expected, abs=1e-5)


def test_a_text_that_spells_the_end_of_a_piece_opens_none():
    _, tokenizer = tiny_text.t5()
    [(ids, _)] = writer()._read([("who", "a </s> b")])
    assert ids.count(tokenizer.eos_token_id) == 2


def test_empty_pieces_and_no_prompts_are_fine():
    assert writer().write([]) == []
    [found] = writer().write([("", "")])
    assert found.tokens == 2


def test_what_changes_a_text_stands_in_the_identity():
    assert writer().identity == "tiny window:512 new:6 beams:1"
    assert isinstance(writer(), Writer)


def test_a_tokenizer_without_an_end_is_refused():
    model, _ = tiny_text.t5()
    _, other = tiny_text.bert()
    with pytest.raises(TstmetaError, match="no end-of-sequence token"):
        Seq2Seq(model, other, "tiny")


def test_a_model_is_read_from_a_folder(tmp_path):
    folder = tiny_text.folder(tmp_path / "t5", tiny_text.t5())
    found = seq2seq.load(backbone(str(folder)), device="cpu", new_tokens=NEW)
    assert found.write(PROMPTS, watched="no") == writer().write(PROMPTS, watched="no")
    assert found.identity.startswith("t5@")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_cpu_and_gpu_agree():
    model, tokenizer = tiny_text.t5.__wrapped__()
    there = Seq2Seq(model.to("cuda"), tokenizer, "tiny", new_tokens=NEW)
    for one, other in zip(
        there.write(PROMPTS, watched="no"), writer().write(PROMPTS, watched="no"), strict=True
    ):
        assert one.chance == pytest.approx(other.chance, abs=1e-5)
