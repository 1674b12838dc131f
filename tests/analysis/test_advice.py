"""Advice: which metric fits rewrites of one's own, what to expect of it, what to rate."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import tstmeta as tst
from tstmeta.analysis import advice, choice, synthesis, verdicts
from tstmeta.data import paths
from tstmeta.data.contrast import TASKS

SETS = pd.read_csv(paths.project("frozen", "sets.csv")).set_index("dataset")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with ``mine.csv``, the contrast set as if people rated it, and a score store."""
    folder, data = tmp_path_factory.mktemp("advice"), tst.load("contrast")
    wide = data.items[["source_id", "source", "output", "system", "style"]]
    for name in ("content", "style"):
        wide = wide.assign(**{f"{name}.r1": data.human(name).to_numpy()})
    wide.to_csv(folder / "mine.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.setattr(paths, "scores", lambda: folder / "store")
    monkeypatch.chdir(folder)


@pytest.fixture
def quick(monkeypatch):
    """Advice on a few metrics that take no time."""
    some = "metric in ['chrf', 'bleu', 'ter', 'style-emd']"
    monkeypatch.setattr(advice, "verdicts", lambda *about: tst.verdicts(*about).query(some))


@pytest.mark.parametrize("gap", [0.05, 0.2])
def test_so_many_sources_show_a_difference_with_80_percent_power(gap):
    n = int(advice.sources_needed(gap, variance=0.25))
    means = np.random.default_rng(0).normal(gap, 0.5, (4000, n)).mean(axis=1)
    power = np.mean(np.abs(means) > norm.isf(0.025) * 0.5 / np.sqrt(n))
    assert power == pytest.approx(0.8, abs=0.03)
    assert np.isnan(advice.sources_needed(0.0, 0.25))
    assert np.isnan(advice.sources_needed(1e-4, 0.25))


def test_the_number_of_sources_is_that_of_the_pooled_differences():
    row = tst.advise(dimensions=["content"]).frame.query("metric == 'wmd'").iloc[0]
    gaps = synthesis.against(tst.evidence("content", differences=True), "copy-rate", "source")
    gaps = gaps.query("metric == 'wmd' and panel == 'pool' and statistic == 'accuracy'")
    gaps = gaps[(gaps["level"] == "same-source") & gaps["se"].notna()]
    mean = tst.pool(gaps)["mean"].iloc[0]
    variance = np.median(gaps["se"] ** 2 * gaps["sources"])
    n = np.ceil((norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * variance / mean**2)
    assert (row["sentinel"], row["sources_sentinel"]) == ("copy-rate", n)


def test_more_rewrites_a_source_take_fewer_sources():
    rows = pd.DataFrame({"rewrites": [1, 2, 2, 2, 2, 2, 8, 8, 8, 8, 8], "sources": 100.0})
    rows["se"] = 0.1 / rows["rewrites"]
    assert verdicts.spread(rows, 9) < verdicts.spread(rows) == verdicts.spread(rows, 1.5)


@pytest.mark.parametrize(
    ("words", "task"),
    [
        *(("detoxify", "detoxification"), ("Formality transfer", "formality")),
        *(
            ("polite", "politeness"),
            ("text simplification", "simplification"),
            ("formal", "formality"),
        ),
        *(("persuasive", "persuasion"), ("catchy", "catchiness"), ("haiku", "haiku")),
        ("sentiment and detoxification", "sentiment and detoxification"),
    ],
)
def test_a_task_may_go_by_the_words_of_its_styles(words, task):
    assert choice.task_of(words) == task
    assert {choice.task_of(name) for name in TASKS} <= {*choice.TASKS}, "those of our own set"


def test_metrics_that_do_not_speak_the_language_are_not_listed():
    assert tst.advise(language="hi", dimensions=["fluency"]).frame.empty


def test_fewer_sources_widen_what_is_to_be_expected_and_change_no_verdict(quick):
    data = tst.read("mine.csv")
    few = data.where(data.items["source_id"].isin(data.items["source_id"].unique()[:3]))
    how = {"task": "formality", "language": "en", "dimensions": ["content"]}
    small, large, task = (tst.advise(d, **how).frame.set_index("metric") for d in (few, data, None))
    wide, narrow = (frame["predict_high"] - frame["predict_low"] for frame in (small, large))
    assert (wide > narrow).all()
    assert small["verdict"].to_dict() == task["verdict"].loc[small.index].to_dict()
    assert (small["predict_high"] > task["predict_high"].loc[small.index]).any()


def test_one_rewrite_a_source_without_ratings_is_advised_on(quick):
    items = tst.load("contrast").items.drop_duplicates("source_id")
    items[["source", "output"]].to_csv("one.csv", index=False)
    result = tst.advise("one.csv", dimensions=["content"])
    assert result.notes[0].startswith("Nothing can be foretold for you: no source has two rewrites")
    assert result.profile["rewrites"] == 1
    assert result.frame[advice.FORETOLD].isna().all(axis=None)
    assert result.frame["accuracy"].notna().any()


def test_limits_know_the_task_and_are_wider_where_it_is_new():
    named, new = (tst.advise(task=name, dimensions=["style"]).frame for name in ("detox", "haiku"))
    wide = [(frame["predict_high"] - frame["predict_low"]).max() for frame in (named, new)]
    assert wide[0] < wide[1]
    assert tst.advise(task="detoxification", dimensions=["style"]).frame.equals(named)


def test_ratings_that_go_together_are_said_to_turn_similarity_round(quick):
    data = tst.load("contrast")
    tied = data.where(data.label("shift").eq("strong") == data.label("error").eq("none"))
    assert advice.profile(tied)["style_content"] == pytest.approx(1)
    assert any("as in your ratings (r = 1.000)" in x for x in tst.advise(tied).notes)


def test_a_rated_set_is_not_its_own_evidence(quick):
    result = tst.advise("lai@lai2023-systems", dimensions=["style"])
    assert result.notes[0] == "Evidence left out, of the same sources: gyafc."
    assert set(result.sets["family"]) == {"enron"}


@pytest.mark.parametrize("name", ["contrast", "lai@lai2023-systems"])
def test_profiles_are_as_frozen_with_texts_and_without(name):
    row = advice.profile(tst.load(name)).replace("", np.nan)
    left, right = row.drop(["task", "language"]), SETS.loc[name].drop(["task", "language"])
    np.testing.assert_allclose(left.astype(float), right.astype(float), rtol=1e-5)
