"""An evaluation for reading: what its sentences claim, title, notes, table and every format."""

import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tests.analysis.tiny import HOSTILE
from tstmeta.analysis import choice, comparison, evaluate, render
from tstmeta.console import TableFormat
from tstmeta.schema import TstmetaError

DATA = rated()
SCORES = scored(DATA, good=0.4, ter=0.5, poor=4.0, random=2.0)
OWN = analyse(DATA, SCORES, draws=300, seed=7)
LIMITS = ["value", "low", "high"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((0.1234, "0.123"), (-0.0004, "-0.0004"), (0.00001234, "0.00001")),
        *((-0.0, "0"), (1e-17, "0"), (math.nan, "-")),
    ],
)
def test_no_difference_is_shown_as_zero(value, expected):
    assert render.number(value) == expected


def words(result=OWN, **pairs: float) -> list[str]:
    """The sentences had tests other p for pairs named as in ``good_ter``, and 0.001 elsewhere."""
    names, p = result.frame["metric"].tolist(), np.full(result.p.shape, 0.001)
    for pair, value in pairs.items():
        i, j = map(names.index, pair.split("_"))
        p[i, j] = p[j, i] = value
    return replace(result, p=p).summary


def test_sentences_are_of_the_best_metric_of_the_best_sentinel_and_of_power():
    first, random = (render.with_limits(*OWN.frame.loc[at, LIMITS]) for at in (0, 3))
    least = comparison.detectable(OWN.analysis, 0, 1)
    gap = OWN.frame["value"][0] - OWN.frame["value"][1]
    assert words(good_ter=0.2, poor_random=0.051) == [
        f"Best agreement with the mean human rating of content: good (Pearson's r {first}).",
        "Not significantly different from the best: ter.",
        "Significantly worse than the best: poor.",
        f"Best sentinel: random (Pearson's r {random}).",
        "Significantly better than the best sentinel: good and ter.",
        "Not significantly different from the best sentinel: poor.",
        "All 10 pairs of rows are tested at once, at 0.05.",
        "Smallest difference at which these data show with 80 % power that ter is worse than good:"
        f" {least:.3f}"
        " (this pair alone, at 0.05, by simulation).",
        f"Observed difference between good and ter: {render.number(gap)}.",
    ]


def test_below_a_sentinel_is_only_what_differs_from_it_and_nothing_there_is_recommended():
    assert OWN.frame["value"][2] < OWN.frame["value"][3]  # poor, then random
    assert "Significantly worse than the best sentinel: poor." in words()
    assert not any(sentence.startswith("No metric") for sentence in words())
    poor = analyse(DATA, scored(DATA, poor=9.0, random=0.1), draws=20)
    end = "No metric can be recommended: the best sentinel is significantly better than all."
    assert words(poor)[0] == end


def test_the_best_sentinel_is_the_one_with_the_highest_value_shown():
    result = analyse(DATA, scored(DATA, good=0.4, random=1.0, **{"copy-rate": 2.5}), draws=50)
    assert "Best sentinel: random (" in "".join(result.summary)
    random = result.frame["metric"] == "random"
    shown = result.frame.assign(value=result.frame["value"].mask(random, 0.0))
    several = replace(result, frame=shown)  # as the mean of seeds stands there
    assert "Best sentinel: copy-rate (" in "".join(several.summary)
    assert set(several.differences["b"]) == {"copy-rate"}


def test_metrics_of_one_value_lead_together_and_chance_and_fewer_rewrites_are_stated():
    table = scored(DATA, good=0.4, ter=0.4, poor=4.0)
    good = table.loc[table["metric"] == "good", "value"].to_numpy()
    flipped = table["value"].mask(table["metric"] == "ter", -np.resize(good, len(table)))
    twins = analyse(DATA, table.assign(value=flipped), draws=50)
    value = render.number(twins.frame["value"][0])
    assert f"content: good and ter (Pearson's r {value} each)." in twins.summary[0]
    assert twins.summary[1] == "Significantly worse than the best: poor."
    negated = table[table["metric"] == "good"].assign(value=lambda rows: -rows["value"])
    nothing = "better than chance (0), by its interval; nearest: good (Pearson's r -0."
    assert nothing in analyse(DATA, negated, draws=50).summary[0]
    fewer = analyse(DATA, table.assign(value=table["value"].mask(table.index == 0)), draws=50)
    assert fewer.summary[0].endswith("], over 95 of 96 rewrites).")
    notes = fewer.differences.set_index(["a", "b"])["note"]
    assert notes["good", "ter"].startswith("over 95 and 96 rewrites")
    assert "over 95 and 96 rewrites" in render.rendered([fewer], TableFormat.table, gaps=True)
    assert not notes["ter", "poor"].startswith("over")


def test_chance_of_a_statistic_that_ties_move_is_that_of_the_sentinel_random():
    table = scored(DATA, poor=40.0, random=1.0, **{"copy-rate": 0.1})  # the best sentinel
    first = " ".join(analyse(DATA, table, statistic="pairwise-accuracy", draws=50).summary)
    assert " of content better than the sentinel random (0." in first


def test_the_human_ceiling_is_drawn_beside_values_over_the_same_rewrites_alone():
    pytest.importorskip("matplotlib")
    apart = replace(OWN, apart=True)
    here, away = (len(render.draw([result]).axes[0].patches) for result in (OWN, apart))
    assert here > away
    assert any("over fewer rewrites" in note for note in render.notes(apart))


def test_without_pairs_of_one_source_one_sentence_stands_in_the_place_of_the_table():
    single = DATA.where(DATA.items["system"] == "A", "single")
    rows = SCORES[SCORES["item_id"].isin(single.items["item_id"])]
    result = analyse(single, rows, statistic="accuracy", level="same-source", draws=20)
    title, sentence, *rest = render.rendered([result], TableFormat.table).splitlines()
    assert "0 pairs that people separate" in title
    assert sentence.startswith("No source has two rewrites that people rate differently in content")
    assert not any("good" in line for line in rest)


def test_a_long_list_of_metrics_ends_with_a_count():
    many = scored(DATA, good=0.1, **{f"poor_{letter}": 9.0 for letter in "abcdefgh"})
    worse = next(line for line in words(analyse(DATA, many, draws=20)) if "worse than" in line)
    assert worse.count("poor-") == 5
    assert worse.endswith(" and 3 more.")


def test_without_values_the_sentences_say_so():
    alone = analyse(DATA, scored(DATA, good=0.4).assign(value=1.0), draws=20).summary
    assert alone == ["No metric has a value for content that could be compared."]
    without = replace(OWN, frame=OWN.frame.assign(value=math.nan, note="why not"))
    with pytest.raises(TstmetaError, match=r"^nothing to show: .* beside ratings \(why not\)$"):
        render.with_values([without, without])


@pytest.mark.parametrize(
    ("name", "format", "expected"),
    [
        (None, None, "table"),
        (None, TableFormat.latex, "latex"),
        *((f"t{ending.upper()}", None, kind) for ending, kind in render.ENDINGS.items()),
        ("t.out", TableFormat.json, "json"),
    ],
)
def test_the_format_is_given_or_read_off_the_files_name(name, format, expected):
    assert render.format_of(name and Path(name), format) == expected


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_one_cell_and_mean_nothing(text):
    frame = OWN.frame.assign(metric=[text, *OWN.frame["metric"][1:]])
    lines = replace(OWN, frame=frame, dataset=text).to_latex().splitlines()
    row = lines[lines.index(r"\midrule") + 2]  # below people
    assert row.endswith(r"\\")
    assert row.replace(r"\&", "").count("&") == 6
    assert r"\caption" in lines[lines.index(r"\centering") + 1]


def test_differences_are_of_metrics_and_of_the_best_sentinel_and_have_a_table_of_their_own():
    table = OWN.differences
    pairs = list(zip(table["a"], table["b"], strict=True))
    assert pairs == list(combinations(["good", "ter", "poor", "random"], 2))
    every = comparison.differences(OWN.analysis.matrices, OWN.drawn, OWN.p, range(5))
    of_these = every[every["b"] != "human-style"].reset_index(drop=True)
    pd.testing.assert_frame_equal(table[list(every)], of_these)
    assert set(table["level"]) == {"pooled"}
    many = render.rendered([analyse(DATA, SCORES)], TableFormat.latex, gaps=True)
    assert " & $<$0.001 & $<$0.001" in many, "plain TeX would print another sign"


def test_each_panel_of_the_figure_has_the_ranks_of_its_own_rows():
    pytest.importorskip("matplotlib")
    worse = analyse(DATA, scored(DATA, poor=4.0, random=2.0), level="source", draws=50)
    figure = render.draw([worse, OWN])
    assert [axis.get_title("left") for axis in figure.axes] == ["source", "pooled"], "as given"
    panels = {axis.get_title("left"): axis for axis in figure.axes}
    for title, own in (("source", worse), ("pooled", OWN)):
        [side] = panels[title].child_axes
        labels = [tick.get_text() for tick in side.get_yticklabels()]
        assert labels == render.ranks(own.frame.dropna(subset="value"))
        assert len(labels) == len(panels[title].get_yticks())
    with pytest.raises(TstmetaError, match="no metric has a value beside ratings"):
        render.draw([])


def test_the_default_is_the_same_in_python(monkeypatch):
    monkeypatch.setitem(choice.DEFAULTS, "content", {"source": ("chrf", "nothing-such")})
    own = evaluate(DATA, draws=20)
    assert own.frame.loc[own.frame["kind"] == "metric", "metric"].tolist() == ["chrf"]
    assert "random" in own.frame["metric"].tolist()
    table = choice.score(DATA, ["content"], ["bleu"], ["reference"])  # of which there is none
    assert "bleu" not in set(table["metric"])
    assert any(words.startswith("left out: nothing-such (") for words in own.remarks)
