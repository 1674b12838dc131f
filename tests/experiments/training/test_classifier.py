"""Training models of style: parts, reports, what is learned and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from statsmodels.stats.proportion import proportion_confint

from experiments.training.classifier import beginning, calibration_error, quality, vocabulary
from tests.models import style, tiny_encoder
from tstmeta.models import classifiers
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.schema import TstmetaError

CLEAR = {
    kind: style.SMALL[kind].model_copy(update={**changes, "checkpoint": 99})
    for kind, changes in {
        "linear": {"epochs": 10, "bits": 12},
        "textcnn": {"epochs": 10},
        "transformer": {"epochs": 30, "rate": 3e-3},
    }.items()
}


@pytest.mark.parametrize("kind", CLEAR)
def test_what_can_be_learnt_is_learnt_and_the_folder_is_a_model(run, tmp_path, kind):
    report = run(tmp_path, kind, options=CLEAR[kind], base="calm")
    table = style.corpus()
    test = table[table["part"] == "test"]
    assert report["sizes"] == table["part"].value_counts().to_dict()
    model = classifiers.load(backbone(str(tmp_path)))
    labels = model.probabilities(test["text"].tolist(), 0).values.argmax(axis=1)
    share = float((labels == test["place"]).mean())
    assert report["results"]["mood"]["accuracy"] == pytest.approx(share)
    assert report["results"]["mood"]["n"] == len(test)
    assert share > 0.8
    assert model.place("fine") == (0, 1)


def test_a_linear_model_learns_several_tasks_of_two_and_more_styles(run, tmp_path):
    tasks = (style.MOOD, style.MANNER)
    report = run(tmp_path, "linear", tasks=tasks, options=CLEAR["linear"])
    assert all(quality["accuracy"] > 0.9 for quality in report["results"].values())
    model = classifiers.load(backbone(str(tmp_path)))
    values = model.probabilities(["please", "fish purple seven moon"], 1).values
    assert values.shape == (2, 3)
    assert values.sum(axis=1) == pytest.approx(1)


def test_nothing_of_dev_or_test_is_trained_on(run, tmp_path):
    table = style.corpus()
    training = table["part"] == "train"
    spoiled = table.assign(text=table["text"].where(training, table["text"].str.upper() + " xyz"))
    for name, corpus in (("a", table), ("b", spoiled)):
        run(tmp_path / name, "linear", corpus=corpus)
    first, second = (load_file(tmp_path / name / classifiers.FILE) for name in "ab")
    assert all((first[name] == second[name]).all() for name in first)


TABLE = style.corpus()
NO_TEST = TABLE[TABLE["part"] != "test"]
ONE_STYLE = TABLE[(TABLE["style"] == "bad") | (TABLE["part"] != "test")]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("textcnn", {"tasks": (style.MOOD, style.MANNER)}, "learns one task, not 2"),
        ("transformer", {"base": "none"}, "--base MODEL"),
        ("linear", {"corpus": ONE_STYLE}, "no sentence of the style 'good' is in the part test"),
        ("linear", {"corpus": NO_TEST}, "no sentence of the style 'bad' is in the part test"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    run, tmp_path, kind, options, message
):
    with pytest.raises(TstmetaError, match=message):
        run(tmp_path / "out", kind, **options)
    assert not (tmp_path / "out").exists()


@given(st.lists(st.tuples(st.floats(0.5, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_is_that_of_a_loop_over_bins(rows):
    sure = np.array([one for one, _ in rows])
    labels = np.array([0 if right else 1 for _, right in rows])
    given = np.stack([sure, 1 - sure], axis=1)
    right = given.argmax(axis=1) == labels
    wanted = 0.0
    for k in range(15):
        inside = [n for n, p in enumerate(given.max(axis=1)) if np.ceil(p * 15) == k + 1]
        if inside:
            gap = abs(np.mean(right[inside]) - np.mean(given.max(axis=1)[inside]))
            wanted += gap * len(inside) / len(rows)
    assert calibration_error(given, labels) == pytest.approx(wanted, abs=1e-12)


def test_quality_counts_each_style_taken_for_each_with_wilsons_interval():
    report = quality(np.eye(2)[[0] * 10], np.array([0] * 8 + [1] * 2), 1.0, ("a", "b"))
    assert report["confusion"] == {"a": {"a": 8, "b": 0}, "b": {"a": 2, "b": 0}}
    assert (report["accuracy"], report["n"]) == (0.8, 10)
    assert report["calibration_error"] == report["calibration_error_raw"]
    limits = proportion_confint(8, 10, method="wilson")
    assert (report["low"], report["high"]) == pytest.approx(limits)


def test_the_vocabulary_holds_what_comes_twice_the_most_frequent_first():
    texts = ["b a b", "a c b", "d"]
    assert vocabulary(texts) == ["b", "a"]
    assert vocabulary(texts, least=1, most=3) == ["b", "a", "c"]


def test_a_base_that_lacks_more_than_a_head_is_refused(tmp_path):
    folder = tiny_encoder.folder(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("embeddings.word_embeddings.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(MissingModel, match=r"missing or mismatched: .*word_embeddings"):
        beginning(backbone(str(folder)), 2, 1)
