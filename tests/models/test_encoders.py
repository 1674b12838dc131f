"""Encoders: the numbers of one text at a time, each text once, and nothing odd is read."""

import os
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from tests.models import tiny, tiny_encoder
from tests.models.style import needs_encoder
from tests.models.tiny_encoder import LAYERS, TEXTS, WINDOW
from tstmeta.models import encoders, hub
from tstmeta.models.causal import Backbone, MissingModel
from tstmeta.models.encoders import MINILM, Encoder

KINDS = sorted(tiny_encoder.CONFIGS)


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder of each architecture, by name."""
    root = tmp_path_factory.mktemp("encoders")
    plain = {kind: tiny_encoder.folder(root / kind, kind) for kind in KINDS}
    return plain | {"pooled": tiny_encoder.pooled(root / "pooled")}


@pytest.fixture
def spoilt(folders, tmp_path):
    """Copies a folder to spoil it."""
    return lambda kind: shutil.copytree(folders[kind], tmp_path / "spoilt")


def encoder(folder: Path, **options) -> Encoder:
    subject = Encoder(Backbone(folder.name, str(folder)), "cpu")
    vars(subject).update(options)
    return subject


@cache
def loaded(folder: Path):
    model = AutoModel.from_pretrained(folder).double().eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    return AutoTokenizer.from_pretrained(folder), model


def alone(folder: Path, text: str, layer: int) -> np.ndarray:
    """The oracle: transformers itself, a text alone, all hidden states, float64."""
    tokenizer, model = loaded(folder)
    inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=WINDOW)
    with torch.inference_mode():
        states = model(
            inputs["input_ids"], attention_mask=inputs["attention_mask"], output_hidden_states=True
        ).hidden_states
        if layer < LAYERS and hasattr(model, "final_layer_norm"):  # T5, as in bert-score
            return model.final_layer_norm(states[layer])[0].numpy()
    return states[layer][0].numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("layer", "budget"), [(0, 64), (1, 1), (LAYERS, 10**6)])
def test_token_vectors_are_those_of_one_text_at_a_time_in_any_batch(folders, kind, layer, budget):
    rows = encoder(folders[kind], budget=budget).tokens(TEXTS[::-1], layer)[::-1]
    for text, row in zip(TEXTS, rows, strict=True):
        assert row.vectors.numpy() == pytest.approx(alone(folders[kind], text, layer), abs=1e-4)
        assert row.length == len(row.ids)


def test_each_distinct_text_goes_through_the_network_once(folders, monkeypatch):
    subject, texts = encoder(folders["bert"]), []
    plain = Encoder._embedded
    monkeypatch.setattr(Encoder, "_embedded", lambda *a: texts.extend(a[1]) or plain(*a))
    first = subject.tokens([TEXTS[0], TEXTS[1], TEXTS[0]], 1)
    second = subject.tokens([TEXTS[1], TEXTS[2]], 1)
    assert texts == TEXTS[:3]
    assert first[0] is first[2]
    assert first[1] is second[0]


def test_a_small_memory_forgets_and_computes_the_same_again(folders):
    small, large = (encoder(folders["bert"], room=size) for size in (4000, 2**20))
    for _ in range(2):
        for left, right in zip(small.tokens(TEXTS, 1), large.tokens(TEXTS, 1), strict=True):
            assert left.vectors.numpy() == pytest.approx(right.vectors.numpy(), abs=1e-5)
            # what is kept of a text must not keep the batch that it came from
            assert right.vectors.untyped_storage().nbytes() == right.vectors.nbytes
    assert 0 < len(small.memory) < len(large.memory) == len(TEXTS)


@pytest.mark.parametrize("limit", [True, False])
@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta"])
def test_a_text_beyond_the_window_is_cut_and_keeps_its_end_mark(tmp_path, kind, limit):
    subject = encoder(tiny_encoder.folder(tmp_path / kind, kind, limit=limit))
    assert subject.window == WINDOW
    [long, short] = subject.tokens(["no " * 10_000, "no"], 2)
    assert len(long.ids) == WINDOW
    assert long.ids[-1] == subject.tokenizer.sep_token_id
    assert long.length > 10_000
    assert short.length == len(short.ids)


def test_a_control_token_that_a_text_spells_is_letters(folders):
    subject = encoder(folders["bert"])
    [ids] = subject.ids(["so [SEP] [CLS] it ends"])
    assert ids.count(subject.tokenizer.sep_token_id) == 1
    assert ids.count(subject.tokenizer.cls_token_id) == 1


def test_a_layer_that_is_not_there_is_an_error(folders):
    with pytest.raises(MissingModel, match=f"has {LAYERS} layers, not 9; name one from 0"):
        encoder(folders["bert"]).tokens(["no"], 9)


def test_tokens_and_sentences_have_windows_of_their_own(folders):
    subject = encoder(folders["pooled"])
    [row] = subject.tokens(["the soup"], LAYERS)
    mean = row.vectors.mean(0)
    short, long, again = subject.sentences(["the soup", "no " * 100, "the soup"])
    assert short.vector == pytest.approx((mean / mean.norm()).numpy(), abs=1e-5)
    assert short is again
    assert (subject.window, subject.sentence_window) == (WINDOW, 24)
    assert short.length <= 24 < 100 < long.length


@needs_encoder
def test_the_embedded_encoder_is_the_package_and_needs_no_hub():
    subject = encoders.load(MINILM)
    assert encoders.load(MINILM) is subject
    assert (subject.window, subject.sentence_window) == (512, 256)
    assert hub.identity(MINILM).startswith("all-minilm-l6-v2@")
    assert subject.static.shape == (30522, 384)


def changed_steps(old: str, new: str):
    def change(folder: Path) -> None:
        file = folder / "modules.json"
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (changed_steps("sentence_transformers.models.Pooling", "os.path.X"), "os.path.X"),
        (changed_steps("1_Pooling", "../../x"), "out of the folder"),
        (lambda f: (f / "1_Pooling" / "pytorch_model.bin").write_bytes(b"x"), "no safetensors"),
        (lambda f: (f / "1_Pooling" / "config.json").write_text("{"), "cannot load"),
        (lambda f: (f / "modules.json").unlink(), r"no modules\.json"),
    ],
)
def test_a_folder_that_is_odd_is_refused_before_it_is_loaded(spoilt, spoil, words):
    folder = spoilt("pooled")
    spoil(folder)
    with pytest.raises(MissingModel, match=words):
        encoder(folder).sentences(["no"])


def test_weights_that_are_not_in_the_file_are_never_random(spoilt):
    folder = spoilt("pooled")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingModel, match="missing or mismatched weights"):
        encoder(folder).tokens(["no"], 2)


def test_a_checkpoint_without_a_pooler_is_whole(spoilt, folders):
    folder = spoilt("roberta")
    weights = load_file(folder / "model.safetensors")
    without_pooler = {name: weight for name, weight in weights.items() if "pooler" not in name}
    assert len(without_pooler) < len(weights)
    save_file(without_pooler, folder / "model.safetensors", metadata={"format": "pt"})
    wanted = encoder(folders["roberta"]).tokens(TEXTS, 2)
    for left, right in zip(encoder(folder).tokens(TEXTS, 2), wanted, strict=True):
        assert torch.equal(left.vectors, right.vectors)


def test_a_pooling_that_is_set_otherwise_has_another_name(spoilt, folders):
    folder = spoilt("pooled")
    before = encoders.pooling(Backbone("other", str(folder)))
    assert before == encoders.pooling(Backbone("pooled", str(folders["pooled"])))
    assert before.startswith("Transformer>Pooling>Normalize@")
    tiny.change_json(folder / "1_Pooling" / "config.json", pooling_mode_max_tokens=True)
    assert encoders.pooling(Backbone("other", str(folder))) != before


@needs_encoder
def test_an_embedded_encoder_that_is_not_the_published_one_is_refused(tmp_path, monkeypatch):
    shutil.copytree(MINILM.where, tmp_path, copy_function=os.symlink, dirs_exist_ok=True)
    monkeypatch.setattr(encoders, "MINILM", other := Backbone(MINILM.name, str(tmp_path)))
    assert encoders.missing(other) == ""
    for name in ("config.json", "tokenizer.json", "1_Pooling/config.json", "modules.json"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).unlink()
        (tmp_path / name).write_text(text + " ")
        with pytest.raises(MissingModel, match=r"as its authors published it .* install it anew"):
            encoders.load(other)
        (tmp_path / name).write_text(text)
