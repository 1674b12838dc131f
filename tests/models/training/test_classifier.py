"""Training models of style: parts, reports, what is learned and what is refused."""

from dataclasses import replace

import pytest
from safetensors.numpy import load_file

from tests.models import style
from tstmeta.models import classifiers
from tstmeta.models.causal import backbone
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
    model = classifiers.load(backbone(str(tmp_path)), "cpu")
    labels = model.probabilities(test["text"].tolist(), 0).values.argmax(axis=1)
    share = float((labels == test["value"]).mean())
    assert report["results"]["mood"]["accuracy"] == pytest.approx(share)
    assert report["results"]["mood"]["n"] == len(test)
    assert share > 0.8
    assert model.place("fine") == (0, 1)


@pytest.mark.parametrize("kind", ["linear", "transformer"])
def test_a_regressor_learns_values(run, tmp_path, kind):
    task = replace(style.MOOD, values=(0.0, 1.0))
    rate = {"linear": 0.2, "transformer": 3e-3}[kind]
    options = CLEAR[kind].model_copy(update={"rate": rate})
    report = run(tmp_path, kind, regression=True, tasks=(task,), options=options, base="calm")
    assert report["results"]["mood"]["pearson"] > 0.7
    model = classifiers.load(backbone(str(tmp_path)), "cpu")
    low, high = model.strengths(["awful cat of street 1", "lovely cat of street 1"], 0)[0]
    assert high > low + 0.3


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
    ("kind", "given", "message"),
    [
        ("textcnn", {"tasks": (style.MOOD, style.MANNER)}, "learns one task, not 2"),
        ("textcnn", {"regression": True}, "learns styles, not values"),
        ("transformer", {"base": "none"}, "--base MODEL"),
        ("linear", {"corpus": ONE_STYLE}, "no sentence of the style 'good' is in the part test"),
        ("linear", {"corpus": NO_TEST, "regression": True}, "no sentence is in the part test"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    run, tmp_path, kind, given, message
):
    with pytest.raises(TstmetaError, match=message):
        run(tmp_path / "out", kind, **given)
    assert not (tmp_path / "out").exists()
