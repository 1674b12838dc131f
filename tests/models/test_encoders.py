"""Encoders: the numbers of one text at a time, each text once, and nothing odd is read."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from tests.models import tiny_encoder
from tests.models.tiny_encoder import LAYERS, TEXTS, WINDOW
from tstmeta.models import encoders, pooled
from tstmeta.models.causal import Backbone, MissingModel
from tstmeta.models.encoders import MINILM, Encoder, Memory

KINDS = sorted(tiny_encoder.CONFIGS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each architecture, by name."""
    root = tmp_path_factory.mktemp("encoders")
    made = {kind: tiny_encoder.folder(root / kind, kind) for kind in KINDS}
    return made | {"pooled": tiny_encoder.pooled(root / "pooled")}


def encoder(folder: Path, **options) -> Encoder:
    return Encoder(Backbone(folder.name, str(folder)), "cpu", **options)


def alone(folder: Path, text: str, layer: int) -> np.ndarray:
    """The oracle: transformers itself, one text, all hidden states, float64."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).double().eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    made = tokenizer(text, return_tensors="pt", truncation=True, max_length=WINDOW)
    with torch.inference_mode():
        states = model(
            made["input_ids"], attention_mask=made["attention_mask"], output_hidden_states=True
        ).hidden_states
        if layer < LAYERS and hasattr(model, "final_layer_norm"):  # T5, as in bert-score
            return model.final_layer_norm(states[layer])[0].numpy()
    return states[layer][0].numpy()


def distance(found, wanted) -> float:
    assert found.shape == wanted.shape
    return float(np.abs(np.asarray(found) - np.asarray(wanted)).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", [0, 1, LAYERS])
def test_token_vectors_are_those_of_one_text_at_a_time(folders, kind, layer):
    found = encoder(folders[kind], budget=64).tokens(TEXTS, layer)
    for text, one in zip(TEXTS, found, strict=True):
        assert distance(one.vectors, alone(folders[kind], text, layer)) < 1e-4
        assert one.length == len(one.ids)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [1, 40, 10**6])
def test_batching_and_order_change_no_vector(folders, kind, budget):
    wanted = encoder(folders[kind], budget=1).tokens(TEXTS, 2)
    found = encoder(folders[kind], budget=budget).tokens(TEXTS[::-1], 2)[::-1]
    for one, other in zip(found, wanted, strict=True):
        scale = float(other.vectors.abs().max())
        assert distance(one.vectors, other.vectors) < 1e-5 * scale


def test_each_distinct_text_goes_through_the_network_once(folders, monkeypatch):
    made = encoder(folders["bert"])
    asked = []
    plain = Encoder._embedded
    monkeypatch.setattr(Encoder, "_embedded", lambda *a: asked.extend(a[1]) or plain(*a))
    one = made.tokens([TEXTS[0], TEXTS[1], TEXTS[0]], 1)
    two = made.tokens([TEXTS[1], TEXTS[2]], 1)
    assert asked == TEXTS[:3]
    assert one[0] is one[2]
    assert one[1] is two[0]


def test_a_small_memory_forgets_and_computes_the_same_again(folders):
    small, large = (encoder(folders["bert"], memory=size) for size in (4000, 2**20))
    for _ in range(2):
        for one, other in zip(small.tokens(TEXTS, 1), large.tokens(TEXTS, 1), strict=True):
            assert distance(one.vectors, other.vectors) < 1e-5
    assert len(small.memory) < len(TEXTS) == len(large.memory)
    assert small.memory.size <= 4000
    # what is kept of one text must not keep the batch that it came from
    for one in large.tokens(TEXTS, 1):
        assert one.vectors.untyped_storage().nbytes() == one.vectors.nbytes


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), max_size=60))
def test_a_memory_never_outgrows_its_limit_and_forgets_the_oldest(puts):
    memory, order = Memory(100), []
    for key, size in puts:
        memory.put(key, (key, size), size)
        order = [one for one in order if one[0] != key] + [(key, size)]
        while sum(one[1] for one in order) > 100:
            order.pop(0)
        assert memory.size == sum(one[1] for one in order)
        assert {k for k in range(10) if k in memory._kept} == {one[0] for one in order}
    for key, size in order:
        assert memory.get(key) == (key, size)


def test_what_is_used_again_is_forgotten_last():
    memory = Memory(100)
    for key in "ab":
        memory.put(key, key.upper(), 50)
    assert memory.get("a") == "A"
    memory.put("c", "C", 50)
    assert [memory.get(key) for key in "abc"] == ["A", None, "C"]
    memory.clear()
    assert (len(memory), memory.size, memory.get("a")) == (0, 0, None)


@pytest.mark.parametrize("limit", [True, False])
@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta"])
def test_a_text_beyond_the_window_is_cut_and_keeps_its_end_mark(tmp_path, kind, limit):
    made = encoder(tiny_encoder.folder(tmp_path / kind, kind, limit=limit))
    assert made.window == WINDOW
    [long, short] = made.tokens(["no " * 10_000, "no"], 2)
    assert len(long.ids) == WINDOW
    assert long.ids[-1] == made.tokenizer.sep_token_id
    assert long.length > 10_000
    assert short.length == len(short.ids)


def test_a_control_token_that_a_text_spells_is_letters(folders):
    made = encoder(folders["bert"])
    [ids] = made.ids(["so [SEP] [CLS] it ends"])
    assert ids.count(made.tokenizer.sep_token_id) == 1
    assert ids.count(made.tokenizer.cls_token_id) == 1


def test_a_layer_that_is_not_there_is_told(folders):
    said = f"has {LAYERS} layers, not 9; name one from 0 to {LAYERS}"
    with pytest.raises(MissingModel, match=said):
        encoder(folders["bert"]).tokens(["no"], 9)


@pytest.mark.parametrize("normalize", [True, False])
def test_sentence_vectors_are_those_of_sentence_transformers(tmp_path, normalize):
    folder = tiny_encoder.pooled(tmp_path / "one", normalize=normalize)
    upstream = SentenceTransformer(str(folder), device="cpu")
    found = encoder(folder).sentences([*TEXTS, TEXTS[0]])
    for text, one in zip(TEXTS, found, strict=False):
        assert distance(one.vector, upstream.encode(text, show_progress_bar=False)) < 1e-5
        assert math.isclose(np.linalg.norm(one.vector), 1, rel_tol=1e-5) == normalize
    assert found[0] is found[-1]


def test_a_sentence_beyond_its_window_is_told(folders):
    made = encoder(folders["pooled"])
    long, short = made.sentences(["no " * 100, "no"])
    assert made.sentence_window == 24
    assert long.length > 100
    assert short.length <= made.sentence_window


def test_tokens_and_sentences_share_one_network(folders):
    made = encoder(folders["pooled"])
    assert made.network is made.sentence_model[0].auto_model
    [vectors] = made.tokens(["the soup"], LAYERS)
    mean = vectors.vectors.mean(0)
    assert distance(made.sentences(["the soup"])[0].vector, mean / mean.norm()) < 1e-5


def test_the_window_of_tokens_is_the_models_and_not_the_sentences(folders):
    made = encoder(folders["pooled"])
    assert made.sentence_model is not None
    assert (made.window, made.sentence_window) == (WINDOW, 24)


def test_the_embedded_encoder_is_the_package_and_needs_no_hub():
    if encoders.missing(MINILM):
        pytest.skip(encoders.missing(MINILM))
    made = encoders.load(MINILM, "cpu")
    assert encoders.load(MINILM, "cpu") is made
    assert (made.layers, made.window, made.sentence_window) == (6, 512, 256)
    assert encoders.identity(MINILM).startswith("all-minilm-l6-v2@")
    assert made.static.shape == (30522, 384)


def changed_modules(folder: Path, change) -> None:
    file = folder / "modules.json"
    steps = json.loads(file.read_text(encoding="utf-8"))
    change(steps)
    file.write_text(json.dumps(steps), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: changed_modules(f, lambda s: s[1].update(type="os.path.X")), "os.path.X"),
        (lambda f: changed_modules(f, lambda s: s[1].update(path="../../x")), "out of the folder"),
        (lambda f: (f / "1_Pooling" / "pytorch_model.bin").write_bytes(b"x"), "no safetensors"),
        (lambda f: (f / "1_Pooling" / "config.json").write_text("{"), "cannot load"),
    ],
)
def test_a_folder_that_is_odd_is_refused_before_it_is_loaded(tmp_path, folders, spoil, said):
    folder = tmp_path / "spoilt"
    shutil.copytree(folders["pooled"], folder)
    spoil(folder)
    with pytest.raises(MissingModel, match=said):
        encoder(folder).sentences(["no"])


def test_a_folder_without_a_pooling_gives_no_sentence_vectors(folders):
    with pytest.raises(MissingModel, match=r"no modules\.json"):
        encoder(folders["bert"]).sentences(["no"])


@pytest.mark.parametrize("kind", ["bert", "pooled"])
def test_weights_that_are_not_in_the_file_are_never_random(tmp_path, folders, kind):
    folder = tmp_path / "holes"
    shutil.copytree(folders[kind], folder)
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingModel, match="missing keys"):
        encoder(folder).tokens(["no"], 2)


@pytest.mark.parametrize("kind", ["bert", "roberta", "pooled"])
def test_a_checkpoint_without_a_pooler_is_whole(tmp_path, folders, kind):
    folder = tmp_path / "headless"
    shutil.copytree(folders[kind], folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "pooler" not in name}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    wanted = encoder(folders[kind]).tokens(TEXTS, 2)
    for one, other in zip(encoder(folder).tokens(TEXTS, 2), wanted, strict=True):
        assert torch.equal(one.vectors, other.vectors)


def test_what_is_not_here_has_an_identity_and_a_remedy():
    gone = Backbone("gone", "owner/gone")
    assert encoders.identity(gone) == "owner/gone@main"
    assert "hf download owner/gone" in encoders.missing(gone)
    assert pooled.pooling(gone) == "missing"


def test_a_pooling_that_is_set_otherwise_has_another_name(tmp_path, folders):
    folder = tmp_path / "other"
    shutil.copytree(folders["pooled"], folder)
    before = pooled.pooling(Backbone("other", str(folder)))
    assert before == pooled.pooling(Backbone("pooled", str(folders["pooled"])))
    assert before.startswith("Transformer>Pooling>Normalize@")
    settings = {"word_embedding_dimension": 32, "pooling_mode_max_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    assert pooled.pooling(Backbone("other", str(folder))) != before


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same_vectors(folders):
    there = Encoder(Backbone("pooled", str(folders["pooled"])), "cuda")
    here = encoder(folders["pooled"])
    for one, other in zip(there.tokens(TEXTS, 3), here.tokens(TEXTS, 3), strict=True):
        assert distance(one.vectors.cpu(), other.vectors) < 1e-4
    for one, other in zip(there.sentences(TEXTS), here.sentences(TEXTS), strict=True):
        assert distance(one.vector, other.vector) < 1e-5
