"""Perplexity, corpus perplexity and SLOR: values against the upstream loss, statuses, words."""

import math

import numpy as np
import pytest
import torch

from experiments.training.lm import write_unigrams
from tests.metrics import item, scores
from tests.models import tiny
from tstmeta.metrics.fluency import CorpusPerplexity, Perplexity, Slor
from tstmeta.models import lm
from tstmeta.schema import Status

TEXTS = ["the soup was cold", "so", "Grüße aus Köln!", "we were told that the train would leave"]
LONG = " ".join(tiny.PROSE[:3] * 4)


def run(metric, *texts):
    return scores(metric, *map(item, texts))


def upstream(engine, text):
    """The loss that transformers itself computes: mean of -log p over all tokens but the first."""
    tokenizer = engine.tokenizer
    ids = torch.tensor([[tokenizer.eos_token_id, *tokenizer(text)["input_ids"]]])
    with torch.inference_mode():
        return float(engine.model(ids, labels=ids).loss), ids.shape[1] - 1


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of models, one of them with the token frequencies of its training."""
    root = tmp_path_factory.mktemp("models")
    for kind in ("gpt2", "llama"):
        tiny.folder(root / kind, kind)
    tokenizer = tiny.tokenizer("gpt2")
    texts = ["the soup was cold and the waiter rude"]
    write_unigrams(root / "gpt2" / lm.UNIGRAMS, texts, tokenizer)
    return root


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_perplexity_is_the_exponential_of_the_loss_of_transformers(models, kind):
    engine = tiny.engine(kind)
    for text, score in zip(TEXTS, run(Perplexity(f"{models / kind}"), *TEXTS), strict=True):
        assert score.status is Status.OK
        assert score.value == pytest.approx(math.exp(upstream(engine, text)[0]), rel=1e-4)


def test_slor_is_the_gain_over_the_tokens_own_frequencies(models):
    engine, where = tiny.engine("gpt2"), models / "gpt2"
    odds = lm.read_unigrams(where / lm.UNIGRAMS, 320)
    for text, score in zip(TEXTS, run(Slor(f"{where}"), *TEXTS), strict=True):
        loss, count = upstream(engine, text)
        plain = odds[engine.tokenizer(text)["input_ids"]].sum() / count
        assert score.value == pytest.approx(-loss - plain, abs=1e-4)


def test_blank_short_and_long_texts_are_told_apart(models):
    where = models / "gpt2"
    texts = ["the soup was cold", "", " \n", "s", LONG]
    whole = len(tiny.tokenizer("gpt2")(LONG)["input_ids"])
    for metric, blank in ((Perplexity(f"{where}"), 1e9), (Slor(f"{where}"), -math.log(1e9))):
        result = run(metric, *texts)
        statuses = ["ok", "empty", "empty", "ok", "truncated"]
        assert [str(score.status) for score in result] == statuses
        assert [score.value for score in result[1:3]] == [blank, blank]
        assert result[4].detail == f"{whole} tokens, first {tiny.WINDOW} used"


def test_corpus_perplexity_sums_losses_and_lengths_before_it_divides(models):
    engine = tiny.engine("gpt2")
    metric = CorpusPerplexity(f"{models / 'gpt2'}")
    result = run(metric, *TEXTS, "")
    losses, counts = np.array([upstream(engine, text) for text in TEXTS]).T
    details = [score.detail for score in result]
    wanted = math.exp((losses * counts).sum() / counts.sum())
    assert metric.combine(details) == pytest.approx(wanted, rel=1e-4)
    assert metric.combine(details[:4]) == metric.combine(details)
    items = run(Perplexity(f"{models / 'gpt2'}"), *TEXTS)
    assert [score.value for score in result[:4]] == [score.value for score in items]
    assert metric.combine(details) < np.mean([score.value for score in items])
    assert (result[4].status, result[4].value) == (Status.EMPTY, 1e9)
    assert metric.combine(details[4:]) == 1e9
