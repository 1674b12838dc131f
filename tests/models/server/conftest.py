"""A served tiny model, and what is asked of it."""

import pytest

from tests.models.server.fake_server import TEXTS, Fake, serving, tiny_engine, tiny_tokenizer
from tstmeta.models.causal import Continuation


@pytest.fixture(scope="session")
def tokenizer():
    return tiny_tokenizer(TEXTS)


@pytest.fixture(scope="session")
def engine(tokenizer):
    return tiny_engine(tokenizer)


@pytest.fixture
def fake(engine, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(Fake(engine)) as running:
        yield running


@pytest.fixture(scope="session")
def requests(tokenizer):
    """Shared contexts, equal requests, one without tokens, texts in two scripts."""
    texts = ["the ships", "lemons!", "", "the ships", "Grüße, 京都", "so kind as to send me 12"]
    ids = [tuple(tokenizer(text)["input_ids"]) for text in texts]
    contexts = [tuple(tokenizer(text)["input_ids"]) for text in TEXTS[:2]]
    return [Continuation(context, tokens) for context in contexts for tokens in ids]
