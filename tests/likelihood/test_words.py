"""Words of a variant: kinds, orders, mistakes; a server's name and whose tokenizer it has."""

import pytest

from tests.likelihood import small
from tstmeta.likelihood.zeroshot import Server, model_of, parse
from tstmeta.models.causal import backbone
from tstmeta.schema import TstmetaError

GOOD = {
    "": {},
    "released": {"variant": "released"},
    "emphasis": {"instruction set": "emphasis"},
    "my.toml#mine": {"instruction set": "my.toml#mine"},
    "owner/name@abc": {"model": "owner/name@abc"},
    "mine": {"model": "mine"},
    "my.csv": {"wordings file": "my.csv"},
    "http://localhost:8000/v1#m": {"server": "http://localhost:8000/v1#m"},
    "bfloat16+cuda:1": {"dtype": "bfloat16", "device": "cuda:1"},
    "8b+released+cpu": {"model": "8b", "variant": "released", "device": "cpu"},
}


@pytest.mark.parametrize(("words", "kinds"), GOOD.items(), ids=GOOD)
def test_words_are_understood_in_any_order(words, kinds, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse(words) == kinds
    assert parse("+".join(reversed(words.split("+")))) == kinds


BAD = {
    "relased": "likelihood does not know 'relased': use a variant (equation, released), instruc",
    "released+equation": "names two variants: released and equation",
    "paper+my.toml": "names two instruction sets: paper and my.toml",
    "http://a/v1+https://b/v1": "names two servers: http://a/v1 and https://b/v1",
    "http://h/v1": "which model does http://h/v1 run? Write http://h/v1#NAME",
    "http://h/v1#served": "no model is called 'served'",
}


@pytest.mark.parametrize(("words", "message"), BAD.items(), ids=BAD)
def test_words_that_make_no_sense_are_refused(words, message):
    with pytest.raises(TstmetaError) as raised:
        model_of(parse(words))
    assert message in str(raised.value)


SERVERS = {
    "named by its tokenizer": ("8b+http://h/v1", "meta-llama/Llama-3.1-8B-Instruct", "8b"),
    "named there": ("http://h/v1#owner/name", "owner/name", "owner/name"),
    "with a name of its own": ("3b+http://h/v1#served", "served", "3b"),
}


@pytest.mark.parametrize(("words", "model", "tokenizer"), SERVERS.values(), ids=SERVERS)
def test_a_server_and_its_model(words, model, tokenizer):
    assert model_of(parse(words)) == Server("http://h/v1", model, backbone(tokenizer))


def test_a_server_s_model_is_known_by_its_name_and_its_tokenizer(tmp_path):
    identities = []
    for kind in ("llama", "qwen"):
        folder = small.saved(tmp_path / kind / "tiny", kind)
        server = model_of(parse(f"{folder}+http://localhost:1/v1#served"))
        assert isinstance(server, Server)
        assert server.connected().identity == server.identity
        assert server.identity.startswith("served|server|tokenizer tiny@")
        identities.append(server.identity)
    assert len(set(identities)) == 2
