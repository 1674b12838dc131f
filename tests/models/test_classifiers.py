"""Models of style: which style belongs to which task, what is missing, what a file says."""

import importlib.util
import json

import numpy as np
import pytest

from tests.models import style
from tstmeta.models import classifiers
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.classifiers import FILE, MODELS, About, Estimates, StyleModel, Task


class Fake(StyleModel):
    """Estimates that are the lengths of texts, from 0 on; a task's number is added to the last."""

    def __init__(self, *tasks, regression=False):
        self.about = About("fake", tasks, regression)

    def logits(self, texts, task):
        k = 1 if self.about.regression else len(self.about.tasks[task].styles)
        rows = [[len(text) * place for place in range(1, k + 1)] for text in texts]
        return Estimates(np.array(rows, dtype=float).reshape(-1, k), [""] * len(texts))


MODEL = Fake(style.MOOD, style.MANNER)


@pytest.mark.parametrize(
    ("name", "place"),
    [("good", (0, 1)), ("fine", (0, 1)), ("curt", (1, 0)), ("nice", (1, 1))],
)
def test_a_style_picks_its_task_by_name_or_wording(name, place):
    assert MODEL.place(name, {"nice": "kind"}) == place


def test_probabilities_sum_to_one_and_follow_the_temperature():
    hot = Fake(Task("t", ("a", "b"), temperature=2.0))
    values = hot.probabilities(["xx", ""], 0).values
    assert values == pytest.approx(np.array([[1 / (1 + np.e), np.e / (1 + np.e)], [0.5, 0.5]]))
    assert hot.probabilities([], 0).values.shape == (0, 2)


@pytest.mark.parametrize("name", ["embedded", "embedded-strength"])
def test_the_shipped_models_are_here_small_and_name_what_they_are(name):
    model = MODELS[name]
    assert classifiers.missing(model) == ""
    assert classifiers.identity(model).startswith(f"{name}@")
    assert classifiers.packages(model) == ("scikit-learn",)
    path = classifiers.ours(model)
    assert path.stat().st_size < 2_000_000
    assert classifiers.load(model).about.regression == (name != "embedded")


def test_libraries_that_are_not_installed_are_named(monkeypatch):
    spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "sklearn" and spec(name))
    assert "sklearn is not installed" in classifiers.missing(MODELS["embedded"])
    assert classifiers.packages(MODELS["embedded"]) == ()


def about(**changes):
    plain = {
        "kind": "linear",
        "tasks": [{"name": "t", "styles": ["a", "b"], "wordings": {}, "values": [0, 1]}],
        "regression": False,
        "features": {"bits": 8},
    }
    return {"about": json.dumps({**plain, **changes})}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({}, "is no model of tstmeta"),
        ({"about": "{"}, "is no model of tstmeta"),
        ({"about": "[]"}, "is no model of tstmeta"),
        (about(tasks=3), "is no model of tstmeta"),
        (about(kind="forest"), "its kind is 'forest'"),
    ],
)
def test_files_that_are_no_models_say_so_and_what_to_do(tmp_path, header, message):
    from safetensors.numpy import save_file

    save_file({"weight/0": np.zeros((1, 256))}, tmp_path / FILE, header)
    assert message in classifiers.missing(backbone(str(tmp_path)))
    with pytest.raises(MissingModel, match=message):
        classifiers.load(backbone(str(tmp_path)))
    (tmp_path / FILE).write_bytes(b"not even that")
    assert "train it anew" in classifiers.missing(backbone(str(tmp_path)))
