"""Models out of folders and hubs: what is read, what is refused, and how each is called."""

import json
import os
import pickle
import shutil
import socket
import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.models import tiny
from tstmeta.models import hub
from tstmeta.models.causal import BACKBONES, Backbone, LanguageModel, MissingModel, backbone
from tstmeta.models.hub import fingerprint, here, identity
from tstmeta.models.loading import Lazy, load
from tstmeta.schema import TstmetaError


@pytest.fixture(scope="session", params=["llama", "gpt2"])
def saved(request, tmp_path_factory):
    return tiny.folder(tmp_path_factory.mktemp("saved") / request.param, request.param)


@pytest.fixture
def folder(saved, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(saved, tmp_path / "model")


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


# ----------------------------------------------------------------------------------- good folders


def test_a_folder_is_loaded_as_it_was_saved(saved):
    one = load(str(saved), device="cpu")
    assert isinstance(one, tiny.Engine)
    assert one.model.dtype == torch.float32
    requests = tiny.draw(0)
    truth = [tiny.oracle(tiny.network(saved.name), request) for request in requests]
    assert tiny.distance(tiny.answers(one, requests), truth) < 1e-4
    assert one.tokenizer.chat_template == tiny.TEMPLATES[tiny.FAMILY[saved.name]]
    assert one.identity == f"{saved.name}@{fingerprint(saved)}|float32|sdpa"


def test_the_options_arrive_and_stand_in_the_identity(saved):
    one = load(
        str(saved), device="cpu", dtype="bfloat16", attention="eager", rounded=True, budget=77
    )
    assert (one.model.dtype, one.attention, one.rounded) == (torch.bfloat16, "eager", True)
    assert one.budget == 77
    assert one.identity.endswith("|bfloat16|eager|rounded")


@pytest.mark.parametrize("rounded", [False, True])
def test_a_lazy_model_says_the_same_of_itself_before_and_after_it_is_loaded(saved, rounded):
    lazy = Lazy(backbone(str(saved)), "cpu", "auto", "eager", rounded)
    assert isinstance(lazy, LanguageModel)
    before = (lazy.identity, lazy.window, lazy.vocabulary)
    assert "engine" not in vars(lazy)
    requests = tiny.draw(0)
    tiny.answers(lazy, requests)
    one = lazy.engine
    assert before == (one.identity, one.window, one.vocabulary)


def test_no_socket_is_opened_for_a_folder(saved, offline):
    load(str(saved), device="cpu")
    assert not offline


# ------------------------------------------------------------------------------------ fingerprints


def test_a_fingerprint_is_of_the_content_and_not_of_the_place(folder, saved):
    assert fingerprint(folder) == fingerprint(saved)
    assert len(fingerprint(folder)) == 12


def changed_weight(folder):
    weights = load_file(folder / "model.safetensors")
    name = sorted(weights)[0]
    weights[name] = weights[name].clone()
    weights[name].view(-1)[0] += 2**-20
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def changed_json(name, key, value):
    def change(folder):
        path = folder / name
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed_weight,
        changed_json("config.json", "rms_norm_eps", 1e-3),
        changed_json("tokenizer_config.json", "eos_token", "a"),
        lambda folder: (folder / "chat_template.jinja").write_text("another"),
    ],
    ids=["weights", "config", "tokenizer", "template"],
)
def test_whatever_changes_a_value_changes_the_fingerprint(folder, change):
    before = fingerprint(folder)
    change(folder)
    assert fingerprint(folder) != before  # in the same process: nothing stale is remembered


def test_what_changes_no_value_changes_no_fingerprint(folder):
    before = fingerprint(folder)
    (folder / "README.md").write_text("words")
    (folder / "optimizer.bin").write_bytes(b"state")
    assert fingerprint(folder) == before


# ------------------------------------------------------------------------------------- bad folders


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_pickles_are_never_read(folder, tmp_path):
    fired = tmp_path / "fired"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(fired)))
    with pytest.raises(MissingModel, match=r"holds no \.safetensors file: .*pickles"):
        identity(backbone(str(folder)))
    with pytest.raises(MissingModel, match="safetensors"):
        load(str(folder), device="cpu")
    assert not fired.exists()
    pickle.loads((folder / "pytorch_model.bin").read_bytes())  # the bomb does work
    assert fired.exists()


def test_code_that_comes_with_a_model_is_not_run_and_nobody_is_asked(folder, tmp_path, monkeypatch):
    fired = tmp_path / "fired"
    (folder / "theirs.py").write_text(f"open({str(fired)!r}, 'w')\nclass Model: pass\n")
    classes = {"AutoConfig": "theirs.Model", "AutoModelForCausalLM": "theirs.Model"}
    changed_json("config.json", "auto_map", classes)(folder)
    changed_json("config.json", "model_type", "unheard-of")(folder)

    def asked(*args):
        pytest.fail("the user was asked")

    monkeypatch.setattr("builtins.input", asked)
    with pytest.raises(MissingModel, match="cannot load"):
        load(str(folder), device="cpu")
    assert not fired.exists()


@pytest.mark.parametrize("size", [0, 4, 100, 20_000])
def test_weights_that_were_cut_are_an_error_with_the_remedy(folder, size):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(MissingModel, match=r"cannot load .*model: .* Remedy: "):
        load(str(folder), device="cpu")


@pytest.mark.parametrize("fault", ["missing", "shape"])
def test_weights_that_lack_a_part_are_refused_and_not_filled_with_random_numbers(folder, fault):
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in sorted(weights) if "mlp" in name and weights[name].dim() == 2)
    if fault == "missing":
        del weights[name]
    else:
        weights[name] = weights[name][:, :-1].contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingModel, match=r"cannot load .* Remedy: "):
        load(str(folder), device="cpu")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"model_type": "unheard-of"}'])
def test_a_folder_that_lacks_a_file_or_holds_a_bad_one_is_an_error_with_the_remedy(
    folder, name, content
):
    if content is None:
        (folder / name).unlink()
        if name == "tokenizer.json":
            (folder / "tokenizer_config.json").unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(MissingModel, match=r"cannot load .* Remedy: "):
        load(str(folder), device="cpu")


def test_an_empty_folder_is_no_model(tmp_path):
    assert not here(backbone(str(tmp_path)))
    with pytest.raises(MissingModel, match=r"\.safetensors"):
        load(str(tmp_path), device="cpu")


def test_a_tokenizer_of_another_model_is_noticed_when_it_has_more_tokens(folder):
    tokenizer = tiny.tokenizer(tiny.FAMILY[load(str(folder)).model.config.model_type])
    assert len(tokenizer) == 320
    smaller = tiny.network("llama", vocab_size=300)
    one = tiny.Engine(smaller, tokenizer, "mixed")
    request = tiny.Continuation((5, 6), (310, 7))
    with pytest.raises(TstmetaError, match="do the tokenizer and the weights belong together"):
        next(one.logprobs([request]))


# ---------------------------------------------------------------------------------- names and hubs


@pytest.mark.parametrize(
    "name",
    [
        *("", "no-such-model", "./no/such/folder", "/no/such/folder", "~/no"),
        *("owner/", "a/b/c", "my models/one", "owner/..", "owner/-name", "owner/a--b"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name):
    with pytest.raises(TstmetaError, match=r"no model is called .* embedded, 3b, 8b"):
        load(name)


def test_a_hub_model_is_named_with_or_without_a_revision():
    assert backbone("owner/name") == Backbone("owner/name", "owner/name")
    assert backbone("owner/name@abc") == Backbone("owner/name@abc", "owner/name", "abc")
    assert identity(backbone("owner/name@abc")) == "owner/name@abc"
    assert identity(BACKBONES["3b"]).startswith("meta-llama/Llama-3.2-3B-Instruct@0cb88a4f")


@pytest.mark.parametrize("name", ["owner/name", "owner/name@abc", "3b", "smollm2-135m"])
def test_without_a_network_a_model_that_is_not_here_fails_at_once_with_the_remedy(offline, name):
    load_nothing_slow_to_import()
    began = time.monotonic()
    with pytest.raises(MissingModel, match=r"cannot load .* Remedy: .*hf download .*local folder"):
        load(name, device="cpu")
    assert time.monotonic() - began < 5
    assert offline


def load_nothing_slow_to_import():
    """What takes seconds once is not what the test is about."""
    import huggingface_hub
    import transformers

    assert transformers.AutoTokenizer
    assert huggingface_hub.HfApi


def test_a_gated_model_says_where_to_ask(offline):
    with pytest.raises(MissingModel, match=r"ask for access .* --revision 0e9e39f249"):
        load("8b", device="cpu")
    assert "ask for access" not in hub.remedy(BACKBONES["qwen2.5-0.5b"])


def in_the_cache(root, saved, leave_out=()):
    """Put a folder where the hub's client puts what it fetched; the revision is a commit."""
    commit = "c" * 40
    place = root / "models--owner--name"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    shutil.copytree(saved, place / "snapshots" / commit, ignore=lambda *_: list(leave_out))
    return commit


def test_a_model_that_was_fetched_is_loaded_without_a_network(saved, offline, tmp_path):
    commit = in_the_cache(tmp_path / "hub", saved)
    assert here(backbone("owner/name"))
    one = load("owner/name", device="cpu")
    assert not offline
    # a branch moves, a commit does not
    assert one.identity == f"owner/name@{commit}|float32|sdpa"


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "config.json"])
def test_half_a_model_in_the_cache_is_not_here(saved, offline, tmp_path, lost):
    in_the_cache(tmp_path / "hub", saved, leave_out=[lost])
    assert not here(backbone("owner/name"))
    with pytest.raises(MissingModel, match="hf download owner/name"):
        load("owner/name", device="cpu")


@pytest.mark.parametrize("content", ["{", "[]", '{"weight_map": []}', '{"weight_map": {}}'])
def test_a_model_whose_index_cannot_be_read_is_not_here(folder, content):
    assert here(backbone(str(folder)))
    (folder / "model.safetensors.index.json").write_text(content)
    assert not here(backbone(str(folder)))


# ------------------------------------------------------------------------------ device and numbers


@pytest.mark.parametrize("dtype", ["float64", "int8", "float31", "", "Float32"])
def test_a_number_type_that_is_not_known_is_refused(saved, dtype):
    with pytest.raises(TstmetaError, match="use auto, float32, bfloat16, float16"):
        load(str(saved), device="cpu", dtype=dtype)


@pytest.mark.parametrize("device", ["cpuu", "", "cuda:99"])
def test_a_device_that_is_not_here_is_refused(saved, device):
    with pytest.raises(TstmetaError, match="cannot be used here"):
        load(str(saved), device=device)


def test_an_attention_that_is_not_known_is_refused(saved):
    with pytest.raises(TstmetaError, match="attention"):
        load(str(saved), device="cpu", attention="flashy")


def test_half_precision_is_near_full_precision(saved):
    request = tiny.Continuation((9, 10, 11), tuple(range(12, 30)))
    exact = tiny.oracle(tiny.network(saved.name), request)
    for dtype in ("bfloat16", "float16"):
        [found] = tiny.answers(load(str(saved), device="cpu", dtype=dtype), [request])
        assert 0 < np.abs(found - exact).mean() < 0.3
