"""Combinations by name: the same scores as from Python, and nothing among the parts that cheats."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.combine.examples import noisy, rated, score, several
from tstmeta import combine
from tstmeta.combine import CombineError, Settings, combined, gm_scores, hybrid, j, learned_gm
from tstmeta.combine.hybrids import overall_scores
from tstmeta.metrics import registry
from tstmeta.metrics.catalogue import COMBINED

DATA = rated()


def unit(name, seed, dimension="style", basis="none"):
    values = pd.Series(noisy(DATA, "content", 1.0, seed)).rank(pct=True).to_numpy()
    return score(DATA, name, values, dimension, basis)


CONTENT, STYLE, FLUENCY = (several(DATA, name) for name in ("content", "style", "fluency"))
THREE = pd.concat([unit("style-accuracy", 1), unit("sim", 2, "content", "source")])
PP = score(DATA, "corpus-perplexity", [20.0 + n for n in range(60)], "fluency", "none")
#: what stands beside metrics in a table of ``evaluate``: the second is a rating
BESIDE = pd.concat(
    [
        score(DATA, "random", noisy(DATA, "content", 9.0, 7)),
        score(DATA, "human-style", DATA.means["style"].to_numpy(), "style", "none"),
        score(DATA, "human-style", DATA.means["content"].to_numpy(), "content", "none"),
    ]
)
ALL = pd.concat([CONTENT, STYLE, FLUENCY])


def test_a_combination_by_name_is_the_one_from_python_without_oracle_or_sentinel():
    result = combined(DATA, pd.concat([BESIDE, ALL]), "hybrid-simulation", "content", seed=3)
    wanted = hybrid(DATA, CONTENT, "content", "simulation", Settings(seed=3)).scores
    pd.testing.assert_frame_equal(result, wanted)
    used = {"content-0": "bleu", "style-0": "style-emd", "fluency-0": "perplexity"}
    scores = ALL.replace({"metric": used})
    result = combined(DATA, pd.concat([scores, BESIDE]), "overall-existing", seed=1)
    wanted = overall_scores(DATA, scores, "existing", Settings(seed=1)).scores
    pd.testing.assert_frame_equal(result, wanted)


def test_parts_on_two_bases_are_taken_from_the_source():
    parts = pd.concat([unit("sim", 9, "content", "reference"), THREE, PP])
    expected = gm_scores(DATA, pd.concat([THREE, PP]))
    pd.testing.assert_frame_equal(combined(DATA, parts, "gm"), expected)
    fluent = unit("fluent", 4, "fluency")
    result = combined(DATA, pd.concat([parts, fluent]), "j:fluent")
    pd.testing.assert_frame_equal(result, j(DATA, pd.concat([THREE, fluent]), fl="fluent"))


def test_parts_that_are_not_given_are_scored(monkeypatch, tmp_path):
    values = []

    def scored(dataset, names, bases, store):
        values.append((names, store))
        return pd.concat([THREE, PP]).query("metric in @names")

    monkeypatch.setattr(combine.scoring, "score", scored)
    result = combined(DATA, THREE, "gm", store=tmp_path)
    assert values == [(["corpus-perplexity"], tmp_path)]
    pd.testing.assert_frame_equal(result, gm_scores(DATA, pd.concat([THREE, PP])))


@pytest.mark.parametrize("name", ["", "gm:other", "j:", "hybrid", "overall-x"])
def test_an_unknown_combination_is_told_with_those_that_there_are(name):
    with pytest.raises(CombineError, match=r"hybrid-learned"):
        combined(DATA, ALL, name)


@pytest.mark.parametrize("name", COMBINED)
def test_a_combination_as_a_metric_is_refused_with_the_option_that_makes_it(name):
    with pytest.raises(registry.UnknownMetric) as error:
        registry.get(name)
    word = str(error.value).partition("--combine ")[2].split()[0].strip(";")
    combine.known(word)
    assert word.partition(":")[0] == name


def test_thresholds_are_learned_from_the_data_sets_preferences():
    ids = DATA.items["item_id"].to_numpy()
    rows = {"dataset": "ours", "dimension": "content", "rater": "r1"}
    pairs = pd.DataFrame({"item_a": ids[:-3], "item_b": ids[3:], "value": ["a", "b", "a"] * 19})
    data = replace(DATA, preferences=pairs.assign(**rows))
    parts = pd.concat([THREE, PP])
    result = combined(data, parts, "gm:learned", seed=2)
    pd.testing.assert_frame_equal(result, learned_gm(data, parts, seed=2).scores)
    with pytest.raises(CombineError, match="give preferences that are no ties"):
        combined(DATA, parts, "gm:learned")
