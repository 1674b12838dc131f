"""GGUF files: a tiny one that is written here, and SmolLM2, read through our path."""

import json
import os
import subprocess
import sys

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.metrics import item, scores
from tests.models import tiny
from tstmeta.metrics.fluency import Perplexity
from tstmeta.models import fetching, hub
from tstmeta.models.causal import DEFAULT, Continuation, MissingModel, backbone

#: Names of GGUF -> those of transformers, in a layer.
LAYER = {
    **{"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"},
    **{f"attn_{k}": f"self_attn.{k}_proj" for k in ("q", "k", "v")},
    **{"attn_output": "self_attn.o_proj"},
    **{f"ffn_{k}": f"mlp.{k}_proj" for k in ("gate", "up", "down")},
}


def rotated(weight, heads):
    """Queries and keys as llama.cpp has them: halves of a head laid into one another."""
    size = weight.shape[0] // heads
    return weight.reshape(heads, 2, size // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def write(path, kind=gguf.GGMLQuantizationType.F32):
    """The tiny Llama and its tokenizer as a GGUF file."""
    network, tokenizer = tiny.network("llama"), tiny.tokenizer("llama")
    config, tensors = network.config, network.state_dict()
    out = gguf.GGUFWriter(str(path), "llama")
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    special = set(tokenizer.all_special_tokens)
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    facts = {
        **{"context_length": tiny.WINDOW, "embedding_length": config.hidden_size},
        **{"block_count": config.num_hidden_layers, "rope_freq_base": 10000.0},
        **{"feed_forward_length": config.intermediate_size, "vocab_size": config.vocab_size},
        **{"head_count": config.num_attention_heads, "head_count_kv": config.num_key_value_heads},
        **{"layer_norm_rms_eps": config.rms_norm_eps, "chat_template": tokenizer.chat_template},
        **{"tokenizer_model": "gpt2", "tokenizer_pre": "smollm", "token_list": words},
        "token_types": [3 if word in special else 1 for word in words],
        "token_merges": [" ".join(merge) for merge in merges],
        "bos_token_id": tokenizer.convert_tokens_to_ids("<|begin_of_text|>"),
        "eos_token_id": tokenizer.eos_token_id,
    }
    for name, fact in facts.items():
        getattr(out, f"add_{name}")(fact)
    named = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
    for place in range(config.num_hidden_layers):
        named |= {f"blk.{place}.{a}": f"model.layers.{place}.{b}" for a, b in LAYER.items()}
    for name, ours in named.items():
        weight = tensors[f"{ours}.weight"].numpy()
        if name.endswith(("attn_q", "attn_k")):
            heads = config.num_attention_heads if name.endswith("q") else config.num_key_value_heads
            weight = rotated(weight, heads)
        stored = kind if weight.ndim > 1 else gguf.GGMLQuantizationType.F32
        data = gguf.quantize(np.ascontiguousarray(weight), stored)
        out.add_tensor(f"{name}.weight", data, raw_dtype=stored)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder of the user."""
    monkeypatch.setattr(fetching, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


def one_by_one(folder, texts, **file):
    """Log-probabilities of each text after the end-of-text token, as transformers gives them."""
    tokenizer = AutoTokenizer.from_pretrained(folder, **file)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32", **file).eval()
    rows = tokenizer(texts, add_special_tokens=False)["input_ids"]
    requests = [Continuation((tokenizer.eos_token_id,), tuple(tokens)) for tokens in rows]
    return requests, [tiny.oracle(model, request) for request in requests]


@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_log_probabilities_are_those_of_transformers_asked_one_by_one(tmp_path, cache, kind):
    file = write(tmp_path / "tiny.gguf", gguf.GGMLQuantizationType[kind])
    requests, wanted = one_by_one(tmp_path, tiny.PROSE, gguf_file=file.name)
    engine = hub.load(str(file), device="cpu")
    assert tiny.distance(tiny.answers(engine, requests), wanted) < 1e-4
    assert engine.tokenizer.chat_template == tiny.TEMPLATES["llama"]
    assert engine.identity == f"tiny.gguf@{hub.file_hash(file)[:12]}|float32|sdpa"
    if kind == "F32":  # the weights came through whole
        exact = [tiny.oracle(tiny.network("llama"), request) for request in requests]
        assert tiny.distance(wanted, exact) < 1e-4


def test_a_metric_takes_a_file_by_its_path_and_a_second_start_writes_nothing(tmp_path, cache):
    file = write(tmp_path / "tiny.gguf")
    [score] = scores(Perplexity(str(file)), item(tiny.PROSE[0]))
    assert score.value > 1
    [folder] = [path for path in cache.iterdir() if path.is_dir()]
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    hub.load(str(file), device="cpu")
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not list(cache.glob("*.part"))


SCRIPT = """
import sys
from pathlib import Path
from tstmeta.models import fetching, gguf
fetching.user_cache_dir = lambda *_, **__: sys.argv[1]
write = gguf._write
gguf._write = lambda *paths: print("written") or write(*paths)
print(gguf.folder(Path(sys.argv[2]), "abc" * 8))
"""


def test_two_processes_at_once_write_a_file_out_once_and_say_nothing(tmp_path, cache):
    file = write(tmp_path / "tiny.gguf")
    command = [sys.executable, "-c", SCRIPT, str(cache.parent), str(file)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    both = [subprocess.Popen(command, **pipes, text=True) for _ in range(2)]
    printed = "".join(process.communicate(timeout=120)[0] for process in both).split()
    assert sorted(printed) == [*[str(cache / "dequantised-abcabcabcabc")] * 2, "written"]


@pytest.mark.parametrize(
    "spoil",
    [lambda data: b"", lambda data: data[:200], lambda data: data[:-2000], lambda data: b"x" * 999],
)
def test_a_broken_file_is_an_error_that_names_it_and_the_remedy(tmp_path, cache, spoil):
    file = write(tmp_path / "tiny.gguf")
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(
        MissingModel, match=r"cannot load .*tiny\.gguf: .* Remedy: name a GGUF file"
    ):
        hub.load(str(file), device="cpu")
    assert not [path for path in cache.iterdir() if path.is_dir()]


TEXTS = ["It was bad, to be honest.", "The soup is cold!", "Grüße aus Köln"]


@pytest.fixture(scope="module")
def smollm2():
    """The model with its engine."""
    model = backbone(DEFAULT)
    if not hub.here(model):
        pytest.skip(hub.absent(model))
    return model, hub.load(DEFAULT, device="cpu")


@pytest.mark.parametrize(
    "read", ["as we write it out", pytest.param("as it is", marks=pytest.mark.nightly)]
)
def test_smollm2_says_what_transformers_says_asked_one_by_one(smollm2, read):
    model, engine = smollm2
    file = {"gguf_file": model.folder.name} if read == "as it is" else {}
    folder = model.folder.parent if file else hub.folder(model)
    requests, wanted = one_by_one(os.fspath(folder), TEXTS, **file)
    assert tiny.distance(tiny.answers(engine, requests), wanted) < 1e-4


def test_llama_cpp_says_the_same_within_what_quantised_arithmetic_allows(smollm2):
    llama_cpp = pytest.importorskip("llama_cpp", reason="not built: pip install llama-cpp-python")
    model, engine = smollm2
    requests, _ = one_by_one(hub.folder(model), TEXTS)
    peer = llama_cpp.Llama(str(model.folder), n_ctx=64, logits_all=True, verbose=False)
    for (context, tokens), ours in zip(requests, tiny.answers(engine, requests), strict=True):
        peer.reset()
        peer.eval([*context, *tokens[:-1]])
        table = torch.tensor(peer.scores[: len(tokens)]).log_softmax(-1)
        theirs = table[range(len(tokens)), list(tokens)].numpy()
        # it rounds what it multiplies to eight bits: 0.14 on average was measured, 0.44 at most
        assert np.abs(ours - theirs).mean() < 0.25
        assert np.abs(ours - theirs).max() < 1
