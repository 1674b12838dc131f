"""Training models of style: parts, reports, seeds, stops; how the shipped ones were made."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.models import style
from tstmeta.models import classifiers
from tstmeta.models.causal import backbone
from tstmeta.models.classifiers import MODELS, StyleModel
from tstmeta.models.training import checkpoint
from tstmeta.models.training.classifier import DEFAULTS, KINDS, REPORT, train
from tstmeta.schema import TstmetaError

CLEAR = {"linear": replace(style.SMALL["linear"], epochs=10, bits=10)}
CLEAR["textcnn"] = replace(style.SMALL["textcnn"], epochs=10, checkpoint=99)
CLEAR["transformer"] = replace(style.SMALL["transformer"], epochs=30, rate=3e-3, checkpoint=99)


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """With dropout, as they come; and without, which so small a model needs to learn anything."""
    without = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    made = (("base", {}), ("calm", without))
    return {
        name: backbone(str(style.transformer(tmp_path_factory.mktemp(name), **options)))
        for name, options in made
    }


@pytest.fixture
def run(bases):
    def trained(out, kind, corpus=None, *, tasks=(style.MOOD,), base="base", **options):
        table = style.corpus(*tasks) if corpus is None else corpus
        options = {"options": style.SMALL.get(kind), "progress": False, **options}
        begin = bases[base] if kind == "transformer" else None
        return train(out, table, kind, tasks=tasks, base=begin, **options)

    return trained


def written(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_learnt_is_learnt_and_the_folder_is_a_model(run, tmp_path, kind):
    report = run(tmp_path, kind, options=CLEAR[kind], base="calm")
    table = style.corpus()
    test = table[table["part"] == "test"]
    assert report["sizes"] == table["part"].value_counts().to_dict()
    model = StyleModel(classifiers.load(backbone(str(tmp_path)), "cpu"))
    found = model.probabilities(test["text"].tolist(), 0).values.argmax(axis=1)
    share = float((found == test["value"]).mean())
    assert report["found"]["mood"]["accuracy"] == pytest.approx(share)
    assert report["found"]["mood"]["n"] == len(test)
    assert share > 0.8
    assert json.loads((tmp_path / REPORT).read_text()) == report
    assert model.place("fine") == (0, 1)
    assert not (tmp_path / checkpoint.FILE).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_stopped_goes_on_and_ends_byte_by_byte_the_same(run, tmp_path, kind):
    for where in (1, 2, None):
        left = run(tmp_path / "stopped", kind, stop=lambda step, at=where: step == at)
        assert (left is None) == (where is not None)
    run(tmp_path / "whole", kind)
    assert written(tmp_path / "stopped") == written(tmp_path / "whole")


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(run, tmp_path, kind):
    class Killed(Exception):
        pass

    def kill(step):
        if step == 2:
            raise Killed

    with pytest.raises(Killed):
        run(tmp_path / "killed", kind, stop=kill)
    assert (tmp_path / "killed" / checkpoint.FILE).exists()
    seen = []
    run(tmp_path / "killed", kind, stop=lambda step: bool(seen.append(step)))
    run(tmp_path / "whole", kind)
    assert seen[:1] in ([2], [3])  # not from the beginning
    assert written(tmp_path / "killed") == written(tmp_path / "whole")


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_is_another_model(run, tmp_path, kind):
    for seed in (1, 2):
        run(tmp_path / str(seed), kind, seed=seed)
    first, other = (written(tmp_path / name) for name in "12")
    weights = next(name for name in first if name.endswith(".safetensors"))
    assert first[weights] != other[weights]


@pytest.mark.parametrize("kind", ["linear", "transformer"])
def test_a_regressor_learns_values(run, tmp_path, kind):
    task = replace(style.MOOD, values=(0.0, 1.0))
    options = replace(CLEAR[kind], rate=0.2 if kind == "linear" else 3e-3)
    report = run(tmp_path, kind, regression=True, tasks=(task,), options=options, base="calm")
    assert report["found"]["mood"]["pearson"] > 0.7
    model = StyleModel(classifiers.load(backbone(str(tmp_path)), "cpu"))
    low, high = model.strengths(["awful cat of street 1", "lovely cat of street 1"], 0)[0]
    assert high > low + 0.3


def test_a_linear_model_learns_several_tasks_of_two_and_more_styles(run, tmp_path):
    tasks = (style.MOOD, style.MANNER)
    options = replace(style.SMALL["linear"], epochs=10, bits=12)
    report = run(tmp_path, "linear", tasks=tasks, options=options)
    assert all(found["accuracy"] > 0.9 for found in report["found"].values())
    model = StyleModel(classifiers.load(backbone(str(tmp_path))))
    found = model.probabilities(["please", "fish purple seven moon"], 1).values
    assert found.shape == (2, 3)
    assert found.sum(axis=1) == pytest.approx(1)


def test_nothing_of_dev_or_test_is_trained_on(run, tmp_path):
    table = style.corpus()
    others = table["part"] != "train"
    spoiled = table.assign(text=table["text"].where(~others, table["text"].str.upper() + " xyz"))
    for name, corpus in (("a", table), ("b", spoiled)):
        run(tmp_path / name, "linear", corpus)
    first, second = (load_file(tmp_path / name / classifiers.FILE) for name in "ab")
    assert all((first[name] == second[name]).all() for name in first)


def test_a_result_is_not_made_again_and_never_written_over(run, tmp_path):
    report = run(tmp_path, "linear")
    before = written(tmp_path)
    assert run(tmp_path, "linear") == report
    with pytest.raises(TstmetaError, match="holds a model of another run; name another folder"):
        run(tmp_path, "linear", seed=7)
    (tmp_path / REPORT).unlink()
    with pytest.raises(TstmetaError, match="another run"):
        run(tmp_path, "linear")
    assert written(tmp_path) == {classifiers.FILE: before[classifiers.FILE]}


@pytest.mark.parametrize("damage", ["another seed", "damaged"])
def test_a_checkpoint_that_does_not_fit_is_refused(run, tmp_path, damage):
    run(tmp_path, "linear", stop=lambda step: True)
    if damage == "damaged":
        (tmp_path / checkpoint.FILE).write_bytes(b"?")
    said = "cannot be read" if damage == "damaged" else "checkpoint of another run"
    with pytest.raises(TstmetaError, match=said):
        run(tmp_path, "linear", seed=9 if damage == "another seed" else 1)


ONE_STYLE = style.corpus()
ONE_STYLE = ONE_STYLE[(ONE_STYLE["style"] == "bad") | (ONE_STYLE["part"] != "test")]


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("forest", {"options": DEFAULTS["linear"]}, "no kind 'forest'"),
        ("textcnn", {"tasks": (style.MOOD, style.MANNER)}, "learns one task, not 2"),
        ("textcnn", {"regression": True}, "learns styles, not values"),
        ("linear", {"corpus": ONE_STYLE}, "no sentence of the style 'good' in the part test"),
        ("linear", {"options": replace(DEFAULTS["linear"], epochs=0)}, "epochs is 0"),
        ("linear", {"options": replace(DEFAULTS["linear"], rate=-1)}, "give rate > 0"),
        (
            "linear",
            {"regression": True, "corpus": style.corpus().assign(value=np.nan)},
            "needs a value",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    run, tmp_path, kind, options, said
):
    with pytest.raises(TstmetaError, match=said):
        run(tmp_path / "out", kind, **options)
    assert not (tmp_path / "out").exists()


def test_fine_tuning_needs_a_beginning(tmp_path):
    with pytest.raises(TstmetaError, match="--base MODEL"):
        train(tmp_path, style.corpus(), "transformer", tasks=[style.MOOD])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["embedded", "embedded-strength"])
def test_todays_code_makes_the_shipped_model(tmp_path, name):
    """The last digits may differ from one kind of processor to another."""
    from tstmeta.cli.classifier import _corpus

    folder = classifiers.ours(MODELS[name]).parent
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    corpus = _corpus("grammar", report["regression"], None, None)
    options = replace(DEFAULTS["linear"], **report["options"])
    made = train(
        tmp_path,
        corpus.table,
        report["kind"],
        tasks=corpus.tasks,
        seed=report["seed"],
        options=options,
        regression=report["regression"],
        progress=False,
    )
    assert (made["corpus"], made["sizes"]) == (report["corpus"], report["sizes"])
    kept, again = (load_file(one / classifiers.FILE) for one in (folder, tmp_path))
    assert kept.keys() == again.keys()
    assert all(kept[key] == pytest.approx(again[key], abs=1e-5) for key in kept)
