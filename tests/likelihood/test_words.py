"""Words of a variant: kinds, orders, mistakes; a server's name and whose tokenizer it has."""

from __future__ import annotations

import pytest

from tests.likelihood import small
from tstmeta.likelihood.words import Server, model_of, understood
from tstmeta.models import server as servers
from tstmeta.models.causal import backbone
from tstmeta.schema import TstmetaError

GOOD = {
    "": {},
    "released": {"variant": "released"},
    "equation": {"variant": "equation"},
    "emphasis": {"instruction set": "emphasis"},
    "my.toml#mine": {"instruction set": "my.toml#mine"},
    "a/my.toml": {"instruction set": "a/my.toml"},
    "8b": {"model": "8b"},
    "owner/name@abc": {"model": "owner/name@abc"},
    "my.csv": {"wordings file": "my.csv"},
    "http://localhost:8000/v1#m": {"server": "http://localhost:8000/v1#m"},
    "bfloat16+cuda:1": {"dtype": "bfloat16", "device": "cuda:1"},
    "8b+released+cpu": {"model": "8b", "variant": "released", "device": "cpu"},
}


@pytest.mark.parametrize(("words", "said"), GOOD.items(), ids=GOOD)
def test_words_are_understood_in_any_order(words, said):
    assert understood(words) == said
    assert understood("+".join(reversed(words.split("+")))) == said


def test_a_folder_is_a_model(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert understood("mine") == understood(str(tmp_path / "mine")) | {"model": "mine"}


BAD = {
    "relased": "likelihood does not know 'relased': use a variant (equation, released), instruc",
    "released+equation": "names two variants: released and equation",
    "paper+my.toml": "names two instruction sets: paper and my.toml",
    "3b+8b": "names two models: 3b and 8b",
    "a.csv+b.csv": "names two wordings files: a.csv and b.csv",
    "cpu+cuda": "names two devices: cpu and cuda",
    "float32+float16": "names two dtypes: float32 and float16",
    "http://a/v1+https://b/v1": "names two servers: http://a/v1 and https://b/v1",
}


@pytest.mark.parametrize(("words", "message"), BAD.items(), ids=BAD)
def test_words_that_make_no_sense_are_told(words, message):
    with pytest.raises(TstmetaError) as raised:
        understood(words)
    assert message in str(raised.value)


# ------------------------------------------------------------------------------------- servers

SERVERS = {
    "named by its tokenizer": ("8b+http://h/v1", "meta-llama/Llama-3.1-8B-Instruct", "8b"),
    "named there": ("http://h/v1#owner/name", "owner/name", "owner/name"),
    "with a name of its own": ("3b+http://h/v1#served", "served", "3b"),
}


@pytest.mark.parametrize(("words", "model", "tokenizer"), SERVERS.values(), ids=SERVERS)
def test_a_server_and_its_model(words, model, tokenizer):
    assert model_of(understood(words)) == Server("http://h/v1", model, backbone(tokenizer))


def test_a_server_without_a_model_is_told():
    with pytest.raises(
        TstmetaError, match=r"which model does http://h/v1 run\? Write http://h/v1#"
    ):
        model_of(understood("http://h/v1"))
    with pytest.raises(TstmetaError, match="no model is called 'served'"):
        model_of(understood("http://h/v1#served"))


def test_a_server_s_model_is_known_by_its_name_and_its_tokenizer(tmp_path):
    folder = small.saved(tmp_path / "tiny")
    server = model_of(understood(f"{folder}+http://localhost:1/v1#served"))
    assert isinstance(server, Server)
    made = server.connected()
    assert isinstance(made, servers.ServerModel)
    assert made.identity == server.identity
    assert server.identity.startswith("served|server|tokenizer tiny@")
    other = small.saved(tmp_path / "other" / "tiny", "qwen")
    changed = model_of(understood(f"{other}+http://localhost:1/v1#served"))
    assert isinstance(changed, Server)
    assert changed.identity != server.identity


def test_the_model_is_the_embedded_one_when_none_is_named():
    assert model_of(understood("released")) == backbone("embedded")
