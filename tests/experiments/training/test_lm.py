"""Training language models: what is learned from, and what is measured."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from experiments.training import lm as training
from experiments.training.lm import Encoded, answer_loss, bucketed
from tests.experiments.training.conftest import HELD, TEXTS, TOY, TUNED
from tests.models import tiny
from tstmeta.models import hub
from tstmeta.models.causal import Continuation, backbone


def test_the_loss_is_that_of_transformers_over_every_token_after_the_first():
    model = tiny.network("gpt2")
    encoded, _ = training.encode(TEXTS[:3], tiny.tokenizer("gpt2"), 32)
    with torch.no_grad():
        together = sum(float(answer_loss(model, batch)) for batch in bucketed(encoded, 4096, 0))
        alone = 0.0
        for item in encoded:
            ids = torch.tensor([item.ids])
            alone += float(model(ids, labels=ids).loss) * (len(item.ids) - 1)
    assert together == pytest.approx(alone, rel=1e-5)


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=30), min_size=1, max_size=12))
@settings(deadline=None)
def test_batches_hold_every_token_once_whatever_the_order_of_texts(rows):
    encoded = [Encoded(ids, 1) for ids in rows]
    batches = bucketed(encoded, 50, 0)
    assert all(batch.ids.numel() <= 50 or len(batch.ids) == 1 for batch in batches)
    targets = sorted(int(token) for batch in batches for token in batch.targets)
    assert targets == sorted(token for ids in rows for token in ids[1:])
    other = bucketed(encoded[::-1], 50, 0)
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(batches, other, strict=True))


def test_sentences_stand_between_marks_and_long_ones_are_cut_and_counted():
    tokenizer = tiny.tokenizer("gpt2")
    mark = tokenizer.eos_token_id
    ids = tokenizer(TEXTS[0])["input_ids"]
    assert training.encode(TEXTS[:1], tokenizer, 99)[0][0].ids == [mark, *ids, mark]
    encoded, cut = training.encode([*TEXTS[:2], "a"], tokenizer, 4)
    assert cut == 2
    assert encoded[0].ids == [mark, *ids[:3]]
    (spelt,), _ = training.encode(["so <|endoftext|> so"], tokenizer, 99)
    assert Counter(spelt.ids)[mark] == 2


def test_training_lowers_the_loss_and_the_report_says_what_the_model_is_worth(finished):
    out, report = finished["lm"]
    assert report["options"]["steps"] == len(report["loss_curve"]) == 12
    assert report["loss_curve"][-1] < report["loss_curve"][0] - 0.5
    assert (report["corpus"]["train"], report["corpus"]["held_out"]) == (24, 2)
    model = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert report["parameters"] == sum(value.numel() for value in model.parameters())
    ids = {text: tokenizer(text)["input_ids"] for text in [*TEXTS, *HELD]}
    requests = [Continuation((tokenizer.bos_token_id,), tuple(ids[text])) for text in HELD]
    loss = -sum(tiny.oracle(model, request).sum() for request in requests)
    tokens = sum(len(request.tokens) for request in requests)
    counts = Counter(token for text in TEXTS for token in ids[text])
    total = sum(counts.values()) + len(tokenizer)
    plain = -sum(math.log((counts[token] + 1) / total) for text in HELD for token in ids[text])
    assert report["perplexity"]["held_out"] == {
        "sentences": 2,
        "tokens": tokens,
        "words": 8,
        "per_token": pytest.approx(math.exp(loss / tokens), rel=1e-3),
        "per_word": pytest.approx(math.exp(loss / 8), rel=1e-3),
        "unigrams_per_token": pytest.approx(math.exp(plain / tokens), rel=1e-3),
    }


def test_fine_tuning_begins_at_the_base_and_keeps_its_tokenizer(bases, tmp_path):
    begin = bases["gpt2"]
    options = TUNED.model_copy(update={"epochs": 2, "batch": 2})
    report = training.train(tmp_path, TEXTS, HELD, base=begin, options=options)
    assert report["base"] == hub.identity(begin)
    assert report["options"]["steps"] == 24
    tuned = backbone(str(tmp_path))
    assert hub.tokenizer(tuned).get_vocab() == hub.tokenizer(begin).get_vocab()
    before, after = (AutoModelForCausalLM.from_pretrained(m.where) for m in (begin, tuned))
    assert after.config.model_type == "gpt2"
    assert after.dtype == torch.float32
    pairs = zip(after.parameters(), before.parameters(), strict=True)
    assert all(not torch.equal(new, old) for new, old in pairs)
    first, second = np.array(report["loss_curve"]).reshape(2, 12).mean(axis=1)  # epochs
    assert second < first


def test_steps_bound_a_course_and_long_curves_are_thinned(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_POINTS", 3)
    report = training.train(tmp_path, TEXTS, HELD, options=TOY.model_copy(update={"steps": 5}))
    assert (report["options"]["steps"], len(report["loss_curve"])) == (5, 3)
