"""Models of style: their answers by hand, whatever stands beside a text; files that are none."""

import importlib.util
import json
from dataclasses import asdict

import numpy as np
import pytest
import torch
import transformers
from numpy.lib.stride_tricks import sliding_window_view
from safetensors.numpy import save_file
from scipy.special import softmax

from tests.models import style, tiny_encoder, tiny_text
from tstmeta import extras
from tstmeta.models import classifiers, hub, training
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.classifiers import About, StyleModel, Task, TextCnn, Transformer, numbered

KNOWN = ["warm", "cold", "rain"]
TEXTS = ["warm rain", "cold cold cold , warm rain or cold", "no", "a cold and late evening"]
TASK = Task("mood", ("a", "b", "c"), {"x": "a"}, 1.5)
KINDS = ("linear", "linear of 2", "textcnn", "bert", "xlm-roberta")


def linear(task, k):
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(k, 256)).astype(np.float32)]
    return classifiers.Linear(About("linear", (task,), {"bits": 8}), weights, [rng.normal(size=k)])


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
        "textcnn": TextCnn(About("textcnn", (TASK,), cnn), classifiers.text_cnn(3, 3, 3, 6, 5)),
        **{kind: Transformer.read(backbone(str(path))) for kind, path in folders.items()},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_order_and_padding_change_nothing(backends, kind):
    model = backends[kind]
    alone = np.concatenate([model.logits([text], 0).values for text in TEXTS])
    beside = model.logits([*TEXTS, "rain " * 20], 0).values[: len(TEXTS)]
    back = model.logits(TEXTS[::-1], 0).values[::-1]
    assert np.isfinite(alone).all()
    assert np.abs(alone - beside).max() < 1e-5
    assert np.abs(alone - back).max() < 1e-5


@pytest.mark.parametrize(
    ("kind", "window"),
    [("linear", ""), ("textcnn", classifiers.WINDOW), ("bert", 48), ("xlm-roberta", 47)],
)
def test_a_long_text_is_cut_and_says_so_beside_others_that_are_not(backends, kind, window):
    values, cut = backends[kind].logits(["", "warm " * 10_000, "warm " * 3], 0)
    assert np.isfinite(values).all()
    assert cut[::2] == ["", ""]
    assert cut[1].partition(", ")[2] == (f"first {window} used" if window else "")


# ----------------------------------------------------------------------------- styles and tasks


@pytest.mark.parametrize(
    ("name", "place"), [("good", (0, 1)), ("fine", (0, 1)), ("curt", (1, 0)), ("nice", (1, 1))]
)
def test_a_style_picks_its_task_by_name_or_wording(name, place):
    model = StyleModel()
    model.about = About("linear", (style.MOOD, style.MANNER))
    assert model.place(name, {"nice": "kind"}) == place


def test_probabilities_sum_to_one_and_follow_the_temperature(backends):
    wanted = softmax(backends["linear"].logits(TEXTS, 0).values / TASK.temperature, axis=1)
    assert backends["linear"].probabilities(TEXTS, 0).values == pytest.approx(wanted)


# ---------------------------------------------------------------------------------------- files


@style.needs_encoder
def test_the_shipped_model_is_here_and_says_what_it_is_and_on_what_it_was_trained(monkeypatch):
    model = classifiers.MODELS["embedded"]
    assert classifiers.missing(model) == ""
    assert hub.identity(model).startswith("embedded@")
    assert classifiers.packages(model) == ("sentence-transformers", "transformers")
    about = classifiers.load(model).about
    report = json.loads((model.folder / training.REPORT).read_text(encoding="utf-8"))
    assert report["tasks"] == json.loads(json.dumps([asdict(task) for task in about.tasks]))
    assert report["encoder"] == about.features["encoder"]
    assert {"lai", "li2018", "mir", "mis", "pauli"} <= report["kept_out"].keys()
    assert all(result["accuracy"] > 0.7 for result in report["results"].values())
    spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "sklearn" and spec(name))
    monkeypatch.setattr(extras, "_HERE", set())
    assert "sklearn is not installed" in classifiers.missing(model)
    assert classifiers.packages(model) == ()


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"about": "{"},
        {"about": json.dumps({"kind": "linear", "tasks": 3})},
        {"about": json.dumps({"kind": "forest", "tasks": [{"name": "t", "styles": ["a", "b"]}]})},
    ],
)
def test_files_that_are_no_models_say_so_and_what_to_do(tmp_path, header):
    save_file({"weight/0": np.zeros((1, 256))}, tmp_path / classifiers.FILE, header)
    assert "is no model of tstmeta" in classifiers.missing(backbone(str(tmp_path)))
    with pytest.raises(MissingModel, match="is no model of tstmeta"):
        classifiers.load(backbone(str(tmp_path)))
    (tmp_path / classifiers.FILE).write_bytes(b"not even that")
    assert "train it anew" in classifiers.missing(backbone(str(tmp_path)))


# ---------------------------------------------------------------------------------------- linear


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't STOP!!", ["don't", "stop", "!", "!"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("_num_ 3.5", ["_num_", "3", ".", "5"]),
        (" ", []),
    ],
)
def test_words_keep_their_marks_and_punctuation_counts(text, tokens):
    assert classifiers.words(text) == tokens


@pytest.mark.parametrize("kind", ["linear", "linear of 2"])
def test_logits_are_weights_times_features_and_bias(backends, kind):
    model = backends[kind]
    dense = classifiers.features(TEXTS, 8).toarray()
    wanted = dense @ model.weights[0].T.astype(float) + model.bias[0]
    values, _ = model.logits(TEXTS, 0)
    if kind == "linear of 2":  # one number tells two styles apart
        assert softmax(values, axis=1)[:, 1] == pytest.approx(1 / (1 + np.exp(-wanted[:, 0])))
    else:
        assert values == pytest.approx(wanted)


def test_a_model_with_one_label_tells_no_styles_apart(backends):
    model = StyleModel()
    model.about = About("transformer", (Task("one", ("a",)),))
    with pytest.raises(MissingModel, match="tells no styles apart"):
        model.probabilities(TEXTS, 0)


# --------------------------------------------------------------------------------------- TextCNN


def by_hand(model, ids):
    """Logits of one text in float64; windows reach over the end into zeros."""
    weights = {name: value.double().numpy() for name, value in model.state_dict().items()}
    rows = np.pad(weights["vectors.weight"][ids], ((0, max(classifiers.WIDTHS) - 1), (0, 0)))
    best = []
    for place, width in enumerate(classifiers.WIDTHS):
        filters, bias = weights[f"filters.{place}.weight"], weights[f"filters.{place}.bias"]
        windows = sliding_window_view(rows, width, axis=0)[: len(ids)]  # [places, 6, width]
        answers = np.tensordot(windows, filters, axes=((1, 2), (1, 2))) + bias
        best += list(np.maximum(0, answers.max(axis=0)))
    return weights["out.weight"] @ np.array(best) + weights["out.bias"]


def test_logits_of_a_textcnn_are_those_of_a_hand_computation(backends):
    model = backends["textcnn"]
    wanted = [by_hand(model.model, ids) for ids in numbered(TEXTS, KNOWN)]
    assert model.logits(TEXTS, 0).values == pytest.approx(np.array(wanted), abs=1e-5)


def test_a_word_that_is_not_known_has_the_number_of_all_such_words():
    assert numbered(["warm snow ice"], KNOWN) == [[2, 1, 1]]


# ---------------------------------------------------------------------------------- transformers

PAIRS = [
    ("the baker opened the shop", "the shop was opened"),
    ("we were told", "京都 こんにちは, and then the train would leave from the other platform"),
    ("so", "no"),
    ("the last loaf before noon " * 2000, "short"),
]


def plainly(model, tokenizer, *sides):
    """A text or pair by the library, called in the obvious way: no batch, no padding."""
    cut = {"truncation": "longest_first", "max_length": tiny_text.WINDOW, "return_tensors": "pt"}
    with torch.inference_mode():
        return model(**tokenizer(*sides, **cut)).logits[0].numpy()


@pytest.mark.parametrize("labels", [1, 3])
def test_logits_are_the_librarys_for_each_text_and_pair_alone(labels):
    model, tokenizer = tiny_text.bert(labels=labels)
    subject = Transformer(About("transformer", (TASK,)), model, tokenizer)
    wanted = np.array([plainly(model, tokenizer, *pair) for pair in PAIRS])
    logits, tokens = subject.judge(*zip(*PAIRS, ("", ""), strict=True))
    np.testing.assert_allclose(logits[:-1], wanted, atol=1e-5)
    assert np.ptp(wanted, axis=0).min() > 0.01, "the tiny model must tell pairs apart"
    assert tokens[3] > 10_000 > tiny_text.WINDOW > tokens[0]
    assert tokens[4] == 3
    wanted = np.array([plainly(model, tokenizer, text) for text in TEXTS])
    assert np.abs(subject.logits(TEXTS, 0).values - wanted).max() < 1e-5
    spelt, plain = subject.judge(["a", "a"], ["b [SEP] c", "b"])[1]
    assert spelt - plain > 4, "a text that spells a control token is read as letters"
