"""Models out of folders and hubs: what is read, what is refused, and how each is called."""

import os
import pickle
import shutil
import socket
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.models import tiny
from tstmeta.models import hub
from tstmeta.models.causal import LanguageModel, MissingModel, backbone
from tstmeta.models.hub import Lazy, fingerprint, here, identity, load
from tstmeta.schema import TstmetaError


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory):
    return tiny.folder(tmp_path_factory.mktemp("saved") / "llama", "llama")


@pytest.fixture
def folder(llama_folder, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(llama_folder, tmp_path / "model")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """A machine without a network and with an empty cache of hub models."""
    calls = []

    def refuse(*args, **options):
        calls.append(args)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return calls


def test_a_folder_is_loaded_as_it_was_saved(llama_folder, offline):
    engine = load(str(llama_folder), device="cpu")
    assert engine.model.dtype == torch.float32
    requests = tiny.draw(0)
    wanted = [tiny.oracle(tiny.network("llama"), request) for request in requests]
    assert tiny.distance(tiny.answers(engine, requests), wanted) < 1e-4
    assert engine.tokenizer.chat_template == tiny.TEMPLATES["llama"]
    assert engine.identity == f"llama@{fingerprint(llama_folder)}|float32|sdpa"
    assert not offline, "no socket is opened"


def test_a_lazy_model_says_the_same_of_itself_before_and_after_it_is_loaded(llama_folder):
    lazy = Lazy(backbone(str(llama_folder)), "cpu", "bfloat16", rounded=True, budget=77)
    assert isinstance(lazy, LanguageModel)
    before = (lazy.identity, lazy.window, lazy.vocabulary)
    assert lazy.identity.endswith("|bfloat16|sdpa|rounded")
    assert "engine" not in vars(lazy)
    tiny.answers(lazy, tiny.draw(0))
    engine = lazy.engine
    assert before == (engine.identity, engine.window, engine.vocabulary)
    assert (engine.model.dtype, engine.rounded, engine.budget) == (torch.bfloat16, True, 77)


def changed_tensor(change):
    def spoil(folder):
        weights = load_file(folder / "model.safetensors")
        name = next(name for name in sorted(weights) if "mlp" in name)
        weights |= change(name, weights.pop(name))
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    return spoil


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (changed_tensor(lambda name, weight: {name: weight + 2**-20}), True),
        (lambda folder: tiny.change_json(folder / "config.json", rms_norm_eps=1e-3), True),
        (lambda folder: tiny.change_json(folder / "tokenizer_config.json", eos_token="a"), True),
        (lambda folder: (folder / "chat_template.jinja").write_text("another"), True),
        (lambda folder: (folder / "optimizer.bin").write_bytes(b"state"), False),
    ],
)
def test_a_fingerprint_is_of_all_that_changes_a_value(folder, llama_folder, change, counts):
    before = fingerprint(folder)
    assert before == fingerprint(llama_folder)  # not of the place
    assert len(before) == 12
    change(folder)
    assert (fingerprint(folder) != before) == counts  # in the same process: nothing stale


class Bomb:
    """Creates a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_pickles_are_never_read(folder, tmp_path):
    fired = tmp_path / "fired"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(fired)))
    with pytest.raises(MissingModel, match=r"holds no \.safetensors file: .*pickles"):
        fingerprint(folder)
    assert identity(backbone(str(folder))) == "model@missing"
    with pytest.raises(MissingModel, match="safetensors"):
        load(str(folder), device="cpu")
    assert not fired.exists()


def test_code_that_comes_with_a_model_is_not_run_and_nobody_is_asked(folder, tmp_path, monkeypatch):
    fired = tmp_path / "fired"
    (folder / "theirs.py").write_text(f"open({str(fired)!r}, 'w')\nclass Model: pass\n")
    classes = {"AutoConfig": "theirs.Model", "AutoModelForCausalLM": "theirs.Model"}
    tiny.change_json(folder / "config.json", auto_map=classes, model_type="unheard-of")
    monkeypatch.setattr("builtins.input", lambda *args: pytest.fail("the user was asked"))
    with pytest.raises(MissingModel, match="cannot load"):
        load(str(folder), device="cpu")
    assert not fired.exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: os.truncate(folder / "model.safetensors", 0),
        lambda folder: os.truncate(folder / "model.safetensors", 20_000),
        # they would be filled with random numbers
        changed_tensor(lambda name, weight: {}),
        changed_tensor(lambda name, weight: {name: weight[:, :-1].contiguous()}),
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "config.json").write_text("[]"),
        lambda folder: (folder / "config.json").write_text('{"model_type": "unheard-of"}'),
        lambda folder: (folder / "tokenizer.json").write_text("[]"),
    ],
)
def test_a_folder_with_a_fault_is_an_error_with_the_remedy(folder, spoil):
    spoil(folder)
    with pytest.raises(MissingModel, match=r"cannot load .*model: .* Remedy: "):
        load(str(folder), device="cpu")


@pytest.mark.parametrize(
    "name", ["", "no-such-model", "/no/such/folder", "owner/..", "no/such.gguf"]
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name):
    with pytest.raises(TstmetaError, match=r"no model is called .* smollm2-135m, .* 3b, 8b"):
        load(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("owner/name@abc", "hf download owner/name --revision abc; or name a local folder"),
        ("8b", "ask for access .* --revision 0e9e39f249"),
    ],
)
def test_without_a_network_a_model_that_is_not_here_fails_at_once_with_the_remedy(
    offline, name, words
):
    began = time.monotonic()
    with pytest.raises(MissingModel, match=rf"cannot load .* Remedy: .*{words}"):
        load(name, device="cpu")
    assert time.monotonic() - began < 15
    assert offline


def in_the_cache(root, saved, *leave_out):
    """Put a folder where the hub's client puts what it fetched; the revision is a commit."""
    commit = "c" * 40
    place = root / "models--owner--name"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    shutil.copytree(saved, place / "snapshots" / commit, ignore=lambda *_: list(leave_out))
    return commit


def test_a_model_that_was_fetched_is_loaded_without_a_network(llama_folder, offline, tmp_path):
    commit = in_the_cache(tmp_path / "hub", llama_folder)
    assert here(backbone("owner/name"))
    # a branch moves, a commit does not
    assert load("owner/name", device="cpu").identity == f"owner/name@{commit}|float32|sdpa"
    assert not offline


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json"])
def test_half_a_model_in_the_cache_is_not_here(llama_folder, offline, tmp_path, lost):
    in_the_cache(tmp_path / "hub", llama_folder, lost)
    assert not here(backbone("owner/name"))
    with pytest.raises(MissingModel, match="hf download owner/name"):
        load("owner/name", device="cpu")


def test_a_model_that_lacks_one_of_its_files_is_not_here(folder):
    assert here(backbone(str(folder)))
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    assert hub.absent(backbone(str(folder)))


def test_a_device_that_is_not_here_is_refused(llama_folder):
    with pytest.raises(TstmetaError, match="cannot be used here"):
        load(str(llama_folder), device="cuda:99")
