"""Linear models, TextCNN and transformers: their answers by hand, whatever stands beside a text."""

import json

import numpy as np
import pytest
import torch
import transformers
from scipy.special import softmax

from tests.models import tiny_encoder
from tstmeta.models import classifiers
from tstmeta.models.causal import Backbone, MissingModel, backbone
from tstmeta.models.classifiers import About, Linear, Task, features, words
from tstmeta.models.sequence import Transformer, beginning
from tstmeta.models.textcnn import WIDTHS, WINDOW, TextCnn, network, numbered, vocabulary

KNOWN = ["warm", "cold", "rain"]
TEXTS = ["warm rain", "cold cold cold , warm rain or cold", "no", "a cold and late evening"]
TASK = Task("mood", ("a", "b", "c"), {"x": "a"}, 1.5, (-3.0, 3.0))
KINDS = ("linear", "linear of 2", "regressor", "textcnn", "bert", "xlm-roberta")
#: Texts beyond the window: the words that are read, and what is said of the others.
LONG = {
    "textcnn": f"500 words, first {WINDOW} used",
    "bert": "10002 tokens, first 48 used",
    "xlm-roberta": "10002 tokens, first 47 used",
}


def linear(task, k, regression=False):
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(k, 256)).astype(np.float32)]
    return Linear(About("linear", (task,), regression, {"bits": 8}), weights, [rng.normal(size=k)])


@pytest.fixture(scope="session")
def backends(tmp_path_factory):
    """A model of each kind, with answers as wide as a tiny network allows."""
    three = {"auto": transformers.AutoModelForSequenceClassification, "num_labels": 3, "width": 0.1}
    folders = {
        kind: tiny_encoder.folder(tmp_path_factory.mktemp(kind), kind, **three, pad_token_id=pad)
        for kind, pad in (("bert", 0), ("xlm-roberta", 1))
    }
    cnn = {"vocabulary": KNOWN, "vector": 6, "maps": 5}
    two = Task("two", ("a", "b"))
    return {
        "linear": linear(TASK, 3),
        "linear of 2": linear(two, 1),
        "regressor": linear(two, 1, regression=True),
        "textcnn": TextCnn(About("textcnn", (TASK,), False, cnn), network(3, 3, 3, 6, 5)),
        **{kind: Transformer.read(backbone(str(path)), "cpu") for kind, path in folders.items()},
    }


@pytest.fixture(params=KINDS)
def model(request, backends):
    return backends[request.param]


def test_neighbours_order_and_padding_change_nothing(model):
    alone = np.concatenate([model.logits([text], 0).values for text in TEXTS])
    beside = model.logits([*TEXTS, "rain " * 20], 0).values[: len(TEXTS)]
    back = model.logits(TEXTS[::-1], 0).values[::-1]
    assert np.isfinite(alone).all()
    assert np.abs(alone - beside).max() < 1e-5
    assert np.abs(alone - back).max() < 1e-5
    assert model.logits([], 0).values.shape == (0, alone.shape[1])


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_read_again_with_the_same_answers(backends, tmp_path, kind):
    model = backends[kind]
    if isinstance(model, Transformer):
        model = Transformer(About("transformer", (TASK,)), model.model, model.tokenizer)
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        model.write(tmp_path / folder)
        if isinstance(model, Transformer):
            config = json.loads((tmp_path / folder / "config.json").read_text())
            assert config["id2label"]["2"] == "c"
        again = classifiers.load(backbone(str(tmp_path / folder)), "cpu")
        assert again.about == model.about
        assert (again.logits(TEXTS, 0).values == model.logits(TEXTS, 0).values).all()
        model = again
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.safetensors")}
        for name in ("first", "second")
    )
    assert first == second


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_is_cut_and_says_so_beside_others_that_are_not(backends, kind):
    text = "warm " * (500 if kind == "textcnn" else 10_000)
    values, cut = backends[kind].logits(["", text, "warm " * 3], 0)
    assert np.isfinite(values).all()
    assert cut[::2] == ["", ""]
    assert (cut[1] == "") == (kind not in LONG)
    if kind in LONG:
        assert cut[1].split(" first ")[1] == LONG[kind].split(" first ")[1]


# ---------------------------------------------------------------------------------------- linear


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't STOP!!", ["don't", "stop", "!", "!"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("আমি ভালো", ["আমি", "ভালো"]),
        ("_num_ 3.5", ["_num_", "3", ".", "5"]),
        (" ", []),
    ],
)
def test_words_keep_their_marks_and_punctuation_counts(text, tokens):
    assert words(text) == tokens


@pytest.mark.parametrize("kind", ["linear", "linear of 2", "regressor"])
def test_logits_are_weights_times_features_and_bias(backends, kind):
    model = backends[kind]
    dense = features(TEXTS, 8).toarray()
    wanted = dense @ model.weights[0].T.astype(float) + model.bias[0]
    values, _ = model.logits(TEXTS, 0)
    if kind == "linear of 2":  # one number tells two styles apart
        assert softmax(values, axis=1)[:, 1] == pytest.approx(1 / (1 + np.exp(-wanted[:, 0])))
    else:
        assert values == pytest.approx(wanted)


# --------------------------------------------------------------------------------------- TextCNN


def by_hand(model, ids):
    """Logits of one text with loops, in float64; windows reach over the end into zeros."""
    weights = {
        name: value.detach().numpy().astype(float) for name, value in model.named_parameters()
    }
    rows = np.concatenate([weights["vectors.weight"][ids], np.zeros((max(WIDTHS) - 1, 6))])
    best = []
    for place, width in enumerate(WIDTHS):
        filters, bias = weights[f"filters.{place}.weight"], weights[f"filters.{place}.bias"]
        answers = [
            [(filters[k] * rows[start : start + width].T).sum() + bias[k] for k in range(5)]
            for start in range(len(ids))
        ]
        best += list(np.maximum(0, np.max(answers, axis=0)))
    return weights["out.weight"] @ np.array(best) + weights["out.bias"]


def test_logits_of_a_textcnn_are_those_of_a_hand_computation(backends):
    model = backends["textcnn"]
    wanted = [by_hand(model.model, ids) for ids in numbered(TEXTS, KNOWN)]
    assert model.logits(TEXTS, 0).values == pytest.approx(np.array(wanted), abs=1e-5)


def test_the_vocabulary_holds_what_comes_twice_the_most_frequent_first():
    texts = ["b a b", "a c b", "d"]
    assert vocabulary(texts) == ["b", "a"]
    assert vocabulary(texts, least=1, most=3) == ["b", "a", "c"]
    assert numbered(["warm snow ice"], KNOWN) == [[2, 1, 1]]


# ---------------------------------------------------------------------------------- transformers


def test_logits_of_a_transformer_are_those_of_the_library_text_by_text(backends):
    model = backends["bert"]
    whole = transformers.AutoModelForSequenceClassification.from_pretrained(
        model.about.tasks[0].name
    ).double()
    with torch.no_grad():
        wanted = [
            whole(**model.tokenizer(text, return_tensors="pt")).logits[0].numpy() for text in TEXTS
        ]
    assert np.abs(model.logits(TEXTS, 0).values - np.stack(wanted)).max() < 1e-5
    assert model.about.tasks[0].styles == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_a_base_that_lacks_more_than_a_head_is_refused(tmp_path, monkeypatch):
    from safetensors.torch import load_file, save_file

    folder = tiny_encoder.folder(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("embeddings.word_embeddings.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(MissingModel, match=r"missing weights: .*word_embeddings"):
        beginning(backbone(str(folder)), 2, 1)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingModel, match="hf download nobody/nothing"):
        beginning(Backbone("x", "nobody/nothing"), 2, 1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
def test_cpu_and_gpu_agree(backends):
    model = backends["bert"]
    other = Transformer.read(backbone(model.about.tasks[0].name), "cuda")
    assert np.abs(model.logits(TEXTS, 0).values - other.logits(TEXTS, 0).values).max() < 1e-4
