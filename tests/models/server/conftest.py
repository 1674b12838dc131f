"""A served tiny model, and what it is to answer."""

import pytest

from tests.models import tiny
from tests.models.server.fake_server import TEXTS, Fake, serving, tiny_engine, tiny_tokenizer
from tstmeta.models.causal import Continuation
from tstmeta.models.server import ServerModel


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


@pytest.fixture
def served(fake, tokenizer):
    """A model of the server, after its trial unless ``tried`` is off."""

    def build(tried=True, url="", **options):
        model = ServerModel(url or fake.url, "tiny", tokenizer, label=options.pop("label", ""))
        for name, value in {"pause": 0.01, "retries": 2, **options}.items():
            setattr(model, name, value)
        if tried:
            model.check()
        return model

    return build


@pytest.fixture(scope="session")
def requests(tokenizer):
    """Shared contexts, equal requests, texts in two scripts."""
    texts = ["the ships", "lemons!", "we", "the ships", "Grüße, 京都", "so kind as to send me 12"]
    ids = [tuple(tokenizer(text)["input_ids"]) for text in texts]
    contexts = [tuple(tokenizer(text)["input_ids"]) for text in TEXTS[:2]]
    return [Continuation(context, tokens) for context in contexts for tokens in ids]


@pytest.fixture(scope="session")
def wanted(engine, requests):
    """What the model itself answers."""
    return tiny.answers(engine, requests)
