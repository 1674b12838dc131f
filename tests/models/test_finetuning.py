"""Sequence classifiers of transformers: windows, padding, labels, how fine-tuning begins."""

import json

import numpy as np
import pytest
import torch
import transformers

from tests.models import style
from tstmeta.models import classifiers
from tstmeta.models.causal import Backbone, MissingModel, backbone
from tstmeta.models.finetuning import Transformer, beginning, encode, window

TEXTS = ["the warm rain", "no", "a cold and late evening in the street of seven fish", "rude"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return style.transformer(tmp_path_factory.mktemp("bert"), labels=3)


@pytest.fixture(scope="module")
def bert(folder):
    return Transformer.read(backbone(str(folder)), "cpu")


def by_library(folder, text):
    """One text alone, in float64, the library called in the plainest way."""
    auto = transformers.AutoModelForSequenceClassification
    model = auto.from_pretrained(folder).double().eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(text, return_tensors="pt")).logits[0].numpy()


def test_logits_are_those_of_the_library_text_by_text(bert, folder):
    wanted = np.stack([by_library(folder, text) for text in TEXTS])
    logits, cut = bert.logits(TEXTS, 0)
    assert np.abs(logits - wanted).max() < 1e-5
    assert cut == [""] * len(TEXTS)


def test_neighbours_order_and_padding_change_nothing(bert):
    alone = np.concatenate([bert.logits([text], 0).values for text in TEXTS])
    together = bert.logits([*TEXTS[::-1], "x " * 20], 0).values[:-1][::-1]
    assert np.abs(alone - together).max() < 1e-5


def test_a_text_beyond_the_window_is_cut_and_says_so_beside_others_that_are_not(bert):
    logits, cut = bert.logits(["", "word " * 10_000, "no"], 0)
    assert np.isfinite(logits).all()
    count = len(bert.tokenizer("word " * 10_000, verbose=False)["input_ids"])
    assert cut == ["", f"{count} tokens, first 48 used", ""]
    assert bert.window == 48


def test_roberta_has_fewer_positions_than_its_config_says(tmp_path):
    folder = style.transformer(tmp_path, 2, "xlm-roberta")
    bert = Transformer.read(backbone(str(folder)), "cpu")
    assert bert.window == 46
    assert np.isfinite(bert.logits(["word " * 100], 0).values).all()


def test_the_smaller_of_two_limits_counts():
    class Tokenizer:
        model_max_length = 20

    config = transformers.BertConfig(max_position_embeddings=48)
    assert window(config, Tokenizer()) == 20


def test_labels_of_a_foreign_model_are_its_styles(bert, folder):
    assert bert.about.tasks == (classifiers.Task(str(folder), ("LABEL_0", "LABEL_1", "LABEL_2")),)
    assert not bert.about.regression


def test_no_texts_are_nothing(bert):
    assert encode(bert.tokenizer, [], 48) == ([], [])
    assert bert.logits([], 0).values.shape == (0, 3)


def test_what_was_written_is_read_with_task_and_temperature(bert, tmp_path):
    task = classifiers.Task("mood", ("a", "b", "c"), {"x": "a"}, 1.5, (-3.0, 3.0))
    model = Transformer(classifiers.About("transformer", (task,)), bert.model, bert.tokenizer)
    model.write(tmp_path)
    again = classifiers.load(backbone(str(tmp_path)), "cpu")
    assert again.about == model.about
    assert (again.logits(TEXTS, 0).values == bert.logits(TEXTS, 0).values).all()
    assert json.loads((tmp_path / "config.json").read_text())["id2label"]["2"] == "c"


def test_a_new_head_depends_on_the_seed_and_the_body_does_not(tmp_path):
    base = backbone(str(style.transformer(tmp_path)))
    before = torch.random.get_rng_state()
    heads = [beginning(base, 2, seed)[0] for seed in (1, 1, 2)]
    assert torch.equal(before, torch.random.get_rng_state())
    first, same, other = (dict(head.named_parameters()) for head in heads)
    assert torch.equal(first["classifier.weight"], same["classifier.weight"])
    assert not torch.equal(first["classifier.weight"], other["classifier.weight"])
    kept = [name for name in first if name.startswith("bert.")]
    assert all(torch.equal(first[name], other[name]) for name in kept)


def test_a_base_that_lacks_more_than_a_head_is_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = style.transformer(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("embeddings.word_embeddings.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(MissingModel, match=r"missing weights: .*word_embeddings"):
        beginning(backbone(str(folder)), 2, 1)


def test_a_base_that_is_not_here_says_what_to_do(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingModel, match="hf download nobody/nothing"):
        beginning(Backbone("x", "nobody/nothing"), 2, 1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
def test_cpu_and_gpu_agree(bert, folder):
    other = Transformer.read(backbone(str(folder)), "cuda")
    gap = bert.logits(TEXTS, 0).values - other.logits(TEXTS, 0).values
    assert np.abs(gap).max() < 1e-4
