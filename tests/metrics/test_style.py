"""Metrics of style: distances held against scipy and POT, direction, orientation, guards, words."""

import json
import math
from functools import partial

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine, jensenshannon
from scipy.stats import entropy

from tests.metrics import item, scores
from tests.models.style import MANNER, MOOD, needs_encoder
from tstmeta.metrics import registry
from tstmeta.metrics.base import more_is_better
from tstmeta.metrics.style import StyleCosine, StyleEmd, StyleJs, StyleKl
from tstmeta.models import classifiers
from tstmeta.models.classifiers import About, Estimates, StyleModel
from tstmeta.schema import Status

NAMES = ("accuracy", "confidence", "emd", "kl", "js", "cosine")
DISTANCES = ("style-emd", "style-kl", "style-js", "style-cosine")


class Fake(StyleModel):
    """A text is its own distribution: probabilities in percent."""

    def __init__(self):
        self.about = About("fake", (MOOD, MANNER))
        self.calls = []

    def logits(self, texts, task):
        self.calls.append(list(texts))
        rows = np.array([[float(word) for word in text.split()] for text in texts])
        return Estimates(np.log(np.maximum(rows, 1e-300)), [""] * len(texts))


@pytest.fixture
def fake(monkeypatch):
    built = Fake()
    monkeypatch.setattr(classifiers, "load", lambda model: built)
    return built


item = partial(item, style="good")


def scored(name, *units):
    return scores(registry.get(name), *units)


def value(name, output, *against, **style):
    return scored(name, item(output, *against, **style))[0].value


def test_confidence_is_the_probability_of_the_target_style(fake):
    result = [value("style-confidence", "20 80", style=style) for style in ("good", "fine", "bad")]
    assert result == pytest.approx([0.8, 0.8, 0.2])
    assert value("style-confidence", "20 30 50", style="odd") == pytest.approx(0.5)


def test_accuracy_counts_outputs_whose_target_style_is_most_probable(fake):
    rows = [item("20 80"), item("80 20"), item("50 50"), item(" "), item("10 20 70", style="odd")]
    result = scored("style-accuracy", *rows)
    assert [score.value for score in result] == [1, 0, 0, 0, 1]
    assert [score.status.value for score in result] == ["ok", "ok", "ok", "empty", "ok"]
    metric = registry.get("style-accuracy")
    assert metric.combine([score.detail for score in result]) == pytest.approx(2 / 5)
    assert json.loads(result[0].detail) == [1, 1]
    assert math.isnan(metric.aggregate(np.zeros(2)))


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), min_size=2, max_size=5))
def test_distances_are_those_of_pot_and_scipy(rows):

    p, q = (np.array(each, dtype=float) / sum(each) for each in zip(*rows, strict=True))
    assert StyleEmd().measure(p, q) == pytest.approx(ot.emd2(p, q, 1 - np.eye(len(p))), abs=1e-9)
    assert StyleKl().measure(p, q) == pytest.approx(entropy(p, q), abs=1e-9)
    assert StyleJs().measure(p, q) == pytest.approx(jensenshannon(p, q, 2) ** 2, abs=1e-9)
    assert StyleCosine().measure(p, q) == pytest.approx(1 - cosine(p, q), abs=1e-9)
    for metric in (StyleEmd(), StyleJs(), StyleCosine()):
        assert metric.measure(p, q) == pytest.approx(metric.measure(q, p), abs=1e-12)
        assert 0 <= metric.measure(p, q) <= 1 + 1e-12
    assert StyleKl().measure(p, p) == StyleEmd().measure(q, q) == 0


@pytest.mark.parametrize("name", ["style-emd", "style-kl", "style-js"])
def test_direction_is_negative_away_from_the_target_and_changes_no_size(fake, name):
    towards = value(f"{name}:directed", "10 90", "60 40")
    away = value(f"{name}:directed", "60 40", "10 90")
    assert towards == value(name, "10 90", "60 40") > 0
    assert away == -value(name, "60 40", "10 90") < 0
    assert value(f"{name}:directed", "10 90", "10 90") == 0
    assert value(f"{name}:directed", "60 40", "10 90", style="bad") == -away


def test_blank_texts_show_nothing_of_the_target_style(fake):
    assert scored("style-confidence", item(""))[0] == (0, Status.EMPTY, "empty text")
    [emd] = scored("style-emd", item(" ", "10 90"))
    assert (emd.value, emd.status) == (pytest.approx(0.9), Status.EMPTY)
    assert value("style-emd:directed", "", "10 90") == pytest.approx(-0.9)
    assert value("style-emd", "10 90", "\n") == pytest.approx(0.9)
    assert value("style-emd", "", "") == 0
    assert value("style-emd", "", "40 40 20", style="odd") == pytest.approx(0.2)
    assert fake.calls == [["10 90"]] * 3 + [["40 40 20"]]


@pytest.mark.parametrize("name", [f"style-{name}" for name in NAMES])
def test_a_style_that_the_model_does_not_know_is_refused_with_the_remedy(fake, name):
    against = ("40 60",) if name in DISTANCES else ()
    known, unknown, none = scored(
        name, *(item("20 80", *against, style=style) for style in ("good", "blue", ""))
    )
    assert "name it in the column style" in none.detail
    assert [known.status, none.status] == [Status.OK, Status.ERROR]
    assert unknown.status is Status.REFUSED
    assert "knows no style 'blue', only bad, good, curt, kind, odd. Remedy:" in unknown.detail
    assert "tstmeta train style CORPUS --out DIR" in unknown.detail
    [replies] = scored(f"{name}:good=blue", item("20 80", *against, style="blue"))
    assert replies.value == known.value


@needs_encoder
@pytest.mark.parametrize(
    ("weak", "strong", "style"),
    [
        ("you are a stupid idiot", "i do not agree with you", "non-toxic"),
        ("you are a stupid idiot", "i do not agree with you", "detoxified"),
        ("the food was awful and cold", "the food was lovely and warm", "positive"),
        ("the food was lovely and warm", "the food was awful and cold", "negative"),
        ("yeah dude, gonna grab lunch lol", "We shall consider your proposal.", "formal"),
        ("We shall consider your proposal.", "yeah dude, gonna grab lunch lol", "informal"),
    ],
)
def test_the_plain_name_tells_styles_of_three_tasks_apart(weak, strong, style):
    low, high = scored("style-confidence", item(weak, style=style), item(strong, style=style))
    assert low.value < 0.5 < high.value
    [refused] = scored("style-confidence", item(strong, style="persuasive"))
    assert refused.status is Status.REFUSED
    assert "only toxic, non-toxic, negative, positive, informal, formal" in refused.detail


@pytest.mark.parametrize("name", DISTANCES)
def test_far_from_the_source_is_good_and_near_a_reference_is(name):
    metric, likeness = registry.get(name), name == "style-cosine"
    assert more_is_better(metric, "source") is not likeness
    assert more_is_better(metric, "reference") is likeness
