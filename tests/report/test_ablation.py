"""Choices inside the likelihood method: held against the usual one, in the same draws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from IPython.display import Markdown

from tests.likelihood import small
from tests.report.tiny import constructed, rated
from tstmeta import stats
from tstmeta.likelihood.instructions import TASKS
from tstmeta.likelihood.scorer import Judged, Rewrite, Scorer
from tstmeta.likelihood.tokens import VARIANTS
from tstmeta.report import ablation, choices
from tstmeta.report.bench import Bench
from tstmeta.report.choices import Asked
from tstmeta.report.figures import Picture
from tstmeta.report.html import Html
from tstmeta.schema import Status, TstmetaError

FEW = Asked(draws=40)
ROWS = [("It was bad.", "It was great."), ("It was bad.", ""), ("Go on", "The end of it")]


@pytest.fixture(scope="module")
def judged():
    scorer = Scorer(small.engine())
    return scorer, scorer.judge([Rewrite(a, b, "positive") for a, b in ROWS])


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({}, "likelihood"),
        ({"instructions": "emphasis"}, "likelihood:emphasis"),
        ({"model": "3b"}, "likelihood:3b"),
        ({"variant": "released"}, "likelihood:released"),
        (
            {"model": "8b", "instructions": "wording", "variant": "released"},
            "likelihood:8b+wording+released",
        ),
    ],
)
def test_a_metric_is_named_after_the_choices_that_are_not_the_usual_ones(choice, name):
    assert ablation.metric(**choice) == name


# ----------------------------------------------------------------------------------- readings


def by_hand(reading: str, logprobs: np.ndarray) -> float:
    """Content under a reading, token by token."""
    keep = logprobs[:, :-1]
    rows = [0, 1, 2]
    if reading.startswith("without"):
        rows.remove(TASKS.index(reading.split()[1]))
    elif reading.endswith("alone"):
        rows = [TASKS.index(reading.split()[0])]
    elif reading == "end of turn":
        keep = logprobs
    elif reading == "first token":
        keep = logprobs[:, 1:-1]
    total = 0.0
    for column in range(keep.shape[1]):
        total += max(float(keep[row, column]) for row in rows)
    return total / keep.shape[1]


@pytest.mark.parametrize("name", list(ablation.READINGS))
def test_a_reading_is_what_one_computes_by_hand(judged, name):
    scorer, found = judged
    values = ablation.read(found, scorer, ablation.READINGS[name])
    for i in (0, 2):
        assert values[i] == pytest.approx(by_hand(name, found[i].logprobs), abs=1e-6)


def test_the_first_reading_is_the_metric_itself(judged):
    scorer, found = judged
    values = ablation.read(found, scorer, ablation.READINGS["best of three"])
    assert values.tolist() == [scorer.content(one) for one in found]


def test_an_empty_output_is_blind_and_a_failed_one_has_no_value(judged):
    scorer, found = judged
    failed = Judged((), np.empty((3, 0)), Status.INVALID, "too long")
    values = ablation.read([found[1], failed], scorer, ablation.READINGS["without repeat"])
    assert values[0] == scorer.blind
    assert math.isnan(values[1])


def test_leaving_an_instruction_out_never_raises_content(judged):
    scorer, found = judged
    best = ablation.read(found, scorer, ablation.READINGS["best of three"])
    for name in (f"without {task}" for task in TASKS):
        assert (ablation.read(found, scorer, ablation.READINGS[name]) <= best + 1e-9).all()


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_two_last_readings_turn_round_what_the_variant_does(variant):
    one = VARIANTS[variant]
    turned = ablation.READINGS["end of turn"].variant(one)
    assert turned == replace(one, end_of_turn=not one.end_of_turn)
    assert ablation.READINGS["first token"].variant(one).skip_first is not one.skip_first


# ---------------------------------------------------------------------------------- comparing


def vectors(data, *names, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=len(data.items)) for name in names}


def test_values_and_differences_are_those_of_the_statistic():
    data = rated()
    given = vectors(data, "a", "b")
    found = choices.compare(data, given, {"a": "a", "b": "a"}, FEW)
    human = data.means["content"].to_numpy()
    r = [stats.pearson(human, given[name]).value for name in ("a", "b")]
    assert found.estimates == pytest.approx(r)
    assert found.gaps[1][0] == pytest.approx(r[1] - r[0])
    assert found.others() == [1]
    assert found.n == 6


def test_a_choice_that_changes_nothing_is_not_told_from_the_usual_one():
    data = rated()
    given = vectors(data, "a")
    found = choices.compare(data, given | {"b": given["a"]}, {"a": "a", "b": "a"}, FEW)
    value, span = found.gaps[1]
    assert (value, span.low, span.high) == (0, 0, 0)
    assert not found.told(1)
    assert "0 of 1 differences are off" in choices.said([found]).data


def test_the_sentence_counts_differences_off_zero_and_names_the_largest():
    data = constructed(tasks="x" * 8)
    truth = (data.label("error") == "none").to_numpy(float)
    noise = np.random.default_rng(0).normal(size=len(truth))
    given = {"a": truth + 0.01 * noise, "b": -truth + 0.01 * noise, "c": truth + 0.02 * noise}
    usual = dict.fromkeys(given, "a")
    found = choices.compare(data, given, usual, Asked(draws=100))
    told = sum(found.told(i) for i in found.others())
    assert found.told(1)
    text = choices.said([found]).data
    assert f"In all, {told} of 2 differences can be told from zero" in text
    assert "`b` on `built`" in text
    assert f"the largest is −{abs(found.gaps[1][0]):.3f}" in text
    brief = choices.short({"words": [found], "none": []}).data
    assert brief.count("\n") == 0
    assert f"words: {told} of 2 differences can be told from zero" in brief
    assert f"−{abs(found.gaps[1][0]):.3f} (`b` on `built`)" in brief
    one = choices.of([found], "b").data
    assert one.startswith(f"- `built`: −{abs(found.gaps[1][0]):.3f} (")
    assert one.count("\n") == 0
    assert "Nothing to compare" in choices.short({"none": []}).data
    assert "Nothing to compare" in choices.of([found], "d").data


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (Asked(statistic="nosuch"), "unknown statistic"),
        (Asked(level="nosuch"), "unknown level"),
        (Asked(draws=0), "0 draws"),
        (Asked(seed=-1), "seed -1"),
    ],
)
def test_what_these_data_do_not_have_is_refused(how, words):
    data = rated()
    with pytest.raises(TstmetaError, match=words):
        choices.compare(data, vectors(data, "a"), {"a": "a"}, how)


def test_where_nothing_can_be_drawn_no_width_is_told():
    data = constructed()  # one source a task
    found = choices.compare(data, vectors(data, "a", "b"), {"a": "a", "b": "a"}, FEW)
    assert "usual choice alone is not known. 0 of 1" in choices.said([found]).data


def test_tables_and_figures_show_every_choice_or_say_that_there_is_none():
    data = rated()
    found = [choices.compare(data, vectors(data, "<a>", "b"), {"<a>": "<a>", "b": "<a>"}, FEW)]
    table = choices.table(found)
    assert "&lt;a&gt;" in table.text
    assert "<a>" not in table.text
    assert isinstance(choices.figure(found), Picture)
    for show in (choices.table, choices.figure, choices.said):
        assert isinstance(show([]), Markdown)


# ------------------------------------------------------------------------------------ chapter


@pytest.fixture
def part(tmp_path):
    def make(data, *models, sets=("paper", "emphasis"), variant="equation"):
        bench = Bench(tmp_path / "store")
        items = data.items.assign(style="formal")
        bench._datasets[data.name] = replace(data, items=items)
        return ablation.Ablation(bench, data.name, models, sets, variant, FEW)

    return make


@pytest.mark.parametrize("data", [rated(), constructed()], ids=["rated", "by construction"])
def test_the_chapter_runs_on_any_data_and_any_model(part, tmp_path, data):
    model = str(small.saved(tmp_path / "model"))
    found = part(data, model)
    [sets], [variants], [readings] = found.by_set, found.by_variant, found.by_reading
    assert sets.names == ["paper", "emphasis"]
    assert variants.names == ["equation", "released"]
    assert readings.names == list(ablation.READINGS)
    assert readings.estimates[0] == pytest.approx(sets.estimates[0])
    assert variants.estimates[0] == pytest.approx(sets.estimates[0])
    assert isinstance(found.explained(), Html)
    assert found.missing() is None


def test_several_models_are_each_held_against_their_own_usual_choice(part, tmp_path):
    models = [str(small.saved(tmp_path / kind, kind)) for kind in ("llama", "qwen")]
    [found] = part(rated(), *models).by_set
    assert found.names == [f"{model}, {name}" for model in models for name in ("paper", "emphasis")]
    assert found.usual == [0, 0, 2, 2]


def test_a_model_that_is_not_here_is_left_out_with_what_to_do(part):
    found = part(rated(), "3b")
    assert found.models == []
    assert "`3b` is left out" in found.missing().data
    assert "hf download" in found.missing().data
    assert found.by_set == found.by_reading == []
    assert isinstance(choices.figure(found.by_set), Markdown)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"variant": "nosuch"}, "variant is 'nosuch'"),
        ({"sets": ()}, "one instruction set"),
        ({"sets": ("nosuch",)}, "no instruction set is called"),
    ],
)
def test_a_mistyped_parameter_is_refused(part, more, words):
    with pytest.raises(TstmetaError, match=words):
        part(rated(), "embedded", **more)


def test_instructions_of_ones_own_stand_beside_ours(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[mine]\nsystem = ""\nstyle = "{style}: {source}"\nparaphrase = "{source}"\n'
        'repeat = "<b>{source}"\n'
    )
    text = ablation.words(["paper", str(file)]).text
    assert "published" in text
    assert "yours" in text
    assert "&lt;b&gt;{source}" in text


def test_printed_spans_are_those_of_the_printed_rows():
    text = ablation.printed_spans().data
    assert text.startswith("- 8B: ")
    assert "\n- 3B: " in text
    # instruct 3 and 2 on ziegen, .49 and .54
    assert "and 0.05 on `ziegen`" in text
